#include "knn/sparse/sparse_search.hpp"

#include "core/error.hpp"
#include "knn/sparse/engine.hpp"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

bool searches_parts(sparse_engine engine) {
  if (engine == sparse_engine::automatic) return true;
  return find_engine(sparse_engines(), engine) != nullptr &&
         registered_sparse_engines().maker_of(engine).gives_definition;
}

std::string engines_of_parts() {
  std::string names;
  for (sparse_engine_info const& one : sparse_engines())
    if (searches_parts(one.which)) names.append(names.empty() ? "" : " or ").append(one.name);
  return names;
}

void expect_parts_engine(sparse_engine engine) {
  if (!searches_parts(engine))
    throw usage_error(fmt::format("engine {} cannot search an index in parts, expected {}",
                                  name_of(engine), engines_of_parts()));
}

sparse_search::sparse_search(item_collection const& items, sparse_searchers searchers,
                             query_weights weights, sparse_result_options const& results)
    : searched_collection(items),
      collection_(items),
      searchers_(std::move(searchers)),
      weights_(std::move(weights)),
      results_(results) {}

sparse_search::query_weights sparse_search::weights_of(sparse_matrix queries) {
  auto const all = std::make_shared<sparse_matrix const>(std::move(queries));
  auto const of = [all](context const&, index_range some) {
    sparse_rows const rows = *all;
    sparse_matrix weights;
    for (std::size_t q = some.begin; q < some.end; ++q)
      weights.push_row(rows[q].term, rows[q].weight);
    weights.terms = all->terms;
    return weights;
  };
  return {all->size(), of};
}

batch_limits sparse_search::limits(context const& ctx) const {
  // A search processes many queries of a thread with one tile.
  return {.dealt_neighbours = std::size_t{1} << 21,
          .most = ctx.devices.empty() ? std::size_t{4096} : std::size_t{1} << 16,
          .least_share = 64 * static_cast<std::size_t>(ctx.thread_count())};
}

neighbours sparse_search::nearest_of_whole(context const& ctx, index_range queries,
                                           std::size_t k) const {
  return searchers_.front()->search(ctx, weights_.of(ctx, queries), k, results_);
}

std::vector<part_neighbours> sparse_search::nearest_of_parts(context const& ctx,
                                                             index_range queries,
                                                             std::size_t k) const {
  std::vector<part_neighbours> found;
  if (!has_parts()) return found;  // a process without parts has no terms
  sparse_matrix const weights = weights_.of(ctx, queries);
  for (auto const& part : searchers_)
    found.push_back(sparse_searcher_access::search_part(*part, ctx, weights, k, results_));
  return found;
}

bool sparse_search::has_no_more(value_order order) const {
  return results_.pad || (order == value_order::larger_is_nearer && !weights_.may_be_negative);
}

neighbours sparse_search::nearest_in_filter(context const& ctx, index_range queries,
                                            std::size_t k) const {
  sparse_search matching(*this);
  matching.keep_all();
  auto const order = matching.nearest_of(ctx, {queries.begin, queries.begin}, 1).order;
  if (has_no_more(order)) return searched_collection::nearest_in_filter(ctx, queries, k);
  sparse_search padded(*this);
  padded.results_.pad = true;
  neighbours found = padded.nearest_of(ctx, queries, k);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    std::size_t const count = found.count_of(q);
    if (count == 0) continue;
    std::size_t const query = queries.begin + q;
    auto const ids = std::span(found.id).subspan(q * k, k);
    auto const values = std::span(found.value).subspan(q * k, k);
    auto const matches = matching.within_of(ctx, {query, query + 1}, values[count - 1]).row;
    std::unordered_set<std::uint32_t> const is_match(matches.begin(), matches.end());
    std::size_t left = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (is_match.contains(ids[i])) {
        ids[left] = ids[i];
        values[left++] = values[i];
      }
    std::ranges::fill(ids.subspan(left), no_neighbour);
    std::ranges::fill(values.subspan(left), 0);
  }
  return found;
}

namespace {

/// Sparse rows in parts, with their searchers.
class sparse_collection final : public item_collection {
 public:
  sparse_collection(context const& ctx, sparse_searchers const& parts, bool is_split) {
    for (auto const& part : parts) {
      if (is_split || parts.size() > 1) expect_parts_engine(part->engine());
      parts_.push_back({0, part->size()});
    }
    number_parts(ctx, is_split);
  }
  std::optional<std::string> id_of(std::uint32_t row) const override { return std::to_string(row); }
  bool has_ids_in_parts() const override { return false; }
};

}  // namespace

std::unique_ptr<searcher> make_searcher(context const& ctx,
                                        std::vector<std::shared_ptr<sparse_searcher const>> parts,
                                        sparse_matrix queries, sparse_result_options const& results,
                                        bool is_split) {
  sparse_collection rows(ctx, parts, is_split);
  return std::make_unique<owning_search<sparse_collection, sparse_search>>(
      std::move(rows), std::move(parts), sparse_search::weights_of(std::move(queries)), results);
}

}  // namespace rulerank::knn
