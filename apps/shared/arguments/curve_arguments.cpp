#include "apps/shared/arguments/curve_arguments.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/named_values.hpp"
#include "core/output_file.hpp"
#include "experiment/report_json.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

/// Parses shares such as `1%,2.5%`.
std::vector<double> budgets_from(std::string const& list) {
  std::vector<double> shares;
  for (std::string const& word : split_list(list)) {
    std::string_view digits = word;
    if (digits.ends_with('%')) digits.remove_suffix(1);
    auto const percent = read_number<double>(digits, {0, 100});
    if (!percent || *percent == 0 || !word.ends_with('%'))
      throw usage_error(
          fmt::format("--budgets: found '{}', expected shares such as 1%,2.5%,100%", word));
    if (!shares.empty() && *percent / 100 <= shares.back())
      throw usage_error(fmt::format(
          "--budgets: found '{}' after a share that is not smaller, expected ascending shares",
          word));
    shares.push_back(*percent / 100);
  }
  return shares;
}

// Without --systems, a first result should take minutes.
constexpr char const* first_budgets = "5%,100%";
constexpr char const* first_ways = "chosen,random";
constexpr char const* all_budgets = "1%,2%,5%,10%,25%,100%";
constexpr char const* all_ways = "chosen,random,queries,depth,margin,entropy,variance";

/// The options of the tables by rules.
constexpr std::array<char const*, 13> of_tables{
    "--reduce-size",   "--rank-size",      "--baselines", "--scores",       "--permutations",
    "--tune",          "--settings",       "--engine",    "--cache-memory", "--smoothing",
    "--feature-share", "--support-weight", "--ties"};

constexpr std::array<std::string_view, 2> by_lightgbm{"lightgbm", "ilmart"};

void expect_once(std::string_view option, std::vector<std::string> const& words) {
  for (auto at = words.begin(); at != words.end(); ++at)
    if (std::find(words.begin(), at, *at) != at)
      throw usage_error(fmt::format("{}: found '{}' twice, expected it once", option, *at));
}

}  // namespace

void curve_arguments::add_to(CLI::App& verb) {
  verb_ = &verb;
  help_group const group(verb, "Learning curves");
  list_option(verb, "--systems", systems_, experiment::curve_systems(),
              "Rankers to compare, each trained with shares of the labels: " +
                  list_of_names(experiment::curve_systems()))
      ->default_str("card, joint, rules, feature, and lightgbm if it is installed");
  value_option(verb, "--budgets P%,...", budgets_,
               "Shares of the training documents whose labels are used, in ascending order")
      ->default_str(fmt::format("{}; with --systems {}", first_budgets, all_budgets));
  list_option(verb, "--ways", ways_, experiment::curve_ways(),
              "Selections of the labelled documents: " + list_of_names(experiment::curve_ways()))
      ->default_str(fmt::format("{}; with --systems {}", first_ways, all_ways));
  path_option(verb, "--lightgbm PATH", lightgbm_,
              "LightGBM's library, lib_lightgbm.so of the Python package lightgbm")
      ->default_str("the installed one");
}

bool curve_arguments::asked_for() const {
  return !systems_.empty() ||
         std::ranges::none_of(of_tables, [&](auto name) { return verb_->count(name) > 0; });
}

void curve_arguments::expect_none() const {
  expect_none_of(*verb_, {"--budgets", "--ways", "--lightgbm"}, "{} needs --systems");
}

experiment::curve_options curve_arguments::options(cross_validation_arguments const& a) const {
  expect_none_of(*verb_, {of_tables.begin(), of_tables.end()},
                 "{} cannot be combined with --systems");
  a.tuned.expect_none();
  a.sampler.check();
  experiment::curve_options o;
  bool const is_first = systems_.empty();
  experiment::first_comparison const first = experiment::first_systems(lightgbm_);
  o.systems = is_first ? first.systems : split_list(systems_);
  if (is_first) o.left_out = first.left_out;
  expect_once("--systems", o.systems);
  o.ways = split_list(!ways_.empty() ? ways_ : is_first ? first_ways : all_ways);
  expect_once("--ways", o.ways);
  if (!lightgbm_.empty() && std::ranges::find_first_of(o.systems, by_lightgbm) == o.systems.end())
    throw usage_error(fmt::format("--lightgbm needs {} among --systems ({})",
                                  fmt::join(by_lightgbm, " or "), fmt::join(o.systems, ",")));
  o.budgets = budgets_from(!budgets_.empty() ? budgets_ : is_first ? first_budgets : all_budgets);
  o.draws = a.random_draws;
  o.lightgbm = lightgbm_;
  o.measures = eval::parse_measures(a.metrics);
  o.profile = eval::make_profile(a.profile);
  // A ranker with equal scores must not gain from the order of the file.
  if (o.profile.ties == eval::tie_rule::stable) o.profile.ties = eval::tie_rule::average;
  o.discretizer = a.discretizer.options();
  o.thresholds = a.ranker.options().scoring.thresholds;
  o.partitions = a.sampler.partition_count();
  o.feature_order = a.sampler.order().order;
  o.feature_order_file = a.sampler.order().path;
  o.out_dir = a.out_dir;
  try {
    experiment::check(o);
  } catch (rulerank::error const& e) {  // it opens only the library
    if (lightgbm_.empty()) throw;
    throw error({"--lightgbm", 0, 0}, e.what());
  }
  return o;
}

std::vector<session::named_output> curve_outputs(std::string const& out_dir) {
  std::vector<session::named_output> outputs;
  for (char const* const name : {"curves.tsv", "curves.md", "curves.svg", "manifest.json"})
    outputs.push_back(
        {fmt::format("--out-dir's {}", name), (std::filesystem::path(out_dir) / name).string()});
  return outputs;
}

experiment::curve_results learn_curves(session& owner, cross_validation_arguments const& a,
                                       experiment::curve_options const& options) {
  owner.expect_device_for("--systems", runs_on::cpu);
  experiment::file_folds_options reading = folds_reading(a);
  reading.vali = experiment::needs_validation(options);
  experiment::file_folds const folds(a.folds, reading);
  for (std::string const& path : folds.files()) owner.input(path);
  owner.input(options.feature_order_file);
  experiment::sinks const out{
      .warn = [&](std::string const& message) { owner.warn(message); },
      .note = [&](std::string const& message) { owner.say(message); },
      .stage = [&](std::string_view stage,
                   double seconds) { owner.took(std::string(stage), seconds); },
      .scores = {}};
  bool const writes = owner.ranks().is_first();
  folder_lock const lock = writes ? owner.hold(a.out_dir) : folder_lock();
  experiment::curve_results done =
      experiment::run_curves(owner.ctx(), options, judged_folds(folds), out);
  owner.note("libraries", done.libraries);
  if (!options.left_out.empty()) owner.note("left_out", experiment::to_json(options.left_out));
  if (writes)
    write_file((std::filesystem::path(a.out_dir) / "manifest.json").string(),
               json_text_of(owner.manifest()));
  return done;
}

}  // namespace rulerank::apps
