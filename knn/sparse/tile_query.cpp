#include "knn/sparse/tile_query.hpp"

#include "knn/sparse/similarity_math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rulerank::inline v0::knn {

double query_scale(tile_index const& tiles) {
  return std::floor(
      std::min(tile_index::unit, std::ldexp(1, 30) / (tile_index::unit * tiles.largest_norm())));
}

query_integers integers_of(tile_index const& tiles, sparse_row const& query, double norm) {
  if (query.size() == 0) return {true, 0};  // nothing to add
  if (norm == 0 || !std::ranges::all_of(query.weight, serves)) return {};
  double const scale = query_scale(tiles);
  double const largest = tiles.largest_norm();
  auto const terms = static_cast<double>(query.size());
  double weights = 0;
  for (double const w : query.weight) weights += w;
  // Each factor has an error of at most 1: |XY - xy| <= Y + X + 1. The sum of X over the query's
  // terms is at most sqrt(terms) times its norm; Y is at most y + 1.
  double const sum = weights / norm * scale * (1 + 1e-9) + terms;
  double const error = sum + tile_index::unit * std::sqrt(terms) * largest + terms + 2;
  double const most = tile_index::unit * scale * largest + error;
  return {scale >= 1 && most < std::numeric_limits<std::int32_t>::max(), error};
}

void make_tile_query(sparse_index const& index, tile_index const& tiles, similarity metric,
                     sparse_row const& query, double norm, tile_query& made) {
  query_integers const integers = integers_of(tiles, query, norm);
  made.units = 0;
  if (!integers.serve) return;
  made.error = integers.error;
  double const scale = query_scale(tiles);
  double const largest = tiles.largest_norm();
  std::size_t const terms = query.size();
  std::vector<std::pair<std::size_t, std::size_t>> order(terms);  // documents, index in the query
  for (std::size_t i = 0; i < terms; ++i) order[i] = {index.list(query.term[i]).size(), i};
  std::sort(order.begin(), order.end());
  made.term.resize(terms);
  made.weight.resize(terms);
  made.rest.resize(terms + 1);
  made.rest[terms] = 0;
  double rest = 0;  // squares of the weights from here on
  for (std::size_t j = terms; j-- > 0;) {
    std::size_t const i = order[j].second;
    made.term[j] = query.term[i];
    made.weight[j] = integer_weight(query.weight[i], norm, scale);
    double const y = query.weight[i] / norm;
    rest += y * y;
    made.rest[j] = std::sqrt(rest) * (1 + 1e-9) * largest * tile_index::unit * scale;
  }
  // A similarity s corresponds to a sum of s units.
  made.units = tile_index::unit * scale;
  if (metric == similarity::inner_product && terms > 0) made.units /= norm * tiles.largest_weight();
}

void search_all(sparse_index const& index, similarity metric, sparse_row const& query, double norm,
                std::size_t k, std::vector<double>& sums, std::vector<sparse_candidate>& nearest) {
  sums.assign(index.size(), 0);
  for (std::size_t i = 0; i < query.size(); ++i) {
    posting_list const list = index.list(query.term[i]);
    for (std::size_t p = 0; p < list.size(); ++p)
      sums[list.document[p]] += query.weight[i] * list.weight[p];
  }
  nearest.clear();
  for (std::uint32_t d = 0; d < index.size(); ++d)
    nearest.push_back(
        {metric == similarity::inner_product
             ? sums[d]
             : cosine_of(sums[d], norm, index.norms()[d], metric == similarity::normalized_l2),
         d});
  std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(k),
                    nearest.end(), nearer_document{});
}

void fill_up(std::vector<sparse_candidate>& sorted, std::size_t k) {
  if (sorted.size() >= k && sorted.back().value > 0) return;
  auto const zero = std::partition_point(sorted.begin(), sorted.end(),
                                         [](sparse_candidate const& c) { return c.value > 0; });
  std::vector<std::uint32_t> taken;
  for (auto c = sorted.begin(); c != zero; ++c) taken.push_back(c->id);
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
  for (std::size_t d = 0; metric == similarity::normalized_l2 && d < index.size(); ++d)
    if (index.norms()[d] == 0) zero.push_back(static_cast<std::uint32_t>(d));
  return zero;
}

}  // namespace rulerank::knn
