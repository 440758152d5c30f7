#pragma once
// Exact search among the objects of a metric space: all objects within a radius, or the k nearest,
// by an index on the CPU or by a copy of it on GPUs.

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "datasets/vectors.hpp"
#include "knn/neighbours.hpp"
#include "knn/searcher.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::knn {

/// Bounds the rounding error of a computed distance d: relative * d + absolute. The triangle
/// inequality is relaxed by it. Both are 0 if distances are integers below 2^53.
struct distance_rounding {
  double relative = 0;
  double absolute = 0;
};

/// The distances of one object, a query or one of the database, to objects of the database. One
/// thread at a time.
class distances_from {
 public:
  virtual ~distances_from() = default;
  /// Sets values[i] to the distance to objects[i], finite and not negative, or to any value above
  /// `bound` if the distance is above `bound`.
  virtual void compute(std::span<std::uint32_t const> objects, double bound, double* values) = 0;
  double to(std::uint32_t object) {
    double value = 0;
    compute({&object, 1}, std::numeric_limits<double>::infinity(), &value);
    return value;
  }
};

/// A database of numbered objects, and the distance of any two.
class metric_space {
 public:
  virtual ~metric_space() = default;
  virtual std::size_t size() const noexcept = 0;
  virtual distance_rounding rounding() const noexcept = 0;
  /// Whether any four objects can be embedded in three dimensions with their distances, as in a
  /// Hilbert space. This excludes more objects than the triangle inequality. False by default.
  virtual bool has_four_points() const noexcept { return false; }
  /// `object` must be below `size()`. The space must outlive the result.
  virtual std::unique_ptr<distances_from> from(std::uint32_t object) const = 0;
};

/// The query objects of a search in a database.
class metric_queries {
 public:
  virtual ~metric_queries() = default;
  virtual std::size_t size() const noexcept = 0;
  /// `query` must be below `size()`. The queries and their space must outlive the result.
  virtual std::unique_ptr<distances_from> from(std::size_t query) const = 0;
  /// Returns queries [first, first + count) as rows of float32 if they are vectors; nothing by
  /// default.
  virtual std::optional<datasets::vectors> as_vectors(std::size_t first, std::size_t count) const;
  /// Returns these queries as words if they are words; nothing by default.
  virtual std::optional<std::vector<std::string>> as_words(std::size_t first,
                                                           std::size_t count) const;
};

/// Objects of any type under a functor `double distance(Object const&, Object const&)`, or a
/// std::function, which several threads call at once. It must be a metric: 0 for an object and
/// itself, symmetric, with the triangle inequality (`check_metric` searches for a violation).
template <class Object, class Distance>
class object_space final : public metric_space {
 public:
  /// `rounding`: of the functor; the default suits sums of some thousand doubles.
  object_space(std::vector<Object> objects, Distance distance,
               distance_rounding rounding = {1e-12, 0})
      : objects_(std::move(objects)), distance_(std::move(distance)), rounding_(rounding) {}

  std::size_t size() const noexcept override { return objects_.size(); }
  distance_rounding rounding() const noexcept override { return rounding_; }
  std::unique_ptr<distances_from> from(std::uint32_t object) const override {
    return std::make_unique<origin>(*this, objects_[object]);
  }
  std::unique_ptr<metric_queries> queries(std::vector<Object> some) const {
    return std::make_unique<asked>(*this, std::move(some));
  }

 private:
  class origin final : public distances_from {
   public:
    origin(object_space const& space, Object const& from) : space_(space), from_(from) {}
    void compute(std::span<std::uint32_t const> objects, double, double* values) override {
      for (std::size_t i = 0; i < objects.size(); ++i)
        values[i] = space_.distance_(from_, space_.objects_[objects[i]]);
    }

   private:
    object_space const& space_;
    Object const& from_;
  };
  class asked final : public metric_queries {
   public:
    asked(object_space const& space, std::vector<Object> some)
        : space_(space), some_(std::move(some)) {}
    std::size_t size() const noexcept override { return some_.size(); }
    std::unique_ptr<distances_from> from(std::size_t query) const override {
      return std::make_unique<origin>(space_, some_[query]);
    }

   private:
    object_space const& space_;
    std::vector<Object> some_;
  };

  std::vector<Object> objects_;
  Distance distance_;
  distance_rounding rounding_;
};

/// The built-in metrics, named in `search metric --metric`: l1, l2, linf, angular, edit.
///
/// Values are defined to the bit. For vectors they are computed in double precision, without fused
/// operations, over dimensions in ascending order. l1 is the sum of |x_i - y_i|. l2 is the root of
/// the sum of (x_i - y_i)^2. linf is the largest |x_i - y_i|. angular is the arc cosine of the sum
/// of x_i y_i divided by the product of the roots of the sums of x_i^2 and y_i^2, clipped to [-1,
/// 1]; it is pi / 2 if one vector is all zeros, and 0 if both are. edit is the Levenshtein distance
/// of words: the fewest insertions, deletions and replacements of letters.
enum class metric_distance : std::uint8_t { l1, l2, linf, angular, edit };
std::string_view name_of(metric_distance which);
/// Throws `usage_error` that lists the names. For the square of l2, cosine and inner product, the
/// message explains why they are no metrics.
metric_distance metric_distance_from(std::string_view name);

/// Vectors under l1, l2, linf or angular.
class vector_space final : public metric_space {
 public:
  /// Rows of float32, float16, bfloat16, int8 or uint8. Throws `usage_error` for another type and
  /// for `edit`. Throws `error` naming the first row with a value that is NaN or infinite.
  vector_space(context const& ctx, datasets::vectors const& rows, metric_distance which);
  ~vector_space() override;

  std::size_t size() const noexcept override;
  distance_rounding rounding() const noexcept override;
  /// True for l2.
  bool has_four_points() const noexcept override;
  std::unique_ptr<distances_from> from(std::uint32_t object) const override;
  /// Makes queries of any of these types. Throws as the constructor, and `usage_error` for other
  /// dimensions.
  std::unique_ptr<metric_queries> queries(context const& ctx, datasets::vectors const& some) const;
  metric_distance which() const noexcept;
  /// The rows as float32.
  datasets::vectors const& rows() const noexcept;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

/// The unit of words that the edit distance compares.
enum class letters : std::uint8_t {
  /// Code points of UTF-8, composed (NFC): é is one letter in either form. A byte that is no part
  /// of UTF-8 is read as Latin-1.
  code_points,
  bytes,
};
/// Parses "code-points" or "bytes". Throws `usage_error` that lists the names.
letters letters_from(std::string_view name);

/// Words under the edit distance.
class word_space final : public metric_space {
 public:
  explicit word_space(std::vector<std::string> words, letters unit = letters::code_points);
  ~word_space() override;

  std::size_t size() const noexcept override;
  distance_rounding rounding() const noexcept override;
  std::unique_ptr<distances_from> from(std::uint32_t object) const override;
  std::unique_ptr<metric_queries> queries(std::vector<std::string> some) const;
  letters unit() const noexcept;
  std::vector<std::string> const& words() const noexcept;

 private:
  friend struct word_space_access;
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

/// Reads the lines of a file, plain or compressed: one word per line, without its LF or CRLF. An
/// empty line is the empty word; lines that begin with `#` and a space are comments. If all lines
/// have the same number of columns between tabs, commas, semicolons, colons or spaces, the words
/// are the column that a header names (`word`, `term`, ...), otherwise the only column that is not
/// numeric. If all lines are quoted, the quotes are removed. `warn` receives a message about these,
/// and about numbers, tabs and quotes that only some lines have. Throws `error` for an unreadable
/// file, and naming the place of a control character, of columns without a clear column of words,
/// and of Hunspell's flags.
std::vector<std::string> read_words(context const& ctx, std::string const& path,
                                    std::function<void(std::string const&)> const& warn = {},
                                    letters unit = letters::code_points);
/// Reads the lines that begin in one of `parts` equal parts of a file's bytes. Together, the parts
/// contain each line once, in order.
std::vector<std::string> read_words_part(context const& ctx, std::string const& path,
                                         std::size_t part, std::size_t parts,
                                         std::function<void(std::string const&)> const& warn = {},
                                         letters unit = letters::code_points);

enum class metric_index_type : std::uint8_t {
  automatic,
  brute,
  lc,
  sss,
  sss_tree,
  egnat,
  m_tree,
  mvpt,
};

struct metric_index_options {
  metric_index_type type = metric_index_type::automatic;
  /// lc: objects of a cluster besides its centre; trees: objects of a leaf, in m-tree of every
  /// node. 0: a default for the type.
  std::size_t bucket = 0;
  /// sss, sss-tree: the minimum distance of pivots, as a share of the largest distance, within (0,
  /// 1].
  double alpha = 0.4;
  /// automatic: the expected total number of queries; 0 or few if unknown.
  std::size_t queries = 0;
};

using metric_index_info = engine_info<metric_index_type>;
/// Lists all types.
std::span<metric_index_info const> metric_index_types();
/// Returns "auto" for `automatic`.
std::string_view name_of(metric_index_type type);
/// Throws `usage_error` that lists the names.
metric_index_type metric_index_type_from(std::string_view name);
/// Whether an index of a type uses `metric_index_options::bucket`, and `alpha`.
bool has_bucket(metric_index_type type);
bool has_alpha(metric_index_type type);

/// The type that `automatic` selects for an expected number of queries, and why.
struct metric_index_choice {
  metric_index_type type;
  std::string reason;
};
/// `together`: whether the index gets many queries at once, as `metric_index` does, rather than one
/// after the other.
metric_index_choice choose_metric_index(metric_space const& space, std::size_t queries,
                                        bool together = true);

/// The work of a search, the same for any number of threads.
struct metric_work {
  std::uint64_t evaluations = 0;  ///< distances computed, or stopped at a bound
};

struct saved_metric_index;

/// Objects of a space prepared for exact search: every type of index returns the same objects with
/// the same values in the same order. An object that an index excludes without computing its
/// distance is farther by the triangle inequality, relaxed by the rounding error.
class metric_index {
 public:
  /// Indexes all objects of a space, or the first `objects`. Throws `usage_error` for options out
  /// of range, and for 2^32 - 1 or more objects.
  metric_index(context const& ctx, std::shared_ptr<metric_space const> space,
               metric_index_options const& options = {},
               std::size_t objects = std::numeric_limits<std::size_t>::max());
  ~metric_index();
  metric_index(metric_index&&) noexcept;

  /// The number of objects in the index.
  std::size_t size() const noexcept;
  metric_space const& space() const noexcept;
  metric_index_type type() const noexcept;
  /// The options of the constructor, with the chosen type. After `open`, `queries` is unset, and
  /// `alpha` is set only for types that use it.
  metric_index_options const& options() const noexcept;
  /// The distances computed for the index since it was made or opened.
  std::uint64_t build_evaluations() const noexcept;

  /// Insert or erase an object of the space: brute and egnat; m-tree only inserts. Throw
  /// `usage_error` for other types, when inserting an object that is present, and when erasing one
  /// that is not.
  void insert(std::uint32_t object);
  void erase(std::uint32_t object);

  /// Returns the k nearest objects of each query, filled with `no_neighbour` if there are fewer.
  /// Queries must be of the index's space. Throws `usage_error` for a k of 0, and for results that
  /// exceed memory. Adds its work to `*work` unless it is null.
  neighbours search(context const& ctx, metric_queries const& queries, std::size_t k,
                    metric_work* work = nullptr) const;
  /// Returns the objects within `radius`. Throws `usage_error` for a radius that is NaN or
  /// negative.
  rows_in_range search_range(context const& ctx, metric_queries const& queries, double radius,
                             metric_work* work = nullptr) const;

  /// Writes the index and its objects to a file, whole or not at all. Throws `output_error`, and
  /// `usage_error` if the space is neither a `vector_space` nor a `word_space`.
  void save(context const& ctx, std::string const& path) const;
  /// Reads a file that `save` wrote. Throws `error` naming the file unless it equals the written
  /// one, byte for byte.
  static saved_metric_index open(context const& ctx, std::string const& path);

 private:
  friend struct metric_index_access;
  struct implementation;
  explicit metric_index(std::unique_ptr<implementation> made);
  std::unique_ptr<implementation> implementation_;
};

/// An opened index, and the space of its objects: one of the two.
struct saved_metric_index {
  metric_index index;
  std::shared_ptr<vector_space const> vectors;
  std::shared_ptr<word_space const> words;
};

/// Indexed objects, and the queries of their space.
struct metric_search_part {
  std::shared_ptr<metric_index const> index;
  std::shared_ptr<metric_queries const> queries;
};
/// Makes a searcher for queries among the objects of indexes, which are consecutive parts of a
/// collection: all parts or, with `is_split`, the parts of this process of the context. All parts
/// have the same queries. The id of an object is its number. Adds its work to `*work` unless it is
/// null; several threads may use the searcher at once only if it is null. Throws `usage_error` for
/// different numbers of queries, also of other processes. Collective if `is_split`.
std::unique_ptr<searcher> make_searcher(context const& ctx, std::vector<metric_search_part> parts,
                                        bool is_split = false, metric_work* work = nullptr);

/// The kind of search: the index itself on the CPU, or an engine on GPUs. All engines return the
/// same results. `pairs` and `brute_sort` read an index of type brute, `lc_growing` and
/// `lc_shrinking` of type lc, `sss_objects` and `sss_pivots` of type sss. All GPU engines except
/// `pairs` are published ones.
enum class metric_engine : std::uint8_t {
  automatic,  ///< on GPUs the first engine that reads the index's type; `pairs` for type brute
  index,      ///< `metric_index::search`
  pairs,
  brute_sort,
  lc_growing,
  lc_shrinking,
  sss_objects,
  sss_pivots,
};

struct metric_gpu_options {
  metric_engine engine = metric_engine::automatic;
};

/// Counts of a search's work on GPUs.
struct metric_gpu_work {
  std::uint64_t evaluations = 0;  ///< compared pairs of a query and an object or pivot
  std::uint64_t launches = 0;     ///< search kernels on all devices
  /// Devices that divided the queries of a call; the maximum over calls.
  std::uint64_t devices = 0;
  double kernel_s = 0;  ///< seconds in kernels, on the slowest device of each call
  /// Counts of an engine's own, by name; `pairs` has none.
  engine_counts counts{};
  metric_gpu_work& operator+=(metric_gpu_work const& more) {
    evaluations += more.evaluations;
    launches += more.launches;
    devices = std::max(devices, more.devices);
    kernel_s += more.kernel_s;
    add(counts, more.counts);
    return *this;
  }
};

using metric_engine_info = engine_info<metric_engine>;
/// Lists the engines of this build.
std::span<metric_engine_info const> metric_engines();
/// Returns "auto" for `automatic`.
std::string_view name_of(metric_engine engine);
/// Throws `usage_error` that lists the names.
metric_engine metric_engine_from(std::string_view name);
/// Returns the type of index that an engine reads; `automatic` if it reads several, or if this
/// build lacks the engine.
metric_index_type index_type_of(metric_engine engine);
/// Returns whether GPUs can search objects under a metric, with an index of this type (`automatic`:
/// of any type).
bool is_on_gpus(metric_distance which, metric_index_type type);

/// A copy of an index on each GPU of a context. As many GPUs divide the queries as have enough
/// work. Objects are vectors under l1, l2 or linf, or words.
class metric_gpu_index {
 public:
  /// Throws `device_error` if the context has no devices, if they have too little memory, and in a
  /// build without CUDA. Throws `usage_error` if the engine does not search this space or type of
  /// index. Keeps no reference to `index`.
  metric_gpu_index(context const& ctx, metric_index const& index,
                   metric_gpu_options const& options = {});
  ~metric_gpu_index();
  metric_gpu_index(metric_gpu_index&&) noexcept;

  std::size_t size() const noexcept;
  metric_engine engine() const noexcept;

  /// Returns the k nearest objects of each query as `metric_index::search`, with its errors, on the
  /// devices that the index was made for. Queries must be of a space of the same metric. Throws
  /// `usage_error` for queries of another kind than the index's objects. Adds its work to `*work`
  /// unless it is null.
  neighbours search(context const& ctx, metric_queries const& queries, std::size_t k,
                    metric_gpu_work* work = nullptr) const;
  /// Returns the objects within `radius` as `metric_index::search_range`.
  rows_in_range search_range(context const& ctx, metric_queries const& queries, double radius,
                             metric_gpu_work* work = nullptr) const;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

/// Makes a searcher for queries among the objects of an index on GPUs. The id of an object is its
/// number. Adds its work to `*work` unless it is null; several threads may use the searcher at once
/// only if it is null.
std::unique_ptr<searcher> make_searcher(std::shared_ptr<metric_gpu_index const> index,
                                        std::shared_ptr<metric_queries const> queries,
                                        metric_gpu_work* work = nullptr);

/// Three objects whose distances violate the definition of a metric.
struct metric_breach {
  std::uint32_t a, b, c;
  double ab, bc, ac;
  std::string what;  ///< a description in one line
};
/// Searches `triples` random triples of objects (from the context's seed) for a violation: a
/// distance that is not finite or is negative, a nonzero d(a, a), d(a, b) other than d(b, a), or
/// d(a, c) > d(a, b) + d(b, c), each by more than the space's rounding. Returns the violation of
/// the lowest triple, or nothing, which is no proof.
std::optional<metric_breach> check_metric(context const& ctx, metric_space const& space,
                                          std::size_t triples);

}  // namespace rulerank::knn
