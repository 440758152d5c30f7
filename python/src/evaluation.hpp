#pragma once

#include "datasets/trec.hpp"

#include <nanobind/nanobind.h>

namespace rulerank::inline v0::python {

/// A run of retrieved documents {qid: {docno: score}}. Throws `error`.
datasets::run run_of(nanobind::dict const& queries);

/// The classes Profile, Qrels and LabelledQueries, and what judges and compares scores.
void add_evaluation(nanobind::module_& to);

}  // namespace rulerank::python
