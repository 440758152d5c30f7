#pragma once

#include "core/context.hpp"
#include "datasets/vectors.hpp"

#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace rulerank::inline v0::python {

/// Rows in host memory.
using row_array =
    nanobind::ndarray<nanobind::ro, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;

/// The rows in the array's memory, kept alive by the result. Doubles and 32-bit integers become
/// float32, as in the program. `name`: for messages. Call it without the interpreter's lock.
datasets::vectors vectors_of(context const& ctx, row_array const& array, std::string name);

/// Adds the classes DenseIndex, MetricIndex and TextIndex for exact search.
void add_neighbours(nanobind::module_& to);

}  // namespace rulerank::python
