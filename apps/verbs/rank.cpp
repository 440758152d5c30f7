#include "apps/shared/arguments.hpp"
#include "apps/shared/ranker_arguments.hpp"
#include "apps/shared/settings_argument.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/scores.hpp"
#include "datasets/trec.hpp"
#include "l2r/scorer.hpp"

#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace rulerank::apps {
namespace {

struct rank_arguments {
  std::string train;
  std::string model;
  std::string test;
  std::string out = "-";
  std::string run;
  std::string tag = "rulerank";
  reading_arguments reading;
  discretizer_arguments discretizer;
  ranker_arguments ranker;
  settings_argument settings;
};

/// Writes the scores and the run, and counts what it wrote.
class ranking_writer {
 public:
  ranking_writer(session& owner, rank_arguments const& arguments)
      : owner_(owner), scores_(arguments.out), tag_(arguments.tag) {
    if (!arguments.run.empty()) run_.emplace(arguments.run);
  }

  void write(datasets::dataset const& test, l2r::scored const& result) {
    auto const timer = owner_.stage("write");
    datasets::write_scores(test, result.scores, scores_);
    if (run_) {
      // A stream comes query by query: from the first repeated docid on, lines name documents.
      if (ids_ == datasets::run_ids::docid)
        ids_ = datasets::distinct_ids(test, [&](std::string const& what) { owner_.warn(what); });
      datasets::write_run(test, result.scores, tag_, *run_, {.ids = ids_});
    }
    documents_ += test.size();
    queries_ += test.queries.size();
    hits_ += result.cache_hits;
    misses_ += result.cache_misses;
    prefix_lookups_ += result.prefix_lookups;
  }
  void flush() {
    scores_.flush();
    if (run_) run_->flush();
  }
  void commit() {
    auto const timer = owner_.stage("write");
    flush();  // a disk that is full for one of them leaves neither behind
    scores_.commit();
    if (run_) run_->commit();
  }
  nlohmann::ordered_json summary() const {
    nlohmann::ordered_json json;
    json["documents"] = documents_;
    json["queries"] = queries_;
    if (hits_ + misses_ > 0) json["cache"] = {{"hits", hits_}, {"misses", misses_}};
    if (prefix_lookups_ > 0) json["cache"]["prefix_lookups"] = prefix_lookups_;
    return json;
  }

 private:
  session& owner_;
  output_file scores_;
  std::optional<output_file> run_;
  std::string tag_;
  datasets::run_ids ids_ = datasets::run_ids::docid;
  std::size_t documents_ = 0;
  std::size_t queries_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::uint64_t prefix_lookups_ = 0;
};

/// Refuses what makes no sense before anything is read.
void check(session& owner, rank_arguments const& arguments) {
  if (arguments.model.empty() == arguments.train.empty())
    throw usage_error("no training documents, expected --train or --model");
  if (!datasets::is_run_column(arguments.tag))
    throw usage_error(
        fmt::format("--tag: found '{}', expected one word, a column of the run", arguments.tag));
  owner.outputs({{"--out", arguments.out}, {"--run", arguments.run}});
  arguments.reading.check_inputs(owner, {{"--train", arguments.train},
                                         {"--test", arguments.test},
                                         {"--model", arguments.model},
                                         {"--discretizer", arguments.discretizer.fitted},
                                         {"--settings", arguments.settings.file}});
}

/// Scores the documents of --test, or the queries of standard input as they come.
void rank_test(session& owner, rank_arguments const& arguments, l2r::scorer const& scorer,
               ranking_writer& out) {
  auto const rank_list = [&](datasets::dataset const& documents) {
    l2r::scored const result = scorer.score(owner.ctx(), documents);
    owner.took("discretize", result.timings.discretize_s);
    owner.took("rank", result.timings.score_s);
    out.write(documents, result);
  };
  std::size_t const input = arguments.model.empty() ? 1 : 0;
  if (arguments.test != "-") {
    datasets::dataset test;
    {
      auto const timer = owner.stage("read");
      test = arguments.reading.read(owner, arguments.test, input);
    }
    return rank_list(test);
  }
  auto const how = arguments.reading.options(input);
  owner.input(how.group_file);
  owner.input(arguments.test);
  datasets::stream_svmlight(
      owner.ctx(), STDIN_FILENO, "standard input", how,
      [&](datasets::dataset const& query) {
        rank_list(query);
        out.flush();
      },
      [&](std::string const& message) { owner.warn(message); });
}

void rank(session& owner, rank_arguments const& arguments) {
  check(owner, arguments);
  std::vector<ranker_recipe> const recipes =
      arguments.settings.recipes(owner, {arguments.discretizer, arguments.ranker});
  bool const fitted = !arguments.model.empty();
  for (auto const& [discretizer, ranker] : recipes) {  // refuses wrong words before the work
    ranker.options();
    if (!fitted) discretizer.options();
  }
  ranking_writer out(owner, arguments);  // an output that cannot be written fails before the work
  l2r::model model = fitted ? read_model(owner, arguments.model, arguments.ranker)
                            : make_model(owner, arguments.train, arguments.reading, recipes);
  l2r::scorer const scorer = make_scorer(owner, std::move(model), arguments.ranker);
  rank_test(owner, arguments, scorer, out);
  out.commit();
  nlohmann::ordered_json const summary = out.summary();
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  if (owner.prints_json()) {
    nlohmann::ordered_json json;
    json["scores"] = arguments.out;
    json["engine"] = l2r::name_of(scorer.engine());
    json.update(summary);
    output_file to("-");
    to.write(json.dump(2) + "\n");
    to.commit();
  }
}

}  // namespace

void add_rank(CLI::App& program, session& owner) {
  auto const arguments = std::make_shared<rank_arguments>();
  CLI::App* const verb =
      add_verb(program, owner, "rank", "Score and rank documents by association rules",
               "rulerank rank --train reduced.txt --test Fold1/test.txt --rule-size 4 "
               "--method frequency --out scores.txt --run run.trec",
               [arguments, &owner] { rank(owner, *arguments); });
  CLI::Option* const train =
      path_option(*verb, "--train", arguments->train, "Training documents (SVMlight)")
          ->type_name("FILE");
  CLI::Option* const model =
      path_option(*verb, "--model", arguments->model, "Or what fit wrote")->type_name("FILE");
  path_option(*verb, "--test", arguments->test,
              "Documents to rank; -: standard input, each query ranked when it is complete")
      ->type_name("FILE|-")
      ->required();
  path_option(*verb, "--out", arguments->out, "One score a line, in input order")
      ->type_name("FILE")
      ->capture_default_str();
  path_option(*verb, "--run", arguments->run, "The ranking as a TREC run")->type_name("FILE");
  verb->add_option("--tag", arguments->tag, "Last column of the run")->capture_default_str();
  arguments->ranker.add_scoring_to(*verb);
  arguments->ranker.add_engine_to(*verb);
  arguments->discretizer.add_to(*verb);
  arguments->settings.add_to(*verb);
  arguments->reading.add_to(*verb);
  exclude_each_other(*verb, train, model);
}

}  // namespace rulerank::apps
