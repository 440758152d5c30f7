#include "apps/shared/ranker_arguments.hpp"

#include "apps/shared/options.hpp"
#include "core/error.hpp"
#include "l2r/ranker.hpp"
#include "l2r/score_table.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rulerank::apps {

void ranker_arguments::add_scoring_to(CLI::App& verb) {
  std::string const group = "Score";
  l2r::scoring_options const defaults;
  auto add = [&](std::string const& name, auto& value, std::string const& text, auto shown) {
    verb.add_option(name, value, text)->default_str(fmt::format("{}", shown))->group(group);
  };
  add("--rule-size", rule_size, "Largest rules, the consequent counted, 2 or more",
      defaults.rule_size);
  add("--min-support", min_support, "A rule holds in at least this many training documents",
      defaults.thresholds.min_support);
  add("--min-confidence", min_confidence, "A rule has at least this confidence, 0 to 1",
      defaults.thresholds.min_confidence);
  add("--support-weight", support_weight,
      "W: an itemset weighs n^W, n the training documents that hold it", defaults.support_weight);
  add("--smoothing", smoothing, "A: confidence (n_r + A prior_r) / (n + A)", defaults.smoothing);
  add("--feature-share", feature_share,
      "Rules are made of this share of the features, those that tell most of the label",
      defaults.feature_share);
}

void ranker_arguments::add_engine_to(CLI::App& verb) {
  std::string const group = "Engine";
  engine_option(verb, "--engine", engine, l2r::engines())->group(group);
  verb.add_option("--cache-memory", cache_memory,
                  "Memory of the cache of lrar, profl and profl-t, such as 512MB")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("4GB")
      ->group(group);
}

l2r::ranker_options ranker_arguments::options() const {
  l2r::ranker_options options;
  if (rule_size) options.rule_size = *rule_size;
  if (min_support) options.thresholds.min_support = *min_support;
  if (min_confidence) options.thresholds.min_confidence = *min_confidence;
  if (support_weight) options.support_weight = *support_weight;
  if (smoothing) options.smoothing = *smoothing;
  if (feature_share) options.feature_share = *feature_share;
  options.engine = l2r::engine_from(engine);
  options.cache_bytes = cache_memory;
  l2r::check(options);
  return options;
}

l2r::ranker_options ranker_arguments::options(l2r::scoring_options const& model,
                                              std::string const& name) const {
  auto agree = [&](std::string_view option, auto const& given, auto fitted) {
    if (given && *given != fitted)
      throw usage_error(
          fmt::format("{} {}: the model {} was fitted with {}", option, *given, name, fitted));
  };
  agree("--rule-size", rule_size, model.rule_size);
  agree("--min-support", min_support, model.thresholds.min_support);
  agree("--min-confidence", min_confidence, model.thresholds.min_confidence);
  agree("--support-weight", support_weight, model.support_weight);
  agree("--smoothing", smoothing, model.smoothing);
  agree("--feature-share", feature_share, model.feature_share);
  l2r::ranker_options options;
  static_cast<l2r::scoring_options&>(options) = model;
  options.engine = l2r::engine_from(engine);
  options.cache_bytes = cache_memory;
  return options;
}

datasets::dataset read_training(session& owner, std::string const& train,
                                reading_arguments const& reading) {
  auto const timer = owner.stage("read");
  datasets::dataset data = reading.read(owner, train);
  auto const unknown = std::find(data.labels.begin(), data.labels.end(), datasets::unlabelled);
  if (unknown != data.labels.end())
    throw error(
        {data.name, data.line_numbers[static_cast<std::size_t>(unknown - data.labels.begin())]},
        "found a document without a label, expected labels to learn from");
  return data;
}

l2r::model make_model(session& owner, datasets::dataset const& data,
                      discretizer_arguments const& discretizer,
                      l2r::scoring_options const& options) {
  auto const timer = owner.stage("discretise");
  l2r::model m;
  m.discretizer = discretizer.fit_or_read(owner, data);
  m.training = datasets::apply_discretizer(owner.ctx(), data, m.discretizer);
  m.options = options;
  if (m.training.feature_count() == 0)
    throw error({data.name, 1, 1},
                discretizer.fitted.empty()
                    ? "no feature has two bins, expected one that is not constant"
                    : "no feature has a cut in the discretiser given");
  l2r::itemsets_a_document(options, m.training.feature_count());  // refuses too many
  return m;
}

l2r::model make_model(session& owner, std::string const& train, reading_arguments const& reading,
                      discretizer_arguments const& discretizer,
                      l2r::scoring_options const& options) {
  return make_model(owner, read_training(owner, train, reading), discretizer, options);
}

void note_ranker(session& owner, l2r::scoring_options const& options, l2r::engine engine,
                 datasets::binned_dataset const& training) {
  for (l2r::engine_description const& e : l2r::engines())
    if (e.which == engine) owner.expect_device_for(e.name, where_of(e));
  owner.note("engine", l2r::name_of(engine));
  owner.note("training_documents", training.documents);
  owner.note("features", training.feature_count());
  owner.note("rules", {{"rule_size", options.rule_size},
                       {"min_support", options.thresholds.min_support},
                       {"min_confidence", options.thresholds.min_confidence},
                       {"support_weight", options.support_weight},
                       {"smoothing", options.smoothing},
                       {"feature_share", options.feature_share}});
}

}  // namespace rulerank::apps
