#include "tuning/search_space.hpp"

#include "core/error.hpp"
#include "l2r/model/options_json.hpp"
#include "tuning/settings_json.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::tuning {

namespace {

template <class Value>
void check_distinct(std::string_view what, std::vector<Value> const& values) {
  for (auto v = values.begin(); v != values.end(); ++v)
    if (std::find(values.begin(), v, *v) != v)
      throw usage_error(fmt::format("found a {} to try twice, expected each once", what));
}

template <class Value>
void check_list(std::string_view what, std::vector<Value> const& values) {
  if (values.empty())
    throw usage_error(fmt::format("found no {} to try, expected one or more", what));
  check_distinct(what, values);
}

nlohmann::ordered_json bins_json(int bins) {
  if (bins == 0) return "cv";
  return bins;
}

void check_bins(std::vector<int> const& all) {
  check_list("number of bins", all);
  for (int const bins : all)
    if (bins != 0 && (bins < 2 || bins > 250))
      throw usage_error(fmt::format("found {} to try, expected 2 to 250 or cv",
                                    bins < 0 ? fmt::format("{} bins", bins)
                                             : counted(static_cast<std::uint64_t>(bins), "bin")));
}

/// Empty: not searched.
std::vector<std::optional<datasets::normalization>> norms_of(search_space const& s) {
  check_distinct("norm", s.norms);
  std::vector<std::optional<datasets::normalization>> norms(s.norms.begin(), s.norms.end());
  if (norms.empty()) norms.emplace_back();
  return norms;
}

std::vector<cuts> cuts_of(search_space const& s) {
  check_list("method", s.methods);
  check_bins(s.bins);
  auto const norms = norms_of(s);
  std::vector<cuts> all;
  for (datasets::binning const method : s.methods)
    for (int const bins : s.bins)
      for (auto const norm : norms) all.push_back({method, bins, norm});
  return all;
}

void add_rules(search_space const& s, std::vector<candidate>& all) {
  std::vector<cuts> const by = cuts_of(s);
  check_list("rule size", s.rule_sizes);
  check_list("min support", s.min_supports);
  check_list("min confidence", s.min_confidences);
  check_list("support weight", s.support_weights);
  check_list("smoothing", s.smoothings);
  check_list("feature share", s.feature_shares);
  for (rules::rule_size const size : s.rule_sizes)
    for (std::uint32_t const support : s.min_supports)
      for (double const confidence : s.min_confidences)
        for (double const weight : s.support_weights)
          for (double const smoothing : s.smoothings)
            for (double const share : s.feature_shares) {
              l2r::scoring_options const scoring{
                  size, {support, confidence}, weight, smoothing, share};
              l2r::check(scoring);
              for (cuts const& one : by) all.push_back({one, scoring, {}, {}});
            }
}

void add_scorecards(search_space const& s, std::vector<candidate>& all) {
  std::vector<cuts> const by = cuts_of(s);
  check_list("loss", s.losses);
  check_list("points penalty", s.points_penalties);
  check_list("smoothness", s.smoothnesses);
  for (l2r::card_loss const loss : s.losses)
    for (double const penalty : s.points_penalties)
      for (double const smoothness : s.smoothnesses) {
        l2r::scorecard_options const card{loss, penalty, smoothness};
        l2r::check(card);
        for (cuts const& one : by) all.push_back({one, {}, card, {}});
      }
}

void add_linear(search_space const& s, std::vector<candidate>& all) {
  check_list("strength", s.strengths);
  for (double const strength : s.strengths) {
    l2r::linear_options const linear{strength};
    l2r::check(linear);
    all.push_back({{}, {}, {}, linear});
  }
}

void add_cards(search_space const& s, std::vector<candidate>& all) {
  check_list("number of features", s.max_features);
  check_bins(s.card_bins);
  for (std::size_t const features : s.max_features)
    for (int const bins : s.card_bins)
      for (auto const norm : norms_of(s)) {
        l2r::scorecard_recipe card = l2r::card_recipe();
        card.options.page->max_features = features;
        l2r::check(card.options);
        card.discretizer.bins = bins;
        card.discretizer.norm = norm.value_or(card.discretizer.norm);
        all.push_back(candidate_of(card));
        all.back().cuts.norm = norm;
      }
}

void add_joint(search_space const& s, std::vector<candidate>& all) {
  for (auto const norm : norms_of(s)) {
    l2r::joint_recipe joint;
    joint.discretizer.norm = norm.value_or(joint.discretizer.norm);
    all.push_back(candidate_of(joint));
    all.back().cuts.norm = norm;
  }
}

}  // namespace

std::string_view kind_of(candidate const& c) {
  if (c.recipe) return std::holds_alternative<l2r::joint_recipe>(*c.recipe) ? "joint" : "card";
  return c.linear ? "linear" : c.scorecard ? "scorecard" : "rules";
}

std::vector<candidate> candidates_of(search_space const& s) {
  check_list("kind", s.kinds);
  std::vector<candidate> all;
  for (std::string const& kind : s.kinds) {
    if (kind == "rules")
      add_rules(s, all);
    else if (kind == "scorecard")
      add_scorecards(s, all);
    else if (kind == "linear")
      add_linear(s, all);
    else if (kind == "card")
      add_cards(s, all);
    else if (kind == "joint")
      add_joint(s, all);
    else
      throw usage_error(fmt::format(
          "kind: found '{}', expected some of rules, scorecard, linear, card, joint", kind));
  }
  return all;
}

candidate candidate_of(l2r::recipe const& recipe) {
  if (auto const* const linear = std::get_if<l2r::linear_recipe>(&recipe))
    return {{}, {}, {}, linear->options};
  auto const cuts_of = [](auto const& of) -> cuts {
    datasets::discretizer_options const& how = of.cuts ? of.cuts->options : of.discretizer;
    return {how.method, how.bins, {}};
  };
  if (auto const* const joint = std::get_if<l2r::joint_recipe>(&recipe))
    return {cuts_of(*joint), {}, {}, {}, recipe};
  if (auto const* const card = std::get_if<l2r::scorecard_recipe>(&recipe)) {
    if (card->options.page) return {cuts_of(*card), {}, {}, {}, recipe};
    return {cuts_of(*card), {}, card->options, {}};
  }
  auto const& rules = std::get<l2r::rules_recipe>(recipe);
  return {cuts_of(rules), rules.scoring, {}, {}};
}

nlohmann::ordered_json to_json(candidate const& c) {
  if (c.recipe) return member_json(settings_of(*c.recipe));
  nlohmann::ordered_json json;
  if (c.linear) {
    json["kind"] = "linear";
    json.update(l2r::to_json(*c.linear));
    return json;
  }
  if (c.scorecard) json["kind"] = "scorecard";
  json["method"] = datasets::name_of(c.cuts.method);
  json["bins"] = bins_json(c.cuts.bins);
  if (c.cuts.norm) json["norm"] = datasets::name_of(*c.cuts.norm);
  json.update(c.scorecard ? l2r::to_json(*c.scorecard) : l2r::to_json(c.scoring));
  return json;
}

nlohmann::ordered_json to_json(search_space const& s) {
  nlohmann::ordered_json json;
  bool const rules_alone = s.kinds == std::vector<std::string>{"rules"};
  if (!rules_alone) json["kind"] = s.kinds;
  for (datasets::binning const method : s.methods)
    json["method"].push_back(datasets::name_of(method));
  for (int const bins : s.bins) json["bins"].push_back(bins_json(bins));
  for (datasets::normalization const norm : s.norms)
    json["norm"].push_back(datasets::name_of(norm));
  json["rule_size"] = s.rule_sizes;
  json["min_support"] = s.min_supports;
  json["min_confidence"] = s.min_confidences;
  json["support_weight"] = s.support_weights;
  json["smoothing"] = s.smoothings;
  json["feature_share"] = s.feature_shares;
  if (rules_alone) return json;
  for (l2r::card_loss const loss : s.losses) json["loss"].push_back(l2r::name_of(loss));
  json["points_penalty"] = s.points_penalties;
  json["smoothness"] = s.smoothnesses;
  for (double const strength : s.strengths)
    json["strength"].push_back(strength == 0 ? nlohmann::ordered_json("cross-fit")
                                             : nlohmann::ordered_json(strength));
  json["max_features"] = s.max_features;
  for (int const bins : s.card_bins) json["card_bins"].push_back(bins_json(bins));
  return json;
}

}  // namespace rulerank::tuning
