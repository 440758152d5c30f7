#include "core/error.hpp"
#include "core/for_each_device.hpp"
#include "core/machine.hpp"
#include "core/parallel.hpp"
#include "core/per_device.hpp"
#include "knn/dense/centre.hpp"
#include "knn/dense/device_groups.hpp"
#include "knn/dense/engine.hpp"
#include "knn/dense/flat_batch_cuda.cuh"
#include "knn/dense/flat_part_cuda.cuh"
#include "knn/dense/flat_stream_cuda.cuh"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

// If the index is small, every device holds all rows, and the devices divide the queries of a call.
// If it is large, each device holds a share of the rows and searches it for all queries, and the
// lists are merged. In between, each group of devices holds all rows, and the groups divide the
// queries. Added rows form a new part, merged with the last parts if these are not much larger, so
// that there are few parts and each row is copied only a few times. Rows that do not fit a device
// are copied to it by each search, some while others are searched.
namespace rulerank::inline v0::knn {

namespace {

/// Rows of at most so many bytes are not split over more devices.
constexpr std::size_t replicated_bytes = std::size_t{1} << 30;
/// Fewest queries per group of devices when groups divide them.
constexpr std::size_t least_queries = 64;
/// Bytes of rows in one piece, for rows that every search copies to a device.
constexpr std::size_t piece_bytes = std::size_t{1} << 30;

class flat_on_gpus final : public dense_search_engine {
 public:
  flat_on_gpus(context const& ctx, dense_rows const& rows, dense_index_options const& options,
               flat_gpu_limits const& limits)
      : rows_(rows),
        metric_(options.metric),
        limits_(limits),
        devices_(ctx.devices),
        batches_(devices_),
        held_(devices_.size()),
        streams_(devices_.size()) {
    threads_.run([&](std::size_t i) { batches_.make(i); });
    added(ctx, 0);
  }

  void added(context const& ctx, std::size_t first) override {
    ctx.check_stop();
    std::size_t const rows = rows_.size();
    if (first == 0) {
      for (on_device<flat_stream>& stream : streams_) stream = {};
      groups_ =
          groups_for(devices_.size(), rows * rows_.row_bytes(),
                     limits_.replicated_bytes > 0 ? limits_.replicated_bytes : replicated_bytes);
    }
    if (rows == first) return;
    // The rows of the new part: all rows, or the added rows and the last parts that are not much
    // larger.
    std::size_t begin = first;
    std::size_t kept = cuts_.size();
    while (kept > 0 && cuts_[kept - 1].size() <= 2 * (rows - begin)) begin = cuts_[--kept].begin;
    if (begin == 0)
      centre_ = centre_of_shadow(rows_, metric_,
                                 tensor_error(static_cast<std::uint32_t>(rows_.dimensions())));
    index_range const made{begin, rows};
    std::vector<held_rows> more(devices_.size());
    threads_.run([&](std::size_t i) { more[i] = hold(i, kept, groups_.rows_of(made, i)); });
    cuts_.resize(kept);
    cuts_.push_back(made);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      held_[i].resize(kept);
      held_[i].push_back(std::move(more[i]));
    }
  }

  void search(context const& ctx, dense_request const& request,
              std::span<std::vector<dense_candidate>> found,
              dense_search_work& work) const override {
    std::lock_guard const one_at_a_time(devices_in_use_);
    call of(request, flat_plan(request.k, request.count, limits_.capacity), devices_.size());
    if (request.k == 0) of.most_in_range = free_memory() / (4 * sizeof(dense_candidate)) + 1024;
    search_devices(ctx, of, work);
    context on = ctx;
    std::size_t const entries = request.k > 0 ? request.count * request.k : of.in_range.load();
    on.threads = static_cast<int>(std::clamp<std::size_t>(
        entries / candidates_a_thread, 1, static_cast<std::size_t>(ctx.thread_count())));
    auto const threads = static_cast<std::size_t>(on.threads);
    parallel_for(on, request.count, (request.count + threads - 1) / threads,
                 [&](std::size_t begin, std::size_t end, int) {
                   for (std::size_t q = begin; q < end; ++q) merge(of, q, found[q]);
                 });
  }

  void search_nearest(context const& ctx, dense_request const& request,
                      take_nearest_rows const& take, dense_search_work& work) const override {
    flat_plan const plan(request.k, request.count, limits_.capacity);
    if (!has_one_part() || !flat_batch::scans(plan, rows_.dimensions()))
      return dense_search_engine::search_nearest(ctx, request, take, work);
    std::lock_guard const one_at_a_time(devices_in_use_);
    call of(request, plan, devices_.size());
    of.take = &take;
    search_devices(ctx, of, work);
    std::vector<dense_candidate> late;
    std::vector<double> keys;
    std::vector<std::uint32_t> rows;
    for (std::size_t q = 0; q < request.count; ++q) {
      if (!of.is_widened(q)) continue;
      merge(of, q, late);
      keys.clear();
      rows.clear();
      for (dense_candidate const& one : late) {
        keys.push_back(one.value);
        rows.push_back(one.id);
      }
      if (!rows.empty()) take(q, keys, rows);
    }
  }

 private:
  /// One call of `search` or `search_nearest`.
  struct call {
    call(dense_request const& asked, flat_plan const& how, std::size_t devices)
        : request(asked), plan(how), lists(devices), work(devices), widened(devices) {}
    bool is_widened(std::size_t q) const {
      return std::any_of(widened.begin(), widened.end(),
                         [q](auto const& some) { return !some.empty() && some[q] != 0; });
    }

    dense_request const& request;
    flat_plan plan;
    /// Null, or the receiver of all queries except widened ones, which have lists.
    take_nearest_rows const* take = nullptr;
    /// [devices][queries] the results of its parts, each part's nearest first.
    std::vector<std::vector<std::vector<dense_candidate>>> lists;
    std::vector<dense_search_work> work;     // [devices]
    std::vector<std::vector<char>> widened;  // [devices][queries]
    std::size_t most_in_range = 0;
    std::atomic<std::size_t> in_range{0};
  };

  /// The results of a batch for a query, in the memory of the batch.
  struct batch_result {
    std::uint32_t query;
    std::span<double const> keys;
    std::span<std::uint32_t const> rows;
  };

  /// A query without enough space in its batch: to search again within the limit, with its number
  /// of candidates.
  struct late_query {
    std::uint32_t query;
    float limit;
    std::uint32_t handed;
  };

  /// Whether each device holds all rows in one part, so that its results are final.
  bool has_one_part() const {
    return groups_.of_group == 1 && cuts_.size() == 1 &&
           std::all_of(held_.begin(), held_.end(), [](auto const& held) {
             return held[0].part && held[0].streamed.size() == 0;
           });
  }

  void search_devices(context const& ctx, call& of, dense_search_work& work) const {
    threads_.run([&](std::size_t i) { search_device(ctx, of, i); });
    double device_s = 0;
    std::uint64_t busy = 0;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      work.recomputed += of.work[i].recomputed;
      device_s = std::max(device_s, of.work[i].device_s);
      busy += queries_of(i, of.request.count).size() > 0 ? 1 : 0;
    }
    work.device_s += device_s;
    work.devices = std::max(work.devices, busy);
    for (std::size_t q = 0; q < of.request.count; ++q) work.widened += of.is_widened(q) ? 1 : 0;
  }

  /// Returns the queries that a device searches for.
  index_range queries_of(std::size_t i, std::size_t count) const {
    return groups_.queries_of(count, i, least_queries);
  }

  /// The rows of a cut that a device searches.
  struct held_rows {
    on_device<flat_part> part;  ///< rows that stay on the device, or null
    index_range streamed;       ///< rows that each search copies to the device
  };

  /// Returns the memory of the current device for rows besides the kept cuts. The cuts to be
  /// replaced are still there, so that an error changes nothing.
  std::size_t free_bytes(std::size_t i, std::size_t kept) const {
    std::size_t const free = memory_budget();
    if (limits_.device_bytes == 0) return free;
    std::size_t used = 0;
    auto const use = [&](std::size_t rows) { used += flat_part::bytes(rows_, rows, metric_); };
    for (std::size_t c = 0; c < kept; ++c)
      if (held_[i][c].part) use((*held_[i][c].part).of().size());
    for (int slot = 0; streams_[i] && slot < 2; ++slot) use((*streams_[i]).piece());
    return std::min(free, limits_.device_bytes - std::min(limits_.device_bytes, used));
  }

  /// Copies as many rows as fit to the current device. Throws if there is no space to stream the
  /// others.
  held_rows hold(std::size_t i, std::size_t kept, index_range const& mine) {
    held_rows held;
    if (mine.size() == 0) return held;
    std::size_t stay = mine.size();
    if (flat_part::bytes(rows_, stay, metric_) > free_bytes(i, kept)) {
      if (!streams_[i]) make_stream(i, kept, stay);
      stay = std::min(stay, flat_part::rows_within(rows_, free_bytes(i, kept), metric_));
    }
    index_range const staying{mine.begin, mine.begin + stay};
    held.streamed = {staying.end, mine.end};
    if (stay > 0)
      held.part = on_device<flat_part>(std::in_place, devices_[i], rows_, staying, metric_, centre_,
                                       static_cast<float>(limits_.bound_scale));
    return held;
  }

  /// `rows`: the number of rows that do not fit.
  void make_stream(std::size_t i, std::size_t kept, std::size_t rows) {
    std::size_t const free = free_bytes(i, kept);
    std::size_t const piece =
        std::min(rows, flat_part::rows_within(rows_, std::min(piece_bytes, free / 4), metric_));
    if (piece == 0)
      throw device_error(
          "CUDA device " + std::to_string(devices_[i]) + ": " + counted(rows, "row") +
          " of the index and their copy in lower precision take " +
          std::to_string(flat_part::bytes(rows_, rows, metric_)) + " bytes, and the device has " +
          std::to_string(free) +
          ", too few even for a part of the rows at a time; use more GPUs, or the CPU");
    streams_[i] = on_device<flat_stream>(std::in_place, devices_[i], rows_, piece, metric_, centre_,
                                         static_cast<float>(limits_.bound_scale));
  }

  void search_device(context const& ctx, call& of, std::size_t i) const {
    if (queries_of(i, of.request.count).size() == 0) return;
    of.lists[i].resize(of.request.count);
    of.widened[i].assign(of.request.count, 0);
    std::vector<index_range> streamed;
    for (held_rows const& held : held_[i]) {
      if (held.part) search_part(ctx, of, i, *held.part);
      if (held.streamed.size() > 0) streamed.push_back(held.streamed);
    }
    if (streamed.empty()) return;
    context copying = ctx;
    copying.threads = std::max(ctx.thread_count() / static_cast<int>(devices_.size()), 1);
    (*streams_[i]).run(copying, rows_, streamed, [&](flat_part const& part) {
      search_part(ctx, of, i, part);
    });
  }

  void search_part(context const& ctx, call& of, std::size_t i, flat_part const& part) const {
    index_range const mine = queries_of(i, of.request.count);
    auto& lists = of.lists[i];
    std::size_t const together =
        flat_batch::most_queries(of.plan, of.request, rows_.dimensions(), part.of().size());
    std::vector<late_query> again;
    auto const first_row = static_cast<std::uint32_t>(part.of().begin);
    std::vector<batch_result> results;
    flat_sink const sink{
        [&](std::uint32_t q, double const* keys, std::uint32_t const* rows, std::size_t count) {
          if (of.take != nullptr && of.widened[i][q] == 0) {
            results.push_back({q, {keys, count}, {rows, count}});
            return;
          }
          if (of.request.k == 0) count_in_range(of, count);
          auto& list = lists[q];
          list.reserve(list.size() + count);
          for (std::size_t j = 0; j < count; ++j) list.push_back({keys[j], first_row + rows[j]});
        },
        [&](std::uint32_t q, float limit, std::uint32_t handed) {
          again.push_back({q, limit, handed});
        },
        [&](std::uint32_t q) { of.widened[i][q] = 1; }};
    std::vector<std::uint32_t> batch;
    for (std::size_t begin = mine.begin; begin < mine.end; begin += together) {
      ctx.check_stop();
      batch.resize(std::min(together, mine.end - begin));
      std::iota(batch.begin(), batch.end(), static_cast<std::uint32_t>(begin));
      batches_[i].search(part, of.plan, {&of.request, batch, {}, false}, sink, of.work[i]);
      give(ctx, of, results);
      results.clear();
    }
    // First within a better limit, then with space for the remaining candidates: the queries that
    // need most come first, and each batch has the space that its first query needs.
    for (bool const last : {false, true}) {
      std::vector<late_query> late = std::exchange(again, {});
      if (last) std::ranges::sort(late, std::greater(), &late_query::handed);
      std::size_t count = 0;
      for (std::size_t begin = 0; begin < late.size(); begin += count) {
        ctx.check_stop();
        flat_plan const plan = last ? of.plan.with_space_for(late[begin].handed) : of.plan;
        count = std::min(
            flat_batch::most_queries(plan, of.request, rows_.dimensions(), part.of().size()),
            late.size() - begin);
        batch.clear();
        std::vector<float> limits;
        for (late_query const& one : std::span(late).subspan(begin, count)) {
          batch.push_back(one.query);
          limits.push_back(one.limit);
        }
        batches_[i].search(part, plan, {&of.request, batch, limits, last}, sink, of.work[i]);
      }
    }
  }

  /// Uses all threads of the device, or one for little work: with teams of other sizes, OpenMP
  /// would end and restart threads in every batch.
  void give(context const& ctx, call const& of, std::span<batch_result const> results) const {
    if (results.empty()) return;
    context on = ctx;
    on.threads = results.size() * of.request.k < candidates_a_thread
                     ? 1
                     : std::max(ctx.thread_count() / static_cast<int>(devices_.size()), 1);
    std::size_t const ranges = 4 * static_cast<std::size_t>(on.threads);
    parallel_for(on, results.size(), (results.size() + ranges - 1) / ranges,
                 [&](std::size_t begin, std::size_t end, int) {
                   for (batch_result const& one : results.subspan(begin, end - begin))
                     if (!one.rows.empty()) (*of.take)(one.query, one.keys, one.rows);
                 });
  }

  static void count_in_range(call& of, std::size_t more) {
    if ((of.in_range += more) > of.most_in_range)
      throw usage_error(
          "radius: found more than " + std::to_string(of.most_in_range) + " rows for " +
          counted(of.request.count, "query", "queries") +
          ", more than memory holds; use a smaller radius or fewer queries at a time");
  }

  static void merge(call& of, std::size_t q, std::vector<dense_candidate>& found) {
    found.clear();
    for (auto& lists : of.lists) {
      if (lists.empty()) continue;
      if (found.empty())
        found.swap(lists[q]);
      else
        found.insert(found.end(), lists[q].begin(), lists[q].end());
    }
    // The results of one part are already in order.
    if (!std::is_sorted(found.begin(), found.end(), nearer_row()))
      std::sort(found.begin(), found.end(), nearer_row());
    if (of.request.k > 0 && found.size() > of.request.k) found.resize(of.request.k);
  }

  dense_rows const& rows_;
  similarity metric_;
  flat_gpu_limits limits_;
  std::vector<int> devices_;
  mutable device_threads threads_{devices_};
  mutable per_device<flat_batch> batches_;
  std::vector<float> centre_;
  device_groups groups_;
  std::vector<index_range> cuts_;                        // rows that were added together
  std::vector<std::vector<held_rows>> held_;             // [devices][cuts]
  mutable std::vector<on_device<flat_stream>> streams_;  // [devices] for streamed rows
  mutable std::mutex devices_in_use_;
};

}  // namespace

std::unique_ptr<dense_search_engine> make_flat_on_gpus(context const& ctx, dense_rows const& rows,
                                                       dense_index_options const& options,
                                                       flat_gpu_limits const& limits) {
  return std::make_unique<flat_on_gpus>(ctx, rows, options, limits);
}

}  // namespace rulerank::knn
