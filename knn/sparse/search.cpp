#include "knn/sparse/search.hpp"

#include "core/error.hpp"
#include "core/named_values.hpp"
#include "core/parallel.hpp"
#include "core/stopwatch.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/posting_lists.hpp"
#include "knn/sparse/similarity_math.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rulerank::inline v0::knn {

namespace {

constexpr named_values<similarity, 3> metrics{{{"cosine", similarity::cosine},
                                               {"ip", similarity::inner_product},
                                               {"l2", similarity::normalized_l2}}};

std::unique_ptr<sparse_search_engine> make_tiles(context const& ctx, sparse_index const& index,
                                                 sparse_search_options const& options) {
#if RULERANK_HAS_CUDA
  if (!ctx.devices.empty()) return make_tiles_on_gpus(ctx, index, options);
#endif
  return make_tiles_on_cpu(ctx, index, options);
}
#if RULERANK_HAS_CUDA
constexpr runs_on of_tiles = runs_on::cpu_and_gpus;
#else
constexpr runs_on of_tiles = runs_on::cpu;
#endif

/// Query rows without terms that no document has and without zero weights, and their norms. The
/// norms include terms that only other parts have. Throws as `check`. The threads that use the
/// memory write it first.
class known_queries {
 public:
  known_queries(context const& ctx, sparse_rows const& queries, sparse_index const& index)
      : begin_(queries.size() + 1, 0), norms_(queries.size()), terms_(index.terms()) {
    auto const is_known = [&](sparse_row const& row, std::size_t i) {
      return row.term[i] < index.terms() && row.weight[i] != 0 && index.is_known(row.term[i]);
    };
    auto const is_here = [&](sparse_row const& row, std::size_t i) {
      return is_known(row, i) && index.list(row.term[i]).size() > 0;
    };
    auto const each_row = [&](auto const& work) {
      parallel_for(ctx, queries.size(), queries_a_thread(ctx, queries.size()),
                   [&](std::size_t begin, std::size_t end, int) {
                     for (std::size_t q = begin; q < end; ++q) work(q, queries[q]);
                   });
    };
    std::atomic<bool> sound{true};
    each_row([&](std::size_t q, sparse_row const& row) {
      if (!fault_of(row, queries.terms).empty()) sound = false;
      std::uint64_t known = 0;
      for (std::size_t i = 0; i < row.size(); ++i) known += is_here(row, i) ? 1 : 0;
      begin_[q + 1] = known;
    });
    if (!sound) check(queries, "queries");
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    term_ = std::make_unique_for_overwrite<std::uint32_t[]>(begin_.back());
    weight_ = std::make_unique_for_overwrite<double[]>(begin_.back());
    each_row([&](std::size_t q, sparse_row const& row) {
      std::uint64_t to = begin_[q];
      double squares = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (is_known(row, i)) squares += row.weight[i] * row.weight[i];
        if (!is_here(row, i)) continue;
        term_[to] = row.term[i];
        weight_[to++] = row.weight[i];
      }
      norms_[q] = std::sqrt(squares);
    });
  }

  sparse_rows rows() const {
    return {begin_, {term_.get(), begin_.back()}, {weight_.get(), begin_.back()}, terms_};
  }
  std::span<double const> norms() const { return norms_; }

 private:
  std::vector<std::uint64_t> begin_;
  std::unique_ptr<std::uint32_t[]> term_;
  std::unique_ptr<double[]> weight_;
  std::vector<double> norms_;
  std::uint32_t terms_;
};

/// Returns whether rows have a common term.
bool share_a_term(sparse_row const& a, sparse_row const& b) {
  auto at = b.term.begin();
  for (std::uint32_t const t : a.term) {
    at = std::lower_bound(at, b.term.end(), t);
    if (at == b.term.end()) return false;
    if (*at == t) return true;
  }
  return false;
}

/// Returns whether a document matches. `value`: a product or a cosine from an engine.
bool is_match(sparse_index const& index, similarity metric, sparse_row const& query,
              std::uint32_t d, double value) {
  // Only a shared term makes a sum nonzero. A document of norm 0 has no cosine, but a value under
  // l2.
  bool const is_sum = metric != similarity::normalized_l2 || index.norms()[d] != 0;
  return (is_sum && value != 0) || share_a_term(query, index.documents()[d]);
}

/// Keeps the matches of each query by moving them to the front of its entries. `found`: products or
/// cosines from an engine.
void keep_matches(context const& ctx, sparse_index const& index, similarity metric,
                  sparse_rows const& queries, neighbours& found) {
  parallel_for(ctx, found.queries, queries_a_thread(ctx, found.queries),
               [&](std::size_t begin, std::size_t end, int) {
                 for (std::size_t q = begin; q < end; ++q) {
                   sparse_row const query = queries[q];
                   std::size_t const last = (q + 1) * found.k;
                   std::size_t to = q * found.k;
                   for (std::size_t i = to; i < last; ++i) {
                     if (!is_match(index, metric, query, found.id[i], found.value[i])) continue;
                     found.id[to] = found.id[i];
                     found.value[to++] = found.value[i];
                   }
                   for (; to < last; ++to) {
                     found.id[to] = no_neighbour;
                     found.value[to] = 0;
                   }
                 }
               });
}

}  // namespace

similarity sparse_similarity_from(std::string_view name) {
  return value_named<similarity>(metrics, name, "found metric", name_list::plain);
}

engine_registry<sparse_engine, sparse_engine_maker>& registered_sparse_engines() {
  static engine_registry<sparse_engine, sparse_engine_maker> engines{
      {{sparse_engine::tiles, "tiles",
        "tiles of documents with integer sums, then what may be near exactly", "", of_tiles,
        of_tiles},
       {make_tiles, true}}};
  return engines;
}

std::span<sparse_engine_info const> sparse_engines() {
  return registered_sparse_engines().list();
}
std::string_view name_of(sparse_engine e) {
  return name_of_engine(sparse_engines(), e);
}
sparse_engine sparse_engine_from(std::string_view name) {
  return engine_named<sparse_engine>(sparse_engines(), name);
}

struct sparse_searcher::implementation {
  sparse_index const& index;
  sparse_search_options options;
  std::unique_ptr<sparse_search_engine> engine;

  /// Returns the queries of a search for k neighbours. Throws `usage_error`.
  known_queries known(context const& ctx, sparse_rows const& queries, std::size_t k) const {
    if (k == 0) throw usage_error("k: found 0, expected at least 1");
    return known_queries(ctx, queries, index);
  }
  /// Runs the engine, which returns products or cosines, larger is nearer.
  void find(context const& ctx, known_queries const& queries, std::size_t k, neighbours& found,
            sparse_search_work* work) const {
    found.queries = queries.norms().size();
    found.k = std::min(k, index.size());
    found.order = value_order::larger_is_nearer;
    found.id.resize(found.queries * found.k);
    found.value.resize(found.queries * found.k);
    sparse_search_work done;
    if (found.k > 0) engine->search(ctx, queries.rows(), queries.norms(), found, done);
    if (work != nullptr) *work += done;
  }
  /// Converts cosines to distances if the metric needs them. Engines order by the cosine, which is
  /// finer than the distance: the root can map different cosines to equal distances.
  void give_values(known_queries const& queries, neighbours& found) const {
    found.order = order_of(options.metric);
    if (options.metric != similarity::normalized_l2) return;
    for (std::size_t i = 0; i < found.value.size(); ++i)
      if (found.id[i] != no_neighbour)
        found.value[i] =
            distance_of(found.value[i], queries.norms()[i / found.k], index.norms()[found.id[i]]);
  }
};

sparse_searcher sparse_searcher_access::with(context const& ctx, sparse_index const& index,
                                             sparse_search_options const& options,
                                             maker const& make) {
  if (options.metric == similarity::l2)
    throw usage_error("metric: found l2, expected cosine, inner_product or normalized_l2");
  sparse_search_options own = options;
  own.engine = choose_engine(sparse_engines(), options.engine, ctx).which;
  auto engine = make ? make(ctx, index, own)
                     : registered_sparse_engines().maker_of(own.engine).make(ctx, index, own);
  return sparse_searcher(std::unique_ptr<sparse_searcher::implementation>(
      new sparse_searcher::implementation{index, own, std::move(engine)}));
}

sparse_searcher::sparse_searcher(std::unique_ptr<implementation> made)
    : implementation_(std::move(made)) {}
sparse_searcher::sparse_searcher(context const& ctx, sparse_index const& index,
                                 sparse_search_options const& options)
    : sparse_searcher(sparse_searcher_access::with(ctx, index, options, {})) {}
sparse_searcher::~sparse_searcher() = default;
sparse_searcher::sparse_searcher(sparse_searcher&&) noexcept = default;

sparse_engine sparse_searcher::engine() const noexcept {
  return implementation_->options.engine;
}

std::size_t sparse_searcher::size() const noexcept {
  return implementation_->index.size();
}

neighbours sparse_searcher::search(context const& ctx, sparse_rows const& queries, std::size_t k,
                                   sparse_result_options const& results,
                                   sparse_search_work* work) const {
  stopwatch const watch;
  implementation const& own = *implementation_;
  known_queries const known = own.known(ctx, queries, k);
  neighbours found;
  own.find(ctx, known, k, found, work);
  if (!results.pad) keep_matches(ctx, own.index, own.options.metric, queries, found);
  own.give_values(known, found);
  found.search_s = watch.seconds();
  return found;
}

part_neighbours sparse_searcher_access::search_part(sparse_searcher const& searcher,
                                                    context const& ctx, sparse_rows const& queries,
                                                    std::size_t k,
                                                    sparse_result_options const& results) {
  stopwatch const watch;
  sparse_searcher::implementation const& own = *searcher.implementation_;
  known_queries const known = own.known(ctx, queries, k);
  part_neighbours found;
  own.find(ctx, known, k, found, nullptr);
  found.key = found.value;
  if (!results.pad) {
    found.is_match.resize(found.id.size());
    parallel_for(ctx, found.queries, queries_a_thread(ctx, found.queries),
                 [&](std::size_t begin, std::size_t end, int) {
                   for (std::size_t i = begin * found.k; i < end * found.k; ++i)
                     found.is_match[i] =
                         is_match(own.index, own.options.metric, queries[i / found.k], found.id[i],
                                  found.value[i]);
                 });
  }
  own.give_values(known, found);
  found.search_s = watch.seconds();
  return found;
}

}  // namespace rulerank::knn
