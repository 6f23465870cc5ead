// The Python face of the sums of cells.
#include <nanobind/stl/tuple.h>

#include <limits>
#include <tuple>

#include "arrays.hpp"
#include "cells.hpp"

namespace trueup {

using namespace nb::literals;

namespace {

constexpr std::size_t kMaxSlots = std::size_t{1} << 20;

// Cells, and the arrays that they read.
struct HeldCells {
    Rows<std::uint8_t> codes;
    Vector<std::uint32_t> score_ids;
    Cells cells;
};

Combinations combinations_of(const Vector<std::int32_t>& offsets, const Vector<std::int32_t>& members) {
    require(offsets.shape(0) >= 1, "offsets must not be empty");
    return {offsets.data(), offsets.shape(0) - 1, members.data(), members.shape(0)};
}

}  // namespace

void bind_cells(nb::module_& m) {
    m.attr("SUM_LANES") = kSumLanes;
    m.attr("DRAW_LANES") = kDrawLanes;
    m.def(
        "neighbours",
        [](Vector<double> values, double cut) {
            double below = -std::numeric_limits<double>::infinity(), above = -below;
            {
                nb::gil_scoped_release released;
                for (std::size_t i = 0; i < values.shape(0); ++i) {
                    const double value = values.data()[i];
                    below = value <= cut && value > below ? value : below;
                    above = value > cut && value < above ? value : above;
                }
            }
            return std::make_tuple(below, above);
        },
        "values"_a, "cut"_a);
    m.def("evidence_of", &evidence_of, "range"_a, "variance"_a, "unit"_a);
    nb::class_<HeldCells>(m, "Cells")
        .def(
            "__init__",
            [](HeldCells* self, Rows<std::uint8_t> codes, Vector<std::uint32_t> n_values,
               Vector<std::uint8_t> skips_zero, Vector<std::uint32_t> score_ids) {
                const std::size_t n_partitions = codes.shape(0);
                require(n_values.shape(0) == n_partitions && skips_zero.shape(0) == n_partitions,
                        "there must be a number of values a partition");
                require(codes.shape(1) == score_ids.shape(0), "codes and scores differ in length");
                Cells cells(codes.data(), n_values.data(), skips_zero.data(), n_partitions, score_ids.data(),
                            score_ids.shape(0));
                new (self) HeldCells{codes, score_ids, std::move(cells)};
            },
            "codes"_a.noconvert(), "n_values"_a.noconvert(), "skips_zero"_a.noconvert(), "score_ids"_a.noconvert())
        .def(
            "sums",
            [](const HeldCells& self, Vector<std::int32_t> offsets, Vector<std::int32_t> members, Rows<double> lanes,
               std::size_t min_rows, int n_threads) {
                require(lanes.shape(0) == self.cells.n_rows() && lanes.shape(1) == kSumLanes,
                        "lanes have a wrong shape");
                CellSums found;
                {
                    nb::gil_scoped_release released;
                    found = self.cells.sums(combinations_of(offsets, members), lanes.data(), min_rows, n_threads);
                }
                return std::make_tuple(own(std::move(found.combination)), own(std::move(found.cell)),
                                       own(std::move(found.rows)), own(std::move(found.sums), kSumLanes),
                                       own(std::move(found.range)));
            },
            "offsets"_a.noconvert(), "members"_a.noconvert(), "lanes"_a.noconvert(), "min_rows"_a, "n_threads"_a = 1)
        .def(
            "products",
            [](const HeldCells& self, Vector<std::int32_t> offsets, Vector<std::int32_t> members,
               Vector<std::int64_t> chosen_offsets, Vector<std::int32_t> cell, Rows<double> lanes, int n_threads) {
                require(lanes.shape(0) == self.cells.n_rows() && lanes.shape(1) == kPairLanes,
                        "lanes have a wrong shape");
                require(chosen_offsets.shape(0) == offsets.shape(0), "there must be an offset a combination");
                std::vector<double> found;
                {
                    nb::gil_scoped_release released;
                    found = self.cells.products(combinations_of(offsets, members), chosen_offsets.data(), cell.data(),
                                                cell.shape(0), lanes.data(), n_threads);
                }
                return own(std::move(found), kPairProducts);
            },
            nb::kw_only(), "offsets"_a.noconvert(), "members"_a.noconvert(), "chosen_offsets"_a.noconvert(),
            "cell"_a.noconvert(), "lanes"_a.noconvert(), "n_threads"_a = 1)
        .def(
            "drawn",
            [](const HeldCells& self, Vector<std::int32_t> offsets, Vector<std::int32_t> members,
               Vector<std::int64_t> chosen_offsets, Vector<std::int32_t> cell, Vector<double> variance,
               Vector<double> unit, double min_variance, Vector<std::int32_t> slot, std::size_t n_slots,
               Vector<std::uint8_t> draws, Vector<float> residual_if_zero, Vector<float> residual_if_one,
               int n_threads) {
                const std::size_t n = self.cells.n_rows(), n_chosen = cell.shape(0);
                require(draws.shape(0) == n && residual_if_zero.shape(0) == n && residual_if_one.shape(0) == n,
                        "draws or residuals differ in length");
                require(chosen_offsets.shape(0) == offsets.shape(0), "there must be an offset a combination");
                require(n_slots <= kMaxSlots, "too many slots");
                require(variance.shape(0) == n_chosen && unit.shape(0) == n_chosen && slot.shape(0) == n_chosen,
                        "the arrays of chosen cells differ in length");
                const ChosenCells chosen{chosen_offsets.data(), cell.data(),  variance.data(), unit.data(),
                                         slot.data(),           min_variance, n_chosen};
                std::vector<float> slots(n_slots * kDrawLanes, 0.0f);
                DrawnMaxima most;
                {
                    nb::gil_scoped_release released;
                    most = self.cells.drawn(combinations_of(offsets, members), chosen, draws.data(),
                                            residual_if_zero.data(), residual_if_one.data(), slots.data(), n_slots,
                                            n_threads);
                }
                const std::vector<float> sigmas(most.largest_sigma, most.largest_sigma + kDrawLanes);
                const std::vector<float> evidence(most.largest_evidence, most.largest_evidence + kDrawLanes);
                return std::make_tuple(own(std::vector<float>(sigmas)), own(std::vector<float>(evidence)),
                                       own(std::move(slots), kDrawLanes));
            },
            nb::kw_only(), "offsets"_a.noconvert(), "members"_a.noconvert(), "chosen_offsets"_a.noconvert(),
            "cell"_a.noconvert(), "variance"_a.noconvert(), "unit"_a.noconvert(), "min_variance"_a,
            "slot"_a.noconvert(), "n_slots"_a, "draws"_a.noconvert(), "residual_if_zero"_a.noconvert(),
            "residual_if_one"_a.noconvert(), "n_threads"_a = 1);
}

}  // namespace trueup
