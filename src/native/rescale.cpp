#include <algorithm>
#include <vector>

#include "exponential.hpp"
#include "hot.hpp"
#include "logistic.hpp"
#include "parallel.hpp"

namespace trueup {

namespace {

constexpr std::size_t kBlock = 8192;
constexpr std::size_t kChunk = 512;  // rows whose values stay in the nearest cache between the steps
constexpr std::size_t kLanes = 8;

struct Rows {
    const double *logits, *labels, *weights;  // weights may be null

    Rows from(std::size_t begin) const { return {logits + begin, labels + begin, weights ? weights + begin : nullptr}; }
};

struct Line {
    double theta, intercept, limit;
};

// What a chunk's rows add to each sum. Steps over rows are apart from sums, for only these can be done several at once.
struct Chunk {
    double z[kChunk], loss[kChunk], residual[kChunk], curvature[kChunk];
};

template <bool kLoss>
inline void fill(const Rows& rows, std::size_t n, const Line& line, Chunk& chunk) {
    for (std::size_t i = 0; i < n; ++i) {
        const double z = rows.logits[i];
        const double size = z < 0.0 ? -z : z;
        const double share = size > line.limit ? line.limit / size : 1.0;
        const double m = line.theta * z + line.intercept;
        const double e = exponential(m > 0.0 ? -m : m);  // one exponential gives the loss and the probability
        const double p = (m >= 0.0 ? 1.0 : e) / (1.0 + e);
        chunk.z[i] = z;
        chunk.residual[i] = (p - rows.labels[i]) * share;
        chunk.curvature[i] = p * (1.0 - p) * share;
        if (kLoss) chunk.loss[i] = ((m > 0.0 ? m : 0.0) + log_one_plus(e) - rows.labels[i] * m) * share;
    }
    if (!rows.weights) return;
    for (std::size_t i = 0; i < n; ++i) {
        chunk.residual[i] *= rows.weights[i];
        chunk.curvature[i] *= rows.weights[i];
        if (kLoss) chunk.loss[i] *= rows.weights[i];
    }
}

TRUEUP_HOT void fill_slopes(const Rows& rows, std::size_t n, const Line& line, Chunk& chunk) {
    fill<false>(rows, n, line, chunk);
}
TRUEUP_HOT void fill_all(const Rows& rows, std::size_t n, const Line& line, Chunk& chunk) {
    fill<true>(rows, n, line, chunk);
}

TRUEUP_HOT void log_losses(const Rows& rows, std::size_t n, double* losses) {
    for (std::size_t i = 0; i < n; ++i) {
        const double m = rows.logits[i];
        losses[i] = (m > 0.0 ? m : 0.0) + log_one_plus(exponential(m > 0.0 ? -m : m)) - rows.labels[i] * m;
    }
    if (rows.weights) {
        for (std::size_t i = 0; i < n; ++i) losses[i] *= rows.weights[i];
    }
}

// In lanes of a fixed number, so that the sum is the same however many of them the machine adds at once.
TRUEUP_HOT double sum_of(const double* values, std::size_t n) {
    double lanes[kLanes] = {};
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += values[i + k];
    }
    for (std::size_t k = 0; i < n; ++i, ++k) lanes[k] += values[i];
    double sum = 0.0;
    for (const double lane : lanes) sum += lane;
    return sum;
}

inline void multiply(double* values, const double* by, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) values[i] *= by[i];
}

template <typename Sum, typename OneChunk>
Sum sum_by_block(std::size_t n, int n_threads, OneChunk one_chunk) {
    std::vector<Sum> sums((n + kBlock - 1) / kBlock);
    for_each_block(sums.size(), n_threads, [&] {
        return [&](std::size_t block) {
            const std::size_t end = std::min(n, (block + 1) * kBlock);
            for (std::size_t at = block * kBlock; at < end; at += kChunk) {
                one_chunk(at, std::min(kChunk, end - at), sums[block]);
            }
        };
    });
    Sum total;
    for (const Sum& sum : sums) total += sum;
    return total;
}

}  // namespace

LogisticSums logistic_sums(const double* logits, const double* labels, const double* weights, std::size_t n,
                           double theta, double limit, int n_threads) {
    const Rows rows{logits, labels, weights};
    const Line line{theta, 0.0, limit};
    return sum_by_block<LogisticSums>(n, n_threads, [&](std::size_t at, std::size_t size, LogisticSums& sum) {
        Chunk chunk;
        fill_slopes(rows.from(at), size, line, chunk);
        multiply(chunk.residual, chunk.z, size);
        multiply(chunk.curvature, chunk.z, size);
        multiply(chunk.curvature, chunk.z, size);
        sum += {sum_of(chunk.residual, size), sum_of(chunk.curvature, size)};
    });
}

AffineSums affine_sums(const double* logits, const double* labels, const double* weights, std::size_t n, double theta,
                       double intercept, double limit, int n_threads) {
    const Rows rows{logits, labels, weights};
    const Line line{theta, intercept, limit};
    return sum_by_block<AffineSums>(n, n_threads, [&](std::size_t at, std::size_t size, AffineSums& sum) {
        Chunk chunk;
        fill_all(rows.from(at), size, line, chunk);
        AffineSums added{sum_of(chunk.loss, size), {0.0, sum_of(chunk.residual, size)}, {}};
        added.hessian[2] = sum_of(chunk.curvature, size);
        multiply(chunk.residual, chunk.z, size);
        added.gradient[0] = sum_of(chunk.residual, size);
        multiply(chunk.curvature, chunk.z, size);
        added.hessian[1] = sum_of(chunk.curvature, size);
        multiply(chunk.curvature, chunk.z, size);
        added.hessian[0] = sum_of(chunk.curvature, size);
        sum += added;
    });
}

double log_loss_sum(const double* logits, const double* labels, const double* weights, std::size_t n, int n_threads) {
    const Rows rows{logits, labels, weights};
    return sum_by_block<LossSum>(n, n_threads,
                                 [&](std::size_t at, std::size_t size, LossSum& sum) {
                                     double losses[kChunk];
                                     log_losses(rows.from(at), size, losses);
                                     sum += {sum_of(losses, size)};
                                 })
        .loss;
}

}  // namespace trueup
