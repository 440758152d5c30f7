#include "apps/shared/arguments.hpp"
#include "apps/shared/committee_arguments.hpp"
#include "apps/shared/label_arguments.hpp"
#include "apps/shared/sampler_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/output_file.hpp"
#include "datasets/svmlight.hpp"

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

void reduce(session& owner, reduce_arguments const& arguments) {
  arguments.sampler.check();
  arguments.labels.check(arguments.train);
  arguments.rounds.check();
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
                 {"--model", arguments.model},
                 {"--pending", arguments.labels.pending},
                 {"--resume", arguments.labels.resume}});
  // An output that cannot be written fails before the work.
  output_file out(arguments.out);
  std::optional<output_file> model, ids;
  if (!arguments.model.empty()) model.emplace(arguments.model);
  if (!arguments.ids.empty()) ids.emplace(arguments.ids);
  datasets::dataset const train = [&] {
    auto const timer = owner.stage("read");
    return arguments.reading.read(owner, arguments.train);
  }();
  datasets::discretizer fitted;
  datasets::binned_dataset binned;
  {
    auto const timer = owner.stage("discretise");
    fitted = arguments.discretizer.fit_or_read(owner, train);
    binned = datasets::apply_discretizer(owner.ctx(), train, fitted);
  }
  datasets::expect_items(train, binned);
  labelled_sample found;
  if (arguments.labels.asks() || arguments.whole_queries) {
    al::sampler_options options = arguments.sampler.options(owner, binned);
    if (arguments.whole_queries) options.query_begin = query_begin(train);
    found =
        arguments.labels.reduce(owner, train, binned, fitted, options, arguments.rounds.wanted());
    if (!found.ready) return;
  } else {
    found.sample = arguments.sampler.reduce(owner, train, binned);
  }
  al::sample const& sample = found.sample;
  std::vector<std::size_t> documents = sample.documents;
  bool const goes_on = arguments.rounds.wanted() && !found.finished_early;
  second_stage_result rounds;
  if (goes_on) {
    rounds = arguments.rounds.run(owner, train, binned, arguments.sampler, arguments.labels, found);
    if (!rounds.ready) return;
    documents = rounds.documents;
    if (!found.labels.empty()) found.labels = rounds.labels;
  }
  nlohmann::ordered_json result = summary(train, binned, sample, arguments.whole_queries);
  if (!found.summary.is_null()) result["labelling"] = found.summary;
  if (goes_on) {
    result["second_stage"] = rounds.summary;
    result["labelled"] = documents.size();
  }
  owner.note("engine", al::name_of(sample.ran));
  owner.note("sample", result);

  auto const timer = owner.stage("write");
  datasets::write_lines(train, documents, out, found.labels);
  if (model) model->write(datasets::to_json(fitted).dump(1) + "\n");
  if (ids)
    ids->write(arguments.rounds.wanted() ? ids_table(train, sample, rounds.picks)
                                         : al::choices_table(train, sample));
  if (model) model->commit();
  if (ids) ids->commit();
  out.commit();
  if (owner.prints_json()) {
    write_file("-", result.dump(2) + "\n");
  } else {
    owner.say(fmt::format(
        "chose {} of {} documents ({:.2f} %) in {} with {}", sample.documents.size(), train.size(),
        100.0 * static_cast<double>(sample.documents.size()) / static_cast<double>(train.size()),
        arguments.whole_queries
            ? fmt::format("{} whole queries", sample.partitions.front().iterations)
            : fmt::format("{} partitions", sample.partitions.size()),
        al::name_of(sample.ran)));
    if (goes_on)
      owner.say(fmt::format(
          "{} rounds by {} added {}: {} documents ({:.2f} %)",
          rounds.summary["rounds"].get<std::size_t>(), arguments.rounds.select, rounds.picks.size(),
          documents.size(),
          100.0 * static_cast<double>(documents.size()) / static_cast<double>(train.size())));
  }
}

}  // namespace

void add_reduce(CLI::App& program, session& owner) {
  auto const arguments = std::make_shared<reduce_arguments>();
  CLI::App* const verb =
      add_verb(program, owner, "reduce",
               "Choose the few training documents that bring new rules (SSARP and our delta)",
               "rulerank reduce --train Fold1/train.txt --out reduced.txt --ids reduced.tsv "
               "--model cuts.json",
               [&owner, arguments] { reduce(owner, *arguments); });
  verb->add_option("--train", arguments->train, "Training file, SVMlight with qid (LETOR)")
      ->required();
  verb->add_option("--out", arguments->out,
                   "The chosen lines of the training file, verbatim and in their order; - for "
                   "standard output")
      ->required();
  verb->add_option("--ids", arguments->ids,
                   "TSV of every choice: line (0-based), docid, partition, iteration, rules");
  verb->add_option("--model", arguments->model, "Save the cuts for rank --discretizer");
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
