#include <algorithm>
#include <vector>

#include "logistic.hpp"
#include "parallel.hpp"

namespace trueup {

namespace {

constexpr std::size_t kBlock = 8192;

template <typename Sum, typename OneBlock>
std::vector<Sum> sums_by_block(std::size_t n, int n_threads, OneBlock one_block) {
    std::vector<Sum> sums((n + kBlock - 1) / kBlock);
    for_each_block(sums.size(), n_threads, [&] {
        return [&](std::size_t block) {
            const std::size_t begin = block * kBlock;
            sums[block] = one_block(begin, std::min(n, begin + kBlock));
        };
    });
    return sums;
}

}  // namespace

LogisticSums logistic_sums(const double* logits, const double* labels, const double* weights, std::size_t n,
                           double theta, double limit, int n_threads) {
    const auto sums = sums_by_block<LogisticSums>(n, n_threads, [=](std::size_t begin, std::size_t end) {
        LogisticSums sum;
        for (std::size_t i = begin; i < end; ++i) {
            const double z = std::fmin(std::fmax(logits[i], -limit), limit);
            const double m = theta * z;
            const double e = std::exp(-std::fabs(m));  // one exp gives the loss and the probability
            const double p = m >= 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
            const double w = weights ? weights[i] : 1.0;
            sum.loss += w * (std::fmax(m, 0.0) + std::log1p(e) - labels[i] * m);
            sum.gradient += w * (p - labels[i]) * z;
            sum.hessian += w * p * (1.0 - p) * z * z;
        }
        return sum;
    });
    LogisticSums total;
    for (const auto& sum : sums) {
        total.loss += sum.loss;
        total.gradient += sum.gradient;
        total.hessian += sum.hessian;
    }
    return total;
}

AffineSums affine_sums(const double* logits, const double* labels, const double* weights, std::size_t n, double theta,
                       double intercept, double limit, int n_threads) {
    const auto sums = sums_by_block<AffineSums>(n, n_threads, [=](std::size_t begin, std::size_t end) {
        AffineSums sum;
        for (std::size_t i = begin; i < end; ++i) {
            const double z = std::fmin(std::fmax(logits[i], -limit), limit);
            const double m = theta * z + intercept;
            const double e = std::exp(-std::fabs(m));
            const double p = m >= 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
            const double w = weights ? weights[i] : 1.0;
            const double residual = w * (p - labels[i]), curvature = w * p * (1.0 - p);
            sum.loss += w * (std::fmax(m, 0.0) + std::log1p(e) - labels[i] * m);
            sum.gradient[0] += residual * z;
            sum.gradient[1] += residual;
            sum.hessian[0] += curvature * z * z;
            sum.hessian[1] += curvature * z;
            sum.hessian[2] += curvature;
        }
        return sum;
    });
    AffineSums total;
    for (const auto& sum : sums) {
        total.loss += sum.loss;
        for (int k = 0; k < 2; ++k) total.gradient[k] += sum.gradient[k];
        for (int k = 0; k < 3; ++k) total.hessian[k] += sum.hessian[k];
    }
    return total;
}

double log_loss_sum(const double* logits, const double* labels, const double* weights, std::size_t n, int n_threads) {
    const auto sums = sums_by_block<double>(n, n_threads, [=](std::size_t begin, std::size_t end) {
        double sum = 0.0;
        for (std::size_t i = begin; i < end; ++i) {
            const double m = logits[i];
            const double loss = std::fmax(m, 0.0) + std::log1p(std::exp(-std::fabs(m))) - labels[i] * m;
            sum += weights ? weights[i] * loss : loss;
        }
        return sum;
    });
    double total = 0.0;
    for (const double sum : sums) total += sum;
    return total;
}

}  // namespace trueup
