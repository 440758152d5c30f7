#pragma once

#include "apps/shared/arguments.hpp"
#include "apps/shared/session.hpp"
#include "l2r/model.hpp"
#include "l2r/options.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace rulerank::apps {

/// What a score depends on, and the engine that computes it: --rule-size --min-support
/// --min-confidence --support-weight --smoothing --feature-share, and --engine --cache-memory.
struct ranker_arguments {
  std::optional<std::uint32_t> rule_size, min_support;
  std::optional<double> min_confidence, support_weight, smoothing, feature_share;
  std::string engine = "auto";
  std::uint64_t cache_memory = std::uint64_t{4} << 30;

  void add_scoring_to(CLI::App& verb);
  void add_engine_to(CLI::App& verb);

  /// The options given, defaults for the rest. Throws `usage_error`.
  l2r::ranker_options options() const;
  /// A model's options; throws `usage_error` where one given says otherwise.
  l2r::ranker_options options(l2r::scoring_options const& model, std::string const& name) const;
};

/// Reads a training file. Throws `error` naming it when a document has no label.
datasets::dataset read_training(session& owner, std::string const& train,
                                reading_arguments const& reading);

/// Makes items of training documents: by the cuts given, or cuts fitted on them. Throws `error`
/// naming the file when no feature has two bins.
l2r::model make_model(session& owner, datasets::dataset const& train,
                      discretizer_arguments const& discretizer,
                      l2r::scoring_options const& options);
/// Both.
l2r::model make_model(session& owner, std::string const& train, reading_arguments const& reading,
                      discretizer_arguments const& discretizer,
                      l2r::scoring_options const& options);

/// Puts the engine, |training| and what the scores depend on into the manifest.
void note_ranker(session& owner, l2r::scoring_options const& options, l2r::engine engine,
                 datasets::binned_dataset const& training);

}  // namespace rulerank::apps
