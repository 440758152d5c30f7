#include "l2r/scorecard/points_objective.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "l2r/scorecard/query_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

constexpr std::size_t documents_in_cache = 512;  // their scores fit the L1 cache
constexpr std::size_t features_a_piece = 4;  // independent sums, for instruction-level parallelism
constexpr std::size_t most_pairs = std::size_t{1} << 29;

/// Whether there are two different labels.
bool has_pair(std::span<std::int32_t const> labels) {
  return std::any_of(labels.begin(), labels.end(), [&](auto y) { return y != labels.front(); });
}

bool has_gain(std::span<std::int32_t const> labels) {
  return std::any_of(labels.begin(), labels.end(), [](auto y) { return y > 0; });
}

}  // namespace

std::vector<bool> neighbours_of(datasets::binned_dataset const& items) {
  std::vector<bool> next(items.items());
  for (std::size_t f = 0; f < items.feature_count(); ++f) {
    std::uint32_t const values = items.bins(f) - (items.has_missing_item[f] ? 1 : 0);
    for (std::uint32_t b = 0; b + 1 < values; ++b) next[items.item_begin[f] + b] = true;
  }
  return next;
}

points_objective::points_objective(std::span<datasets::query_group const> queries,
                                   datasets::binned_dataset const& training,
                                   scorecard_options const& options)
    : options_(options), next_(neighbours_of(training)) {
  std::vector<std::size_t> const chosen = choose(queries, training.labels);
  documents_ = chosen.size();
  keep_codes(training, chosen);
  std::vector<std::int32_t> labels(documents_);
  for (std::size_t d = 0; d < documents_; ++d) labels[d] = training.labels[chosen[d]];
  gain_.resize(documents_);
  counted_ = options.loss == card_loss::list ? queries_.size() : queries.size();
  if (options.loss == card_loss::pair) weigh_pairs(labels, queries.size());
  if (options.loss == card_loss::list) weigh_lists(labels);
  if (options.loss == card_loss::point) weigh_documents(labels);
  for (std::size_t q = 0; q < queries_.size(); ++q)
    if (pieces_.empty() || queries_[q].end - queries_[pieces_.back()].begin > documents_in_cache)
      pieces_.push_back(q);
  pieces_.push_back(queries_.size());
  for (auto* const all : {&score_, &slope_, &curve_, &moved_, &product_}) all->resize(documents_);
  diagonal_.resize(unknowns());
  below_.resize(unknowns());
}

std::vector<std::size_t> points_objective::choose(std::span<datasets::query_group const> queries,
                                                  std::vector<std::int32_t> const& labels) {
  std::vector<std::size_t> chosen;
  bool const all_alike = options_.loss == card_loss::point && !has_pair(labels);
  for (datasets::query_group const& q : queries) {
    auto const of_query = std::span(labels).subspan(q.begin, q.size());
    if (all_alike || (options_.loss == card_loss::pair && !has_pair(of_query)) ||
        (options_.loss == card_loss::list && !has_gain(of_query)))
      continue;
    std::size_t const begin = chosen.size();
    chosen.resize(begin + q.size());
    auto const first = chosen.begin() + static_cast<std::ptrdiff_t>(begin);
    std::iota(first, chosen.end(), q.begin);
    std::stable_sort(first, chosen.end(),
                     [&](std::size_t a, std::size_t b) { return labels[a] > labels[b]; });
    queries_.push_back({begin, chosen.size(), 0, 0});
  }
  return chosen;
}

void points_objective::keep_codes(datasets::binned_dataset const& training,
                                  std::vector<std::size_t> const& chosen) {
  codes_.resize(training.feature_count() * documents_);
  slots_.push_back(0);
  for (std::size_t f = 0; f < training.feature_count(); ++f) {
    std::uint32_t const bins = training.bins(f);
    std::uint8_t const* const from = training.column(f);
    std::uint8_t* const to = codes_.data() + f * documents_;
    for (std::size_t d = 0; d < documents_; ++d) {
      std::uint8_t const code = from[chosen[d]];
      to[d] = code == datasets::no_item ? static_cast<std::uint8_t>(bins) : code;
    }
    slots_.push_back(slots_.back() + bins + 1);
  }
}

void points_objective::weigh_pairs(std::vector<std::int32_t> const& labels,
                                   std::size_t all_queries) {
  lower_.resize(documents_);
  std::size_t pairs = 0;
  for (group& q : queries_) {
    std::size_t lower = q.end;
    for (std::size_t i = q.end; i-- > q.begin;) {
      gain_[i] = gain_of(labels[i], labels[q.begin]);
      if (i + 1 < q.end && labels[i] != labels[i + 1]) lower = i + 1;
      lower_[i] = lower;
    }
    q.pairs = pairs;
    double sum = 0;
    for (std::size_t i = q.begin; i < q.end; ++i) {
      pairs += q.end - lower_[i];
      for (std::size_t j = lower_[i]; j < q.end; ++j) sum += gain_[i] - gain_[j];
    }
    if (pairs > most_pairs)
      throw usage_error(
          fmt::format("found more than {} pairs of documents for the loss pair, expected fewer; "
                      "use the loss list, which compares whole lists",
                      most_pairs));
    q.weight = 1 / (sum * static_cast<double>(all_queries));
  }
  mixed_.resize(pairs);
}

void points_objective::weigh_lists(std::vector<std::int32_t> const& labels) {
  for (group& q : queries_) {
    std::int32_t const largest = labels[q.begin];
    double sum = 0;
    for (std::size_t i = q.begin; i < q.end; ++i)
      sum += gain_[i] = gain_of(labels[i], largest) - gain_of(0, largest);
    for (std::size_t i = q.begin; i < q.end; ++i) gain_[i] /= sum;
    q.weight = 1 / static_cast<double>(queries_.size());
  }
  mixed_.resize(documents_);
}

void points_objective::weigh_documents(std::vector<std::int32_t> const& labels) {
  auto const size = static_cast<double>(documents_);
  double sum = 0, squares = 0;
  for (std::int32_t const y : labels) sum += y;
  for (std::size_t d = 0; d < documents_; ++d) {
    gain_[d] = labels[d] - sum / size;
    squares += gain_[d] * gain_[d];
  }
  for (group& q : queries_) q.weight = 1 / squares;
}

template <class Work>
void points_objective::for_queries(context const& ctx, std::span<double const> v,
                                   std::vector<double>& to, Work const& work) {
  std::size_t const features = slots_.size() - 1;
  std::vector<double> table(slots_.back());  // v, with a 0 after each feature's items
  for (std::size_t f = 0; f < features; ++f)
    std::copy(v.begin() + (slots_[f] - static_cast<std::ptrdiff_t>(f)),
              v.begin() + (slots_[f + 1] - static_cast<std::ptrdiff_t>(f + 1)),
              table.begin() + slots_[f]);
  parallel_for(ctx, pieces_.size() - 1, 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t piece = begin; piece < end; ++piece) {
      std::size_t const first = queries_[pieces_[piece]].begin;
      std::size_t const last = queries_[pieces_[piece + 1] - 1].end;
      std::fill(to.begin() + static_cast<std::ptrdiff_t>(first),
                to.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
      for (std::size_t f = 0; f < features; ++f) {
        std::uint8_t const* const codes = codes_.data() + f * documents_;
        double const* const of_feature = table.data() + slots_[f];
        for (std::size_t d = first; d < last; ++d) to[d] += of_feature[codes[d]];
      }
      for (std::size_t q = pieces_[piece]; q < pieces_[piece + 1]; ++q) work(q);
    }
  });
}

void points_objective::sum_by_item(context const& ctx, std::vector<double> const& of_documents,
                                   std::span<double> sums) const {
  std::size_t const features = slots_.size() - 1;
  std::vector<double> table(slots_.back());
  parallel_for(ctx, features, features_a_piece, [&](std::size_t begin, std::size_t end, int) {
    std::array<std::uint8_t const*, features_a_piece> codes{};
    std::array<double*, features_a_piece> of_feature{};
    std::size_t const count = end - begin;
    for (std::size_t k = 0; k < count; ++k) {
      codes[k] = codes_.data() + (begin + k) * documents_;
      of_feature[k] = table.data() + slots_[begin + k];
    }
    if (count == features_a_piece) {
      for (std::size_t d = 0; d < documents_; ++d) {
        double const value = of_documents[d];
        of_feature[0][codes[0][d]] += value;
        of_feature[1][codes[1][d]] += value;
        of_feature[2][codes[2][d]] += value;
        of_feature[3][codes[3][d]] += value;
      }
    } else {
      for (std::size_t k = 0; k < count; ++k)
        for (std::size_t d = 0; d < documents_; ++d) of_feature[k][codes[k][d]] += of_documents[d];
    }
  });
  for (std::size_t f = 0; f < features; ++f)
    std::copy(table.begin() + slots_[f], table.begin() + (slots_[f + 1] - 1),
              sums.begin() + (slots_[f] - static_cast<std::ptrdiff_t>(f)));
}

double points_objective::pair_loss(group const& q) {
  double loss = 0;
  std::size_t pair = q.pairs;
  for (std::size_t i = q.begin; i < q.end; ++i) {
    for (std::size_t j = lower_[i]; j < q.end; ++j, ++pair) {
      double const weight = (gain_[i] - gain_[j]) * q.weight;
      double const above = score_[j] - score_[i];
      double const e = std::exp(-std::abs(above));
      double const inverse = 1 / (1 + e);
      loss += weight * (std::max(above, 0.0) + std::log1p(e));
      double const slope = weight * (above > 0 ? inverse : e * inverse);
      double const curve = weight * e * inverse * inverse;
      slope_[i] -= slope;
      slope_[j] += slope;
      curve_[i] += curve;
      curve_[j] += curve;
      mixed_[pair] = curve;
    }
  }
  return loss;
}

double points_objective::list_loss(group const& q) {
  double largest = score_[q.begin], sum = 0, loss = 0;
  for (std::size_t i = q.begin; i < q.end; ++i) largest = std::max(largest, score_[i]);
  for (std::size_t i = q.begin; i < q.end; ++i) sum += mixed_[i] = std::exp(score_[i] - largest);
  double const whole = largest + std::log(sum);
  for (std::size_t i = q.begin; i < q.end; ++i) {
    mixed_[i] /= sum;
    loss += gain_[i] * (whole - score_[i]);
    slope_[i] = q.weight * (mixed_[i] - gain_[i]);
    curve_[i] = q.weight * mixed_[i] * (1 - mixed_[i]);
  }
  return q.weight * loss;
}

double points_objective::point_loss(group const& q) {
  double loss = 0;
  for (std::size_t i = q.begin; i < q.end; ++i) {
    double const away = score_[i] - gain_[i];
    loss += away * away;
    slope_[i] = 2 * q.weight * away;
    curve_[i] = 2 * q.weight;
  }
  return q.weight * loss;
}

double points_objective::penalty(std::span<double const> p, std::span<double> gradient) const {
  double squares = 0, differences = 0;
  for (std::size_t x = 0; x < p.size(); ++x) {
    squares += p[x] * p[x];
    gradient[x] += 2 * options_.points_penalty * p[x];
    if (!next_[x]) continue;
    double const difference = p[x + 1] - p[x];
    differences += difference * difference;
    gradient[x] -= 2 * options_.smoothness * difference;
    gradient[x + 1] += 2 * options_.smoothness * difference;
  }
  return options_.points_penalty * squares + options_.smoothness * differences;
}

void points_objective::penalize(double points_penalty, double smoothness) {
  options_.points_penalty = points_penalty;
  options_.smoothness = smoothness;
}

double points_objective::loss(context const& ctx, std::span<double const> points) {
  std::vector<double> losses(queries_.size());
  if (options_.loss == card_loss::pair) {
    std::fill(slope_.begin(), slope_.end(), 0.0);
    std::fill(curve_.begin(), curve_.end(), 0.0);
  }
  for_queries(ctx, points, score_, [&](std::size_t q) {
    losses[q] = options_.loss == card_loss::pair   ? pair_loss(queries_[q])
                : options_.loss == card_loss::list ? list_loss(queries_[q])
                                                   : point_loss(queries_[q]);
  });
  double sum = 0;
  for (double const one : losses) sum += one;
  return sum;
}

double points_objective::evaluate(context const& ctx, std::span<double const> points,
                                  std::span<double> gradient) {
  double const value = loss(ctx, points);
  sum_by_item(ctx, slope_, gradient);
  return value + penalty(points, gradient);
}

void points_objective::pair_product(group const& q) {
  std::size_t pair = q.pairs;
  for (std::size_t i = q.begin; i < q.end; ++i) {
    double const at = moved_[i];
    double own = 0;
    for (std::size_t j = lower_[i]; j < q.end; ++j, ++pair) {
      double const part = mixed_[pair] * (at - moved_[j]);
      own += part;
      product_[j] -= part;
    }
    product_[i] += own;
  }
}

void points_objective::list_product(group const& q) {
  double mean = 0;
  for (std::size_t i = q.begin; i < q.end; ++i) mean += mixed_[i] * moved_[i];
  for (std::size_t i = q.begin; i < q.end; ++i)
    product_[i] = q.weight * mixed_[i] * (moved_[i] - mean);
}

void points_objective::multiply(context const& ctx, std::span<double const> v,
                                std::span<double> product) {
  if (options_.loss == card_loss::pair) std::fill(product_.begin(), product_.end(), 0.0);
  for_queries(ctx, v, moved_, [&](std::size_t q) {
    group const& of = queries_[q];
    if (options_.loss == card_loss::pair) return pair_product(of);
    if (options_.loss == card_loss::list) return list_product(of);
    for (std::size_t i = of.begin; i < of.end; ++i) product_[i] = curve_[i] * moved_[i];
  });
  sum_by_item(ctx, product_, product);
  penalty(v, product);  // the penalty is quadratic: its gradient at v is its Hessian times v
}

void points_objective::prepare_preconditioner(context const& ctx) {
  sum_by_item(ctx, curve_, diagonal_);
  double const neighbour = 2 * options_.smoothness;
  for (std::size_t x = 0; x < unknowns(); ++x) {
    diagonal_[x] += 2 * options_.points_penalty;
    if (next_[x]) diagonal_[x] += neighbour;
    if (x > 0 && next_[x - 1]) {  // L D L^T of a tridiagonal matrix
      diagonal_[x] += neighbour;
      below_[x] = -neighbour / diagonal_[x - 1];
      diagonal_[x] += neighbour * below_[x];
    }
  }
}

void points_objective::precondition(std::span<double const> r, std::span<double> x) const {
  for (std::size_t i = 0; i < r.size(); ++i)
    x[i] = i > 0 && next_[i - 1] ? r[i] - below_[i] * x[i - 1] : r[i];
  for (std::size_t i = r.size(); i-- > 0;) {
    x[i] /= diagonal_[i];
    if (next_[i]) x[i] -= below_[i + 1] * x[i + 1];
  }
}

}  // namespace rulerank::l2r
