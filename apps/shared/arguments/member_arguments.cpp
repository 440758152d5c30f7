#include "apps/shared/arguments/member_arguments.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/item_words.hpp"
#include "l2r/model/model.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rulerank::inline v0::apps {

namespace {

constexpr std::string_view cross_fitted = "cross-fit";

}  // namespace

bool options_of_kinds::fits(std::vector<std::string> const& given) const {
  return std::ranges::find_first_of(given, kinds) != given.end();
}

std::string options_of_kinds::words() const {
  return fmt::format("{}", fmt::join(kinds, " or "));
}

double strength_from(std::string const& word) {
  if (word == cross_fitted) return 0;
  auto const strength = read_number<double>(word, {1e-9, 1e9});
  if (!strength)
    throw usage_error(
        fmt::format("found '{}', expected a number from 1e-9 to 1e9, or cross-fit", word));
  return *strength;
}

namespace {

/// Empty: by cross-fitting.
std::optional<double> points_penalty_from(std::string const& word) {
  if (word == cross_fitted) return {};
  auto const penalty = read_number<double>(word, {1e-9, 1e4});
  if (!penalty)
    throw usage_error(
        fmt::format("found '{}', expected a number from 1e-9 to 1e4, or cross-fit", word));
  return penalty;
}

}  // namespace

void member_arguments::add_card_to(CLI::App& verb) {
  number_option(verb, "--max-features", max_features, "card: most features, 1 to 1000", {1, 1000})
      ->default_str(fmt::format("{}", l2r::card_page{}.max_features));
  number_option(verb, "--max-points", points, "card: most points of a bin, 1 to 10000", {1, 10000})
      ->default_str(fmt::format("{}", l2r::card_page{}.points));
  path_option(verb, "--monotone", monotone,
              "card: file whose lines have a direction (rising, falling, free or either) and a "
              "feature's number or name; the labels choose the direction of other features "
              "(either)");
  path_option(verb, "--card", card_file,
              "card: features, cuts and points, a file of inspect --format card that you edited; "
              "points written as ? are fitted");
  for (char const* const other : {"--monotone", "--max-features", "--max-points"})
    verb.get_option("--card")->excludes(verb.get_option(other));
  word_option(verb, "--target", target, {"auto", "labels", "members"},
              fmt::format("card: fit the points to the labels, or to grades that the recommended "
                          "rankers give to the pool (members); auto: members with fewer than {} "
                          "labels",
                          l2r::few_labels_for_card))
      ->default_str("auto");
}

void member_arguments::add_to(CLI::App& verb) {
  verb_ = &verb;
  help_group const group(verb, "Model");
  l2r::scorecard_options const scorecard;
  l2r::scorecard_options const card = l2r::card_recipe().options;
  std::vector<std::string> words = words_in(l2r::member_kind_names());
  words.emplace_back(card_member);
  words.emplace_back(recommended_members);
  list_option(verb, "--members KIND,...", members, words,
              "Rankers of the model; several are averaged. rules: association rules; scorecard: "
              "points for bins of features; card: a scorecard on one page; linear: weights of raw "
              "features; joint: weights and points, fitted together; recommended: the best for "
              "this number of labels");
  word_option(verb, "--loss", loss, {"pair", "list", "point"},
              "scorecard, card: loss over pairs of documents, over lists, or least squares")
      ->default_str(fmt::format("{} for scorecard; chosen by the labels for card",
                                l2r::name_of(scorecard.loss)));
  expect_read(verb,
              value_option(verb, "--points-penalty L|cross-fit", points_penalty,
                           "scorecard, card: weight L of the sum of squared points in the loss; "
                           "cross-fit (scorecard only): L and M chosen by folds of the training "
                           "queries"),
              [](std::string const& word) { points_penalty_from(word); },
              {std::string(cross_fitted)})
      ->default_str(fmt::format("{} for scorecard, {} for card", scorecard.points_penalty,
                                card.points_penalty));
  number_option(verb, "--smoothness M", smoothness,
                "scorecard, card: weight M of the squared differences between points of "
                "neighbouring bins in the loss, 0 to 10000",
                {0, 1e4})
      ->default_str(
          fmt::format("{} for scorecard; chosen by folds for card", scorecard.smoothness));
  add_card_to(verb);
  expect_read(verb,
              value_option(verb, "--strength X|cross-fit", strength,
                           "linear: strength of the ridge penalty, 1e-9 to 1e9; cross-fit: chosen "
                           "by folds of the training queries"),
              [](std::string const& word) { strength_from(word); }, {std::string(cross_fitted)})
      ->default_str(fmt::format("{}", l2r::linear_options{}.strength));
  word_option(verb, "--linear-scale", linear_scale, l2r::linear_scale_names(),
              "linear: query, weights of z-scores within the query; pool, weights of z-scores over "
              "all training documents, so that scores do not depend on the list");
  number_option(verb, "--pairs", pairs,
                "joint: most pairs of features with points, 0 to 1000; cross-validation "
                "chooses how many",
                {0, 1000})
      ->default_str(fmt::format("{}", l2r::joint_options{}.max_pairs));
}

std::vector<std::string> member_arguments::kinds() const {
  std::vector<std::string> known = words_in(l2r::member_kind_names());
  known.emplace_back(card_member);
  std::vector<std::string> all = split_list(members);
  if (std::find(all.begin(), all.end(), recommended_members) != all.end()) {
    if (all.size() > 1)
      throw usage_error("--members: found recommended together with others, expected it alone");
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
    throw usage_error(
        "--smoothness cannot be combined with --points-penalty cross-fit, which chooses both");
  options.smoothness = smoothness.value_or(options.smoothness);
  options.folds = folds;
  l2r::check(options);
  return options;
}

l2r::scorecard_options member_arguments::card() const {
  l2r::scorecard_options options = l2r::card_recipe().options;
  l2r::scorecard_options const given = scorecard();
  if (loss) {
    options.loss = given.loss;
    options.page->choose_loss = false;
  }
  if (given.cross_fit)
    throw usage_error("--points-penalty: found cross-fit, expected a number for a card");
  if (points_penalty) options.points_penalty = given.points_penalty;
  if (smoothness) {
    options.smoothness = given.smoothness;
    options.cross_fit = false;
  }
  options.folds = given.folds;
  if (target) options.page->target = l2r::card_target_from(*target);
  options.page->max_features = max_features.value_or(options.page->max_features);
  options.page->points = points.value_or(options.page->points);
  l2r::check(options);
  return options;
}

l2r::scorecard_options member_arguments::card(session& owner,
                                              datasets::dataset const& train) const {
  l2r::scorecard_options options = card();
  std::string const& path = card_file.empty() ? monotone : card_file;
  if (path.empty()) return options;
  std::string const name = datasets::display_name(path);
  auto const text = datasets::open_text(owner.ctx(), owner.input(path));
  auto const from_text = card_file.empty() ? l2r::card_directions_from_text : l2r::card_from_text;
  std::vector<l2r::card_feature> features = from_text(text->bytes(), name, train.names);
  std::vector<std::uint32_t> const listed = datasets::listed_features(train);
  for (l2r::card_feature const& one : features)
    if (!std::ranges::binary_search(listed, one.feature))
      throw error({name, one.line, 1},
                  fmt::format("found {}, expected a feature of the training documents",
                              datasets::feature_text(one.feature, train.names)));
  if (card_file.empty())
    options.page->features = std::move(features);
  else
    l2r::set_features(*options.page, std::move(features));
  l2r::check(options);
  return options;
}

datasets::discretizer_options member_arguments::card_cuts(
    discretizer_arguments const& values) const {
  return cuts_like(l2r::card_recipe().discretizer, values);
}

datasets::discretizer_options member_arguments::joint_cuts(
    discretizer_arguments const& values) const {
  return cuts_like(l2r::joint_recipe{}.discretizer, values);
}

datasets::discretizer_options member_arguments::cuts_like(
    datasets::discretizer_options const& own, discretizer_arguments const& values) const {
  datasets::discretizer_options options = values.options();
  if (!has_own_cuts) return options;
  if (verb_ == nullptr || verb_->count("--method") == 0) options.method = own.method;
  if (verb_ == nullptr || verb_->count("--bins") == 0) options.bins = own.bins;
  return options;
}

l2r::linear_options member_arguments::linear(discretizer_arguments const& values) const {
  l2r::linear_options options;
  if (strength) options.strength = strength_from(*strength);
  options.folds = folds;
  options.scale = l2r::linear_scale_from(linear_scale);
  options.missing = datasets::missing_values_from(values.missing);
  options.unlisted = datasets::unlisted_values_from(values.unlisted);
  l2r::check(options);
  return options;
}

l2r::joint_options member_arguments::joint() const {
  l2r::joint_options options;
  options.max_pairs = pairs.value_or(options.max_pairs);
  options.folds = folds;
  l2r::check(options);
  return options;
}

void member_arguments::expect_use(std::vector<std::string> const& kinds) const {
  if (verb_ == nullptr) return;
  // `linear` also uses the options of missing values, and giving cuts or a norm for all kinds is
  // allowed.
  static std::vector<options_of_kinds> const all{
      {{"--rule-size", "--min-support", "--min-confidence", "--support-weight", "--smoothing",
        "--feature-share"},
       {"rules"}},
      {{"--method", "--bins"}, {"rules", "scorecard", card_member, "joint"}},
      {{"--loss", "--points-penalty", "--smoothness"}, {"scorecard", card_member}},
      {{"--max-features", "--max-points", "--target", "--monotone", "--card"}, {card_member}},
      {{"--strength", "--linear-scale"}, {"linear"}},
      {{"--pairs"}, {"joint"}}};
  bool const recommended = kinds.front() == recommended_members;
  for (options_of_kinds const& one : all)
    for (char const* const option : one.options) {
      if (verb_->count(option) == 0) continue;
      if (recommended)
        throw usage_error(
            fmt::format("{} cannot be combined with --members {}, which chooses all options; "
                        "expected --members {}",
                        option, recommended_members, one.words()));
      if (!one.fits(kinds))
        throw usage_error(
            fmt::format("{} applies to members of the kind {} alone; expected --members {}", option,
                        one.words(), one.words()));
    }
}

}  // namespace rulerank::apps
