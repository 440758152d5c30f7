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

double strength_from(std::string const& word) {
  if (word == cross_fitted) return 0;
  auto const strength = read_number<double>(word, {1e-9, 1e9});
  if (!strength)
    throw usage_error(fmt::format(
        "--strength: found '{}', expected a number from 1e-9 to 1e9, or cross-fit", word));
  return *strength;
}

}  // namespace

void member_arguments::add_to(CLI::App& verb) {
  std::string const group = "Members";
  l2r::scorecard_options const card;
  expect_words(verb,
               verb.add_option("--members", members,
                               "Kinds of rankers, whose standardized scores are averaged: rules, "
                               "scorecard (points an item), linear (weights of raw features)"),
               kind_words(), true)
      ->type_name("KIND,...")
      ->capture_default_str()
      ->group(group);
  word_option(verb, "--loss", loss, {"pair", "list", "point"},
              "scorecard: by pairs of documents, by whole lists, or least squares")
      ->default_str(std::string(l2r::name_of(card.loss)))
      ->group(group);
  number_option(verb, "--points-penalty", points_penalty,
                "scorecard: L, L times the sum of squared points is added to the loss", {1e-9, 1e4})
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
  for (std::string const& word : all)
    if (std::find(known.begin(), known.end(), word) == known.end())
      throw usage_error(
          fmt::format("--members: found '{}', expected some of {}", word, fmt::join(known, ", ")));
  return all;
}

l2r::scorecard_options member_arguments::scorecard() const {
  l2r::scorecard_options options;
  if (loss) options.loss = l2r::card_loss_from(*loss);
  options.points_penalty = points_penalty.value_or(options.points_penalty);
  options.smoothness = smoothness.value_or(options.smoothness);
  l2r::check(options);
  return options;
}

l2r::linear_options member_arguments::linear(discretizer_arguments const& values) const {
  l2r::linear_options options;
  if (strength) options.strength = strength_from(*strength);
  options.missing = datasets::missing_values_from(values.missing);
  options.unlisted = datasets::unlisted_values_from(values.unlisted);
  l2r::check(options);
  return options;
}

void member_arguments::expect_use(std::vector<std::string> const& kinds) const {
  auto const expect = [&](std::string_view option, bool given, std::string_view kind) {
    if (given && std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      throw usage_error(fmt::format("{}: no member is of the kind {}", option, kind));
  };
  expect("--loss", loss.has_value(), "scorecard");
  expect("--points-penalty", points_penalty.has_value(), "scorecard");
  expect("--smoothness", smoothness.has_value(), "scorecard");
  expect("--strength", strength.has_value(), "linear");
}

}  // namespace rulerank::apps
