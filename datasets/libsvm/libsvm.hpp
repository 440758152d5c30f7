#pragma once

#include "datasets/dataset.hpp"

#include <span>
#include <string>
#include <vector>

#include <libsvm/svm.h>

namespace rulerank::inline v0::datasets {

/// A data set in libsvm's format, in its own memory. `problem()` points into this object, which
/// moves but does not copy, and is valid until its destruction. Rows are the documents, in order;
/// indices are the feature numbers; y is the label (`unlabelled` is -1).
class libsvm_problem {
 public:
  /// Throws `error` naming the line of a missing value, which libsvm cannot express, and
  /// `usage_error` for more than 2^31-1 documents.
  explicit libsvm_problem(dataset const& data);
  libsvm_problem(libsvm_problem&&) noexcept = default;
  libsvm_problem& operator=(libsvm_problem&&) noexcept = default;
  libsvm_problem(libsvm_problem const&) = delete;
  libsvm_problem& operator=(libsvm_problem const&) = delete;

  svm_problem const& problem() const noexcept { return problem_; }

 private:
  std::vector<svm_node> nodes_;  // all rows, each terminated by index -1
  std::vector<svm_node*> rows_;
  std::vector<double> labels_;
  svm_problem problem_{};
};

/// Converts back to a data set. `group_sizes` must add up to the rows and define the queries,
/// numbered from 1; empty: all rows are one query. Throws `error` (its line is the row, from 1) for
/// a y that is neither a nonnegative integer nor `unlabelled`, indices that do not ascend or are
/// negative, and infinite values; throws `usage_error` for sizes that do not add up.
dataset from_libsvm(svm_problem const& problem, std::span<std::size_t const> group_sizes = {},
                    std::string name = "libsvm");

}  // namespace rulerank::datasets
