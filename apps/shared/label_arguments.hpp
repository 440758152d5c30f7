#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

namespace rulerank::apps {

/// Who labels the documents that `reduce` chooses: --oracle --pending --batch --resume, and how a
/// person is asked: --names --max-label --neighbours.
struct label_arguments {
  std::string oracle = "file";
  std::string pending;
  std::size_t batch = 0;
  std::string resume;
  std::string names;
  std::int32_t max_label = 4;
  std::size_t neighbours = 3;

  void add_to(CLI::App& verb);
  /// The file of --oracle file:P, or empty.
  std::string labels_file() const;
  /// Throws `usage_error` for options that do not go together.
  void check(std::string const& train) const;
  /// Whether labels come from elsewhere than the training file, or may be wanted from elsewhere.
  bool asks() const;
};

}  // namespace rulerank::apps
