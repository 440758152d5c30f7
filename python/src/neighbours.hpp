#pragma once

#include <nanobind/nanobind.h>

namespace rulerank::inline v0::python {

/// The classes DenseIndex, MetricIndex and TextIndex: exact search.
void add_neighbours(nanobind::module_& to);

}  // namespace rulerank::python
