#include "groups.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace trueup {

namespace {

constexpr std::size_t kBlock = 1024;

}  // namespace

CellRows::CellRows(const double* probabilities, const double* labels, const double* weights,
                   const std::uint8_t* members, std::size_t n, std::size_t n_groups, double width, std::size_t n_bins)
    : width_(width),
      n_bins_(n_bins),
      n_bytes_((n_groups + 7) / 8),
      labels_(labels),
      weights_(weights),
      members_(members),
      probabilities_(probabilities, probabilities + n),
      bins_(n),
      rows_(n_groups),
      total_(n_groups, 0.0),
      changed_(n_bytes_, 0xFF) {
    for (std::size_t i = 0; i < n; ++i) bins_[i] = bin_of(probabilities_[i], width_, n_bins_);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t byte = 0; byte < n_bytes_; ++byte) {
            unsigned bits = members[i * n_bytes_ + byte];
            for (std::size_t group = 8 * byte; bits != 0 && group < n_groups; bits >>= 1, ++group) {
                if (!(bits & 1)) continue;
                rows_[group].push_back(static_cast<std::int32_t>(i));
                total_[group] += weights_ ? weights_[i] : 1.0;
            }
        }
    }
}

void CellRows::add(std::vector<Sums>& sums, std::size_t row) const {
    const double weight = weights_ ? weights_[row] : 1.0;
    Sums& sum = sums[bins_[row]];
    sum.weight += weight;
    sum.promised += weight * probabilities_[row];
    sum.happened += weight * labels_[row];
}

void CellRows::move(std::size_t group, std::size_t bin, double delta, std::vector<Sums>& sums) {
    sums[bin] = Sums{};
    for (const std::int32_t row : rows_[group]) {
        if (bins_[row] != bin) continue;
        probabilities_[row] = std::fmin(std::fmax(probabilities_[row] + delta, 0.0), 1.0);
        const std::uint8_t* of_row = members_ + static_cast<std::size_t>(row) * n_bytes_;
        for (std::size_t byte = 0; byte < n_bytes_; ++byte) changed_[byte] |= of_row[byte];
    }
    // In a second pass, so that a row that stays in the bin is not taken for one that has yet to move.
    for (const std::int32_t row : rows_[group]) {
        if (bins_[row] != bin) continue;
        bins_[row] = bin_of(probabilities_[row], width_, n_bins_);
        add(sums, static_cast<std::size_t>(row));
    }
}

std::vector<Moved> CellRows::look_once(const std::vector<std::int32_t>& groups, const std::vector<std::int32_t>& bins,
                                       double alpha, const double* noises) {
    std::vector<Moved> moves;
    std::vector<Sums> sums;
    for (const std::int32_t group : groups) {
        const std::uint8_t bit = static_cast<std::uint8_t>(1u << (group % 8));
        if (!(changed_[group / 8] & bit)) continue;
        changed_[group / 8] &= static_cast<std::uint8_t>(~bit);
        sums.assign(n_bins_, Sums{});
        for (const std::int32_t row : rows_[group]) add(sums, static_cast<std::size_t>(row));
        for (const std::int32_t bin : bins) {
            const Sums sum = sums[bin];
            const double error = sum.happened - sum.promised;
            if (!(sum.weight > 0.0) || sum.weight < alpha * width_ * total_[group]) continue;
            if (std::fabs(error) < alpha / 2 * sum.weight) continue;
            const double delta = error / sum.weight + noises[moves.size()];
            move(static_cast<std::size_t>(group), static_cast<std::size_t>(bin), delta, sums);
            moves.push_back({group, bin, delta});
        }
    }
    return moves;
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
