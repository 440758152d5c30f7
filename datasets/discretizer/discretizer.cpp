#include "datasets/discretizer.hpp"

#include "core/bytes.hpp"
#include "core/error.hpp"
#include "core/even_ranges.hpp"
#include "core/parallel.hpp"
#include "core/process_group.hpp"
#include "datasets/discretizer/cut_points.hpp"
#include "datasets/discretizer/discretizer_parts.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::size_t features_a_piece = 8;

/// Returns the first entry of `row` whose feature is at least `feature`. Tries `guess` first,
/// because most rows list the same features.
std::size_t first_from(std::span<feature_value const> row, std::uint32_t feature,
                       std::size_t guess) {
  if (guess <= row.size() && (guess == row.size() || row[guess].feature >= feature) &&
      (guess == 0 || row[guess - 1].feature < feature))
    return guess;
  auto const at = std::partition_point(
      row.begin(), row.end(), [feature](feature_value const& e) { return e.feature < feature; });
  return static_cast<std::size_t>(at - row.begin());
}

/// The present values of some features, and the number of documents with the value 0 without a
/// listed number.
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

/// Returns a separate seed for each feature.
std::uint64_t feature_seed(std::uint64_t seed, std::uint32_t feature) {
  return seed ^ (0x9E3779B97F4A7C15ULL * (std::uint64_t{feature} + 1));
}

void check(discretizer_options const& options) {
  if (options.bins != 0 && (options.bins < 2 || options.bins > 250))
    throw usage_error(fmt::format("bins: found {}, expected 2 to 250, or 0 (cv)", options.bins));
}

/// Returns the options and features without cuts.
discretizer without_cuts(discretizer_options const& options, feature_names const& names,
                         std::vector<std::uint32_t> const& features) {
  discretizer fitted;
  fitted.options = options;
  fitted.names = names;
  fitted.features.resize(features.size());
  for (std::size_t f = 0; f < features.size(); ++f) fitted.features[f].feature = features[f];
  return fitted;
}

void cut(context const& ctx, discretizer_options const& options, value_counts const& counts,
         feature_cuts& f) {
  int const bins = options.bins != 0 ? options.bins
                                     : cross_validated_bins(options.method, counts,
                                                            feature_seed(ctx.seed, f.feature));
  f.cuts = cut_points(options.method, bins, counts);
}

/// Calls take(i, counts of features[i]) for each feature, several in parallel.
template <class Take>
void count_features(context const& ctx, dataset const& data,
                    std::span<std::uint32_t const> features, discretizer_options const& options,
                    Take const& take) {
  std::size_t const grain = std::clamp<std::size_t>(
      features.size() / static_cast<std::size_t>(ctx.thread_count()), 1, features_a_piece);
  parallel_for(ctx, features.size(), grain, [&](std::size_t first, std::size_t last, int) {
    present_values present = gather(data, features.subspan(first, last - first), options);
    for (std::size_t i = first; i < last; ++i) {
      ctx.check_stop();
      take(i, count_values(std::move(present.values[i - first]), present.zeros[i - first]));
    }
  });
}

/// Cuts some of the features by the values of all documents.
void cut_some(context const& ctx, dataset const& data, discretizer_options const& options,
              index_range some, discretizer& fitted) {
  std::vector<std::uint32_t> features;
  for (std::size_t f = some.begin; f < some.end; ++f)
    features.push_back(fitted.features[f].feature);
  // In rounds, to report progress between them.
  std::size_t const round = 8 * features_a_piece * static_cast<std::size_t>(ctx.thread_count());
  for (std::size_t begin = 0; begin < features.size(); begin += round) {
    ctx.report("fitting bins", begin, features.size());
    std::size_t const count = std::min(round, features.size() - begin);
    count_features(ctx, data, std::span(features).subspan(begin, count), options,
                   [&](std::size_t i, value_counts const& counts) {
                     cut(ctx, options, counts, fitted.features[some.begin + begin + i]);
                   });
  }
}

/// Returns the data set, or `made` if its values must be normalized.
dataset const& normalized(context const& ctx, dataset const& data,
                          discretizer_options const& options, dataset& made) {
  if (options.norm == normalization::none) return data;
  made = normalize(ctx, data, options.norm, options.missing, options.unlisted);
  return made;
}

/// The bytes of a distinct value and its count in an exchange.
constexpr std::size_t bytes_a_value = sizeof(double) + sizeof(std::uint64_t);

/// Returns whether this process cuts the feature with this index.
bool is_own(process_group const& group, std::size_t feature) {
  return feature % static_cast<std::size_t>(group.size()) == static_cast<std::size_t>(group.rank());
}

/// Returns the counts over all processes for the features from index `first` on, in one exchange;
/// empty counts for features that other processes cut.
std::vector<value_counts> counts_of_own(process_group const& group, std::size_t first,
                                        std::span<value_counts const> mine) {
  std::string bytes;
  for (value_counts const& one : mine) {
    put(bytes, one.values);
    put(bytes, one.before);
  }
  std::vector<value_counts> all(mine.size());
  for (std::string_view told : group.gather(bytes))
    for (std::size_t i = 0; i < mine.size(); ++i) {
      value_counts part;
      part.before.clear();
      take(told, part.values);
      take(told, part.before);
      if (is_own(group, first + i)) all[i] = merge(all[i], part);
    }
  return all;
}

}  // namespace

discretizer fit_discretizer(context const& ctx, dataset const& train,
                            discretizer_options const& options) {
  return fit_discretizer_together(without_processes(ctx), train, options);
}

discretizer fit_discretizer_together(context const& ctx, dataset const& train,
                                     discretizer_options const& options) {
  check(options);
  dataset made;
  dataset const& data = normalized(ctx, train, options, made);
  discretizer fitted = without_cuts(options, train.names, listed_features(train));
  index_range const own = own_range(ctx, fitted.features.size());
  cut_some(ctx, data, options, own, fitted);
  if (!has_processes(ctx)) return fitted;
  std::vector<std::vector<double>> mine;
  for (std::size_t f = own.begin; f < own.end; ++f)
    mine.push_back(std::move(fitted.features[f].cuts));
  auto cuts = join(*ctx.processes, mine);
  for (std::size_t f = 0; f < cuts.size(); ++f) fitted.features[f].cuts = std::move(cuts[f]);
  return fitted;
}

discretizer fit_discretizer_on_parts(context const& ctx, dataset const& part,
                                     discretizer_options const& options) {
  check(options);
  process_group const& group = *ctx.processes;
  dataset made;
  dataset const& data = normalized(ctx, part, options, made);
  std::vector<std::uint32_t> features = join(group, listed_features(part));
  std::ranges::sort(features);
  features.erase(std::unique(features.begin(), features.end()), features.end());
  discretizer fitted = without_cuts(options, part.names, features);
  std::size_t documents = 1;
  for (std::size_t const of_part : gather_values(group, part.size())) documents += of_part;
  // In rounds of as many features as all processes can cut at once, or can exchange at once. In
  // each round, a process has the values of its documents, and of all documents for its own
  // features.
  auto const threads = static_cast<std::size_t>(of_first(ctx, ctx.thread_count()));
  std::size_t const together = std::max<std::size_t>(bytes_together / bytes_a_value / documents, 1);
  std::size_t const round =
      std::max({static_cast<std::size_t>(group.size()) * threads, features_a_piece, together});
  std::vector<std::vector<double>> cuts(features.size());
  for (std::size_t begin = 0; begin < features.size(); begin += round) {
    ctx.report("fitting bins", begin, features.size());
    std::vector<value_counts> counts(std::min(round, features.size() - begin));
    count_features(ctx, data, std::span(features).subspan(begin, counts.size()), options,
                   [&](std::size_t i, value_counts mine) { counts[i] = std::move(mine); });
    for (std::size_t i = 0; i < counts.size(); i += together)
      std::ranges::move(
          counts_of_own(group, begin + i,
                        std::span(counts).subspan(i, std::min(together, counts.size() - i))),
          counts.begin() + static_cast<std::ptrdiff_t>(i));
    parallel_for(ctx, counts.size(), 1, [&](std::size_t first, std::size_t last, int) {
      for (std::size_t i = first; i < last; ++i) {
        ctx.check_stop();
        if (!is_own(group, begin + i)) continue;
        cut(ctx, options, counts[i], fitted.features[begin + i]);
        cuts[begin + i] = fitted.features[begin + i].cuts;
      }
    });
  }
  auto of_processes = gather_values(group, cuts);
  for (std::size_t f = 0; f < features.size(); ++f)
    fitted.features[f].cuts = std::move(of_processes[f % of_processes.size()][f]);
  return fitted;
}

void expect_items(dataset const& data, binned_dataset const& items) {
  if (items.feature_count() == 0)
    throw error({data.name, 1, 1},
                fmt::format("no feature of its {} has two bins, expected at least one "
                            "feature that varies",
                            counted(items.documents, "document")));
}

}  // namespace rulerank::datasets
