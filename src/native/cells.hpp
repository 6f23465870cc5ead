// Running sums of all cells of many combinations of partitions, and how far each sum ranged.
//
// A partition gives every row a code; a combination of partitions gives it a cell. Rows come in order of score, and one
// pass over them moves the sums of all cells of a combination. No cell ever has a mask of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codes.hpp"

namespace trueup {

constexpr std::size_t kSumLanes = 4;
constexpr std::size_t kDrawLanes = 8;
constexpr std::size_t kPairLanes = 2;
constexpr std::size_t kPairProducts = 3;

struct CellSums {
    std::vector<std::int32_t> combination;
    std::vector<std::int32_t> cell;
    std::vector<std::int32_t> rows;
    std::vector<double> sums;   // kSumLanes a cell
    std::vector<double> range;  // of the first lane: largest minus smallest running sum, 0 among them
};

// The cells whose statistics are wanted for drawn labels: those of combination c are offsets[c] to offsets[c + 1] - 1.
struct ChosenCells {
    const std::int64_t* offsets;
    const std::int32_t* cell;
    const double* variance;    // of the final sum, if the scores are true
    const double* unit;        // the typical weight of a row
    const std::int32_t* slot;  // where to write the statistic, or -1 to take part in the maximum only
    double min_variance;       // sigmas are those of at least this variance, in squared units
    std::size_t n;
};

// A block of drawn labels gives, for each of kDrawLanes draws:
struct DrawnMaxima {
    float largest_sigma[kDrawLanes] = {};     // the largest range in standard deviations, over all chosen cells
    float largest_evidence[kDrawLanes] = {};  // the largest evidence over cells without a slot
};

// How many standard deviations a range is worth: itself if the variance is large, less where single rows matter.
double evidence_of(double range, double variance, double unit);

class Cells {
 public:
    // `codes` has n_rows entries a partition; `score_ids` counts distinct scores from 0 and never decreases. Both must
    // outlive the object. In a partition that `skips_zero`, rows of code 0 are in no cell.
    Cells(const std::uint8_t* codes, const std::uint32_t* n_values, const std::uint8_t* skips_zero,
          std::size_t n_partitions, const std::uint32_t* score_ids, std::size_t n_rows);

    std::size_t n_rows() const { return codes_.n_rows(); }

    // Sums of `lanes` (kSumLanes a row) in every cell of at least `min_rows` rows, in order of combination and cell.
    CellSums sums(const Combinations& combinations, const double* lanes, std::size_t min_rows, int n_threads) const;

    // Of two lanes a row, their sums u and v over the rows of each id (`score_ids`) in a cell, and over the ids the
    // sums of u², u v and v²: kPairProducts a chosen cell. Those of combination c are offsets[c] to offsets[c + 1] - 1.
    std::vector<double> products(const Combinations& combinations, const std::int64_t* offsets,
                                 const std::int32_t* cell, std::size_t n_chosen, const double* lanes,
                                 int n_threads) const;

    // Labels are 1 where the draw's bit in `draws` is set; a row's step is then residual_if_one, else residual_if_zero.
    // Evidence of cells with a slot goes to slots[slot * kDrawLanes + draw].
    DrawnMaxima drawn(const Combinations& combinations, const ChosenCells& chosen, const std::uint8_t* draws,
                      const float* residual_if_zero, const float* residual_if_one, float* slots, std::size_t n_slots,
                      int n_threads) const;

 private:
    // Throws unless the combinations are sound and every chosen cell is one of its combination's.
    void check(const Combinations& combinations, const std::int64_t* offsets, const std::int32_t* cell,
               std::size_t n_chosen) const;

    Codes codes_;
    std::vector<std::uint8_t> skips_zero_;
    const std::uint32_t* score_ids_;
    bool has_ties_ = false;

    friend class CellPass;
};

}  // namespace trueup
