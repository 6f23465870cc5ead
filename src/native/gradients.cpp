#include "gradients.hpp"

#include <algorithm>

#include "exponential.hpp"
#include "hot.hpp"
#include "parallel.hpp"

namespace trueup {

namespace {

constexpr std::size_t kBlockRows = 16384;
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
            const double missing = 1.0 / (1.0 + exponential(sign * scores[i]));  // to certainty of the observed label
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
