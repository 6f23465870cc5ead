// The derivatives of the log loss that trees are grown on.
#pragma once

#include <cstddef>

namespace trueup {

// The first and second derivative of each row's log loss at its score, a logit. Labels are 0 and 1, or probabilities if
// `is_soft`. `weights` may be null. The formulas, and the types that values are rounded to, are LightGBM's own.
void logistic_gradients(const double* scores, const float* labels, const float* weights, std::size_t n, bool is_soft,
                        float* gradients, float* hessians, int n_threads);

}  // namespace trueup
