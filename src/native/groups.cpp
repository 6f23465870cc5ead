#include "groups.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace trueup {

namespace {

constexpr std::size_t kBlock = 1024;

}  // namespace

bool bin_sums(const std::int32_t* rows, std::size_t n_inside, const std::uint16_t* bins, const double* probabilities,
              const double* labels, const double* weights, std::size_t n_rows, std::size_t n_bins, double* sums) {
    std::fill_n(sums, kBinLanes * n_bins, 0.0);
    for (std::size_t i = 0; i < n_inside; ++i) {
        const auto row = static_cast<std::size_t>(rows[i]);
        if (rows[i] < 0 || row >= n_rows || bins[row] >= n_bins) return false;
        const double weight = weights ? weights[row] : 1.0;
        double* sum = sums + kBinLanes * bins[row];
        sum[0] += weight;
        sum[1] += weight * probabilities[row];
        sum[2] += weight * labels[row];
    }
    return true;
}

CellMoves::CellMoves(const std::int32_t* group, const std::int32_t* bin, const double* delta, std::size_t n_moves,
                     double width, std::size_t n_bins)
    : width_(width), n_bins_(n_bins), offsets_(n_bins + 1, 0), moves_(n_moves) {
    for (std::size_t i = 0; i < n_moves; ++i) ++offsets_[static_cast<std::size_t>(bin[i]) + 1];
    for (std::size_t b = 0; b < n_bins; ++b) offsets_[b + 1] += offsets_[b];
    std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
    for (std::size_t i = 0; i < n_moves; ++i)
        moves_[next[static_cast<std::size_t>(bin[i])]++] = {static_cast<std::uint32_t>(i), group[i], delta[i]};
}

double CellMoves::moved(const std::uint8_t* members, double probability) const {
    if (std::isnan(probability)) return probability;
    std::size_t bin = bin_of(probability, width_, n_bins_);
    std::size_t place = offsets_[bin], end = offsets_[bin + 1];
    while (place < end) {
        const Move& move = moves_[place++];
        if (!(members[move.group / 8] >> (move.group % 8) & 1)) continue;
        probability = std::fmin(std::fmax(probability + move.delta, 0.0), 1.0);
        const std::size_t moved_to = bin_of(probability, width_, n_bins_);
        if (moved_to == bin) continue;
        bin = moved_to;  // go on with the first move of that bin that comes later
        end = offsets_[bin + 1];
        const auto later = std::upper_bound(moves_.begin() + offsets_[bin], moves_.begin() + end, move.when,
                                            [](std::uint32_t when, const Move& other) { return when < other.when; });
        place = static_cast<std::size_t>(later - moves_.begin());
    }
    return probability;
}

void CellMoves::apply(const std::uint8_t* members, std::size_t n_bytes, double* probabilities, std::size_t n,
                      int n_threads) const {
    for_each_block((n + kBlock - 1) / kBlock, n_threads, [&] {
        return [&](std::size_t block) {
            for (std::size_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i)
                probabilities[i] = moved(members + i * n_bytes, probabilities[i]);
        };
    });
}

}  // namespace trueup
