#include "core/error.hpp"
#include "core/process_group.hpp"
#include "core/stopwatch.hpp"
#include "datasets/item_words.hpp"
#include "l2r/model/member_kind.hpp"
#include "l2r/model/options_json.hpp"
#include "l2r/model/recommended.hpp"
#include "l2r/model/scorer.hpp"
#include "l2r/scorecard/graded_pool.hpp"
#include "l2r/scorecard/one_page.hpp"
#include "l2r/scorecard/query_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

// The member kind `scorecard`: points of items.
namespace rulerank::inline v0::l2r {

scorecard_recipe card_recipe() {
  scorecard_recipe made;
  made.discretizer.method = datasets::binning::capped;
  made.discretizer.bins = 12;
  // A page has few features, so large points do no harm.
  made.options.points_penalty = 1e-3;
  made.options.cross_fit = true;
  card_page& page = made.options.page.emplace();
  page.choose_loss = true;
  page.target = card_target::automatic;
  return made;
}

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

nlohmann::ordered_json to_json(card_trial const& of) {
  return {{"features", of.features},
          {"smoothness", of.smoothness},
          {"quality", of.quality},
          {"behind", of.behind},
          {"error", of.error}};
}

nlohmann::ordered_json to_json(card_sizes const& of) {
  nlohmann::ordered_json json{{"loss", name_of(of.loss)}, {"chosen", of.chosen}};
  for (card_trial const& one : of.tried) json["frontier"].push_back(to_json(one));
  return json;
}

namespace {

/// The trials in the member `frontier`.
std::vector<card_trial> read_frontier(json_fields const& from) {
  std::vector<card_trial> tried;
  for (std::size_t i = 0; i < from.list("frontier").size(); ++i) {
    json_fields const one(from.list("frontier")[i], from.name(),
                          fmt::format("{}frontier[{}].", from.prefix(), i));
    tried.push_back({one.integer("features", 1, 1000), one.number("smoothness"),
                     one.number("quality"), one.number("behind"), one.number("error")});
  }
  return tried;
}

}  // namespace

card_sizes card_sizes_from(nlohmann::ordered_json const& json, std::string const& name,
                           std::string const& prefix) {
  json_fields const from(json, name, prefix);
  return {from.known("loss", card_loss_from), read_frontier(from), from.integer("chosen", 1, 1000)};
}

nlohmann::ordered_json to_json(card_total const& of) {
  return {{"from", of.from}, {"documents", of.documents}, {"mean_label", of.mean_label}};
}

namespace {

constexpr std::int64_t most_points = std::int64_t{1} << 52;  // exactly representable as double

std::vector<std::uint32_t> documents_of_items(datasets::binned_dataset const& items) {
  std::vector<std::uint32_t> count(items.items());
  for (std::size_t f = 0; f < items.feature_count(); ++f)
    for (std::size_t d = 0; d < items.documents; ++d)
      if (std::uint8_t const code = items.code(f, d); code != datasets::no_item)
        ++count[items.item_begin[f] + code];
  return count;
}

scorecard_member member_of(page_card page, scorecard_options const& options, std::size_t folds,
                           std::vector<card_trial> frontier) {
  return {std::make_shared<datasets::discretizer const>(std::move(page.cuts)),
          options,
          std::move(page.card),
          folds,
          static_cast<std::uint32_t>(page.items.documents),
          documents_of_items(page.items),
          std::move(frontier),
          options.loss,
          std::move(page.totals)};
}

/// The cuts of exactly the features that a page names: given ones, or the recipe's. Throws `error`
/// naming the documents if no document has such a feature, or if it is constant.
cuts_pointer cuts_of_page(context const& ctx, datasets::dataset const& train,
                          scorecard_recipe const& wanted) {
  datasets::discretizer cuts =
      wanted.cuts ? *wanted.cuts : datasets::fit_discretizer(ctx, train, wanted.discretizer);
  auto const& named = wanted.options.page->features;
  for (datasets::feature_cuts& one : cuts.features) {
    auto const given = std::ranges::find(named, one.feature, &card_feature::feature);
    if (given == named.end())
      one.cuts.clear();
    else if (!given->cuts.empty())
      one.cuts = given->cuts;
    // A page may have more bins than the documents would get; files hold at most `bins`.
    if (cuts.options.bins != 0)
      cuts.options.bins = std::max(cuts.options.bins, static_cast<int>(one.cuts.size()) + 1);
  }
  for (card_feature const& one : named) {
    auto const found =
        std::ranges::find(cuts.features, one.feature, &datasets::feature_cuts::feature);
    if (found == cuts.features.end() || found->cuts.empty())
      throw error(
          {train.name, 1, 1},
          fmt::format(
              "all documents have the same value of {}, expected a feature of the card that varies",
              datasets::feature_text(one.feature, cuts.names)));
  }
  return std::make_shared<datasets::discretizer const>(std::move(cuts));
}

/// Fits a card on one page.
scorecard_member fit_page_member(context const& ctx, fitting const& from,
                                 scorecard_recipe const& wanted, fitted_items const& made) {
  scorecard_options options = wanted.options;
  card_target& target = options.page->target;
  if (target == card_target::automatic)
    target = options.page->choose_loss && from.labelled.size() < few_labels_for_card
                 ? card_target::members
                 : card_target::labels;
  if (target == card_target::members) {
    query_subset const pool =
        graded_by_members(ctx, from.train, {wanted.discretizer, wanted.cuts}, *made.cuts);
    if (options.page->choose_loss) options.loss = card_loss::pair;
    options.cross_fit = false;  // folds cannot reveal the error of grades
    options.page->choose_loss = false;
    page_card page =
        fit_page(ctx, pool.queries, pool.items, *made.cuts, options_for_grades(options));
    page.totals = totals_of(page, *made.items);
    return member_of(std::move(page), options, 0, {});
  }
  page_choice choice = choose_page(ctx, from.lists, *made.items, *made.cuts, options);
  page_card page = fit_page(ctx, from.lists, *made.items, *made.cuts, choice.options);
  std::size_t const folds = choice.frontier.empty() ? 0 : options.folds;
  return member_of(std::move(page), choice.options, folds, std::move(choice.frontier));
}

model_member fit_card(context const& ctx, fitting& from, recipe const& how) {
  auto const& wanted = std::get<scorecard_recipe>(how);
  check(wanted.options);
  bool const only_these = wanted.options.page && wanted.options.page->only_these;
  fitted_items const& made =
      items_of(ctx, from, wanted.discretizer,
               only_these ? cuts_of_page(ctx, from.train, wanted) : wanted.cuts);
  if (wanted.options.page) return fit_page_member(ctx, from, wanted, made);
  scorecard_options const used = choose_penalties(ctx, {from.lists, *made.items}, wanted.options);
  return scorecard_member{made.cuts,
                          used,
                          fit_scorecard(ctx, {from.lists, *made.items}, used),
                          wanted.options.cross_fit ? wanted.options.folds : 0,
                          static_cast<std::uint32_t>(made.items->documents),
                          documents_of_items(*made.items)};
}

nlohmann::ordered_json write_card(model_member const& of, stored_parts& parts) {
  auto const& member = std::get<scorecard_member>(of);
  scorecard const& card = member.card;
  if (!member.cuts) throw usage_error("a scorecard without cuts cannot be saved");
  scorecard const by_cuts = columns_of(*member.cuts);
  if (by_cuts.features != card.features || by_cuts.item_begin != card.item_begin ||
      card.points.size() != by_cuts.item_begin.back())
    throw usage_error(
        "the items of the scorecard differ from those of its cuts, expected the same");
  auto const by_feature = [&](auto const& of_items) {
    nlohmann::ordered_json lists = nlohmann::ordered_json::array();
    for (std::size_t f = 0; f < card.features.size(); ++f)
      lists.push_back(std::vector(of_items.begin() + card.item_begin[f],
                                  of_items.begin() + card.item_begin[f + 1]));
    return lists;
  };
  if (member.options.cross_fit)
    throw usage_error("a scorecard whose penalties were not chosen cannot be saved");
  nlohmann::ordered_json options = to_json(member.options);
  if (member.cross_fitted_folds > 0) options["cross_fitted_folds"] = member.cross_fitted_folds;
  for (card_trial const& one : member.frontier) options["frontier"].push_back(to_json(one));
  if (!member.frontier.empty() && member.frontier_loss != member.options.loss)
    options["frontier_loss"] = name_of(member.frontier_loss);
  nlohmann::ordered_json written{{"cuts", parts.index_of(member.cuts)},
                                 {"options", std::move(options)},
                                 {"unit_bits", card_bits},
                                 {"points", by_feature(card.points)}};
  if (member.item_documents.size() == card.points.size()) {
    written["training_documents"] = member.training_documents;
    written["item_documents"] = by_feature(member.item_documents);
  }
  for (card_total const& one : member.totals) written["totals"].push_back(to_json(one));
  return written;
}

void read_counts(json_fields const& from, scorecard_member& member) {
  constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
  member.training_documents =
      static_cast<std::uint32_t>(from.integer("training_documents", 1, most));
  auto const counts =
      read_by_feature(from, "item_documents", member.card.item_begin, 0, member.training_documents);
  member.item_documents.assign(counts.begin(), counts.end());
  for (std::size_t f = 0; f < member.card.features.size(); ++f)
    if (std::accumulate(counts.begin() + member.card.item_begin[f],
                        counts.begin() + member.card.item_begin[f + 1],
                        std::int64_t{0}) > member.training_documents)
      from.fail(fmt::format("item_documents[{}]", f),
                fmt::format("found more documents than {}", member.training_documents));
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
  if (options.has("frontier")) member.frontier = read_frontier(options);
  member.frontier_loss = options.has("frontier_loss")
                             ? options.known("frontier_loss", card_loss_from)
                             : member.options.loss;
  from.integer("unit_bits", card_bits, card_bits);
  member.card = columns_of(*member.cuts);
  // Sums of this many points fit 64 bits.
  constexpr std::size_t most_features = std::numeric_limits<std::int64_t>::max() / most_points;
  if (std::size_t const features = member.card.features.size();
      features == 0 || features > most_features)
    from.fail("points",
              fmt::format("found cuts of {} features, expected 1 to {}", features, most_features));
  member.card.points =
      read_by_feature(from, "points", member.card.item_begin, -most_points, most_points);
  if (from.has("item_documents")) read_counts(from, member);
  if (from.has("totals"))
    for (std::size_t i = 0; i < from.list("totals").size(); ++i) {
      json_fields const one(from.list("totals")[i], from.name(),
                            fmt::format("{}totals[{}].", from.prefix(), i));
      member.totals.push_back(
          {static_cast<std::int64_t>(one.integer("from", 0, std::uint64_t{1} << 24)),
           static_cast<std::uint32_t>(
               one.integer("documents", 1, std::numeric_limits<std::int32_t>::max())),
           one.number("mean_label")});
    }
  return member;
}

class prepared_card final : public prepared_member {
 public:
  explicit prepared_card(scorecard card) : card_(std::move(card)) {}

  using prepared_member::score;
  scored score(context const& ctx, datasets::binned_dataset const& items) const override {
    stopwatch const watch;
    scored result;
    result.scores = l2r::score(ctx, card_, items);
    result.timings.score_s = watch.seconds();
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

constinit member_kind const scorecard_kind{"scorecard", false,     fit_card,
                                           write_card,  read_card, prepare_card};

}  // namespace rulerank::l2r
