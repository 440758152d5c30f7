// PRSS as published (Freitas 2017, section 4.2, Algorithms 12 to 14): after each added document,
// the GPUs recount the rules of all documents, one document per thread, with bitmaps in 128-bit
// words and the class bitmaps in shared memory; the host takes the minimum. With several GPUs each
// has all bitmaps and counts an even share of the documents.
#include "al/published/counters.hpp"
#include "core/device_memory.hpp"
#include "core/device_pool.hpp"
#include "core/error.hpp"
#include "core/for_each_device.hpp"
#include "core/parallel.hpp"
#include "core/shared_memory.hpp"
#include "core/stream.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rulerank::inline v0::al {

namespace {

constexpr std::uint32_t threads = 256;
constexpr std::uint32_t word_bits = 128;
/// Itemsets of up to this size have a specialized kernel; others have up to most_items.
constexpr int few_items = 3;
constexpr int most_items = 16;
/// Classes counted per pass over the bitmaps if there are many.
constexpr std::uint32_t class_group = 8;
/// Shared memory available to a kernel without a special attribute.
constexpr std::size_t usual_shared_bytes = 48 << 10;
constexpr std::uint32_t no_item = ~0U;

/// The kernels' view: this device's documents and the bitmaps of the current sample.
struct sample_view {
  std::size_t documents = 0;
  std::uint32_t features = 0;
  std::uint32_t max_items = 0;
  std::uint32_t const* rows = nullptr;  ///< [features][documents] items, or no_item
  std::uint32_t* projected = nullptr;   ///< [features][documents] scratch: items that occur in U
  std::uint8_t* cur_items = nullptr;    ///< [items] whether the item occurs in U
  uint4* bitmaps = nullptr;             ///< [items][capacity] bit N: the N-th document of U
  uint4* classes = nullptr;             ///< [capacity][class_capacity] likewise for each class
  std::uint32_t capacity = 0;           ///< in words
  std::uint32_t class_capacity = 0;     ///< a multiple of class_group
  std::uint32_t words = 0;              ///< in use
  std::uint32_t class_count = 0;
  std::uint32_t const* min_valid = nullptr;  ///< rules::validity::table()
  bool classes_fit = false;                  ///< they fit shared memory
  std::uint32_t* counts = nullptr;           ///< [documents] valid rules
};

__device__ uint4 operator&(uint4 const& a, uint4 const& b) {
  return {a.x & b.x, a.y & b.y, a.z & b.z, a.w & b.w};
}

__device__ std::uint32_t popcount(uint4 const& a) {
  return static_cast<std::uint32_t>(__popc(a.x) + __popc(a.y) + __popc(a.z) + __popc(a.w));
}

/// Sets bit n of a row of words.
__device__ void set_bit(uint4* row, std::uint32_t n) {
  reinterpret_cast<std::uint32_t*>(row)[n / 32] |= 1U << (n % 32);
}

/// Adds the n-th document of U, of class k; its items are `stride` apart. One block.
__global__ void update_bitmap_and_cur_items_kernel(sample_view v, std::uint32_t const* items,
                                                   std::size_t stride, std::uint32_t n,
                                                   std::uint32_t k) {
  for (std::uint32_t f = threadIdx.x; f < v.features; f += threads) {
    std::uint32_t const x = items[f * stride];
    if (x == no_item) continue;
    set_bit(v.bitmaps + std::size_t{x} * v.capacity, n);
    v.cur_items[x] = 1;
  }
  if (threadIdx.x == 0)
    set_bit(v.classes + std::size_t{n / word_bits} * v.class_capacity + k, n % word_bits);
}

/// Counts the rules of one document. `Classes`: maximum number of classes, with bitmaps in shared
/// memory; 0: any number, in shared or global memory.
template <int Classes, int Most>
struct rule_generator {
  sample_view const& v;
  uint4 const* classes;        ///< [words][class_stride]
  std::uint32_t class_stride;  ///< a multiple of the group
  std::size_t t;               ///< the document
  std::uint32_t size;          ///< number of items of the projection

  /// The number of valid rules of the itemset with these bitmaps.
  template <class... Row>
  __device__ std::uint32_t valid_rules(Row... row) const {
    constexpr std::uint32_t group = Classes == 0 ? class_group : Classes;
    std::uint32_t const stride = Classes == 0 ? class_stride : Classes;
    std::uint32_t rules = 0;
    std::uint32_t least = 0;
    for (std::uint32_t begin = 0; begin < stride; begin += group) {
      std::uint32_t n = 0;
      std::uint32_t sigma[group] = {};
      for (std::uint32_t w = 0; w < v.words; ++w) {
        uint4 const both = (... & __ldg(row + w));
        uint4 const* const of_class = classes + std::size_t{w} * stride + begin;
#pragma unroll
        for (std::uint32_t k = 0; k < group; ++k) sigma[k] += popcount(both & of_class[k]);
        if (Classes == 0 && begin == 0) n += popcount(both);
      }
      if (Classes != 0) {
#pragma unroll
        for (std::uint32_t k = 0; k < group; ++k) n += sigma[k];
      }
      if (begin == 0) least = __ldg(v.min_valid + n);
#pragma unroll
      for (std::uint32_t k = 0; k < group; ++k) rules += sigma[k] >= least ? 1 : 0;
    }
    return rules;
  }

  /// The number of valid rules of all itemsets that extend these bitmaps by items from the
  /// `from`-th on.
  template <class... Row>
  __device__ std::uint32_t gen_rules(std::uint32_t from, Row... row) const {
    constexpr std::uint32_t items = sizeof...(Row) + 1;
    std::uint32_t rules = 0;
    for (std::uint32_t i = from; i < size; ++i) {
      std::uint32_t const x = v.projected[i * v.documents + t];
      uint4 const* const last = v.bitmaps + std::size_t{x} * v.capacity;
      rules += valid_rules(row..., last);
      if constexpr (items < Most)
        if (items < v.max_items) rules += gen_rules(i + 1, row..., last);
    }
    return rules;
  }
};

/// Algorithm 13: rules(d) of every document on this device.
template <int Classes, int Most>
__global__ void __launch_bounds__(threads, Most == few_items ? 4 : 2)
    rule_counter_kernel(sample_view v) {
  extern __shared__ uint4 class_bitmaps[];
  uint4 const* classes = v.classes;
  std::uint32_t stride = v.class_capacity;
  if (Classes != 0 || v.classes_fit) {
    stride = Classes != 0 ? Classes : (v.class_count + class_group - 1) / class_group * class_group;
    for (std::uint32_t i = threadIdx.x; i < v.words * stride; i += threads)
      class_bitmaps[i] = v.classes[std::size_t{i / stride} * v.class_capacity + i % stride];
    __syncthreads();
    classes = class_bitmaps;
  }
  std::size_t const t = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (t >= v.documents) return;
  std::uint32_t size = 0;
  for (std::uint32_t f = 0; f < v.features; ++f) {
    std::uint32_t const x = v.rows[f * v.documents + t];
    if (x != no_item && v.cur_items[x] != 0) v.projected[size++ * v.documents + t] = x;
  }
  v.counts[t] = rule_generator<Classes, Most>{v, classes, stride, t, size}.gen_rules(0);
}

using counter_kernel = void (*)(sample_view);

/// The kernel for a number of classes, and the number of classes with bitmaps in shared memory.
struct choice_of_kernel {
  counter_kernel kernel = nullptr;
  std::size_t classes = 0;
};

template <int Most>
choice_of_kernel kernel_for(std::size_t classes, bool fits) {
  if (!fits) return {rule_counter_kernel<0, Most>, 0};
  if (classes <= 2) return {rule_counter_kernel<2, Most>, 2};
  if (classes <= 3) return {rule_counter_kernel<3, Most>, 3};
  if (classes <= 5) return {rule_counter_kernel<5, Most>, 5};
  return {rule_counter_kernel<0, Most>, round_up(classes, class_group)};
}

/// One GPU: its share of a partition's documents, and all bitmaps. Memory is allocated once
/// (Algorithm 12, line 3) and reused by successive partitions; the bitmaps grow with the sample.
class device_state {
 public:
  /// On the current device, with memory for a share (one of `devices`) of a partition of up to
  /// `largest`.
  device_state(prss_shape const& largest, std::size_t devices, rules::validity const& valid)
      : items_(largest.items), min_valid_(std::span<std::uint32_t const>(valid.table())) {
    std::size_t const documents = even_range(largest.documents, devices, 0).size();
    rows_ = device_buffer<std::uint32_t>(documents * largest.features);
    projected_ = device_buffer<std::uint32_t>(documents * largest.features);
    counts_ = device_buffer<std::uint32_t>(documents);
    host_counts_ = pinned_buffer<std::uint32_t>(documents);
    cur_items_ = device_buffer<std::uint8_t>(items_);
    int device = 0;
    int shared = 0;
    check_cuda(cudaGetDevice(&device));
    check_cuda(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    shared_bytes_ = static_cast<std::size_t>(shared);
    view_.projected = projected_.data();
    view_.cur_items = cur_items_.data();
    view_.min_valid = min_valid_.data();
    view_.counts = counts_.data();
    view_.rows = rows_.data();
    grow(first_capacity, class_group);
  }

  /// An empty sample of a partition (Algorithm 12, lines 10 and 11).
  void begin(partition const& part, index_range documents, std::size_t max_items) {
    documents_ = documents;
    std::size_t const features = part.features();
    std::vector<std::uint32_t> rows(documents.size() * features, no_item);
    for (std::size_t f = 0; f < features; ++f)
      for (std::size_t p = documents.begin; p < documents.end; ++p)
        if (std::uint8_t const code = part.column(f)[p]; code != datasets::no_item)
          rows[f * documents.size() + p - documents.begin] = part.item_begin[f] + code;
    if (!rows.empty())
      check_cuda(cudaMemcpyAsync(rows_.data(), rows.data(), rows.size() * sizeof(std::uint32_t),
                                 cudaMemcpyHostToDevice, queue_.get()));
    cur_items_.fill_bytes(0, queue_.get());
    bitmaps_.fill_bytes(0, queue_.get());
    classes_.fill_bytes(0, queue_.get());
    queue_.synchronize();
    view_.documents = documents.size();
    view_.features = static_cast<std::uint32_t>(features);
    view_.max_items = static_cast<std::uint32_t>(max_items);
    view_.words = 0;
    view_.class_count = 0;
  }

  /// Adds the n-th document of U and recounts all rules here. `items`: readable by any device.
  void add(std::size_t position, std::uint32_t const* items, std::uint32_t n, std::uint32_t k) {
    if (documents_.size() == 0) return;
    view_.words = n / word_bits + 1;
    view_.class_count = std::max(view_.class_count, k + 1);
    if (view_.words > view_.capacity || view_.class_count > view_.class_capacity)
      grow(view_.words > view_.capacity ? 2 * view_.capacity : view_.capacity,
           view_.class_count > view_.class_capacity ? 2 * view_.class_capacity
                                                    : view_.class_capacity);
    bool const here = position >= documents_.begin && position < documents_.end;
    update_bitmap_and_cur_items_kernel<<<1, threads, 0, queue_.get()>>>(
        view_, here ? rows_.data() + (position - documents_.begin) : items,
        here ? documents_.size() : 1, n, k);
    check_launch();
    launch_rule_counter();
    check_cuda(cudaMemcpyAsync(host_counts_.data(), counts_.data(),
                               documents_.size() * sizeof(std::uint32_t), cudaMemcpyDeviceToHost,
                               queue_.get()));
    queue_.synchronize();
  }

  index_range const& documents() const noexcept { return documents_; }
  /// rules(d) of the documents on this device.
  std::span<std::uint32_t const> counts() const { return {host_counts_.data(), documents_.size()}; }

 private:
  void launch_rule_counter() {
    std::size_t const classes = view_.class_count;
    bool const fits = round_up(classes, class_group) * view_.words * sizeof(uint4) <= shared_bytes_;
    auto const chosen = view_.max_items <= few_items ? kernel_for<few_items>(classes, fits)
                                                     : kernel_for<most_items>(classes, fits);
    std::size_t const bytes = chosen.classes * view_.words * sizeof(uint4);
    view_.classes_fit = fits;
    if (bytes > usual_shared_bytes) allow_all_shared_memory(chosen.kernel);
    auto const blocks = static_cast<unsigned>((documents_.size() + threads - 1) / threads);
    chosen.kernel<<<blocks, threads, bytes, queue_.get()>>>(view_);
    check_launch();
  }

  /// Reallocates the bitmaps with larger capacities.
  void grow(std::size_t capacity, std::size_t class_capacity) {
    device_buffer<uint4> bitmaps(items_ * capacity);
    device_buffer<uint4> classes(capacity * class_capacity);
    bitmaps.fill_bytes(0, queue_.get());
    classes.fill_bytes(0, queue_.get());
    if (view_.capacity > 0) {
      constexpr std::size_t word = sizeof(uint4);
      check_cuda(cudaMemcpy2DAsync(bitmaps.data(), capacity * word, view_.bitmaps,
                                   view_.capacity * word, view_.capacity * word, items_,
                                   cudaMemcpyDeviceToDevice, queue_.get()));
      check_cuda(cudaMemcpy2DAsync(classes.data(), class_capacity * word, view_.classes,
                                   view_.class_capacity * word, view_.class_capacity * word,
                                   view_.capacity, cudaMemcpyDeviceToDevice, queue_.get()));
    }
    queue_.synchronize();
    bitmaps_ = std::move(bitmaps);
    classes_ = std::move(classes);
    view_.bitmaps = bitmaps_.data();
    view_.classes = classes_.data();
    view_.capacity = static_cast<std::uint32_t>(capacity);
    view_.class_capacity = static_cast<std::uint32_t>(class_capacity);
  }

  static constexpr std::size_t first_capacity = 4;  // in words

  stream queue_;
  index_range documents_;
  std::size_t items_;  // rows of the bitmaps
  std::size_t shared_bytes_ = 0;
  device_buffer<std::uint32_t> min_valid_, rows_, projected_, counts_;
  device_buffer<std::uint8_t> cur_items_;
  device_buffer<uint4> bitmaps_, classes_;
  pinned_buffer<std::uint32_t> host_counts_;
  sample_view view_;
};

}  // namespace

class prss_memory {
 public:
  prss_memory(std::span<int const> devices, prss_shape const& largest, rules::validity const& valid)
      : devices_(devices.begin(), devices.end()),
        largest_(largest),
        valid_(valid),
        states_(devices) {}
  auto take(std::size_t i) { return states_.take(i, largest_, devices_.size(), valid_); }
  std::vector<int> const& devices() const noexcept { return devices_; }

 private:
  std::vector<int> devices_;
  prss_shape largest_;
  rules::validity valid_;
  device_pool<device_state> states_;
};

namespace {

/// Algorithms 12 and 14 without their loop, which is partition_run. Not thread-safe.
class prss final : public rule_counter {
 public:
  prss(std::shared_ptr<prss_memory> memory, partition const& part, std::size_t max_items)
      : part_(part),
        memory_(std::move(memory)),
        devices_(memory_->devices()),
        items_(part.features()),
        chosen_(part.size()) {
    thread_a_device_.threads = static_cast<int>(devices_.size());
    for (std::size_t i = 0; i < devices_.size(); ++i) on_device_.push_back(memory_->take(i));
    for_each_device(devices_, [&](std::size_t i) {
      on_device_[i]->begin(part, even_range(part.size(), devices_.size(), i), max_items);
    });
  }

  void add(context const&, std::size_t position, std::int32_t label) override {
    auto const known = std::find(labels_.begin(), labels_.end(), label);
    auto const k = static_cast<std::uint32_t>(known - labels_.begin());
    if (known == labels_.end()) labels_.push_back(label);
    for (std::size_t f = 0; f < part_.features(); ++f) {
      std::uint8_t const code = part_.column(f)[position];
      items_[f] = code == datasets::no_item ? no_item : part_.item_begin[f] + code;
    }
    std::vector<smallest> found(on_device_.size());
    parallel_for(thread_a_device_, on_device_.size(), 1, [&](std::size_t i, std::size_t, int) {
      current_device const guard(devices_[i]);
      device_state& here = *on_device_[i];
      here.add(position, items_.data(), size_, k);
      auto const counts = here.counts();
      if (counts.empty()) return;
      std::uint32_t least = counts[0];
      for (std::uint32_t const rules : counts) least = std::min(least, rules);
      auto const at = std::find(counts.begin(), counts.end(), least) - counts.begin();
      found[i] = {least, here.documents().begin + static_cast<std::size_t>(at)};
    });
    chosen_[position] = true;
    ++size_;
    fewest_ = found[0];  // if any device has documents, the first one does
    for (std::size_t i = 1; i < on_device_.size(); ++i)
      if (!on_device_[i]->counts().empty() && found[i].rules < fewest_.rules) fewest_ = found[i];
  }

  smallest fewest() const override { return fewest_; }

  smallest fewest_unchosen() const override {
    std::optional<smallest> best;
    for (std::size_t i = 0; i < on_device_.size(); ++i) {
      auto const counts = on_device_[i]->counts();
      std::size_t const begin = on_device_[i]->documents().begin;
      for (std::size_t p = 0; p < counts.size(); ++p)
        if (!chosen_[begin + p] && (!best || counts[p] < best->rules))
          best = {counts[p], begin + p};
    }
    return *best;
  }

 private:
  partition const& part_;
  std::shared_ptr<prss_memory> memory_;  // must outlive the leases
  std::vector<int> devices_;
  context thread_a_device_;
  pinned_buffer<std::uint32_t> items_;  // of the document being added
  std::vector<bool> chosen_;
  std::vector<device_pool<device_state>::lease> on_device_;
  std::vector<std::int32_t> labels_;  // [classes] label, in order of appearance
  std::uint32_t size_ = 0;            // number of documents in U
  smallest fewest_;
};

}  // namespace

std::shared_ptr<prss_memory> make_prss_memory(std::span<int const> devices,
                                              prss_shape const& largest,
                                              rules::validity const& valid) {
  if (devices.empty()) throw device_error("engine prss needs a GPU, and no CUDA device was found");
  return std::make_shared<prss_memory>(devices, largest, valid);
}

std::unique_ptr<rule_counter> make_prss(std::shared_ptr<prss_memory> memory, partition const& part,
                                        std::size_t max_items) {
  std::size_t const most = std::min(max_items, part.features());
  if (most > most_items)
    throw usage_error("found itemsets of " + std::to_string(most) + " items, expected at most " +
                      std::to_string(most_items) + " for engine prss; use smaller rules");
  return std::make_unique<prss>(std::move(memory), part, most);
}

}  // namespace rulerank::al
