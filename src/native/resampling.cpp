#include "resampling.hpp"

#include <algorithm>
#include <cmath>

#include "parallel.hpp"

namespace trueup {

namespace {

// SplitMix64: a counter, mixed.
struct Random {
    std::uint64_t state;

    std::uint64_t operator()() {
        std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
};

// What has been walked over so far.
struct Walk {
    double positive = 0.0, negative = 0.0;              // weight of all rows
    double score_positive = 0.0, score_negative = 0.0;  // of the rows of the current score
    double pairs = 0.0;                                 // weight of pairs in the right order
    double precision = 0.0;                             // sum of positives times precision
};

// All rows of one score have been seen: they come into the ranking at once.
inline void end_score(Walk& walk) {
    walk.pairs += walk.score_negative * (walk.positive + 0.5 * walk.score_positive);
    walk.positive += walk.score_positive;
    walk.negative += walk.score_negative;
    if (walk.score_positive > 0.0)
        walk.precision += walk.score_positive * walk.positive / (walk.positive + walk.negative);
    walk.score_positive = walk.score_negative = 0.0;
}

void one_replicate(const RankedRows& rows, const std::uint16_t* counts, double* out) {
    Walk walk;
    for (std::size_t i = 0; i < rows.n; ++i) {
        const double count = counts[rows.group[i]];
        const double positive = count * rows.positive[i];
        walk.score_positive += positive;
        walk.score_negative += count * rows.weight[i] - positive;
        if (rows.ends[i]) end_score(walk);
    }
    out[0] = walk.pairs / (walk.positive * walk.negative);  // NaN if a class was not drawn
    out[1] = walk.precision / walk.positive;
}

// How high and how low a sum of residuals goes.
struct Path {
    double highest = 0.0, lowest = 0.0;  // that the sum was at the end of a score

    void end_score(double sum) {
        highest = std::max(highest, sum);
        lowest = std::min(lowest, sum);
    }
};

// Both halves in one walk over the rows.
void one_split(const RankedRows& rows, const std::uint8_t* inside, double* out) {
    double weights[2] = {};
    for (std::size_t c = 0; c < rows.n_groups; ++c) weights[1 - inside[c]] += rows.group_weight[c];
    Path paths[2];
    double sums[2] = {}, bins[kMaxBins][2] = {};
    for (std::size_t i = 0; i < rows.n; ++i) {
        const double first = inside[rows.group[i]] * rows.residual[i];  // no branch: it could not be foreseen
        const double second = rows.residual[i] - first;
        sums[0] += first;
        sums[1] += second;
        bins[rows.bin[i]][0] += first;
        bins[rows.bin[i]][1] += second;
        if (rows.ends[i])
            for (int half : {0, 1}) paths[half].end_score(sums[half]);
    }
    for (int half : {0, 1}) {
        double in_bins = 0.0;
        for (const auto& bin : bins) in_bins += std::abs(bin[half]);
        out[2 * half] = (paths[half].highest - paths[half].lowest) / weights[half];  // NaN if a half weighs nothing
        out[2 * half + 1] = in_bins / weights[half];
    }
}

// A row as it is in the first half, or with its sign changed if it is in the second.
struct Signed {
    double weight, residual;
};

void largest_errors(const SegmentedRows& rows, const std::vector<Signed>& drawn, double* largest) {
    largest[0] = largest[1] = 0.0;
    for (std::size_t s = 0; s < rows.n_segments; ++s) {
        double weight = 0.0, residual = 0.0;
        Path paths[2];
        for (std::int64_t at = rows.offsets[s]; at < rows.offsets[s + 1]; ++at) {
            const Signed& row = drawn[static_cast<std::size_t>(rows.places[at])];
            weight += row.weight;
            residual += row.residual;
            if (rows.ends[at]) {
                const double noise = residual - rows.mean[s] * weight;
                paths[0].end_score(rows.path[at] + noise);
                paths[1].end_score(rows.path[at] - noise);
            }
        }
        for (int half : {0, 1})
            largest[half] = std::max(largest[half], (paths[half].highest - paths[half].lowest) / rows.sigma[s]);
    }
}

}  // namespace

void draw_groups(std::uint64_t seed, std::uint64_t replicate, std::uint16_t* counts, std::size_t n_groups) {
    std::fill(counts, counts + n_groups, std::uint16_t{0});
    Random random{Random{seed}() ^ Random{~replicate}()};
    for (std::size_t i = 0; i < n_groups; i += 2) {
        const std::uint64_t bits = random();
        // The upper half of a product of 32 bits with n: the chances differ by less than n / 2^32.
        ++counts[(bits >> 32) * n_groups >> 32];
        if (i + 1 < n_groups) ++counts[(bits & 0xFFFFFFFFu) * n_groups >> 32];
    }
}

void draw_half(std::uint64_t seed, std::uint64_t split, std::uint8_t* inside, std::size_t n_groups) {
    Random random{Random{seed}() ^ Random{~split}()};
    std::uint64_t wanted = n_groups / 2;
    for (std::size_t i = 0; i < n_groups; ++i) {
        // Of those left, so many are wanted: that is the chance of each.
        inside[i] = (random() >> 32) * (n_groups - i) >> 32 < wanted;
        wanted -= inside[i];
    }
}

std::vector<double> resample(const RankedRows& rows, std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                             int n_threads) {
    const std::size_t n = static_cast<std::size_t>(last - first);
    std::vector<double> found(n * kResampled);
    for_each_block(n, n_threads, [&] {
        return [&, counts = std::vector<std::uint16_t>(rows.n_groups)](std::size_t block) mutable {
            draw_groups(seed, first + block, counts.data(), rows.n_groups);
            one_replicate(rows, counts.data(), found.data() + block * kResampled);
        };
    });
    return found;
}

std::vector<double> halve(const RankedRows& rows, std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                          int n_threads) {
    const std::size_t n = static_cast<std::size_t>(last - first);
    std::vector<double> found(n * kHalved);
    for_each_block(n, n_threads, [&] {
        return [&, inside = std::vector<std::uint8_t>(rows.n_groups)](std::size_t block) mutable {
            draw_half(seed, first + block, inside.data(), rows.n_groups);
            one_split(rows, inside.data(), found.data() + block * kHalved);
        };
    });
    return found;
}

std::vector<double> halve_segments(const SegmentedRows& rows, std::uint64_t seed, std::uint64_t first,
                                   std::uint64_t last, int n_threads) {
    const std::size_t n = static_cast<std::size_t>(last - first);
    std::vector<double> found(2 * n);
    for_each_block(n, n_threads, [&] {
        return [&, inside = std::vector<std::uint8_t>(rows.n_groups),
                drawn = std::vector<Signed>(rows.n)](std::size_t block) mutable {
            draw_half(seed, first + block, inside.data(), rows.n_groups);
            // A group's rows are scattered: each is looked up once, not once per segment.
            for (std::size_t i = 0; i < rows.n; ++i) {
                const double sign = 2.0 * inside[static_cast<std::size_t>(rows.group[i])] - 1.0;
                drawn[i] = {sign * rows.weight[i], sign * rows.residual[i]};
            }
            largest_errors(rows, drawn, found.data() + 2 * block);
        };
    });
    return found;
}

}  // namespace trueup
