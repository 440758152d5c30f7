#pragma once

#include <nanobind/nanobind.h>

namespace rulerank::inline v0::python {

/// The classes SamplerOptions and Labelling, and what chooses documents.
void add_sampler(nanobind::module_& to);

}  // namespace rulerank::python
