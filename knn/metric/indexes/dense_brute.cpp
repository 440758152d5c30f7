#include "knn/metric/indexes/dense_brute.hpp"

#include "core/parallel.hpp"

#include <algorithm>

namespace rulerank::inline v0::knn {

namespace {

/// Dense search gets several queries at a time: as many as have about this many neighbours in
/// total, within these limits.
constexpr std::size_t neighbours_together = std::size_t{1} << 22;
constexpr std::size_t fewest_together = 8;
constexpr std::size_t most_together = 4096;

std::size_t queries_together(std::size_t neighbours_of_a_query) {
  return std::clamp(neighbours_together / (neighbours_of_a_query + 1), fewest_together,
                    most_together);
}

context on_the_cpu(context const& ctx) {
  context on = ctx;
  on.devices.clear();
  return on;
}

/// Returns the results of dense search for a query, ordered by distance and number: different
/// squares may have equal roots.
std::vector<metric_candidate> in_order(std::span<std::uint32_t const> ids,
                                       std::span<double const> values) {
  std::vector<metric_candidate> found(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) found[i] = {values[i], ids[i]};
  nearer<value_order::smaller_is_nearer> const is_nearer;
  if (!std::is_sorted(found.begin(), found.end(), is_nearer))
    std::sort(found.begin(), found.end(), is_nearer);
  return found;
}

}  // namespace

bool dense_brute::suits(metric_space const& space) {
  auto const* const vectors = dynamic_cast<vector_space const*>(&space);
  return vectors != nullptr && vectors->which() == metric_distance::l2;
}

dense_brute::dense_brute(context const& ctx, metric_space const& space,
                         std::span<std::uint32_t const> objects)
    : index_(on_the_cpu(ctx), dynamic_cast<vector_space const&>(space).rows(),
             {.engine = dense_engine::flat}),
      holds_((space.size() + 63) / 64) {
  for (std::uint32_t const object : objects) insert(object);
}

void dense_brute::insert(std::uint32_t object) {
  holds_[object / 64] |= std::uint64_t{1} << (object % 64);
  ++size_;
}
void dense_brute::erase(std::uint32_t object) {
  holds_[object / 64] &= ~(std::uint64_t{1} << (object % 64));
  --size_;
}

dense_filter dense_brute::filter() const {
  dense_filter some;
  if (size_ < index_.size()) some.rows = holds_;
  return some;
}

bool dense_brute::search(context const& ctx, metric_queries const& queries, double radius,
                         std::size_t k, take_answer const& take) const {
  context const on = on_the_cpu(ctx);
  std::size_t together = k > 0 ? queries_together(k) : fewest_together;
  for (std::size_t first = 0; first < queries.size();) {
    std::size_t const count = std::min(together, queries.size() - first);
    auto const some = queries.as_vectors(first, count);
    if (!some) return false;
    auto const take_here = [&](std::size_t q, std::vector<metric_candidate>& found) {
      take(first + q, found);
    };
    if (k > 0)
      search_nearest(on, *some, k, take_here);
    else
      together = queries_together(search_within(on, *some, radius, take_here) / count);
    first += count;
  }
  return true;
}

void dense_brute::search_nearest(context const& ctx, datasets::vectors const& queries,
                                 std::size_t k, take_answer const& take) const {
  // If the next root equals that of the k-th, further objects may have it.
  neighbours const nearest = index_.search(ctx, queries, std::min(k, size_) + 1, filter());
  std::vector<std::size_t> tied;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    std::size_t const count = nearest.count_of(q);
    auto const values = nearest.values_of(q);
    if (count > k && values[k] == values[k - 1]) {
      tied.push_back(q);
      continue;
    }
    std::size_t const taken = std::min(count, k);
    auto found = in_order(nearest.ids_of(q).first(taken), values.first(taken));
    take(q, found);
  }
  context one = ctx;
  one.threads = 1;
  parallel_for(ctx, tied.size(), 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      std::size_t const q = tied[i];
      auto const within =
          index_.search_range(one, queries.rows(q, 1), nearest.values_of(q)[k], filter());
      auto found = in_order(within.rows_of(0), within.values_of(0));
      found.resize(k);
      take(q, found);
    }
  });
}

std::size_t dense_brute::search_within(context const& ctx, datasets::vectors const& queries,
                                       double radius, take_answer const& take) const {
  auto const within = index_.search_range(ctx, queries, radius, filter());
  for (std::size_t q = 0; q < queries.size(); ++q) {
    auto found = in_order(within.rows_of(q), within.values_of(q));
    take(q, found);
  }
  return within.row.size();
}

}  // namespace rulerank::knn
