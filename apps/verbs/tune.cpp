#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/arguments/portability.hpp"
#include "apps/shared/arguments/profile_arguments.hpp"
#include "apps/shared/arguments/ranker_arguments.hpp"
#include "apps/shared/arguments/sampler_arguments.hpp"
#include "apps/shared/arguments/tune_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/machine.hpp"
#include "core/output_file.hpp"
#include "core/process_group.hpp"
#include "core/sha256.hpp"
#include "core/version.hpp"
#include "datasets/svmlight.hpp"
#include "eval/report.hpp"
#include "eval/report_json.hpp"
#include "l2r/model/recommended.hpp"
#include "l2r/rules/ranking_seconds.hpp"
#include "tuning/settings_file.hpp"
#include "tuning/settings_json.hpp"
#include "tuning/tuner.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

struct tune_verb_arguments {
  std::string train;
  std::string vali;
  std::string metrics = "NDCG@10";
  std::string profile = "letor";
  std::string out;
  std::string trials;
  std::string resume;
  std::string format = "table";
  reading_arguments reading;
  discretizer_arguments discretizer;
  tune_arguments tuned;
  ranker_arguments ranker;
};

/// SHA-256 over all inputs of a candidate's values.
std::string fingerprint_of(session const& owner, tune_verb_arguments const& a,
                           eval::profile const& rules) {
  nlohmann::ordered_json json{{"version", version}, {"commit", commit()}};
  for (std::string const& path : {a.train, a.vali, a.discretizer.fitted})
    json["inputs"].push_back(path.empty() ? std::string() : sha256_of_file(path));
  for (std::string const& path : a.reading.group_files)
    json["groups"].push_back(sha256_of_file(path));
  json["zero_based"] = a.reading.zero_based;
  json["regroup"] = a.reading.regroup;
  json["norm"] = a.discretizer.norm;
  json["missing_values"] = a.discretizer.missing;
  json["unlisted"] = a.discretizer.unlisted;
  json["metrics"] = a.metrics;
  json["profile"] = eval::to_json(rules);
  json["cross_fit"] = a.tuned.cross_fit;
  json["seed"] = owner.run.seed;
  return sha256_hex(json.dump());
}

/// The options in the library's types.
struct tune_plan {
  eval::table_format format;
  tuning::search_options search;
  tuning::search_space search_space;
  datasets::discretizer_options discretizer;          ///< method and bins are searched
  std::shared_ptr<datasets::discretizer const> cuts;  ///< given cuts: method and bins are not
                                                      ///< searched
  std::vector<eval::measure> measures;
  eval::profile rules;
  l2r::engine_options engine;
};

bool has_kind(tuning::search_space const& searched, std::string_view kind) {
  return std::ranges::find(searched.kinds, kind) != searched.kinds.end();
}

/// The defaults that a search of one kind is compared with; empty: the recommended members.
std::string own_defaults(tuning::search_space const& searched) {
  if (searched.kinds.size() > 1) return {};
  if (searched.kinds.front() == "rules") return "defaults for rules";
  return searched.kinds.front() == "card" ? "defaults for cards" : "";
}

/// Validates keywords first; then reads given cuts.
tune_plan plan_of(session& owner, tune_verb_arguments const& a) {
  tune_plan plan;
  plan.format = owner.run.json ? eval::table_format::json : eval::table_format_from(a.format);
  plan.search = a.tuned.options();
  plan.discretizer = a.discretizer.options();
  plan.measures = eval::parse_measures(a.metrics);
  plan.rules = eval::make_profile(a.profile);
  plan.engine = a.ranker.engine_options();
  owner.outputs(
      {{"the table", "-"}, {"--out", a.out}, {"--trials", a.trials}, {"--resume", a.resume}});
  a.reading.check_inputs(
      owner, {{"--train", a.train}, {"--vali", a.vali}, {"--discretizer", a.discretizer.fitted}});
  plan.search_space = a.tuned.search_space();
  if (!a.discretizer.fitted.empty()) {
    plan.cuts = std::make_shared<datasets::discretizer const>(
        datasets::read_discretizer(owner.input(a.discretizer.fitted)));
    plan.search_space.methods = {plan.cuts->options.method};
    plan.search_space.bins = {plan.cuts->options.bins};
    plan.search_space.card_bins = plan.search_space.bins;
  }
  if (!has_kind(plan.search_space, "rules"))
    a.ranker.expect_no_engine(fmt::format("needs rules among --kinds ({})", a.tuned.kinds));
  return plan;
}

/// The models that tuning is compared with.
struct comparisons {
  std::vector<tuning::candidate> defaults;  ///< kept if tuning gained nothing over them
  std::vector<tuning::candidate> fit;       ///< fit's choice, if not the defaults
  std::string fit_words;
};

/// Sets the options that are not searched from the command line.
void complete(tune_plan const& plan, tuning::candidate& one) {
  if (one.linear) {
    one.linear->missing = plan.discretizer.missing;
    one.linear->unlisted = plan.discretizer.unlisted;
  }
  if (!one.recipe) return;
  auto const set = [&plan](auto& recipe) {
    recipe.discretizer.missing = plan.discretizer.missing;
    recipe.discretizer.unlisted = plan.discretizer.unlisted;
    if (plan.search_space.norms.empty()) recipe.discretizer.norm = plan.discretizer.norm;
    recipe.cuts = plan.cuts;
  };
  if (auto* const card = std::get_if<l2r::scorecard_recipe>(&*one.recipe)) set(*card);
  if (auto* const joint = std::get_if<l2r::joint_recipe>(&*one.recipe)) set(*joint);
  if (plan.cuts) one.cuts = {plan.cuts->options.method, plan.cuts->options.bins, {}};
}

/// The defaults are the program's if all candidates are rules or all are cards, else the
/// recommended members for these training documents.
comparisons comparisons_of(session& owner, tune_verb_arguments const& a, tune_plan const& plan,
                           datasets::dataset const& train) {
  comparisons all;
  if (!own_defaults(plan.search_space).empty()) {
    if (has_kind(plan.search_space, "rules"))
      all.defaults.emplace_back();
    else
      all.defaults.push_back(tuning::candidate_of(l2r::card_recipe()));
    complete(plan, all.defaults[0]);
    if (plan.cuts) all.defaults[0].cuts = {plan.cuts->options.method, plan.cuts->options.bins, {}};
    l2r::recommendation const found =
        l2r::recommend(l2r::count_labels(train), plan.discretizer, plan.cuts);
    for (l2r::recipe const& one : found.recipes) all.fit.push_back(tuning::candidate_of(one));
    all.fit_words = found.members;
  } else {
    for (l2r::recipe const& one : recommended_recipes(owner, train, a.discretizer, plan.cuts))
      all.defaults.push_back(tuning::candidate_of(one));
  }
  for (std::vector<tuning::candidate>* const several : {&all.defaults, &all.fit})
    for (tuning::candidate& one : *several)
      if (!plan.search_space.norms.empty() && !one.linear) one.cuts.norm = plan.discretizer.norm;
  return all;
}

tuning::prepared prepare(session& owner, tune_plan const& plan, datasets::dataset const& train,
                         datasets::dataset const& vali, tuning::cuts const& by) {
  auto const timer = owner.stage("discretize");
  context const alone = without_processes(owner.ctx());  // within a trial of this rank
  datasets::discretizer_options wanted = plan.discretizer;
  wanted.method = by.method;
  wanted.bins = by.bins;
  wanted.norm = by.norm.value_or(wanted.norm);
  datasets::discretizer const fitted =
      plan.cuts ? *plan.cuts : datasets::fit_discretizer(alone, train, wanted);
  tuning::prepared items{datasets::apply_discretizer(alone, train, fitted),
                         datasets::apply_discretizer(alone, vali, fitted)};
  datasets::expect_items(train, items.training);
  return items;
}

/// fit's result next to the choice; null if it is the defaults.
nlohmann::ordered_json fit_json(tuning::tuner const& tuner, tuning::search_result const& result,
                                std::vector<eval::measure> const& measures) {
  if (!result.beside) return nullptr;
  tuning::against_defaults const& of = *result.beside;
  nlohmann::ordered_json json{{"at_least_as_good", of.kept},
                              {"gain", of.gain.mean},
                              {"low", of.gain.low},
                              {"high", of.gain.high},
                              {"validation", eval::by_measure(measures, of.values)}};
  for (std::size_t const c : of.candidates)
    json["members"].push_back(to_json(tuner.candidates()[c]));
  return json;
}

void write_results(session& owner, tune_verb_arguments const& a, eval::table_format format,
                   eval::table const& table, nlohmann::ordered_json const& best,
                   nlohmann::ordered_json const& fit) {
  owner.meet();
  if (!owner.ranks().is_first()) return;
  std::vector<output_file> written;  // committed together: all files or none
  if (!a.trials.empty())
    written.emplace_back(a.trials).write(eval::render(table, eval::table_format::tsv));
  if (!a.out.empty()) written.emplace_back(a.out).write(json_text_of(best));
  for (output_file& file : written) file.flush();
  for (output_file& file : written) file.commit();
  if (format == eval::table_format::json) {
    nlohmann::ordered_json all{{"best", best}, {"trials", eval::to_json(table)}};
    if (!fit.is_null()) all["fit"] = fit;
    write_file("-", json_text_of(all));
  } else {
    write_file("-", eval::render(table, format));
  }
}

std::string interval_text(tuning::against_defaults const& of, eval::measure const& by) {
  return fmt::format("{:+.4f} {} [{:+.4f}, {:+.4f}]", of.gain.mean, by.name(), of.gain.low,
                     of.gain.high);
}

/// One line: the gain of tuning on the queries that it chose by.
std::string gain_text(tuning::against_defaults const& of, eval::measure const& by,
                      std::string_view defaults) {
  std::string const gain = interval_text(of, by);
  std::string const queries = counted(of.queries, "query", "queries");
  if (of.kept)
    return fmt::format(
        "tuning gained nothing over the {}, which are kept: {} on the {} of the validation set",
        defaults, gain, queries);
  return fmt::format("tuning gained {} over the {} on the {} of the validation set: {}", gain,
                     defaults, queries, of.gain.low > 0 ? "significant" : "not significant");
}

/// One line: the difference between the chosen rules or cards and fit without settings.
std::string beside_fit_text(tuning::against_defaults const& of, eval::measure const& by,
                            std::string const& members) {
  std::string const whole =
      fmt::format("difference to the recommended members ({}): {}", members, interval_text(of, by));
  if (of.kept)
    return whole +
           "; the recommended members are at least as good on these queries: use fit --members "
           "recommended, or tune --kinds rules,scorecard,linear";
  return fmt::format("{}, {}", whole, of.gain.low > 0 ? "significant" : "not significant");
}

/// What `c` fits.
l2r::recipe recipe_of(tune_plan const& plan, tuning::candidate const& c) {
  if (c.recipe) return *c.recipe;
  if (c.linear) return l2r::linear_recipe{*c.linear};
  datasets::discretizer_options how = plan.discretizer;
  how.norm = c.cuts.norm.value_or(how.norm);
  if (c.scorecard) return l2r::scorecard_recipe{how, plan.cuts, *c.scorecard};
  return l2r::rules_recipe{how, plan.cuts, c.scoring};
}

void tune(session& owner, tune_verb_arguments const& a) {
  tune_plan const plan = plan_of(owner, a);
  datasets::dataset train, vali;
  {
    auto const timer = owner.stage("read");
    train = a.reading.read_judged(owner, a.train, "learn from");
    vali = a.reading.read_judged(owner, a.vali, "choose by", 1);
  }
  datasets::warn_of_lacking_features(vali, train.names,
                                     (plan.cuts ? plan.cuts->options : plan.discretizer).unlisted,
                                     [&owner](std::string const& message) { owner.warn(message); });
  std::vector<tuning::candidate> candidates = tuning::candidates_of(plan.search_space);
  for (tuning::candidate& one : candidates) complete(plan, one);
  auto const by_rules = std::ranges::count_if(
      candidates, [](tuning::candidate const& one) { return kind_of(one) == "rules"; });
  comparisons const compared = comparisons_of(owner, a, plan, train);
  owner.choose_device(
      places_of(l2r::engines(), plan.engine.engine),
      static_cast<double>(by_rules) *
          l2r::ranking_seconds(static_cast<double>(train.size()), static_cast<double>(vali.size()),
                               static_cast<double>(datasets::listed_features(train).size()),
                               *std::ranges::max_element(plan.search_space.rule_sizes)));
  tuning::tuner tuner(owner.ctx(), vali, candidates, plan.measures, plan.rules,
                      [&](tuning::cuts const& by) { return prepare(owner, plan, train, vali, by); },
                      plan.engine, {a.tuned.cross_fit, &train});
  bool const writes = owner.ranks().is_first();
  bool const has_file = writes && !a.resume.empty();
  tuning::trials_file trials(tuner, has_file ? a.resume : "",
                             has_file ? fingerprint_of(owner, a, plan.rules) : "");
  if (trials.found() > 0)
    owner.say(fmt::format("{}: kept {} that an earlier run tried", a.resume,
                          counted(trials.found(), "candidate")));
  tuning::search_result result;
  {
    auto const timer = owner.stage("tune");
    result = trials.search(owner.ctx(), 0, plan.search, compared.defaults, compared.fit);
  }
  auto const best = tuning::best_settings(
      owner.ctx(), tuner, result, 0, plan.search, plan.rules,
      plan.cuts ? std::nullopt : std::optional<datasets::discretizer_options>(plan.discretizer));
  owner.note("best", best);
  std::vector<l2r::recipe> chosen;
  for (std::size_t const t : result.chosen)
    chosen.push_back(recipe_of(plan, tuner.candidates()[result.trials[t].candidate]));
  note_portability(owner, l2r::portability_of(chosen, train), "the chosen settings are ");
  std::string const own = own_defaults(plan.search_space);
  owner.say(gain_text(*result.compared, plan.measures.front(),
                      own.empty() ? "recommended members" : own));
  auto const fit = fit_json(tuner, result, plan.measures);
  if (result.beside) {
    owner.note("fit", fit);
    owner.say(beside_fit_text(*result.beside, plan.measures.front(), compared.fit_words));
  }
  write_results(owner, a, plan.format, tuning::trials_table(tuner, result, 0, plan.search.rungs),
                best, fit);
}

}  // namespace

void add_tune(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<tune_verb_arguments>(
      program, owner, "tune", "Choose settings of the ranker on a validation set",
      "rulerank tune --train Fold1/train.txt --vali Fold1/vali.txt --metrics MAP --out best.json\n"
      "  tries bins of features and scores of rules by successive halving; use the result by\n"
      "rulerank rank --train Fold1/train.txt --test Fold1/test.txt --settings best.json",
      tune);
  runs_over_ranks(verb);
  {
    help_group const group(verb, input_group);
    path_option(verb, "--train,TRAIN", a.train, "Training documents (SVMlight, CSV or TSV)")
        ->required();
    path_option(verb, "--vali", a.vali, "Validation documents, which the chosen settings rank best")
        ->required();
  }
  {
    help_group const group(verb, "Measures");
    renamed_option(verb, "--metric", "0.1.0",
                   measures_option(verb, "--metrics M,...", a.metrics,
                                   "Measures, as in evaluate; the first one decides"));
    add_profile(verb, a.profile);
  }
  {
    help_group const group(verb, output_group);
    path_option(verb, "--out S.json", a.out,
                "Output file of the best settings, for --settings of rank, fit and experiment");
    path_option(verb, "--trials T.tsv", a.trials, "Output table of all trials");
    path_option(verb, "--resume STATE", a.resume,
                "File that keeps the trials; the next run continues from it, also with a larger "
                "budget");
    format_option(
        verb, word_option(verb, "--format", a.format, {"table", "tsv", "json", "markdown", "latex"},
                          "Format of standard output"));
  }
  a.tuned.add_to(verb, tune_arguments::searched::everything);
  a.ranker.add_engine_to(verb);
  a.discretizer.add_to(verb);
  for (char const* const tried : {"--method", "--bins"}) verb.remove_option(verb.get_option(tried));
  CLI::Option* const read = verb.get_option("--discretizer");
  for (char const* const tried : {"--try-method", "--try-bins", "--try-norm", "--try-card-bins"})
    read->excludes(verb.get_option(tried));
  verb.get_option("--norm")->excludes(verb.get_option("--try-norm"));
  a.reading.add_to(verb);
  a.reading.add_drop_unjudged_to(verb);
  usual_options(verb, {"--train", "--vali", "--metrics", "--kinds", "--budget", "--search",
                       "--combine", "--out", "--trials", "--resume"});
}

}  // namespace rulerank::apps
