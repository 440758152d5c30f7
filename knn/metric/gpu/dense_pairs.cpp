// Searches vectors under l2 by dense search, which has the same definition, bit for bit. Dense
// search orders by the sums of squares, so neighbours with equal roots are sorted by their numbers.
// If the k-th and the next have equal roots, a search within this distance completes the query.
// Results go directly from the memory that the devices copy to into the answer.

#include "knn/metric/gpu/dense_pairs.hpp"

#include "knn/dense/engine.hpp"
#include "knn/dense/search.hpp"
#include "knn/metric/query_results.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace rulerank::inline v0::knn {

namespace {

using nearer_object = nearer<value_order::smaller_is_nearer>;

/// Sorts objects at equal distances by ascending number. `ids` and `values`: by ascending value.
void order_equal(std::span<std::uint32_t> ids, std::span<double const> values) {
  for (std::size_t begin = 0; begin < ids.size();) {
    std::size_t end = begin + 1;
    while (end < ids.size() && values[end] == values[begin]) ++end;
    std::sort(ids.begin() + static_cast<std::ptrdiff_t>(begin),
              ids.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
}

class dense_pairs final : public metric_gpu_searcher {
 public:
  dense_pairs(context const& ctx, gpu_layout layout)
      : layout_(std::move(layout)), index_(ctx, rows_of(layout_), {.engine = dense_engine::flat}) {}

  gpu_layout const& layout() const override { return layout_; }

  void search(context const& ctx, gpu_queries const& queries, gpu_request const& request,
              gpu_candidates& found, metric_gpu_work& work) const override {
    dense_search_work done;
    auto const within = index_.search_range(ctx, as_vectors(queries), request.radius, {}, &done);
    for_lists(ctx, found.size(), within.row.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t q = begin; q < end; ++q) found[q] = objects_of(within, q);
    });
    count(queries, done, work);
  }

  std::optional<neighbours> nearest(context const& ctx, gpu_queries const& queries, std::size_t k,
                                    metric_gpu_work& work) const override {
    neighbours found = space_for_nearest(queries.count, k);
    auto const asked = as_vectors(queries);
    std::vector<std::uint8_t> is_tied(queries.count);
    dense_search_work done;
    dense_index_access::search_nearest(
        index_, ctx, asked, std::min<std::size_t>(k, layout_.objects) + 1,
        [&](std::size_t q, std::span<double const> squares, std::span<std::uint32_t const> rows) {
          std::size_t const n = std::min(rows.size(), k);
          std::span const values(found.value.data() + q * k, n);
          std::span const ids(found.id.data() + q * k, n);
          for (std::size_t i = 0; i < n; ++i) {
            values[i] = std::sqrt(squares[i]);
            ids[i] = layout_.ids[rows[i]];
          }
          order_equal(ids, values);
          is_tied[q] = rows.size() > n && std::sqrt(squares[n]) == values[n - 1] ? 1 : 0;
        },
        done);
    for (std::size_t q = 0; q < queries.count; ++q)
      if (is_tied[q] != 0) settle(ctx, asked.rows(q, 1), q, found, done);
    count(queries, done, work);
    return found;
  }

 private:
  static datasets::vectors rows_of(gpu_layout const& layout) {
    std::vector<std::uint32_t> places(layout.objects);
    std::iota(places.begin(), places.end(), 0U);
    return {queries_at(layout, places).values, layout.dimensions};
  }
  datasets::vectors as_vectors(gpu_queries const& queries) const {
    return {datasets::element::float32, queries.values.data(), queries.count, layout_.dimensions};
  }
  std::vector<candidate<double>> objects_of(rows_in_range const& within, std::size_t q) const {
    auto const rows = within.rows_of(q);
    auto const values = within.values_of(q);
    std::vector<candidate<double>> list(rows.size());
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = {values[i], layout_.ids[rows[i]]};
    return list;
  }
  /// Finds the k nearest if more objects are at the distance of the last one found.
  void settle(context const& ctx, datasets::vectors const& query, std::size_t q, neighbours& found,
              dense_search_work& done) const {
    std::size_t const last = (q + 1) * found.k - 1;
    auto all = objects_of(index_.search_range(ctx, query, found.value[last], {}, &done), 0);
    std::sort(all.begin(), all.end(), nearer_object());
    for (std::size_t i = 0; i < found.k; ++i) {
      found.id[q * found.k + i] = all[i].id;
      found.value[q * found.k + i] = all[i].value;
    }
  }
  void count(gpu_queries const& queries, dense_search_work const& done,
             metric_gpu_work& work) const {
    work.evaluations += std::uint64_t{layout_.objects} * queries.count;
    work.kernel_s += done.device_s;
    work.devices = std::max(work.devices, done.devices);
    ++work.launches;
  }

  gpu_layout layout_;
  dense_index index_;
};

}  // namespace

std::unique_ptr<metric_gpu_searcher> make_dense_pairs(context const& ctx, gpu_layout layout) {
  return std::make_unique<dense_pairs>(ctx, std::move(layout));
}

}  // namespace rulerank::knn
