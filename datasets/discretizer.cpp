#include "datasets/discretizer.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "datasets/cut_points.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

namespace rulerank::datasets {

namespace {

constexpr std::size_t features_a_piece = 8;

/// The first entry of `row` whose feature is `feature` or larger. Most rows list the same features,
/// so it is looked for at `guess` first.
std::size_t first_from(std::span<feature_value const> row, std::uint32_t feature,
                       std::size_t guess) {
  if (guess <= row.size() && (guess == row.size() || row[guess].feature >= feature) &&
      (guess == 0 || row[guess - 1].feature < feature))
    return guess;
  auto const at = std::partition_point(
      row.begin(), row.end(), [feature](feature_value const& e) { return e.feature < feature; });
  return static_cast<std::size_t>(at - row.begin());
}

/// The present values of a few features, and how many documents have the value 0 without a listed
/// number.
struct present_values {
  std::vector<std::vector<double>> values;
  std::vector<std::uint64_t> zeros;
};

present_values gather(dataset const& data, std::span<std::uint32_t const> features,
                      discretizer_options const& options) {
  present_values result;
  result.values.resize(features.size());
  result.zeros.resize(features.size());
  std::vector<std::uint64_t> listed(features.size());
  std::size_t guess = 0;
  for (std::size_t d = 0; d < data.size(); ++d) {
    std::span<feature_value const> const row = data.document(d);
    guess = first_from(row, features.front(), guess);
    std::size_t column = 0;
    for (std::size_t i = guess; i < row.size() && row[i].feature <= features.back(); ++i) {
      while (features[column] != row[i].feature) ++column;
      ++listed[column];
      if (!std::isnan(row[i].value))
        result.values[column].push_back(row[i].value);
      else if (options.missing == missing_values::zero)
        ++result.zeros[column];
    }
  }
  if (options.unlisted == unlisted_values::zero || options.missing == missing_values::zero)
    for (std::size_t c = 0; c < features.size(); ++c) result.zeros[c] += data.size() - listed[c];
  return result;
}

/// A stream of its own for each feature.
std::uint64_t feature_seed(std::uint64_t seed, std::uint32_t feature) {
  return seed ^ (0x9E3779B97F4A7C15ULL * (std::uint64_t{feature} + 1));
}

}  // namespace

discretizer fit_discretizer(context const& ctx, dataset const& train,
                            discretizer_options const& options) {
  if (options.bins != 0 && (options.bins < 2 || options.bins > 250))
    throw usage_error(fmt::format("bins: found {}, expected 2 to 250, or 0 (cv)", options.bins));
  dataset normalized;
  if (options.norm != normalization::none)
    normalized = normalize(ctx, train, options.norm, options.missing, options.unlisted);
  dataset const& data = options.norm == normalization::none ? train : normalized;

  std::vector<std::uint32_t> const features = listed_features(train);
  discretizer fitted;
  fitted.options = options;
  fitted.names = train.names;
  fitted.features.resize(features.size());
  for (std::size_t f = 0; f < features.size(); ++f) fitted.features[f].feature = features[f];

  // In rounds, so that progress can be told between them.
  std::size_t const round = 8 * features_a_piece * static_cast<std::size_t>(ctx.thread_count());
  for (std::size_t begin = 0; begin < features.size(); begin += round) {
    ctx.report("fitting bins", begin, features.size());
    std::size_t const count = std::min(round, features.size() - begin);
    std::size_t const grain = std::clamp<std::size_t>(
        count / static_cast<std::size_t>(ctx.thread_count()), 1, features_a_piece);
    parallel_for(ctx, count, grain, [&](std::size_t first, std::size_t last, int) {
      present_values present =
          gather(data, std::span(features).subspan(begin + first, last - first), options);
      for (std::size_t i = first; i < last; ++i) {
        ctx.check_stop();
        feature_cuts& f = fitted.features[begin + i];
        value_counts const counts =
            count_values(std::move(present.values[i - first]), present.zeros[i - first]);
        int const bins =
            options.bins != 0
                ? options.bins
                : cross_validated_bins(options.method, counts, feature_seed(ctx.seed, f.feature));
        f.cuts = cut_points(options.method, bins, counts);
      }
    });
  }
  return fitted;
}

void expect_items(dataset const& data, binned_dataset const& items) {
  if (items.feature_count() == 0)
    throw error({data.name, 1, 1},
                fmt::format("no feature of its {} has two bins, expected at least one "
                            "feature that varies",
                            counted(data.size(), "document")));
}

}  // namespace rulerank::datasets
