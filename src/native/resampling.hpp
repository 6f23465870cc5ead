// A model's ranking and calibration on rows drawn again: whole clusters, with replacement, as a bootstrap draws them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trueup {

// Flags of a row.
constexpr std::uint8_t kEndsScore = 1;  // the next row has another score
constexpr std::uint8_t kNearHigh = 2;   // there, the running sum of all rows is about as high as anywhere
constexpr std::uint8_t kNearLow = 4;    // or as low

// What a replicate gives: AUROC, average precision, how far the highest and lowest running sums moved apart, and then
// the sum of residuals of each bin.
constexpr std::size_t kResampledFixed = 3;

// Rows in order of score, the highest first.
struct RankedRows {
    const std::int32_t* cluster;  // that the row is in
    const double* weight;         // of the row
    const double* positive;       // weight times label
    const double* residual;       // weight times (label minus score)
    const double* path;           // running sum of residuals over the weight of all rows
    const std::uint8_t* flags;    // see above
    const std::uint8_t* bin;      // of the score, below n_bins
    std::size_t n;
    const double* cluster_weight;  // the weight of all rows of a cluster
    std::size_t n_clusters;
    std::size_t n_bins;
    std::uint8_t start_flags;  // of the running sum before the first row, which is 0
};

// How often each cluster is drawn in a replicate: as many draws as there are clusters.
void draw_clusters(std::uint64_t seed, std::uint64_t replicate, std::uint16_t* counts, std::size_t n_clusters);

// Replicates `first` to `last` - 1, kResampledFixed + n_bins values each. A replicate depends on its number and the
// seed alone, so that two models see the same draws, and so does any number of threads.
std::vector<double> resample(const RankedRows& rows, std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                             int n_threads);

}  // namespace trueup
