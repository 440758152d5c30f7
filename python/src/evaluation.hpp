#pragma once

#include <nanobind/nanobind.h>

namespace rulerank::inline v0::python {

/// The classes Profile and LabelledQueries, and what judges and compares scores.
void add_evaluation(nanobind::module_& to);

}  // namespace rulerank::python
