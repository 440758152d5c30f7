#pragma once

#include "apps/shared/arguments/view_arguments.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

namespace rulerank::inline v0::apps {

/// Who labels the documents that `reduce` chooses: --oracle --pending --batch --resume, and how a
/// person is asked: see `view_arguments`.
struct label_arguments {
  std::string oracle = "file";
  std::string pending;
  std::size_t batch = 0;
  std::string resume;
  view_arguments view;

  void add_to(CLI::App& verb);
  /// The file of --oracle file:P, or empty.
  std::string labels_file() const;
  /// Throws `usage_error` for options that do not go together.
  void check(std::string const& train) const;
  /// Whether labels come from elsewhere than the training file, or may be wanted from elsewhere.
  bool asks() const;
};

}  // namespace rulerank::apps
