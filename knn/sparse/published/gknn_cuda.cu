#include "core/device_pool.hpp"
#include "core/for_each_device.hpp"
#include "core/stream.hpp"
#include "knn/full_sort.cuh"
#include "knn/merge_lists.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/published/device_index.cuh"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <vector>

// G-kNN as described in Freitas 2017, section 5.4 (after Rocha et al.): without an inverted index,
// computes the similarity of every document from its row, and sorts all documents. Processes one
// query after the other. With several GPUs, each has the rows, and the queries are divided.
namespace rulerank::inline v0::knn {

namespace {

constexpr std::uint32_t warp = 32;
constexpr std::uint32_t threads = 256;
constexpr std::uint32_t documents_a_block = threads / warp;

struct rows_ref {
  std::uint32_t const* begin;  ///< [documents + 1]
  term_weight const* terms;
  float const* norms;  ///< [documents]
  std::uint32_t documents;
};

/// Writes the query's weights, or zeros again, at its terms in a vector of all terms.
__global__ void scatter(term_weight const* query, std::uint32_t n, bool clear, float* dense) {
  std::uint32_t const i = blockIdx.x * threads + threadIdx.x;
  if (i < n) dense[query[i].term] = clear ? 0.0F : query[i].weight;
}

/// One document per warp.
__global__ __launch_bounds__(threads) void compare_all(rows_ref const rows, float const* query,
                                                       float query_norm, similarity metric,
                                                       near_key* keys) {
  std::uint32_t const d = blockIdx.x * documents_a_block + threadIdx.x / warp;
  std::uint32_t const lane = threadIdx.x % warp;
  if (d >= rows.documents) return;
  float sum = 0;
  for (std::uint32_t i = rows.begin[d] + lane; i < rows.begin[d + 1]; i += warp) {
    term_weight const t = rows.terms[i];
    sum += query[t.term] * t.weight;
  }
  for (std::uint32_t apart = warp / 2; apart > 0; apart /= 2)
    sum += __shfl_down_sync(0xFFFFFFFFU, sum, apart);
  if (lane == 0) keys[d] = near_key_of(similarity_of(metric, sum, query_norm, rows.norms[d]), d);
}

unsigned blocks_for(std::size_t n, std::size_t a_block) {
  return static_cast<unsigned>((n + a_block - 1) / a_block);
}

/// The documents on the current device.
class rows_on_device {
 public:
  rows_on_device(std::vector<std::uint32_t> const& begin, std::vector<term_weight> const& terms,
                 std::vector<float> const& norms) {
    check_fits(begin.size() * sizeof(std::uint32_t) + terms.size() * sizeof(term_weight) +
                   norms.size() * sizeof(float),
               "the documents' rows");
    begin_ = copy_to_device(begin);
    terms_ = copy_to_device(terms);
    norms_ = copy_to_device(norms);
    check_cuda(cudaStreamSynchronize(nullptr));
  }
  rows_ref ref() const {
    return {begin_.data(), terms_.data(), norms_.data(), static_cast<std::uint32_t>(norms_.size())};
  }

 private:
  device_buffer<std::uint32_t> begin_;
  device_buffer<term_weight> terms_;
  device_buffer<float> norms_;
};

/// The memory of a call on the current device. The next call reuses it, and it grows to the longest
/// query and the most neighbours. Between queries, `dense` is all zeros.
struct query_memory {
  query_memory(std::uint32_t terms, std::uint32_t documents)
      : dense(checked(terms, documents)), sorter(documents) {
    dense.fill_bytes(0, on.get());
  }
  static std::uint32_t checked(std::uint32_t terms, std::uint32_t documents) {
    check_fits(terms * sizeof(float) + full_sort::bytes(documents), "a query's search");
    return terms;
  }

  stream on;
  device_buffer<float> dense;
  device_buffer<term_weight> query;
  full_sort sorter;
  pinned_buffer<term_weight> host_query;
  pinned_buffer<near_key> nearest;
};

class gknn final : public sparse_search_engine {
 public:
  gknn(context const& ctx, sparse_index const& index, sparse_search_options const& options)
      : index_(index),
        metric_(options.metric),
        devices_(ctx.devices),
        rows_(devices_),
        memory_(devices_) {
    check_single_precision(index.norms(), "documents");
    if (index.postings() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
      throw device_error("found more than 2^31 - 1 terms of documents, too many for a GPU");
    auto const begin = index.documents().begin;
    std::vector<std::uint32_t> const begins(begin.begin(), begin.end());
    std::vector<term_weight> const terms = term_weights(ctx, index);
    std::vector<float> const norms(index.norms().begin(), index.norms().end());
    for_each_device(devices_, [&](std::size_t i) { rows_.make(i, begins, terms, norms); });
  }

  void search(context const& ctx, sparse_rows const& queries, std::span<double const> query_norms,
              neighbours& found, sparse_search_work& work) const override {
    check_single_precision(query_norms, "queries");
    std::atomic<std::uint64_t> allocations{0};
    for_each_device(devices_, [&](std::size_t i) {
      index_range const mine = even_range(queries.size(), devices_.size(), i);
      if (mine.size() > 0) allocations += search_share(ctx, i, queries, query_norms, mine, found);
    });
    work.counts["allocations"] += allocations;
  }

 private:
  /// Returns the number of allocations of device memory.
  std::uint64_t search_share(context const& ctx, std::size_t i, sparse_rows const& queries,
                             std::span<double const> query_norms, index_range const& mine,
                             neighbours& found) const {
    std::size_t longest = 1;
    for (std::size_t q = mine.begin; q < mine.end; ++q)
      longest = std::max(longest, queries[q].size());
    auto const documents = static_cast<std::uint32_t>(index_.size());
    auto memory = memory_.take(i, index_.terms(), documents);
    stream const& on = memory->on;
    on.synchronize();  // an earlier call may have been interrupted
    std::uint64_t const allocations = memory->query.size() < longest ? 1 : 0;
    memory->query.reserve(longest);
    memory->host_query.reserve(longest);
    memory->nearest.reserve(found.k);
    for (std::size_t q = mine.begin; q < mine.end; ++q) {
      ctx.check_stop();
      sparse_row const row = queries[q];
      auto const n = static_cast<std::uint32_t>(row.size());
      for (std::uint32_t t = 0; t < n; ++t)
        memory->host_query[t] = {row.term[t], static_cast<float>(row.weight[t])};
      if (n > 0) {
        check_cuda(cudaMemcpyAsync(memory->query.data(), memory->host_query.data(),
                                   n * sizeof(term_weight), cudaMemcpyHostToDevice, on.get()));
        scatter<<<blocks_for(n, threads), threads, 0, on.get()>>>(memory->query.data(), n, false,
                                                                  memory->dense.data());
        check_launch();
      }
      compare_all<<<blocks_for(documents, documents_a_block), threads, 0, on.get()>>>(
          rows_[i].ref(), memory->dense.data(), static_cast<float>(query_norms[q]), metric_,
          memory->sorter.keys());
      check_launch();
      memory->sorter.sort(on.get());
      check_cuda(cudaMemcpyAsync(memory->nearest.data(), memory->sorter.sorted(),
                                 found.k * sizeof(near_key), cudaMemcpyDeviceToHost, on.get()));
      if (n > 0) {
        scatter<<<blocks_for(n, threads), threads, 0, on.get()>>>(memory->query.data(), n, true,
                                                                  memory->dense.data());
        check_launch();
      }
      on.synchronize();
      merge_lists({memory->nearest.data(), found.k}, found.k, q, found);
    }
    return allocations;
  }

  sparse_index const& index_;
  similarity metric_;
  std::vector<int> devices_;
  per_device<rows_on_device> rows_;
  device_pool<query_memory> mutable memory_;
};

}  // namespace

std::unique_ptr<sparse_search_engine> make_gknn(context const& ctx, sparse_index const& index,
                                                sparse_search_options const& options) {
  return std::make_unique<gknn>(ctx, index, options);
}

}  // namespace rulerank::knn
