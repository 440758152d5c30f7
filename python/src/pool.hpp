#pragma once

#include <nanobind/nanobind.h>

namespace rulerank::inline v0::python {

/// Adds the class PoolOptions, and the function that makes a pool from texts.
void add_pool(nanobind::module_& to);

}  // namespace rulerank::python
