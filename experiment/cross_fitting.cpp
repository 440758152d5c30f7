#include "experiment/cross_fitting.hpp"

#include "core/random.hpp"

#include <algorithm>
#include <numeric>

namespace rulerank::inline v0::experiment {

namespace {

/// Calls visit(begin, end) for each run of equal values in the order `order`.
template <class Visit>
void for_each_tie(std::span<std::size_t const> order, std::span<double const> values, Visit visit) {
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    visit(begin, end);
  }
}

std::vector<std::size_t> ascending(std::span<double const> values, std::size_t first,
                                   std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), first);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return values[a] != values[b] ? values[a] < values[b] : a < b;
  });
  return order;
}

/// Counts labels by their rank among the distinct ones (Fenwick, A new data structure for
/// cumulative frequency tables, Software: Practice and Experience 24, 1994).
class label_counts {
 public:
  explicit label_counts(std::size_t ranks) : sums_(ranks + 1) {}

  void add(std::size_t rank) {
    for (std::size_t i = rank + 1; i < sums_.size(); i += i & (0 - i)) ++sums_[i];
  }
  /// The count of labels below that rank.
  std::uint64_t below(std::size_t rank) const {
    std::uint64_t sum = 0;
    for (std::size_t i = rank; i > 0; i -= i & (0 - i)) sum += sums_[i];
    return sum;
  }

 private:
  std::vector<std::uint64_t> sums_;
};

/// The number of pairs with different labels, from the counts per label.
std::uint64_t unequal_pairs(std::span<std::uint64_t const> counts) {
  std::uint64_t before = 0, pairs = 0;
  for (std::uint64_t const count : counts) {
    pairs += before * count;
    before += count;
  }
  return pairs;
}

}  // namespace

std::vector<sample_fold> deal_sample(datasets::dataset const& data,
                                     std::span<std::size_t const> sample, std::size_t folds,
                                     std::uint64_t seed) {
  std::vector<std::size_t> queries;  // with sampled documents
  auto at = sample.begin();
  for (std::size_t q = 0; q < data.queries.size(); ++q) {
    auto const end = std::lower_bound(at, sample.end(), data.queries[q].end);
    if (end != at) queries.push_back(q);
    at = end;
  }
  random_engine engine(seed);
  shuffle(std::span(queries), engine);
  std::vector<std::size_t> fold_of(data.queries.size());
  std::vector<sample_fold> dealt(std::min(folds, queries.size()));
  for (std::size_t i = 0; i < queries.size(); ++i) fold_of[queries[i]] = i % dealt.size();
  std::sort(queries.begin(), queries.end());
  at = sample.begin();
  for (std::size_t const q : queries) {
    datasets::query_group const& group = data.queries[q];
    sample_fold& mine = dealt[fold_of[q]];
    std::size_t const first = mine.lists.size();
    for (std::size_t d = group.begin; d < group.end; ++d) mine.lists.push_back(d);
    for (; at != sample.end() && *at < group.end; ++at) {
      mine.judged.push_back(first + (*at - group.begin));
      for (sample_fold& other : dealt)
        if (&other != &mine) other.learnt.push_back(*at);
    }
  }
  return dealt;
}

std::vector<double> places_in_lists(std::span<datasets::query_group const> queries,
                                    std::span<double const> scores) {
  std::vector<double> places(scores.size(), 0.5);
  for (datasets::query_group const& q : queries) {
    if (q.size() < 2) continue;
    std::vector<std::size_t> const order = ascending(scores, q.begin, q.size());
    for_each_tie(order, scores, [&](std::size_t begin, std::size_t end) {
      // A quotient of integers: equal places have equal bits in lists of any length.
      for (std::size_t i = begin; i < end; ++i)
        places[order[i]] =
            static_cast<double>(begin + end - 1) / static_cast<double>(2 * (q.size() - 1));
    });
  }
  return places;
}

double concordance(std::span<double const> places, std::span<std::int32_t const> labels) {
  std::vector<std::int32_t> distinct(labels.begin(), labels.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  auto const rank_of = [&](std::size_t d) {
    return static_cast<std::size_t>(std::lower_bound(distinct.begin(), distinct.end(), labels[d]) -
                                    distinct.begin());
  };
  label_counts lower(distinct.size());
  std::vector<std::uint64_t> all(distinct.size());
  std::uint64_t twice = 0;  // twice the number of pairs in order, ties counting half
  std::vector<std::size_t> const order = ascending(places, 0, places.size());
  for_each_tie(order, places, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint64_t> here(distinct.size());
    for (std::size_t i = begin; i < end; ++i) {
      std::size_t const rank = rank_of(order[i]);
      twice += 2 * lower.below(rank);
      ++here[rank];
    }
    twice += unequal_pairs(here);
    for (std::size_t i = begin; i < end; ++i) lower.add(rank_of(order[i]));
    for (std::size_t r = 0; r < here.size(); ++r) all[r] += here[r];
  });
  std::uint64_t const pairs = unequal_pairs(all);
  return pairs == 0 ? 0.5 : static_cast<double>(twice) / static_cast<double>(2 * pairs);
}

}  // namespace rulerank::experiment
