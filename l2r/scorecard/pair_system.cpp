#include "l2r/scorecard/pair_system.hpp"

#include "l2r/scorecard/query_parts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rulerank::inline v0::l2r {

pair_system::pair_system(std::span<datasets::query_group const> queries,
                         datasets::binned_dataset const& items, card_loss loss)
    : items_(items), own_(items.documents), pull_(items.documents) {
  if (loss == card_loss::point)
    add_squares();
  else
    for (datasets::query_group const& group : queries)
      add_pairs(group, static_cast<double>(queries.size()));
}

void pair_system::add_squares() {
  auto const all = static_cast<double>(items_.documents);
  double mean = 0;
  for (std::int32_t const y : items_.labels) mean += y;
  mean /= all;
  double variance = 0;
  for (std::int32_t const y : items_.labels) variance += (y - mean) * (y - mean);
  variance /= all;
  learns_ = variance > 0;
  if (!learns_) return;
  for (std::size_t d = 0; d < items_.documents; ++d) {
    own_[d] = 1 / (all * variance);
    pull_[d] = (items_.labels[d] - mean) / (all * variance);
  }
}

void pair_system::add_pairs(datasets::query_group const& group, double queries) {
  auto const& labels = items_.labels;
  std::size_t const first = documents_.size();
  for (std::size_t d = group.begin; d < group.end; ++d) documents_.push_back(d);
  std::stable_sort(documents_.begin() + static_cast<std::ptrdiff_t>(first), documents_.end(),
                   [&](std::size_t a, std::size_t b) { return labels[a] > labels[b]; });
  compared_query query;
  for (std::size_t at = first; at < documents_.size();) {
    std::size_t end = at;
    while (end < documents_.size() && labels[documents_[end]] == labels[documents_[at]]) ++end;
    query.classes.push_back({at, end, {}});
    at = end;
  }
  std::size_t const classes = query.classes.size();
  if (classes < 2) {
    documents_.resize(first);
    return;
  }
  learns_ = true;
  std::int32_t const largest = labels[documents_[first]];
  std::vector<double> gain, size;
  for (label_class const& one : query.classes) {
    gain.push_back(gain_of(labels[documents_[one.begin]], largest));
    size.push_back(static_cast<double>(one.end - one.begin));
  }
  double sum = 0;
  for (std::size_t a = 0; a < classes; ++a)
    for (std::size_t b = a + 1; b < classes; ++b) sum += (gain[a] - gain[b]) * size[a] * size[b];
  for (std::size_t a = 0; a < classes; ++a) {
    double own = 0, pull = 0;
    for (std::size_t b = 0; b < classes; ++b) {
      double const weight = std::abs(gain[a] - gain[b]) / (sum * queries);
      query.classes[a].weights.push_back(weight);
      own += weight * size[b];
      pull += a < b ? weight * size[b] : -weight * size[b];
    }
    for (std::size_t i = query.classes[a].begin; i < query.classes[a].end; ++i) {
      own_[documents_[i]] = own;
      pull_[documents_[i]] = pull;
    }
  }
  queries_.push_back(std::move(query));
}

std::vector<double> pair_system::block(std::size_t f, std::size_t g) const {
  std::size_t const rows = items_.bins(f), columns = items_.bins(g);
  std::vector<double> sums(rows * columns);
  std::uint8_t const* const of_f = items_.column(f);
  std::uint8_t const* const of_g = items_.column(g);
  for (std::size_t d = 0; d < items_.documents; ++d)
    if (own_[d] != 0 && of_f[d] != datasets::no_item && of_g[d] != datasets::no_item)
      sums[of_f[d] * columns + of_g[d]] += own_[d];
  // Numbers of documents of each class of a query in each bin.
  std::vector<double> have_f, have_g, weighed(columns);
  for (compared_query const& query : queries_) {
    std::size_t const classes = query.classes.size();
    have_f.assign(classes * rows, 0);
    have_g.assign(classes * columns, 0);
    for (std::size_t c = 0; c < classes; ++c)
      for (std::size_t i = query.classes[c].begin; i < query.classes[c].end; ++i) {
        std::size_t const d = documents_[i];
        if (of_f[d] != datasets::no_item) ++have_f[c * rows + of_f[d]];
        if (of_g[d] != datasets::no_item) ++have_g[c * columns + of_g[d]];
      }
    for (std::size_t c = 0; c < classes; ++c) {
      std::fill(weighed.begin(), weighed.end(), 0);
      for (std::size_t other = 0; other < classes; ++other)
        for (std::size_t b = 0; b < columns; ++b)
          weighed[b] += query.classes[c].weights[other] * have_g[other * columns + b];
      for (std::size_t a = 0; a < rows; ++a) {
        double const count = have_f[c * rows + a];
        if (count == 0) continue;
        for (std::size_t b = 0; b < columns; ++b) sums[a * columns + b] -= count * weighed[b];
      }
    }
  }
  return sums;
}

std::vector<double> pair_system::right_side(std::size_t f) const {
  std::vector<double> sums(items_.bins(f));
  std::uint8_t const* const codes = items_.column(f);
  for (std::size_t d = 0; d < items_.documents; ++d)
    if (codes[d] != datasets::no_item) sums[codes[d]] += pull_[d];
  return sums;
}

}  // namespace rulerank::l2r
