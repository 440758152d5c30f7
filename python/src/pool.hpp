#pragma once

#include <nanobind/nanobind.h>

namespace rulerank::inline v0::python {

/// The class PoolOptions, and what makes a pool of texts.
void add_pool(nanobind::module_& to);

}  // namespace rulerank::python
