#include "apps/shared/arguments.hpp"
#include "apps/shared/committee_arguments.hpp"
#include "apps/shared/committee_rounds.hpp"
#include "apps/shared/label_arguments.hpp"
#include "apps/shared/labelled_sampling.hpp"
#include "apps/shared/sampler_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/json_text.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace rulerank::apps {
namespace {

struct reduce_arguments {
  std::string train;
  std::string out;
  std::string ids;
  std::string model;
  reading_arguments reading;
  discretizer_arguments discretizer;
  sampler_arguments sampler;
  label_arguments labels;
  bool whole_queries = false;
  committee_arguments rounds;
};

nlohmann::ordered_json summary(datasets::dataset const& train,
                               datasets::binned_dataset const& binned, al::sample const& sample,
                               bool whole_queries) {
  nlohmann::ordered_json json;
  json["engine"] = al::name_of(sample.ran);
  json["documents"] = train.size();
  json["features_with_items"] = binned.feature_count();
  json["items"] = binned.items();
  json["chosen"] = sample.documents.size();
  if (whole_queries) json["queries"] = sample.partitions.front().iterations;
  json["share"] = static_cast<double>(sample.documents.size()) / static_cast<double>(train.size());
  json["partitions"] = nlohmann::ordered_json::array();
  for (al::partition_report const& p : sample.partitions)
    json["partitions"].push_back({{"features", p.features},
                                  {"documents", p.documents},
                                  {"iterations", p.iterations},
                                  {"rules_lost", p.rules_lost},
                                  {"seconds", p.seconds}});
  return json;
}

/// The first document of each query, and their end.
std::vector<std::size_t> query_begin(datasets::dataset const& train) {
  std::vector<std::size_t> begin;
  for (datasets::query_group const& q : train.queries) begin.push_back(q.begin);
  begin.push_back(train.size());
  return begin;
}

/// Names the inputs and outputs before any is read or written.
void name_files(session& owner, reduce_arguments const& arguments) {
  std::vector<session::named_input> inputs{
      {"--train", arguments.train},
      {"--discretizer", arguments.discretizer.fitted},
      {"--feature-order", arguments.sampler.feature_order_file()},
      {"--oracle", arguments.labels.labels_file()},
      {"--names", arguments.labels.names}};
  for (session::named_input const& scores : arguments.rounds.files()) inputs.push_back(scores);
  arguments.reading.check_inputs(owner, inputs);
  owner.outputs({{"--out", arguments.out},
                 {"--ids", arguments.ids},
                 {"--discretizer-out", arguments.model},
                 {"--pending", arguments.labels.pending},
                 {"--resume", arguments.labels.resume}});
}

/// Opened before the work: an output that cannot be written fails at once.
struct reduce_outputs {
  output_file chosen;
  std::optional<output_file> cuts, ids;

  explicit reduce_outputs(reduce_arguments const& arguments) : chosen(arguments.out) {
    if (!arguments.model.empty()) cuts.emplace(arguments.model);
    if (!arguments.ids.empty()) ids.emplace(arguments.ids);
  }
  void commit() {
    if (cuts) cuts->commit();
    if (ids) ids->commit();
    chosen.commit();
  }
};

/// The documents that the sampling and the rounds chose.
struct reduced_set {
  labelled_sample sampled;
  bool has_rounds = false;
  second_stage_result rounds;  ///< where it has them

  bool ready() const { return sampled.ready && (!has_rounds || rounds.ready); }
  std::vector<std::size_t> const& documents() const {
    return has_rounds ? rounds.documents : sampled.sample.documents;
  }
};

reduced_set choose(session& owner, reduce_arguments const& arguments, label_pool const& pool) {
  reduced_set result;
  if (arguments.labels.asks() || arguments.whole_queries) {
    al::sampler_options options = arguments.sampler.options(owner, pool.binned);
    if (arguments.whole_queries) options.query_begin = query_begin(pool.train);
    result.sampled =
        sample_with_labels(owner, arguments.labels, pool, options, arguments.rounds.wanted());
  } else {
    result.sampled.sample = arguments.sampler.reduce(owner, pool.train, pool.binned);
    result.sampled.ready = true;
  }
  if (!result.sampled.ready || !arguments.rounds.wanted() || result.sampled.finished_early)
    return result;
  result.has_rounds = true;
  result.rounds = run_rounds(owner, {arguments.rounds, arguments.sampler, arguments.labels}, pool,
                             result.sampled);
  if (!result.sampled.labels.empty()) result.sampled.labels = result.rounds.labels;
  return result;
}

nlohmann::ordered_json summary_of(label_pool const& pool, reduced_set const& chosen,
                                  bool whole_queries) {
  auto json = summary(pool.train, pool.binned, chosen.sampled.sample, whole_queries);
  if (!chosen.sampled.summary.is_null()) json["labelling"] = chosen.sampled.summary;
  if (chosen.has_rounds) {
    json["second_stage"] = chosen.rounds.summary;
    json["labelled"] = chosen.documents().size();
  }
  return json;
}

/// What ranking by the chosen documents costs against all of them: MAP on the validation parts of
/// OHSUMED, MQ2008 and MQ2008-agg under three ways to cut (bench/results/2026-11-22-rule-size).
struct measured_size {
  int rule_size;
  char const* percent;  ///< of the training documents
  char const* map;
};
constexpr measured_size measured[] = {{2, "0.5 to 0.8", "loses .0411 MAP (.0658 at worst)"},
                                      {3, "1.9 to 4.2", "loses .0140 MAP (.0290 at worst)"},
                                      {4, "4.6 to 14.5", "loses .0007 MAP (.0060 at worst)"},
                                      {5, "8.9 to 31.2", "gains .0026 MAP (loses .0042 at worst)"}};

void say_what_to_expect(session& owner, int rule_size) {
  auto const at = std::ranges::find(measured, rule_size, &measured_size::rule_size);
  if (at == std::end(measured)) return;
  std::string text = fmt::format(
      "what to expect of --rule-size {}: on OHSUMED and MQ2008 {} % of the documents are chosen, "
      "and "
      "ranking by them {} on average against all",
      rule_size, at->percent, at->map);
  for (measured_size const& other : measured)
    if (std::abs(other.rule_size - rule_size) == 1)
      text += fmt::format("; --rule-size {}: {} %, {}", other.rule_size, other.percent, other.map);
  owner.say(text);
}

void say_what_was_chosen(session& owner, reduce_arguments const& arguments,
                         datasets::dataset const& train, reduced_set const& chosen) {
  auto const percent = [&](std::size_t documents) {
    return 100.0 * static_cast<double>(documents) / static_cast<double>(train.size());
  };
  al::sample const& sample = chosen.sampled.sample;
  owner.say(fmt::format("chose {} of {} ({:.2f} %) with --rule-size {} in {} by {}",
                        sample.documents.size(), counted(train.size(), "document"),
                        percent(sample.documents.size()), arguments.sampler.rule_size,
                        arguments.whole_queries ? counted(sample.partitions.front().iterations,
                                                          "whole query", "whole queries")
                                                : counted(sample.partitions.size(), "partition"),
                        al::name_of(sample.ran)));
  if (chosen.has_rounds)
    owner.say(fmt::format("{} by {} added {}: {} ({:.2f} %)",
                          counted(chosen.rounds.summary["rounds"].get<std::size_t>(), "round"),
                          arguments.rounds.select, chosen.rounds.picks.size(),
                          counted(chosen.documents().size(), "document"),
                          percent(chosen.documents().size())));
}

void reduce(session& owner, reduce_arguments const& arguments) {
  arguments.sampler.check();
  arguments.labels.check(arguments.train);
  arguments.rounds.check();
  name_files(owner, arguments);
  reduce_outputs out(arguments);
  datasets::dataset train = [&] {
    auto const timer = owner.stage("read");
    return arguments.reading.read(owner, arguments.train);
  }();
  datasets::discretizer cuts;
  datasets::binned_dataset binned;
  {
    auto const timer = owner.stage("discretize");
    cuts = arguments.discretizer.fit_or_read(owner, train);
    warn_of_lacking_features(owner, train, cuts);
    train = datasets::renumbered(std::move(train), cuts.names);
    binned = datasets::apply_discretizer(owner.ctx(), train, cuts);
  }
  datasets::expect_items(train, binned);
  label_pool const pool{train, binned, cuts};
  reduced_set const chosen = choose(owner, arguments, pool);
  if (!chosen.ready()) return;
  al::sample const& sample = chosen.sampled.sample;
  auto const result = summary_of(pool, chosen, arguments.whole_queries);
  owner.note("engine", al::name_of(sample.ran));
  owner.note("sample", result);

  auto const timer = owner.stage("write");
  datasets::write_lines(train, chosen.documents(), out.chosen, chosen.sampled.labels);
  if (out.cuts) datasets::write_discretizer(cuts, *out.cuts);
  if (out.ids)
    out.ids->write(arguments.rounds.wanted() ? ids_table(train, sample, chosen.rounds.picks)
                                             : al::choices_table(train, sample));
  out.commit();
  say_what_was_chosen(owner, arguments, train, chosen);
  if (!arguments.rounds.wanted() && !arguments.whole_queries)
    say_what_to_expect(owner, arguments.sampler.rule_size);
  if (owner.prints_json()) write_file("-", datasets::text_of(result));
}

}  // namespace

void add_reduce(CLI::App& program, session& owner) {
  auto const arguments = std::make_shared<reduce_arguments>();
  CLI::App* const verb =
      add_verb(program, owner, "reduce", "Choose the few training documents that bring new rules",
               "rulerank reduce --train Fold1/train.txt --out reduced.txt --ids reduced.tsv "
               "--discretizer-out cuts.json",
               [&owner, arguments] { reduce(owner, *arguments); });
  path_option(*verb, "--train", arguments->train,
              "Training file: SVMlight with qid (LETOR), CSV or TSV")
      ->type_name("FILE")
      ->required();
  path_option(*verb, "--out", arguments->out,
              "The chosen lines of the training file, verbatim and in their order; - for "
              "standard output")
      ->type_name("FILE")
      ->required();
  path_option(*verb, "--ids", arguments->ids,
              "TSV of every choice: line (0-based), docid, partition, iteration, rules")
      ->type_name("I.tsv");
  renamed_option(*verb, "--model",
                 path_option(*verb, "--discretizer-out", arguments->model,
                             "Save the cuts for rank --discretizer")
                     ->type_name("M.json"));
  arguments->sampler.add_to(*verb);
  verb->add_flag("--whole-queries", arguments->whole_queries,
                 "Choose queries, with all their documents, instead of documents")
      ->group("Sampling");
  arguments->labels.add_to(*verb);
  arguments->rounds.add_to(*verb);
  arguments->discretizer.add_to(*verb);
  arguments->reading.add_to(*verb);
}

}  // namespace rulerank::apps
