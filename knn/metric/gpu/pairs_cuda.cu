// The project's own search on GPUs, which compares all objects.
//
// Words: each thread compares one word of the database with several queries at once, bit-parallel
// with one mask of registers per query (knn/metric/edit_distance/edit_math.hpp). The queries' masks
// are interleaved in shared memory, so that one read gives those of a letter for all queries of a
// group. Words are sorted by length, so that the threads of a warp have equal numbers of letters,
// then by letters, so that they often read the same masks; queries are sorted by length, too. A
// distance is a byte if no word has more than 254 letters. The distances of a batch of queries stay
// in device memory, where one block per query selects from them
// (knn/metric/gpu/block_selection.hpp).
//
// Vectors under l2 use dense search (knn/metric/gpu/dense_pairs.cpp); for l1 and linf, the results
// are selected from a matrix of distances.

#include "core/stopwatch.hpp"
#include "knn/metric/gpu/block_selection.hpp"
#include "knn/metric/gpu/dense_pairs.hpp"
#include "knn/metric/gpu/edit_matrix.hpp"
#include "knn/metric/gpu/measure_cuda.cuh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::uint32_t pair_threads = 128;
/// Tiles that a block compares with its queries; a tile has one word per thread.
constexpr std::uint32_t tiles_a_block = 8;
/// Most groups of queries per block.
constexpr std::uint32_t most_groups = 8;
constexpr std::uint32_t select_threads = 256;
/// Bytes of a matrix that stays on a device.
constexpr std::size_t matrix_bytes = std::size_t{256} << 20;

/// Larger than any bound.
template <class Key>
constexpr Key beyond = static_cast<Key>(~Key{0});

/// The masks of a letter for the queries of a group.
template <class Mask, std::uint32_t Together>
struct alignas(16) group_masks {
  Mask of[Together];
};
static_assert(sizeof(group_masks<std::uint32_t, 4>) == 16);
static_assert(sizeof(group_masks<std::uint64_t, 2>) == 16);

/// Words of a database, and queries with at most as many letters as a mask has bits. `slots`:
/// [count] of queries in the order of their lengths; slot s belongs to query which[s] and row s of
/// the matrix. Distances above `bound` may be `beyond`.
struct word_pairs {
  word_columns words;
  std::uint32_t objects;
  std::uint32_t alphabet;
  std::uint32_t const* letters;
  std::uint32_t const* begin;
  std::uint32_t const* which;
  std::uint32_t const* slots;
  std::uint32_t count;
  std::uint32_t bound;
  std::uint32_t groups;  // per block
};

/// Long because masks, tiles and groups share the block's memory and its barriers.
template <class Mask, std::uint32_t Together, class Key>
__global__ __launch_bounds__(pair_threads) void compare_words(
    __grid_constant__ word_pairs const pairs, Key* matrix) {
  using masks = group_masks<Mask, Together>;
  extern __shared__ __align__(16) std::byte own[];
  auto* const where = reinterpret_cast<masks*>(own);  // [groups][alphabet]
  __shared__ std::uint32_t lengths[most_groups * Together];
  __shared__ std::uint32_t slots[most_groups * Together];
  std::uint32_t const first_query = blockIdx.y * pairs.groups * Together;
  std::uint32_t const queries = min(pairs.groups * Together, pairs.count - first_query);
  std::uint32_t const groups = (queries + Together - 1) / Together;

  for (std::uint32_t i = threadIdx.x; i < groups * pairs.alphabet * Together; i += pair_threads)
    where[i / Together].of[i % Together] = 0;
  __syncthreads();
  for (std::uint32_t t = threadIdx.x; t < groups * Together; t += pair_threads) {
    std::uint32_t const slot = pairs.slots[first_query + min(t, queries - 1)];
    std::uint32_t const q = pairs.which[slot];
    slots[t] = slot;
    lengths[t] = pairs.begin[q + 1] - pairs.begin[q];
    // One thread writes all masks of a query.
    for (std::uint32_t i = 0; i < lengths[t]; ++i) {
      std::uint32_t const letter = pairs.letters[pairs.begin[q] + i];
      if (letter < pairs.alphabet)
        where[t / Together * pairs.alphabet + letter].of[t % Together] |= Mask{1} << i;
    }
  }
  __syncthreads();

  for (std::uint32_t tile = 0; tile < tiles_a_block; ++tile) {
    std::uint32_t const first = (blockIdx.x * tiles_a_block + tile) * pair_threads;
    if (first >= pairs.objects) return;
    std::uint32_t const place = first + threadIdx.x;
    // Words ascend in length.
    std::uint32_t const shortest = pairs.words.length[first];
    std::uint32_t const longest = pairs.words.length[min(first + pair_threads, pairs.objects) - 1];
    if (place >= pairs.objects) continue;
    std::uint32_t const length = pairs.words.length[place];
    for (std::uint32_t group = 0; group < groups; ++group) {
      // Queries ascend in length.
      std::uint32_t const low = lengths[group * Together];
      std::uint32_t const high = lengths[group * Together + Together - 1];
      std::uint32_t const apart = low > longest     ? low - longest
                                  : shortest > high ? shortest - high
                                                    : 0;
      edit_column<Mask> columns[Together];
      if (apart <= pairs.bound) {
        masks const* const of_group = where + group * pairs.alphabet;
        pairs.words.for_each_letter(place, [&](std::uint32_t letter) {
          masks const match = of_group[letter];
#pragma unroll
          for (std::uint32_t t = 0; t < Together; ++t) columns[t].next(match.of[t]);
        });
      }
#pragma unroll
      for (std::uint32_t t = 0; t < Together; ++t) {
        std::uint32_t const of_tile = group * Together + t;
        if (of_tile >= queries) continue;
        matrix[std::size_t{slots[of_tile]} * pairs.objects + place] =
            apart <= pairs.bound
                ? static_cast<Key>(length + static_cast<std::uint32_t>(columns[t].rise(
                                                lowest_bits<Mask>(lengths[of_tile]))))
                : beyond<Key>;
      }
    }
  }
}

/// Launches the kernel for the queries of slots [begin, end) of an order.
template <class Mask, std::uint32_t Together, class Key>
void launch_pairs(word_pairs pairs, index_range const& some, Key* matrix, cudaStream_t on) {
  if (some.size() == 0) return;
  constexpr std::size_t own_bytes = std::size_t{32} << 10;
  std::size_t const of_group =
      std::max<std::size_t>(pairs.alphabet, 1) * sizeof(group_masks<Mask, Together>);
  pairs.groups =
      static_cast<std::uint32_t>(std::clamp<std::size_t>(own_bytes / of_group, 1, most_groups));
  std::uint32_t const of_block = pairs.groups * Together;
  constexpr std::uint32_t words_a_block = pair_threads * tiles_a_block;
  constexpr std::uint32_t most_rows = 65535;  // of a grid
  for (std::size_t first = some.begin; first < some.end;
       first += std::size_t{most_rows} * of_block) {
    pairs.count =
        static_cast<std::uint32_t>(std::min(some.end - first, std::size_t{most_rows} * of_block));
    word_pairs part = pairs;
    part.slots = pairs.slots + first;
    dim3 const grid((pairs.objects + words_a_block - 1) / words_a_block,
                    (part.count + of_block - 1) / of_block);
    compare_words<Mask, Together>
        <<<grid, pair_threads, pairs.groups * of_group, on>>>(part, matrix);
    check_launch();
  }
}

/// The largest alphabet for which the masks of a group fit in shared memory.
constexpr std::size_t most_letters_in_masks = 2048;

/// Queries by length: those of at most 32 letters end before `end_of_32`, of at most 64 before
/// `end_of_64`.
struct length_order {
  std::vector<std::uint32_t> slots;
  std::size_t end_of_32 = 0;
  std::size_t end_of_64 = 0;
};
length_order order_by_length(gpu_layout const& layout, gpu_queries const& queries,
                             std::span<std::uint32_t const> which) {
  bool const in_masks = layout.alphabet.size() <= most_letters_in_masks;
  length_order order;
  order.slots.resize(which.size());
  std::iota(order.slots.begin(), order.slots.end(), 0U);
  std::stable_sort(order.slots.begin(), order.slots.end(), [&](std::uint32_t a, std::uint32_t b) {
    return queries.length(which[a]) < queries.length(which[b]);
  });
  if (!in_masks) return order;
  for (std::uint32_t const slot : order.slots) {
    order.end_of_32 += queries.length(which[slot]) <= 32 ? 1 : 0;
    order.end_of_64 += queries.length(which[slot]) <= 64 ? 1 : 0;
  }
  return order;
}

/// Fills matrix[slot][place] for the placed queries `which`, in an order that must stay valid until
/// the stream is done.
template <class Key>
void fill_word_matrix(gpu_layout const& layout, placed_arrays const& arrays,
                      placed_queries const& placed, device_work& on,
                      std::span<std::uint32_t const> which, length_order const& order,
                      std::uint32_t bound, Key* matrix) {
  std::uint32_t const* const numbers = on.place_numbers(which);
  std::uint32_t const* const slots = on.place_order(order.slots);
  word_pairs const pairs{{arrays.numbers, arrays.length, layout.places(), layout.letters_a_number},
                         layout.objects,
                         static_cast<std::uint32_t>(layout.alphabet.size()),
                         placed.letters,
                         placed.begin,
                         numbers,
                         slots,
                         0,
                         bound,
                         0};
  launch_pairs<std::uint32_t, 4>(pairs, {0, order.end_of_32}, matrix, on.raw());
  launch_pairs<std::uint64_t, 2>(pairs, {order.end_of_32, order.end_of_64}, matrix, on.raw());
  measure_matrix(layout, arrays, placed, on, numbers, slots + order.end_of_64,
                 static_cast<std::uint32_t>(order.slots.size() - order.end_of_64), matrix);
}

/// One query per block.
template <class Key>
__global__ __launch_bounds__(select_threads) void select_nearest(Key const* matrix,
                                                                 std::uint32_t objects,
                                                                 std::uint32_t k,
                                                                 std::uint32_t const* ids,
                                                                 found_lists const lists) {
  __shared__ selection_state state;
  std::size_t const list = blockIdx.x;
  Key const* const keys = matrix + list * objects;
  take_nearest(
      cuda_block(), state, objects, k, static_cast<int>(sizeof(Key)),
      [=](std::uint32_t i) { return static_cast<std::uint64_t>(keys[i]); }, ids,
      [=](std::uint32_t at, std::uint32_t i) {
        lists.value[list * lists.capacity + at] = distance_of_key(keys[i]);
        lists.id[list * lists.capacity + at] = ids[i];
      });
  if (threadIdx.x == 0) {
    lists.count[list] = k;
    lists.evaluations[list] = objects;
  }
}

template <class Key>
__global__ __launch_bounds__(select_threads) void select_within(Key const* matrix,
                                                                std::uint32_t objects, Key farthest,
                                                                std::uint32_t const* ids,
                                                                found_lists const lists) {
  std::size_t const list = blockIdx.x;
  Key const* const keys = matrix + list * objects;
  for (std::uint32_t i = threadIdx.x; i < objects; i += select_threads) {
    if (keys[i] > farthest) continue;
    std::uint32_t const at = atomicAdd(lists.count + list, 1U);
    if (at >= lists.capacity) continue;
    lists.value[list * lists.capacity + at] = distance_of_key(keys[i]);
    lists.id[list * lists.capacity + at] = ids[i];
  }
  if (threadIdx.x == 0) lists.evaluations[list] = objects;
}

/// Returns the largest key within a radius; keys of words are below `beyond`.
template <class Key>
Key farthest_key(double radius) {
  if constexpr (sizeof(Key) == sizeof(double)) return key_of_distance<Key>(radius + 0.0);
  auto const most = static_cast<double>(beyond<Key> - 1);
  return static_cast<Key>(std::min(std::floor(radius), most));
}

/// Selects results from matrices of keys.
class matrix_on_gpus final : public metric_gpu_searcher {
 public:
  matrix_on_gpus(context const& ctx, gpu_layout of)
      : layout_(std::move(of)), devices_(ctx, layout_) {}

  gpu_layout const& layout() const override { return layout_; }
  void search(context const& ctx, gpu_queries const& queries, gpu_request const& request,
              gpu_candidates& found, metric_gpu_work& work) const override {
    if (!layout_.has_words()) return search_with<std::uint64_t>(ctx, queries, request, found, work);
    std::uint32_t longest = queries.longest();
    for (std::uint32_t const length : layout_.length) longest = std::max(longest, length);
    if (longest < beyond<std::uint8_t>)
      search_with<std::uint8_t>(ctx, queries, request, found, work);
    else
      search_with<std::uint32_t>(ctx, queries, request, found, work);
  }

 private:
  template <class Key>
  void search_with(context const& ctx, gpu_queries const& queries, gpu_request const& request,
                   gpu_candidates& found, metric_gpu_work& work) const {
    std::size_t const together =
        std::max<std::size_t>(matrix_bytes / (layout_.objects * sizeof(Key)), 1);
    launch_limits limits;
    limits.entries =
        together * (request.k > 0 ? request.k : std::min(limits.capacity, layout_.objects));
    devices_.search({ctx, queries, request, limits, least_queries_of_device(layout_)}, found, work,
                    [&](std::size_t i, device_work& on, placed_queries const& placed, std::uint32_t,
                        std::vector<std::uint32_t> const& which, std::uint32_t capacity,
                        metric_gpu_work& done) {
                      return launch<Key>(i, on, queries, placed, request, which, capacity,
                                         done.kernel_s);
                    });
  }
  template <class Key>
  launch_result launch(std::size_t i, device_work& on, gpu_queries const& queries,
                       placed_queries const& placed, gpu_request const& request,
                       std::vector<std::uint32_t> const& which, std::uint32_t capacity,
                       double& kernel_s) const {
    placed_arrays const arrays = devices_.arrays(i);
    found_lists const lists = on.lists(which.size(), capacity);
    auto* const matrix =
        reinterpret_cast<Key*>(on.matrix(which.size() * layout_.objects * sizeof(Key)));
    auto const count = static_cast<std::uint32_t>(which.size());
    Key const farthest = farthest_key<Key>(request.radius);
    auto const k = static_cast<std::uint32_t>(request.k);
    length_order order;
    if (layout_.has_words()) order = order_by_length(layout_, queries, which);
    on.begin_timing();
    if constexpr (sizeof(Key) == sizeof(double))
      measure_matrix(layout_, arrays, placed, on, on.place_numbers(which), nullptr, count, matrix);
    else
      fill_word_matrix(layout_, arrays, placed, on, which, order,
                       request.k > 0 ? ~std::uint32_t{0} : std::uint32_t{farthest}, matrix);
    if (request.k > 0)
      select_nearest<<<count, select_threads, 0, on.raw()>>>(matrix, layout_.objects, k, arrays.ids,
                                                             lists);
    else
      select_within<<<count, select_threads, 0, on.raw()>>>(matrix, layout_.objects, farthest,
                                                            arrays.ids, lists);
    check_launch();
    on.end_timing();
    launch_result done = on.fetch(which.size(), capacity);
    kernel_s += on.seconds();
    return done;
  }

  gpu_layout layout_;
  devices_with_layout devices_;
};

}  // namespace

std::unique_ptr<metric_gpu_searcher> make_pairs_on_gpus(gpu_build const& from) {
  gpu_layout layout = lay_out_all(from.index, word_places::by_length);
  // Rows of a dense index are finite; both searches have the same definition, bit for bit.
  if (layout.which == metric_distance::l2 && layout.objects > 0)
    return make_dense_pairs(from.ctx, std::move(layout));
  return std::make_unique<matrix_on_gpus>(from.ctx, std::move(layout));
}

edit_matrix_times edit_matrix(context const& ctx, gpu_layout const& layout,
                              gpu_queries const& queries, std::vector<std::uint8_t>* matrix) {
  edit_matrix_times times;
  devices_with_layout const devices(ctx, layout);
  if (matrix != nullptr) matrix->resize(queries.count * layout.objects);
  std::size_t const together = std::max<std::size_t>(matrix_bytes / layout.objects, 1);
  devices.on_first([&](std::size_t i, device_work& on) {
    on.matrix(std::min(together, queries.count) * layout.objects);
    stopwatch const watch;
    placed_queries const placed = on.place(queries);
    for (std::size_t first = 0; first < queries.count; first += together) {
      ctx.check_stop();
      std::vector<std::uint32_t> which(std::min(together, queries.count - first));
      std::iota(which.begin(), which.end(), static_cast<std::uint32_t>(first));
      std::size_t const bytes = which.size() * layout.objects;
      auto* const part = reinterpret_cast<std::uint8_t*>(on.matrix(bytes));
      length_order const order = order_by_length(layout, queries, which);
      on.begin_timing();
      fill_word_matrix(layout, devices.arrays(i), placed, on, which, order, ~std::uint32_t{0},
                       part);
      on.end_timing();
      times.kernel_s += on.seconds();
      if (matrix == nullptr) continue;
      check_cuda(cudaMemcpyAsync(matrix->data() + first * layout.objects, part, bytes,
                                 cudaMemcpyDeviceToHost, on.raw()));
      on.on().synchronize();
    }
    times.whole_s = watch.seconds();
  });
  return times;
}

}  // namespace rulerank::knn
