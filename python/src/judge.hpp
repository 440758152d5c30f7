#pragma once

#include <nanobind/nanobind.h>

// Labels from a program.
namespace rulerank::inline v0::python {

/// Adds the class ProgramJudge.
void add_judge(nanobind::module_& to);

}  // namespace rulerank::python
