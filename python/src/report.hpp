#pragma once

#include <nanobind/nanobind.h>

// Reports of experiments, models and benchmarks.
namespace rulerank::inline v0::python {

/// The class ReportOptions, and what makes reports.
void add_report(nanobind::module_& to);

}  // namespace rulerank::python
