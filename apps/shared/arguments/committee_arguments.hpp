#pragma once

#include "apps/shared/arguments/sampler_arguments.hpp"
#include "apps/shared/session/session.hpp"
#include "datasets/dataset.hpp"
#include "learners/second_stage.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace rulerank::inline v0::apps {

/// The second stage of two-stage active learning: --rounds --per-query --committee --select.
struct committee_arguments {
  std::size_t rounds = 0;
  std::size_t per_query = 5;
  std::string members = "rules,ranksvm,xgboost";
  std::string select = "committee";

  void add_to(CLI::App& verb);
  bool wanted() const noexcept { return rounds != 0; }
  /// Throws `usage_error` for options of rounds without rounds, for names that are unknown,
  /// repeated or not in this build, and for too few names.
  void check() const;
  /// The files of NAME=FILE, for session::inputs.
  std::vector<session::named_input> files() const;

  /// Makes the members, with the sampler's settings for rules. Reads the files of NAME=FILE: scores
  /// of the documents of `train`.
  learners::members make_members(session& owner, sampler_arguments const& sampler,
                                 datasets::dataset const& train) const;
  learners::round_options options(sampler_arguments const& sampler) const;

 private:
  std::vector<std::string> learners() const;
  std::vector<std::pair<std::string, std::string>> outside() const;  // names and paths
  CLI::App* verb_ = nullptr;
};

}  // namespace rulerank::apps
