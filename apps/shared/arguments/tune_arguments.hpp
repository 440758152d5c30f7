#pragma once

#include "apps/shared/session/session.hpp"
#include "tuning/search_space.hpp"
#include "tuning/tuner.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// The search of tune, and of experiment with --tune: --try-... --cross-fit --members --search
/// --rungs --keep --budget.
struct tune_arguments {
  std::string methods = "tube,width,frequency";
  std::string bins = "5,10,20";
  std::string norms;
  std::string kinds = "rules";
  std::string losses = "pair,point";
  std::string points_penalties = "0.0001,0.001,0.01";
  std::string smoothnesses = "0.1,10,100";
  std::string strengths = "10,100,1000,cross-fit";
  std::string max_features = "3,5,8,10";
  std::string card_bins = "6,12,24";
  std::string rule_sizes = "3,4";
  std::string min_supports = "1,3";
  std::string min_confidences = "0.001,0.1";
  std::string support_weights = "0,-0.25,-0.5";
  std::string smoothings = "0,5,20";
  std::string feature_shares = "1";
  std::size_t cross_fit = 0;
  std::size_t members = 1;
  std::string search = "halving";
  std::size_t rungs = 3;
  std::size_t keep = 2;
  std::string budget = "none";

  /// Whether kinds of members and norms are searched: --kinds, --try-norm and the values of
  /// scorecards, linear and cards. If not, all candidates are rules with the given norm.
  enum class searched { everything, rules };

  void add_to(CLI::App& verb, searched what = searched::rules);
  /// Both throw `usage_error` for unknown keywords and invalid values, `search_space` also for
  /// values of kinds that are not searched.
  tuning::search_space search_space() const;
  tuning::search_options options() const;
  /// Throws `usage_error` if any of these options is given: nothing is tuned.
  void expect_none() const;

 private:
  void add_kinds_to(CLI::App& verb);
  void expect_use(std::vector<std::string> const& of_kinds) const;
  CLI::App const* verb_ = nullptr;
};

}  // namespace rulerank::apps
