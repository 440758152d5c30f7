#include "learners/lightgbm_booster.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace rulerank::inline v0::learners {

namespace {

constexpr int predict_leaf_index = 2;  // from c_api.h

std::vector<std::int32_t> group_sizes(datasets::dataset const& data,
                                      std::span<std::size_t const> documents) {
  std::vector<std::int32_t> sizes;
  auto at = documents.begin();
  for (datasets::query_group const& q : data.queries) {
    auto const end = std::lower_bound(at, documents.end(), q.end);
    if (end != at) sizes.push_back(static_cast<std::int32_t>(end - at));
    at = end;
  }
  return sizes;
}

}  // namespace

void lightgbm_library::functions::check(int status) const {
  if (status != 0) throw error({version, 0, 0}, last_error());
}

std::string text_of(lightgbm_library::functions const& call, void* booster) {
  std::int64_t length = 0;
  call.check(call.booster_text(booster, 0, -1, 0, 0, &length, nullptr));
  std::string text(static_cast<std::size_t>(std::max<std::int64_t>(length, 1)), '\0');
  call.check(call.booster_text(booster, 0, -1, 0, length, &length, text.data()));
  return text;
}

lightgbm_matrix matrix_of(datasets::dataset const& data, std::span<std::size_t const> documents,
                          std::vector<std::uint32_t> const& features) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (documents.size() > most || features.size() > most)
    throw error({data.name, 0, 0}, "found more documents or features than LightGBM can number");
  lightgbm_matrix m{std::vector<double>(documents.size() * features.size()),
                    static_cast<std::int32_t>(documents.size()),
                    static_cast<std::int32_t>(features.size())};
  double* row = m.values.data();
  for (std::size_t const d : documents) {
    auto column = features.begin();
    for (datasets::feature_value const& v : data.document(d)) {
      column = std::lower_bound(column, features.end(), v.feature);
      if (column == features.end()) break;
      if (*column == v.feature) row[column - features.begin()] = v.value;
    }
    row += features.size();
  }
  return m;
}

lightgbm_matrix matrix_of(datasets::dataset const& data,
                          std::vector<std::uint32_t> const& features) {
  std::vector<std::size_t> all(data.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return matrix_of(data, all, features);
}

std::string parameters_of(lightgbm_options const& o) {
  return fmt::format(
      "objective={} num_leaves={} min_data_in_leaf={} learning_rate={} seed={} num_threads=1 "
      "deterministic=true force_row_wise=true feature_pre_filter=false verbosity=-1",
      o.objective, o.leaves, o.least, o.rate,
      o.seed % static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()));
}

void check(lightgbm_options const& o) {
  if (o.trees == 0 || o.leaves < 2 || o.least < 0 || !(o.rate > 0))
    throw usage_error("lightgbm: expected trees, two leaves or more, and a rate above 0");
}

void expect_trees(std::span<std::size_t const> counts, std::size_t most) {
  for (std::size_t const count : counts)
    if (count == 0 || count > most)
      throw usage_error(fmt::format("found {} trees, expected 1 to {}", count, most));
}

lightgbm_booster::lightgbm_booster(lightgbm_functions of, std::string const& parameters,
                                   lightgbm_matrix const& rows, datasets::dataset const& pool,
                                   labelled const& known, std::vector<double> const& start)
    : call_(std::move(of)) {
  void* made = nullptr;
  call_->check(call_->dataset_from_matrix(rows.values.data(), lightgbm_float64, rows.rows,
                                          rows.columns, 1, parameters.c_str(), nullptr, &made));
  training_ = lightgbm_handle(made, call_->dataset_free);
  std::vector<float> labels;
  for (std::size_t const d : known.documents) labels.push_back(static_cast<float>(known.labels[d]));
  std::vector<std::int32_t> const sizes = group_sizes(pool, known.documents);
  set_field("label", labels.data(), labels.size(), lightgbm_float32);
  set_field("group", sizes.data(), sizes.size(), lightgbm_int32);
  if (!start.empty()) set_field("init_score", start.data(), start.size(), lightgbm_float64);
  call_->check(call_->booster_create(training_.get(), parameters.c_str(), &made));
  booster_ = lightgbm_handle(made, call_->booster_free);
}

void lightgbm_booster::set_field(char const* name, void const* values, std::size_t count,
                                 int type) const {
  call_->check(
      call_->dataset_set_field(training_.get(), name, values, static_cast<int>(count), type));
}

void lightgbm_booster::grow(context const& ctx, std::size_t trees) {
  while (trees_ < trees && !ended_) {
    ctx.check_stop();
    int finished = 0;
    call_->check(call_->booster_update(booster_.get(), &finished));
    ended_ = finished != 0;
    if (!ended_) ++trees_;
  }
}

std::vector<double> lightgbm_booster::leaves(lightgbm_matrix const& rows, std::size_t trees) const {
  std::vector<double> found(static_cast<std::size_t>(rows.rows) * trees);
  if (found.empty()) return found;
  std::int64_t length = 0;
  call_->check(call_->booster_predict(booster_.get(), rows.values.data(), lightgbm_float64,
                                      rows.rows, rows.columns, 1, predict_leaf_index, 0,
                                      static_cast<int>(trees), "num_threads=1 verbosity=-1",
                                      &length, found.data()));
  if (length != static_cast<std::int64_t>(found.size()))
    throw error({call_->version, 0, 0}, fmt::format("found {} leaves of {} documents and {} trees",
                                                    length, rows.rows, trees));
  return found;
}

std::vector<std::vector<double>> lightgbm_booster::scores(
    context const& ctx, lightgbm_matrix const& rows, std::span<std::size_t const> counts) const {
  auto const documents = static_cast<std::size_t>(rows.rows);
  std::size_t const most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  std::vector<double> const reached = leaves(rows, most);
  std::vector<std::vector<double>> found(counts.size());
  std::vector<double> sums(documents);
  auto const keep = [&](std::size_t trees) {
    for (std::size_t c = 0; c < counts.size(); ++c)
      if (counts[c] == trees) found[c] = sums;
  };
  keep(0);
  // LightGBM adds a document's trees in this order, in double: the bits equal its scores.
  for (std::size_t t = 0; t < most; ++t) {
    ctx.check_stop();
    std::vector<double> values;
    for (std::size_t d = 0; d < documents; ++d) {
      auto const leaf = static_cast<std::size_t>(reached[d * most + t]);
      while (values.size() <= leaf) {
        double value = 0;
        call_->check(call_->booster_leaf(booster_.get(), static_cast<int>(t),
                                         static_cast<int>(values.size()), &value));
        values.push_back(value);
      }
      sums[d] += values[leaf];
    }
    keep(t + 1);
  }
  return found;
}

std::vector<double> lightgbm_booster::scores(context const& ctx,
                                             lightgbm_matrix const& rows) const {
  return std::move(scores(ctx, rows, std::span(&trees_, 1)).front());
}

}  // namespace rulerank::learners
