#include "l2r/scorecard/scorecard.hpp"

#include "core/error.hpp"
#include "core/named_values.hpp"
#include "core/parallel.hpp"
#include "l2r/model/json_fields.hpp"
#include "l2r/model/options_json.hpp"
#include "l2r/scorecard/points_objective.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

constexpr named_values<card_loss, 3> loss_words{
    {{"pair", card_loss::pair}, {"list", card_loss::list}, {"point", card_loss::point}}};

constexpr named_values<card_target, 3> target_words{{{"auto", card_target::automatic},
                                                     {"labels", card_target::labels},
                                                     {"members", card_target::members}}};

constexpr std::size_t documents_a_piece = 4096;
constexpr std::string_view cross_fitted_points = "cross-fit";

/// A feature that both a card and a set have: its column in each.
struct column_pair {
  std::size_t of_card = 0, of_items = 0;
};

std::vector<column_pair> columns_in_common(scorecard const& card,
                                           datasets::binned_dataset const& items) {
  std::vector<column_pair> common;
  for (std::size_t f = 0, g = 0; f < card.features.size() && g < items.feature_count();) {
    if (card.features[f] != items.features[g]) {
      ++(card.features[f] < items.features[g] ? f : g);
      continue;
    }
    std::uint32_t const bins = card.item_begin[f + 1] - card.item_begin[f];
    if (bins != items.bins(g))
      throw usage_error(fmt::format(
          "feature {} has {} bins, but the scorecard has points for {}, expected the same cuts",
          card.features[f], items.bins(g), bins));
    common.push_back({f++, g++});
  }
  return common;
}

}  // namespace

void expect_training(std::span<datasets::query_group const> queries,
                     datasets::binned_dataset const& training) {
  if (training.feature_count() == 0)
    throw usage_error("found training documents without items, expected a feature with two bins");
  if (training.labels.size() != training.documents ||
      (queries.empty() ? 0 : queries.back().end) != training.documents)
    throw usage_error("found labels or queries that do not belong to the training documents");
  for (std::int32_t const label : training.labels)
    if (label < 0) throw usage_error("found a training document without a label, expected labels");
}

std::string_view name_of(card_loss loss) {
  return name_in(loss_words, loss);
}

card_loss card_loss_from(std::string_view word) {
  return value_named<card_loss>(loss_words, word, "loss: found");
}

std::string_view name_of(card_target target) {
  return name_in(target_words, target);
}

card_target card_target_from(std::string_view word) {
  return value_named<card_target>(target_words, word, "target: found");
}

void set_features(card_page& page, std::vector<card_feature> features) {
  page.only_these = true;
  page.max_features = features.size();
  for (card_feature const& feature : features)
    for (std::optional<int> const& given : feature.points)
      page.points = std::max(page.points, given.value_or(0));
  page.features = std::move(features);
}

void check(scorecard_options const& options) {
  if (!(options.points_penalty >= 1e-9 && options.points_penalty <= 1e4))
    throw usage_error(
        fmt::format("found points penalty {}, expected 1e-9 to 1e4", options.points_penalty));
  if (!(options.smoothness >= 0 && options.smoothness <= 1e4))
    throw usage_error(fmt::format("found smoothness {}, expected 0 to 1e4", options.smoothness));
  if (options.folds < 2 || options.folds > 1000)
    throw usage_error(fmt::format("found {} folds, expected 2 to 1000", options.folds));
  if (!options.page) return;
  if (options.page->max_features < 1 || options.page->max_features > 1000)
    throw usage_error(fmt::format("found a limit of {} features, expected 1 to 1000",
                                  options.page->max_features));
  if (options.page->points < 1 || options.page->points > 10000)
    throw usage_error(
        fmt::format("found a limit of {} points, expected 1 to 10000", options.page->points));
  if (options.page->max_features * static_cast<std::size_t>(options.page->points) >= std::size_t{1}
                                                                                         << 24)
    throw usage_error(fmt::format("found {} features of {} points, expected sums below 16777216",
                                  options.page->max_features, options.page->points));
}

nlohmann::ordered_json to_json(scorecard_options const& options) {
  nlohmann::ordered_json json{{"loss", name_of(options.loss)}};
  if (options.cross_fit) {
    json["points_penalty"] = cross_fitted_points;
    json["folds"] = options.folds;
  } else {
    json["points_penalty"] = options.points_penalty;
    json["smoothness"] = options.smoothness;
  }
  if (options.page)
    json["page"] = {{"max_features", options.page->max_features},
                    {"points", options.page->points},
                    {"target", name_of(options.page->target)}};
  if (options.page && !options.page->features.empty()) {
    json["page"]["only_these"] = options.page->only_these;
    for (card_feature const& one : options.page->features)
      json["page"]["features"].push_back(
          {{"feature", one.feature}, {"direction", name_of(one.direction)}});
  }
  return json;
}

namespace {

void read_features(json_fields const& from, std::string const& name, std::string const& prefix,
                   card_page& page) {
  page.only_these = from.boolean("only_these");
  nlohmann::ordered_json const& features = from.list("features");
  for (std::size_t i = 0; i < features.size(); ++i) {
    json_fields const one(features[i], name, fmt::format("{}features[{}].", prefix, i));
    page.features.push_back({static_cast<std::uint32_t>(one.integer(
                                 "feature", 0, std::numeric_limits<std::int32_t>::max())),
                             one.known("direction", card_direction_from)});
  }
}

}  // namespace

scorecard_options scorecard_options_from(nlohmann::ordered_json const& json,
                                         std::string const& name, std::string const& prefix) {
  json_fields const fields(json, name, prefix);
  scorecard_options options;
  options.loss = fields.known("loss", card_loss_from);
  if (fields.has("page")) {
    json_fields const page(fields.member("page"), name, prefix + "page.");
    options.page = {page.integer("max_features", 1, 1000),
                    static_cast<int>(page.integer("points", 1, 10000))};
    if (page.has("target")) options.page->target = page.known("target", card_target_from);
    if (page.has("features")) read_features(page, name, prefix + "page.", *options.page);
  }
  if (fields.member("points_penalty").is_string()) {
    if (fields.word("points_penalty") != cross_fitted_points)
      fields.fail("points_penalty", "found a string, expected a number or cross-fit");
    if (fields.has("smoothness"))
      fields.fail("smoothness", "found together with points_penalty cross-fit, which chooses both");
    options.cross_fit = true;
    options.folds = fields.integer("folds", 2, 1000);
    return options;
  }
  options.points_penalty = fields.number("points_penalty");
  options.smoothness = fields.number("smoothness");
  try {
    check(options);
  } catch (usage_error const& e) {
    throw error({name, 1, 1}, prefix + e.what());
  }
  return options;
}

double value_of_points(std::int64_t points) {
  return std::ldexp(static_cast<double>(points), -card_bits);
}

scorecard fit_scorecard(context const& ctx, scorecard_training const& training,
                        scorecard_options const& asked) {
  scorecard_options const options = choose_penalties(ctx, training, asked);
  datasets::binned_dataset const& documents = training.documents;
  std::vector<double> points;
  if (options.loss == card_loss::point) {
    points = least_squares_points(ctx, documents, options);
  } else {
    points_objective objective(training.queries, documents, options);
    points = smallest_points(ctx, objective);
  }
  scorecard card{documents.features, documents.item_begin, {}};
  for (double const p : points)
    card.points.push_back(static_cast<std::int64_t>(std::nearbyint(std::ldexp(p, card_bits))));
  return card;
}

std::vector<double> score(context const& ctx, scorecard const& by,
                          datasets::binned_dataset const& documents) {
  std::vector<column_pair> const common = columns_in_common(by, documents);
  std::vector<double> scores(documents.documents);
  parallel_for(ctx, documents.documents, documents_a_piece,
               [&](std::size_t begin, std::size_t end, int) {
                 std::vector<std::int64_t> sums(end - begin);
                 std::array<std::int64_t, 256> of_code{};  // 0 for no item
                 for (column_pair const& c : common) {
                   std::uint32_t const first = by.item_begin[c.of_card];
                   of_code.fill(0);
                   std::copy(by.points.begin() + first,
                             by.points.begin() + by.item_begin[c.of_card + 1], of_code.begin());
                   std::uint8_t const* const codes = documents.column(c.of_items);
                   for (std::size_t d = begin; d < end; ++d) sums[d - begin] += of_code[codes[d]];
                 }
                 std::ranges::transform(sums, scores.begin() + static_cast<std::ptrdiff_t>(begin),
                                        value_of_points);
               });
  return scores;
}

}  // namespace rulerank::l2r
