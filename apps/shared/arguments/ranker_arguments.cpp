#include "apps/shared/arguments/ranker_arguments.hpp"

#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/options/options.hpp"
#include "apps/shared/session/console.hpp"
#include "core/error.hpp"
#include "l2r/model/input_columns.hpp"
#include "l2r/model/options_json.hpp"
#include "l2r/model/recommended.hpp"
#include "l2r/rules/engine_knobs.hpp"
#include "l2r/rules/ranking_seconds.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void ranker_arguments::add_scoring_to(CLI::App& verb) {
  help_group const group(verb, "Rules of the model");
  l2r::scoring_options const defaults;
  auto add = [&](std::string const& name, auto& value, std::string const& text, auto shown) {
    number_option(verb, name, value, text)->default_str(fmt::format("{}", shown));
  };
  add("--rule-size", rule_size, rule_size_help, defaults.rule_size);
  add("--min-support", min_support, "Fewest training documents in which a rule holds",
      defaults.thresholds.min_support);
  add("--min-confidence", min_confidence, "Smallest confidence of a rule, 0 to 1",
      defaults.thresholds.min_confidence);
  add("--support-weight W", support_weight,
      "Weight n^W of an itemset that n training documents hold; W from -16 to 16",
      defaults.support_weight);
  add("--smoothing A", smoothing,
      "Smoothing A of confidences: (n_r + A prior_r) / (n + A) if n documents hold the itemset, "
      "n_r "
      "of them have label r, and prior_r is the share of label r",
      defaults.smoothing);
  add("--feature-share S", feature_share,
      "Share of the features that rules are made of, 0 to 1: those that predict the label best",
      defaults.feature_share);
}

void ranker_arguments::add_engine_to(CLI::App& verb) {
  help_group const group(verb, machine_group);
  of_engines_ = {engine_option(verb, "--engine", engine, l2r::engines(), "Engine of rules"),
                 size_option(verb, "--cache-memory", cache_memory,
                             "Memory of the cache of lrar, profl and profl-t, such as 512MB")
                     ->default_str("4GB")};
}

l2r::engine_options ranker_arguments::engine_options() const {
  return {.engine = l2r::engine_from(engine),
          .settings = {{l2r::cache_bytes_setting, cache_memory}}};
}

l2r::ranker_options ranker_arguments::options() const {
  l2r::ranker_options options{.scoring = {}, .execution = engine_options()};
  l2r::scoring_options& s = options.scoring;
  for_each_of_score(
      *this, s, [](char const*, auto const& given, auto& value) { value = given.value_or(value); });
  l2r::check(s);
  return options;
}

void ranker_arguments::expect_no_engine(std::string const& why) const {
  for (CLI::Option const* const option : of_engines_)
    if (option->count() > 0 && option->as<std::string>() != "auto")
      throw usage_error(fmt::format("{}: {}", option->get_name(), why));
}

namespace {

bool has_rules(l2r::model const& model) {
  return std::ranges::any_of(model.members, [](l2r::model_member const& member) {
    return std::holds_alternative<l2r::rules_member>(member);
  });
}

}  // namespace

void ranker_arguments::expect_agreement(l2r::model const& model, std::string const& name) const {
  if (!has_rules(model)) {
    std::string const why = fmt::format("the model {} has no member of the kind rules", name);
    l2r::scoring_options const none;
    for_each_of_score(*this, none, [&](char const* option, auto const& given, auto const&) {
      if (given) throw usage_error(fmt::format("{}: {}", option, why));
    });
    return expect_no_engine(why);
  }
  auto const agree = [&](char const* option, auto const& given, auto const& fitted) {
    if (given && *given != fitted)
      throw usage_error(
          fmt::format("{} {}: the model {} was fitted with {}", option, *given, name, fitted));
  };
  for (l2r::model_member const& member : model.members)
    if (auto const* const rules = std::get_if<l2r::rules_member>(&member))
      for_each_of_score(*this, rules->scoring, agree);
}

datasets::dataset read_training(session& owner, std::string const& train,
                                reading_arguments const& reading) {
  auto const timer = owner.stage("read");
  return reading.read_judged(owner, train, "learn from");
}

std::vector<l2r::recipe> recommended_recipes(
    session& owner, datasets::dataset const& train, discretizer_arguments const& discretizer,
    std::shared_ptr<datasets::discretizer const> const& given) {
  l2r::label_counts const labels = l2r::count_labels(train);
  l2r::recommendation found = l2r::recommend(labels, discretizer.options(), given);
  owner.say(fmt::format("recommended ({}): {}", found.name, found.members));
  owner.say(found.reason);
  double const seconds = l2r::seconds_to_solve(found.unknowns) / owner.ctx().thread_count();
  constexpr double long_work = 5;
  if (seconds > long_work)
    owner.say(fmt::format(
        "fitting the scorecard of up to {} may take {} and {:.1f} GB; fewer bins take less, for "
        "example --members scorecard,linear --loss point --method frequency --bins 5",
        counted(found.unknowns, "item"), length_of_time(seconds),
        16e-9 * static_cast<double>(found.unknowns) * static_cast<double>(found.unknowns)));
  owner.note("recommended", l2r::to_json(found, labels));
  return std::move(found.recipes);
}

l2r::recipe recipe_of(ranker_recipe const& of,
                      std::shared_ptr<datasets::discretizer const> const& given) {
  if (of.kind == "linear") return l2r::linear_recipe{of.member.linear(of.discretizer)};
  if (of.kind == "scorecard")
    return l2r::scorecard_recipe{of.discretizer.options(), given, of.member.scorecard()};
  if (of.kind == "joint")
    return l2r::joint_recipe{of.member.joint_cuts(of.discretizer), given, of.member.joint()};
  if (of.kind == card_member)
    return l2r::scorecard_recipe{of.member.card_cuts(of.discretizer), given, of.member.card()};
  return l2r::rules_recipe{of.discretizer.options(), given, of.ranker.options().scoring};
}

l2r::model make_model(session& owner, datasets::dataset const& train,
                      std::span<ranker_recipe const> recipes) {
  auto const timer = owner.stage("discretize");
  std::vector<l2r::recipe> all;
  std::shared_ptr<datasets::discretizer const> given;  // all recipes come from one command line
  for (ranker_recipe const& recipe : recipes) {
    if (!recipe.discretizer.fitted.empty() && !given)
      given = std::make_shared<datasets::discretizer const>(
          recipe.discretizer.fit_or_read(owner, train));
    if (recipe.kind == recommended_members) {
      all = recommended_recipes(owner, train, recipe.discretizer, given);
      continue;
    }
    l2r::recipe& made = all.emplace_back(recipe_of(recipe, given));
    if (recipe.kind == card_member)
      std::get<l2r::scorecard_recipe>(made).options = recipe.member.card(owner, train);
  }
  return l2r::fit(owner.ctx(), train, all);
}

l2r::model make_model(session& owner, std::string const& train, reading_arguments const& reading,
                      std::span<ranker_recipe const> recipes) {
  return make_model(owner, read_training(owner, train, reading), recipes);
}

namespace {

bool holds_cuts(std::string const& path) {
  try {
    datasets::read_discretizer(path);
    return true;
  } catch (error const&) {
    return false;
  }
}

}  // namespace

l2r::model read_model(session& owner, std::string const& path, ranker_arguments const& line) {
  auto const timer = owner.stage("read");
  l2r::model model = [&] {
    try {
      return l2r::read_model(owner.input(path));
    } catch (error const& no_model) {
      if (!holds_cuts(path)) throw;
      throw error(no_model.where(),
                  "found the cuts of a discretizer, expected a model that `rulerank fit` wrote; "
                  "use cuts with --discretizer and --train");
    }
  }();
  line.expect_agreement(model, path);
  return model;
}

void warn_of_lacking_features(session& owner, datasets::dataset const& data,
                              l2r::model const& model) {
  std::set<std::string> known;
  for (std::uint32_t const feature : l2r::scored_features(model))
    known.insert(datasets::name_of(feature, l2r::names_of(model)));
  auto const is_known = [&](std::uint32_t feature) {
    return known.contains(datasets::name_of(feature, data.names));
  };
  // Mostly the first document decides, without a walk over all.
  auto const lists_known = [&](std::size_t d) {
    return std::ranges::any_of(data.document(d),
                               [&](auto const& one) { return is_known(one.feature); });
  };
  if (data.size() > 0 && !known.empty() && !lists_known(0) &&
      std::ranges::none_of(datasets::listed_features(data), is_known))
    return owner.warn(
        fmt::format("{}: no document lists a feature of the model, so all documents "
                    "of a query tie",
                    data.name));
  // All members learned from the same documents, so feature names agree.
  for (l2r::model_member const& member : model.members)
    if (auto const& cuts = l2r::cuts_of(member))
      return warn_of_lacking_features(owner, data, *cuts);
}

std::string ranked_by(l2r::scorer const& scorer) {
  if (scorer.engine() != l2r::engine::automatic) return std::string(l2r::name_of(scorer.engine()));
  std::string kinds;
  for (l2r::model_member const& member : scorer.fitted().members)
    kinds += fmt::format("{}{}", kinds.empty() ? "" : ",", l2r::kind_of(member));
  return kinds;
}

l2r::scorer make_scorer(session& owner, l2r::model model, ranker_arguments const& line,
                        double tests) {
  if (!has_rules(model)) line.expect_no_engine(no_rules);
  double seconds = 0;
  for (l2r::model_member const& member : model.members)
    if (auto const* const rules = std::get_if<l2r::rules_member>(&member))
      seconds += l2r::ranking_seconds(static_cast<double>(rules->training->documents), tests,
                                      static_cast<double>(rules->training->feature_count()),
                                      rules->scoring.rule_size);
  owner.choose_device(places_of(l2r::engines(), line.engine_options().engine), seconds);
  auto const timer = owner.stage("prepare");
  l2r::engine_options how = line.engine_options();
  how.long_work = [&owner](double work) {
    owner.say(fmt::format("ranking takes about {}", length_of_time(work)));
  };
  l2r::scorer scorer(owner.ctx(), std::move(model), how);
  if (auto const* const entry = find_engine(l2r::engines(), scorer.engine())) {
    owner.expect_device_for(entry->name, entry->where);
    owner.note("engine", entry->name);
  }
  auto const& members = scorer.fitted().members;
  if (auto const* const rules = std::get_if<l2r::rules_member>(&members.front())) {
    owner.note("training_documents", rules->training->documents);
    owner.note("features", rules->training->feature_count());
    owner.note("rules", l2r::to_json(rules->scoring));
  }
  if (members.size() > 1)
    owner.note("members", members.size());  // the model file has their
                                            // settings
  return scorer;
}

}  // namespace rulerank::apps
