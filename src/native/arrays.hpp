// NumPy arrays in, NumPy arrays out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <stdexcept>
#include <vector>

namespace trueup {

namespace nb = nanobind;

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Written = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;  // filled in place
template <typename T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
template <typename T>
using Made = nb::ndarray<nb::numpy, T>;
using Result = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

// An array that owns what the vector held; `width` values a row, or one-dimensional if it is 0.
template <typename T>
Made<T> own(std::vector<T>&& values, std::size_t width = 0) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (width == 0) return Made<T>(kept->data(), {kept->size()}, owner);
    return Made<T>(kept->data(), {kept->size() / width, width}, owner);
}

}  // namespace trueup
