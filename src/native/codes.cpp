#include "codes.hpp"

#include <algorithm>
#include <stdexcept>

#include "hot.hpp"

namespace trueup {

namespace {

TRUEUP_HOT void extend_places(std::uint32_t* place, const std::uint32_t* prefix, std::uint32_t n_values,
                              const std::uint8_t* codes, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) place[i] = prefix[i] * n_values + codes[i];
}

bool has_same_prefix(const Combinations& combinations, std::size_t c) {
    if (combinations.depth(c) != combinations.depth(c - 1)) return false;
    const std::int32_t *offsets = combinations.offsets, *members = combinations.members;
    return std::equal(members + offsets[c], members + offsets[c + 1] - 1, members + offsets[c - 1]);
}

}  // namespace

Codes::Codes(const std::uint8_t* codes, const std::uint32_t* n_values, std::size_t n_partitions, std::size_t n_rows)
    : codes_(codes), n_values_(n_values, n_values + n_partitions), n_rows_(n_rows) {
    if (n_rows > std::size_t{0x7FFFFFFF}) throw std::invalid_argument("too many rows");
    for (std::size_t p = 0; p < n_partitions; ++p) {
        const std::uint8_t* column = codes + p * n_rows;
        const std::uint32_t largest = n_rows ? *std::max_element(column, column + n_rows) : 0;
        if (n_values[p] == 0 || n_values[p] > 256 || largest >= n_values[p])
            throw std::invalid_argument("a partition has a code beyond its number of values");
    }
}

std::size_t Codes::n_cells(const Combinations& combinations, std::size_t c) const {
    std::size_t cells = 1;
    for (std::int32_t m = combinations.offsets[c]; m < combinations.offsets[c + 1]; ++m)
        cells *= n_values_[static_cast<std::size_t>(combinations.members[m])];
    return cells;
}

void Codes::check(const Combinations& combinations) const {
    if (combinations.offsets[0] != 0) throw std::invalid_argument("offsets must start at 0");
    for (std::size_t c = 0; c < combinations.n; ++c)
        if (combinations.offsets[c + 1] < combinations.offsets[c])
            throw std::invalid_argument("offsets must not decrease");
    if (static_cast<std::size_t>(combinations.offsets[combinations.n]) != combinations.n_members)
        throw std::invalid_argument("offsets must end at the number of members");
    for (std::size_t m = 0; m < combinations.n_members; ++m)
        if (combinations.members[m] < 0 || static_cast<std::size_t>(combinations.members[m]) >= n_values_.size())
            throw std::invalid_argument("no such partition");
    for (std::size_t c = 0; c < combinations.n; ++c) {
        std::size_t cells = 1;  // checked at each step, so that the product can't overflow
        for (std::int32_t m = combinations.offsets[c]; m < combinations.offsets[c + 1]; ++m) {
            cells *= n_values_[static_cast<std::size_t>(combinations.members[m])];
            if (cells > kMaxCells) throw std::invalid_argument("a combination has too many cells");
        }
    }
}

void Codes::find_places(const Combinations& combinations, std::size_t c, bool is_first, std::size_t row, std::size_t n,
                        std::uint32_t* prefix, std::uint32_t* place) const {
    const std::int32_t* members = combinations.members + combinations.offsets[c];
    const std::size_t depth = combinations.depth(c);
    if (depth == 0) {
        std::fill(place, place + n, 0u);
        return;
    }
    if (is_first || !has_same_prefix(combinations, c)) {
        std::fill(prefix, prefix + n, 0u);
        for (std::size_t m = 0; m + 1 < depth; ++m) extend(prefix, prefix, members[m], row, n);
    }
    extend(place, prefix, members[depth - 1], row, n);
}

void Codes::extend(std::uint32_t* place, const std::uint32_t* prefix, std::int32_t partition, std::size_t row,
                   std::size_t n) const {
    const auto p = static_cast<std::size_t>(partition);
    extend_places(place, prefix, n_values_[p], codes_ + p * n_rows_ + row, n);
}

}  // namespace trueup
