// The Python face of groups crossed with bins.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "arrays.hpp"
#include "groups.hpp"

namespace trueup {

using namespace nb::literals;

namespace {

constexpr std::size_t kMaxBins = 65535;

void require_bins(double width, std::size_t n_bins) {
    require(width > 0.0 && n_bins >= 1 && n_bins <= kMaxBins, "there must be 1 to 65,535 bins of some width");
}

void require_within(const Vector<std::int32_t>& indices, std::size_t end, const char* what) {
    for (std::size_t i = 0; i < indices.shape(0); ++i)
        require(indices.data()[i] >= 0 && static_cast<std::size_t>(indices.data()[i]) < end, what);
}

// Moves, and how many groups they are of.
struct HeldMoves {
    std::size_t n_groups;
    CellMoves moves;
};

// Rows, and the arrays that they read.
struct HeldRows {
    Vector<double> labels;
    std::optional<Vector<double>> weights;
    Rows<std::uint8_t> members;
    CellRows rows;
};

}  // namespace

void bind_groups(nb::module_& m) {
    m.def(
        "bins_of",
        [](Vector<double> probabilities, double width, std::size_t n_bins) {
            require_bins(width, n_bins);
            const std::size_t n = probabilities.shape(0);
            std::vector<std::uint16_t> bins(n);
            {
                nb::gil_scoped_release released;
                for (std::size_t i = 0; i < n; ++i) {
                    require(!std::isnan(probabilities.data()[i]), "a probability is NaN");
                    bins[i] = bin_of(probabilities.data()[i], width, n_bins);
                }
            }
            return own(std::move(bins));
        },
        "probabilities"_a.noconvert(), "width"_a, "n_bins"_a);
    nb::class_<HeldRows>(m, "CellRows")
        .def(
            "__init__",
            [](HeldRows* self, Vector<double> probabilities, Vector<double> labels,
               std::optional<Vector<double>> weights, Rows<std::uint8_t> members, std::size_t n_groups, double width,
               std::size_t n_bins) {
                require_bins(width, n_bins);
                const std::size_t n = probabilities.shape(0);
                require(labels.shape(0) == n && (!weights || weights->shape(0) == n) && members.shape(0) == n,
                        "the arrays of rows differ in length");
                require(n < (std::size_t{1} << 31), "there are too many rows");
                require(members.shape(1) == (n_groups + 7) / 8, "members have a wrong shape");
                for (std::size_t i = 0; i < n; ++i)
                    require(!std::isnan(probabilities.data()[i]), "a probability is NaN");
                CellRows rows(probabilities.data(), labels.data(), weights ? weights->data() : nullptr, members.data(),
                              n, n_groups, width, n_bins);
                new (self) HeldRows{labels, weights, members, std::move(rows)};
            },
            nb::kw_only(), "probabilities"_a.noconvert(), "labels"_a.noconvert(), "weights"_a.noconvert().none(),
            "members"_a.noconvert(), "n_groups"_a, "width"_a, "n_bins"_a)
        .def(
            "look_once",
            [](HeldRows& self, Vector<std::int32_t> groups, Vector<std::int32_t> bins, double alpha,
               Vector<double> noises) {
                require_within(groups, self.rows.n_groups(), "a group is out of range");
                require_within(bins, self.rows.n_bins(), "a bin is out of range");
                require(noises.shape(0) >= groups.shape(0) * bins.shape(0), "there must be a noise a cell");
                std::vector<std::int32_t> group, bin;
                std::vector<double> delta;
                {
                    nb::gil_scoped_release released;
                    const std::vector<Moved> moves =
                        self.rows.look_once({groups.data(), groups.data() + groups.shape(0)},
                                            {bins.data(), bins.data() + bins.shape(0)}, alpha, noises.data());
                    for (const Moved& moved : moves) {
                        group.push_back(moved.group);
                        bin.push_back(moved.bin);
                        delta.push_back(moved.delta);
                    }
                }
                return std::make_tuple(own(std::move(group)), own(std::move(bin)), own(std::move(delta)));
            },
            "groups"_a.noconvert(), "bins"_a.noconvert(), "alpha"_a, "noises"_a.noconvert())
        .def("probabilities", [](const HeldRows& self) { return own(std::vector<double>(self.rows.probabilities())); });
    nb::class_<HeldMoves>(m, "CellMoves")
        .def(
            "__init__",
            [](HeldMoves* self, Vector<std::int32_t> group, Vector<std::int32_t> bin, Vector<double> delta,
               double width, std::size_t n_bins, std::size_t n_groups) {
                require_bins(width, n_bins);
                require(group.shape(0) == bin.shape(0) && group.shape(0) == delta.shape(0),
                        "the arrays of moves differ in length");
                require(group.shape(0) < (std::size_t{1} << 32), "there are too many moves");
                require_within(group, n_groups, "a group is out of range");
                require_within(bin, n_bins, "a bin is out of range");
                CellMoves moves(group.data(), bin.data(), delta.data(), group.shape(0), width, n_bins);
                new (self) HeldMoves{n_groups, std::move(moves)};
            },
            nb::kw_only(), "group"_a.noconvert(), "bin"_a.noconvert(), "delta"_a.noconvert(), "width"_a, "n_bins"_a,
            "n_groups"_a)
        .def(
            "apply",
            [](const HeldMoves& self, Rows<std::uint8_t> members, Vector<double> probabilities, int n_threads) {
                const std::size_t n = probabilities.shape(0);
                require(members.shape(0) == n && 8 * members.shape(1) >= self.n_groups, "members have a wrong shape");
                std::vector<double> moved(probabilities.data(), probabilities.data() + n);
                {
                    nb::gil_scoped_release released;
                    self.moves.apply(members.data(), members.shape(1), moved.data(), n, n_threads);
                }
                return own(std::move(moved));
            },
            "members"_a.noconvert(), "probabilities"_a.noconvert(), "n_threads"_a = 1);
}

}  // namespace trueup
