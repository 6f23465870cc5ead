// Whole-number sums of all cells of many combinations, and inside each cell of bins of scores.
//
// Whole numbers, so that a sum of rows is the same however the rows were parted and in whatever order they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codes.hpp"

namespace trueup {

constexpr std::size_t kMaxBins = std::size_t{1} << 15;       // of a cell: a bin and a sign fit two bytes
constexpr std::size_t kMaxBinsInAll = std::size_t{1} << 24;  // of a combination's cells together

// What rows add. A row of step s adds |s| to its bin's rises or falls, and its lanes to its cell.
struct BinnedRows {
    const std::uint16_t* slots;   // n_rows entries a depth: twice the bin, plus 1 if the step is a fall
    const std::uint32_t* n_bins;  // a depth
    std::size_t n_depths;
    const std::int64_t* steps;  // without their signs
    const std::int64_t* lanes;  // n_lanes a row
    std::size_t n_lanes;
};

// Of the cells that have rows, in order of combination and cell, and of their bins in which something rose or fell.
struct BinnedSums {
    std::vector<std::int32_t> combination;
    std::vector<std::int32_t> cell;
    std::vector<std::int64_t> sums;    // n_lanes a cell
    std::vector<std::int64_t> n_bins;  // how many a cell has
    std::vector<std::uint16_t> bin;
    std::vector<std::int64_t> rises;
    std::vector<std::int64_t> falls;
};

// The first lane must be above 0 in every row: that is how cells with rows are known. Sums must fit 63 bits.
BinnedSums sum_bins(const Codes& codes, const Combinations& combinations, const BinnedRows& rows, int n_threads);

// Bins by keys that rise.
struct KeyedBins {
    const std::int64_t* keys;
    const std::int64_t* rises;
    const std::int64_t* falls;
    std::size_t n;
};

struct AddedBins {
    std::vector<std::int64_t> keys;
    std::vector<std::int64_t> rises;
    std::vector<std::int64_t> falls;
};

// All bins of either, with the sums of those that both have.
AddedBins add_bins(const KeyedBins& one, const KeyedBins& other);

}  // namespace trueup
