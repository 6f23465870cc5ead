#include "cells.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "hot.hpp"
#include "parallel.hpp"

namespace trueup {

namespace {

constexpr std::size_t kChunkRows = 512;                    // a chunk of rows stays in the first cache
constexpr std::size_t kStateBytes = std::size_t{1} << 18;  // the sums of a group of combinations in the second
constexpr std::size_t kLeastGroup = 4, kMostGroup = 64;    // combinations that share a chunk of rows

// Sums of one cell, and the least and greatest values that they had at the end of a score.
template <typename T, std::size_t L>
struct Running {
    T sum[L];
    T high[L];
    T low[L];
};

// Sums are read, changed and written as a whole: a vector each.
template <typename T, std::size_t L>
inline void fold(Running<T, L>& cell, const T* sum) {
    T high[L], low[L];
    for (std::size_t k = 0; k < L; ++k) high[k] = sum[k] > cell.high[k] ? sum[k] : cell.high[k];
    for (std::size_t k = 0; k < L; ++k) low[k] = sum[k] < cell.low[k] ? sum[k] : cell.low[k];
    for (std::size_t k = 0; k < L; ++k) cell.high[k] = high[k];
    for (std::size_t k = 0; k < L; ++k) cell.low[k] = low[k];
}

// Every row ends a score of its own.
template <typename T, std::size_t L>
inline void walk_without_ties(Running<T, L>* __restrict cells, const std::uint32_t* __restrict place,
                              const T* __restrict lanes, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        Running<T, L>& cell = cells[place[i]];
        T sum[L];
        for (std::size_t k = 0; k < L; ++k) sum[k] = cell.sum[k] + lanes[i * L + k];
        fold(cell, sum);
        for (std::size_t k = 0; k < L; ++k) cell.sum[k] = sum[k];
    }
}

// A cell's sum counts only once the cell's next row has another score.
template <typename T, std::size_t L>
inline void walk_with_ties(Running<T, L>* __restrict cells, std::uint32_t* __restrict last_score,
                           const std::uint32_t* __restrict place, const std::uint32_t* __restrict scores,
                           const T* __restrict lanes, std::size_t n) {
    T factors[2][L];  // a vector each: a single factor would be taken for a reason to work number by number
    for (std::size_t k = 0; k < L; ++k) factors[0][k] = T(0), factors[1][k] = T(1);
    for (std::size_t i = 0; i < n; ++i) {
        Running<T, L>& cell = cells[place[i]];
        // No branch, which would be a coin toss: 0 lies between low and high anyway.
        const T* counts = factors[last_score[place[i]] != scores[i]];
        last_score[place[i]] = scores[i];
        T sum[L], seen[L];
        for (std::size_t k = 0; k < L; ++k) sum[k] = cell.sum[k];
        for (std::size_t k = 0; k < L; ++k) seen[k] = sum[k] * counts[k];
        fold(cell, seen);
        for (std::size_t k = 0; k < L; ++k) sum[k] += lanes[i * L + k];
        for (std::size_t k = 0; k < L; ++k) cell.sum[k] = sum[k];
    }
}

using SumCell = Running<double, kSumLanes>;
using DrawCell = Running<float, kDrawLanes>;

// Sums of the rows of one id in one cell, and over the ids before it the products of such sums.
struct PairCell {
    double sum[kPairLanes];
    double product[kPairProducts];
};

// What an id has summed is multiplied once its rows are over.
inline void fold(PairCell& cell, const double* sum) {
    cell.product[0] += sum[0] * sum[0];
    cell.product[1] += sum[0] * sum[1];
    cell.product[2] += sum[1] * sum[1];
}

// Clones are made of functions, not of templates: one name for each.
TRUEUP_HOT void walk(SumCell* cells, const std::uint32_t* place, const double* lanes, std::size_t n) {
    walk_without_ties(cells, place, lanes, n);
}
TRUEUP_HOT void walk(SumCell* cells, std::uint32_t* last, const std::uint32_t* place, const std::uint32_t* scores,
                     const double* lanes, std::size_t n) {
    walk_with_ties(cells, last, place, scores, lanes, n);
}
TRUEUP_HOT void walk(DrawCell* cells, const std::uint32_t* place, const float* lanes, std::size_t n) {
    walk_without_ties(cells, place, lanes, n);
}
TRUEUP_HOT void walk(DrawCell* cells, std::uint32_t* last, const std::uint32_t* place, const std::uint32_t* scores,
                     const float* lanes, std::size_t n) {
    walk_with_ties(cells, last, place, scores, lanes, n);
}

void walk(PairCell* cells, const std::uint32_t* place, const double* lanes, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) fold(cells[place[i]], lanes + i * kPairLanes);
}
void walk(PairCell* cells, std::uint32_t* last, const std::uint32_t* place, const std::uint32_t* ids,
          const double* lanes, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        PairCell& cell = cells[place[i]];
        if (last[place[i]] != ids[i]) {
            fold(cell, cell.sum);
            last[place[i]] = ids[i];
            cell.sum[0] = cell.sum[1] = 0.0;
        }
        cell.sum[0] += lanes[i * kPairLanes];
        cell.sum[1] += lanes[i * kPairLanes + 1];
    }
}

TRUEUP_HOT void expand_draws(float* lanes, const std::uint8_t* draws, const float* if_zero, const float* if_one,
                             std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < kDrawLanes; ++k)
            lanes[i * kDrawLanes + k] = (draws[i] >> k & 1) ? if_one[i] : if_zero[i];
}

}  // namespace

double evidence_of(double range, double variance, double unit) {
    // Bennett's inequality bounds the tail of a sum of independent steps of at most `unit` by exp(-v h(u)); a normal
    // tail of x standard deviations is about exp(-x²/2), so x = sqrt(2 v h(u)).
    const double v = variance / (unit * unit);
    const double u = range * unit / variance;
    // Near 0, (1 + u) log(1 + u) - u cancels; its series is u²/2 - u³/6 + ...
    const double h = u < 1e-4 ? u * u * (0.5 - u / 6.0) : (1.0 + u) * std::log1p(u) - u;
    return std::sqrt(2.0 * v * h);
}

Cells::Cells(const std::uint8_t* codes, const std::uint32_t* n_values, const std::uint8_t* skips_zero,
             std::size_t n_partitions, const std::uint32_t* score_ids, std::size_t n_rows)
    : codes_(codes, n_values, n_partitions, n_rows),
      skips_zero_(skips_zero, skips_zero + n_partitions),
      score_ids_(score_ids) {
    for (std::size_t i = 1; i < n_rows; ++i) {
        if (score_ids[i] < score_ids[i - 1]) throw std::invalid_argument("rows must be in order of score");
        if (score_ids[i] == score_ids[i - 1]) has_ties_ = true;
    }
}

// Walks groups of combinations over all rows, chunk by chunk, so that a chunk's lanes are read from memory once a
// group.
class CellPass {
 public:
    CellPass(const Cells& grid, const Combinations& combinations, int n_threads)
        : grid_(grid), combinations_(combinations) {
        // A few groups a thread, so that none waits long for the others.
        const auto threads = static_cast<std::size_t>(std::max(1, n_threads));
        const std::size_t most = std::clamp(combinations.n / (4 * threads), kLeastGroup, kMostGroup);
        std::size_t bytes = 0;
        starts_.push_back(0);
        for (std::size_t c = 0; c < combinations.n; ++c) {
            const std::size_t size = grid.codes_.n_cells(combinations, c) * sizeof(SumCell);
            const std::size_t in_group = c - starts_.back();
            if (in_group > 0 && (bytes + size > kStateBytes || in_group == most)) {
                starts_.push_back(c);
                bytes = 0;
            }
            bytes += size;
        }
        starts_.push_back(combinations.n);
    }

    std::size_t n_groups() const { return combinations_.n ? starts_.size() - 1 : 0; }
    std::size_t first(std::size_t group) const { return starts_[group]; }
    std::size_t last(std::size_t group) const { return starts_[group + 1]; }

    // What a thread needs for a group; made once and used again.
    template <typename Cell>
    struct State {
        std::vector<std::size_t> begin;  // where the cells of each combination begin
        std::vector<Cell> cells;
        std::vector<std::uint32_t> last_score;
        std::vector<std::uint32_t> prefix;
        std::vector<std::uint32_t> place;
    };

    // `lanes_of(row, n)` gives the lanes of a chunk, `seen(combination, places, n)` hears of every chunk.
    template <typename Cell, typename LanesOf, typename Seen>
    void run(std::size_t group, State<Cell>& state, LanesOf lanes_of, Seen seen) const {
        const std::size_t first_c = first(group), last_c = last(group);
        state.begin.assign(1, 0);
        for (std::size_t c = first_c; c < last_c; ++c)
            state.begin.push_back(state.begin.back() + grid_.codes_.n_cells(combinations_, c));
        state.cells.assign(state.begin.back(), Cell{});
        // No row has this score: what it folds, an empty sum, is 0, which counts anyway.
        state.last_score.assign(grid_.has_ties_ ? state.begin.back() : 0, 0xFFFFFFFFu);
        state.prefix.resize(kChunkRows);
        state.place.resize(kChunkRows);
        for (std::size_t row = 0; row < grid_.n_rows(); row += kChunkRows) {
            const std::size_t n = std::min(kChunkRows, grid_.n_rows() - row);
            const auto* lanes = lanes_of(row, n);
            for (std::size_t c = first_c; c < last_c; ++c) {
                grid_.codes_.find_places(combinations_, c, c == first_c, row, n, state.prefix.data(),
                                         state.place.data());
                Cell* cells = state.cells.data() + state.begin[c - first_c];
                if (grid_.has_ties_) {
                    std::uint32_t* last_score = state.last_score.data() + state.begin[c - first_c];
                    walk(cells, last_score, state.place.data(), grid_.score_ids_ + row, lanes, n);
                } else {
                    walk(cells, state.place.data(), lanes, n);
                }
                seen(c - first_c, state.place.data(), n);
            }
        }
        if (grid_.has_ties_)
            for (Cell& cell : state.cells) fold(cell, cell.sum);
    }

    // Whether a cell lies in no segment.
    bool is_skipped(std::size_t c, std::size_t cell) const {
        for (std::int32_t m = combinations_.offsets[c + 1]; m-- > combinations_.offsets[c];) {
            const auto p = static_cast<std::size_t>(combinations_.members[m]);
            if (grid_.skips_zero_[p] && cell % grid_.codes_.n_values(p) == 0) return true;
            cell /= grid_.codes_.n_values(p);
        }
        return false;
    }

 private:
    const Cells& grid_;
    const Combinations& combinations_;
    std::vector<std::size_t> starts_;
};

CellSums Cells::sums(const Combinations& combinations, const double* lanes, std::size_t min_rows, int n_threads) const {
    codes_.check(combinations);
    const CellPass pass(*this, combinations, n_threads);
    std::vector<CellSums> found(pass.n_groups());
    for_each_block(pass.n_groups(), n_threads, [&] {
        return [&, state = CellPass::State<SumCell>(), rows = std::vector<std::int32_t>()](std::size_t group) mutable {
            std::size_t n_states = 0;
            for (std::size_t c = pass.first(group); c < pass.last(group); ++c)
                n_states += codes_.n_cells(combinations, c);
            rows.assign(n_states, 0);
            pass.run(
                group, state, [&](std::size_t row, std::size_t) { return lanes + row * kSumLanes; },
                [&](std::size_t c, const std::uint32_t* place, std::size_t n) {
                    std::int32_t* counts = rows.data() + state.begin[c];
                    for (std::size_t i = 0; i < n; ++i) ++counts[place[i]];
                });
            CellSums& out = found[group];
            for (std::size_t c = pass.first(group); c < pass.last(group); ++c) {
                const std::size_t begin = state.begin[c - pass.first(group)];
                const std::size_t end = state.begin[c - pass.first(group) + 1];
                for (std::size_t i = begin; i < end; ++i) {
                    if (rows[i] == 0 || static_cast<std::size_t>(rows[i]) < min_rows) continue;
                    if (pass.is_skipped(c, i - begin)) continue;
                    const SumCell& cell = state.cells[i];
                    out.combination.push_back(static_cast<std::int32_t>(c));
                    out.cell.push_back(static_cast<std::int32_t>(i - begin));
                    out.rows.push_back(rows[i]);
                    out.sums.insert(out.sums.end(), cell.sum, cell.sum + kSumLanes);
                    out.range.push_back(cell.high[0] - cell.low[0]);
                }
            }
        };
    });
    CellSums all;
    for (CellSums& part : found) {
        const auto append = [](auto& to, auto& from) {
            to.insert(to.end(), from.begin(), from.end());
            from = {};
        };
        append(all.combination, part.combination);
        append(all.cell, part.cell);
        append(all.rows, part.rows);
        append(all.sums, part.sums);
        append(all.range, part.range);
    }
    return all;
}

void Cells::check(const Combinations& combinations, const std::int64_t* offsets, const std::int32_t* cell,
                  std::size_t n_chosen) const {
    codes_.check(combinations);
    if (offsets[0] != 0 || static_cast<std::size_t>(offsets[combinations.n]) != n_chosen)
        throw std::invalid_argument("the offsets of the chosen cells don't fit them");
    for (std::size_t c = 0; c < combinations.n; ++c)  // all of them, before any is read from
        if (offsets[c + 1] < offsets[c]) throw std::invalid_argument("offsets must not decrease");
    for (std::size_t c = 0; c < combinations.n; ++c) {
        const std::size_t cells = codes_.n_cells(combinations, c);
        for (std::int64_t i = offsets[c]; i < offsets[c + 1]; ++i)
            if (cell[i] < 0 || static_cast<std::size_t>(cell[i]) >= cells)
                throw std::invalid_argument("no such cell or slot");
    }
}

std::vector<double> Cells::products(const Combinations& combinations, const std::int64_t* offsets,
                                    const std::int32_t* cell, std::size_t n_chosen, const double* lanes,
                                    int n_threads) const {
    check(combinations, offsets, cell, n_chosen);
    const CellPass pass(*this, combinations, n_threads);
    std::vector<double> found(n_chosen * kPairProducts);
    for_each_block(pass.n_groups(), n_threads, [&] {
        return [&, state = CellPass::State<PairCell>()](std::size_t group) mutable {
            pass.run(
                group, state, [&](std::size_t row, std::size_t) { return lanes + row * kPairLanes; },
                [](std::size_t, const std::uint32_t*, std::size_t) {});
            for (std::size_t c = pass.first(group); c < pass.last(group); ++c) {
                const PairCell* cells = state.cells.data() + state.begin[c - pass.first(group)];
                for (std::int64_t i = offsets[c]; i < offsets[c + 1]; ++i)
                    std::copy_n(cells[cell[i]].product, kPairProducts,
                                found.data() + static_cast<std::size_t>(i) * kPairProducts);
            }
        };
    });
    return found;
}

DrawnMaxima Cells::drawn(const Combinations& combinations, const ChosenCells& chosen, const std::uint8_t* draws,
                         const float* residual_if_zero, const float* residual_if_one, float* slots, std::size_t n_slots,
                         int n_threads) const {
    check(combinations, chosen.offsets, chosen.cell, chosen.n);
    for (std::size_t i = 0; i < chosen.n; ++i) {
        if (chosen.slot[i] >= 0 && static_cast<std::size_t>(chosen.slot[i]) >= n_slots)
            throw std::invalid_argument("no such cell or slot");
        if (!(chosen.variance[i] > 0.0) || !(chosen.unit[i] > 0.0))
            throw std::invalid_argument("variances and units must be above 0");
    }
    if (!(chosen.min_variance >= 0.0)) throw std::invalid_argument("min_variance must be at least 0");
    const CellPass pass(*this, combinations, n_threads);
    std::vector<DrawnMaxima> found(pass.n_groups());
    for_each_block(pass.n_groups(), n_threads, [&] {
        return [&, state = CellPass::State<DrawCell>(),
                lanes = std::vector<float>(kChunkRows * kDrawLanes)](std::size_t group) mutable {
            pass.run(
                group, state,
                [&](std::size_t row, std::size_t n) {
                    expand_draws(lanes.data(), draws + row, residual_if_zero + row, residual_if_one + row, n);
                    return static_cast<const float*>(lanes.data());
                },
                [](std::size_t, const std::uint32_t*, std::size_t) {});
            DrawnMaxima& most = found[group];
            for (std::size_t c = pass.first(group); c < pass.last(group); ++c) {
                const DrawCell* cells = state.cells.data() + state.begin[c - pass.first(group)];
                for (std::int64_t i = chosen.offsets[c]; i < chosen.offsets[c + 1]; ++i) {
                    const DrawCell& cell = cells[chosen.cell[i]];
                    const double variance = chosen.variance[i], unit = chosen.unit[i];
                    const double scale = 1.0 / std::sqrt(std::max(variance, chosen.min_variance * unit * unit));
                    const double most_scale = 1.0 / std::sqrt(variance);
                    for (std::size_t k = 0; k < kDrawLanes; ++k) {
                        const double range = static_cast<double>(cell.high[k]) - static_cast<double>(cell.low[k]);
                        most.largest_sigma[k] = std::max(most.largest_sigma[k], static_cast<float>(range * scale));
                        if (chosen.slot[i] >= 0) {
                            slots[static_cast<std::size_t>(chosen.slot[i]) * kDrawLanes + k] =
                                static_cast<float>(evidence_of(range, variance, unit));
                        } else if (range * most_scale > most.largest_evidence[k]) {  // evidence is never more than that
                            const auto evidence = static_cast<float>(evidence_of(range, variance, unit));
                            most.largest_evidence[k] = std::max(most.largest_evidence[k], evidence);
                        }
                    }
                }
            }
        };
    });
    DrawnMaxima most;
    for (const DrawnMaxima& part : found)
        for (std::size_t k = 0; k < kDrawLanes; ++k) {
            most.largest_sigma[k] = std::max(most.largest_sigma[k], part.largest_sigma[k]);
            most.largest_evidence[k] = std::max(most.largest_evidence[k], part.largest_evidence[k]);
        }
    return most;
}

}  // namespace trueup
