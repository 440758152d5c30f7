#include "core/error.hpp"
#include "l2r/member_kind.hpp"
#include "l2r/scorecard.hpp"

#include <chrono>
#include <limits>

#include <fmt/format.h>

// The kind `scorecard`: points of items.
namespace rulerank::l2r {

namespace {

constexpr std::int64_t most_points = std::int64_t{1} << 52;  // doubles have all of these

cuts_pointer const& cuts_of_card(model_member const& of) {
  return std::get<scorecard_member>(of).cuts;
}

model_member fit_card(context const& ctx, fitting& from, recipe const& how) {
  auto const& wanted = std::get<scorecard_recipe>(how);
  check(wanted.options);
  fitted_items const& made = items_of(ctx, from, wanted.discretizer, wanted.cuts);
  scorecard_options const used = choose_penalties(ctx, from.lists, *made.items, wanted.options);
  return scorecard_member{made.cuts, used, fit_scorecard(ctx, from.lists, *made.items, used),
                          wanted.options.cross_fit ? wanted.options.folds : 0};
}

/// Of the items that cuts make: features and where each one's items begin.
scorecard columns_of(datasets::discretizer const& cuts) {
  std::uint32_t const missing = cuts.options.missing == datasets::missing_values::item ? 1 : 0;
  scorecard card;
  card.item_begin.push_back(0);
  for (datasets::feature_cuts const& f : cuts.features) {
    if (f.cuts.empty()) continue;
    card.features.push_back(f.feature);
    card.item_begin.push_back(card.item_begin.back() +
                              static_cast<std::uint32_t>(f.cuts.size() + 1 + missing));
  }
  return card;
}

nlohmann::ordered_json write_card(model_member const& of, stored_parts& parts) {
  auto const& member = std::get<scorecard_member>(of);
  scorecard const& card = member.card;
  if (!member.cuts) throw usage_error("a scorecard without cuts, which no model file holds");
  scorecard const by_cuts = columns_of(*member.cuts);
  if (by_cuts.features != card.features || by_cuts.item_begin != card.item_begin ||
      card.points.size() != by_cuts.item_begin.back())
    throw usage_error("a scorecard of other items than its cuts make");
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (std::size_t f = 0; f < card.features.size(); ++f)
    points.push_back(std::vector(card.points.begin() + card.item_begin[f],
                                 card.points.begin() + card.item_begin[f + 1]));
  if (member.options.cross_fit)
    throw usage_error("a scorecard whose penalties were not chosen, which no model file holds");
  nlohmann::ordered_json options = to_json(member.options);
  if (member.cross_fitted_folds > 0) options["cross_fitted_folds"] = member.cross_fitted_folds;
  return {{"cuts", parts.index_of(member.cuts)},
          {"options", std::move(options)},
          {"unit_bits", card_bits},
          {"points", std::move(points)}};
}

/// The points of feature f.
void read_points(json_fields const& from, nlohmann::ordered_json const& of_feature, std::size_t f,
                 scorecard& card) {
  std::string const key = fmt::format("points[{}]", f);
  std::size_t const items = card.item_begin[f + 1] - card.item_begin[f];
  if (!of_feature.is_array() || of_feature.size() != items)
    from.fail(key, fmt::format("found no list of {} points, one for each item of feature {}", items,
                               card.features[f]));
  for (nlohmann::ordered_json const& one : of_feature) {
    bool const fits = one.is_number_integer() &&
                      (!one.is_number_unsigned() || one.get<std::uint64_t>() <= most_points);
    std::int64_t const points = fits ? one.get<std::int64_t>() : 0;
    if (!fits || points < -most_points)
      from.fail(key, fmt::format("found points that are no integer from {} to {}", -most_points,
                                 most_points));
    card.points.push_back(points);
  }
}

model_member read_card(json_fields const& from, stored_parts const& parts) {
  scorecard_member member;
  member.cuts = parts.cuts[from.index("cuts", parts.cuts.size())];
  member.options =
      scorecard_options_from(from.member("options"), from.name(), from.prefix() + "options.");
  if (member.options.cross_fit)
    from.fail("options.points_penalty", "found cross-fit, expected the penalty that was used");
  json_fields const options(from.member("options"), from.name(), from.prefix() + "options.");
  if (options.has("cross_fitted_folds"))
    member.cross_fitted_folds = options.integer("cross_fitted_folds", 2, 1000);
  from.integer("unit_bits", card_bits, card_bits);
  member.card = columns_of(*member.cuts);
  // No sum of so many points leaves 64 bits.
  constexpr std::size_t most_features = std::numeric_limits<std::int64_t>::max() / most_points;
  nlohmann::ordered_json const& points = from.list("points");
  if (points.empty() || points.size() != member.card.features.size() ||
      points.size() > most_features)
    from.fail("points", fmt::format("found the points of {} features, expected {}, at least 1 and "
                                    "at most {}",
                                    points.size(), member.card.features.size(), most_features));
  for (std::size_t f = 0; f < points.size(); ++f) read_points(from, points[f], f, member.card);
  return member;
}

class prepared_card final : public prepared_member {
 public:
  explicit prepared_card(scorecard card) : card_(std::move(card)) {}

  using prepared_member::score;
  scored score(context const& ctx, datasets::binned_dataset const& items) const override {
    auto const begin = std::chrono::steady_clock::now();
    scored result;
    for (std::int64_t const points : points_of(ctx, card_, items))
      result.scores.push_back(value_of_points(points));
    result.timings.score_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
  }

 private:
  scorecard card_;
};

std::unique_ptr<prepared_member> prepare_card(context const&, model_member const& of,
                                              engine_options const&) {
  return std::make_unique<prepared_card>(std::get<scorecard_member>(of).card);
}

}  // namespace

constinit member_kind const scorecard_kind{"scorecard", false,     cuts_of_card, fit_card,
                                           write_card,  read_card, prepare_card};

}  // namespace rulerank::l2r
