#include "apps/shared/arguments.hpp"
#include "apps/shared/ranker_arguments.hpp"
#include "apps/shared/settings_argument.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/scores.hpp"
#include "datasets/trec.hpp"
#include "l2r/combination.hpp"
#include "l2r/model.hpp"
#include "l2r/ranker.hpp"

#include <memory>
#include <optional>

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

/// The scores and the run of a verb, and how many there were.
class answers {
 public:
  answers(session& owner, rank_arguments const& arguments)
      : owner_(owner), scores_(arguments.out), tag_(arguments.tag) {
    if (!arguments.run.empty()) run_.emplace(arguments.run);
  }

  void write(datasets::dataset const& test, l2r::scored const& result) {
    auto const timer = owner_.stage("write");
    datasets::write_scores(test, result.scores, scores_);
    if (run_) {
      // A stream tells its queries one by one: from the first repeated docid on, lines name them.
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
    flush();  // a disk that is full for one of them leaves neither in its place
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

/// One ranker, or several that rank together.
class committee {
 public:
  explicit committee(session& owner) : owner_(owner) {}

  void add(l2r::model const& m, l2r::ranker_options const& options) {
    {
      auto const timer = owner_.stage("prepare");
      members_.push_back({m.discretizer, l2r::ranker(owner_.ctx(), m.training, options)});
    }
    if (members_.size() == 1) note_ranker(owner_, options, engine(), m.training);
    if (members_.size() > 1) owner_.note("members", members_.size());  // the settings file has them
  }
  l2r::scored score(datasets::dataset const& test) {
    l2r::scored all;
    std::vector<std::vector<double>> scores;
    for (auto& [cuts, ranker] : members_) {
      datasets::binned_dataset binned;
      {
        auto const timer = owner_.stage("discretise");
        binned = datasets::apply_discretizer(owner_.ctx(), test, cuts);
      }
      auto const timer = owner_.stage("rank");
      l2r::scored one = ranker.score(owner_.ctx(), binned);
      scores.push_back(std::move(one.scores));
      all.cache_hits += one.cache_hits;
      all.cache_misses += one.cache_misses;
      all.prefix_lookups += one.prefix_lookups;
    }
    all.scores = l2r::combine(test.queries, scores);
    return all;
  }
  l2r::engine engine() const { return members_.front().ranker.engine(); }

 private:
  struct member {
    datasets::discretizer cuts;
    l2r::ranker ranker;
  };
  session& owner_;
  std::vector<member> members_;
};

void rank(session& owner, rank_arguments const& arguments) {
  bool const fitted = !arguments.model.empty();
  if (fitted == !arguments.train.empty())
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
  std::vector<ranker_recipe> const recipes =
      arguments.settings.recipes(owner, {arguments.discretizer, arguments.ranker});
  for (auto const& [discretizer, ranker] : recipes) {  // refuses wrong words before the work
    ranker.options();
    if (!fitted) discretizer.options();
  }
  answers out(owner, arguments);  // an output that cannot be written fails before the work
  committee rankers(owner);
  if (fitted) {
    l2r::model m;
    {
      auto const timer = owner.stage("read");
      m = l2r::read_model(owner.input(arguments.model));
    }
    rankers.add(m, arguments.ranker.options(m.options, arguments.model));
  } else {
    datasets::dataset const train = read_training(owner, arguments.train, arguments.reading);
    for (auto const& [discretizer, ranker] : recipes)
      rankers.add(make_model(owner, train, discretizer, ranker.options()), ranker.options());
  }
  auto answer = [&](datasets::dataset const& test) { out.write(test, rankers.score(test)); };
  std::size_t const test_input = fitted ? 0 : 1;
  if (arguments.test == "-") {
    auto const how = arguments.reading.options(test_input);
    owner.input(how.group_file);
    owner.input(arguments.test);
    datasets::stream_svmlight(
        owner.ctx(), STDIN_FILENO, "standard input", how,
        [&](datasets::dataset const& query) {
          answer(query);
          out.flush();
        },
        [&](std::string const& message) { owner.warn(message); });
  } else {
    datasets::dataset test;
    {
      auto const timer = owner.stage("read");
      test = arguments.reading.read(owner, arguments.test, test_input);
    }
    answer(test);
  }
  out.commit();
  nlohmann::ordered_json const summary = out.summary();
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  if (owner.prints_json()) {
    nlohmann::ordered_json json;
    json["scores"] = arguments.out;
    json["engine"] = l2r::name_of(rankers.engine());
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
              "Documents to rank; -: standard input, each query answered when it is complete")
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
