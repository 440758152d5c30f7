#include "al/device_delta.hpp"
#include "core/device_memory.hpp"
#include "core/for_each_device.hpp"
#include "core/per_device.hpp"
#include "core/shared_memory.hpp"
#include "core/stream.hpp"
#include "rules/combinadic.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

// `delta` on GPUs (docs/modules/al.md, "delta"): the loop of a partition runs in one kernel.
//
// Some blocks share a partition. In each iteration they all pass over their documents: the overlap
// with the last choice is compared out of the columns of bin codes, what it gains is added to the
// document's total, and the smallest total is kept. The block that arrives last takes the smallest
// of all, which is the next choice, counts it into the supports of the itemsets it holds, makes the
// table of gains, and lets the others go on. With several devices each has some of the documents
// and all the supports; the last blocks tell each other their smallest totals through a mailbox
// that all devices see, and then do the same everywhere.
namespace rulerank::al {

namespace {

constexpr std::uint32_t threads = 512;
constexpr std::uint32_t blocks_per_multiprocessor = 2;
/// Wider overlaps are enumerated instead of looked up.
constexpr std::uint32_t widest_mask = 13;
constexpr std::uint32_t most_features = 64;
constexpr std::uint32_t most_items = 8;
/// Iterations of one launch, so that a stop request is heard.
constexpr std::uint32_t iterations_a_launch = 512;
constexpr std::uint32_t fewest_documents_a_block = 2048;
using key = unsigned long long;  // what atomicMin and shuffles take
constexpr key no_key = ~key{0};

/// A set of features, and where the supports of its itemsets lie.
struct feature_set {
  std::uint64_t mask = 0;
  std::uint64_t begin = 0;  ///< the first itemset's number
  std::uint32_t size = 0;
  std::uint8_t feature[most_items] = {};
  std::uint32_t stride[most_items] = {};  ///< an itemset's number: begin + sum of code x stride
};

/// What an overlap that holds `mask` gains.
struct gain {
  std::uint64_t mask;
  std::int32_t value;
};

constexpr std::uint32_t code_words = most_features / 8;

/// The smallest keys of a device's documents, of all and of those not chosen, and what the other
/// devices must know of the two documents. A key is rules << 32 | position << 1 | chosen already.
struct letter {
  key smallest[2];
  key classes[2];
  key codes[2][code_words];  ///< eight bin codes a word
  key sequence;              ///< written last
};

struct recorded {
  std::uint32_t position;
  std::uint32_t rules;
};

/// A partition on a device.
struct lane {
  // The documents here: positions first .. first + documents - 1.
  std::uint32_t first = 0;
  std::uint32_t documents = 0;
  std::uint32_t stride = 0;             ///< a multiple of 64
  std::uint8_t const* codes = nullptr;  ///< [features][stride]
  std::int32_t* totals = nullptr;       ///< [stride] the padding holds the largest number
  std::uint32_t* chosen = nullptr;      ///< [stride / 32] bits
  std::int32_t* classes = nullptr;      ///< [documents] of the labels, negative: not known
  // The whole partition.
  std::uint32_t all_documents = 0;
  std::uint32_t features = 0;
  feature_set const* sets = nullptr;  ///< [set_count]
  std::uint32_t set_count = 0;
  std::uint32_t* supports = nullptr;  ///< [itemsets][class_count + 1] n, and by class
  std::uint32_t class_count = 0;
  std::int32_t* gains = nullptr;  ///< [2^features] up to widest_mask features
  gain* changes = nullptr;        ///< [set_count] beyond
  recorded* choices = nullptr;    ///< [all_documents]
  // Between the blocks.
  key* smallest = nullptr;  ///< [2] of all documents, of those not chosen
  std::uint32_t* arrived = nullptr;
  std::uint32_t* epoch = nullptr;
};

/// How far a partition is; the same on every device.
struct progress {
  std::uint32_t iterations = 0;  ///< documents chosen and counted in
  std::uint32_t stopped_after = 0;
  std::uint32_t done = 0;
  std::uint32_t waiting = 0;  ///< for the label of the next choice
  recorded next{};
  std::int32_t next_class = 0;
  key next_codes[code_words] = {};  ///< eight bin codes a word
  std::uint64_t lost = 0;
  std::uint32_t change_count = 0;
  std::uint32_t leave = 0;  ///< the blocks leave the kernel
};

struct arguments {
  lane const* lanes;
  progress* states;
  std::uint32_t lane_begin;  ///< the first lane of this launch
  std::uint32_t blocks;      ///< a lane
  std::uint32_t until;       ///< leave with so many iterations
  std::uint32_t stop_rule;
  std::uint32_t const* min_valid;
  std::uint32_t all_valid_up_to;
  std::uint32_t device;
  std::uint32_t devices;
  letter* mail;  ///< [lanes][2][devices]
  std::uint32_t const volatile* abort;
};

__device__ std::uint32_t load_volatile(std::uint32_t const* at) {
  return *static_cast<std::uint32_t const volatile*>(at);
}

__device__ std::uint8_t code_of(key const* codes, std::uint32_t f) {
  return static_cast<std::uint8_t>(codes[f / 8] >> (f % 8 * 8));
}

/// Counts one more document of class k into an itemset: how many more of its rules are valid.
__device__ std::int32_t count_in(std::uint32_t* support, std::uint32_t classes, std::uint32_t k,
                                 arguments const& a, std::uint32_t* lost) {
  std::uint32_t const n = support[0]++;
  if (n + 1 <= a.all_valid_up_to) return support[1 + k]++ == 0 ? 1 : 0;
  std::uint32_t const before = a.min_valid[n];
  std::uint32_t const after = a.min_valid[n + 1];
  std::int32_t change = 0;
  for (std::uint32_t r = 0; r < classes; ++r) {
    bool const was = support[1 + r] >= before;
    if (r == k) ++support[1 + r];
    bool const is = support[1 + r] >= after;
    change += static_cast<std::int32_t>(is) - static_cast<std::int32_t>(was);
    if (was && !is) atomicAdd(lost, 1U);
  }
  return change;
}

/// The smallest of a block's values, for thread 0.
__device__ key block_min(key value, key* scratch) {
  for (int step = 16; step > 0; step /= 2) value = min(value, __shfl_down_sync(~0U, value, step));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = threadIdx.x < threads / 32 ? scratch[threadIdx.x] : no_key;
    for (int step = 16; step > 0; step /= 2) value = min(value, __shfl_down_sync(~0U, value, step));
  }
  __syncthreads();
  return value;
}

/// Keeps the smallest keys of the documents p .. p + 3.
__device__ void take_smallest(lane const& l, std::uint32_t p, int4 const& totals, key (&best)[2]) {
  std::uint32_t const bits = l.chosen[p / 32] >> (p % 32);
  std::int32_t const all[4] = {totals.x, totals.y, totals.z, totals.w};
#pragma unroll
  for (std::uint32_t e = 0; e < 4; ++e) {
    if (p + e >= l.documents) break;
    std::uint32_t const taken = bits >> e & 1;
    key const mine =
        key{static_cast<std::uint32_t>(all[e])} << 32 | key{l.first + p + e} << 1 | taken;
    best[0] = min(best[0], mine);
    if (taken == 0) best[1] = min(best[1], mine);
  }
}

/// Adds the gains to the documents of this block, and keeps the smallest keys. Overlaps of up to
/// widest_mask features, whose gains lie in shared memory.
__device__ void pass_by_mask(lane const& l, std::uint8_t const* wanted, std::int32_t const* gains,
                             std::uint32_t block, std::uint32_t blocks, key (&best)[2]) {
  for (std::uint32_t p = (block * threads + threadIdx.x) * 4; p < l.documents;
       p += blocks * threads * 4) {
    // Bit f of byte e: document p + e has the choice's bin of feature f; of 8 features each.
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    for (std::uint32_t f = 0; f < l.features; ++f) {
      std::uint32_t const codes =
          *reinterpret_cast<std::uint32_t const*>(l.codes + std::size_t{f} * l.stride + p);
      std::uint32_t const same = __vcmpeq4(codes, wanted[f] * 0x01010101U);
      if (f < 8)
        low |= same & (0x01010101U << f);
      else
        high |= same & (0x01010101U << (f - 8));
    }
    int4* const totals = reinterpret_cast<int4*>(l.totals + p);
    int4 now = *totals;
    if ((low | high) != 0) {
      auto const of = [&](int e) {
        return gains[__byte_perm(low, high, static_cast<std::uint32_t>(e | (4 + e) << 4)) &
                     0xFFFFU];
      };
      now.x += of(0);
      now.y += of(1);
      now.z += of(2);
      now.w += of(3);
      *totals = now;
    }
    take_smallest(l, p, now, best);
  }
}

/// The same by the list of changes, for wider partitions.
__device__ void pass_by_list(lane const& l, std::uint8_t const* wanted, std::uint32_t change_count,
                             std::uint32_t block, std::uint32_t blocks, key (&best)[2]) {
  for (std::uint32_t p = (block * threads + threadIdx.x) * 4; p < l.documents;
       p += blocks * threads * 4) {
    int4* const totals = reinterpret_cast<int4*>(l.totals + p);
    int4 now = *totals;
    std::int32_t* const each = &now.x;
    for (std::uint32_t e = 0; e < 4; ++e) {
      std::uint64_t overlap = 0;
      for (std::uint32_t f = 0; f < l.features; ++f)
        overlap |= std::uint64_t{l.codes[std::size_t{f} * l.stride + p + e] == wanted[f] &&
                                 wanted[f] != datasets::no_item}
                   << f;
      std::int32_t sum = 0;
      if (overlap != 0)
        for (std::uint32_t c = 0; c < change_count; ++c)
          if ((overlap & l.changes[c].mask) == l.changes[c].mask) sum += l.changes[c].value;
      each[e] += sum;
    }
    *totals = now;
    take_smallest(l, p, now, best);
  }
}

/// What is known of the documents with this device's smallest keys.
__device__ void describe(lane const& l, letter& found) {
  for (int which = 0; which < 2; ++which) {
    if (found.smallest[which] == no_key) continue;
    std::uint32_t const local = (static_cast<std::uint32_t>(found.smallest[which]) >> 1) - l.first;
    found.classes[which] = static_cast<key>(static_cast<std::int64_t>(l.classes[local]));
    for (std::uint32_t f = 0; f < l.features; ++f)
      found.codes[which][f / 8] |= key{l.codes[std::size_t{f} * l.stride + local]} << (f % 8 * 8);
  }
}

/// Takes the smallest keys over the devices; false when the host wants the kernel to end.
__device__ bool exchange(arguments const& a, lane const& l, std::uint32_t q, key sequence,
                         letter& found) {
  letter volatile* const box = a.mail + (std::size_t{q} * 2 + sequence % 2) * a.devices;
  std::uint32_t const words = (l.features + 7) / 8;
  letter volatile& mine = box[a.device];
  for (int which = 0; which < 2; ++which) {
    mine.smallest[which] = found.smallest[which];
    mine.classes[which] = found.classes[which];
    for (std::uint32_t w = 0; w < words; ++w) mine.codes[which][w] = found.codes[which][w];
  }
  __threadfence_system();
  mine.sequence = sequence;
  for (std::uint32_t other = 0; other < a.devices; ++other) {
    if (other == a.device) continue;
    letter const volatile& theirs = box[other];
    while (theirs.sequence != sequence)
      if (*a.abort != 0) return false;
    __threadfence_system();
    for (int which = 0; which < 2; ++which) {
      key const smallest = theirs.smallest[which];
      if (smallest >= found.smallest[which]) continue;
      found.smallest[which] = smallest;
      found.classes[which] = theirs.classes[which];
      for (std::uint32_t w = 0; w < words; ++w) found.codes[which][w] = theirs.codes[which][w];
    }
  }
  return true;
}

/// After a pass: the next choice, and whether the partition is done. Thread 0 of the last block.
__device__ void choose(arguments const& a, lane const& l, std::uint32_t q, progress& state) {
  letter found{};
  found.smallest[0] = atomicExch(l.smallest, no_key);
  found.smallest[1] = atomicExch(l.smallest + 1, no_key);
  describe(l, found);
  if (a.devices > 1 && !exchange(a, l, q, state.iterations, found)) {
    state.leave = 1;
    return;
  }
  bool const stops = (found.smallest[0] & 1) != 0;
  if (stops && state.stopped_after == 0) state.stopped_after = state.iterations;
  state.done = (stops && a.stop_rule != 0) || state.iterations == l.all_documents;
  if (state.done != 0) return;
  int const which = stops ? 1 : 0;
  state.next = {static_cast<std::uint32_t>(found.smallest[which]) >> 1,
                static_cast<std::uint32_t>(found.smallest[which] >> 32)};
  state.next_class = static_cast<std::int32_t>(found.classes[which]);
  for (std::uint32_t w = 0; w < code_words; ++w) state.next_codes[w] = found.codes[which][w];
}

/// Counts the next choice in and makes the table of gains; the whole last block.
__device__ void count_choice(arguments const& a, lane const& l, progress& state,
                             std::int32_t* gains) {
  __shared__ std::uint32_t lost;
  __shared__ std::uint32_t change_count;
  bool const by_mask = l.features <= widest_mask;
  std::uint32_t const size = by_mask ? 1U << l.features : 0;
  if (threadIdx.x == 0) {
    lost = 0;
    change_count = 0;
    std::uint32_t const local = state.next.position - l.first;
    if (state.next.position >= l.first && local < l.documents)
      l.chosen[local / 32] |= 1U << (local % 32);
    l.choices[state.iterations] = state.next;
  }
  for (std::uint32_t m = threadIdx.x; m < size; m += threads) gains[m] = 0;
  __syncthreads();
  for (std::uint32_t s = threadIdx.x; s < l.set_count; s += threads) {
    feature_set const& set = l.sets[s];
    std::uint64_t itemset = set.begin;
    bool whole = true;
    for (std::uint32_t i = 0; i < set.size; ++i) {
      std::uint32_t const code = code_of(state.next_codes, set.feature[i]);
      whole &= code != datasets::no_item;
      itemset += std::uint64_t{code} * set.stride[i];
    }
    if (!whole) continue;
    std::int32_t const change = count_in(l.supports + itemset * (l.class_count + 1), l.class_count,
                                         static_cast<std::uint32_t>(state.next_class), a, &lost);
    if (change == 0) continue;
    if (by_mask)
      gains[set.mask] = change;
    else
      l.changes[atomicAdd(&change_count, 1U)] = {set.mask, change};
  }
  __syncthreads();
  // gains[mask]: the sum over all sets inside the mask.
  for (std::uint32_t bit = 1; bit < size; bit *= 2) {
    for (std::uint32_t i = threadIdx.x; i < size / 2; i += threads) {
      std::uint32_t const m = (i / bit * 2 + 1) * bit + i % bit;
      gains[m] += gains[m - bit];
    }
    __syncthreads();
  }
  for (std::uint32_t m = threadIdx.x; m < size; m += threads) l.gains[m] = gains[m];
  if (threadIdx.x == 0) {
    ++state.iterations;
    state.lost += lost;
    state.change_count = change_count;
  }
}

/// The last block of a lane, between two passes: chooses (but for the very first time), and counts
/// the choice in, unless the blocks are to leave.
__device__ void between_passes(arguments const& a, lane const& l, std::uint32_t q, progress& state,
                               std::int32_t* gains, bool after_a_pass) {
  __shared__ bool goes_on;
  if (threadIdx.x == 0) {
    state.leave = 0;
    if (after_a_pass) choose(a, l, q, state);
    state.waiting = state.done == 0 && state.next_class < 0 ? 1 : 0;
    if (state.done != 0 || state.waiting != 0 || (a.until != 0 && state.iterations >= a.until))
      state.leave = 1;
    goes_on = state.leave == 0;
  }
  __syncthreads();
  if (goes_on) count_choice(a, l, state, gains);
}

__global__ __launch_bounds__(threads,
                             blocks_per_multiprocessor) void delta_kernel(arguments const a) {
  extern __shared__ std::int32_t gains[];
  __shared__ key scratch[threads / 32];
  __shared__ bool last;
  __shared__ std::uint8_t wanted[most_features];
  std::uint32_t const q = a.lane_begin + blockIdx.x / a.blocks;
  std::uint32_t const block = blockIdx.x % a.blocks;
  lane const l = a.lanes[q];
  progress& state = a.states[q];
  std::uint32_t epoch = 0;
  if (threadIdx.x == 0) epoch = load_volatile(l.epoch);
  bool first = true;
  for (;;) {
    // Whoever arrives last does the step between two passes; the others wait for it.
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicAdd(l.arrived, 1U) + 1 == a.blocks;
    }
    __syncthreads();
    if (last) {
      __threadfence();
      between_passes(a, l, q, state, gains, !first);
      __syncthreads();
      if (threadIdx.x == 0) {
        *l.arrived = 0;
        __threadfence();
        atomicAdd(l.epoch, 1U);
        ++epoch;
      }
    } else if (threadIdx.x == 0) {
      while (load_volatile(l.epoch) == epoch) __nanosleep(20);
      ++epoch;
      __threadfence();
    }
    __syncthreads();
    if (load_volatile(&state.leave) != 0) return;
    first = false;
    if (threadIdx.x < l.features) wanted[threadIdx.x] = code_of(state.next_codes, threadIdx.x);
    std::uint32_t const size = l.features <= widest_mask ? 1U << l.features : 0;
    if (!last)
      for (std::uint32_t m = threadIdx.x; m < size; m += threads) gains[m] = __ldcg(l.gains + m);
    __syncthreads();
    key best[2] = {no_key, no_key};
    if (size != 0)
      pass_by_mask(l, wanted, gains, block, a.blocks, best);
    else
      pass_by_list(l, wanted, load_volatile(&state.change_count), block, a.blocks, best);
    for (int which = 0; which < 2; ++which) {
      key const smallest = block_min(best[which], scratch);
      if (threadIdx.x == 0 && smallest != no_key) atomicMin(l.smallest + which, smallest);
    }
  }
}

/// A device's memory.
struct place {
  std::vector<device_buffer<std::uint8_t>> codes;
  std::vector<device_buffer<std::int32_t>> totals, classes, gains;
  std::vector<device_buffer<std::uint32_t>> chosen, supports;
  std::vector<device_buffer<feature_set>> sets;
  std::vector<device_buffer<gain>> changes;
  std::vector<device_buffer<recorded>> choices;
  device_buffer<key> smallest;
  device_buffer<std::uint32_t> counters;  // [lanes][2] arrived, epoch
  device_buffer<std::uint32_t> min_valid;
  device_buffer<lane> lanes;
  device_buffer<progress> states;
  std::vector<lane> host_lanes;
  stream queue;
  std::uint32_t blocks = 0;  // that run side by side
};

/// The sets of at most max_items of a partition's features; the number of their itemsets.
std::uint64_t list_sets(partition const& part, std::size_t max_items,
                        std::vector<feature_set>& sets) {
  std::uint64_t itemsets = 0;
  std::vector<std::uint32_t> chosen;
  std::function<void(std::uint32_t)> extend = [&](std::uint32_t from) {
    for (std::uint32_t f = from; f < part.features(); ++f) {
      chosen.push_back(f);
      feature_set set;
      set.begin = itemsets;
      set.size = static_cast<std::uint32_t>(chosen.size());
      std::uint64_t count = 1;
      for (std::size_t i = chosen.size(); i-- > 0;) {
        set.feature[i] = static_cast<std::uint8_t>(chosen[i]);
        set.stride[i] = static_cast<std::uint32_t>(count);
        set.mask |= std::uint64_t{1} << chosen[i];
        count *= part.item_begin[chosen[i] + 1] - part.item_begin[chosen[i]];
        if (count > std::numeric_limits<std::uint32_t>::max())
          throw device_error(
              "the itemsets of a partition are too many to count on a GPU: use "
              "smaller rules or fewer bins");
      }
      itemsets += count;
      sets.push_back(set);
      if (chosen.size() < max_items) extend(f + 1);
      chosen.pop_back();
    }
  };
  extend(0);
  return itemsets;
}

/// Whether kernels of all of some devices can use memory of the first.
bool can_reach_first(std::span<int const> devices) {
  for (int const device : devices.subspan(1)) {
    int can = 0;
    check_cuda(cudaDeviceCanAccessPeer(&can, device, devices[0]));
    if (can == 0) return false;
  }
  return true;
}

/// Lets kernels of `device` use `memory`, which is `owner`'s, and the owner's other memory. It
/// stays so: somebody else may rely on it.
void let_reach(int device, void const* memory, int owner) {
  current_device const guard(device);
  cudaPointerAttributes seen{};
  check_cuda(cudaPointerGetAttributes(&seen, memory));
  if (seen.devicePointer == nullptr) check_cuda(cudaDeviceEnablePeerAccess(owner, 0));
}

class device_delta final : public sampler_on_devices {
 public:
  device_delta(context const& ctx, std::vector<partition> parts, std::size_t max_items,
               rules::validity const& valid, bool stop_rule,
               std::vector<std::int32_t> const& labels);

  void advance(context const& ctx, std::size_t iterations, chosen_fn const& chosen) override {
    run(ctx, 0, static_cast<std::uint32_t>(parts_.size()), iterations, chosen);
  }
  void advance(context const& ctx, std::size_t q, std::size_t iterations,
               chosen_fn const& chosen) override {
    auto const one = static_cast<std::uint32_t>(q);
    run(ctx, one, one + 1, iterations, chosen);
  }
  bool done(std::size_t q) const override { return now_[q].done != 0; }
  std::size_t next_document(std::size_t q) const override {
    return parts_[q].documents[now_[q].next.position];
  }
  partition_report const& report(std::size_t q) const override { return reports_[q]; }

 private:
  void make_mailbox(std::size_t letters);
  void launch(std::uint32_t lane_begin, std::uint32_t lane_end, std::uint32_t until);
  void run(context const& ctx, std::uint32_t begin, std::uint32_t end, std::size_t iterations,
           chosen_fn const& chosen);
  void set_class(std::size_t q, std::uint32_t position, std::int32_t label);
  void more_classes();
  void read_back(std::uint32_t begin, std::uint32_t end);

  std::vector<int> devices_;
  device_threads threads_{devices_};
  std::vector<partition> parts_;
  per_device<place> places_{devices_};
  std::vector<std::uint64_t> itemsets_;  // of each partition
  // The mailbox: with the first device where the others can reach it there, else on the host.
  device_buffer<letter> mail_with_peers_;
  pinned_buffer<letter> mail_on_host_;
  letter* mail_ = nullptr;
  pinned_buffer<std::uint32_t> abort_;
  std::uint32_t all_valid_up_to_;
  bool stop_rule_;
  bool labels_known_;
  std::unordered_map<std::int32_t, std::int32_t> class_of_;  // of a label
  std::uint32_t class_count_ = 0;                            // that there is room for
  std::vector<partition_report> reports_;
  std::vector<progress> now_;
  std::vector<std::size_t> told_;  // choices of each partition that `chosen` has heard of
  std::size_t shared_ = 0;
};

device_delta::device_delta(context const& ctx, std::vector<partition> parts, std::size_t max_items,
                           rules::validity const& valid, bool stop_rule,
                           std::vector<std::int32_t> const& labels)
    : devices_(ctx.devices),
      parts_(std::move(parts)),
      all_valid_up_to_(valid.all_valid_up_to()),
      stop_rule_(stop_rule),
      labels_known_(!labels.empty()) {
  if (std::set<int>(devices_.begin(), devices_.end()).size() != devices_.size())
    throw usage_error("a device is named twice, and delta's kernels wait for each other on all");
  for (std::int32_t const label : labels)
    if (label >= 0) class_of_.emplace(label, static_cast<std::int32_t>(class_of_.size()));
  class_count_ = std::max<std::uint32_t>(8, static_cast<std::uint32_t>(class_of_.size()));
  std::size_t const lanes = parts_.size();
  std::uint32_t widest = 0;
  std::vector<std::vector<feature_set>> sets(lanes);
  for (std::size_t q = 0; q < lanes; ++q) {
    partition const& part = parts_[q];
    if (part.features() > most_features)
      throw usage_error("a partition of " + std::to_string(part.features()) +
                        " features, on a GPU expected at most " + std::to_string(most_features) +
                        ": use more partitions");
    std::size_t const most = std::min(max_items, part.features());
    if (most > most_items)
      throw usage_error("itemsets of " + std::to_string(most) +
                        " items, on a GPU expected at most " + std::to_string(most_items) +
                        ": use smaller rules");
    itemsets_.push_back(list_sets(part, most, sets[q]));
    if (part.features() <= widest_mask)
      widest = std::max(widest, static_cast<std::uint32_t>(part.features()));
  }
  shared_ = (std::size_t{1} << widest) * sizeof(std::int32_t);
  reports_ = std::vector<partition_report>(lanes);
  now_.resize(lanes);
  told_.resize(lanes);
  abort_ = pinned_buffer<std::uint32_t>(1);
  abort_[0] = 0;
  make_mailbox(lanes * 2 * devices_.size());
  for (std::size_t q = 0; q < lanes; ++q) {
    partition const& part = parts_[q];
    reports_[q].features = part.features();
    reports_[q].documents = part.size();
    now_[q].done = part.size() == 0 ? 1 : 0;
    if (part.size() == 0) continue;
    now_[q].next = {static_cast<std::uint32_t>(part.first), 0};
    for (std::size_t f = 0; f < part.features(); ++f)
      now_[q].next_codes[f / 8] |= key{part.column(f)[part.first]} << (f % 8 * 8);
    now_[q].next_class = labels_known_ && labels[part.documents[part.first]] >= 0
                             ? class_of_.at(labels[part.documents[part.first]])
                             : -1;
  }
  threads_.run([&](std::size_t i) {
    place& here = places_.make(i);
    std::span<std::uint32_t const> const table = valid.table();
    here.min_valid = device_buffer<std::uint32_t>(table);
    here.smallest = device_buffer<key>(2 * lanes);
    here.smallest.fill_bytes(0xFF);
    here.counters = device_buffer<std::uint32_t>(2 * lanes);
    here.counters.fill_bytes(0);
    for (std::size_t q = 0; q < lanes; ++q) {
      partition const& part = parts_[q];
      share const mine = share_of(part.size(), devices_.size(), i);
      lane l;
      l.first = static_cast<std::uint32_t>(mine.begin);
      l.documents = static_cast<std::uint32_t>(mine.size());
      l.stride = static_cast<std::uint32_t>(round_up(std::max<std::size_t>(mine.size(), 1), 64));
      l.all_documents = static_cast<std::uint32_t>(part.size());
      l.features = static_cast<std::uint32_t>(part.features());
      l.set_count = static_cast<std::uint32_t>(sets[q].size());
      l.class_count = class_count_;
      std::size_t const supports = itemsets_[q] * (class_count_ + std::size_t{1});
      if (supports * 4 > memory_budget())
        throw device_error("the supports of " + std::to_string(itemsets_[q]) +
                           " itemsets of a partition do not fit the device's free memory: use more "
                           "partitions or smaller rules");
      here.codes.emplace_back(part.features() * l.stride);
      here.codes.back().fill_bytes(datasets::no_item);
      check_cuda(cudaDeviceSynchronize());
      for (std::size_t f = 0; f < part.features() && mine.size() > 0; ++f)
        check_cuda(cudaMemcpy(here.codes.back().data() + f * l.stride, part.column(f) + mine.begin,
                              mine.size(), cudaMemcpyHostToDevice));
      std::vector<std::int32_t> totals(l.stride, std::numeric_limits<std::int32_t>::max());
      std::fill_n(totals.begin(), mine.size(), 0);
      here.totals.push_back(copy_to_device(totals));
      std::vector<std::int32_t> classes(std::max<std::size_t>(mine.size(), 1), -1);
      if (labels_known_)
        for (std::size_t p = 0; p < mine.size(); ++p) {
          std::int32_t const label = labels[part.documents[mine.begin + p]];
          if (label >= 0) classes[p] = class_of_.at(label);
        }
      here.classes.push_back(copy_to_device(classes));
      here.chosen.emplace_back(l.stride / 32);
      here.chosen.back().fill_bytes(0);
      here.supports.emplace_back(supports);
      here.supports.back().fill_bytes(0);
      here.sets.push_back(copy_to_device(sets[q]));
      here.gains.emplace_back(l.features <= widest_mask ? std::size_t{1} << l.features : 0);
      here.changes.emplace_back(l.features <= widest_mask ? 0 : sets[q].size());
      here.choices.emplace_back(std::max<std::size_t>(part.size(), 1));
      l.codes = here.codes.back().data();
      l.totals = here.totals.back().data();
      l.chosen = here.chosen.back().data();
      l.classes = here.classes.back().data();
      l.sets = here.sets.back().data();
      l.supports = here.supports.back().data();
      l.gains = here.gains.back().data();
      l.changes = here.changes.back().data();
      l.choices = here.choices.back().data();
      l.smallest = here.smallest.data() + 2 * q;
      l.arrived = here.counters.data() + 2 * q;
      l.epoch = here.counters.data() + 2 * q + 1;
      here.host_lanes.push_back(l);
    }
    here.lanes = copy_to_device(here.host_lanes);
    here.states = copy_to_device(now_);
    allow_all_shared_memory(delta_kernel);
    int multiprocessors = 0;
    int blocks = 0;
    check_cuda(
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, devices_[i]));
    check_cuda(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, delta_kernel, threads, shared_));
    here.blocks = static_cast<std::uint32_t>(multiprocessors * blocks);
    check_cuda(cudaDeviceSynchronize());
  });
}

void device_delta::make_mailbox(std::size_t letters) {
  if (devices_.size() == 1) return;  // nobody to write to
  if (!can_reach_first(devices_)) {
    mail_on_host_ = pinned_buffer<letter>(letters);
    std::fill_n(mail_on_host_.data(), letters, letter{});
    mail_ = mail_on_host_.data();
    return;
  }
  current_device const guard(devices_[0]);
  mail_with_peers_ = device_buffer<letter>(letters);
  mail_with_peers_.fill_bytes(0);
  check_cuda(cudaDeviceSynchronize());
  mail_ = mail_with_peers_.data();
  for (int const device : std::span(devices_).subspan(1)) let_reach(device, mail_, devices_[0]);
}

/// Starts the kernel on every device; they run side by side, since they wait for each other.
void device_delta::launch(std::uint32_t lane_begin, std::uint32_t lane_end, std::uint32_t until) {
  std::uint32_t const lanes = lane_end - lane_begin;
  std::size_t most_documents = 1;
  for (std::uint32_t q = lane_begin; q < lane_end; ++q)
    most_documents = std::max(most_documents, parts_[q].size() / devices_.size() + 1);
  abort_[0] = 0;
  threads_.run([&](std::size_t i) {
    place& here = places_[i];
    arguments a{};
    a.lanes = here.lanes.data();
    a.states = here.states.data();
    a.lane_begin = lane_begin;
    a.blocks = std::clamp<std::uint32_t>(
        static_cast<std::uint32_t>(most_documents / fewest_documents_a_block), 1,
        std::max(1U, here.blocks / lanes));
    a.until = until;
    a.stop_rule = stop_rule_ ? 1 : 0;
    a.min_valid = here.min_valid.data();
    a.all_valid_up_to = all_valid_up_to_;
    a.device = static_cast<std::uint32_t>(i);
    a.devices = static_cast<std::uint32_t>(devices_.size());
    a.mail = mail_;
    a.abort = abort_.data();
    void* parameters[] = {&a};
    try {
      check_cuda(cudaLaunchCooperativeKernel(delta_kernel, dim3(a.blocks * lanes), dim3(threads),
                                             parameters, shared_, here.queue.get()));
      here.queue.synchronize();
    } catch (...) {
      // The others would wait for it.
      *static_cast<std::uint32_t volatile*>(abort_.data()) = 1;
      throw;
    }
  });
}

void device_delta::read_back(std::uint32_t begin, std::uint32_t end) {
  current_device const guard(devices_[0]);
  check_cuda(cudaMemcpy(now_.data() + begin, places_[0].states.data() + begin,
                        (end - begin) * sizeof(progress), cudaMemcpyDeviceToHost));
}

/// Makes room for twice as many classes.
void device_delta::more_classes() {
  std::uint32_t const before = class_count_ + 1;
  class_count_ *= 2;
  threads_.run([&](std::size_t i) {
    place& here = places_[i];
    for (std::size_t q = 0; q < parts_.size(); ++q) {
      device_buffer<std::uint32_t> larger(itemsets_[q] * (class_count_ + std::size_t{1}));
      larger.fill_bytes(0);
      check_cuda(cudaMemcpy2D(larger.data(), (class_count_ + std::size_t{1}) * 4,
                              here.supports[q].data(), std::size_t{before} * 4,
                              std::size_t{before} * 4, itemsets_[q], cudaMemcpyDeviceToDevice));
      here.supports[q] = std::move(larger);
      here.host_lanes[q].supports = here.supports[q].data();
      here.host_lanes[q].class_count = class_count_;
    }
    here.lanes = copy_to_device(here.host_lanes);
    check_cuda(cudaDeviceSynchronize());
  });
}

/// Tells the devices the label of the document that a partition waits for.
void device_delta::set_class(std::size_t q, std::uint32_t position, std::int32_t label) {
  auto const [found, is_new] =
      class_of_.emplace(label, static_cast<std::int32_t>(class_of_.size()));
  if (is_new && class_of_.size() > class_count_) more_classes();
  now_[q].next_class = found->second;
  threads_.run([&](std::size_t i) {
    place& here = places_[i];
    check_cuda(
        cudaMemcpy(here.states.data() + q, &now_[q], sizeof(progress), cudaMemcpyHostToDevice));
    lane const& l = here.host_lanes[q];
    if (position >= l.first && position - l.first < l.documents)
      check_cuda(cudaMemcpy(l.classes + (position - l.first), &found->second, sizeof(std::int32_t),
                            cudaMemcpyHostToDevice));
    check_cuda(cudaStreamSynchronize(nullptr));  // the copies may only be staged
  });
}

void device_delta::run(context const& ctx, std::uint32_t begin, std::uint32_t end,
                       std::size_t iterations, chosen_fn const& chosen) {
  auto const left = [&](std::uint32_t q) {
    return now_[q].done == 0 && (iterations == 0 || now_[q].iterations < iterations);
  };
  // As many partitions side by side as there are blocks that can run together.
  std::uint32_t at_once = end - begin;
  for (std::size_t i = 0; i < places_.size(); ++i) at_once = std::min(at_once, places_[i].blocks);
  for (std::uint32_t wave = begin; wave < end; wave += at_once) {
    std::uint32_t const wave_end = std::min(end, wave + at_once);
    for (;;) {
      ctx.check_stop();
      std::uint32_t fewest = std::numeric_limits<std::uint32_t>::max();
      for (std::uint32_t q = wave; q < wave_end; ++q)
        if (left(q)) fewest = std::min(fewest, now_[q].iterations);
      if (fewest == std::numeric_limits<std::uint32_t>::max()) break;
      std::uint64_t until = std::uint64_t{fewest} + iterations_a_launch;
      if (iterations != 0) until = std::min<std::uint64_t>(until, iterations);
      launch(wave, wave_end, static_cast<std::uint32_t>(until));
      read_back(wave, wave_end);
      for (std::uint32_t q = wave; q < wave_end; ++q) {
        progress const& p = now_[q];
        if (told_[q] < p.iterations) {
          std::vector<recorded> news(p.iterations - told_[q]);
          {
            current_device const guard(devices_[0]);
            check_cuda(cudaMemcpy(news.data(), places_[0].choices[q].data() + told_[q],
                                  news.size() * sizeof(recorded), cudaMemcpyDeviceToHost));
          }
          for (recorded const& choice : news) {
            std::size_t const iteration = told_[q]++;
            static_cast<void>(
                chosen(q, parts_[q].documents[choice.position], iteration, choice.rules));
          }
        }
        if (p.waiting != 0 && left(q)) {
          recorded const next = p.next;
          std::size_t const iteration = told_[q]++;
          set_class(q, next.position,
                    chosen(q, parts_[q].documents[next.position], iteration, next.rules));
        }
        reports_[q].iterations = p.iterations;
        reports_[q].stopped_after = p.stopped_after;
        reports_[q].rules_lost = p.lost;
      }
    }
  }
}

}  // namespace

std::unique_ptr<sampler_on_devices> make_delta_on_devices(
    context const& ctx, std::vector<partition> parts, std::size_t max_items,
    rules::validity const& valid, bool stop_rule, std::vector<std::int32_t> const& labels) {
  return std::make_unique<device_delta>(ctx, std::move(parts), max_items, valid, stop_rule, labels);
}

}  // namespace rulerank::al
