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

// A cell that is moved, and by how much.
struct Moved {
    std::int32_t group, bin;
    double delta;
};

// Rows whose cells, groups crossed with bins, are moved until none is wrong. Holds no copy of labels, weights (which
// may be null) and members (bits, as for CellMoves below): they must live as long as it does.
class CellRows {
 public:
    CellRows(const double* probabilities, const double* labels, const double* weights, const std::uint8_t* members,
             std::size_t n, std::size_t n_groups, double width, std::size_t n_bins);

    // Looks once at the cells of all groups, in this order of groups and bins, and moves those whose weight is at least
    // alpha * width times their group's and whose mean error is at least alpha / 2: by the error and a noise. Each move
    // takes one of `noises`, of which there must be one a cell. Groups none of whose rows has moved since they were
    // looked at last are passed by: their cells are as they were.
    std::vector<Moved> look_once(const std::vector<std::int32_t>& groups, const std::vector<std::int32_t>& bins,
                                 double alpha, const double* noises);

    const std::vector<double>& probabilities() const { return probabilities_; }
    std::size_t n_groups() const { return rows_.size(); }
    std::size_t n_bins() const { return n_bins_; }

 private:
    struct Sums {
        double weight = 0.0, promised = 0.0, happened = 0.0;
    };
    void add(std::vector<Sums>& sums, std::size_t row) const;
    void move(std::size_t group, std::size_t bin, double delta, std::vector<Sums>& sums);

    double width_;
    std::size_t n_bins_, n_bytes_;
    const double *labels_, *weights_;
    const std::uint8_t* members_;
    std::vector<double> probabilities_;
    std::vector<std::uint16_t> bins_;
    std::vector<std::vector<std::int32_t>> rows_;  // of each group
    std::vector<double> total_;                    // weight of each group
    std::vector<std::uint8_t> changed_;            // a bit a group: whether a row has moved since it was looked at
};

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
