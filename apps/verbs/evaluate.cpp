#include "eval/evaluate.hpp"

#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/arguments/profile_arguments.hpp"
#include "apps/shared/evaluation/evaluated_systems.hpp"
#include "apps/shared/evaluation/judged_ids.hpp"
#include "apps/shared/options/suggestions.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/named_values.hpp"
#include "core/output_file.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/label_order.hpp"
#include "datasets/scores.hpp"
#include "datasets/trec.hpp"
#include "eval/prediction_powered.hpp"
#include "eval/report.hpp"
#include "knn/fusion.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

namespace fs = std::filesystem;

struct evaluate_options {
  std::vector<std::string> tests;
  std::string folds;
  std::vector<std::string> scores;
  std::string features;
  bool descending = false;
  bool ascending = false;
  std::string qrels;
  std::vector<std::string> runs;
  std::string machine_qrels, human_sample;
  reading_arguments reading;
  profile_arguments profile;
  std::string metrics = "MAP,NDCG@1,NDCG@10";
  bool list_metrics = false;
  std::string average = "folds";
  bool per_fold = false;
  bool per_query = false;
  std::optional<std::string> compare;
  std::optional<std::string> reference;
  std::uint64_t permutations = 100'000;
  std::string holm = "measure";
  CLI::Option* permutations_option = nullptr;
  CLI::Option* holm_option = nullptr;
  std::string format = "table";
  int digits = 4;
  std::string out = "-";
};

/// Parses `1,3-5`, feature names, or `all` (all listed features); ascending.
std::set<std::uint32_t> parse_features(std::string const& text,
                                       std::set<std::uint32_t> const& listed,
                                       datasets::feature_names const& names) {
  if (text == "all") return listed;
  std::set<std::uint32_t> features;
  for (std::string const& part : split_list(text)) {
    if (!names.empty()) {
      auto const at =
          std::ranges::find_if(names, [&](auto const& one) { return one.second == part; });
      if (at == names.end()) {
        std::vector<std::string> known;
        for (auto const& one : names) known.push_back(one.second);
        throw usage_error(
            fmt::format("--feature: found '{}', expected a feature by its name, such as {}{}", part,
                        names.begin()->second, did_you_mean(part, known)));
      }
      features.insert(at->first);
      continue;
    }
    std::size_t const dash = part.find('-');
    auto const first = number_from<std::uint32_t>("--feature", part.substr(0, dash));
    auto const last = dash == std::string::npos
                          ? first
                          : number_from<std::uint32_t>("--feature", part.substr(dash + 1));
    if (last < first || last - first > 1'000'000)
      throw usage_error(fmt::format("--feature: found '{}', expected a rising range", part));
    for (std::uint64_t feature = first; feature <= last; ++feature)
      features.insert(static_cast<std::uint32_t>(feature));
  }
  return features;
}

void check_machine_labels(evaluate_options const& o) {
  if (o.machine_qrels.empty()) {
    if (!o.human_sample.empty()) throw usage_error("--human-sample needs --machine-qrels");
    return;
  }
  if (o.qrels.empty()) throw usage_error("--machine-qrels needs --qrels, the human judgments");
  if (o.human_sample.empty())
    throw usage_error(
        "--machine-qrels needs --human-sample: the queries of --qrels must be a random sample of "
        "those of --machine-qrels; expected random if each was as likely as the others, or a file "
        "with the inclusion probability of each. Documents that reduce or label chose are no "
        "random sample: have all documents of some random queries judged");
  for (auto const& [name, given] :
       {std::pair("--compare", o.compare.has_value()), std::pair("--per-query", o.per_query),
        std::pair("--per-fold", o.per_fold)})
    if (given) throw usage_error(fmt::format("{} cannot be combined with --machine-qrels", name));
}

void check_inputs(session const& owner, evaluate_options const& o) {
  bool const judged = !o.qrels.empty();
  int const sources = (o.tests.empty() ? 0 : 1) + (o.folds.empty() ? 0 : 1) + (judged ? 1 : 0);
  if (sources != 1)
    throw usage_error("expected one of --test, --folds and --qrels, which give the judgments");
  if (judged) {
    if (o.runs.empty()) throw usage_error("--qrels needs --run");
    if (!o.scores.empty() || !o.features.empty())
      throw usage_error(
          "--scores and --feature cannot be combined with --qrels, expected --test or --folds");
  } else {
    if (!o.runs.empty()) throw usage_error("--run needs --qrels");
    if (o.scores.empty() && o.features.empty())
      throw usage_error("--test and --folds need --scores or --feature");
  }
  check_machine_labels(o);
  // Inputs that may be streams; folders cannot, but an empty name is invalid for them too.
  std::vector<session::named_input> inputs{{"--qrels", o.qrels},
                                           {"--machine-qrels", o.machine_qrels}};
  if (o.human_sample != "random") inputs.push_back({"--human-sample", o.human_sample});
  for (std::string const& path : o.tests) inputs.push_back({"--test", path});
  for (std::string const& argument : o.scores)
    for (std::string& path : files_of("--scores", argument, o.folds.empty() ? o.tests.size() : 1))
      inputs.push_back({"--scores", std::move(path)});
  for (std::string const& argument : o.runs)
    inputs.push_back({"--run", files_of("--run", argument, 1).front()});
  o.reading.check_inputs(owner, std::move(inputs));
  if (o.ascending && o.descending)
    throw usage_error("--ascending cannot be combined with --descending");
  if ((o.ascending || o.descending) && o.features.empty())
    throw usage_error("--ascending and --descending need --feature");
}

eval::comparison_options comparison_options_of(evaluate_options const& o) {
  eval::comparison_options options;
  options.paired_t = options.fisher = false;
  if (o.compare)
    for (std::string const& test : split_list(*o.compare))
      (test == "fisher" ? options.fisher : options.paired_t) = true;
  auto const needs = [](bool there, bool given, char const* option, char const* compare) {
    if (given && !there) throw usage_error(fmt::format("{} needs --compare {}", option, compare));
  };
  bool const compares = o.compare.has_value();
  needs(compares, o.reference.has_value(), "--reference", "paired-t, fisher or both");
  needs(compares, o.holm_option->count() > 0, "--holm", "paired-t, fisher or both");
  needs(options.fisher, o.permutations_option->count() > 0, "--permutations", "fisher");
  options.permutations = o.permutations;
  options.family = o.holm == "report" ? eval::holm_family::report : eval::holm_family::measure;
  return options;
}

/// The test set in a fold's folder; test.txt if there is none.
std::string test_file(fs::path const& fold) {
  for (char const* const name : {"test.txt", "test.csv", "test.tsv"}) {
    std::error_code absent;
    if (fs::exists(fold / name, absent)) return (fold / name).string();
  }
  return (fold / "test.txt").string();
}

/// Reads the test sets and the names of their folds. If features are systems, each has the same
/// number in all sets, and the last set has all names.
std::vector<datasets::dataset> read_tests(session& owner, evaluate_options const& o,
                                          std::vector<std::string>& folds) {
  std::vector<std::string> paths = o.tests;
  folds = paths;
  if (!o.folds.empty()) {
    folds = fold_names(o.folds);
    for (std::string const& fold : folds) paths.push_back(test_file(fs::path(o.folds) / fold));
  }
  auto const timer = owner.stage("read");
  std::vector<datasets::dataset> tests;
  for (std::size_t f = 0; f < paths.size(); ++f) {
    tests.push_back(o.reading.read(owner, paths[f], f, reading_arguments::labels::numbers));
    if (f > 0 && !o.features.empty())
      tests[f] = datasets::renumbered(std::move(tests[f]), tests[f - 1].names);
  }
  return tests;
}

/// The score files of a system, one per test set.
std::vector<std::string> score_files(evaluate_options const& o, std::string const& argument,
                                     std::vector<std::string> const& folds) {
  std::vector<std::string> files;
  if (o.folds.empty())
    files = files_of("--scores", argument, folds.size());
  else
    for (std::string const& fold : folds)
      files.push_back(fold_scores(named(argument).second, fold));
  if (files.size() != folds.size())
    throw usage_error(
        fmt::format("--scores {}: found {}, expected {}, one for each --test "
                    "(separated by commas)",
                    argument, counted(files.size(), "file"), folds.size()));
  return files;
}

/// Whether two documents of a query have different labels and equal scores.
bool has_tied_labels(datasets::dataset const& test, std::span<double const> scores) {
  std::vector<std::size_t> order;
  for (datasets::query_group const& query : test.queries) {
    order.resize(query.size());
    std::iota(order.begin(), order.end(), query.begin);
    std::ranges::sort(order, {}, [&](std::size_t d) { return scores[d]; });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (scores[order[i - 1]] == scores[order[i]] &&
          test.labels[order[i - 1]] != test.labels[order[i]])
        return true;
  }
  return false;
}

/// Warns, once, where equal scores keep the order of a file that predicts the labels.
class order_watch {
 public:
  order_watch(session& owner, std::vector<datasets::dataset> const& tests, eval::profile const& p)
      : owner_(owner), tests_(tests) {
    for (datasets::dataset const& test : tests)
      orders_.push_back(p.ties == eval::tie_rule::stable && test.fractional_labels.empty()
                            ? datasets::order_of_labels(test.labels, datasets::query_begin(test))
                            : datasets::label_order{});
  }

  void look_at(std::size_t f, std::span<double const> scores) {
    if (warned_ || !orders_[f].predicts_labels() || !has_tied_labels(tests_[f], scores)) return;
    owner_.warn(
        fmt::format("{}: {}; documents with equal scores keep this order, except with "
                    "--ties average",
                    tests_[f].name, datasets::describe(orders_[f])));
    warned_ = true;
  }

 private:
  session& owner_;
  std::vector<datasets::dataset> const& tests_;
  std::vector<datasets::label_order> orders_;  // [tests]
  bool warned_ = false;
};

/// Systems, and the arguments that name them.
struct judged_systems {
  std::vector<eval::system_values> systems;
  std::vector<std::string> arguments;
};

void evaluate_features(session& owner, evaluate_options const& o,
                       std::vector<datasets::dataset> const& tests,
                       std::vector<eval::measure> const& measures, eval::profile const& p,
                       order_watch& order, judged_systems& judged) {
  std::set<std::uint32_t> listed;
  for (datasets::dataset const& test : tests)
    for (std::uint32_t feature : datasets::listed_features(test)) listed.insert(feature);
  datasets::feature_names const& names = tests.back().names;
  for (std::uint32_t feature : parse_features(o.features, listed, names)) {
    std::string const name = datasets::name_of(feature, names);
    if (!listed.contains(feature))
      owner.warn(fmt::format("no document lists feature {}, so all documents tie", name));
    eval::system_values system{fmt::format("feature {}", name), {}};
    for (std::size_t f = 0; f < tests.size(); ++f) {
      auto const scores = eval::feature_scores(tests[f], feature, o.ascending);
      order.look_at(f, scores);
      system.folds.push_back(eval::evaluate(owner.ctx(), tests[f], scores, measures, p));
    }
    judged.arguments.push_back(system.name);
    judged.systems.push_back(std::move(system));
  }
}

/// With fractional labels, the lowest relevant label must be given.
void expect_threshold(evaluate_options const& o, std::vector<datasets::dataset> const& tests,
                      std::vector<eval::measure> const& measures) {
  if (o.profile.relevant_from) return;
  for (datasets::dataset const& test : tests)
    if (!test.fractional_labels.empty())
      eval::expect_threshold(measures, test.name, "--relevant-from");
}

/// Throws for measures that need linear gains under a profile with other gains.
void expect_linear_gain(std::vector<datasets::dataset> const& tests,
                        std::vector<eval::measure> const& measures, eval::profile const& p) {
  if (p.gain == eval::gain_function::linear) return;
  for (datasets::dataset const& test : tests) {
    if (test.max_label() > eval::largest_label(p))
      throw usage_error(
          fmt::format("found label {} in {}, whose gain exceeds a double; expected labels up to "
                      "{}, or --gain linear",
                      test.max_label(), test.name, eval::largest_label(p)));
    for (eval::measure const& m : measures)
      if (!test.fractional_labels.empty() && m.kind->looked_at == eval::measure_kind::labels::gains)
        throw usage_error(
            fmt::format("{}: exponential gains need whole labels, and {} has fractional labels; "
                        "use --gain linear",
                        m.name(), test.name));
  }
}

/// The requested measures and the share of judged documents among the first 10, unless such a share
/// is requested.
std::vector<eval::measure> with_judged_share(std::vector<eval::measure> measures) {
  eval::measure const share = eval::parse_measure("judged@10");
  if (std::ranges::find(measures, share.kind, &eval::measure::kind) == measures.end())
    measures.push_back(share);
  return measures;
}

bool all_judged(std::vector<datasets::dataset> const& tests) {
  return std::ranges::all_of(tests, [](datasets::dataset const& test) {
    return std::ranges::find(test.labels, datasets::unlabelled) == test.labels.end();
  });
}

/// Removes the last measure if its value is 1 for every query of every system.
void drop_last_where_whole(std::vector<eval::system_values>& systems) {
  auto const last = [](eval::query_values const& v) { return v.column(v.measures.size() - 1); };
  for (eval::system_values const& system : systems)
    for (eval::query_values const& fold : system.folds)
      if (std::ranges::any_of(last(fold), [](double share) { return share < 1; })) return;
  for (eval::system_values& system : systems)
    for (eval::query_values& fold : system.folds) {
      std::size_t const width = fold.measures.size();
      std::vector<double> kept;
      for (std::size_t i = 0; i < fold.values.size(); ++i)
        if (i % width + 1 < width) kept.push_back(fold.values[i]);
      fold.values = std::move(kept);
      fold.measures.pop_back();
    }
}

/// Evaluates the systems of --scores and --feature on the test sets.
void evaluate_scores(session& owner, evaluate_options const& o,
                     std::vector<eval::measure> const& asked, eval::report& report) {
  std::vector<datasets::dataset> const tests = read_tests(owner, o, report.folds);
  // Unjudged documents count as not relevant: report their share.
  std::vector<eval::measure> const measures = all_judged(tests) ? asked : with_judged_share(asked);
  // All folds use the same r_max.
  eval::profile p = report.rules;
  std::int32_t largest = 0;
  for (datasets::dataset const& test : tests) largest = std::max(largest, test.max_label());
  if (!p.max_label) p.max_label = largest;

  expect_threshold(o, tests, measures);
  expect_linear_gain(tests, measures, p);

  auto const timer = owner.stage("evaluate");
  judged_systems judged;
  order_watch order(owner, tests, p);
  for (std::string const& argument : o.scores) {
    std::vector<std::string> const files = score_files(o, argument, report.folds);
    eval::system_values system{named(argument).first, {}};
    for (std::size_t f = 0; f < tests.size(); ++f) {
      auto const scores = datasets::read_scores_of(owner.ctx(), owner.input(files[f]), tests[f]);
      order.look_at(f, scores);
      system.folds.push_back(eval::evaluate(owner.ctx(), tests[f], scores, measures, p));
    }
    judged.systems.push_back(std::move(system));
    judged.arguments.push_back(argument);
  }
  if (!o.features.empty()) evaluate_features(owner, o, tests, measures, p, order, judged);
  make_names_distinct(judged.systems, judged.arguments);
  report.systems = std::move(judged.systems);
}

/// As above, for judgments.
void expect_linear_gain(datasets::qrels const& judgments, eval::profile const& p) {
  std::int32_t const most = eval::largest_label(p);
  for (auto const& query : judgments.queries)
    for (auto const& document : query.documents)
      if (document.label > most)
        throw error({judgments.name, document.line, 0},
                    fmt::format("found label {}, whose gain exceeds a double; expected labels up "
                                "to {}, or --gain linear",
                                document.label, most));
}

/// Evaluates the runs against the judgments.
void evaluate_runs(session& owner, evaluate_options const& o,
                   std::vector<eval::measure> const& asked, eval::report& report) {
  auto const timer = owner.stage("evaluate");
  std::vector<eval::measure> const measures = with_judged_share(asked);
  datasets::qrels const judgments = datasets::read_qrels(
      owner.ctx(), owner.input(o.qrels), [&](std::string const& what) { owner.warn(what); });
  expect_linear_gain(judgments, report.rules);
  report.folds = {o.qrels};
  for (std::string const& argument : o.runs) {
    auto const [name, path] = named(argument);
    datasets::run const run = datasets::read_run(owner.ctx(), owner.input(path));
    if (knn::ascends(run))
      owner.warn(
          fmt::format("{}: scores ascend in each query, as distances do, but the largest score "
                      "counts as the best",
                      run.name));
    report.systems.push_back(
        {name, {eval::evaluate(owner.ctx(), judgments, run, measures, report.rules)}});
    warn_of_ids(owner, judgments, run, report.rules.complete);
  }
  if (measures.size() > asked.size()) drop_last_where_whole(report.systems);
  make_names_distinct(report.systems, o.runs);
}

/// The inclusion probabilities of a file with lines of a query and its probability.
std::map<std::string, double> read_inclusion(context const& ctx, std::string const& path) {
  auto const source = datasets::open_text(ctx, path);
  std::map<std::string, double> probabilities;
  datasets::for_each_line(source->bytes(), [&](std::string_view line, std::uint64_t number) {
    std::size_t const end = line.find_first_of(" \t");
    if (line.find_first_not_of(" \t\r") == line.npos) return;
    std::string const qid(line.substr(0, end));
    std::string word(end == line.npos ? "" : line.substr(end + 1));
    while (!word.empty() && (word.back() == '\r' || word.back() == ' ')) word.pop_back();
    auto const p = read_number<double>(word, {});
    if (!p || !(*p > 0 && *p <= 1))
      throw error({datasets::display_name(path), number, end == line.npos ? 1 : end + 2},
                  fmt::format("found '{}', expected a query and its inclusion probability, more "
                              "than 0 and at most 1",
                              word));
    probabilities[qid] = *p;
  });
  return probabilities;
}

/// A system's values by people's and by the machine's judgments.
struct sampled_system {
  std::string name;
  eval::query_values by_people, by_machine;
};

/// The system `of` minus `from`, query by query.
sampled_system difference(sampled_system of, sampled_system const& from) {
  of.name += " - " + from.name;
  for (auto const& [mine, theirs] :
       {std::pair(&of.by_people, &from.by_people), std::pair(&of.by_machine, &from.by_machine)}) {
    if (mine->qids != theirs->qids)
      throw usage_error(fmt::format(
          "{}: found runs that answer different queries, expected the same; --complete counts a "
          "query without an answer as 0",
          of.name));
    for (std::size_t i = 0; i < mine->values.size(); ++i) mine->values[i] -= theirs->values[i];
  }
  return of;
}

/// The values of a measure, from both kinds of judgments.
eval::two_phase_values two_phases(sampled_system const& system, std::size_t measure,
                                  std::map<std::string, double> const& inclusion,
                                  evaluate_options const& o) {
  eval::query_values const &human = system.by_people, &machine = system.by_machine;
  eval::two_phase_values values{machine.column(measure), {}, human.column(measure), {}};
  for (std::string const& qid : human.qids) {
    auto const at = std::ranges::find(machine.qids, qid);
    if (at == machine.qids.end())
      throw error(
          {o.qrels, 0, 0},
          fmt::format("found query {}, which is not in {}; expected a sample of its queries", qid,
                      o.machine_qrels));
    values.sampled.push_back(static_cast<std::size_t>(at - machine.qids.begin()));
    if (inclusion.empty()) continue;
    auto const p = inclusion.find(qid);
    if (p == inclusion.end())
      throw error({o.human_sample, 0, 0},
                  fmt::format("found no query {}, expected the inclusion probability of each query "
                              "of {}",
                              qid, o.qrels));
    values.probabilities.push_back(p->second);
  }
  return values;
}

/// Reports intervals of the means over all queries of the machine's judgments.
std::string evaluate_sample(session& owner, evaluate_options const& o,
                            std::vector<eval::measure> const& measures, eval::profile const& p,
                            eval::table_format format) {
  auto const timer = owner.stage("evaluate");
  for (eval::measure const& m : measures)
    if (m.kind->averaged == eval::measure_kind::mean::geometric)
      throw usage_error(
          fmt::format("{} is a geometric mean, expected measures whose mean over "
                      "queries is arithmetic",
                      m.name()));
  auto const warn = [&](std::string const& what) { owner.warn(what); };
  auto const human = datasets::read_qrels(owner.ctx(), owner.input(o.qrels), warn);
  auto const machine = datasets::read_qrels(owner.ctx(), owner.input(o.machine_qrels), warn);
  expect_linear_gain(human, p);
  expect_linear_gain(machine, p);
  std::map<std::string, double> inclusion;
  if (o.human_sample != "random")
    inclusion = read_inclusion(owner.ctx(), owner.input(o.human_sample));
  using style = eval::column::style;
  eval::table t;
  t.columns = {{"system"}, {"measure"}};
  for (char const* const name :
       {"mean", "low", "high", "human mean", "human low", "human high", "lambda", "correlation"})
    t.columns.push_back({name, style::fixed, o.digits});
  std::vector<sampled_system> systems;
  for (std::string const& argument : o.runs) {
    auto const [name, path] = named(argument);
    datasets::run const run = datasets::read_run(owner.ctx(), owner.input(path));
    systems.push_back({name, eval::evaluate(owner.ctx(), human, run, measures, p),
                       eval::evaluate(owner.ctx(), machine, run, measures, p)});
  }
  std::size_t const sampled = systems[0].by_people.size(), all = systems[0].by_machine.size();
  for (std::size_t s = 1; s < o.runs.size(); ++s)
    systems.push_back(difference(systems[s], systems[0]));
  for (sampled_system const& system : systems)
    for (std::size_t m = 0; m < measures.size(); ++m) {
      auto const found = eval::estimate_mean(two_phases(system, m, inclusion, o));
      t.rows.push_back({system.name, measures[m].name(), found.powered.mean, found.powered.low,
                        found.powered.high, found.human.mean, found.human.low, found.human.high,
                        found.lambda, found.correlation});
    }
  constexpr std::size_t enough_queries = 20;
  if (sampled < enough_queries)
    owner.warn(
        fmt::format("with {} judged by people the intervals may be too narrow, expected {} "
                    "or more",
                    counted(sampled, "query", "queries"), enough_queries));
  t.title = fmt::format(
      "{} of {} judged by people; 95 % intervals of both kinds of judgments, and "
      "of people's alone",
      sampled, counted(all, "query", "queries"));
  return eval::render(t, format);
}

std::string list_of_measures(eval::table_format format) {
  eval::table t;
  t.columns = {{"measure"}, {"what"}, {"source"}};
  for (eval::measure_kind const* kind : eval::measure_kinds()) {
    std::string name(kind->name);
    if (kind->cut == eval::measure_kind::cutoff::optional) name += "[@k]";
    if (kind->cut == eval::measure_kind::cutoff::required) name += "@k";
    t.rows.push_back({name, kind->summary, kind->citation});
  }
  return eval::render(t, format);
}

/// The index of the system of --reference.
std::size_t system_named(std::string const& name, std::vector<eval::system_values> const& systems) {
  auto const at = std::ranges::find(systems, name, &eval::system_values::name);
  if (at != systems.end()) return static_cast<std::size_t>(at - systems.begin());
  throw unknown_name("--reference: found", name, list_of_names(systems, name_list::one_of));
}

void run_evaluate(session& owner, evaluate_options const& o) {
  eval::table_format const format =
      owner.run.json ? eval::table_format::json : eval::table_format_from(o.format);
  owner.outputs({{"--out", o.out}}, {}, "--out");
  output_file out(o.out);
  if (o.list_metrics) {
    out.write(list_of_measures(format));
    return out.commit();
  }
  check_inputs(owner, o);
  eval::report report;
  report.rules = o.profile.make(o.qrels.empty() ? "letor" : "trec");
  report.compared = comparison_options_of(o);
  report.averaged = o.average == "folds" ? eval::averaging::folds : eval::averaging::queries;
  report.per_fold = o.per_fold;
  report.per_query = o.per_query;
  std::vector<eval::measure> const measures = eval::parse_measures(o.metrics);
  owner.note("profile", eval::describe(report.rules));

  if (!o.machine_qrels.empty()) {
    out.write(evaluate_sample(owner, o, measures, report.rules, format));
    return out.commit();
  }
  if (o.qrels.empty())
    evaluate_scores(owner, o, measures, report);
  else
    evaluate_runs(owner, o, measures, report);

  if (report.compared.paired_t || report.compared.fisher) {
    std::size_t const reference = o.reference ? system_named(*o.reference, report.systems) : 0;
    auto const timer = owner.stage("compare");
    report.comparisons = eval::compare(owner.ctx(), report.systems, reference, report.compared);
  }
  out.write(eval::render(report, format, o.digits));
  out.commit();
}

void add_inputs(CLI::App& verb, evaluate_options& o) {
  help_group const inputs(verb, input_group);
  path_option(verb, "--test T", o.tests,
              "Files with labels (SVMlight, CSV or TSV); several are folds");
  path_option(verb, "--folds DIR", o.folds, "Folder with Fold1/test.txt, Fold2/test.txt, ...");
  path_option(verb, "--scores S", o.scores,
              "Scores of systems: [NAME=]FILE; with several --test [NAME=]FILE,FILE,...; with "
              "--folds [NAME=]DIR that holds Fold1.score, ...");
  value_option(verb, "--feature F", o.features,
               "Features as systems: 12, 1,3-5, all, or a name such as bm25");
  verb.add_flag("--descending", o.descending,
                "Rank the highest value of --feature first (the default)");
  verb.add_flag("--ascending", o.ascending, "Rank the lowest value of --feature first");
  path_option(verb, "--qrels Q", o.qrels, "TREC judgments, for --run");
  path_option(verb, "--run R", o.runs, "TREC runs of systems: [NAME=]FILE");
  path_option(verb, "--machine-qrels FILE", o.machine_qrels,
              "TREC judgments of a program for many queries, of which --qrels has a random sample");
  offer_words(verb,
              value_option(verb, "--human-sample random|FILE", o.human_sample,
                           "How the queries of --qrels were sampled: all equally likely (random), "
                           "or lines of a query and its inclusion probability"),
              {"random"});
}

void add_measures(CLI::App& verb, evaluate_options& o) {
  help_group const judging(verb, "Measures");
  measures_option(verb, "--metrics M,...", o.metrics,
                  "Measures, with cut-offs such as @10 or @1-10; --list-metrics lists them");
  verb.add_flag("--list-metrics", o.list_metrics, "List the measures");
  word_option(verb, "--average", o.average, {"folds", "queries"},
              "Mean over several folds: of the folds' means, or over all queries");
}

void add_comparison(CLI::App& verb, evaluate_options& o) {
  help_group const comparing(verb, "Comparison");
  list_option(verb, "--compare T,...", o.compare, {"paired-t", "fisher"},
              "Significance tests over all queries of all folds: paired-t, fisher or both");
  value_option(verb, "--reference NAME", o.reference, "System to compare the others with")
      ->default_str("the first one");
  o.permutations_option =
      number_option(verb, "--permutations", o.permutations,
                    "Number of random permutations in Fisher's randomization test, 100000 or more",
                    {100'000, std::numeric_limits<std::uint64_t>::max() / 2});
  o.holm_option =
      word_option(verb, "--holm", o.holm, {"measure", "report"},
                  "Holm correction over the systems of each measure, or over the whole report");
}

void add_output(CLI::App& verb, evaluate_options& o) {
  help_group const output(verb, output_group);
  verb.add_flag("--per-fold", o.per_fold, "Print a row for each fold");
  verb.add_flag("--per-query", o.per_query, "Print a row for each query");
  format_option(
      verb, word_option(verb, "--format", o.format, {"table", "tsv", "json", "markdown", "latex"},
                        "Format of the report"));
  number_option(verb, "--digits", o.digits, "Decimal places in table, markdown and latex, 0 to 17",
                {0, 17});
  path_option(verb, "--out", o.out, "Output file of the report; - is standard output");
}

}  // namespace

void add_evaluate(CLI::App& program, session& owner) {
  auto const [verb, o] = add_verb<evaluate_options>(
      program, owner, "evaluate", "Measure the quality of rankings and test the differences",
      "rulerank evaluate --test test.txt --scores base=a.txt new=b.txt --metrics MAP,NDCG@1-10 "
      "--compare paired-t,fisher\n"
      "  measures two files of scores (one number on each line, in the order of test.txt) by "
      "LETOR's "
      "conventions, and tests whether they differ",
      run_evaluate);
  add_inputs(verb, o);
  o.reading.add_to(verb);
  add_measures(verb, o);
  o.profile.add_to(verb);
  add_comparison(verb, o);
  add_output(verb, o);
  usual_options(verb, {"--test", "--scores", "--qrels", "--run", "--folds", "--metrics",
                       "--list-metrics", "--compare", "--per-query", "--format", "--out"});
}

}  // namespace rulerank::apps
