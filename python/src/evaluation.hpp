#pragma once

#include "datasets/trec.hpp"

#include <nanobind/nanobind.h>

namespace rulerank::inline v0::python {

/// Converts a run of retrieved documents {qid: {docno: score}}. Throws `error`.
datasets::run run_of(nanobind::dict const& queries);

/// Adds the classes Profile, Qrels and LabelledQueries, and functions that evaluate and compare
/// scores.
void add_evaluation(nanobind::module_& to);

}  // namespace rulerank::python
