#pragma once

#include "core/context.hpp"
#include "knn/candidate.hpp"
#include "knn/metric/block_search.hpp"
#include "knn/metric/gpu_search.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// An index of the CPU as arrays for devices, and what the searches of knn/metric/block_search.hpp
// read of them. None of it needs CUDA: tests run the searches on the arrays as they are.
namespace rulerank::inline v0::knn {

/// What is searched, with its objects in places in the order that an engine reads them.
struct gpu_layout {
  metric_engine engine = metric_engine::automatic;
  metric_distance which = metric_distance::l2;
  letters unit = letters::code_points;
  exclusion rule{{}};
  std::uint32_t objects = 0;       ///< that are found: of sss, pivots stand behind them once more
  std::vector<std::uint32_t> ids;  ///< [places] numbers in the index's space

  std::uint32_t dimensions = 0;
  std::vector<float> values;  ///< [dimensions][places]

  std::vector<std::uint32_t> alphabet;  ///< ascending; the number of a letter is its place
  std::uint32_t letters_a_number = 4;
  std::vector<std::uint32_t> numbers;  ///< [numbers of the longest word][places]
  std::vector<std::uint32_t> length;   ///< [places]

  std::vector<double> radius;             ///< [centres]
  std::vector<std::uint32_t> cluster_of;  ///< [objects - centres]
  std::uint32_t pivots = 0;
  std::vector<double> table;  ///< sss: [pivots][objects]; sss_pivots: [objects][pivots]

  std::uint32_t places() const { return static_cast<std::uint32_t>(ids.size()); }
  bool has_words() const { return which == metric_distance::edit; }
};

/// Throws as the constructor of `metric_gpu_index` does. `engine` is none but `automatic`s choice.
gpu_layout lay_out(metric_index const& index, metric_engine engine);

/// Queries as devices read them.
struct gpu_queries {
  std::size_t count = 0;
  std::vector<float> values;           ///< [count][dimensions]
  std::vector<std::uint32_t> letters;  ///< numbers of letters; of those that no object has, behind
  std::vector<std::uint32_t> begin;    ///< [count + 1]

  std::uint32_t length(std::size_t q) const { return begin[q + 1] - begin[q]; }
  std::uint32_t longest() const;
};
/// Throw as `metric_gpu_index::search` does.
gpu_queries queries_of(context const& ctx, gpu_layout const& layout,
                       datasets::vectors const& queries);
gpu_queries queries_of(gpu_layout const& layout, std::vector<std::string> const& queries);
/// Some of them, in the order of their numbers.
gpu_queries some_of(gpu_layout const& layout, gpu_queries const& all,
                    std::span<std::uint32_t const> numbers);

/// Where the arrays lie, on the host or on a device.
struct placed_arrays {
  std::uint32_t const* ids = nullptr;
  float const* values = nullptr;
  std::uint32_t const* numbers = nullptr;
  std::uint32_t const* length = nullptr;
  double const* radius = nullptr;
  std::uint32_t const* cluster_of = nullptr;
  double const* table = nullptr;
};
inline placed_arrays arrays_of(gpu_layout const& layout) {
  return {layout.ids.data(),    layout.values.data(), layout.numbers.data(),
          layout.length.data(), layout.radius.data(), layout.cluster_of.data(),
          layout.table.data()};
}
struct placed_queries {
  float const* values = nullptr;
  std::uint32_t const* letters = nullptr;
  std::uint32_t const* begin = nullptr;
  std::uint32_t longest = 0;
};

/// visit(objects) with what is compared.
template <class Visit>
void with_objects(gpu_layout const& layout, placed_arrays const& at, placed_queries const& queries,
                  Visit const& visit) {
  vector_columns const columns{at.values, layout.places(), layout.dimensions};
  if (layout.which == metric_distance::l1) {
    visit(vector_objects<metric_distance::l1>{columns, queries.values});
  } else if (layout.which == metric_distance::l2) {
    visit(vector_objects<metric_distance::l2>{columns, queries.values});
  } else if (layout.which == metric_distance::linf) {
    visit(vector_objects<metric_distance::linf>{columns, queries.values});
  } else {
    std::uint32_t const blocks = edit_blocks(queries.longest);
    visit(word_objects{{at.numbers, at.length, layout.places(), layout.letters_a_number},
                       static_cast<std::uint32_t>(layout.alphabet.size()),
                       queries.letters,
                       queries.begin,
                       blocks < 1 ? 1 : blocks});
  }
}
/// visit(candidates) with which of them are.
template <class Visit>
void with_candidates(gpu_layout const& layout, placed_arrays const& at, Visit const& visit) {
  sss_table const table{layout.objects, layout.pivots, at.table};
  auto const centres = static_cast<std::uint32_t>(layout.radius.size());
  switch (layout.engine) {
    case metric_engine::lc:
    case metric_engine::lc_shrinking:
      return visit(lc_candidates{centres, layout.objects - centres, at.radius, at.cluster_of});
    case metric_engine::sss:
      return visit(sss_candidates{table});
    case metric_engine::sss_pivots:
      return visit(sss_pivot_candidates{table});
    default:
      return visit(all_candidates{layout.objects});
  }
}

/// Where the memory of a block lies: the first parts in memory that it has to itself as far as that
/// goes, the others in the device's.
struct block_plan {
  enum part : std::size_t {
    state,
    query,
    pivot,
    excluded,
    lane_value,
    lane_id,
    heap_size,
    rows,
    heap_value,
    heap_id,
    parts
  };
  std::size_t offset[parts] = {};
  bool is_own[parts] = {};
  std::size_t own_bytes = 0;     ///< shared memory of a block
  std::size_t device_bytes = 0;  ///< of the device, a block

  /// For `threads` threads with `most_own` bytes of their own, 64 at least.
  template <class Objects, class Candidates>
  block_plan(Objects const& objects, Candidates const& candidates, std::uint32_t k,
             std::uint32_t threads, std::size_t most_own) {
    std::size_t const lanes = threads < heap_lanes ? threads : heap_lanes;
    place(state, sizeof(block_state), most_own);
    place(query, objects.query_bytes(), most_own);
    place(pivot, candidates.pivots() * sizeof(double), most_own);
    place(excluded, candidates.flags() * sizeof(std::uint32_t), most_own);
    place(lane_value, k * lanes * sizeof(double), most_own);
    place(lane_id, k * lanes * sizeof(std::uint32_t), most_own);
    place(heap_size, k > 0 ? (threads + lanes) * sizeof(std::uint32_t) : 0, most_own);
    place(rows, objects.row_numbers() * threads * sizeof(std::uint64_t), 0);
    place(heap_value, std::size_t{k} * threads * sizeof(double), 0);
    place(heap_id, std::size_t{k} * threads * sizeof(std::uint32_t), 0);
  }

  RULERANK_HOST_DEVICE block_space at(std::byte* own, std::byte* of_device) const {
    block_space space;
    space.state = of<block_state>(state, own, of_device);
    space.query = of<std::byte>(query, own, of_device);
    space.pivot = of<double>(pivot, own, of_device);
    space.excluded = of<std::uint32_t>(excluded, own, of_device);
    space.rows = of<std::uint64_t>(rows, own, of_device);
    space.heap_value = of<double>(heap_value, own, of_device);
    space.heap_id = of<std::uint32_t>(heap_id, own, of_device);
    space.heap_size = of<std::uint32_t>(heap_size, own, of_device);
    space.lane_value = of<double>(lane_value, own, of_device);
    space.lane_id = of<std::uint32_t>(lane_id, own, of_device);
    return space;
  }

 private:
  void place(part which, std::size_t bytes, std::size_t most_own) {
    bytes = (bytes + 15) / 16 * 16;
    is_own[which] = own_bytes + bytes <= most_own;
    std::size_t& end = is_own[which] ? own_bytes : device_bytes;
    offset[which] = end;
    end += bytes;
  }
  template <class T>
  RULERANK_HOST_DEVICE T* of(part which, std::byte* own, std::byte* of_device) const {
    std::byte* const base = is_own[which] ? own : of_device;
    return base == nullptr ? nullptr : reinterpret_cast<T*>(base + offset[which]);
  }
};

/// The radii that a search for the k nearest tries: the first has k objects of most queries.
struct growing_radius {
  double first = 0;
  double step = 0;
};
/// From the distances of the k-th nearest of some objects, in any order.
growing_radius radius_from(std::vector<double> of_kth);
/// Places of the objects that stand for the queries: one of a hundred, evenly spread.
std::vector<std::uint32_t> training_places(std::uint32_t objects);
/// The objects at some places, as queries.
gpu_queries queries_at(gpu_layout const& layout, std::span<std::uint32_t const> places);

/// What queries are asked on devices.
struct gpu_request {
  std::size_t k = 0;  ///< 0: all within the radius; else at most as many as there are objects
  double radius = 0;
};

using gpu_candidates = std::vector<std::vector<candidate<double>>>;

/// An engine on the GPUs that it was made for. Several threads may call `search` and `nearest` at
/// once.
class metric_gpu_searcher {
 public:
  virtual ~metric_gpu_searcher() = default;
  /// The k nearest, which may be more than there are objects, as `metric_index::search` gives them:
  /// of an engine that writes them right into an answer. Such a one is asked to `search` for ranges
  /// alone. Throws `usage_error` as `metric_index::search` does.
  virtual std::optional<neighbours> nearest(context const& /*ctx*/, gpu_queries const& /*queries*/,
                                            std::size_t /*k*/, metric_gpu_work& /*work*/) const {
    return std::nullopt;
  }
  /// found[q]: what query q finds, in any order.
  virtual void search(context const& ctx, gpu_queries const& queries, gpu_request const& request,
                      gpu_candidates& found, metric_gpu_work& work) const = 0;
};

/// What an engine is made of; the layout outlives it.
struct gpu_build {
  context const& ctx;
  gpu_layout const& layout;
};
std::unique_ptr<metric_gpu_searcher> make_blocks_on_gpus(gpu_build const& from);
std::unique_ptr<metric_gpu_searcher> make_sort_on_gpus(gpu_build const& from);
std::unique_ptr<metric_gpu_searcher> make_pairs_on_gpus(gpu_build const& from);

}  // namespace rulerank::knn
