#pragma once

#include "report/results.hpp"

#include <cstddef>
#include <memory>
#include <string>

// The rules behind the scores of a cross-validation, from what its folder keeps.
namespace rulerank::report {

/// Explains documents by a system that learned from a reduced training set: the folder keeps that
/// and the cuts. Rankers are made when a fold is first asked for.
class rule_source {
 public:
  rule_source(context const& ctx, system_source const& of);
  ~rule_source();
  rule_source(rule_source const&) = delete;
  rule_source& operator=(rule_source const&) = delete;

  /// Why there are no rules to show; empty where there are.
  std::string const& lacks() const noexcept { return lacks_; }
  /// The rules that moved the score of document `d` of query `q` of fold `f` furthest, `top` up and
  /// as many down; the fold has its data.
  eval::table explain(std::size_t f, std::size_t q, std::size_t d, std::size_t top);

 private:
  struct fold_ranker;
  fold_ranker const& ranker_of(std::size_t f);

  context const& ctx_;
  system_source of_;
  std::string lacks_;
  unsigned reduce_size_ = 0, rank_size_ = 0;
  std::vector<std::unique_ptr<fold_ranker>> rankers_;
};

}  // namespace rulerank::report
