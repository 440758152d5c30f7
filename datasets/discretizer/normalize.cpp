#include "core/parallel.hpp"
#include "datasets/discretizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rulerank::inline v0::datasets {

namespace {

/// One feature within one query: x becomes (x * scale - centre) / spread, or 0 if it is constant.
/// The scale is a power of two that keeps squares and ranges of very large and small values finite;
/// it changes no bit of other values.
struct column {
  std::uint32_t feature = 0;
  std::size_t listed = 0;  ///< documents that list it, including as missing
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double scale = 1, centre = 0, spread = 0;

  void see(double x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  bool constant() const { return !(low < high); }
  double apply(double x) const {
    if (std::isnan(x)) return x;
    return spread > 0 ? (x * scale - centre) / spread : 0.0;
  }
};

/// The documents of one query.
class query_normalizer {
 public:
  query_normalizer(dataset const& data, query_group const& query, normalization how,
                   missing_values missing, unlisted_values unlisted)
      : data_(data),
        query_(query),
        missing_is_zero_(missing == missing_values::zero),
        unlisted_is_zero_(missing_is_zero_ || unlisted == unlisted_values::zero) {
    find_columns();
    find_ranges();
    for (column& c : columns_) {
      if (c.constant()) continue;
      int const exponent = std::ilogb(std::max(std::abs(c.low), std::abs(c.high)));
      c.scale = std::ldexp(1.0, -std::clamp(exponent, -1000, 1000));
      if (how == normalization::query_minmax) {
        c.centre = c.low * c.scale;
        c.spread = c.high * c.scale - c.centre;
      }
    }
    if (how == normalization::query_zscore) find_moments();
  }

  /// Appends the rows of the query's documents to `entries`, and their lengths to `sizes`.
  void emit(std::vector<feature_value>& entries, std::size_t* sizes) const {
    for (std::size_t d = query_.begin; d < query_.end; ++d) {
      std::size_t const before = entries.size();
      std::span<feature_value const> const row = data_.document(d);
      auto at = row.begin();
      for (column const& c : columns_) {
        if (at != row.end() && at->feature == c.feature) {
          entries.push_back({c.feature, c.apply(value_of(*at))});
          ++at;
        } else if (unlisted_is_zero_) {
          if (double const value = c.apply(0); value != 0) entries.push_back({c.feature, value});
        }
      }
      sizes[d - query_.begin] = entries.size() - before;
    }
  }

 private:
  double value_of(feature_value const& entry) const {
    return missing_is_zero_ && std::isnan(entry.value) ? 0.0 : entry.value;
  }

  /// Calls `see(column, value)` for every listed value that is present, in document order.
  template <class See>
  void for_each_present(See see) {
    for (std::size_t d = query_.begin; d < query_.end; ++d) {
      auto c = columns_.begin();
      for (feature_value const& entry : data_.document(d)) {
        while (c->feature != entry.feature) ++c;
        if (double const value = value_of(entry); !std::isnan(value)) see(*c, value);
      }
    }
  }

  void find_columns() {
    std::vector<std::uint32_t> features;
    for (std::size_t d = query_.begin; d < query_.end; ++d) {
      std::size_t const before = features.size();
      for (feature_value const& entry : data_.document(d))
        if (!std::binary_search(features.begin(),
                                features.begin() + static_cast<std::ptrdiff_t>(before),
                                entry.feature))
          features.push_back(entry.feature);
      std::inplace_merge(features.begin(), features.begin() + static_cast<std::ptrdiff_t>(before),
                         features.end());
    }
    columns_.resize(features.size());
    for (std::size_t i = 0; i < features.size(); ++i) columns_[i].feature = features[i];
  }

  void find_ranges() {
    for (std::size_t d = query_.begin; d < query_.end; ++d) {
      auto c = columns_.begin();
      for (feature_value const& entry : data_.document(d)) {
        while (c->feature != entry.feature) ++c;
        ++c->listed;
      }
    }
    for_each_present([](column& c, double x) { c.see(x); });
    if (unlisted_is_zero_)
      for (column& c : columns_)
        if (c.listed < query_.size()) c.see(0);
  }

  void find_moments() {
    struct moments {
      double sum = 0, squares = 0;
      std::size_t present = 0;
    };
    std::vector<moments> all(columns_.size());
    auto const of = [&](column const& c) -> moments& {
      return all[static_cast<std::size_t>(&c - columns_.data())];
    };
    for_each_present([&](column& c, double x) {
      of(c).sum += x * c.scale;
      ++of(c).present;
    });
    for (column& c : columns_) {
      if (unlisted_is_zero_) of(c).present += query_.size() - c.listed;
      if (of(c).present > 0) c.centre = of(c).sum / static_cast<double>(of(c).present);
    }
    for_each_present([&](column& c, double x) {
      double const away = x * c.scale - c.centre;
      of(c).squares += away * away;
    });
    for (column& c : columns_) {
      if (c.constant()) continue;
      if (unlisted_is_zero_)
        of(c).squares += static_cast<double>(query_.size() - c.listed) * (c.centre * c.centre);
      c.spread = std::sqrt(of(c).squares / static_cast<double>(of(c).present));
    }
  }

  dataset const& data_;
  query_group const& query_;
  bool missing_is_zero_;
  bool unlisted_is_zero_;
  std::vector<column> columns_;  ///< features that any document of the query lists, ascending
};

}  // namespace

dataset normalize(context const& ctx, dataset const& data, normalization how,
                  missing_values missing, unlisted_values unlisted) {
  if (how == normalization::none) return data;
  std::size_t const queries = data.queries.size();
  std::vector<std::vector<feature_value>> parts(queries);
  std::vector<std::size_t> sizes(data.size());
  parallel_for(ctx, queries, 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t q = begin; q < end; ++q)
      query_normalizer(data, data.queries[q], how, missing, unlisted)
          .emit(parts[q], sizes.data() + data.queries[q].begin);
  });

  dataset result;
  result.name = data.name;
  result.labels = data.labels;
  result.fractional_labels = data.fractional_labels;
  result.names = data.names;
  result.delimiter = data.delimiter;
  result.header = data.header;
  result.label_column = data.label_column;
  result.queries = data.queries;
  result.comments = data.comments;
  result.ids = data.ids;
  result.lines = data.lines;
  result.line_numbers = data.line_numbers;
  result.text = data.text;
  result.row.resize(data.size() + 1);
  for (std::size_t d = 0; d < data.size(); ++d) result.row[d + 1] = result.row[d] + sizes[d];
  result.entries.resize(result.row.back());
  parallel_for(ctx, queries, 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t q = begin; q < end; ++q) {
      std::copy(
          parts[q].begin(), parts[q].end(),
          result.entries.begin() + static_cast<std::ptrdiff_t>(result.row[data.queries[q].begin]));
      parts[q] = {};
    }
  });
  return result;
}

namespace {

/// The values of a feature in one query.
struct query_values {
  std::size_t listed = 0;
  double low = 0, high = 0, sum = 0, squares = 0;
  bool has_fraction = false;  ///< a value between 0 and 1

  void see(double x) {
    low = listed == 0 ? x : std::min(low, x);
    high = listed == 0 ? x : std::max(high, x);
    ++listed;
    sum += x;
    squares += x * x;
    has_fraction = has_fraction || (x > 0 && x < 1);
  }
  bool is_normalized() const {
    if (low == 0 && high == 1) return has_fraction;
    constexpr double rounding = 0.01;  // files have few digits
    auto const n = static_cast<double>(listed);
    double const mean = sum / n, variance = squares / n - mean * mean;
    return std::abs(mean) < rounding && std::abs(std::sqrt(std::max(variance, 0.0)) - 1) < rounding;
  }
};

}  // namespace

std::vector<std::uint32_t> features_normalized_within_queries(dataset const& data) {
  constexpr std::size_t least_queries = 10;
  constexpr double share = 0.95;
  std::vector<std::uint32_t> const features = listed_features(data);
  std::vector<std::size_t> varies(features.size()), normalized(features.size());
  for (query_group const& query : data.queries) {
    std::vector<query_values> of_feature(features.size());
    std::vector<std::size_t> missing(features.size());
    for (std::size_t d = query.begin; d < query.end; ++d)
      for (feature_value const& entry : data.document(d)) {
        auto const f = static_cast<std::size_t>(std::ranges::lower_bound(features, entry.feature) -
                                                features.begin());
        if (std::isnan(entry.value))
          ++missing[f];
        else
          of_feature[f].see(entry.value);
      }
    for (std::size_t f = 0; f < features.size(); ++f) {
      query_values& one = of_feature[f];
      while (one.listed + missing[f] < query.size()) one.see(0);
      if (!(one.low < one.high)) continue;
      ++varies[f];
      normalized[f] += one.is_normalized() ? 1 : 0;
    }
  }
  std::vector<std::uint32_t> found;
  for (std::size_t f = 0; f < features.size(); ++f)
    if (varies[f] >= least_queries &&
        static_cast<double>(normalized[f]) >= share * static_cast<double>(varies[f]))
      found.push_back(features[f]);
  return found;
}

}  // namespace rulerank::datasets
