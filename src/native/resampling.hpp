// A model's ranking on rows drawn again, with replacement, as a bootstrap draws them; and its calibration on either
// half of the rows. Groups are drawn whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trueup {

// What a replicate gives: AUROC and average precision.
constexpr std::size_t kResampled = 2;
// What a split gives: ECCE and ECE of the first half, and of the second.
constexpr std::size_t kHalved = 4;
constexpr std::size_t kMaxBins = 256;

// Rows in order of score, the highest first.
struct RankedRows {
    const std::int32_t* group;  // that the row is in
    const double* weight;       // of the row
    const double* positive;     // weight times label
    const double* residual;     // weight times (label minus score)
    const std::uint8_t* ends;   // whether the next row has another score
    const std::uint8_t* bin;    // of the score, of the ECE
    std::size_t n;
    const double* group_weight;  // the weight of all rows of a group
    std::size_t n_groups;
};

// Rows in order of score, and segments of them.
struct SegmentedRows {
    const std::int32_t* group;  // that the row is in
    const double* weight;       // of the row
    const double* residual;     // weight times (label minus score)
    std::size_t n;
    std::size_t n_groups;
    const std::int64_t* offsets;  // segment s has the rows places[offsets[s]] to places[offsets[s + 1] - 1]
    const std::int32_t* places;   // of rows, ascending within a segment
    const std::uint8_t* ends;     // for each place, whether the segment's next row has another score
    const double* path;           // for each place, the sum down to it that is there without noise
    const double* mean;           // of each segment's residuals, for a weight of 1: noise is around it
    const double* sigma;          // what the range of each segment's sums is measured in
    std::size_t n_segments;
};

// How often each group is drawn in a replicate: as many draws as there are groups.
void draw_groups(std::uint64_t seed, std::uint64_t replicate, std::uint16_t* counts, std::size_t n_groups);

// Which groups are in the first half of a split, 1 if they are: half of them, rounded down, each choice as likely.
void draw_half(std::uint64_t seed, std::uint64_t split, std::uint8_t* inside, std::size_t n_groups);

// Replicates, or splits, `first` to `last` - 1, kResampled or kHalved values each. One depends on its number and the
// seed alone, so that two models see the same draws, and so does any number of threads.
std::vector<double> resample(const RankedRows& rows, std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                             int n_threads);
std::vector<double> halve(const RankedRows& rows, std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                          int n_threads);

// The largest range of any segment's sums, in its sigmas, when the first half's noise is added to its path and the
// second's taken away, and the other way about: two values for each of the splits `first` to `last` - 1.
std::vector<double> halve_segments(const SegmentedRows& rows, std::uint64_t seed, std::uint64_t first,
                                   std::uint64_t last, int n_threads);

}  // namespace trueup
