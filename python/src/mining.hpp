#pragma once

#include <nanobind/nanobind.h>

namespace rulerank::inline v0::python {

/// Adds functions that find frequent itemsets and association rules.
void add_mining(nanobind::module_& to);

}  // namespace rulerank::python
