// The Python face of the native kernels. Arrays are checked for type and shape here, for content in Forest.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "forest.hpp"
#include "gradients.hpp"
#include "logistic.hpp"
#include "parallel.hpp"

namespace trueup {
void bind_binned(nanobind::module_& m);
void bind_cells(nanobind::module_& m);
void bind_resampling(nanobind::module_& m);
}  // namespace trueup

namespace nb = nanobind;
using namespace nb::literals;
using trueup::Matrix, trueup::Result, trueup::Vector, trueup::Written, trueup::require;

namespace {

Result own(std::unique_ptr<double[]> values, std::size_t n) {
    nb::capsule owner(values.get(), [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Result(values.release(), {n}, owner);
}

template <typename Fill>
Result filled(std::size_t n, Fill fill) {
    std::unique_ptr<double[]> values(new double[n]);
    {
        nb::gil_scoped_release released;
        fill(values.get());
    }
    return own(std::move(values), n);
}

std::vector<const double*> columns_of(const Matrix& matrix, const Vector<double>& logits,
                                      const trueup::Forest& forest) {
    require(matrix.shape(0) == logits.shape(0), "matrix and logits differ in length");
    require(matrix.shape(1) == forest.n_features(), "matrix has another number of features than the trees");
    std::vector<const double*> columns;
    for (std::size_t f = 0; f < matrix.shape(1); ++f) columns.push_back(matrix.data() + f * matrix.shape(0));
    return columns;
}

const double* weights_or_null(const std::optional<Vector<double>>& weights, std::size_t n) {
    if (!weights) return nullptr;
    require(weights->shape(0) == n, "weights differ in length");
    return weights->data();
}

template <typename Map>
Result mapped(const Vector<double>& values, int n_threads, Map map) {
    const std::size_t n = values.shape(0);
    constexpr std::size_t block_rows = 16384;
    return filled(n, [&](double* out) {
        trueup::for_each_block((n + block_rows - 1) / block_rows, n_threads, [&] {
            return [&](std::size_t block) {
                for (std::size_t i = block * block_rows; i < std::min(n, (block + 1) * block_rows); ++i)
                    out[i] = map(values.data()[i]);
            };
        });
    });
}

}  // namespace

NB_MODULE(_native, m) {
    // A calibrator that lives until the interpreter ends is how it is meant to be used, not a leak to tell users of.
    nb::set_leak_warnings(false);
    m.doc() = "Hot kernels of trueup: walking trees, sums of the logistic loss, and sums of all cells.";
    m.attr("LOWEST_SCORE") = trueup::kLowestScore;
    m.attr("HIGHEST_SCORE") = trueup::kHighestScore;

    nb::class_<trueup::Forest>(m, "Forest")
        .def(
            "__init__",
            [](trueup::Forest* self, Vector<std::uint8_t> categorical, Vector<std::int32_t> round_offsets,
               Vector<double> thetas, Vector<std::int32_t> node_offsets, Vector<std::int32_t> split_feature,
               Vector<double> threshold, Vector<std::uint8_t> decision_type, Vector<std::int32_t> left_child,
               Vector<std::int32_t> right_child, Vector<double> leaf_values, Vector<std::int32_t> category_offsets,
               Vector<std::uint32_t> category_words) {
                const std::size_t n_nodes = split_feature.shape(0);
                require(thetas.shape(0) + 1 == round_offsets.shape(0), "there must be one theta a round");
                require(node_offsets.shape(0) >= 1 && category_offsets.shape(0) >= 1, "offsets must not be empty");
                require(threshold.shape(0) == n_nodes && decision_type.shape(0) == n_nodes &&
                            left_child.shape(0) == n_nodes && right_child.shape(0) == n_nodes,
                        "the arrays of splits differ in length");
                const trueup::TreeArrays arrays{round_offsets.data(),
                                                thetas.data(),
                                                thetas.shape(0),
                                                node_offsets.data(),
                                                node_offsets.shape(0) - 1,
                                                split_feature.data(),
                                                threshold.data(),
                                                decision_type.data(),
                                                left_child.data(),
                                                right_child.data(),
                                                n_nodes,
                                                leaf_values.data(),
                                                leaf_values.shape(0),
                                                category_offsets.data(),
                                                category_offsets.shape(0) - 1,
                                                category_words.data(),
                                                category_words.shape(0)};
                new (self) trueup::Forest(arrays, categorical.data(), categorical.shape(0));
            },
            // No conversion: an index that does not fit its type must be refused, not cut off.
            nb::kw_only(), "categorical"_a.noconvert(), "round_offsets"_a.noconvert(), "thetas"_a.noconvert(),
            "node_offsets"_a.noconvert(), "split_feature"_a.noconvert(), "threshold"_a.noconvert(),
            "decision_type"_a.noconvert(), "left_child"_a.noconvert(), "right_child"_a.noconvert(),
            "leaf_values"_a.noconvert(), "category_offsets"_a.noconvert(), "category_words"_a.noconvert())
        .def_prop_ro("n_features", &trueup::Forest::n_features)
        .def_prop_ro("n_rounds", &trueup::Forest::n_rounds)
        .def_prop_ro("n_fast_trees", &trueup::Forest::n_fast_trees)
        .def(
            "advance",
            [](const trueup::Forest& self, Matrix matrix, Vector<double> logits, std::size_t first, std::size_t last,
               int n_threads) {
                require(first <= last && last <= self.n_rounds(), "no such rounds");
                const auto columns = columns_of(matrix, logits, self);
                const std::size_t n = logits.shape(0);
                return filled(n, [&](double* out) {
                    self.advance(columns.data(), logits.data(), out, n, first, last, n_threads);
                });
            },
            "matrix"_a, "logits"_a, "first"_a, "last"_a, "n_threads"_a = 1)
        .def(
            "corrections",
            [](const trueup::Forest& self, Matrix matrix, Vector<double> logits, std::size_t round, int n_threads) {
                require(round < self.n_rounds(), "no such round");
                const auto columns = columns_of(matrix, logits, self);
                const std::size_t n = logits.shape(0);
                return filled(
                    n, [&](double* out) { self.corrections(columns.data(), logits.data(), out, n, round, n_threads); });
            },
            "matrix"_a, "logits"_a, "round"_a, "n_threads"_a = 1)
        .def(
            "probability_of_one",
            [](const trueup::Forest& self, const std::vector<double>& row, double score) {
                require(row.size() == self.n_features(), "the row has another number of features than the trees");
                nb::gil_scoped_release released;
                return trueup::sigmoid_of(self.advance_one(row.data(), trueup::logit_of(score)));
            },
            "row"_a, "score"_a);

    m.def(
        "logit", [](Vector<double> p, int n_threads) { return mapped(p, n_threads, trueup::logit_of); },
        "probabilities"_a, "n_threads"_a = 1);
    m.def(
        "sigmoid", [](Vector<double> f, int n_threads) { return mapped(f, n_threads, trueup::sigmoid_of); }, "logits"_a,
        "n_threads"_a = 1);
    m.def(
        "logistic_sums",
        [](Vector<double> logits, Vector<double> labels, std::optional<Vector<double>> weights, double theta,
           double limit, int n_threads) {
            const std::size_t n = logits.shape(0);
            require(labels.shape(0) == n, "labels differ in length");
            const double* w = weights_or_null(weights, n);
            nb::gil_scoped_release released;
            const auto sums = trueup::logistic_sums(logits.data(), labels.data(), w, n, theta, limit, n_threads);
            return std::make_tuple(sums.gradient, sums.hessian);
        },
        "logits"_a, "labels"_a, "weights"_a.none(), "theta"_a, "limit"_a, "n_threads"_a = 1);
    m.def(
        "affine_sums",
        [](Vector<double> logits, Vector<double> labels, std::optional<Vector<double>> weights, double theta,
           double intercept, double limit, int n_threads) {
            const std::size_t n = logits.shape(0);
            require(labels.shape(0) == n, "labels differ in length");
            const double* w = weights_or_null(weights, n);
            nb::gil_scoped_release released;
            const auto sums =
                trueup::affine_sums(logits.data(), labels.data(), w, n, theta, intercept, limit, n_threads);
            return std::make_tuple(sums.loss, sums.gradient[0], sums.gradient[1], sums.hessian[0], sums.hessian[1],
                                   sums.hessian[2]);
        },
        "logits"_a, "labels"_a, "weights"_a.none(), "theta"_a, "intercept"_a, "limit"_a, "n_threads"_a = 1);
    m.def(
        "log_loss_sum",
        [](Vector<double> logits, Vector<double> labels, std::optional<Vector<double>> weights, int n_threads) {
            const std::size_t n = logits.shape(0);
            require(labels.shape(0) == n, "labels differ in length");
            const double* w = weights_or_null(weights, n);
            nb::gil_scoped_release released;
            return trueup::log_loss_sum(logits.data(), labels.data(), w, n, n_threads);
        },
        "logits"_a, "labels"_a, "weights"_a.none(), "n_threads"_a = 1);
    m.def(
        "logistic_gradients",
        [](Vector<double> scores, Vector<float> labels, std::optional<Vector<float>> weights, bool soft,
           Written<float> gradients, Written<float> hessians, int n_threads) {
            const std::size_t n = scores.shape(0);
            require(labels.shape(0) == n, "labels differ in length");
            require(!weights || weights->shape(0) == n, "weights differ in length");
            require(gradients.shape(0) == n && hessians.shape(0) == n, "results differ in length");
            const float* w = weights ? weights->data() : nullptr;
            nb::gil_scoped_release released;
            trueup::logistic_gradients(scores.data(), labels.data(), w, n, soft, gradients.data(), hessians.data(),
                                       n_threads);
        },
        "scores"_a, "labels"_a.noconvert(), "weights"_a.none().noconvert(), "soft"_a, "gradients"_a.noconvert(),
        "hessians"_a.noconvert(), "n_threads"_a = 1);
    trueup::bind_binned(m);
    trueup::bind_cells(m);
    trueup::bind_resampling(m);
}
