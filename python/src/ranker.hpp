#pragma once

#include <nanobind/nanobind.h>

namespace rulerank::inline v0::python {

/// The classes Recipe, Model and Scorer, and what fits, ranks, explains and inspects.
void add_ranker(nanobind::module_& to);

}  // namespace rulerank::python
