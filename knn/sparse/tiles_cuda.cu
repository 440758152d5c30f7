#include "core/error.hpp"
#include "core/for_each_device.hpp"
#include "core/parallel.hpp"
#include "core/per_device.hpp"
#include "core/stream.hpp"
#include "knn/sparse/tile_batch.cuh"
#include "knn/sparse/tile_part.cuh"
#include "knn/sparse/tile_query.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

// `tiles` on GPUs (docs/reference/modules/knn-sparse.md, "Engines"); its kernels are in
// tile_search_cuda.cu.
//
// If every device has memory for the index, each holds it and searches its share of the queries.
// Otherwise the index is cut into parts of whole tiles: each device holds one part and searches it
// for all queries or, if the parts exceed the devices' memory, loads one part after the other. The
// parts' neighbours are merged.
//
// For a small collection, the kernels take less time than the surrounding work. Therefore all
// threads prepare a batch in memory that one copy moves to a device, and convert the results after
// another copy.
namespace rulerank::inline v0::knn {

namespace {

/// Documents per tile: their sums fill most of a multiprocessor's shared memory.
constexpr std::uint32_t largest_tile = 48 * 1024;
/// With more neighbours, the CPU searches.
constexpr std::size_t most_neighbours = 4096;
/// Memory for a batch with this many neighbours per query is allocated before the first search.
constexpr std::size_t usual_neighbours = 30;
/// Documents of a query that are computed exactly: at first as many as blocks with little shared
/// memory sort, then as many as blocks with most of it. With more, the CPU searches for the query.
constexpr std::uint32_t few_rescored = 1024;
constexpr std::uint32_t most_rescored = 8192;
static_assert(most_neighbours <= most_rescored);
constexpr std::size_t most_together = 2048;                 // queries
constexpr std::size_t handed_bytes = std::size_t{1} << 28;  // per batch

class tiles_on_gpus final : public sparse_search_engine {
 public:
  tiles_on_gpus(context const& ctx, sparse_index const& index, sparse_search_options const& options,
                std::size_t device_bytes)
      : index_(index), options_(options), devices_(ctx.devices), on_device_(devices_) {
    // Some weights have no integer form, so the CPU searches for all queries.
    if (index.size() == 0 || !std::ranges::all_of(index.documents().weight, serves)) {
      on_cpu_ = make_tiles_on_cpu(ctx, index, options);
      return;
    }
    std::size_t sums = largest_tile;
    std::size_t rescored = most_rescored;
    std::mutex least;
    threads_.run([&](std::size_t) {
      block_limits const here = allow_shared_memory();
      std::lock_guard const guard(least);
      sums = std::min<std::size_t>(sums, here.tile_size);
      rescored = std::min<std::size_t>(rescored, here.rescored);
    });
    tile_size_ =
        static_cast<std::uint32_t>(std::min(sums / 1024 * 1024, round_up(index.size(), 1024)));
    if (rescored < most_rescored) rescore_capacities_ = {few_rescored};
    most_neighbours_ =
        std::min<std::size_t>({most_neighbours, rescore_capacities_.back(), index.size()});
    zero_documents_ = zero_documents(index, options.metric);
    tiles_ = std::make_unique<tile_index>(ctx, index, options.metric, tile_size_,
                                          tile_lists::over_banks);
    query_batch::shape const usual = shape_for(std::min(usual_neighbours, most_neighbours_));
    std::size_t const growth = largest_batch_bytes() - query_batch::bytes(usual);
    std::size_t available = device_bytes > 0 ? device_bytes : ~std::size_t{0};
    threads_.run([&](std::size_t i) {
      on_device_.make(i);
      on_device_[i].batch.fit(usual);
      std::size_t const free = memory_budget();
      std::lock_guard const guard(least);
      available = std::min(available, free > growth ? free - growth : 0);
    });
    cut(available);
    if (parts_.size() <= devices_.size())
      threads_.run([&](std::size_t i) {
        if (std::size_t const p = part_of(i, 0); p < parts_.size())
          on_device_[i].load(index_, *tiles_, parts_[p], p);
      });
  }

  void search(context const& ctx, sparse_rows const& queries, std::span<double const> query_norms,
              neighbours& found, sparse_search_work& done) const override {
    if (tiles_ == nullptr || found.k > most_neighbours_)
      return on_cpu(ctx).search(ctx, queries, query_norms, found, done);
    std::lock_guard const one_at_a_time(devices_in_use_);
    current_device const guard(devices_[0]);
    work_on_queries work{queries,
                         query_norms,
                         found,
                         done,
                         shape_for(found.k),
                         {},
                         std::vector<char>(queries.size(), 0)};
    if (parts_.size() > devices_.size()) work.so_far.resize(queries.size());
    std::size_t const at_once =
        replicated() ? work.shape.queries * devices_.size() : work.shape.queries;
    for (std::size_t first = 0; first < parts_.size(); first += devices_.size())
      for (std::size_t begin = 0; begin < queries.size(); begin += at_once) {
        ctx.check_stop();
        index_range const batch{begin, std::min(queries.size(), begin + at_once)};
        stage(ctx, work, batch);
        threads_.run([&](std::size_t i) { search_part(i, first, work.shape); });
        take(ctx, work, batch, first);
      }
    search_open(ctx, work);
  }

 private:
  /// One device: its part of the index, and memory for a batch.
  struct device_state {
    void load(sparse_index const& index, tile_index const& tiles, tile_range const& part,
              std::size_t number) {
      if (held && held_number == number) return;
      held.reset();
      held.emplace(index, tiles, part);
      held_number = number;
    }
    staged_batch staged;
    query_batch batch;
    std::optional<part_on_device> held;
    std::size_t held_number = 0;
    stream work;
  };

  /// The queries of a call, and the current results of the parts for them.
  struct work_on_queries {
    sparse_rows const& queries;
    std::span<double const> norms;
    neighbours& found;
    sparse_search_work& done;
    query_batch::shape shape;
    std::vector<std::vector<sparse_candidate>>
        so_far;              // [queries], if parts are loaded one after the other
    std::vector<char> open;  // [queries] left to the CPU
  };

  /// Returns an upper bound of the error of a query's sums, or not_served.
  static std::uint32_t error_of(tile_index const& tiles, sparse_row const& query, double norm) {
    query_integers const integers = integers_of(tiles, query, norm);
    return integers.serve ? static_cast<std::uint32_t>(std::ceil(integers.error)) : not_served;
  }

  /// Returns the limits of batches in a search for k neighbours, at most `most_neighbours_`.
  query_batch::shape shape_for(std::size_t k) const {
    // Each of several tiles that are summed concurrently may have k candidates and some more.
    std::size_t const capacity = std::min<std::size_t>(
        index_.size(), std::max<std::size_t>(most_rescored, 2 * k * tiles_->tiles()));
    std::size_t const queries = std::clamp<std::size_t>(
        handed_bytes / (capacity * sizeof(handed_document)), 1, most_together);
    return {queries, k, capacity};
  }
  /// Returns an upper bound of the bytes of a batch for any k. A larger k increases its capacity
  /// and reduces its queries.
  std::size_t largest_batch_bytes() const {
    query_batch::shape const fewest = shape_for(1), most = shape_for(most_neighbours_);
    std::size_t const of_a_query = most.capacity * sizeof(handed_document);
    std::size_t const handed =
        std::min(std::max(handed_bytes, of_a_query), fewest.queries * of_a_query);
    return handed + query_batch::bytes({fewest.queries, most.k, 0});
  }

  /// The engine for queries that GPUs do not support; made once, by the first search that needs it.
  sparse_search_engine const& on_cpu(context const& ctx) const {
    std::lock_guard const guard(making_on_cpu_);
    if (!on_cpu_) on_cpu_ = make_tiles_on_cpu(ctx, index_, options_);
    return *on_cpu_;
  }

  bool replicated() const { return parts_.size() == 1; }
  /// Returns the part that a device searches in the round that begins with part `first`;
  /// parts_.size() if none.
  std::size_t part_of(std::size_t device, std::size_t first) const {
    return replicated() ? 0 : std::min(first + device, parts_.size());
  }

  /// Cuts the index into as few parts as possible that fit `available` bytes: one, or a multiple of
  /// the number of devices.
  void cut(std::size_t available) {
    for (std::size_t rounds = 0;; ++rounds) {
      std::size_t const count =
          std::min(std::max<std::size_t>(rounds * devices_.size(), 1), tiles_->tiles());
      parts_.clear();
      std::size_t largest = 0;
      for (std::size_t p = 0; p < count; ++p) {
        index_range const tiles = even_range(tiles_->tiles(), count, p);
        parts_.push_back(
            {tiles, {tiles.begin * tile_size_, std::min(tiles.end * tile_size_, index_.size())}});
        largest = std::max(largest, part_on_device::bytes(index_, *tiles_, parts_.back()));
      }
      if (largest <= available) return;
      if (count == tiles_->tiles())
        throw device_error("a tile of the index takes " + std::to_string(largest) +
                           " bytes of GPU memory, and the device has " + std::to_string(available));
    }
  }

  /// Returns the queries that a device searches: its share of a batch if it holds the whole index.
  staged_batch& staged_for(std::size_t device) const {
    return on_device_[replicated() ? device : 0].staged;
  }

  /// Copies a batch to pinned memory.
  void stage(context const& ctx, work_on_queries const& work, index_range const& batch) const {
    std::size_t const shares = replicated() ? devices_.size() : 1;
    for (std::size_t i = 0; i < shares; ++i) {
      index_range const mine = even_range(batch.size(), shares, i);
      staged_for(i).stage(work.queries, {batch.begin + mine.begin, batch.begin + mine.end},
                          work.shape.k);
    }
    parallel_for(ctx, batch.size(), queries_a_thread(ctx, batch.size()),
                 [&](std::size_t begin, std::size_t end, int) {
                   std::size_t i = 0;
                   for (std::size_t q = batch.begin + begin; q < batch.begin + end; ++q) {
                     while (q >= staged_for(i).of().end) ++i;
                     staged_for(i).put(work.queries, q, work.norms[q],
                                       error_of(*tiles_, work.queries[q], work.norms[q]));
                   }
                 });
  }

  /// Searches the staged queries of a device in its part, which it loads if necessary.
  void search_part(std::size_t device, std::size_t first, query_batch::shape const& shape) const {
    staged_batch const& staged = staged_for(device);
    std::size_t const p = part_of(device, first);
    if (p >= parts_.size() || staged.of().size() == 0) return;
    device_state& here = on_device_[device];
    here.load(index_, *tiles_, parts_[p], p);
    part_on_device const& part = *here.held;
    cudaStream_t const on = here.work.get();
    auto const n = static_cast<unsigned>(staged.of().size());
    auto const k = static_cast<std::uint32_t>(shape.k);
    here.batch.fit(shape);
    here.batch.start(staged, on);
    query_view const queries = here.batch.queries();
    results_view const results = here.batch.results();
    handed_view const handed = here.batch.handed();
    sum_tiles(part.view(tile_size_), queries, n, query_scale(*tiles_), k, handed, results, on);
    // The first capacity nearly always suffices for all queries, except those left to the CPU.
    for (std::uint32_t const capacity : rescore_capacities_) {
      if (capacity < k) continue;
      rescore(part.rows(), queries, n, options_.metric, k, capacity, handed, results, on);
      here.batch.fetch(on);
      std::uint32_t const* const answered = here.batch.found().answered;
      if (std::all_of(answered, answered + n, [](std::uint32_t of) { return of != 0; })) return;
    }
  }

  /// Collects the results of devices for a batch in the parts from `first` on; after the last parts
  /// they are final.
  void take(context const& ctx, work_on_queries& work, index_range const& batch,
            std::size_t first) const {
    bool const last = first + devices_.size() >= parts_.size();
    struct finding {
      index_range queries;
      results_view results;
      std::uint32_t first_document;
    };
    std::vector<finding> findings;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      index_range const& of = staged_for(i).of();
      if (of.size() == 0 || part_of(i, first) == parts_.size()) continue;
      findings.push_back({of, on_device_[i].batch.found(), on_device_[i].held->first_document()});
      work.done.rescored += *findings.back().results.rescored;
      work.done.postings_read += *findings.back().results.postings_read;
    }
    parallel_for(ctx, batch.size(), queries_a_thread(ctx, batch.size()),
                 [&](std::size_t begin, std::size_t end, int) {
                   std::vector<sparse_candidate> nearest;
                   for (std::size_t q = batch.begin + begin; q < batch.begin + end; ++q) {
                     nearest.clear();
                     if (first > 0) nearest.swap(work.so_far[q]);
                     for (finding const& one : findings) {
                       if (q < one.queries.begin || q >= one.queries.end) continue;
                       std::size_t const i = q - one.queries.begin;
                       if (one.results.answered[i] == 0)
                         work.open[q] = 1;
                       else
                         merge(nearest, one.results, i, one.first_document, work.shape.k);
                     }
                     if (!last)
                       work.so_far[q].swap(nearest);
                     else if (work.open[q] == 0)
                       write(work, q, completed(nearest, work.shape.k));
                   }
                 });
  }

  /// Merges the results of a part for the i-th query of its batch into the nearest so far.
  void merge(std::vector<sparse_candidate>& nearest, results_view const& results, std::size_t i,
             std::uint32_t first_document, std::size_t k) const {
    auto const before = static_cast<std::ptrdiff_t>(nearest.size());
    for (std::size_t j = i * k; j < i * k + results.answered[i] - 1; ++j)
      nearest.push_back({results.scores[j], first_document + results.documents[j]});
    std::inplace_merge(nearest.begin(), nearest.begin() + before, nearest.end(), nearer_document{});
    if (nearest.size() > k) nearest.resize(k);
  }

  /// Returns the nearest documents that share a term with a query, completed to k by others.
  std::vector<sparse_candidate> const& completed(std::vector<sparse_candidate>& nearest,
                                                 std::size_t k) const {
    for (std::uint32_t const d : zero_documents_) nearest.push_back({0.5, d});
    if (!zero_documents_.empty()) std::sort(nearest.begin(), nearest.end(), nearer_document{});
    if (nearest.size() > k) nearest.resize(k);
    fill_up(nearest, k);
    return nearest;
  }
  void write(work_on_queries const& work, std::size_t q,
             std::vector<sparse_candidate> const& nearest) const {
    std::size_t const k = work.shape.k;
    for (std::size_t i = 0; i < k; ++i) {
      work.found.id[q * k + i] = nearest[i].id;
      work.found.value[q * k + i] = nearest[i].value;
    }
  }

  /// Searches on the CPU for the remaining queries.
  void search_open(context const& ctx, work_on_queries& work) const {
    std::vector<std::size_t> open;
    for (std::size_t q = 0; q < work.queries.size(); ++q)
      if (work.open[q] != 0) open.push_back(q);
    std::vector<std::vector<double>> sums(
        open.empty() ? 0 : static_cast<std::size_t>(ctx.thread_count()));
    parallel_for(ctx, open.size(), 1, [&](std::size_t i, std::size_t, int thread) {
      std::size_t const q = open[i];
      std::vector<sparse_candidate> nearest;
      search_all(index_, options_.metric, work.queries[q], work.norms[q], work.shape.k,
                 sums[static_cast<std::size_t>(thread)], nearest);
      write(work, q, nearest);
    });
    work.done.rescored += open.size() * index_.size();
  }

  sparse_index const& index_;
  sparse_search_options options_;
  std::vector<int> devices_;
  mutable device_threads threads_{devices_};
  std::unique_ptr<tile_index> tiles_;
  std::vector<std::uint32_t> zero_documents_;
  std::uint32_t tile_size_ = 0;
  /// Documents that a block computes and sorts, in the first and the second attempt.
  std::vector<std::uint32_t> rescore_capacities_{few_rescored, most_rescored};
  std::size_t most_neighbours_ = 0;  // most neighbours on GPUs
  std::vector<tile_range> parts_;
  mutable per_device<device_state> on_device_;
  mutable std::mutex devices_in_use_;
  mutable std::mutex making_on_cpu_;
  mutable std::unique_ptr<sparse_search_engine> on_cpu_;
};

}  // namespace

std::unique_ptr<sparse_search_engine> make_tiles_on_gpus(context const& ctx,
                                                         sparse_index const& index,
                                                         sparse_search_options const& options,
                                                         std::size_t device_bytes) {
  return std::make_unique<tiles_on_gpus>(ctx, index, options, device_bytes);
}

}  // namespace rulerank::knn
