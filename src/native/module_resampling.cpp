// The Python face of drawing rows again.
#include <limits>

#include "arrays.hpp"
#include "resampling.hpp"

namespace trueup {

using namespace nb::literals;

void bind_resampling(nb::module_& m) {
    m.attr("ENDS_SCORE") = kEndsScore;
    m.attr("NEAR_HIGH") = kNearHigh;
    m.attr("NEAR_LOW") = kNearLow;
    m.def(
        "draw_clusters",
        [](std::uint64_t seed, std::uint64_t replicate, std::size_t n_clusters) {
            require(n_clusters <= 0x7FFFFFFF, "too many clusters");
            std::vector<std::uint16_t> counts(n_clusters);
            draw_clusters(seed, replicate, counts.data(), n_clusters);
            return own(std::move(counts));
        },
        "seed"_a, "replicate"_a, "n_clusters"_a);
    m.def(
        "resample",
        [](Vector<std::int32_t> cluster, Vector<double> weight, Vector<double> positive, Vector<double> residual,
           Vector<double> path, Vector<std::uint8_t> flags, Vector<std::uint8_t> bin, Vector<double> cluster_weight,
           std::size_t n_bins, int start_flags, std::uint64_t seed, std::uint64_t first, std::uint64_t last,
           int n_threads) {
            const std::size_t n = cluster.shape(0), n_clusters = cluster_weight.shape(0);
            require(weight.shape(0) == n && positive.shape(0) == n && residual.shape(0) == n && path.shape(0) == n &&
                        flags.shape(0) == n && bin.shape(0) == n,
                    "the arrays of rows differ in length");
            require(n >= 1 && n_clusters <= 0x7FFFFFFF && first <= last && last - first <= 1000000,
                    "nothing, or too much, to draw from");
            for (std::size_t i = 0; i < n; ++i) {
                const std::int32_t c = cluster.data()[i];
                require(c >= 0 && static_cast<std::size_t>(c) < n_clusters, "no such cluster");
                require(bin.data()[i] < n_bins, "no such bin");
            }
            const RankedRows rows{
                cluster.data(),        weight.data(), positive.data(), residual.data(),
                path.data(),           flags.data(),  bin.data(),      n,
                cluster_weight.data(), n_clusters,    n_bins,          static_cast<std::uint8_t>(start_flags)};
            std::vector<double> found;
            {
                nb::gil_scoped_release released;
                found = resample(rows, seed, first, last, n_threads);
            }
            return own(std::move(found), kResampledFixed + n_bins);
        },
        nb::kw_only(), "cluster"_a.noconvert(), "weight"_a.noconvert(), "positive"_a.noconvert(),
        "residual"_a.noconvert(), "path"_a.noconvert(), "flags"_a.noconvert(), "bin"_a.noconvert(),
        "cluster_weight"_a.noconvert(), "n_bins"_a, "start_flags"_a, "seed"_a, "first"_a, "last"_a, "n_threads"_a = 1);
}

}  // namespace trueup
