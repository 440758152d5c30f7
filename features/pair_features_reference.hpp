#pragma once
// Reference: computes the features of one query and one document by their definitions.

#include "features/pair_features.hpp"

#include <cmath>
#include <functional>
#include <map>

namespace rulerank::inline v0::features {

/// Long because each feature is written out by its definition.
inline std::vector<double> pair_features_reference(std::vector<knn::field_counts> const& fields,
                                                   knn::sparse_row const& query,
                                                   std::size_t document,
                                                   pair_features_options const& options = {}) {
  using bag = std::map<std::uint32_t, double>;
  auto const bag_of = [](knn::sparse_row const& row) {
    bag counts;
    for (std::size_t i = 0; i < row.size(); ++i) counts[row.term[i]] = row.weight[i];
    return counts;
  };
  auto const total = [](bag const& counts) {
    double sum = 0;
    for (auto const& [term, count] : counts) sum += count;
    return sum;
  };
  bag const q = bag_of(query);
  std::vector<double> all;
  for (knn::field_counts const& field : fields) {
    std::vector<bag> bags;
    for (std::size_t d = 0; d < field.counts.size(); ++d)
      bags.push_back(bag_of(knn::sparse_rows(field.counts)[d]));
    bag const& d = bags[document];
    auto const n = static_cast<double>(bags.size());
    double const length = total(d);
    double collection = 0;
    for (bag const& b : bags) collection += total(b);
    auto const df = [&](std::uint32_t t) {
      double count = 0;
      for (bag const& b : bags) count += static_cast<double>(b.count(t));
      return count;
    };
    auto const cf = [&](std::uint32_t t) {
      double count = 0;
      for (bag const& b : bags)
        if (b.count(t)) count += b.at(t);
      return count;
    };
    auto const idf = [&](std::uint32_t t) { return df(t) == 0 ? 0 : std::log(n / df(t)); };
    auto const sum = [&](std::function<double(std::uint32_t, double)> const& of) {
      double s = 0;
      for (auto const& [t, qf] : q)
        if (d.count(t)) s += of(t, d.at(t));
      return s;
    };
    auto const likelihood = [&](std::function<double(double, double)> const& probability) {
      double s = 0;
      for (auto const& [t, qf] : q)
        if (cf(t) > 0)
          s += qf * std::log(probability(d.count(t) ? d.at(t) : 0, cf(t) / collection));
      return s;
    };
    auto const norm = [&](bag const& counts) {
      double s = 0;
      for (auto const& [t, count] : counts) s += count * idf(t) * count * idf(t);
      return std::sqrt(s);
    };
    double const bm25 = sum([&](std::uint32_t t, double tf) {
      double const weight = std::log(1 + (n - df(t) + 0.5) / (df(t) + 0.5));
      double const k = options.k1 * (1 - options.b + options.b * length / (collection / n));
      return q.at(t) * weight * tf * (options.k1 + 1) / (tf + k);
    });
    double const product =
        sum([&](std::uint32_t t, double tf) { return q.at(t) * idf(t) * tf * idf(t); });
    double const covered = sum([](std::uint32_t, double) { return 1; });
    double const norms = norm(q) * norm(d);
    std::vector<double> const of_field{
        sum([](std::uint32_t, double tf) { return tf; }),
        sum([](std::uint32_t, double tf) { return std::log(tf + 1); }),
        sum([&](std::uint32_t, double tf) { return tf / length; }),
        sum([&](std::uint32_t, double tf) { return std::log(tf / length + 1); }),
        sum([&](std::uint32_t t, double) { return idf(t); }),
        sum([&](std::uint32_t t, double) { return std::log(idf(t) + 1); }),
        sum([&](std::uint32_t t, double) { return std::log(n / cf(t)); }),
        sum([&](std::uint32_t t, double tf) { return std::log(tf / length * idf(t) + 1); }),
        sum([&](std::uint32_t t, double tf) { return tf * idf(t); }),
        sum([&](std::uint32_t t, double tf) { return std::log(tf / length * n / cf(t) + 1); }),
        bm25,
        std::log(bm25 + 1),
        likelihood(
            [&](double tf, double p) { return (tf + options.mu * p) / (length + options.mu); }),
        likelihood([&](double tf, double p) {
          return options.lambda * p + (length == 0 ? 0 : (1 - options.lambda) * tf / length);
        }),
        likelihood([&](double tf, double p) {
          if (length == 0) return options.delta * p;
          double const lowered = tf > options.delta ? tf - options.delta : 0;
          return lowered / length + options.delta * static_cast<double>(d.size()) / length * p;
        }),
        norms == 0 ? 0 : product / norms,
        covered,
        q.empty() ? 0 : covered / static_cast<double>(q.size()),
        length,
    };
    all.insert(all.end(), of_field.begin(), of_field.end());
  }
  all.push_back(total(q));
  all.push_back(static_cast<double>(q.size()));
  return all;
}

}  // namespace rulerank::features
