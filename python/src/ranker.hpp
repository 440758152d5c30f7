#pragma once

#include <nanobind/nanobind.h>

namespace rulerank::inline v0::python {

/// Adds the classes Recipe, Model and Scorer, and functions that fit, rank, explain and inspect.
void add_ranker(nanobind::module_& to);

}  // namespace rulerank::python
