#pragma once

#include "al/sampler.hpp"
#include "apps/shared/label_arguments.hpp"
#include "apps/shared/sampler_arguments.hpp"
#include "apps/shared/session.hpp"
#include "committee/second_stage.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rulerank::apps {

/// What the rounds after the sampling gave.
struct second_stage_result {
  bool ready = false;                  ///< false: labels are wanted, the exit code is set
  std::vector<std::size_t> documents;  ///< all that are labelled, ascending
  std::vector<std::int32_t> labels;    ///< [N] of these
  std::vector<committee::pick> picks;
  nlohmann::ordered_json summary;
};

/// The second stage of two-stage active learning: --rounds --per-query --committee --select.
struct committee_arguments {
  std::size_t rounds = 0;
  std::size_t per_query = 5;
  std::string members = "rules,ranksvm,xgboost";
  std::string select = "committee";

  void add_to(CLI::App& verb);
  bool wanted() const noexcept { return rounds != 0; }
  /// Throws `usage_error` for options of rounds without any, for names that are not known, twice
  /// the same, or not in this build, and for too few of them.
  void check() const;
  /// The files of NAME=FILE, to be named as inputs.
  std::vector<session::named_input> files() const;

  /// Goes on from a sample, whose documents have labels in `found.labels` [N] (empty: in `train`).
  /// Labels come from whom `asking` says. Where they are missing: with --pending, writes it and
  /// sets the exit code; else throws `error` with the document's line.
  second_stage_result run(session& owner, datasets::dataset const& train,
                          datasets::binned_dataset const& binned, sampler_arguments const& sampler,
                          label_arguments const& asking, labelled_sample const& found) const;

 private:
  committee::members make_members(session& owner, sampler_arguments const& sampler,
                                  datasets::dataset const& train) const;
  std::vector<std::string> learners() const;
  std::vector<std::pair<std::string, std::string>> outside() const;  // names and paths

 private:
  CLI::App* verb_ = nullptr;
};

/// `ids_table` with two more columns, round (0: of the sampling) and disagreement, and a row for
/// each pick, without partition, iteration and rules.
std::string ids_table(datasets::dataset const& train, al::sample const& sample,
                      std::vector<committee::pick> const& picks);

}  // namespace rulerank::apps
