#include "datasets/label_order.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

bool label_order::predicts_labels() const noexcept {
  constexpr double least_z = 4, least_tau = 0.05;
  return std::abs(z) >= least_z && std::abs(tau) >= least_tau;
}

label_order order_of_labels(std::span<std::int32_t const> labels,
                            std::span<std::size_t const> query_begin) {
  label_order found;
  double sum = 0, variance = 0;
  for (std::size_t q = 0; q + 1 < query_begin.size(); ++q) {
    std::map<std::int32_t, double> seen;  // number of documents per label
    double n = 0, s = 0;                  // S: pairs in ascending order minus those in descending
    for (std::size_t d = query_begin[q]; d < query_begin[q + 1]; ++d) {
      if (labels[d] == unlabelled) continue;
      for (auto const& [label, count] : seen)
        s += label < labels[d] ? count : label > labels[d] ? -count : 0;
      ++seen[labels[d]];
      ++n;
    }
    if (seen.size() < 2) continue;
    double tied = 0, tied_variance = 0;
    for (auto const& [label, t] : seen) {
      tied += t * (t - 1) / 2;
      tied_variance += t * (t - 1) * (2 * t + 5);
    }
    double const pairs = n * (n - 1) / 2;
    found.tau += s / std::sqrt(pairs * (pairs - tied));
    sum += s;
    variance += (n * (n - 1) * (2 * n + 5) - tied_variance) / 18;
    ++found.queries;
  }
  if (found.queries == 0) return found;
  found.tau /= static_cast<double>(found.queries);
  found.z = sum / std::sqrt(variance);
  return found;
}

std::vector<std::size_t> query_begin(dataset const& data) {
  std::vector<std::size_t> begin;
  for (query_group const& q : data.queries) begin.push_back(q.begin);
  begin.push_back(data.size());
  return begin;
}

std::string describe(label_order const& found) {
  return fmt::format(
      "the order of documents within queries predicts their labels (mean Kendall's tau-b of "
      "position and label {:.3f}, z {:.1f}, over {} queries)",
      found.tau, found.z, found.queries);
}

}  // namespace rulerank::datasets
