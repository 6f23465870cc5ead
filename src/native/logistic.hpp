// Sums of the logistic loss over rows, and the maps between probabilities and logits.
#pragma once

#include <cmath>
#include <cstddef>

namespace trueup {

constexpr double kScoreClip = 1e-6;

inline double logit_of(double probability) {
    if (std::isnan(probability)) return probability;
    const double p = std::fmin(std::fmax(probability, kScoreClip), 1.0 - kScoreClip);
    return std::log(p / (1.0 - p));
}

inline double sigmoid_of(double logit) {
    if (logit >= 0.0) return 1.0 / (1.0 + std::exp(-logit));
    const double e = std::exp(logit);
    return e / (1.0 + e);
}

// Derivatives in theta of the weighted log loss of theta * clip(logits, -limit, limit). `weights` may be null.
// Rows are summed in fixed blocks, so the result does not depend on `n_threads`.
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

// The loss of theta * clip(logits, -limit, limit) + intercept, and its derivatives in both.
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
