#include "apps/shared/arguments/settings_argument.hpp"

#include "apps/shared/options/options.hpp"
#include "tuning/settings_file.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

/// Sets a value that the command line does not give.
template <class Value, class Found>
void set(std::optional<Value>& value, Found const& found) {
  if (!value) value = found;
}

void set_card(l2r::scorecard_options const& card, member_arguments& member) {
  if (!card.page->choose_loss) set(member.loss, std::string(l2r::name_of(card.loss)));
  set(member.points_penalty, fmt::format("{}", card.points_penalty));
  if (!card.cross_fit) set(member.smoothness, card.smoothness);
  set(member.max_features, card.page->max_features);
  set(member.points, card.page->points);
  set(member.target, std::string(l2r::name_of(card.page->target)));
  member.folds = card.folds;
}

}  // namespace

void settings_argument::add_to(CLI::App& verb) {
  verb_ = &verb;
  path_option(verb, "--settings S.json", file,
              "Settings that tune wrote; options on the command line take precedence")
      ->group("Model");
  if (CLI::Option* const members = verb.get_option_no_throw("--members"))
    verb.get_option("--settings")->excludes(members);
}

bool settings_argument::given(char const* option) const {
  CLI::Option const* const found = verb_->get_option_no_throw(option);
  return found != nullptr && found->count() > 0;
}

std::vector<ranker_recipe> settings_argument::recipes(session& owner,
                                                      ranker_recipe const& line) const {
  std::vector<ranker_recipe> all;
  if (!file.empty()) all = of_file(owner, line);
  for (std::string const& kind : file.empty() ? line.member.kinds() : std::vector<std::string>()) {
    all.push_back(line);
    all.back().kind = kind;
  }
  std::vector<std::string> kinds;
  for (ranker_recipe const& one : all) {
    one.ranker.options();
    one.discretizer.options();
    one.member.scorecard();
    one.member.linear(one.discretizer);
    if (one.kind == card_member) one.member.card();
    one.member.joint();
    kinds.push_back(one.kind);
  }
  line.member.expect_use(kinds);
  if (std::ranges::none_of(kinds, [](std::string const& kind) {
        return kind == "rules" || kind == recommended_members;
      }))
    line.ranker.expect_no_engine(no_rules);
  return all;
}

std::vector<ranker_recipe> settings_argument::of_file(session& owner,
                                                      ranker_recipe const& line) const {
  std::vector<ranker_recipe> all;
  for (tuning::settings_file const& s : tuning::read_settings(owner.input(file))) {
    auto& [discretizer, ranker, member, kind] = all.emplace_back(line);
    if (s.discretizer && !given("--discretizer")) {
      datasets::discretizer_options const& d = *s.discretizer;
      auto const set_word = [&](char const* option, std::string& value, std::string_view found) {
        if (!given(option)) value = found;
      };
      set_word("--method", discretizer.method, datasets::name_of(d.method));
      set_word("--bins", discretizer.bins, d.bins == 0 ? "cv" : std::to_string(d.bins));
      set_word("--missing-values", discretizer.missing, datasets::name_of(d.missing));
      set_word("--unlisted", discretizer.unlisted, datasets::name_of(d.unlisted));
      set_word("--norm", discretizer.norm, datasets::name_of(d.norm));
    }
    if (s.scorecard && s.scorecard->page) {
      kind = card_member;
      member.has_own_cuts = !s.discretizer;
      set_card(*s.scorecard, member);
      continue;
    }
    if (s.joint) {
      kind = "joint";
      member.has_own_cuts = !s.discretizer;
      set(member.pairs, s.joint->max_pairs);
      member.folds = s.joint->folds;
      continue;
    }
    if (s.scorecard) {
      kind = "scorecard";
      set(member.loss, std::string(l2r::name_of(s.scorecard->loss)));
      set(member.points_penalty,
          s.scorecard->cross_fit ? "cross-fit" : fmt::format("{}", s.scorecard->points_penalty));
      if (!s.scorecard->cross_fit && member.points_penalty != "cross-fit")
        set(member.smoothness, s.scorecard->smoothness);
      member.folds = s.scorecard->folds;
      continue;
    }
    if (s.linear) {
      kind = "linear";
      set(member.strength,
          s.linear->strength == 0 ? "cross-fit" : fmt::format("{}", s.linear->strength));
      if (!given("--linear-scale")) member.linear_scale = l2r::name_of(s.linear->scale);
      member.folds = s.linear->folds;
      if (!given("--missing-values")) discretizer.missing = datasets::name_of(s.linear->missing);
      if (!given("--unlisted")) discretizer.unlisted = datasets::name_of(s.linear->unlisted);
      continue;
    }
    for_each_of_score(ranker, s.scoring,
                      [&](char const*, auto& value, auto const& found) { set(value, found); });
  }
  return all;
}

}  // namespace rulerank::apps
