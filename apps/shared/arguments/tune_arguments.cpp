#include "apps/shared/arguments/tune_arguments.hpp"

#include "apps/shared/arguments/member_arguments.hpp"
#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "datasets/discretizer.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rulerank::inline v0::apps {

namespace {

constexpr char const* tuning_group = "Tuning";

/// Applies `read` to each word of a list.
template <class Read>
auto values_from(std::string const& list, Read const& read) {
  std::vector<decltype(read(list))> values;
  for (std::string const& word : split_list(list)) values.push_back(read(word));
  return values;
}

template <class Value>
std::vector<Value> numbers_from(std::string_view option, std::string const& list) {
  return values_from(list,
                     [&](std::string const& word) { return number_from<Value>(option, word); });
}

}  // namespace

void tune_arguments::add_to(CLI::App& verb, searched what) {
  verb_ = &verb;
  help_group const group(verb, tuning_group);
  if (what == searched::everything) add_kinds_to(verb);
  list_option(verb, "--try-method", methods, {"tube", "width", "frequency"},
              "Values of --method to try: tube, width, frequency");
  value_option(verb, "--try-bins A,...", bins, "Values of --bins to try: 2 to 250, or cv");
  value_option(verb, "--try-rule-size A,...", rule_sizes,
               "rules: values of --rule-size to try, the label included");
  value_option(verb, "--try-min-support A,...", min_supports,
               "rules: fewest training documents in which a rule holds, values to try");
  value_option(verb, "--try-min-confidence A,...", min_confidences,
               "rules: smallest confidences of a rule to try");
  value_option(verb, "--try-support-weight A,...", support_weights,
               "rules: values W to try; an itemset in n training documents weighs n^W");
  value_option(verb, "--try-smoothing A,...", smoothings,
               "rules: values A to try in the confidence (n_r + A prior_r) / (n + A)");
  value_option(verb, "--try-feature-share A,...", feature_shares,
               "rules: shares of the features to try, those that predict the label best");
  number_option(verb, "--cross-fit K", cross_fit,
                "Judge by the training queries too, in K folds, each ranked by the rules of the "
                "others; 0: by the validation queries only",
                {0, 1000});
  number_option(verb, "--combine", members,
                "Number of best candidates that rank together, by the mean of their scores "
                "standardized within the query, 1 to 1000",
                {1, 1000});
  word_option(verb, "--search", search, {"grid", "halving"},
              "Search: every candidate on all queries (grid), or all candidates on a share of the "
              "queries and the best again on more (halving)");
  number_option(verb, "--rungs K", rungs,
                "halving: number of rounds, 1 to 20; the last one has all queries", {1, 20});
  number_option(verb, "--keep", keep,
                "halving: one of N candidates stays for the next round, which has N times the "
                "queries; N from 2 to 1000",
                {2, 1000});
  value_option(verb, "--budget N|Ns|none", budget,
               "Limit of the search: trials, such as 200, or seconds, such as 60s; the final "
               "comparison with the defaults is not counted");
}

void tune_arguments::add_kinds_to(CLI::App& verb) {
  list_option(verb, "--kinds KIND,...", kinds,
              {"rules", "scorecard", "linear", card_member, "joint"},
              "Kinds of rankers to choose from: rules, scorecard, linear, card, joint");
  list_option(verb, "--try-norm", norms, {"none", "query-minmax", "query-zscore"},
              "Values of --norm to try: none, query-minmax, query-zscore; the time is in "
              "proportion to their number")
      ->default_str("that of --norm");
  list_option(verb, "--try-loss", losses, {"pair", "list", "point"},
              "scorecard: losses to try: pair, list, point");
  value_option(verb, "--try-points-penalty A,...", points_penalties,
               "scorecard: values of --points-penalty to try");
  value_option(verb, "--try-smoothness A,...", smoothnesses,
               "scorecard: values of --smoothness to try");
  expect_read(
      verb,
      value_option(verb, "--try-strength A,...", strengths,
                   "linear: values of --strength to try, or cross-fit: chosen by folds of "
                   "the training queries"),
      [](std::string const& word) { strength_from(word); }, {"cross-fit"}, true);
  value_option(verb, "--try-max-features A,...", max_features,
               "card: most features to try; folds of the training queries choose the smoothness, "
               "and fewer features if they suffice");
  value_option(verb, "--try-card-bins A,...", card_bins,
               "card: most bins of a feature to try, 2 to 250");
}

void tune_arguments::expect_none() const {
  for (CLI::Option const* option : verb_->get_options())
    if (option->get_group() == tuning_group && option->count() > 0)
      throw usage_error(fmt::format("{} needs --tune", option->get_name()));
}

void tune_arguments::expect_use(std::vector<std::string> const& of_kinds) const {
  static std::vector<options_of_kinds> const lists{
      {{"--try-rule-size", "--try-min-support", "--try-min-confidence", "--try-support-weight",
        "--try-smoothing", "--try-feature-share"},
       {"rules"}},
      {{"--try-method", "--try-bins"}, {"rules", "scorecard"}},
      {{"--try-norm"}, {"rules", "scorecard", card_member, "joint"}},
      {{"--try-max-features", "--try-card-bins"}, {card_member}},
      {{"--try-loss", "--try-points-penalty", "--try-smoothness"}, {"scorecard"}},
      {{"--try-strength"}, {"linear"}}};
  for (options_of_kinds const& one : lists) {
    if (one.fits(of_kinds)) continue;
    for (char const* const name : one.options)
      if (CLI::Option const* const option = verb_->get_option_no_throw(name);
          option != nullptr && option->count() > 0)
        throw usage_error(fmt::format("{} needs {} among --kinds ({})", name, one.words(), kinds));
  }
}

tuning::search_space tune_arguments::search_space() const {
  tuning::search_space s;
  s.methods = values_from(methods, datasets::binning_from);
  s.bins = values_from(bins, [](std::string const& word) {
    return word == "cv" ? 0 : number_from<int>("--try-bins", word);
  });
  for (std::string const& word : split_list(bins))
    if (word == "0") throw usage_error("--try-bins: found '0', expected 2 to 250 or cv");
  if (!norms.empty()) s.norms = values_from(norms, datasets::normalization_from);
  s.rule_sizes = numbers_from<rules::rule_size>("--try-rule-size", rule_sizes);
  s.min_supports = numbers_from<std::uint32_t>("--try-min-support", min_supports);
  s.min_confidences = numbers_from<double>("--try-min-confidence", min_confidences);
  s.support_weights = numbers_from<double>("--try-support-weight", support_weights);
  s.smoothings = numbers_from<double>("--try-smoothing", smoothings);
  s.feature_shares = numbers_from<double>("--try-feature-share", feature_shares);
  s.kinds = split_list(kinds);
  expect_use(s.kinds);
  s.losses = values_from(losses, l2r::card_loss_from);
  s.points_penalties = numbers_from<double>("--try-points-penalty", points_penalties);
  s.smoothnesses = numbers_from<double>("--try-smoothness", smoothnesses);
  s.strengths = values_from(strengths, strength_from);
  s.max_features = numbers_from<std::size_t>("--try-max-features", max_features);
  s.card_bins = numbers_from<int>("--try-card-bins", card_bins);
  tuning::candidates_of(s);
  return s;
}

tuning::search_options tune_arguments::options() const {
  tuning::search_options o;
  o.rungs = search == "grid" ? 1 : rungs;
  o.keep = keep;
  o.members = members;
  if (budget != "none") {
    bool const timed = budget.ends_with('s');
    std::string_view const word = std::string_view(budget).substr(0, budget.size() - timed);
    if (timed)
      o.max_seconds = number_from<double>("--budget", word);
    else
      o.max_trials = number_from<std::size_t>("--budget", word);
    if (!(timed ? o.max_seconds > 0 : o.max_trials > 0))
      throw usage_error(
          fmt::format("--budget: found '{}', expected trials, seconds (60s) or none", budget));
  }
  tuning::check(o);
  return o;
}

}  // namespace rulerank::apps
