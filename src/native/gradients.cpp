#include "gradients.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hot.hpp"
#include "parallel.hpp"

namespace trueup {

namespace {

constexpr std::size_t kBlockRows = 16384;
constexpr double kLargest = 700.0;  // beyond it e^x or its inverse would leave the range of double
constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kLn2High = 0x1.62e42fefa0000p-1, kLn2Low = 0x1.cf79abc9e3b39p-40;
constexpr double kRound = 0x1.8p52;  // added and taken away again, it leaves the nearest whole number

// e^x to the last digit or two, in steps that a compiler can do for several rows at once; std::exp is one row a call.
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

struct Rows {
    const double* scores;
    const float *labels, *weights;
    float *gradients, *hessians;
};

template <bool kSoft, bool kWeighted>
inline void fill(const Rows& rows, std::size_t begin, std::size_t end) {
    const double* scores = rows.scores;
    const float *labels = rows.labels, *weights = rows.weights;
    float *gradients = rows.gradients, *hessians = rows.hessians;
    for (std::size_t i = begin; i < end; ++i) {
        const double weight = kWeighted ? weights[i] : 1.0;
        if (kSoft) {
            const double e = exponential(-scores[i]);
            gradients[i] = static_cast<float>(((1.0f - labels[i]) - labels[i] * e) / (1.0 + e) * weight);
            hessians[i] = static_cast<float>(e / ((1.0 + e) * (1.0 + e)) * weight);
        } else {
            const double sign = 2.0 * labels[i] - 1.0;
            const double missing = 1.0 / (1.0 + exponential(sign * scores[i]));  // to certainty of what happened
            gradients[i] = static_cast<float>(-sign * missing * weight);
            hessians[i] = static_cast<float>(missing * (1.0 - missing) * weight);
        }
    }
}

TRUEUP_HOT void hard(const Rows& rows, std::size_t begin, std::size_t end) { fill<false, false>(rows, begin, end); }
TRUEUP_HOT void hard_weighted(const Rows& rows, std::size_t begin, std::size_t end) {
    fill<false, true>(rows, begin, end);
}
TRUEUP_HOT void soft(const Rows& rows, std::size_t begin, std::size_t end) { fill<true, false>(rows, begin, end); }
TRUEUP_HOT void soft_weighted(const Rows& rows, std::size_t begin, std::size_t end) {
    fill<true, true>(rows, begin, end);
}

}  // namespace

void logistic_gradients(const double* scores, const float* labels, const float* weights, std::size_t n, bool is_soft,
                        float* gradients, float* hessians, int n_threads) {
    const Rows rows{scores, labels, weights, gradients, hessians};
    const auto chosen = is_soft ? (weights ? soft_weighted : soft) : (weights ? hard_weighted : hard);
    for_each_block((n + kBlockRows - 1) / kBlockRows, n_threads, [&] {
        return [&](std::size_t block) { chosen(rows, block * kBlockRows, std::min(n, (block + 1) * kBlockRows)); };
    });
}

}  // namespace trueup
