#include "tuning/settings_file.hpp"

#include "core/error.hpp"
#include "core/json_fields.hpp"
#include "core/json_text.hpp"
#include "datasets/input/text_source.hpp"
#include "eval/report.hpp"
#include "eval/report_json.hpp"
#include "l2r/model/options_json.hpp"
#include "tuning/settings_json.hpp"

#include <cstdint>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::tuning {

namespace {

using json_text = nlohmann::ordered_json;

constexpr std::uint32_t form = 1;

constexpr std::string_view chosen_loss = "auto", cross_fitted = "cross-fit";

/// The options of a card without specifications of single features.
json_text card_json(l2r::scorecard_options const& card) {
  l2r::card_page const& page = *card.page;
  return {{"loss", page.choose_loss ? chosen_loss : l2r::name_of(card.loss)},
          {"points_penalty", card.points_penalty},
          {"smoothness", card.cross_fit ? json_text(cross_fitted) : json_text(card.smoothness)},
          {"folds", card.folds},
          {"max_features", page.max_features},
          {"max_points", page.points},
          {"target", l2r::name_of(page.target)}};
}

using fields = json_fields<json_text>;

datasets::discretizer_options discretizer_from(fields const& cuts) {
  datasets::discretizer_options options;
  options.method = cuts.known("method", datasets::binning_from);
  bool const cross_validated = cuts.member("bins") == "cv";
  options.bins = cross_validated ? 0 : static_cast<int>(cuts.integer("bins", 2, 250));
  options.missing = cuts.known("missing_values", datasets::missing_values_from);
  options.unlisted = cuts.known("unlisted", datasets::unlisted_values_from);
  options.norm = cuts.known("norm", datasets::normalization_from);
  return options;
}

l2r::scorecard_options card_from(fields const& from) {
  l2r::scorecard_options card = l2r::card_recipe().options;
  card.page->choose_loss = from.word("loss") == chosen_loss;
  if (!card.page->choose_loss) card.loss = from.known("loss", l2r::card_loss_from);
  card.points_penalty = from.number("points_penalty");
  card.cross_fit = from.member("smoothness") == cross_fitted;
  if (!card.cross_fit) card.smoothness = from.number("smoothness");
  card.folds = from.integer("folds", 2, 1000);
  card.page->max_features = from.integer("max_features", 1, 1000);
  card.page->points = static_cast<int>(from.integer("max_points", 1, 10000));
  card.page->target = from.known("target", l2r::card_target_from);
  try {
    l2r::check(card);
  } catch (usage_error const& e) {
    throw error({from.name(), 1, 1}, from.prefix() + e.what());
  }
  return card;
}

settings_file member_from(fields const& from, json_text const& json) {
  settings_file s;
  std::string const kind = from.has("kind") ? from.word("kind") : "rules";
  if (kind == "linear") {
    s.linear = l2r::linear_options_from(json, from.name(), from.prefix());
    return s;
  }
  if (kind != "rules" && kind != "scorecard" && kind != "card" && kind != "joint")
    from.fail("kind", "found an unknown kind, expected rules, scorecard, card, linear or joint");
  char const* const key = from.has("discretiser") ? "discretiser" : "discretizer";
  if (json_text const& cuts = from.member(key); !cuts.is_null())
    s.discretizer = discretizer_from({cuts, from.name(), from.prefix() + key + "."});
  if (kind == "card")
    s.scorecard = card_from(from);
  else if (kind == "joint")
    s.joint = l2r::joint_options_from(json, from.name(), from.prefix());
  else if (kind == "scorecard")
    s.scorecard = l2r::scorecard_options_from(json, from.name(), from.prefix());
  else
    s.scoring = l2r::scoring_options_from(json, from.name(), from.prefix());
  return s;
}

}  // namespace

json_text to_json(datasets::discretizer_options const& options) {
  return {{"method", datasets::name_of(options.method)},
          {"bins", options.bins == 0 ? json_text("cv") : json_text(options.bins)},
          {"missing_values", datasets::name_of(options.missing)},
          {"unlisted", datasets::name_of(options.unlisted)},
          {"norm", datasets::name_of(options.norm)}};
}

settings_file settings_of(l2r::recipe const& recipe) {
  settings_file s;
  if (auto const* const linear = std::get_if<l2r::linear_recipe>(&recipe)) {
    s.linear = linear->options;
    return s;
  }
  auto const set_cuts = [&s](auto const& of) {
    if (!of.cuts) s.discretizer = of.discretizer;
  };
  if (auto const* const card = std::get_if<l2r::scorecard_recipe>(&recipe)) {
    set_cuts(*card);
    s.scorecard = card->options;
  } else if (auto const* const joint = std::get_if<l2r::joint_recipe>(&recipe)) {
    set_cuts(*joint);
    s.joint = joint->options;
  } else {
    auto const& rules = std::get<l2r::rules_recipe>(recipe);
    set_cuts(rules);
    s.scoring = rules.scoring;
  }
  return s;
}

json_text member_json(settings_file const& s) {
  if (s.linear) {
    json_text json{{"kind", "linear"}};
    json.update(l2r::to_json(*s.linear));
    return json;
  }
  json_text json;
  bool const is_card = s.scorecard && s.scorecard->page;
  if (s.scorecard) json["kind"] = is_card ? "card" : "scorecard";
  if (s.joint) json["kind"] = "joint";
  json["discretizer"] = s.discretizer ? to_json(*s.discretizer) : json_text();
  json.update(s.joint       ? l2r::to_json(*s.joint)
              : is_card     ? card_json(*s.scorecard)
              : s.scorecard ? l2r::to_json(*s.scorecard)
                            : l2r::to_json(s.scoring));
  return json;
}

json_text to_json(std::vector<settings_file> const& members) {
  json_text json{{"rulerank_settings", form}};
  if (members.size() == 1) {
    json.update(member_json(members.front()));
  } else {
    json["members"] = json_text::array();
    for (settings_file const& s : members) json["members"].push_back(member_json(s));
  }
  return json;
}

std::vector<settings_file> settings_from(std::string_view text, std::string const& name) {
  json_text const json = parse_ordered_json(text, name, "settings that tune wrote");
  fields const top(json, name);
  if (!top.has("rulerank_settings"))
    throw error({name, 1, 1},
                "found no member rulerank_settings, expected settings that `rulerank tune` wrote");
  if (auto const found = top.integer("rulerank_settings", 0, std::numeric_limits<int>::max());
      found != form)
    throw error({name, 1, 1},
                fmt::format("found settings of version {}, expected {}", found, form));
  if (!top.has("members")) return {member_from(top, json)};
  std::vector<settings_file> members;
  for (json_text const& one : top.list("members"))
    members.push_back(member_from({one, name, fmt::format("members[{}].", members.size())}, one));
  if (members.empty())
    throw error({name, 1, 1}, "found settings without members, expected one or more");
  return members;
}

std::vector<settings_file> read_settings(std::string const& path) {
  return settings_from(datasets::read_file(path, "settings that tune wrote"), path);
}

nlohmann::ordered_json best_settings(context const& ctx, tuner& t, search_result const& result,
                                     std::size_t by, search_options const& options,
                                     eval::profile const& rules,
                                     std::optional<datasets::discretizer_options> discretizer) {
  std::vector<settings_file> settings;
  std::vector<std::size_t> members;
  for (std::size_t const at : result.chosen) {
    members.push_back(result.trials[at].candidate);
    candidate const& chosen = t.candidates()[members.back()];
    if (chosen.recipe) {
      settings.push_back(settings_of(*chosen.recipe));
      continue;
    }
    settings.push_back({discretizer, chosen.scoring, chosen.scorecard, chosen.linear, {}});
    if (chosen.linear) settings.back().discretizer.reset();
    if (settings.back().discretizer) {
      settings.back().discretizer->method = chosen.cuts.method;
      settings.back().discretizer->bins = chosen.cuts.bins;
      if (chosen.cuts.norm) settings.back().discretizer->norm = *chosen.cuts.norm;
    }
  }
  trial const& best = result.trials[result.chosen.front()];
  std::vector<double> const values = members.size() == 1     ? best.values
                                     : !result.compared      ? t.judge(ctx, members)
                                     : result.compared->kept ? result.compared->values
                                                             : result.compared->found;
  nlohmann::ordered_json json = to_json(settings);
  json["metric"] = t.measures()[by].name();
  json["profile"] = eval::to_json(rules);
  for (std::size_t m = 0; m < values.size(); ++m)
    json["validation"][t.measures()[m].name()] = values[m];
  if (result.compared) {
    against_defaults const& other = *result.compared;
    json["defaults"] = {{"kept", other.kept},
                        {"gain", other.gain.mean},
                        {"low", other.gain.low},
                        {"high", other.gain.high}};
    for (std::size_t m = 0; m < values.size(); ++m)
      json["defaults"]["validation"][t.measures()[m].name()] = other.values[m];
    candidate const& first = t.candidates()[other.candidates.front()];
    if (other.candidates.size() > 1 || kind_of(first) != "rules")
      for (std::size_t const c : other.candidates)
        json["defaults"]["members"].push_back(to_json(t.candidates()[c]));
  }
  json["queries"] = best.queries;
  json["candidates"] = result.candidates;
  json["tried"] = result.tried;
  json["trials"] = result.trials.size() - result.compared_trials;
  json["cross_fit"] = t.folds();
  json["search"] = to_json(options);
  return json;
}

std::string best_settings_text(context const& ctx, tuner& t, search_result const& result,
                               std::size_t by, search_options const& options,
                               eval::profile const& rules,
                               std::optional<datasets::discretizer_options> discretizer) {
  return json_text_of(best_settings(ctx, t, result, by, options, rules, discretizer));
}

}  // namespace rulerank::tuning
