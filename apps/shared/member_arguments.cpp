#include "apps/shared/member_arguments.hpp"

#include "apps/shared/options.hpp"
#include "core/error.hpp"
#include "l2r/model.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rulerank::apps {

namespace {

constexpr std::string_view cross_fitted = "cross-fit";

std::vector<std::string> kind_words() {
  auto const names = l2r::member_kind_names();
  return {names.begin(), names.end()};
}

std::vector<std::string> member_words() {
  std::vector<std::string> words = kind_words();
  words.emplace_back(recommended_members);
  return words;
}

/// Options of one kind of member, or two. `linear` has those that say what missing values are, too,
/// and to name cuts or a norm for all kinds is no fault.
struct option_of_kinds {
  std::string option;
  std::vector<std::string> kinds;
};

std::vector<option_of_kinds> options_of_kinds() {
  std::vector<option_of_kinds> all;
  for (char const* const option : {"--rule-size", "--min-support", "--min-confidence",
                                   "--support-weight", "--smoothing", "--feature-share"})
    all.push_back({option, {"rules"}});
  for (char const* const option : {"--method", "--bins"})
    all.push_back({option, {"rules", "scorecard"}});
  for (char const* const option : {"--loss", "--points-penalty", "--smoothness"})
    all.push_back({option, {"scorecard"}});
  all.push_back({"--strength", {"linear"}});
  return all;
}

}  // namespace

double strength_from(std::string const& word) {
  if (word == cross_fitted) return 0;
  auto const strength = read_number<double>(word, {1e-9, 1e9});
  if (!strength)
    throw usage_error(
        fmt::format("found '{}', expected a number from 1e-9 to 1e9, or cross-fit", word));
  return *strength;
}

namespace {

/// None: cross-fitted.
std::optional<double> points_penalty_from(std::string const& word) {
  if (word == cross_fitted) return {};
  auto const penalty = read_number<double>(word, {1e-9, 1e4});
  if (!penalty)
    throw usage_error(
        fmt::format("found '{}', expected a number from 1e-9 to 1e4, or cross-fit", word));
  return penalty;
}

}  // namespace

void member_arguments::add_to(CLI::App& verb) {
  verb_ = &verb;
  std::string const group = "Members";
  l2r::scorecard_options const card;
  expect_words(verb,
               verb.add_option("--members", members,
                               "Kinds of rankers, whose standardized scores are averaged: rules, "
                               "scorecard (points an item), linear (weights of raw features); or "
                               "recommended: what is best for labels like these, and why"),
               member_words(), true)
      ->type_name("KIND,...")
      ->capture_default_str()
      ->group(group);
  word_option(verb, "--loss", loss, {"pair", "list", "point"},
              "scorecard: by pairs of documents, by whole lists, or least squares")
      ->default_str(std::string(l2r::name_of(card.loss)))
      ->group(group);
  expect_read(verb,
              verb.add_option("--points-penalty", points_penalty,
                              "scorecard: L, L times the sum of squared points is added to the "
                              "loss; cross-fit: L and M are chosen by folds of the training "
                              "queries"),
              [](std::string const& word) { points_penalty_from(word); },
              {std::string(cross_fitted)})
      ->type_name("L|cross-fit")
      ->default_str(fmt::format("{}", card.points_penalty))
      ->group(group);
  number_option(
      verb, "--smoothness", smoothness,
      "scorecard: M, M times the squared differences of neighbouring bins' points are, too",
      {0, 1e4})
      ->default_str(fmt::format("{}", card.smoothness))
      ->group(group);
  expect_read(verb,
              verb.add_option("--strength", strength,
                              "linear: of the ridge, a number, or cross-fit: chosen by folds of "
                              "the training queries"),
              [](std::string const& word) { strength_from(word); }, {std::string(cross_fitted)})
      ->type_name("X|cross-fit")
      ->default_str(fmt::format("{}", l2r::linear_options{}.strength))
      ->group(group);
}

std::vector<std::string> member_arguments::kinds() const {
  std::vector<std::string> const known = kind_words();
  std::vector<std::string> all = split_list(members);
  if (std::find(all.begin(), all.end(), recommended_members) != all.end()) {
    if (all.size() > 1)
      throw usage_error("--members: found recommended beside others, expected it alone");
    return all;
  }
  for (auto word = all.begin(); word != all.end(); ++word) {
    if (std::find(known.begin(), known.end(), *word) == known.end())
      throw usage_error(fmt::format("--members: found '{}', expected some of {}, or {}", *word,
                                    fmt::join(known, ", "), recommended_members));
    if (std::find(all.begin(), word, *word) != word)
      throw usage_error(fmt::format("--members: {} is given twice", *word));
  }
  return all;
}

l2r::scorecard_options member_arguments::scorecard() const {
  l2r::scorecard_options options;
  if (loss) options.loss = l2r::card_loss_from(*loss);
  if (points_penalty) {
    std::optional<double> const penalty = points_penalty_from(*points_penalty);
    options.cross_fit = !penalty;
    options.points_penalty = penalty.value_or(options.points_penalty);
  }
  if (options.cross_fit && smoothness)
    throw usage_error("--smoothness: --points-penalty cross-fit chooses it, too");
  options.smoothness = smoothness.value_or(options.smoothness);
  options.folds = folds;
  l2r::check(options);
  return options;
}

l2r::linear_options member_arguments::linear(discretizer_arguments const& values) const {
  l2r::linear_options options;
  if (strength) options.strength = strength_from(*strength);
  options.folds = folds;
  options.missing = datasets::missing_values_from(values.missing);
  options.unlisted = datasets::unlisted_values_from(values.unlisted);
  l2r::check(options);
  return options;
}

void member_arguments::expect_use(std::vector<std::string> const& kinds) const {
  if (verb_ == nullptr) return;
  for (option_of_kinds const& one : options_of_kinds()) {
    if (verb_->count(one.option) == 0) continue;
    std::string const of = fmt::format("{}", fmt::join(one.kinds, " or "));
    if (kinds.front() == recommended_members && verb_->count("--members") == 0)
      throw usage_error(
          fmt::format("{}: {} chooses the members (--members {}), which have it; expected "
                      "--members {} beside it",
                      one.option, verb_->get_name(), recommended_members, of));
    if (kinds.front() == recommended_members)
      throw usage_error(
          fmt::format("{}: --members {} chooses the members, which have it; expected --members {}",
                      one.option, recommended_members, of));
    if (std::find_first_of(kinds.begin(), kinds.end(), one.kinds.begin(), one.kinds.end()) ==
        kinds.end())
      throw usage_error(fmt::format("{}: no member is of the kind {}", one.option, of));
  }
}

}  // namespace rulerank::apps
