#include "l2r/linear/linear.hpp"

#include "core/error.hpp"
#include "core/named_values.hpp"
#include "core/parallel.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/item_words.hpp"
#include "datasets/values_of.hpp"
#include "l2r/linear/cholesky.hpp"
#include "l2r/linear/z_scores.hpp"
#include "l2r/model/json_fields.hpp"
#include "l2r/model/options_json.hpp"
#include "l2r/model/query_folds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

constexpr std::array<double, 7> strengths{3, 10, 30, 100, 300, 1000, 3000};
constexpr double strength_of_one_query = 10;
constexpr std::size_t documents_a_block = 1024;
constexpr std::size_t rows_a_piece = 8;
constexpr std::string_view cross_fitted_strength = "cross-fit";
constexpr named_values<linear_scale, 2> scales{
    {{"query", linear_scale::query}, {"pool", linear_scale::pool}}};
constexpr std::array<std::string_view, 2> scale_names{scales[0].name, scales[1].name};
constexpr double largest_z = 1e6;  // in linear_scale::pool: sums are finite, and tables show them

/// The value of a feature that a document does not list.
double unlisted_value(linear_options const& options) {
  return datasets::unlisted_value(options.missing, options.unlisted);
}

/// Names without any match indicate a file of other or renamed features.
void expect_a_name_in_common(datasets::dataset const& data, datasets::feature_names const& names) {
  if (data.names.empty() || names.empty()) return;
  std::set<std::string_view> known;
  for (auto const& [feature, name] : names) known.insert(name);
  for (auto const& [feature, name] : data.names)
    if (known.contains(name)) return;
  throw error(
      {data.name, 0, 0},
      fmt::format("found features such as {}, expected features that have weights, such as {}",
                  rulerank::quoted(data.names.begin()->second),
                  rulerank::quoted(names.begin()->second)));
}

/// A feature over all training documents: its mean, and the standard deviation of its differences
/// to the query's mean (1 if all are 0).
struct feature_scale {
  double mean = 0, deviation = 1;
};

/// Training documents with differences to the query's mean, in units of `scales`, as values.
struct pooled_values {
  datasets::dataset data;
  std::vector<feature_scale> scales;  ///< [features]
};

/// Calls visit(k, value) as datasets::for_each_value; a missing value is 0 if the options say so.
template <class Visit>
void for_each_raw(std::span<datasets::feature_value const> row,
                  std::span<std::uint32_t const> features, linear_options const& options,
                  Visit visit) {
  bool const zero = options.missing == datasets::missing_values::zero;
  datasets::for_each_value(row, features, unlisted_value(options), [&](std::size_t k, double x) {
    visit(k, zero && std::isnan(x) ? 0 : x);
  });
}

/// The mean of each feature's present values in documents [begin, end); 0 if there are none.
std::vector<double> means_of(datasets::dataset const& data, std::size_t begin, std::size_t end,
                             std::span<std::uint32_t const> features,
                             linear_options const& options) {
  std::vector<double> sum(features.size());
  std::vector<std::size_t> present(features.size());
  for (std::size_t d = begin; d < end; ++d)
    for_each_raw(data.document(d), features, options, [&](std::size_t k, double x) {
      if (std::isnan(x)) return;
      ++present[k];
      sum[k] += (x - sum[k]) / static_cast<double>(present[k]);  // does not overflow
    });
  return sum;
}

pooled_values pooled(datasets::dataset const& train, std::span<std::uint32_t const> features,
                     linear_options const& options) {
  pooled_values made{train, {}};
  made.data.entries.clear();
  made.data.row = {0};
  std::vector<double> squares(features.size());
  std::vector<std::size_t> present(features.size());
  for (datasets::query_group const& query : train.queries) {
    auto const means = means_of(train, query.begin, query.end, features, options);
    for (std::size_t d = query.begin; d < query.end; ++d) {
      for_each_raw(train.document(d), features, options, [&](std::size_t k, double x) {
        double const off = x - means[k];
        made.data.entries.push_back({features[k], off});
        if (std::isnan(off)) return;
        ++present[k];
        squares[k] += off * off;
      });
      made.data.row.push_back(made.data.entries.size());
    }
  }
  auto const means = means_of(train, 0, train.size(), features, options);
  for (std::size_t k = 0; k < features.size(); ++k) {
    double const deviation =
        present[k] == 0 ? 0 : std::sqrt(squares[k] / static_cast<double>(present[k]));
    if (!std::isfinite(deviation) || !std::isfinite(means[k]))
      throw error(
          {train.name, 0, 0},
          fmt::format("{}: found values too large for a deviation, expected less than 1e150",
                      datasets::feature_text(features[k], train.names)));
    made.scales.push_back({means[k], deviation > 0 ? deviation : 1});
  }
  for (std::size_t i = 0; i < made.data.entries.size(); ++i)
    made.data.entries[i].value /= made.scales[i % features.size()].deviation;
  return made;
}

/// The sums over one fold's documents: products of unknowns, and products with labels.
struct moments {
  explicit moments(std::size_t unknowns) : products(unknowns), with_label(unknowns) {}
  symmetric_matrix products;
  std::vector<double> with_label;
  double labels = 0;  // sum of squared labels

  void add(moments const& other) {
    for (std::size_t r = 0; r < with_label.size(); ++r) {
      for (std::size_t c = 0; c <= r; ++c) products.row(r)[c] += other.products.row(r)[c];
      with_label[r] += other.with_label[r];
    }
    labels += other.labels;
  }
  /// The sum of squared errors of the weights.
  double left_by(std::vector<double> const& w) const {
    double sum = labels;
    for (std::size_t r = 0; r < w.size(); ++r) {
      double row = products.row(r)[r] * w[r] - 2 * with_label[r];
      for (std::size_t c = 0; c < r; ++c) row += 2 * products.row(r)[c] * w[c];
      sum += w[r] * row;
    }
    return sum;
  }
};

/// The labelled documents as rows: z-scores, then for each missing value 1 minus the share of
/// missing values in the query (over all its documents). Labels are centred on their mean.
class design {
 public:
  design(context const& ctx, datasets::dataset const& train, linear_options const& options)
      : labelled_(datasets::labelled_documents(train, "learn from")),
        lists_(datasets::subset_queries(train, labelled_)),
        features_(datasets::listed_features(train)),
        unlisted_(unlisted_value(options)) {
    if (options.scale == linear_scale::pool) {
      pooled_values made = pooled(train, features_, options);
      data_ = std::move(made.data);
      scales_ = std::move(made.scales);
    } else {
      data_ = z_scores(ctx, train, train.names, options.missing, options.unlisted);
      scales_.resize(features_.size());
    }
    std::vector<bool> misses(features_.size());
    if (options.missing == datasets::missing_values::item)
      for (std::size_t const d : labelled_)
        datasets::for_each_value(data_.document(d), features_, unlisted_,
                                 [&](std::size_t k, double z) {
                                   if (std::isnan(z)) misses[k] = true;
                                 });
    column_of_missing_.assign(features_.size(), 0);
    unknowns_ = features_.size();
    for (std::size_t k = 0; k < features_.size(); ++k)
      if (misses[k]) column_of_missing_[k] = unknowns_++;
    for (std::size_t q = 0; q < lists_.size(); ++q)
      query_.insert(query_.end(), lists_[q].size(), q);
    find_means();
  }

  /// The number of queries with labelled documents.
  std::size_t queries() const { return lists_.size(); }

  std::vector<std::uint32_t> const& features() const { return features_; }
  feature_scale const& scale(std::size_t k) const { return scales_[k]; }
  std::size_t unknowns() const { return unknowns_; }
  /// The unknown of feature k's missing values; 0: none.
  std::size_t column_of_missing(std::size_t k) const { return column_of_missing_[k]; }

  /// How the labelled documents use a feature.
  struct use {
    double size = 0;     // mean absolute z-score, 0 for missing values
    double missing = 0;  // share of documents without the value
  };
  std::vector<use> uses() const {
    std::vector<use> of(features_.size());
    for (std::size_t const d : labelled_)
      datasets::for_each_value(data_.document(d), features_, unlisted_,
                               [&](std::size_t k, double z) {
                                 if (std::isnan(z))
                                   of[k].missing += 1;
                                 else
                                   of[k].size += std::abs(z);
                               });
    auto const documents = static_cast<double>(labelled_.size());
    for (use& one : of) one = {one.size / documents, one.missing / documents};
    return of;
  }

  /// Adds each document to the moments of its query's fold.
  void add_to(context const& ctx, std::vector<moments>& folds,
              std::vector<std::size_t> const& fold_of_query) const {
    std::vector<double> block(documents_a_block * unknowns_);
    for (std::size_t first = 0; first < labelled_.size(); first += documents_a_block) {
      ctx.report("linear", first, labelled_.size());
      std::size_t const count = std::min(documents_a_block, labelled_.size() - first);
      parallel_for(ctx, count, 64, [&](std::size_t begin, std::size_t end, int) {
        for (std::size_t i = begin; i < end; ++i) fill(first + i, block.data() + i * unknowns_);
      });
      for (std::size_t i = 0; i < count; ++i) {
        double const y = label(first + i);
        folds[fold_of_query[query_[first + i]]].labels += y * y;
      }
      parallel_for(ctx, unknowns_, rows_a_piece, [&](std::size_t begin, std::size_t end, int) {
        for (std::size_t i = 0; i < count; ++i) {
          double const* const x = block.data() + i * unknowns_;
          double const y = label(first + i);
          moments& to = folds[fold_of_query[query_[first + i]]];
          for (std::size_t r = begin; r < end; ++r) {
            if (x[r] == 0) continue;
            double* const row = to.products.row(r);
            for (std::size_t c = 0; c <= r; ++c) row[c] += x[r] * x[c];
            to.with_label[r] += x[r] * y;
          }
        }
      });
    }
  }

 private:
  void find_means() {
    double sum = 0;
    for (std::size_t const d : labelled_) sum += data_.labels[d];
    mean_label_ = sum / static_cast<double>(labelled_.size());
    std::size_t const indicators = unknowns_ - features_.size();
    if (indicators == 0) return;
    shares_.resize(lists_.size() * indicators);
    auto whole = data_.queries.begin();
    for (std::size_t q = 0; q < lists_.size(); ++q) {
      while (whole->end <= labelled_[lists_[q].begin]) ++whole;
      double* const shares = shares_.data() + q * indicators;
      for (std::size_t d = whole->begin; d < whole->end; ++d)
        datasets::for_each_value(data_.document(d), features_, unlisted_,
                                 [&](std::size_t k, double z) {
                                   if (std::isnan(z) && column_of_missing_[k] > 0)
                                     shares[column_of_missing_[k] - features_.size()] += 1;
                                 });
      for (std::size_t i = 0; i < indicators; ++i) shares[i] /= static_cast<double>(whole->size());
    }
  }
  double label(std::size_t i) const { return data_.labels[labelled_[i]] - mean_label_; }
  /// Writes the row of the i-th labelled document.
  void fill(std::size_t i, double* x) const {
    std::size_t const indicators = unknowns_ - features_.size();
    for (std::size_t j = 0; j < indicators; ++j)
      x[features_.size() + j] = -shares_[query_[i] * indicators + j];
    datasets::for_each_value(data_.document(labelled_[i]), features_, unlisted_,
                             [&](std::size_t k, double z) {
                               bool const missing = std::isnan(z);
                               x[k] = missing ? 0 : z;
                               if (missing && column_of_missing_[k] > 0)
                                 x[column_of_missing_[k]] += 1;
                             });
  }

  datasets::dataset data_;                    // all documents
  std::vector<std::size_t> labelled_;         // those with a label
  std::vector<datasets::query_group> lists_;  // of the labelled documents
  std::vector<std::uint32_t> features_;
  std::vector<feature_scale> scales_;  // [features]
  double unlisted_;
  std::size_t unknowns_ = 0;
  std::vector<std::size_t> column_of_missing_;
  std::vector<std::size_t> query_;  // [labelled documents]
  double mean_label_ = 0;
  std::vector<double> shares_;  // [queries x indicators] share of all documents without the value
};

std::vector<double> weights_of(context const& ctx, moments const& of, double strength) {
  symmetric_matrix system = of.products;
  for (std::size_t r = 0; r < system.size(); ++r) system.row(r)[r] += strength;
  return solve_positive_definite(ctx, system, of.with_label);
}

/// The strength with the smallest held-out sum of squared errors.
double best_strength(context const& ctx, std::vector<moments> const& folds) {
  std::array<double, strengths.size()> errors{};
  for (std::size_t k = 0; k < folds.size(); ++k) {
    moments others(folds[k].with_label.size());
    for (std::size_t j = 0; j < folds.size(); ++j)
      if (j != k) others.add(folds[j]);
    for (std::size_t s = 0; s < strengths.size(); ++s)
      errors[s] += folds[k].left_by(weights_of(ctx, others, strengths[s]));
  }
  std::size_t best = 0;
  for (std::size_t s = 1; s < strengths.size(); ++s)
    if (errors[s] <= errors[best]) best = s;
  return strengths[best];
}

std::int64_t whole_weight(double weight) {
  double const scaled = std::nearbyint(std::ldexp(weight, linear_bits));
  if (!(std::abs(scaled) < 0x1p62))
    throw usage_error(
        fmt::format("found a weight of {}, which is too large; use smaller labels", weight));
  return static_cast<std::int64_t>(scaled);
}

/// Part k of a document's score, from its z-score or missing value.
linear_part part_of(linear_weights const& by, std::size_t k, double z) {
  feature_weight const& feature = by.features[k];
  if (!std::isnan(z)) return {z, false, z * value_of_weight(feature.weight)};
  return {0, true, value_of_weight(feature.missing)};
}

std::vector<std::uint32_t> numbers_of(linear_weights const& by) {
  std::vector<std::uint32_t> features;
  for (feature_weight const& one : by.features) features.push_back(one.feature);
  return features;
}

/// Documents as parts of a score.
class scaled_documents {
 public:
  scaled_documents(context const& ctx, linear_weights const& by, datasets::dataset const& documents)
      : by_(by), features_(numbers_of(by)) {
    if (by.options.scale == linear_scale::query) {
      data_ = z_scores(ctx, documents, by.names, by.options.missing, by.options.unlisted);
    } else {
      if (!documents.entries.empty()) expect_a_name_in_common(documents, by.names);
      data_ = datasets::renumbered(documents, by.names);
    }
  }

  std::size_t size() const { return data_.size(); }
  /// Calls visit(part_of(k)) for each feature.
  template <class Visit>
  void for_each_part(std::size_t d, Visit visit) const {
    if (by_.options.scale == linear_scale::query)
      return datasets::for_each_value(data_.document(d), features_, unlisted_value(by_.options),
                                      [&](std::size_t k, double z) { visit(part_of(by_, k, z)); });
    for_each_raw(data_.document(d), features_, by_.options, [&](std::size_t k, double x) {
      feature_weight const& one = by_.features[k];
      double const z = (x - one.mean) / one.deviation;
      visit(part_of(by_, k, std::isnan(x) ? x : std::clamp(z, -largest_z, largest_z)));
    });
  }

 private:
  linear_weights const& by_;
  std::vector<std::uint32_t> features_;
  datasets::dataset data_;
};

}  // namespace

std::string_view name_of(linear_scale scale) {
  return name_in(scales, scale);
}

linear_scale linear_scale_from(std::string_view name) {
  return value_named<linear_scale>(scales, name);
}

std::span<std::string_view const> linear_scale_names() {
  return scale_names;
}

double raw_weight(feature_weight const& of) {
  return value_of_weight(of.weight) / of.deviation;
}

datasets::dataset z_scores(context const& ctx, datasets::dataset const& documents,
                           datasets::feature_names const& names, datasets::missing_values missing,
                           datasets::unlisted_values unlisted) {
  auto const normalized = [&](datasets::dataset const& of) {
    return datasets::normalize(ctx, of, datasets::normalization::query_zscore, missing, unlisted);
  };
  if (documents.names == names || documents.entries.empty()) return normalized(documents);
  expect_a_name_in_common(documents, names);
  return normalized(datasets::renumbered(documents, names));
}

void check(linear_options const& options) {
  if (!(options.strength >= 0 && options.strength <= 1e9) ||
      (options.strength > 0 && options.strength < 1e-9))
    throw usage_error(fmt::format("found strength {}, expected 1e-9 to 1e9, or 0 (cross-fitted)",
                                  options.strength));
  if (options.folds < 2 || options.folds > 1000)
    throw usage_error(fmt::format("found {} folds, expected 2 to 1000", options.folds));
}

nlohmann::ordered_json to_json(linear_options const& options) {
  nlohmann::ordered_json json;
  if (options.strength == 0)
    json["strength"] = cross_fitted_strength;
  else
    json["strength"] = options.strength;
  json["folds"] = options.folds;
  json["missing_values"] = datasets::name_of(options.missing);
  json["unlisted"] = datasets::name_of(options.unlisted);
  if (options.scale != linear_scale::query) json["scale"] = name_of(options.scale);
  return json;
}

linear_options linear_options_from(nlohmann::ordered_json const& json, std::string const& name,
                                   std::string const& prefix) {
  json_fields const fields(json, name, prefix);
  linear_options options;
  if (nlohmann::ordered_json const& strength = fields.member("strength"); strength.is_string()) {
    if (fields.word("strength") != cross_fitted_strength)
      fields.fail("strength", "found a string, expected a number or cross-fit");
    options.strength = 0;
  } else {
    options.strength = fields.number("strength");
    if (options.strength == 0)
      fields.fail("strength", "found 0, expected a number above 0, or cross-fit");
  }
  options.folds = fields.integer("folds", 2, 1000);
  options.missing = fields.known("missing_values", datasets::missing_values_from);
  options.unlisted = fields.known("unlisted", datasets::unlisted_values_from);
  if (fields.has("scale")) options.scale = fields.known("scale", linear_scale_from);
  try {
    check(options);
  } catch (usage_error const& e) {
    throw error({name, 1, 1}, prefix + e.what());
  }
  return options;
}

double value_of_weight(std::int64_t weight) {
  return std::ldexp(static_cast<double>(weight), -linear_bits);
}

linear_weights fit_linear(context const& ctx, datasets::dataset const& train,
                          linear_options const& options) {
  check(options);
  design const rows(ctx, train, options);
  std::size_t const unknowns = rows.unknowns();
  if (unknowns == 0)
    throw error({train.name, 1, 1}, "no document lists a feature, expected one or more");
  if (unknowns > most_unknowns)
    throw usage_error(fmt::format("found {} weights of a linear member, expected at most {}",
                                  unknowns, most_unknowns));
  std::size_t const queries = rows.queries();
  std::size_t const folds = options.strength == 0 ? std::min(options.folds, queries) : 1;
  std::vector<moments> of_folds(folds, moments(unknowns));
  rows.add_to(ctx, of_folds, deal_queries(ctx.seed, queries, folds));
  linear_weights result{options, {}, train.names};
  if (options.strength == 0)
    result.options.strength = folds > 1 ? best_strength(ctx, of_folds) : strength_of_one_query;
  for (std::size_t k = 1; k < folds; ++k) of_folds.front().add(of_folds[k]);
  std::vector<double> const w = weights_of(ctx, of_folds.front(), result.options.strength);
  auto const uses = rows.uses();
  for (std::size_t k = 0; k < rows.features().size(); ++k) {
    feature_weight one{rows.features()[k], whole_weight(w[k]), false, 0};
    double moved = std::abs(w[k]) * uses[k].size;
    if (std::size_t const column = rows.column_of_missing(k); column > 0) {
      one.misses = true;
      one.missing = whole_weight(w[column]);
      moved += std::abs(w[column]) * uses[k].missing;
    }
    one.moved = whole_weight(moved);
    if (options.scale == linear_scale::pool) {
      one.mean = rows.scale(k).mean;
      one.deviation = rows.scale(k).deviation;
    }
    result.features.push_back(one);
  }
  return result;
}

std::vector<double> score(context const& ctx, linear_weights const& by,
                          datasets::dataset const& documents) {
  scaled_documents const data(ctx, by, documents);
  std::vector<double> scores(data.size());
  parallel_for(ctx, data.size(), 256, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t d = begin; d < end; ++d)
      data.for_each_part(d, [&](linear_part const& one) { scores[d] += one.part; });
  });
  return scores;
}

std::vector<linear_part> linear_parts(context const& ctx, linear_weights const& by,
                                      datasets::dataset const& documents) {
  scaled_documents const data(ctx, by, documents);
  std::vector<linear_part> parts;
  for (std::size_t d = 0; d < data.size(); ++d)
    data.for_each_part(d, [&](linear_part const& one) { parts.push_back(one); });
  return parts;
}

}  // namespace rulerank::l2r
