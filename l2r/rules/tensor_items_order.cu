#include "l2r/rules/tensor_items.cuh"

#include <cub/block/block_scan.cuh>

// Orders a batch's documents for `tensor` by item: for each feature by their item, so that the
// documents of an item are contiguous.
namespace rulerank::inline v0::l2r::by_item {

namespace {

/// Transposes codes [features][documents] to slots [documents][features], eight slots per word,
/// `stride` words per document. A block handles 32 features of 32 documents.
__global__ void transpose_kernel(document_view const from, std::uint32_t const* item_begin,
                                 std::uint32_t* slots_of, std::uint32_t stride) {
  __shared__ std::uint8_t tile[32][33];
  std::uint32_t const d0 = blockIdx.x * 32;
  std::uint32_t const f0 = blockIdx.y * 32;
  for (std::uint32_t r = threadIdx.y; r < 32; r += blockDim.y) {
    std::uint32_t const f = f0 + r;
    std::uint32_t const d = d0 + threadIdx.x;
    std::uint32_t slot = no_slot;
    if (f < from.features && d < from.documents) {
      std::uint32_t const code = from.codes[f * from.stride + d];
      if (code < item_begin[f + 1] - item_begin[f]) slot = code;
    }
    tile[r][threadIdx.x] = static_cast<std::uint8_t>(slot);
  }
  __syncthreads();
  std::uint32_t const at = threadIdx.y * blockDim.x + threadIdx.x;
  if (at >= 32 * 4) return;
  std::uint32_t const d = d0 + at / 4;
  std::uint32_t const w = at % 4;
  if (d >= from.documents) return;
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < 8; ++i) word |= std::uint32_t{tile[w * 8 + i][at / 4]} << (4 * i);
  slots_of[std::size_t{d} * stride + f0 / 8 + w] = word;
}

/// The rank of this lane's slot among equal ones before it; counts it in `counts`. Call from all
/// lanes of the warp.
__device__ std::uint32_t take_rank(std::uint32_t slot, std::uint32_t* counts) {
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const peers = __match_any_sync(~0U, slot);
  std::uint32_t const leader = static_cast<std::uint32_t>(__ffs(static_cast<int>(peers))) - 1;
  std::uint32_t base = 0;
  if (lane == leader) base = atomicAdd(counts + slot, static_cast<std::uint32_t>(__popc(peers)));
  base = __shfl_sync(~0U, base, static_cast<int>(leader));
  return base + static_cast<std::uint32_t>(__popc(peers & ((1U << lane) - 1)));
}

/// begin[] = exclusive prefix sums of counts[0 .. slots - 1], by one warp.
__device__ void scan_slots(std::uint32_t const* counts, std::uint32_t* begin) {
  std::uint32_t const lane = threadIdx.x;
  if (lane >= 32) return;
  std::uint32_t sum = lane < slots ? counts[lane] : 0;
  for (std::uint32_t step = 1; step < slots; step *= 2) {
    std::uint32_t const before = __shfl_up_sync(~0U, sum, step);
    if (lane >= step) sum += before;
  }
  if (lane < slots) begin[lane + 1] = sum;
  if (lane == 0) begin[0] = 0;
}

/// Sorts documents by slot, one block per feature of the part.
__global__ __launch_bounds__(1024) void order_kernel(document_view const from,
                                                     std::uint32_t const* item_begin,
                                                     feature_slice const part, std::uint32_t* order,
                                                     std::uint32_t* slot_begin) {
  __shared__ std::uint32_t counts[slots];
  __shared__ std::uint32_t begin[slots + 1];
  std::uint32_t const f = blockIdx.x;
  if (!part.has(f)) return;
  std::uint32_t const bins = item_begin[f + 1] - item_begin[f];
  std::uint32_t const rounds = (from.documents + blockDim.x - 1) / blockDim.x;
  auto slot_of = [&](std::uint32_t d) {
    std::uint32_t const code = d < from.documents ? from.codes[f * from.stride + d] : 255U;
    return code < bins ? code : no_slot;
  };
  if (threadIdx.x < slots) counts[threadIdx.x] = 0;
  __syncthreads();
  for (std::uint32_t r = 0; r < rounds; ++r)
    take_rank(slot_of(r * blockDim.x + threadIdx.x), counts);
  __syncthreads();
  scan_slots(counts, begin);
  __syncthreads();
  if (threadIdx.x < slots) counts[threadIdx.x] = begin[threadIdx.x];
  if (threadIdx.x < slots) slot_begin[f * (slots + 1) + threadIdx.x] = begin[threadIdx.x];
  __syncthreads();
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t const d = r * blockDim.x + threadIdx.x;
    std::uint32_t const slot = slot_of(d);
    std::uint32_t const at = take_rank(slot, counts);
    if (slot != no_slot) order[std::size_t{f} * from.documents + at] = d;
  }
}

/// For each feature of the part, gathers the documents' slots in the feature's order, because
/// blocks read them repeatedly. `from`: [documents][stride]. Slots before the feature are neither
/// read nor written.
__global__ void gather_kernel(std::uint32_t const* order, std::uint32_t const* slot_begin,
                              feature_slice const part, std::uint32_t const* from,
                              std::uint32_t stride, std::uint32_t documents, std::uint32_t loads,
                              slot_words* to) {
  std::uint32_t const f = blockIdx.y;
  if (!part.has(f)) return;
  std::uint32_t const p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= slot_begin[f * (slots + 1) + no_slot]) return;
  auto const* const mine = reinterpret_cast<slot_words const*>(
      from + std::size_t{order[std::size_t{f} * documents + p]} * stride);
  for (std::uint32_t i = f / slot_words::count; i < loads; ++i)
    to[(std::size_t{f} * loads + i) * documents + p] = mine[i];
}

/// Splits the documents of each of the part's items into even runs of at most `largest`; the
/// remaining ones of the `count` work items are empty. One block.
__global__ __launch_bounds__(1024) void work_items_kernel(
    std::uint32_t const* item_begin, std::uint32_t const* slot_begin, std::uint32_t features,
    feature_slice const part, std::uint32_t largest, std::uint32_t count, work_item* work) {
  using scan = cub::BlockScan<std::uint32_t, 1024>;
  __shared__ scan::TempStorage storage;
  std::uint32_t used = 0;
  for (std::uint32_t at = threadIdx.x; at - threadIdx.x < features * slots; at += 1024) {
    std::uint32_t const f = at / slots;
    std::uint32_t const bin = at % slots;
    std::uint32_t holders = 0;
    std::uint32_t begin = 0;
    if (f < features && part.has(f) && bin < item_begin[f + 1] - item_begin[f]) {
      begin = slot_begin[f * (slots + 1) + bin];
      holders = slot_begin[f * (slots + 1) + bin + 1] - begin;
    }
    std::uint32_t const mine = (holders + largest - 1) / largest;
    std::uint32_t first = 0;
    std::uint32_t more = 0;
    scan(storage).ExclusiveSum(mine, first, more);
    for (std::uint32_t i = 0; i < mine; ++i) {
      auto const cut = [&](std::uint32_t n) {
        return static_cast<std::uint32_t>(std::uint64_t{holders} * n / mine);
      };
      work[used + first + i] = {.item = item_begin[f] + bin,
                                .feature = f,
                                .begin = begin + cut(i),
                                .size = cut(i + 1) - cut(i)};
    }
    used += more;
    __syncthreads();
  }
  for (std::uint32_t i = used + threadIdx.x; i < count; i += 1024) work[i] = {};
}

}  // namespace

void order_documents(document_view const& documents, order_options const& how,
                     document_order const& to, stream const& on) {
  std::uint32_t const n = documents.documents;
  std::uint32_t const features = documents.features;
  transpose_kernel<<<dim3((n + 31) / 32, how.slot_stride / 4), dim3(32, 8), 0, on.get()>>>(
      documents, how.item_begin, to.slots, how.slot_stride);
  check_launch();
  order_kernel<<<features, 1024, 0, on.get()>>>(documents, how.item_begin, how.part, to.order,
                                                to.slot_begin);
  check_launch();
  work_items_kernel<<<1, 1024, 0, on.get()>>>(how.item_begin, to.slot_begin, features, how.part,
                                              how.largest, how.work_items, to.work);
  check_launch();
  gather_kernel<<<dim3((n + 255) / 256, features), 256, 0, on.get()>>>(
      to.order, to.slot_begin, how.part, to.slots, how.slot_stride, n, how.loads, to.ordered_slots);
  check_launch();
}

}  // namespace rulerank::l2r::by_item
