// e^x and log(1 + x) in steps that a compiler can take for several rows at once; the library's take one row per call.
#pragma once

#include <cstdint>
#include <cstring>

namespace trueup {

inline constexpr double kLargest = 700.0;  // beyond it e^x or its inverse would leave the range of double
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kLn2High = 0x1.62e42fefa0000p-1, kLn2Low = 0x1.cf79abc9e3b39p-40;
inline constexpr double kRound = 0x1.8p52;  // added and taken away again, it leaves the nearest whole number

// e^x to the last digit or two.
inline double exponential(double x) {
    x = x < -kLargest ? -kLargest : x;
    x = x > kLargest ? kLargest : x;
    const double shifted = x * kLog2E + kRound;
    const double n = shifted - kRound;
    const double r = (x - n * kLn2High) - n * kLn2Low;  // |r| <= ln(2) / 2
    double sum = 1.0 / 6227020800.0;                    // 1 / 13!, and down the series
    sum = sum * r + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    std::uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;  // the low bits of `shifted` are n, and these are 2^n
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return sum * power;
}

// log(1 + x) of an x in [0, 1] to the last digit or two: twice the inverse hyperbolic tangent of s = x / (2 + x) <=
// 1/3.
inline double log_one_plus(double x) {
    const double s = x / (2.0 + x), square = s * s;
    double sum = 1.0 / 33.0;  // the next term is 1/35 of (1/9)^17, below the last digit
    sum = sum * square + 1.0 / 31.0;
    sum = sum * square + 1.0 / 29.0;
    sum = sum * square + 1.0 / 27.0;
    sum = sum * square + 1.0 / 25.0;
    sum = sum * square + 1.0 / 23.0;
    sum = sum * square + 1.0 / 21.0;
    sum = sum * square + 1.0 / 19.0;
    sum = sum * square + 1.0 / 17.0;
    sum = sum * square + 1.0 / 15.0;
    sum = sum * square + 1.0 / 13.0;
    sum = sum * square + 1.0 / 11.0;
    sum = sum * square + 1.0 / 9.0;
    sum = sum * square + 1.0 / 7.0;
    sum = sum * square + 1.0 / 5.0;
    sum = sum * square + 1.0 / 3.0;
    sum = sum * square + 1.0;
    return 2.0 * s * sum;
}

}  // namespace trueup
