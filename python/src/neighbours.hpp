#pragma once

#include "core/context.hpp"
#include "datasets/vectors.hpp"

#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace rulerank::inline v0::python {

/// Rows of the host's memory.
using row_array =
    nanobind::ndarray<nanobind::ro, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;

/// The rows on the array's memory, which they keep; doubles and integers of 32 bits become float32,
/// as in the program. `name`: for messages. Called without the interpreter's lock.
datasets::vectors vectors_of(context const& ctx, row_array const& array, std::string name);

/// The classes DenseIndex, MetricIndex and TextIndex: exact search.
void add_neighbours(nanobind::module_& to);

}  // namespace rulerank::python
