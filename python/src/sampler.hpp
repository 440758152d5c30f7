#pragma once

#include <nanobind/nanobind.h>

namespace rulerank::inline v0::python {

/// Adds the classes SamplerOptions and Labelling, and functions that choose documents.
void add_sampler(nanobind::module_& to);

}  // namespace rulerank::python
