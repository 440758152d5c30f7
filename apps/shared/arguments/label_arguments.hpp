#pragma once

#include "apps/shared/arguments/view_arguments.hpp"
#include "labelling/judge/program_judge.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

namespace rulerank::inline v0::apps {

inline constexpr char const* judge_group = "Labels of a program";

/// A program that gives labels (--oracle command:CMD): --judged --judge-seconds --judge-calls
/// --judge-cost.
struct judge_arguments {
  std::string record;
  double seconds = 60;
  std::uint64_t calls = 0;
  double cost = 0;

  /// Returns the option --judged.
  CLI::Option* add_to(CLI::App& verb);
  /// Throws `usage_error` for an option without a program.
  void expect(bool by_program) const;
  labelling::judge_options options(std::string const& command, std::int32_t max_label) const;
};

/// The source of labels for the documents that `reduce` chooses: --oracle --pending --batch
/// --resume. See `view_arguments` for how a person is asked.
struct label_arguments {
  std::string oracle = "file";
  std::string pending;
  std::size_t batch = 0;
  std::string resume;
  judge_arguments judge;
  view_arguments view;

  void add_to(CLI::App& verb);
  /// The file of --oracle file:P, or empty.
  std::string labels_file() const;
  /// The command of --oracle command:CMD, or empty.
  std::string command() const;
  /// Throws `usage_error` for conflicting options.
  void check(std::string const& train) const;
  /// Whether labels may come from outside the training file.
  bool asks() const;
};

}  // namespace rulerank::apps
