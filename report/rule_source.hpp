#pragma once

#include "report/results.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Reconstructs the rules behind a cross-validation's scores from its folder.
namespace rulerank::inline v0::report {

/// Explains documents by a system that ranks by rules. Uses the reduced training set in the folder,
/// or the manifest's training set if that file is unchanged. Makes a fold's rankers on first use.
/// Rankers whose scores differ from the folder's explain nothing.
class rule_source {
 public:
  /// `name`: the system's name in the report. Keeps references to the context and the options.
  rule_source(context const& ctx, report_options const& options, system_source const& of,
              std::string name);
  ~rule_source();
  rule_source(rule_source const&) = delete;
  rule_source& operator=(rule_source const&) = delete;

  /// Why fold `f` has no rules to show; empty if it has.
  std::string const& lacks(std::size_t f);
  /// As above, over the folds used so far: the first reason.
  std::string lacks() const;
  /// The rules with the largest effect on the score of document `d` of query `q` in fold `f`: per
  /// member, `top` upwards and `top` downwards. The fold must have data and scores of the system.
  /// Empty if rules are not available: then lacks() has the reason.
  std::optional<eval::table> explain(std::size_t f, std::size_t q, std::size_t d, std::size_t top);

 private:
  struct fold_ranker;
  fold_ranker& fold(std::size_t f);
  void prepare(std::size_t f, fold_ranker& to) const;
  std::string training_file(std::size_t f, std::string& lacks) const;

  context const& ctx_;
  report_options const& options_;
  system_source of_;
  std::string name_;
  std::vector<std::unique_ptr<fold_ranker>> folds_;
};

}  // namespace rulerank::report
