// The Python face of drawing rows again.
#include "arrays.hpp"
#include "resampling.hpp"

namespace trueup {

using namespace nb::literals;

namespace {

void require_below(const Vector<std::int32_t>& values, std::size_t bound, const char* what) {
    for (std::size_t i = 0; i < values.shape(0); ++i)
        require(values.data()[i] >= 0 && static_cast<std::size_t>(values.data()[i]) < bound, what);
}

// Replicates or splits of ranked rows, so many values each.
template <std::size_t n_values>
auto of_ranked_rows(std::vector<double> (*draw)(const RankedRows&, std::uint64_t, std::uint64_t, std::uint64_t, int)) {
    return [draw](Vector<std::int32_t> group, Vector<double> weight, Vector<double> positive, Vector<double> residual,
                  Vector<std::uint8_t> ends, Vector<std::uint8_t> bin, Vector<double> group_weight, std::uint64_t seed,
                  std::uint64_t first, std::uint64_t last, int n_threads) {
        const std::size_t n = group.shape(0), n_groups = group_weight.shape(0);
        require(weight.shape(0) == n && positive.shape(0) == n && residual.shape(0) == n && ends.shape(0) == n &&
                    bin.shape(0) == n,
                "the arrays of rows differ in length");
        require(n >= 1 && n_groups <= 0x7FFFFFFF && first <= last && last - first <= 1000000,
                "nothing, or too much, to draw from");
        require_below(group, n_groups, "no such group");
        const RankedRows rows{
            group.data(),        weight.data(), positive.data(), residual.data(), ends.data(), bin.data(), n,
            group_weight.data(), n_groups};
        std::vector<double> found;
        {
            nb::gil_scoped_release released;
            found = draw(rows, seed, first, last, n_threads);
        }
        return own(std::move(found), n_values);
    };
}

template <std::size_t n_values, typename Draw>
void bind_ranked(nb::module_& m, const char* name, Draw draw) {
    m.def(name, of_ranked_rows<n_values>(draw), nb::kw_only(), "group"_a.noconvert(), "weight"_a.noconvert(),
          "positive"_a.noconvert(), "residual"_a.noconvert(), "ends"_a.noconvert(), "bin"_a.noconvert(),
          "group_weight"_a.noconvert(), "seed"_a, "first"_a, "last"_a, "n_threads"_a = 1);
}

}  // namespace

void bind_resampling(nb::module_& m) {
    m.def(
        "draw_groups",
        [](std::uint64_t seed, std::uint64_t replicate, std::size_t n_groups) {
            require(n_groups <= 0x7FFFFFFF, "too many groups");
            std::vector<std::uint16_t> counts(n_groups);
            draw_groups(seed, replicate, counts.data(), n_groups);
            return own(std::move(counts));
        },
        "seed"_a, "replicate"_a, "n_groups"_a);
    m.def(
        "draw_half",
        [](std::uint64_t seed, std::uint64_t split, std::size_t n_groups) {
            require(n_groups <= 0x7FFFFFFF, "too many groups");
            std::vector<std::uint8_t> inside(n_groups);
            draw_half(seed, split, inside.data(), n_groups);
            return own(std::move(inside));
        },
        "seed"_a, "split"_a, "n_groups"_a);
    bind_ranked<kResampled>(m, "resample", resample);
    bind_ranked<kHalved>(m, "halve", halve);
    m.def(
        "halve_segments",
        [](Vector<std::int32_t> group, Vector<double> weight, Vector<double> residual, std::size_t n_groups,
           Vector<std::int64_t> offsets, Vector<std::int32_t> places, Vector<std::uint8_t> ends, Vector<double> path,
           Vector<double> mean, Vector<double> sigma, std::uint64_t seed, std::uint64_t first, std::uint64_t last,
           int n_threads) {
            const std::size_t n = group.shape(0), n_segments = sigma.shape(0);
            require(weight.shape(0) == n && residual.shape(0) == n, "the arrays of rows differ in length");
            require(n_groups <= 0x7FFFFFFF && first <= last && last - first <= 1000000, "too much to draw from");
            require_below(group, n_groups, "no such group");
            require(ends.shape(0) == places.shape(0) && path.shape(0) == places.shape(0) &&
                        mean.shape(0) == n_segments && offsets.shape(0) == n_segments + 1 && offsets.data()[0] == 0 &&
                        offsets.data()[n_segments] == static_cast<std::int64_t>(places.shape(0)),
                    "the segments' arrays don't fit together");
            for (std::size_t s = 0; s < n_segments; ++s)
                require(offsets.data()[s] <= offsets.data()[s + 1], "a segment ends before it begins");
            require_below(places, n, "no such row");
            const SegmentedRows rows{group.data(), weight.data(),  residual.data(), n,
                                     n_groups,     offsets.data(), places.data(),   ends.data(),
                                     path.data(),  mean.data(),    sigma.data(),    n_segments};
            std::vector<double> found;
            {
                nb::gil_scoped_release released;
                found = halve_segments(rows, seed, first, last, n_threads);
            }
            return own(std::move(found), 2);
        },
        nb::kw_only(), "group"_a.noconvert(), "weight"_a.noconvert(), "residual"_a.noconvert(), "n_groups"_a,
        "offsets"_a.noconvert(), "places"_a.noconvert(), "ends"_a.noconvert(), "path"_a.noconvert(),
        "mean"_a.noconvert(), "sigma"_a.noconvert(), "seed"_a, "first"_a, "last"_a, "n_threads"_a = 1);
}

}  // namespace trueup
