#include "knn/sparse/search.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/similarity_math.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace rulerank::knn {

namespace {

constexpr std::array<std::string_view, 3> metrics{"cosine", "ip", "l2"};

constexpr std::array<std::string_view, 2> balances{"inter", "intra"};

#if RULERANK_HAS_CUDA
constexpr std::string_view tiles_run_on = "cpu, cuda";
#else
constexpr std::string_view tiles_run_on = "cpu";
#endif

constexpr std::array engines {
  sparse_engine_info{sparse_engine::mt, "mt", "cpu",
                     "as published: posting lists, a query a thread, a full sort"},
      sparse_engine_info{sparse_engine::tiles, "tiles", tiles_run_on,
                         "tiles of documents with integer sums, then what may be near exactly",
                         true},
#if RULERANK_HAS_CUDA
      sparse_engine_info{sparse_engine::gknn, "gknn", "cuda",
                         "as published (Freitas 2017, section 5.4): every document's row, a full "
                         "sort; single precision"},
      sparse_engine_info{sparse_engine::gt, "gt", "cuda",
                         "as published (Freitas 2017, Algorithms 7 to 9): posting lists, a query a "
                         "launch; single precision"},
      sparse_engine_info{sparse_engine::fish, "fish", "cuda",
                         "as published (Freitas 2017, Algorithms 20 to 23): posting lists, a group "
                         "of queries a launch; single precision"},
#endif
};

/// Query rows without the terms that no document has and those that weigh nothing, and their norms.
/// Throws as `check` does. Memory is first written by the threads that need it.
class known_queries {
 public:
  known_queries(context const& ctx, sparse_rows const& queries, sparse_index const& index)
      : begin_(queries.size() + 1, 0), norms_(queries.size()), terms_(index.terms()) {
    auto const is_known = [&](sparse_row const& row, std::size_t i) {
      return row.term[i] < index.terms() && row.weight[i] != 0 &&
             index.list(row.term[i]).size() > 0;
    };
    auto const each_row = [&](auto const& work) {
      parallel_for(ctx, queries.size(), piece_of(ctx, queries.size()),
                   [&](std::size_t begin, std::size_t end, int) {
                     for (std::size_t q = begin; q < end; ++q) work(q, queries[q]);
                   });
    };
    std::atomic<bool> sound{true};
    each_row([&](std::size_t q, sparse_row const& row) {
      if (!fault_of(row, queries.terms).empty()) sound = false;
      std::uint64_t known = 0;
      for (std::size_t i = 0; i < row.size(); ++i) known += is_known(row, i) ? 1 : 0;
      begin_[q + 1] = known;
    });
    if (!sound) check(queries, "queries");
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    term_ = std::make_unique_for_overwrite<std::uint32_t[]>(begin_.back());
    weight_ = std::make_unique_for_overwrite<double[]>(begin_.back());
    each_row([&](std::size_t q, sparse_row const& row) {
      std::uint64_t to = begin_[q];
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (!is_known(row, i)) continue;
        term_[to] = row.term[i];
        weight_[to++] = row.weight[i];
      }
      norms_[q] = norm_of(rows()[q]);
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

}  // namespace

similarity similarity_from(std::string_view name) {
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (metrics[i] == name) return static_cast<similarity>(i);
  throw usage_error(fmt::format("found metric '{}', expected {}", name, fmt::join(metrics, ", ")));
}
std::string_view name_of(similarity how) {
  return metrics[static_cast<std::size_t>(how)];
}

load_balance load_balance_from(std::string_view name) {
  for (std::size_t i = 0; i < balances.size(); ++i)
    if (balances[i] == name) return static_cast<load_balance>(i);
  throw usage_error(
      fmt::format("found balance '{}', expected {}", name, fmt::join(balances, ", ")));
}
std::string_view name_of(load_balance balance) {
  return balances[static_cast<std::size_t>(balance)];
}

std::span<sparse_engine_info const> sparse_engines() {
  return engines;
}
std::string_view name_of(sparse_engine e) {
  return engine_name(engines, e);
}
sparse_engine sparse_engine_from(std::string_view name) {
  return engine_in<sparse_engine>(engines, name, without_cuda);
}

struct sparse_searcher::implementation {
  sparse_index const& index;
  sparse_search_options options;
  std::unique_ptr<sparse_search_engine> engine;
};

sparse_searcher::sparse_searcher(context const& ctx, sparse_index const& index,
                                 sparse_search_options const& options)
    : implementation_(new implementation{index, options, nullptr}) {
  if (options.k == 0) throw usage_error("k: found 0, expected at least 1");
  implementation_->options.k = std::min(options.k, std::max<std::size_t>(index.size(), 1));
  sparse_engine& chosen = implementation_->options.engine;
  if (chosen == sparse_engine::automatic) chosen = sparse_engine::tiles;
  if (options.group == 0) throw usage_error("group: found 0, expected at least 1");
  if (needs_gpu(engines, chosen) && ctx.devices.empty())
    throw device_error(
        fmt::format("engine {} runs on GPUs, and there is none to run on", name_of(chosen)));
  switch (chosen) {
    case sparse_engine::mt:
      implementation_->engine = make_mt(index, implementation_->options);
      break;
    case sparse_engine::tiles:
    case sparse_engine::automatic:
#if RULERANK_HAS_CUDA
      if (!ctx.devices.empty()) {
        implementation_->engine = make_tiles_on_gpus(ctx, index, implementation_->options);
        break;
      }
#endif
      implementation_->engine = make_tiles_on_cpu(ctx, index, implementation_->options);
      break;
#if RULERANK_HAS_CUDA
    case sparse_engine::gknn:
      implementation_->engine = make_gknn(ctx, index, implementation_->options);
      break;
    case sparse_engine::gt:
    case sparse_engine::fish:
      implementation_->engine = make_fish(ctx, index, implementation_->options);
      break;
#else
    default:
      throw device_error("this build has no engines for GPUs");
#endif
  }
}
sparse_searcher::~sparse_searcher() = default;
sparse_searcher::sparse_searcher(sparse_searcher&&) noexcept = default;

sparse_engine sparse_searcher::engine() const noexcept {
  return implementation_->options.engine;
}

neighbours sparse_searcher::search(context const& ctx, sparse_rows const& queries) const {
  auto const begin = std::chrono::steady_clock::now();
  sparse_index const& index = implementation_->index;
  known_queries const known(ctx, queries, index);
  std::span<double const> const norms = known.norms();
  neighbours found;
  found.k = std::min(implementation_->options.k, index.size());
  found.engine = engine();
  found.document.resize(queries.size() * found.k);
  found.score.resize(queries.size() * found.k);
  if (found.k > 0) implementation_->engine->search(ctx, known.rows(), norms, found);
  if (implementation_->options.metric == similarity::l2)
    for (std::size_t i = 0; i < found.score.size(); ++i)
      found.score[i] =
          distance_of(found.score[i], norms[i / found.k], index.norms()[found.document[i]]);
  found.search_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return found;
}

}  // namespace rulerank::knn
