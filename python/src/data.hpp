#pragma once

#include "core/error.hpp"
#include "datasets/arrays.hpp"
#include "datasets/dataset.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

// Conversion of documents and arrays between Python and the library.
namespace rulerank::inline v0::python {

namespace nb = nanobind;

/// Input arrays in host memory, without a copy.
template <class T>
using input_vector = nb::ndarray<T const, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using input_matrix = nb::ndarray<T const, nb::ndim<2>, nb::device::cpu>;
/// Output arrays of NumPy.
template <class T>
using output_vector = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

/// An array that owns the values.
template <class T>
output_vector<T> array_of(std::vector<T>&& values) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = kept->data();
  std::size_t const size = kept->size();
  nb::capsule const owner(kept.get(),
                          [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  static_cast<void>(kept.release());
  return output_vector<T>(data, {size}, owner);
}

/// As above, in rows of `columns` values.
template <class T>
nb::object matrix_of(std::vector<T>&& values, std::size_t rows, std::size_t columns) {
  auto const flat = array_of(std::move(values));
  return nb::cast(
      nb::ndarray<nb::numpy, T, nb::ndim<2>>(flat.data(), {rows, columns}, nb::cast(flat)));
}

template <class T>
std::span<T const> span_of(input_vector<T> const& values) {
  return {values.data(), values.size()};
}

/// Throws `usage_error` unless the values of a row are contiguous.
template <class T>
datasets::dense_rows<T> dense_rows_of(input_matrix<T> const& values) {
  if (values.shape(1) > 1 && values.stride(1) != 1)
    throw usage_error("found rows that are not contiguous in memory, expected contiguous rows");
  return {values.data(), values.shape(0), values.shape(1),
          std::max<std::size_t>(static_cast<std::size_t>(values.stride(0)), values.shape(1))};
}

/// A data set owned by Python.
struct documents {
  datasets::dataset data;
};

/// Adds the class Dataset, and functions that make, read and write data sets.
void add_data(nb::module_& to);

}  // namespace rulerank::python
