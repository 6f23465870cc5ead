// Groups of rows crossed with bins of probabilities: sums of their cells, and moves of them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace trueup {

// Bins are (k width, (k + 1) width], and 0 is in the first. The probability must not be NaN.
inline std::uint16_t bin_of(double probability, double width, std::size_t n_bins) {
    const double bin = std::ceil(probability / width) - 1.0;
    return static_cast<std::uint16_t>(std::fmin(std::fmax(bin, 0.0), static_cast<double>(n_bins - 1)));
}

constexpr std::size_t kBinLanes = 3;  // weight, weighted probability, weighted label

// For each bin the sums over those of `rows` whose probability is in it. `weights` may be null. False if a row or a
// bin is out of range.
bool bin_sums(const std::int32_t* rows, std::size_t n_inside, const std::uint16_t* bins, const double* probabilities,
              const double* labels, const double* weights, std::size_t n_rows, std::size_t n_bins, double* sums);

// Moves of cells in the order in which they are made, sorted by bin, so that a row looks at those of its own bin only.
class CellMoves {
 public:
    // `group` and `bin` must be in range.
    CellMoves(const std::int32_t* group, const std::int32_t* bin, const double* delta, std::size_t n_moves,
              double width, std::size_t n_bins);

    std::size_t n_bins() const { return n_bins_; }

    // Where the moves take the probabilities; row i is in group g if bit g % 8 of members[i * n_bytes + g / 8] is set.
    void apply(const std::uint8_t* members, std::size_t n_bytes, double* probabilities, std::size_t n,
               int n_threads) const;

 private:
    struct Move {
        std::uint32_t when;
        std::int32_t group;
        double delta;
    };
    double moved(const std::uint8_t* members, double probability) const;

    double width_;
    std::size_t n_bins_;
    std::vector<std::size_t> offsets_;  // where the moves of each bin begin
    std::vector<Move> moves_;
};

}  // namespace trueup
