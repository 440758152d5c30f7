#include "learners/systems.hpp"

#include "core/error.hpp"
#include "core/named_values.hpp"
#include "learners/lightgbm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace rulerank::inline v0::learners {

namespace {

constexpr std::size_t most_trees = 300;  // limit for a trial; the validation set chooses the number

/// Suffix of a trial's name if it has fewer trees.
std::string trees_in_words(std::size_t trees) {
  return trees == most_trees ? std::string() : fmt::format(", {} trees", trees);
}

// Our ranker.

trial rules_trial(datasets::binning method, std::uint32_t size, double weight, double smoothing) {
  trial t;
  t.name = fmt::format("{}, size {}, weight {}, smoothing {}", datasets::name_of(method), size,
                       weight, smoothing);
  t.method = method;
  l2r::ranker_options options;
  options.scoring.rule_size = size;
  options.scoring.support_weight = weight;
  options.scoring.smoothing = smoothing;
  t.make = [options](std::uint64_t, std::size_t) { return make_rules_learner(options); };
  return t;
}

/// Removes the defaults from the trials, because they are tried anyway.
void drop_defaults(system& s) {
  std::erase_if(s.trials, [&](trial const& t) { return t.name == s.defaults.name; });
}

system rules_system(system_options const&) {
  system s{"rules", {}, rules_trial(datasets::binning::tube, 3, 0, 0), {}};
  for (auto const method : {datasets::binning::tube, datasets::binning::frequency})
    for (std::uint32_t const size : {3U, 2U})
      for (double const weight : {0.0, -0.25})
        for (double const smoothing : {0.0, 5.0})
          s.trials.push_back(rules_trial(method, size, weight, smoothing));
  for (auto const method : {datasets::binning::tube, datasets::binning::frequency})
    for (double const weight : {0.0, -0.25}) s.trials.push_back(rules_trial(method, 4, weight, 5));
  drop_defaults(s);
  return s;
}

// Our kinds of members, alone or combined.

l2r::recipe rules_like(std::uint32_t size, double weight, double smoothing) {
  l2r::rules_recipe how;
  how.scoring.rule_size = size;
  how.scoring.support_weight = weight;
  how.scoring.smoothing = smoothing;
  return how;
}

l2r::recipe card_like(l2r::scorecard_options const& options) {
  l2r::scorecard_recipe how;
  how.options = options;
  return how;
}

l2r::recipe linear_like(double strength) {
  l2r::linear_recipe how;
  how.options.strength = strength;
  return how;
}

std::string words_of(l2r::rules_recipe const& how) {
  return fmt::format("size {}, weight {}, smoothing {}", how.scoring.rule_size,
                     how.scoring.support_weight, how.scoring.smoothing);
}
std::string words_of(l2r::scorecard_recipe const& how) {
  return fmt::format("{}, penalty {}, smoothness {}", l2r::name_of(how.options.loss),
                     how.options.points_penalty, how.options.smoothness);
}
std::string words_of(l2r::linear_recipe const& how) {
  return how.options.strength == 0 ? std::string("strength by cross-fitting")
                                   : fmt::format("strength {}", how.options.strength);
}

std::string words_of(l2r::joint_recipe const& how) {
  return fmt::format("at most {} pairs of features", how.options.max_pairs);
}

/// A trial whose members all use cuts of one method.
trial members_trial(datasets::binning method, std::vector<l2r::recipe> const& recipes) {
  trial t;
  t.method = method;
  bool items = false;  // a member uses items
  std::vector<std::string> parts;
  for (l2r::recipe const& one : recipes) {
    items = items || !std::holds_alternative<l2r::linear_recipe>(one);
    std::string const words = std::visit([](auto const& how) { return words_of(how); }, one);
    parts.push_back(recipes.size() == 1
                        ? words
                        : fmt::format("{} ({})", l2r::member_kind_names()[one.index()], words));
  }
  t.name = fmt::format("{}{}{}", items ? datasets::name_of(method) : std::string_view(),
                       items ? ", " : "", fmt::join(parts, " + "));
  t.make = [recipes](std::uint64_t, std::size_t) { return make_members_learner(recipes); };
  return t;
}

system scorecard_system(system_options const&) {
  system s{"scorecard", {}, members_trial(datasets::binning::tube, {card_like({})}), {}};
  for (auto const method : {datasets::binning::tube, datasets::binning::frequency})
    for (auto const loss : {l2r::card_loss::pair, l2r::card_loss::point})
      for (auto const& [penalty, smoothness] :
           {std::pair{1e-4, 0.1}, {1e-4, 1.0}, {1e-3, 10.0}, {1e-3, 100.0}})
        s.trials.push_back(members_trial(method, {card_like({loss, penalty, smoothness})}));
  for (auto const& [loss, penalty] : {std::pair{l2r::card_loss::list, 1e-3},
                                      {l2r::card_loss::list, 1e-2},
                                      {l2r::card_loss::pair, 1e-2},
                                      {l2r::card_loss::point, 1e-2}})
    s.trials.push_back(
        members_trial(datasets::binning::frequency, {card_like({loss, penalty, 10})}));
  drop_defaults(s);
  return s;
}

system linear_system(system_options const&) {
  constexpr auto any = datasets::binning::tube;  // unused: it has no items
  system s{"linear", {}, members_trial(any, {linear_like(l2r::linear_options{}.strength)}), {}};
  for (double const strength : {0.0, 0.1, 0.3, 1.0, 3.0, 5.0, 20.0, 30.0, 50.0, 100.0, 200.0, 300.0,
                                500.0, 1e3, 2e3, 3e3, 1e4, 3e4, 1e5})
    s.trials.push_back(members_trial(any, {linear_like(strength)}));
  return s;
}

system members_system(system_options const&) {
  l2r::recipe const rules = rules_like(3, 0, 0);
  l2r::recipe const long_rules = rules_like(4, -0.25, 5);
  l2r::recipe const card = card_like({});
  l2r::recipe const smooth_pairs = card_like({l2r::card_loss::pair, 1e-3, 10});
  l2r::recipe const smooth_points = card_like({l2r::card_loss::point, 1e-3, 100});
  l2r::recipe const linear = linear_like(0);  // chosen by cross-fitting
  system s{"members",
           {},
           members_trial(datasets::binning::tube,
                         {rules, card, linear_like(l2r::linear_options{}.strength)}),
           {}};
  for (auto const method : {datasets::binning::tube, datasets::binning::frequency})
    for (std::vector<l2r::recipe> const& recipes :
         std::vector<std::vector<l2r::recipe>>{{smooth_pairs},
                                               {smooth_points},
                                               {smooth_pairs, linear},
                                               {smooth_points, linear},
                                               {long_rules, linear},
                                               {long_rules, smooth_pairs},
                                               {long_rules, smooth_pairs, linear},
                                               {long_rules, smooth_points, linear},
                                               {rules, smooth_pairs, linear}})
      s.trials.push_back(members_trial(method, recipes));
  s.trials.push_back(members_trial(datasets::binning::frequency, {rules, linear}));
  return s;
}

system recommended_system(system_options const&) {
  return {"recommended",
          {},
          {"by the number of labels", datasets::binning::tube,
           [](std::uint64_t, std::size_t) { return make_recommended_learner(); }},
          {}};
}

/// A ranker that chooses its own settings from the labels.
system own_choice(std::string name, l2r::recipe const& how) {
  return {std::move(name),
          {},
          {"chosen by its labels", datasets::binning::tube,
           [how](std::uint64_t, std::size_t) { return make_own_cuts_learner(how); }},
          {}};
}

system card_system(system_options const&) {
  return own_choice("card", l2r::card_recipe());
}

system joint_system(system_options const&) {
  return own_choice("joint", l2r::joint_recipe{});
}

system feature_system(system_options const&) {
  return {"feature",
          {},
          {"BM25, or the best by its labels", datasets::binning::tube,
           [](std::uint64_t, std::size_t) { return make_feature_learner(); }},
          {}};
}

// LightGBM

trial lightgbm_trial(lightgbm_library const& library, lightgbm_options options) {
  trial t;
  t.name = fmt::format("{}, {} leaves of {}, rate {}{}", options.objective, options.leaves,
                       options.least, options.rate, trees_in_words(options.trees));
  t.make = [library, options](std::uint64_t seed, std::size_t steps) {
    lightgbm_options o = options;
    o.seed = seed;
    if (steps > 0) o.trees = steps;
    return library.make(o);
  };
  return t;
}

/// The library for the named system.
lightgbm_library lightgbm_for(std::string_view name, system_options const& options) {
  std::string const path = options.lightgbm.empty() ? find_lightgbm() : options.lightgbm;
  if (path.empty())
    throw usage_error(fmt::format(
        "{}: found no lib_lightgbm.so, expected the Python package lightgbm (pip install "
        "lightgbm) or the path of its library (--lightgbm)",
        name));
  return lightgbm_library(path);
}

system lightgbm_system(system_options const& options) {
  lightgbm_library const library = lightgbm_for("lightgbm", options);
  system s{"lightgbm", library.version(), lightgbm_trial(library, {}), {}};
  for (char const* const objective : {"lambdarank", "regression"})
    for (int const leaves : {31, 7})
      for (int const least : {20, 1})
        for (double const rate : {0.1, 0.05})
          s.trials.push_back(
              lightgbm_trial(library, {objective, most_trees, leaves, least, rate, 1}));
  for (double const rate : {0.1, 0.05})
    s.trials.push_back(lightgbm_trial(library, {"lambdarank", most_trees, 15, 50, rate, 1}));
  s.trials.push_back(lightgbm_trial(library, {"regression", most_trees, 15, 50, 0.05, 1}));
  return s;
}

trial ilmart_trial(lightgbm_library const& library, ilmart_options options) {
  trial t;
  t.name = fmt::format("{} pairs, {} leaves of {}, rate {}{}", options.pairs, options.single.leaves,
                       options.single.least, options.single.rate,
                       trees_in_words(options.single.trees + options.pair_trees));
  t.make = [library, options](std::uint64_t seed, std::size_t steps) {
    ilmart_options o = options;
    o.single.seed = seed;
    o.most_trees = steps;
    return library.make(o);
  };
  return t;
}

system ilmart_system(system_options const& options) {
  constexpr std::size_t pairs = 50;  // as in the authors' program
  lightgbm_library const library = lightgbm_for("ilmart", options);
  system s{"ilmart", library.version(), ilmart_trial(library, {{}, pairs, 100, 0}), {}};
  auto const add = [&](std::size_t of, int leaves, int least, double rate) {
    std::size_t const behind = of == 0 ? 0 : most_trees / 2;
    s.trials.push_back(ilmart_trial(
        library, {{"lambdarank", most_trees - behind, leaves, least, rate, 1}, of, behind, 0}));
  };
  for (std::size_t const of : {std::size_t{0}, pairs})
    for (int const leaves : {31, 7})
      for (int const least : {20, 1})
        for (double const rate : {0.1, 0.05}) add(of, leaves, least, rate);
  for (double const rate : {0.1, 0.05}) add(pairs, 15, 50, rate);
  add(0, 15, 50, 0.05);
  return s;
}

// XGBoost

trial xgboost_trial(boosted_options options) {
  trial t;
  t.name = fmt::format("{}, depth {}, rate {}{}", options.objective, options.depth, options.eta,
                       trees_in_words(static_cast<std::size_t>(options.trees)));
  t.make = [options](std::uint64_t seed, std::size_t steps) {
    boosted_options o = options;
    o.seed = seed;
    if (steps > 0) o.trees = static_cast<int>(steps);
    return make_boosted(o);
  };
  return t;
}

system xgboost_system(system_options const&) {
  system s{"xgboost", library_of("xgboost"), xgboost_trial({100, 6, 0.3, "rank:pairwise", 0}), {}};
  for (char const* const objective : {"rank:pairwise", "rank:ndcg", "reg:squarederror"})
    for (int const depth : {6, 4, 2})
      for (double const eta : {0.1, 0.05})
        s.trials.push_back(xgboost_trial({static_cast<int>(most_trees), depth, eta, objective, 0}));
  s.trials.push_back(xgboost_trial({static_cast<int>(most_trees), 3, 0.05, "rank:pairwise", 0}));
  return s;
}

// Linear rank SVM

/// Makes a learner from options.
using make_svm = std::unique_ptr<learner> (*)(ranksvm_options const&);

trial ranksvm_trial(make_svm make, double c) {
  trial t;
  t.name = fmt::format("C {:.3g}", c);
  t.make = [make, c](std::uint64_t, std::size_t) {
    ranksvm_options options;
    options.c = c;
    return make(options);
  };
  return t;
}

system ranksvm_of(std::string name, make_svm make) {
  system s{std::move(name), library_of("ranksvm"), ranksvm_trial(make, ranksvm_options{}.c), {}};
  // Half decades from 1e-6 to 10.
  for (int i = -12; i <= 2; ++i) s.trials.push_back(ranksvm_trial(make, std::pow(10.0, i / 2.0)));
  for (double const c : {2e-5, 2e-4, 2e-3, 2e-2, 2e-1}) s.trials.push_back(ranksvm_trial(make, c));
  drop_defaults(s);
  return s;
}

system ranksvm_system(system_options const&) {
  return ranksvm_of("ranksvm", make_ranksvm);
}

system ranksvm_zscore_system(system_options const&) {
  return ranksvm_of("ranksvm-zscore", make_zscore_ranksvm);
}

struct system_entry {
  std::string_view name;
  std::string_view needs;  ///< the learner whose library it needs; may be empty
  system (*make)(system_options const&);
};

constexpr std::array<system_entry, 13> all_systems{{
    {"card", "", card_system},
    {"joint", "", joint_system},
    {"rules", "", rules_system},
    {"scorecard", "", scorecard_system},
    {"linear", "", linear_system},
    {"members", "", members_system},
    {"recommended", "", recommended_system},
    {"feature", "", feature_system},
    {"lightgbm", "", lightgbm_system},
    {"ilmart", "", ilmart_system},
    {"xgboost", "xgboost", xgboost_system},
    {"ranksvm", "ranksvm", ranksvm_system},
    {"ranksvm-zscore", "ranksvm", ranksvm_zscore_system},
}};

}  // namespace

std::vector<std::string_view> system_names() {
  std::vector<std::string_view> names;
  for (system_entry const& e : all_systems) names.push_back(e.name);
  return names;
}

system make_system(std::string_view name, system_options const& options) {
  auto const at = std::find_if(all_systems.begin(), all_systems.end(),
                               [&](system_entry const& e) { return e.name == name; });
  if (at == all_systems.end())
    throw unknown_name("found the system", name, list_of_names(all_systems));
  for (learner_info const& l : learners())
    if (l.name == at->needs && !l.available)
      throw usage_error(
          fmt::format("this build does not have {}, expected a build with {}", name, l.library));
  return at->make(options);
}

std::vector<std::string_view> peer_names() {
  return {"lightgbm", "xgboost", "ranksvm"};
}

std::vector<std::string_view> installed_peers(system_options const& options) {
  std::vector<std::string_view> names = peer_names();
  std::erase_if(names, [&](std::string_view name) {
    return name == "lightgbm" ? options.lightgbm.empty() && find_lightgbm().empty()
                              : library_of(name).empty();
  });
  return names;
}

l2r::compared_model make_peer(std::string_view name, system_options const& options) {
  system const made = make_system(name, options);
  auto const rank = [make = made.defaults.make](context const& ctx, datasets::dataset const& train,
                                                datasets::dataset const& test) {
    std::vector<std::size_t> const known = datasets::labelled_documents(train, "learn from");
    datasets::binned_dataset const no_items;
    std::unique_ptr<learner> const ranker = make(ctx.seed, 0);
    ranker->fit(ctx, {train, no_items}, {known, train.labels});
    return ranker->score(ctx, {test, no_items});
  };
  return {fmt::format("{} ({})", made.library, made.defaults.name), {}, rank};
}

}  // namespace rulerank::learners
