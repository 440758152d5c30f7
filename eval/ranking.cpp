#include "eval/ranking.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace rulerank::inline v0::eval {

namespace {

template <class Label>
void rank_labels(std::span<Label const> labels, std::span<double const> scores,
                 std::span<std::string const> docnos, std::span<Label const> pool, profile const& p,
                 ranked_query& out) {
  std::size_t const n = labels.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto const sort_by = [&](auto&& before_in_tie) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      if (scores[a] != scores[b]) return scores[a] > scores[b];
      return before_in_tie(a, b);
    });
  };
  switch (p.ties) {
    case tie_rule::worst:
      sort_by([&](std::size_t a, std::size_t b) { return labels[a] < labels[b]; });
      break;
    case tie_rule::docno:
      sort_by([&](std::size_t a, std::size_t b) { return docnos[a] > docnos[b]; });
      break;
    case tie_rule::stable:
    case tie_rule::average:
      sort_by([](std::size_t, std::size_t) { return false; });
  }
  out.labels.resize(n);
  out.scores.resize(n);
  out.groups.assign(1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    out.labels[i] = labels[order[i]];
    out.scores[i] = scores[order[i]];
    if (i > 0 && !(p.ties == tie_rule::average && out.scores[i] == out.scores[i - 1]))
      out.groups.push_back(i);
  }
  if (n > 0) out.groups.push_back(n);
  out.depth = p.max_docs == 0 ? n : std::min(n, p.max_docs);

  out.ideal.clear();
  std::copy_if(pool.begin(), pool.end(), std::back_inserter(out.ideal),
               [](Label label) { return label >= 0; });
  std::sort(out.ideal.begin(), out.ideal.end(), std::greater<>());
  out.relevant = static_cast<std::size_t>(
      std::partition_point(out.ideal.begin(), out.ideal.end(),
                           [&](double label) { return label >= p.relevant_from; }) -
      out.ideal.begin());
  out.nonrelevant = out.ideal.size() - out.relevant;
}

}  // namespace

void rank(std::span<std::int32_t const> labels, std::span<double const> scores,
          std::span<std::string const> docnos, profile const& p, ranked_query& out) {
  rank_labels(labels, scores, docnos, labels, p, out);
}

void rank(std::span<double const> labels, std::span<double const> scores,
          std::span<std::string const> docnos, profile const& p, ranked_query& out) {
  rank_labels(labels, scores, docnos, labels, p, out);
}

void rank(std::span<std::int32_t const> labels, std::span<double const> scores,
          std::span<std::string const> docnos, std::span<std::int32_t const> pool, profile const& p,
          ranked_query& out) {
  rank_labels(labels, scores, docnos, pool, p, out);
}

}  // namespace rulerank::eval
