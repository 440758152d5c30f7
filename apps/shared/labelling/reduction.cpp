#include "apps/shared/labelling/reduction.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "core/process_group.hpp"
#include "datasets/discretizer_parts.hpp"
#include "datasets/svmlight.hpp"
#include "knn/collection_parts.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

/// The first document of each query, and their end.
std::vector<std::size_t> query_begin(datasets::dataset const& train) {
  std::vector<std::size_t> begin;
  for (datasets::query_group const& q : train.queries) begin.push_back(q.begin);
  begin.push_back(train.size());
  return begin;
}

/// The number of the first document of this rank's part, where its part has so many.
std::size_t first_of_part(process_group const& ranks, std::size_t documents) {
  std::size_t first = 0;
  std::vector<std::size_t> const of_ranks = gather_values(ranks, documents);
  for (int rank = 0; rank < ranks.rank(); ++rank) first += of_ranks[static_cast<std::size_t>(rank)];
  return first;
}

/// The lines of the documents of all parts, in the order of the file, which is that of the ranks.
void write_lines_of_parts(process_group const& ranks, reduction_pool const& pool,
                          std::span<std::size_t const> documents, output_file& out) {
  std::string lines;
  for (std::size_t const d : documents)
    if (auto const here = pool.place_of(d)) lines.append(pool.train.lines[*here]).append("\n");
  collect_on_first(ranks, lines, [&](std::string_view of_rank) { out.write(of_rank); });
}

}  // namespace

void reduction_arguments::add_sampling_to(CLI::App& verb) {
  path_option(verb, "--ids I.tsv", ids,
              "TSV of every choice: line (0-based), docid, partition, iteration, rules");
  renamed_option(
      verb, "--model", "0.1.0",
      path_option(verb, "--discretizer-out M.json", model, "Save the cuts for rank --discretizer"));
  sampler.add_to(verb);
  help_group const group(verb, "Sampling");
  verb.add_flag("--whole-queries", whole_queries,
                "Choose queries, with all their documents, instead of documents");
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

reduction_pool read_pool(session& owner, reduction_arguments const& arguments, bool in_parts) {
  reduction_pool pool;
  {
    auto const timer = owner.stage("read");
    std::optional<datasets::dataset> part;
    if (in_parts) part = arguments.reading.read_part(owner, arguments.train);
    pool.is_part = part.has_value();
    pool.train = pool.is_part ? *std::move(part) : arguments.reading.read(owner, arguments.train);
  }
  auto const timer = owner.stage("discretize");
  discretizer_arguments const& discretizer = arguments.discretizer;
  pool.cuts = pool.is_part ? discretizer.fit_on_parts_or_read(owner, pool.train)
                           : discretizer.fit_or_read(owner, pool.train);
  warn_of_lacking_features(owner, pool.train, pool.cuts);
  pool.train = datasets::renumbered(std::move(pool.train), pool.cuts.names);
  pool.binned = datasets::apply_discretizer(owner.ctx(), pool.train, pool.cuts);
  if (pool.is_part) {
    // Values take more memory than the items of all documents: they go first.
    pool.train.entries = datasets::entry_list();
    pool.train.row.assign(pool.train.size() + 1, 0);
    pool.first = first_of_part(owner.ranks(), pool.train.size());
    pool.binned = datasets::join_parts(owner.ranks(), pool.binned);
  }
  datasets::expect_items(pool.train, pool.binned);
  return pool;
}

reduction_outputs::reduction_outputs(session const& owner, reduction_arguments const& arguments)
    : chosen_(owner.destination(arguments.out)) {
  if (!arguments.model.empty()) cuts_.emplace(owner.destination(arguments.model));
  if (!arguments.ids.empty()) ids_.emplace(owner.destination(arguments.ids));
}

void reduction_outputs::write(session& owner, reduction_pool const& pool,
                              std::span<std::size_t const> documents,
                              std::vector<std::int32_t> const& labels, std::string const& ids) {
  if (pool.is_part)
    write_lines_of_parts(owner.ranks(), pool, documents, chosen_);
  else
    datasets::write_lines(pool.train, documents, chosen_, labels);
  if (cuts_) datasets::write_discretizer(pool.cuts, *cuts_);
  if (ids_) ids_->write(ids);
  if (cuts_) cuts_->commit();
  if (ids_) ids_->commit();
  chosen_.commit();
}

std::string choices_table(session& owner, reduction_pool const& pool, al::sample const& sample) {
  if (!pool.is_part) return al::choices_table(pool.train, sample);
  std::vector<std::uint32_t> documents;
  for (al::choice const& c : sample.choices)
    documents.push_back(static_cast<std::uint32_t>(c.document));
  auto const docid_here = [&](std::uint32_t d) -> std::optional<std::string> {
    auto const here = pool.place_of(d);
    return here ? std::optional(pool.train.docid(*here)) : std::nullopt;
  };
  return al::choices_table(sample, knn::names_of(owner.ranks(), documents, docid_here));
}

nlohmann::ordered_json summary_of(label_pool const& pool, al::sample const& sample,
                                  bool whole_queries) {
  nlohmann::ordered_json json;
  json["engine"] = al::name_of(sample.engine);
  json["documents"] = pool.binned.documents;
  json["features_with_items"] = pool.binned.feature_count();
  json["items"] = pool.binned.items();
  json["chosen"] = sample.documents.size();
  if (whole_queries) json["queries"] = sample.partitions.front().iterations;
  json["share"] =
      static_cast<double>(sample.documents.size()) / static_cast<double>(pool.binned.documents);
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
                         label_pool const& pool, al::sample const& sample) {
  std::size_t const documents = pool.binned.documents;
  owner.say(fmt::format(
      "chose {} of {} ({:.2f} %) with --rule-size {} in {} by {}", sample.documents.size(),
      counted(documents, "document"),
      100.0 * static_cast<double>(sample.documents.size()) / static_cast<double>(documents),
      arguments.sampler.rule_size,
      arguments.whole_queries
          ? counted(sample.partitions.front().iterations, "whole query", "whole queries")
          : counted(sample.partitions.size(), "partition"),
      al::name_of(sample.engine)));
}

void say_what_was_skipped(session& owner, std::size_t asked, std::size_t skipped) {
  if (skipped == 0) return;
  owner.say(fmt::format("{} asked about, {} of them skipped",
                        counted(asked, "document was", "documents were"), skipped));
}

}  // namespace rulerank::apps
