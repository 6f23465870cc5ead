// Sums of the logistic loss over rows, and the maps between probabilities and logits.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

namespace trueup {

// Scores outside have no finite logit: 0, 1, and the subnormal numbers, which many machines take for 0.
constexpr double kLowestScore = std::numeric_limits<double>::min();
constexpr double kHighestScore = 1.0 - std::numeric_limits<double>::epsilon() / 2;  // the last number below 1

inline double logit_of(double probability) {
    if (std::isnan(probability)) return probability;
    const double p = std::fmin(std::fmax(probability, kLowestScore), kHighestScore);
    return std::log(p / (1.0 - p));  // 1 - p is exact from one half up, where it matters
}

inline double sigmoid_of(double logit) {
    if (logit >= 0.0) return 1.0 / (1.0 + std::exp(-logit));
    const double e = std::exp(logit);
    return e / (1.0 + e);
}

// Derivatives in theta of the weighted log loss of theta * logits. `weights` may be null. A row whose logit is beyond
// `limit` counts limit / |logit| times, so that it can pull at theta no more than a row at the limit. Rows are
// summed in fixed blocks, so the result does not depend on `n_threads`.
struct LogisticSums {
    double gradient = 0.0;
    double hessian = 0.0;

    LogisticSums& operator+=(const LogisticSums& other) {
        gradient += other.gradient;
        hessian += other.hessian;
        return *this;
    }
};
LogisticSums logistic_sums(const double* logits, const double* labels, const double* weights, std::size_t n,
                           double theta, double limit, int n_threads);

// The loss of theta * logits + intercept, and its derivatives in both; rows beyond `limit` count less here too.
struct AffineSums {
    double loss = 0.0;
    double gradient[2] = {0.0, 0.0};      // in theta, in the intercept
    double hessian[3] = {0.0, 0.0, 0.0};  // theta twice, theta and intercept, intercept twice

    AffineSums& operator+=(const AffineSums& other) {
        loss += other.loss;
        for (int k = 0; k < 2; ++k) gradient[k] += other.gradient[k];
        for (int k = 0; k < 3; ++k) hessian[k] += other.hessian[k];
        return *this;
    }
};
AffineSums affine_sums(const double* logits, const double* labels, const double* weights, std::size_t n, double theta,
                       double intercept, double limit, int n_threads);

// The same loss at theta = 1 without a limit, and nothing else.
struct LossSum {
    double loss = 0.0;

    LossSum& operator+=(const LossSum& other) {
        loss += other.loss;
        return *this;
    }
};
double log_loss_sum(const double* logits, const double* labels, const double* weights, std::size_t n, int n_threads);

}  // namespace trueup
