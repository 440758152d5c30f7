#include "core/aligned.hpp"
#include "core/shared_memory.hpp"
#include "l2r/rules/tensor.cuh"
#include "l2r/rules/tensor_items_table.cuh"

#include <algorithm>
#include <vector>

// `tensor` for many documents (docs/reference/modules/l2r.md, "tensor").
//
// Documents with the same items x and y need the same numbers: the contribution of {x, y, z} for
// every item z. Hence a block handles an item x of feature f and a run of the documents that hold
// it. For each later feature g it multiplies the rows x AND y, for all y of g, with the rows of
// some later features on the tensor cores. It turns the counts into contributions, stored as a
// table in shared memory (tensor_items_table.cuh): [y][feature][bin]. Then each document adds the
// entries of its bins. While one table is read, the next is computed. Bins are stored in the order
// of the feature's items (tensor_items_order.cu), so that a warp's documents are contiguous. The
// contribution of {x, y} comes from a table of all pairs.
namespace rulerank::inline v0::l2r {

namespace by_item {

namespace {

/// Documents per thread, with their sums in registers: more documents share each table. Blocks have
/// many_threads threads if items have many documents.
constexpr std::uint32_t per_thread = 8;
constexpr std::uint32_t few_threads = 512;
constexpr std::uint32_t many_threads = 1024;
constexpr std::uint32_t most_chunks = 32;
/// Limit on items, because a table holds all pairs: 4 GiB.
constexpr std::uint32_t most_items = 1 << 14;

/// The contribution of every pair of items of different features; a block per item x, a warp per y.
__global__ void pairs_kernel(row_view const rows, score_view<std::uint64_t> const table,
                             std::uint32_t const* item_begin, std::uint32_t features, sums* pairs,
                             std::uint8_t* deep) {
  std::uint32_t const x = blockIdx.x;
  std::uint32_t const lane = threadIdx.x % 32;
  for (std::uint32_t g = 0; g < features; ++g)
    for (std::uint32_t y = item_begin[g] + threadIdx.x / 32; y < item_begin[g + 1];
         y += blockDim.x / 32) {
      auto const count = [&](std::uint32_t from, std::uint32_t to) {
        std::uint32_t n = 0;
        for (std::uint32_t w = from * product_words + lane; w < to * product_words; w += 32)
          n += static_cast<std::uint32_t>(__popc(rows.word(x, w) & rows.word(y, w)));
        return __reduce_add_sync(~0U, n);
      };
      std::uint32_t const n = count(0, rows.chunks);
      sums add;
      if (n != 0) {
        class_sums<std::uint64_t> pair(table, n);
        std::uint32_t begin = 0;
        for (std::uint32_t k = 0; k < rows.classes; ++k) {
          std::uint32_t const end = rows.class_end[k];
          pair.add(table, k, count(begin, end));
          begin = end;
        }
        add = pair.sums(table);
      }
      if (lane == 0) pairs[std::size_t{x} * rows.items + y] = add;
      if (lane == 0 && n > table.folded_up_to) deep[std::size_t{x} * features + g] = 1;
    }
}

/// Eight slots, each rotated by y.
__device__ inline std::uint32_t turned(std::uint32_t eight, std::uint32_t y) {
  std::uint32_t const by = y * 0x11111111U;
  return ((eight & 0x77777777U) + (by & 0x77777777U)) ^ ((eight ^ by) & 0x88888888U);
}

/// The i-th group of a document's slots that are read together; empty after the last.
__device__ inline slot_words load_slots(arguments const& a, slot_words const* slots_of,
                                        std::uint32_t i) {
  if (i >= a.loads) return {};
  uint2 const two = __ldg(reinterpret_cast<uint2 const*>(slots_of + std::size_t{i} * a.documents));
  return {{two.x, two.y}};
}

/// Adds a document's entries of a table. y: its item of g; `slots_of`: the start of its slots.
__device__ void add_packed(arguments const& a, slot_words const* slots_of, table_step const& at,
                           std::uint32_t y, void const* made, sums& total) {
  auto const* const table = static_cast<std::uint64_t const*>(made) + y * (packed_group * slots);
  slot_words read[packed_group / slot_words::count];
#pragma unroll
  for (std::uint32_t i = 0; i < packed_group / slot_words::count; ++i)
    read[i] = load_slots(a, slots_of, at.v / slot_words::count + i);
  std::uint64_t sum = 0;
#pragma unroll
  for (std::uint32_t w = 0; w < packed_group / 8; ++w) {
    if (at.v + 8 * w >= a.features) break;
    std::uint32_t const eight = turned(read[w / slot_words::words].word[w % slot_words::words], y);
#pragma unroll
    for (std::uint32_t k = 0; k < 8; ++k)
      sum += table[(w * 8 + k) * slots + (eight >> (k * 4) & 15U)];
  }
  total.num += sum & ((std::uint64_t{1} << num_bits) - 1);
  total.den += (sum >> num_bits) * a.table.unit[1];
}

__device__ void add_full(arguments const& a, slot_words const* slots_of, table_step const& at,
                         std::uint32_t y, void const* made, sums& total) {
  static_assert(full_group == slot_words::count);
  auto const* const table = static_cast<ulonglong2 const*>(made) + y * (full_group * slots);
  slot_words const read = load_slots(a, slots_of, at.v / slot_words::count);
#pragma unroll
  for (std::uint32_t w = 0; w < slot_words::words; ++w) {
    if (at.v + 8 * w >= a.features) break;
    std::uint32_t const eight = turned(read.word[w], y);
#pragma unroll
    for (std::uint32_t k = 0; k < 8; ++k) {
      ulonglong2 const add = table[(w * 8 + k) * slots + (eight >> (k * 4) & 15U)];
      total.num += add.x;
      total.den += add.y;
    }
  }
}

/// A block handles part of the later features for a work item. The parts of a work item run at the
/// same time, because they read the same slots.
/// Long because the sums of a thread's documents stay in registers throughout.
template <std::uint32_t threads>
__global__ __launch_bounds__(threads, 1) void items_kernel(__grid_constant__ arguments const a) {
  extern __shared__ uint4 shared[];
  work_item const own = a.work[blockIdx.x / a.parts];
  std::uint32_t const part = blockIdx.x % a.parts;
  if (own.size == 0) return;
  std::uint32_t const x = own.item;
  std::uint32_t const f = own.feature;
  // A thread handles the documents threadIdx.x, threadIdx.x + threads, ... of its block.
  std::uint32_t const first = own.begin + threadIdx.x;  // in f's order
  slot_words const* const slots_of = a.slots_of + std::size_t{f} * a.loads * a.documents + first;
  sums total[per_thread];
  auto const has = [&](std::uint32_t r) { return r * threads + threadIdx.x < own.size; };
  auto const slot = [&](std::uint32_t r, std::uint32_t g) {
    slot_words const* const read =
        slots_of + std::size_t{g / slot_words::count} * a.documents + r * threads;
    return __ldg(read->word + g / 8 % slot_words::words) >> (g % 8 * 4) & 15U;
  };
#pragma unroll
  for (std::uint32_t r = 0; r < per_thread; ++r) {
    if (part == 0) total[r] = a.singles[x];
    if (!has(r) || a.max_items < 2) continue;
    for (std::uint32_t g = f + 1 + part; g < a.features; g += a.parts) {
      std::uint32_t const y = slot(r, g);
      if (y != no_slot) total[r] += a.pairs[std::size_t{x} * a.rows.items + a.item_begin[g] + y];
    }
  }
  layout const s(shared, a.most_bins, a.rows.chunks);
  table_step now = first_of(a, x, f + 1 + part, 0);
  auto const is_there = [&](table_step const& which) { return which.g + 1 < a.features; };
  if (a.max_items > 2 && is_there(now)) {
    auto const make = [&](table_step const& at, std::uint32_t which) {
      if (at.deep)
        make_full_table<threads>(a, s, at, s.table(which));
      else
        make_packed_table<threads>(a, s, at, s.table(which));
    };
    auto const make_rows_before = [&](table_step const& at, table_step const& before) {
      if (is_there(at) && at.ordinal != before.ordinal)
        make_rows<threads>(a, s.rows_of(at.ordinal), x, at.g);
    };
    make_rows<threads>(a, s.rows_of(now.ordinal), x, now.g);
    table_step next = after(a, x, now);
    __syncthreads();
    make(now, 0);
    make_rows_before(next, now);
    __syncthreads();
    for (std::uint32_t t = 0; is_there(now); ++t) {
      table_step const later = is_there(next) ? after(a, x, next) : next;
      if (is_there(next)) {
        make(next, t + 1);
        make_rows_before(later, next);
      }
#pragma unroll
      for (std::uint32_t r = 0; r < per_thread; ++r) {
        if (!has(r)) continue;
        std::uint32_t const y = slot(r, now.g);
        if (y == no_slot) continue;
        if (now.deep)
          add_full(a, slots_of + r * threads, now, y, s.table(t), total[r]);
        else
          add_packed(a, slots_of + r * threads, now, y, s.table(t), total[r]);
      }
      __syncthreads();
      now = next;
      next = later;
    }
  }
#pragma unroll
  for (std::uint32_t r = 0; r < per_thread; ++r) {
    if (!has(r)) continue;
    std::uint32_t const document = a.order[std::size_t{f} * a.documents + first + r * threads];
    unsigned long long* const to = a.totals + 2 * std::size_t{document};
    atomicAdd(to, static_cast<unsigned long long>(total[r].num));
    atomicAdd(to + 1, static_cast<unsigned long long>(total[r].den));
  }
}

__global__ void finish_kernel(sums const* totals, std::uint32_t documents, double mean_label,
                              double* scores) {
  std::uint32_t const d = blockIdx.x * blockDim.x + threadIdx.x;
  if (d < documents) scores[d] = score_of(totals[d], mean_label);
}

class tensor_by_item final : public device_scorer {
 public:
  tensor_by_item(prepared_training const& training, device_training const& on_device)
      : table_(training.table.narrow()), mean_label_(training.table.mean_label()) {
    score_view<std::uint64_t> const host = training.table.narrow();
    rules::vertical_index const& index = training.index;
    singles_ = copy_to_device(sums_of_single_items<std::uint64_t>(training));
    item_begin_ = copy_to_device(training.item_begin);
    for (std::size_t f = 0; f < training.features.size(); ++f)
      bins_.push_back(training.item_begin[f + 1] - training.item_begin[f]);
    most_bins_ = *std::max_element(bins_.begin(), bins_.end());
    arguments_.rows = on_device.rows();
    arguments_.table = table_.view();
    arguments_.singles = singles_.data();
    arguments_.item_begin = item_begin_.data();
    arguments_.features = static_cast<std::uint32_t>(training.features.size());
    arguments_.max_items = static_cast<std::uint32_t>(training.table.max_itemset_size());
    std::size_t const features = training.features.size();
    stride_ = static_cast<std::uint32_t>(round_up(features, 32) / 8);
    arguments_.loads =
        static_cast<std::uint32_t>(round_up(features, slot_words::count) / slot_words::count);
    // The largest entry comes from a single training document with the largest label.
    std::uint64_t const largest =
        host.factor[1] * static_cast<std::uint64_t>(std::max(host.labels[0], 1));
    arguments_.packs = training.options.support_weight == 0 && training.options.smoothing == 0 &&
                       largest < (std::uint64_t{1} << num_bits) / packed_group;
    arguments_.most_bins = most_bins_;
    std::size_t const items = index.items();
    pairs_ = device_buffer<sums>(items * items);
    deep_ = device_buffer<std::uint8_t>(items * arguments_.features);
    deep_.fill_bytes(0);
    pairs_kernel<<<static_cast<unsigned>(items), 256>>>(arguments_.rows, arguments_.table,
                                                        item_begin_.data(), arguments_.features,
                                                        pairs_.data(), deep_.data());
    check_launch();
    check_cuda(cudaDeviceSynchronize());
    arguments_.pairs = pairs_.data();
    arguments_.deep = deep_.data();
    shared_ = layout::bytes(most_bins_, arguments_.rows.chunks);
  }

  std::size_t bytes_per_document() const override {
    std::size_t const features = arguments_.features;
    return 4 * (stride_ + features) + features * arguments_.loads * sizeof(slot_words) + 16;
  }
  void reserve(std::size_t documents) override {
    slots_.reserve(documents * stride_);
    ordered_slots_.reserve(documents * arguments_.loads * arguments_.features);
    order_.reserve(documents * arguments_.features);
    slot_begin_.reserve(arguments_.features * (slots + std::size_t{1}));
    totals_.reserve(documents);
    work_.reserve(
        most_work_items(static_cast<std::uint32_t>(documents), {}, per_thread * few_threads));
  }

  void score(document_view const& documents, double* scores, stream const& on) override {
    score_part(documents, {}, totals_.data(), on);
    finish_kernel<<<(documents.documents + 255) / 256, 256, 0, on.get()>>>(
        totals_.data(), documents.documents, mean_label_, scores);
    check_launch();
  }

  void score_part(document_view const& documents, feature_slice const& part, sums* to,
                  stream const& on) override {
    arguments a = arguments_;
    a.documents = documents.documents;
    a.slots_of = ordered_slots_.data();
    a.order = order_.data();
    a.totals = reinterpret_cast<unsigned long long*>(to);
    auto const n = documents.documents;
    check_cuda(cudaMemsetAsync(to, 0, n * sizeof(sums), on.get()));
    std::size_t const holders = std::size_t{n} * a.features / a.rows.items;  // per item, on average
    std::uint32_t const threads =
        holders > 2 * per_thread * few_threads ? many_threads : few_threads;
    std::uint32_t const largest = per_thread * threads;
    std::uint32_t const work_items = most_work_items(n, part, largest);
    if (work_items == 0) return;
    a.work = work_.data();
    order_documents(documents,
                    {.item_begin = a.item_begin,
                     .part = part,
                     .slot_stride = stride_,
                     .loads = a.loads,
                     .largest = largest,
                     .work_items = work_items},
                    {.slots = slots_.data(),
                     .order = order_.data(),
                     .slot_begin = slot_begin_.data(),
                     .ordered_slots = ordered_slots_.data(),
                     .work = work_.data()},
                    on);
    a.parts = std::clamp(enough_blocks / work_items, threads == many_threads ? 4U : 2U, most_parts);
    auto const kernel =
        threads == many_threads ? items_kernel<many_threads> : items_kernel<few_threads>;
    kernel<<<work_items * a.parts, threads, shared_, on.get()>>>(a);
    check_launch();
  }

 private:
  /// With fewer work items, each is split into more parts of the later features.
  static constexpr std::uint32_t enough_blocks = 2048;
  static constexpr std::uint32_t most_parts = 8;

  /// Upper bound on the part's work items: the full ones, and one that is not full per item.
  std::uint32_t most_work_items(std::uint32_t documents, feature_slice const& part,
                                std::uint32_t largest) const {
    std::uint32_t work_items = 0;
    for (std::uint32_t f = 0; f < arguments_.features; ++f)
      if (part.has(f)) work_items += bins_[f] + documents / largest;
    return work_items;
  }

  device_score_table<std::uint64_t> table_;
  device_buffer<sums> singles_, pairs_;
  device_buffer<std::uint8_t> deep_;
  device_buffer<std::uint32_t> item_begin_;
  double mean_label_;
  std::vector<std::uint32_t> bins_;  // [features]
  std::uint32_t most_bins_ = 0;
  std::size_t shared_ = 0;
  arguments arguments_{};
  std::uint32_t stride_ = 0;  // words per document in slots_
  device_buffer<std::uint32_t> slots_, order_, slot_begin_;
  device_buffer<slot_words> ordered_slots_;
  device_buffer<work_item> work_;
  device_buffer<sums> totals_;
};

}  // namespace

}  // namespace by_item

std::unique_ptr<device_scorer> make_tensor_by_item(prepared_training const& training,
                                                   device_training const& on_device) {
  std::uint32_t most_bins = 0;
  for (std::size_t f = 0; f < training.features.size(); ++f)
    most_bins = std::max(most_bins, training.item_begin[f + 1] - training.item_begin[f]);
  if (training.features.empty() || training.table.is_wide() || most_bins > by_item::no_slot ||
      training.table.max_itemset_size() > 3 || on_device.rows().chunks > by_item::most_chunks ||
      on_device.rows().items > by_item::most_items)
    return nullptr;
  // A device with little shared memory uses the other form, which needs less.
  std::size_t shared = by_item::layout::bytes(most_bins, on_device.rows().chunks);
  for (auto const kernel :
       {by_item::items_kernel<by_item::few_threads>, by_item::items_kernel<by_item::many_threads>})
    if (shared > allow_all_shared_memory(kernel)) return nullptr;
  std::size_t const items = on_device.rows().items;
  if (items * (items * sizeof(by_item::sums) + training.features.size()) > memory_budget() / 4)
    return nullptr;
  return std::make_unique<by_item::tensor_by_item>(training, on_device);
}

}  // namespace rulerank::l2r
