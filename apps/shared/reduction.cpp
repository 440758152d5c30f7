#include "apps/shared/reduction.hpp"

#include "apps/shared/options.hpp"
#include "core/error.hpp"
#include "datasets/svmlight.hpp"

#include <utility>

#include <fmt/format.h>

namespace rulerank::apps {

namespace {

/// The first document of each query, and their end.
std::vector<std::size_t> query_begin(datasets::dataset const& train) {
  std::vector<std::size_t> begin;
  for (datasets::query_group const& q : train.queries) begin.push_back(q.begin);
  begin.push_back(train.size());
  return begin;
}

}  // namespace

void reduction_arguments::add_sampling_to(CLI::App& verb) {
  path_option(verb, "--ids", ids,
              "TSV of every choice: line (0-based), docid, partition, iteration, rules")
      ->type_name("I.tsv");
  renamed_option(
      verb, "--model",
      path_option(verb, "--discretizer-out", model, "Save the cuts for rank --discretizer")
          ->type_name("M.json"));
  sampler.add_to(verb);
  verb.add_flag("--whole-queries", whole_queries,
                "Choose queries, with all their documents, instead of documents")
      ->group("Sampling");
}

void reduction_arguments::add_reading_to(CLI::App& verb) {
  discretizer.add_to(verb);
  reading.add_to(verb);
}

std::vector<session::named_input> reduction_arguments::inputs(char const* pool_option) const {
  return {{pool_option, train},
          {"--discretizer", discretizer.fitted},
          {"--feature-order", sampler.feature_order_file()}};
}

std::vector<session::named_output> reduction_arguments::outputs() const {
  return {{"--out", out}, {"--ids", ids}, {"--discretizer-out", model}};
}

al::sampler_options reduction_arguments::options(session& owner, datasets::dataset const& pool,
                                                 datasets::binned_dataset const& binned) const {
  al::sampler_options made = sampler.options(owner, binned);
  if (whole_queries) made.query_begin = query_begin(pool);
  return made;
}

reduction_pool read_pool(session& owner, reduction_arguments const& arguments) {
  reduction_pool pool;
  {
    auto const timer = owner.stage("read");
    pool.train = arguments.reading.read(owner, arguments.train);
  }
  auto const timer = owner.stage("discretize");
  pool.cuts = arguments.discretizer.fit_or_read(owner, pool.train);
  warn_of_lacking_features(owner, pool.train, pool.cuts);
  pool.train = datasets::renumbered(std::move(pool.train), pool.cuts.names);
  pool.binned = datasets::apply_discretizer(owner.ctx(), pool.train, pool.cuts);
  datasets::expect_items(pool.train, pool.binned);
  return pool;
}

reduction_outputs::reduction_outputs(session const& owner, reduction_arguments const& arguments)
    : chosen_(owner.destination(arguments.out)) {
  if (!arguments.model.empty()) cuts_.emplace(owner.destination(arguments.model));
  if (!arguments.ids.empty()) ids_.emplace(owner.destination(arguments.ids));
}

void reduction_outputs::write(reduction_pool const& pool, std::span<std::size_t const> documents,
                              std::vector<std::int32_t> const& labels, std::string const& ids) {
  datasets::write_lines(pool.train, documents, chosen_, labels);
  if (cuts_) datasets::write_discretizer(pool.cuts, *cuts_);
  if (ids_) ids_->write(ids);
  if (cuts_) cuts_->commit();
  if (ids_) ids_->commit();
  chosen_.commit();
}

nlohmann::ordered_json summary_of(label_pool const& pool, al::sample const& sample,
                                  bool whole_queries) {
  nlohmann::ordered_json json;
  json["engine"] = al::name_of(sample.ran);
  json["documents"] = pool.train.size();
  json["features_with_items"] = pool.binned.feature_count();
  json["items"] = pool.binned.items();
  json["chosen"] = sample.documents.size();
  if (whole_queries) json["queries"] = sample.partitions.front().iterations;
  json["share"] =
      static_cast<double>(sample.documents.size()) / static_cast<double>(pool.train.size());
  json["partitions"] = nlohmann::ordered_json::array();
  for (al::partition_report const& p : sample.partitions)
    json["partitions"].push_back({{"features", p.features},
                                  {"documents", p.documents},
                                  {"iterations", p.iterations},
                                  {"rules_lost", p.rules_lost},
                                  {"seconds", p.seconds}});
  return json;
}

void say_what_was_chosen(session& owner, reduction_arguments const& arguments,
                         datasets::dataset const& train, al::sample const& sample) {
  owner.say(fmt::format(
      "chose {} of {} ({:.2f} %) with --rule-size {} in {} by {}", sample.documents.size(),
      counted(train.size(), "document"),
      100.0 * static_cast<double>(sample.documents.size()) / static_cast<double>(train.size()),
      arguments.sampler.rule_size,
      arguments.whole_queries
          ? counted(sample.partitions.front().iterations, "whole query", "whole queries")
          : counted(sample.partitions.size(), "partition"),
      al::name_of(sample.ran)));
}

}  // namespace rulerank::apps
