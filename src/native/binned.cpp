#include "binned.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>

#include "hot.hpp"
#include "parallel.hpp"

namespace trueup {

namespace {

constexpr std::size_t kChunkRows = 512;                    // a chunk of rows stays in the first cache
constexpr std::size_t kStateBytes = std::size_t{1} << 19;  // the sums of a group of combinations in the second
constexpr std::size_t kMostGroup = 32;                     // combinations that share a chunk of rows

// Sums are unsigned, for which running over is defined: damaged input must not be undefined behaviour.
using Sum = std::uint64_t;

template <std::size_t L>
inline void add_lanes(Sum* __restrict sums, const std::uint32_t* __restrict place, const std::int64_t* __restrict lanes,
                      std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        Sum* cell = sums + place[i] * L;
        for (std::size_t k = 0; k < L; ++k) cell[k] += static_cast<Sum>(lanes[i * L + k]);
    }
}

TRUEUP_HOT void add_four(Sum* sums, const std::uint32_t* place, const std::int64_t* lanes, std::size_t n) {
    add_lanes<4>(sums, place, lanes, n);
}
TRUEUP_HOT void add_six(Sum* sums, const std::uint32_t* place, const std::int64_t* lanes, std::size_t n) {
    add_lanes<6>(sums, place, lanes, n);
}

TRUEUP_HOT void add_steps(Sum* __restrict bins, std::uint32_t width, const std::uint32_t* __restrict place,
                          const std::uint16_t* __restrict slots, const std::int64_t* __restrict steps, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) bins[place[i] * width + slots[i]] += static_cast<Sum>(steps[i]);
}

// The combinations of a group share chunks of rows; this is where the sums of each begin.
struct Layout {
    std::size_t first, last;              // combinations
    std::vector<std::size_t> bins, sums;  // one entry more than combinations
};

class BinnedPass {
 public:
    BinnedPass(const Codes& codes, const Combinations& combinations, const BinnedRows& rows)
        : codes_(codes), combinations_(combinations), rows_(rows) {
        std::size_t bytes = 0;
        for (std::size_t c = 0; c < combinations.n; ++c) {
            const std::size_t size = n_bins(c) * 2 * sizeof(Sum);
            const bool is_full = !starts_.empty() && (bytes + size > kStateBytes || c - starts_.back() == kMostGroup);
            if (starts_.empty() || is_full) {
                starts_.push_back(c);
                bytes = 0;
            }
            bytes += size;
        }
    }

    std::size_t n_groups() const { return starts_.size(); }

    void run(std::size_t group, BinnedSums& out) {
        lay_out(group);
        bins_.assign(layout_.bins.back(), 0);
        sums_.assign(layout_.sums.back(), 0);
        prefix_.resize(kChunkRows);
        place_.resize(kChunkRows);
        for (std::size_t row = 0; row < codes_.n_rows(); row += kChunkRows)
            add_chunk(row, std::min(kChunkRows, codes_.n_rows() - row));
        for (std::size_t c = layout_.first; c < layout_.last; ++c) collect(c, out);
    }

    // Of all cells of a combination together.
    std::size_t n_bins(std::size_t c) const { return codes_.n_cells(combinations_, c) * width(c) / 2; }

 private:
    std::size_t width(std::size_t c) const { return std::size_t{2} * rows_.n_bins[combinations_.depth(c)]; }

    void lay_out(std::size_t group) {
        layout_.first = starts_[group];
        layout_.last = group + 1 < starts_.size() ? starts_[group + 1] : combinations_.n;
        layout_.bins.assign(1, 0);
        layout_.sums.assign(1, 0);
        for (std::size_t c = layout_.first; c < layout_.last; ++c) {
            layout_.bins.push_back(layout_.bins.back() + 2 * n_bins(c));
            layout_.sums.push_back(layout_.sums.back() + codes_.n_cells(combinations_, c) * rows_.n_lanes);
        }
    }

    void add_chunk(std::size_t row, std::size_t n) {
        const std::int64_t* lanes = rows_.lanes + row * rows_.n_lanes;
        for (std::size_t c = layout_.first; c < layout_.last; ++c) {
            codes_.find_places(combinations_, c, c == layout_.first, row, n, prefix_.data(), place_.data());
            const std::uint16_t* slots = rows_.slots + combinations_.depth(c) * codes_.n_rows() + row;
            add_steps(bins_.data() + layout_.bins[c - layout_.first], static_cast<std::uint32_t>(width(c)),
                      place_.data(), slots, rows_.steps + row, n);
            Sum* sums = sums_.data() + layout_.sums[c - layout_.first];
            (rows_.n_lanes == 4 ? add_four : add_six)(sums, place_.data(), lanes, n);
        }
    }

    void collect(std::size_t c, BinnedSums& out) const {
        const Sum* bins = bins_.data() + layout_.bins[c - layout_.first];
        const Sum* sums = sums_.data() + layout_.sums[c - layout_.first];
        const std::size_t n_cells = codes_.n_cells(combinations_, c), n_lanes = rows_.n_lanes, n = width(c);
        for (std::size_t cell = 0; cell < n_cells; ++cell, bins += n, sums += n_lanes) {
            if (sums[0] == 0) continue;
            out.combination.push_back(static_cast<std::int32_t>(c));
            out.cell.push_back(static_cast<std::int32_t>(cell));
            for (std::size_t k = 0; k < n_lanes; ++k) out.sums.push_back(static_cast<std::int64_t>(sums[k]));
            const std::size_t before = out.bin.size();
            for (std::size_t slot = 0; slot < n; slot += 2) {
                if ((bins[slot] | bins[slot + 1]) == 0) continue;
                out.bin.push_back(static_cast<std::uint16_t>(slot / 2));
                out.rises.push_back(static_cast<std::int64_t>(bins[slot]));
                out.falls.push_back(static_cast<std::int64_t>(bins[slot + 1]));
            }
            out.n_bins.push_back(static_cast<std::int64_t>(out.bin.size() - before));
        }
    }

    const Codes& codes_;
    const Combinations& combinations_;
    const BinnedRows& rows_;
    std::vector<std::size_t> starts_;
    Layout layout_;
    std::vector<Sum> bins_, sums_;
    std::vector<std::uint32_t> prefix_, place_;
};

void check(const Codes& codes, const Combinations& combinations, const BinnedRows& rows) {
    if (rows.n_lanes != 4 && rows.n_lanes != 6) throw std::invalid_argument("there must be four or six lanes");
    for (std::size_t d = 0; d < rows.n_depths; ++d) {
        if (rows.n_bins[d] == 0 || rows.n_bins[d] > kMaxBins) throw std::invalid_argument("no such number of bins");
        const std::uint16_t* slots = rows.slots + d * codes.n_rows();
        const std::uint32_t largest = codes.n_rows() ? *std::max_element(slots, slots + codes.n_rows()) : 0;
        if (largest >= 2 * rows.n_bins[d]) throw std::invalid_argument("a row is in no bin");
    }
    for (std::size_t c = 0; c < combinations.n; ++c) {
        const std::size_t depth = combinations.depth(c);
        if (depth >= rows.n_depths) throw std::invalid_argument("a combination is too deep");
        if (codes.n_cells(combinations, c) * rows.n_bins[depth] > kMaxBinsInAll)
            throw std::invalid_argument("a combination has too many bins");
    }
}

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

BinnedSums sum_bins(const Codes& codes, const Combinations& combinations, const BinnedRows& rows, int n_threads) {
    codes.check(combinations);
    check(codes, combinations, rows);
    const std::size_t n_groups = BinnedPass(codes, combinations, rows).n_groups();
    std::vector<BinnedSums> found(n_groups);
    for_each_block(n_groups, n_threads, [&] {
        return [&, pass = BinnedPass(codes, combinations, rows)](std::size_t group) mutable {
            pass.run(group, found[group]);
        };
    });
    BinnedSums all;
    for (BinnedSums& part : found) {
        append(all.combination, part.combination);
        append(all.cell, part.cell);
        append(all.sums, part.sums);
        append(all.n_bins, part.n_bins);
        append(all.bin, part.bin);
        append(all.rises, part.rises);
        append(all.falls, part.falls);
        part = BinnedSums();  // what was copied needn't be kept twice
    }
    return all;
}

AddedBins add_bins(const KeyedBins& one, const KeyedBins& other) {
    for (const KeyedBins* bins : {&one, &other})
        for (std::size_t i = 1; i < bins->n; ++i)
            if (bins->keys[i] <= bins->keys[i - 1]) throw std::invalid_argument("keys must rise");
    AddedBins all;
    for (auto* values : {&all.keys, &all.rises, &all.falls}) values->reserve(std::max(one.n, other.n));
    const auto sum = [](std::int64_t a, std::int64_t b) {
        return static_cast<std::int64_t>(static_cast<Sum>(a) + static_cast<Sum>(b));
    };
    std::size_t i = 0, j = 0;
    while (i < one.n || j < other.n) {
        const bool from_one = j == other.n || (i < one.n && one.keys[i] <= other.keys[j]);
        const bool from_other = i == one.n || (j < other.n && other.keys[j] <= one.keys[i]);
        all.keys.push_back(from_one ? one.keys[i] : other.keys[j]);
        all.rises.push_back(sum(from_one ? one.rises[i] : 0, from_other ? other.rises[j] : 0));
        all.falls.push_back(sum(from_one ? one.falls[i] : 0, from_other ? other.falls[j] : 0));
        i += from_one;
        j += from_other;
    }
    return all;
}

}  // namespace trueup
