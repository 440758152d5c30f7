#include "l2r/joint/pair_quadratic.hpp"

#include "core/parallel.hpp"
#include "l2r/scorecard/query_parts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace rulerank::inline v0::l2r {

namespace {

constexpr std::size_t documents_a_batch = 256;  // the rows fit the caches
constexpr std::size_t scored_a_piece = 1024;
constexpr double lambda_mu = 5;  // weight of delta_ij, chosen by validation on the LETOR sets

double discount(std::size_t rank) {
  return 1 / std::log2(1 + static_cast<double>(rank));
}

/// One query's terms of a quadratic in the scores: its matrix (rows sum to 0; for squares, a
/// diagonal) and its right-hand side.
struct query_terms {
  std::size_t size = 0;
  std::vector<double> together;  // [size x size]
  std::vector<double> pull;      // [size]

  explicit query_terms(std::size_t n) : size(n), together(n * n), pull(n) {}
  /// Adds a pair with this second derivative and slope.
  void add_pair(std::size_t i, std::size_t j, double curve, double slope) {
    together[i * size + i] += curve;
    together[j * size + j] += curve;
    together[i * size + j] -= curve;
    together[j * size + i] -= curve;
    pull[i] += slope;
    pull[j] -= slope;
  }
};

/// Adds queries to a quadratic, one batch at a time.
class accumulation {
 public:
  /// The entries of the first `known` unknowns are complete already.
  accumulation(joint_design const& design, quadratic& to, std::size_t known)
      : design_(design), to_(to), known_(known) {}

  /// `terms(q)` returns the terms of query q; several threads call it at once.
  template <class Terms>
  void add(context const& ctx, joint_queries const& of, Terms const& terms) {
    for (std::size_t from = 0; from < of.chosen.size();) {
      std::size_t until = from, documents = 0;
      std::vector<std::size_t> first;  // index of each query's first row
      for (; until < of.chosen.size() && documents < documents_a_batch; ++until) {
        first.push_back(documents);
        documents += of.all[of.chosen[until]].size();
      }
      width_ = design_.unknowns() + 1;  // the last column stands for no unknown
      rows_.assign(documents * width_, 0);
      documents_.resize(documents);
      pull_.resize(documents);
      parallel_for(ctx, until - from, 1, [&](std::size_t begin, std::size_t end, int) {
        for (std::size_t k = begin; k < end; ++k)
          fill(of.all[of.chosen[from + k]], terms(of.chosen[from + k]), first[k]);
      });
      multiply(ctx);
      from = until;
    }
  }

 private:
  /// Computes `together` times the documents' rows.
  void fill(datasets::query_group const& query, query_terms const& terms, std::size_t first) {
    std::size_t const features = design_.features(), columns = design_.columns();
    for (std::size_t i = 0; i < terms.size; ++i) {
      documents_[first + i] = query.begin + i;
      pull_[first + i] = terms.pull[i];
      double* const row = rows_.data() + (first + i) * width_;
      for (std::size_t j = 0; j < terms.size; ++j) {
        double const weight = terms.together[i * terms.size + j];
        if (weight == 0) continue;
        std::size_t const d = query.begin + j;
        double const* const z = design_.z(d);
        for (std::size_t f = 0; f < features; ++f) row[f] += weight * z[f];
        for (std::size_t k = 0; k < columns; ++k) row[design_.unknown(k, d)] += weight;
      }
    }
  }

  /// Adds (documents' rows)^T times the result of `fill`: the lower triangle.
  void multiply(context const& ctx) {
    std::size_t const features = design_.features();
    parallel_for(ctx, features + design_.columns(), 1,
                 [&](std::size_t begin, std::size_t end, int) {
                   for (std::size_t part = begin; part < end; ++part)
                     for (std::size_t i = 0; i < documents_.size(); ++i) {
                       std::size_t const d = documents_[i];
                       bool const line = part < features;
                       std::size_t const r = line ? part : design_.unknown(part - features, d);
                       if (r < known_ || r == design_.unknowns()) continue;
                       add_row(r, line ? design_.z(d)[part] : 1, i);
                     }
                 });
  }
  void add_row(std::size_t r, double by, std::size_t i) {
    if (by == 0) return;
    double* const to = to_.a.row(r);
    double const* const row = rows_.data() + i * width_;
#pragma omp simd
    for (std::size_t c = 0; c <= r; ++c) to[c] += by * row[c];
    to_.b[r] += by * pull_[i];
  }

  joint_design const& design_;
  quadratic& to_;
  std::size_t known_;
  std::size_t width_ = 0;
  std::vector<double> rows_;            // [documents of the batch x width]
  std::vector<std::size_t> documents_;  // of the batch
  std::vector<double> pull_;            // of the batch
};

/// `known`, extended by unknowns without entries.
quadratic widened(quadratic const& known, std::size_t unknowns) {
  quadratic sum(unknowns);
  for (std::size_t r = 0; r < known.b.size(); ++r) {
    std::copy_n(known.a.row(r), r + 1, sum.a.row(r));
    sum.b[r] = known.b[r];
  }
  return sum;
}

std::span<std::int32_t const> labels_of(joint_queries const& of, std::size_t q) {
  return of.labels.subspan(of.all[q].begin, of.all[q].size());
}

}  // namespace

joint_design::joint_design(joint_documents const& documents)
    : documents_(documents), unknowns_(features() + documents.items.items()) {
  datasets::binned_dataset const& items = documents.items;
  // Documents without an item get their placeholder after all tables are added.
  for (std::size_t f = 0; f < features(); ++f) {
    std::vector<std::uint32_t>& column = columns_.emplace_back(items.documents);
    auto const first = static_cast<std::uint32_t>(features() + items.item_begin[f]);
    for (std::size_t d = 0; d < items.documents; ++d) {
      std::uint8_t const code = items.code(f, d);
      column[d] = code == datasets::no_item ? static_cast<std::uint32_t>(unknowns_) : first + code;
    }
  }
}

void joint_design::add_table(std::size_t first, std::size_t second) {
  datasets::binned_dataset const& items = documents_.items;
  auto const groups = [&](std::size_t f) {
    return joint_group_count(items.bins(f), items.has_missing_item[f]);
  };
  auto const group = [&](std::size_t f, std::size_t d) {
    return joint_group_of(items.code(f, d), items.bins(f), items.has_missing_item[f]);
  };
  auto const none = static_cast<std::uint32_t>(unknowns_);
  std::uint32_t const cells = groups(first) * groups(second);
  for (std::vector<std::uint32_t>& column : columns_)
    for (std::uint32_t& unknown : column)
      if (unknown == none) unknown += cells;
  std::vector<std::uint32_t>& column = columns_.emplace_back(documents());
  for (std::size_t d = 0; d < documents(); ++d) {
    bool const whole =
        items.code(first, d) != datasets::no_item && items.code(second, d) != datasets::no_item;
    column[d] = none + (whole ? group(first, d) * groups(second) + group(second, d) : cells);
  }
  unknowns_ += cells;
}

void joint_design::penalize(joint_penalties const& by, double scale, symmetric_matrix& to) const {
  datasets::binned_dataset const& items = documents_.items;
  std::size_t const first = features(), after = first + items.items();
  for (std::size_t x = 0; x < to.size(); ++x)
    to.row(x)[x] += scale * (x < first ? by.weights : x < after ? by.points : by.tables);
  for (std::size_t f = 0; f < features(); ++f) {
    std::uint32_t const values = items.bins(f) - (items.has_missing_item[f] ? 1 : 0);
    for (std::uint32_t b = 0; b + 1 < values; ++b) {
      std::size_t const x = first + items.item_begin[f] + b;
      to.row(x)[x] += scale * by.smoothness;
      to.row(x + 1)[x + 1] += scale * by.smoothness;
      to.row(x + 1)[x] -= scale * by.smoothness;
    }
  }
}

std::vector<double> joint_design::scores(context const& ctx, std::span<double const> x) const {
  std::vector<double> values(x.begin(), x.end()), sums(documents());
  values.resize(unknowns_ + 1);
  parallel_for(ctx, documents(), scored_a_piece, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t d = begin; d < end; ++d)
      for (std::size_t f = 0; f < features(); ++f) sums[d] += values[f] * z(d)[f];
    for (std::vector<std::uint32_t> const& column : columns_)
      for (std::size_t d = begin; d < end; ++d) sums[d] += values[column[d]];
  });
  return sums;
}

void quadratic::add(quadratic const& other) {
  for (std::size_t r = 0; r < b.size(); ++r) {
    for (std::size_t c = 0; c <= r; ++c) a.row(r)[c] += other.a.row(r)[c];
    b[r] += other.b[r];
  }
}

double pair_weights::sum() const {
  return std::accumulate(values_.begin(), values_.end(), 0.0);
}

pair_weights gain_weights(std::span<std::int32_t const> labels) {
  pair_weights weights(labels.size());
  std::int32_t const largest = *std::ranges::max_element(labels);
  auto const gain = [&](std::size_t i) { return gain_of(labels[i], largest); };
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t j = 0; j < labels.size(); ++j)
      if (labels[i] > labels[j]) weights(i, j) = gain(i) - gain(j);
  double const sum = weights.sum();
  if (sum == 0) return weights;
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t j = 0; j < labels.size(); ++j) weights(i, j) /= sum;
  return weights;
}

pair_weights lambda_weights(std::span<std::int32_t const> labels, std::span<double const> scores) {
  std::size_t const n = labels.size();
  std::vector<std::size_t> order(n), rank(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t i) { return scores[i]; });
  for (std::size_t r = 0; r < n; ++r) rank[order[r]] = r + 1;
  std::vector<std::int32_t> sorted(labels.begin(), labels.end());
  std::ranges::sort(sorted, std::greater<>{});
  auto const gain = [&](std::int32_t label) { return gain_of(label, sorted.front()); };
  double ideal = 0;
  std::vector<double> discounts(n + 2);
  for (std::size_t r = 1; r <= n + 1; ++r) discounts[r] = discount(r);
  for (std::size_t r = 0; r < n; ++r) ideal += (gain(sorted[r]) - gain(0)) * discounts[r + 1];
  pair_weights weights(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (labels[i] <= labels[j]) continue;
      std::size_t const apart = rank[i] > rank[j] ? rank[i] - rank[j] : rank[j] - rank[i];
      double const rho = std::abs(discounts[rank[i]] - discounts[rank[j]]);
      double const delta = discounts[apart] - discounts[apart + 1];
      weights(i, j) = (gain(labels[i]) - gain(labels[j])) / ideal * (rho + lambda_mu * delta);
    }
  return weights;
}

quadratic squared_pairs(context const& ctx, joint_design const& design, joint_queries const& of,
                        double counted, quadratic const& known) {
  quadratic sum = widened(known, design.unknowns());
  accumulation(design, sum, known.b.size()).add(ctx, of, [&](std::size_t q) {
    pair_weights const weights = gain_weights(labels_of(of, q));
    query_terms terms(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
      for (std::size_t j = 0; j < weights.size(); ++j)
        if (double const w = weights(i, j) / counted; w != 0) terms.add_pair(i, j, w, w);
    return terms;
  });
  return sum;
}

quadratic squares(context const& ctx, joint_design const& design, joint_queries const& of,
                  double mean, double scale, quadratic const& known) {
  quadratic sum = widened(known, design.unknowns());
  accumulation(design, sum, known.b.size()).add(ctx, of, [&](std::size_t q) {
    auto const labels = labels_of(of, q);
    query_terms terms(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      terms.together[i * labels.size() + i] = 1 / scale;
      terms.pull[i] = (labels[i] - mean) / scale;
    }
    return terms;
  });
  return sum;
}

quadratic logistic_pairs(context const& ctx, joint_design const& design, joint_queries const& of,
                         std::span<double const> scores) {
  auto const scores_of = [&](std::size_t q) {
    return scores.subspan(of.all[q].begin, of.all[q].size());
  };
  std::vector<double> sums(of.chosen.size());
  parallel_for(ctx, sums.size(), 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t k = begin; k < end; ++k)
      sums[k] = lambda_weights(labels_of(of, of.chosen[k]), scores_of(of.chosen[k])).sum();
  });
  double const all = std::accumulate(sums.begin(), sums.end(), 0.0);
  quadratic sum(design.unknowns());
  accumulation(design, sum, 0).add(ctx, of, [&](std::size_t q) {
    std::span<double const> const s = scores_of(q);
    pair_weights const weights = lambda_weights(labels_of(of, q), s);
    query_terms terms(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
      for (std::size_t j = 0; j < weights.size(); ++j) {
        double const w = weights(i, j) / all;
        if (w == 0) continue;
        double const ahead = s[i] - s[j];
        double const wrong = 1 / (1 + std::exp(ahead));
        double const curve = w * wrong * (1 - wrong);
        terms.add_pair(i, j, curve, w * wrong + curve * ahead);
      }
    return terms;
  });
  return sum;
}

std::vector<double> smallest(context const& ctx, joint_design const& design, quadratic const& of,
                             joint_penalties const& penalties, double scale) {
  symmetric_matrix system = of.a;
  design.penalize(penalties, scale, system);
  return solve_positive_definite(ctx, system, of.b);
}

}  // namespace rulerank::l2r
