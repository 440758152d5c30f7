#include "knn/sparse/tile_query.hpp"

#include "knn/sparse/similarity_math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace rulerank::knn {

tile_query make_tile_query(sparse_index const& index, tile_index const& tiles, similarity metric,
                           sparse_row const& query, double norm) {
  tile_query p;
  if (norm == 0 || !std::ranges::all_of(query.weight, serves)) return p;
  double const largest = tiles.largest_norm();
  double const scale =
      std::floor(std::min(tile_index::unit, std::ldexp(1, 30) / (tile_index::unit * largest)));
  std::vector<std::size_t> order(query.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return query.weight[i] == 0; });
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return index.list(query.term[a]).size() < index.list(query.term[b]).size();
  });
  double sum = 0;
  for (std::size_t const i : order) {
    p.term.push_back(query.term[i]);
    p.weight.push_back(
        static_cast<std::uint32_t>(std::max(1.0, std::nearbyint(query.weight[i] / norm * scale))));
    sum += p.weight.back();
  }
  // Each factor is off by 1 at most: |XY - xy| <= Y + X + 1, and the sum of X over the query's
  // terms is at most sqrt(terms) times its norm.
  auto const terms = static_cast<double>(order.size());
  p.error = sum + tile_index::unit * std::sqrt(terms) * largest + terms + 2;
  double const most = tile_index::unit * scale * largest + p.error;
  if (scale < 1 || most >= std::numeric_limits<std::int32_t>::max()) return {};
  p.rest.resize(order.size() + 1);
  double rest = 0;
  for (std::size_t j = order.size(); j-- > 0;) {
    double const y = query.weight[order[j]] / norm;
    rest += y * y;
    p.rest[j] = std::sqrt(rest) * (1 + 1e-9) * largest * tile_index::unit * scale;
  }
  // A similarity s is a sum of s units.
  p.units = tile_index::unit * scale;
  if (metric == similarity::inner_product) p.units /= norm * tiles.largest_weight();
  return p;
}

void search_all(sparse_index const& index, similarity metric, sparse_row const& query, double norm,
                std::size_t k, std::vector<double>& sums, std::vector<candidate>& nearest) {
  sums.assign(index.size(), 0);
  for (std::size_t i = 0; i < query.size(); ++i) {
    posting_list const list = index.list(query.term[i]);
    for (std::size_t p = 0; p < list.size(); ++p)
      sums[list.document[p]] += query.weight[i] * list.weight[p];
  }
  nearest.clear();
  for (std::uint32_t d = 0; d < index.size(); ++d)
    nearest.push_back({metric == similarity::inner_product
                           ? sums[d]
                           : cosine_of(sums[d], norm, index.norms()[d], metric == similarity::l2),
                       d});
  std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(k),
                    nearest.end());
}

void fill_up(std::vector<candidate>& sorted, std::size_t k) {
  auto const zero = std::partition_point(sorted.begin(), sorted.end(),
                                         [](candidate const& c) { return c.score > 0; });
  std::vector<std::uint32_t> taken;
  for (auto c = sorted.begin(); c != zero; ++c) taken.push_back(c->document);
  std::sort(taken.begin(), taken.end());
  sorted.erase(zero, sorted.end());
  auto next = taken.begin();
  for (std::uint32_t d = 0; sorted.size() < k; ++d) {
    if (next != taken.end() && *next == d)
      ++next;
    else
      sorted.push_back({0, d});
  }
}

std::vector<std::uint32_t> zero_documents(sparse_index const& index, similarity metric) {
  std::vector<std::uint32_t> zero;
  for (std::size_t d = 0; metric == similarity::l2 && d < index.size(); ++d)
    if (index.norms()[d] == 0) zero.push_back(static_cast<std::uint32_t>(d));
  return zero;
}

}  // namespace rulerank::knn
