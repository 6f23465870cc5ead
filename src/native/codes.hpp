// Codes of rows, and the cell that they give a row in each combination of partitions.
//
// A partition gives every row a code; a combination of partitions gives it a cell, numbered with the last partition
// fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trueup {

constexpr std::size_t kMaxCells = std::size_t{1} << 24;  // of one combination

// Combination c is made of the partitions members[offsets[c]] to members[offsets[c + 1] - 1].
struct Combinations {
    const std::int32_t* offsets;
    std::size_t n;
    const std::int32_t* members;
    std::size_t n_members;

    std::size_t depth(std::size_t c) const { return static_cast<std::size_t>(offsets[c + 1] - offsets[c]); }
};

class Codes {
 public:
    // `codes` has n_rows entries a partition, each below its number of values, and must outlive the object.
    Codes(const std::uint8_t* codes, const std::uint32_t* n_values, std::size_t n_partitions, std::size_t n_rows);

    std::size_t n_rows() const { return n_rows_; }
    std::uint32_t n_values(std::size_t partition) const { return n_values_[partition]; }

    // Throws unless all combinations are of partitions that there are, and have no more than kMaxCells cells.
    void check(const Combinations& combinations) const;
    std::size_t n_cells(const Combinations& combinations, std::size_t c) const;

    // The cell of each of n rows from `row` on. Combinations in order share all but their last partition with the one
    // before: `prefix` keeps what they share, unless `is_first` says that it holds something else.
    void find_places(const Combinations& combinations, std::size_t c, bool is_first, std::size_t row, std::size_t n,
                     std::uint32_t* prefix, std::uint32_t* place) const;

 private:
    void extend(std::uint32_t* place, const std::uint32_t* prefix, std::int32_t partition, std::size_t row,
                std::size_t n) const;

    const std::uint8_t* codes_;
    std::vector<std::uint32_t> n_values_;
    std::size_t n_rows_;
};

}  // namespace trueup
