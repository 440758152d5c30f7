#pragma once

#include "report/results.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// The rules behind the scores of a cross-validation, from what its folder keeps.
namespace rulerank::inline v0::report {

/// Explains documents by a system that ranks by rules: from the reduced training set that the
/// folder keeps, or from the training set where it lies where the manifest says and is the same
/// file. Rankers are made when a fold is first asked for; those whose scores are others than the
/// folder keeps explain nothing.
class rule_source {
 public:
  /// `name`: what the report calls the system. The context and the options outlive the object.
  rule_source(context const& ctx, report_options const& options, system_source const& of,
              std::string name);
  ~rule_source();
  rule_source(rule_source const&) = delete;
  rule_source& operator=(rule_source const&) = delete;

  /// Why there are no rules to show of fold `f`; empty where there are.
  std::string const& lacks(std::size_t f);
  /// The same of the folds that were asked for: the first reason.
  std::string lacks() const;
  /// The rules that moved the score of document `d` of query `q` of fold `f` furthest, `top` up and
  /// as many down of each member; the fold has its data and the system's scores. None where rules
  /// are lacking: lacks() then says why.
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
