#pragma once

#include <nanobind/nanobind.h>

// Reports on experiments, models and benchmarks.
namespace rulerank::inline v0::python {

/// Adds the class ReportOptions, and functions that make reports.
void add_report(nanobind::module_& to);

}  // namespace rulerank::python
