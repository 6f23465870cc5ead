// The Python face of the whole-number sums of cells and bins.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "arrays.hpp"
#include "binned.hpp"

namespace trueup {

using namespace nb::literals;

void bind_binned(nb::module_& m) {
    m.attr("MAX_SCORE_BINS") = kMaxBins;
    m.attr("MAX_BINS_OF_COMBINATION") = kMaxBinsInAll;
    m.def(
        "sum_bins",
        [](Rows<std::uint8_t> codes, Vector<std::uint32_t> n_values, Vector<std::int32_t> offsets,
           Vector<std::int32_t> members, Rows<std::uint16_t> slots, Vector<std::uint32_t> n_bins,
           Vector<std::int64_t> steps, Rows<std::int64_t> lanes, int n_threads) {
            const std::size_t n = steps.shape(0);
            require(n_values.shape(0) == codes.shape(0), "there must be a number of values a partition");
            require(n_bins.shape(0) == slots.shape(0), "there must be a number of bins a depth");
            require(codes.shape(1) == n && slots.shape(1) == n && lanes.shape(0) == n, "rows differ in number");
            require(offsets.shape(0) >= 1, "offsets must not be empty");
            const Combinations combinations{offsets.data(), offsets.shape(0) - 1, members.data(), members.shape(0)};
            const BinnedRows rows{slots.data(), n_bins.data(), slots.shape(0),
                                  steps.data(), lanes.data(),  lanes.shape(1)};
            BinnedSums found;
            {
                nb::gil_scoped_release released;
                const Codes checked(codes.data(), n_values.data(), codes.shape(0), n);
                found = sum_bins(checked, combinations, rows, n_threads);
            }
            return std::make_tuple(own(std::move(found.combination)), own(std::move(found.cell)),
                                   own(std::move(found.sums), lanes.shape(1)), own(std::move(found.n_bins)),
                                   own(std::move(found.bin)), own(std::move(found.rises)), own(std::move(found.falls)));
        },
        nb::kw_only(), "codes"_a.noconvert(), "n_values"_a.noconvert(), "offsets"_a.noconvert(),
        "members"_a.noconvert(), "slots"_a.noconvert(), "n_bins"_a.noconvert(), "steps"_a.noconvert(),
        "lanes"_a.noconvert(), "n_threads"_a = 1);
    using Longs = Vector<std::int64_t>;
    m.def(
        "add_bins",
        [](Longs keys, Longs rises, Longs falls, Longs other_keys, Longs other_rises, Longs other_falls) {
            require(rises.shape(0) == keys.shape(0) && falls.shape(0) == keys.shape(0), "bins differ in number");
            require(other_rises.shape(0) == other_keys.shape(0) && other_falls.shape(0) == other_keys.shape(0),
                    "bins differ in number");
            AddedBins all;
            {
                nb::gil_scoped_release released;
                all = add_bins({keys.data(), rises.data(), falls.data(), keys.shape(0)},
                               {other_keys.data(), other_rises.data(), other_falls.data(), other_keys.shape(0)});
            }
            return std::make_tuple(own(std::move(all.keys)), own(std::move(all.rises)), own(std::move(all.falls)));
        },
        "keys"_a.noconvert(), "rises"_a.noconvert(), "falls"_a.noconvert(), "other_keys"_a.noconvert(),
        "other_rises"_a.noconvert(), "other_falls"_a.noconvert());
}

}  // namespace trueup
