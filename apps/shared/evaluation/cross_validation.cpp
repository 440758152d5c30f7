#include "apps/shared/evaluation/cross_validation.hpp"

#include "al/sampling_seconds.hpp"
#include "apps/shared/arguments/portability.hpp"
#include "apps/shared/arguments/profile_arguments.hpp"
#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "l2r/rules/ranking_seconds.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

std::vector<eval::measure> distinct_measures(std::string_view option, std::string const& list) {
  std::vector<eval::measure> const measures = eval::parse_measures(list);
  for (auto m = measures.begin(); m != measures.end(); ++m)
    if (std::find(measures.begin(), m, *m) != m)
      throw usage_error(fmt::format("{}: {} is given twice", option, m->name()));
  return measures;
}

std::vector<std::string> words_of(std::string const& list) {
  return list == "none" ? std::vector<std::string>() : split_list(list);
}

void set_baselines(experiment::settings& s, std::string const& list) {
  s.full = s.random = s.feature = false;
  for (std::string const& word : words_of(list)) {
    if (word == "full")
      s.full = true;
    else if (word == "random")
      s.random = true;
    else if (word == "feature")
      s.feature = true;
    else
      throw usage_error(fmt::format(
          "--baselines: found '{}', expected none, or some of full, random and feature", word));
  }
}

/// Parses distinct rule sizes from 2 on, such as `3,4`; `none` alone: no size.
std::vector<rules::rule_size> rule_sizes_from(std::string_view option, std::string const& list) {
  constexpr std::uint32_t largest_rule = 64;
  std::vector<rules::rule_size> sizes;
  for (std::string const& word : words_of(list)) {
    auto const size = read_number<rules::rule_size>(word, {2, largest_rule});
    if (!size)
      throw usage_error(fmt::format("{}: found '{}', expected rule sizes from 2 to {}, or none",
                                    option, word, largest_rule));
    if (std::find(sizes.begin(), sizes.end(), *size) != sizes.end())
      throw usage_error(fmt::format("{}: {} is given twice", option, *size));
    sizes.push_back(*size);
  }
  return sizes;
}

/// Parses `NAME=FOLDER`.
experiment::outside_folder outside_from(std::string const& text) {
  std::size_t const equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw usage_error(fmt::format("--scores: found '{}', expected NAME=FOLDER", text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

experiment::ranking_settings ranking_of(discretizer_arguments const& discretizer,
                                        ranker_arguments const& ranker) {
  return {discretizer.options(), ranker.options().scoring};
}

/// Sets the members of --settings. If some are not rules, sampling uses the cuts and rules of the
/// first member of rules, or of the command line if there is none.
void set_members(experiment::settings& s, cross_validation_arguments const& a) {
  s.members.clear();
  for (ranker_recipe const& member : a.members)
    if (member.kind == "rules") s.members.push_back(ranking_of(member.discretizer, member.ranker));
  bool const has_rules = !s.members.empty() || a.members.empty();
  if (s.members.empty()) s.members.push_back(ranking_of(a.discretizer, a.ranker));
  if (std::ranges::any_of(a.members, [](auto const& one) { return one.kind != "rules"; })) {
    s.members.resize(1);
    for (ranker_recipe const& member : a.members) s.recipes.push_back(recipe_of(member));
  }
  if (a.own_rank_sizes) {
    bool const one_rule_size = s.members.size() == 1 && s.recipes.empty();
    s.rank_sizes = {one_rule_size ? s.members.front().scoring.rule_size : 0};
  } else if (!has_rules && !s.rank_sizes.empty()) {
    throw usage_error("--rank-size needs a member of the kind rules in --settings");
  }
}

experiment::settings settings_of(cross_validation_arguments const& a) {
  experiment::settings s;
  s.reduce_sizes = rule_sizes_from("--reduce-size", a.reduce_sizes);
  s.rank_sizes = rule_sizes_from("--rank-size", a.rank_sizes);
  set_baselines(s, a.baselines);
  s.random_draws = a.random_draws;
  for (std::string const& text : a.scores) s.outside.push_back(outside_from(text).name);
  s.measures = distinct_measures("--metrics", a.metrics);
  s.profile = eval::make_profile(a.profile);
  set_members(s, a);
  a.sampler.check();
  s.partitions = a.sampler.partition_count();
  s.seeded_ties = a.sampler.ties == "seeded";
  s.feature_order = a.sampler.order().order;
  s.feature_order_file = a.sampler.order().path;
  if (a.tune.empty())
    a.tuned.expect_none();
  else
    s.tune = {distinct_measures("--tune", a.tune), a.tuned.search_space(), a.tuned.options(),
              a.tuned.cross_fit};
  return s;
}

experiment::file_folds_options file_options_of(cross_validation_arguments const& a,
                                               experiment::settings const& s) {
  experiment::file_folds_options options = folds_reading(a);
  options.vali = experiment::needs_validation(s);
  for (std::string const& text : a.scores) options.outside.push_back(outside_from(text));
  return options;
}

/// Folds that choose the device when the first training set is read, from the work of all folds.
class sized_folds final : public judged_folds {
 public:
  sized_folds(session& owner, experiment::options const& options,
              experiment::fold_source const& folds)
      : judged_folds(folds), owner_(owner), options_(options) {}

  datasets::dataset read(context const& ctx, std::size_t fold, experiment::fold_set which,
                         experiment::message_fn const& warn) const override {
    datasets::dataset data = judged_folds::read(ctx, fold, which, warn);
    if (which == experiment::fold_set::test) tests_ += data.size();
    if (which == experiment::fold_set::train && !std::exchange(chosen_, true)) choose(data);
    return data;
  }

 private:
  void choose(datasets::dataset const& train) const {
    say_portability(train);
    auto const documents = static_cast<double>(train.size());
    auto const features = static_cast<double>(datasets::listed_features(train).size());
    double seconds = 0;
    for (rules::rule_size const size : options_.settings.rank_sizes)
      seconds += l2r::ranking_seconds(documents, static_cast<double>(tests_), features, size);
    seconds += static_cast<double>(size() * options_.settings.reduce_sizes.size()) *
               al::sampling_seconds(documents, features);
    owner_.choose_device(places_of(l2r::engines(), options_.engine.engine), seconds);
  }

  void say_portability(datasets::dataset const& train) const {
    if (options_.settings.rank_sizes.empty()) return;
    std::vector<l2r::recipe> recipes = options_.settings.recipes;
    if (recipes.empty())
      for (experiment::ranking_settings const& one : options_.settings.members)
        recipes.push_back(l2r::rules_recipe{one.discretizer, nullptr, one.scoring});
    note_portability(owner_, l2r::portability_of(recipes, train), "the compared rankers are ");
  }

  session& owner_;
  experiment::options const& options_;
  // Calls of `read` do not overlap.
  mutable std::size_t tests_ = 0;  ///< number of documents of all test sets
  mutable bool chosen_ = false;
};

/// Adds a cross-validation's results to the manifest.
void note_results(session& owner, experiment::results const& done) {
  if (!done.engines.empty()) owner.note("engine", done.engines);
  nlohmann::ordered_json times = nlohmann::ordered_json::object();
  for (experiment::fold_time const& fold : done.times)
    times[fold.name] = fold.seconds ? nlohmann::ordered_json(*fold.seconds)
                                    : nlohmann::ordered_json("finished by an earlier run");
  owner.note("fold_seconds", times);
}

}  // namespace

std::vector<session::named_output> outputs_of(cross_validation_arguments const& a) {
  std::vector<session::named_output> outputs;
  for (char const* const name : {"table.md", "table.tex", "results.json", "manifest.json"})
    outputs.push_back(
        {fmt::format("--out-dir's {}", name), (std::filesystem::path(a.out_dir) / name).string()});
  return outputs;
}

experiment::options options_of(cross_validation_arguments const& a) {
  experiment::options options;
  options.settings = settings_of(a);
  options.engine = a.ranker.engine_options();
  options.compared.permutations = a.permutations;
  options.out_dir = a.out_dir;
  experiment::check(options.settings);
  return options;
}

datasets::dataset judged_folds::read(context const& ctx, std::size_t fold,
                                     experiment::fold_set which,
                                     experiment::message_fn const& warn) const {
  datasets::dataset data = folds_.read(ctx, fold, which, warn);
  if (which == experiment::fold_set::train) expect_judged(data, "learn from");
  if (which == experiment::fold_set::vali) expect_judged(data, "choose by");
  return data;
}

experiment::file_folds_options folds_reading(cross_validation_arguments const& a) {
  experiment::file_folds_options options;
  options.reading = a.reading.options();
  options.reading.group_file.clear();
  options.drop_unlabelled = a.reading.drop_unjudged;
  options.group_files = a.reading.group_files;
  return options;
}

experiment::results cross_validate(session& owner, cross_validation_arguments const& a) {
  experiment::file_folds const folds(a.folds, file_options_of(a, options_of(a).settings));
  for (std::string const& path : folds.files()) owner.input(path);
  return cross_validate(owner, a, folds);
}

experiment::results cross_validate(session& owner, cross_validation_arguments const& a,
                                   experiment::fold_source const& folds,
                                   decltype(experiment::sinks::scores) scores) {
  owner.input(a.sampler.feature_order_file());
  owner.note("ties", a.sampler.ties);
  experiment::sinks const out{
      .warn = [&](std::string const& message) { owner.warn(message); },
      .note = [&](std::string const& message) { owner.say(message); },
      .stage = [&](std::string_view stage,
                   double seconds) { owner.took(std::string(stage), seconds); },
      .scores = std::move(scores)};
  experiment::options const options = options_of(a);
  bool const writes = owner.ranks().is_first();
  folder_lock const lock = writes ? owner.hold(a.out_dir) : folder_lock();
  experiment::results done =
      experiment::run(owner.ctx(), options, sized_folds(owner, options, folds), out);
  note_results(owner, done);
  if (writes)
    write_file((std::filesystem::path(a.out_dir) / "manifest.json").string(),
               json_text_of(owner.manifest()));
  return done;
}

void add_cross_validation_to(CLI::App& verb, cross_validation_arguments& a) {
  help_group const systems(verb, "Systems");
  value_option(verb, "--reduce-size A,...", a.reduce_sizes,
               "Sizes of the largest rules that choose training documents, the label included; "
               "none: no reduced training sets");
  value_option(verb, "--rank-size B,...", a.rank_sizes,
               "Sizes of the largest rules that rank, the label included, or none");
  list_option(verb, "--baselines A,...", a.baselines, {"full", "random", "feature", "none"},
              "Baselines: rules of all training documents (full), of random samples as large as "
              "the chosen ones (random), the best single feature on the validation set (feature), "
              "or none");
  number_option(verb, "--random-draws", a.random_draws,
                "Number of random samples; the tables show their mean", {1, 1'000'000});
  path_option(verb, "--scores NAME=DIR", a.scores,
              "Systems with external scores: DIR/Fold1.score (.scores, .txt), ...");
  {
    help_group const judging(verb, "Measures");
    measures_option(verb, "--metrics M,...", a.metrics,
                    "Measures, as in evaluate; the first one also chooses the single feature");
    add_profile(verb, a.profile);
    number_option(verb, "--permutations", a.permutations,
                  "Number of random permutations in Fisher's randomization test",
                  {1, 1'000'000'000});
  }
  format_option(
      verb, word_option(verb, "--format", a.format, {"table", "tsv", "json", "markdown", "latex"},
                        "Format of standard output"))
      ->group(output_group);
  measures_option(verb, "--tune M,...", a.tune,
                  "Add rankers tuned on each validation set, one for each of these measures");
  a.tuned.add_to(verb);
  a.ranker.add_scoring_to(verb);
  verb.remove_option(verb.get_option("--rule-size"));  // replaced by --reduce-size and --rank-size
  a.sampler.add_partitioning_to(verb);
  a.ranker.add_engine_to(verb);
  a.discretizer.add_to(verb, discretizer_arguments::fitted_cuts::refused);
  help_group const sampling(verb, "Sampling");
  a.sampler.add_ties_to(verb);
}

}  // namespace rulerank::apps
