#pragma once

#include "al/sampler.hpp"
#include "apps/shared/arguments/committee_arguments.hpp"
#include "apps/shared/arguments/label_arguments.hpp"
#include "apps/shared/arguments/sampler_arguments.hpp"
#include "apps/shared/labelling/labelled_sampling.hpp"
#include "apps/shared/session/session.hpp"
#include "learners/second_stage.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The second stage of active learning, with labels from a person, a table or the training file.
namespace rulerank::inline v0::apps {

/// The result of the rounds after the sampling.
struct second_stage_result {
  bool ready = false;                  ///< false: labels are missing, and the exit code is set
  std::vector<std::size_t> documents;  ///< all labelled documents, ascending
  std::vector<std::int32_t> labels;    ///< [N] of these
  std::vector<learners::pick> picks;
  nlohmann::ordered_json summary;
};

/// The options of `reduce` that the rounds need.
struct round_arguments {
  committee_arguments const& committee;
  sampler_arguments const& sampler;
  label_arguments const& asking;
};

/// Continues from a sample whose documents have labels in `found.labels` [N] (empty: in the
/// training file). If labels are missing: with --pending, writes it and sets the exit code;
/// otherwise throws `error` with the document's line.
second_stage_result run_rounds(session& owner, round_arguments const& how, label_pool const& pool,
                               labelled_sample const& found);

/// `ids_table` with two more columns, round (0: from the sampling) and disagreement, and a row per
/// pick, without partition, iteration and rules.
std::string ids_table(datasets::dataset const& train, al::sample const& sample,
                      std::vector<learners::pick> const& picks);

}  // namespace rulerank::apps
