#include "apps/shared/labelling/reduction.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "core/process_group.hpp"
#include "datasets/discretizer/discretizer_parts.hpp"
#include "datasets/label_order.hpp"
#include "datasets/svmlight.hpp"
#include "knn/collection_parts.hpp"

#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

/// The first document of each query over all parts, which consist of whole queries, and the end.
std::vector<std::size_t> query_begin_of_parts(process_group const& ranks,
                                              datasets::dataset const& part) {
  std::vector<std::size_t> sizes;
  for (datasets::query_group const& q : part.queries) sizes.push_back(q.size());
  std::vector<std::size_t> begin{0};
  for (std::size_t const size : join(ranks, sizes)) begin.push_back(begin.back() + size);
  return begin;
}

/// The number of the first document of this rank's part, which has `documents` documents.
std::size_t first_of_part(process_group const& ranks, std::size_t documents) {
  std::size_t first = 0;
  std::vector<std::size_t> const of_ranks = gather_values(ranks, documents);
  for (int rank = 0; rank < ranks.rank(); ++rank) first += of_ranks[static_cast<std::size_t>(rank)];
  return first;
}

/// Writes the lines of the documents of all parts, in file order, which is rank order.
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
              "Output table of the choices: line (from 0), docid, partition, iteration, rules, and "
              "with --max-documents the reason")
      ->group(output_group);
  renamed_option(verb, "--model", "0.1.0",
                 path_option(verb, "--discretizer-out M.json", model,
                             "Output file of the cuts, for --discretizer of other verbs")
                     ->group(output_group));
  sampler.add_to(verb);
  help_group const group(verb, "Sampling");
  verb.add_flag("--whole-queries", whole_queries, "Choose whole queries, with all their documents");
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

al::sampler_options reduction_arguments::options(session& owner, reduction_pool const& pool) const {
  al::sampler_options made = sampler.options(owner, pool.binned);
  made.tie_keys = pool.tie_keys;
  if (whole_queries) made.query_begin = pool.query_begin;
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
    if (arguments.sampler.ties == "seeded")
      pool.tie_keys = al::tie_keys(pool.train, owner.ctx().seed);
  }
  auto const timer = owner.stage("discretize");
  discretizer_arguments const& discretizer = arguments.discretizer;
  pool.cuts = pool.is_part ? discretizer.fit_on_parts_or_read(owner, pool.train)
                           : discretizer.fit_or_read(owner, pool.train);
  warn_of_lacking_features(owner, pool.train, pool.cuts);
  pool.train = datasets::renumbered(std::move(pool.train), pool.cuts.names);
  pool.binned = datasets::apply_discretizer(owner.ctx(), pool.train, pool.cuts);
  if (pool.is_part) {
    // Frees the values before the items of all documents are made, because they take more memory.
    pool.train.entries = datasets::entry_list();
    pool.train.row.assign(pool.train.size() + 1, 0);
    pool.first = first_of_part(owner.ranks(), pool.train.size());
    pool.binned = datasets::join_parts(owner.ranks(), pool.binned);
    pool.tie_keys = join(owner.ranks(), pool.tie_keys);
  }
  pool.query_begin = pool.is_part ? query_begin_of_parts(owner.ranks(), pool.train)
                                  : datasets::query_begin(pool.train);
  datasets::expect_items(pool.train, pool.binned);
  if (arguments.sampler.max_documents > pool.binned.documents)
    owner.warn(fmt::format("--max-documents {} exceeds the {} of {}",
                           arguments.sampler.max_documents,
                           counted(pool.binned.documents, "document"), pool.train.name));
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
  // Detects a full disk before a file is replaced.
  if (cuts_) cuts_->flush();
  if (ids_) ids_->flush();
  chosen_.flush();
  if (cuts_) cuts_->commit();
  if (ids_) ids_->commit();
  chosen_.commit();
}

std::string choices_table(session& owner, reduction_pool const& pool,
                          al::sampler_options const& options, al::sample const& sample) {
  if (!pool.is_part) return al::choices_table(pool.train, sample, options.fill_budget);
  std::vector<std::uint32_t> documents;
  for (al::choice const& c : sample.choices)
    documents.push_back(static_cast<std::uint32_t>(c.document));
  auto const docid_here = [&](std::uint32_t d) -> std::optional<std::string> {
    auto const here = pool.place_of(d);
    return here ? std::optional(pool.train.docid(*here)) : std::nullopt;
  };
  return al::choices_table(sample, knn::names_of(owner.ranks(), documents, docid_here),
                           options.fill_budget);
}

namespace {

/// The number of documents by the reason for their first choice, in the order of the reasons.
std::vector<std::pair<al::choice, std::size_t>> documents_by_reason(al::sample const& sample) {
  std::vector<std::pair<al::choice, std::size_t>> counts;
  std::unordered_set<std::size_t> seen;
  for (al::choice const& c : sample.choices) {
    if (!seen.insert(c.document).second) continue;
    if (counts.empty() || counts.back().first.why != c.why ||
        counts.back().first.rule_size != c.rule_size)
      counts.emplace_back(c, 0);
    ++counts.back().second;
  }
  return counts;
}

std::string in_words(al::choice const& of) {
  switch (of.why) {
    case al::reason::rules:
    case al::reason::larger_rules:
      return fmt::format("by rules of size {}", of.rule_size);
    case al::reason::new_items:
      return "for items that no chosen document had";
    case al::reason::remaining:
      return "of the remaining queries";
    case al::reason::random:
      break;
  }
  return "at random";
}

}  // namespace

nlohmann::ordered_json summary_of(label_pool const& pool, reduction_arguments const& arguments,
                                  al::sample const& sample) {
  bool const whole_queries = arguments.whole_queries;
  nlohmann::ordered_json json;
  json["engine"] = al::name_of(sample.engine);
  json["documents"] = pool.binned.documents;
  json["features_with_items"] = pool.binned.feature_count();
  json["items"] = pool.binned.items();
  json["chosen"] = sample.documents.size();
  if (whole_queries) json["queries"] = sample.partitions.front().iterations;
  json["share"] =
      static_cast<double>(sample.documents.size()) / static_cast<double>(pool.binned.documents);
  json["ties"] = arguments.sampler.ties;
  json["ran_dry"] = sample.ran_dry;
  json["reasons"] = nlohmann::ordered_json::object();
  for (auto const& [of, documents] : documents_by_reason(sample))
    json["reasons"][al::describe_reason(of)] = documents;
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
  if (!sample.ran_dry) return;
  auto const counts = documents_by_reason(sample);
  if (counts.size() == 1 && sample.documents.size() == documents) return;
  std::string text =
      fmt::format("the rules ran dry: every {} left has as many rules as a chosen one or more",
                  arguments.whole_queries ? "query" : "document");
  if (counts.size() > 1) {
    std::vector<std::string> stages;
    for (auto const& [of, chosen] : counts)
      stages.push_back(fmt::format("{} {}", counted(chosen, "document"), in_words(of)));
    text += fmt::format("; chose {}", fmt::join(stages, ", then "));
  } else if (std::size_t const budget = arguments.sampler.max_documents;
             sample.documents.size() < budget) {
    text += fmt::format("; stopped {} below --max-documents", budget - sample.documents.size());
  }
  owner.say(text);
}

void warn_of_order(session& owner, reduction_arguments const& arguments,
                   reduction_pool const& pool) {
  if (arguments.sampler.ties == "seeded" || arguments.whole_queries) return;
  auto const found = datasets::order_of_labels(pool.binned.labels, pool.query_begin);
  if (!found.predicts_labels()) return;
  owner.warn(
      fmt::format("{}: {}; --ties index follows this order, so the choice may use labels that you "
                  "do not have; use --ties seeded",
                  pool.train.name, datasets::describe(found)));
}

void say_what_was_skipped(session& owner, std::size_t asked, std::size_t skipped) {
  if (skipped == 0) return;
  owner.say(fmt::format("asked about {}, {} of them skipped",
                        counted(asked, "document", "documents"), skipped));
}

}  // namespace rulerank::apps
