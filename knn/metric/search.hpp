#pragma once
// Search among the objects of a metric space, whatever they are: all within a radius, or the k
// nearest, exactly.

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "datasets/vectors.hpp"
#include "knn/neighbours.hpp"

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

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::knn {

/// How far a computed distance d may be from that of the metric, whose triangle inequality excludes
/// objects: relative * d + absolute. Both are 0 where distances are integers below 2^53.
struct distance_rounding {
  double relative = 0;
  double absolute = 0;
};

/// The distances of one object, a query or one of the database, to objects of the database. For one
/// thread.
class distances_from {
 public:
  virtual ~distances_from() = default;
  /// values[i]: the distance to objects[i], finite and not below 0; where that is above `bound`,
  /// any value above `bound`.
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
  /// Whether any four objects can be laid out in three dimensions with their distances, as in a
  /// Hilbert space, which excludes more than the triangle inequality does. False by default.
  virtual bool has_four_points() const noexcept { return false; }
  /// `object` is below `size()`. The space outlives what it gives.
  virtual std::unique_ptr<distances_from> from(std::uint32_t object) const = 0;
};

/// Objects whose distances to a database are asked for.
class metric_queries {
 public:
  virtual ~metric_queries() = default;
  virtual std::size_t size() const noexcept = 0;
  /// `query` is below `size()`. The queries and their space outlive what they give.
  virtual std::unique_ptr<distances_from> from(std::size_t query) const = 0;
  /// Queries [first, first + count) as rows of float32, where they are vectors; none by default.
  virtual std::optional<datasets::vectors> as_vectors(std::size_t first, std::size_t count) const;
  /// These queries as words, where they are words; none by default.
  virtual std::optional<std::vector<std::string>> as_words(std::size_t first,
                                                           std::size_t count) const;
};

/// Objects of any type under a functor `double distance(Object const&, Object const&)`, or a
/// std::function; several threads call it at once. It is a metric: 0 for an object and itself,
/// symmetric, and with the triangle inequality (`check_metric` looks for a breach).
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

/// The metrics that the library has, by the names that `search metric --metric` takes: l1, l2,
/// linf, angular, edit.
///
/// Values are defined to the bit, of vectors in double precision, without fused operations, over
/// rising dimensions from 0 on: l1 is the sum of |x_i - y_i|; l2 the root of the sum of
/// (x_i - y_i)^2; linf the largest |x_i - y_i|; angular the arc cosine of the sum of x_i y_i over
/// the product of the roots of the sums of x_i^2 and y_i^2, cut to [-1, 1]: pi / 2 where one of the
/// two vectors is all zeros, 0 where both are. edit, of words, is Levenshtein's distance: the
/// fewest letters that are inserted, deleted or replaced.
enum class metric_distance : std::uint8_t { l1, l2, linf, angular, edit };
std::string_view name_of(metric_distance which);
/// Throws `usage_error` that lists the names, and says of the square of l2, of cosines and of inner
/// products why they are not among them.
metric_distance metric_distance_from(std::string_view name);

/// Vectors under l1, l2, linf or angular.
class vector_space final : public metric_space {
 public:
  /// Rows of float32, float16, bfloat16, int8 or uint8. Throws `usage_error` for another type and
  /// for `edit`, `error` naming the first row with a value that is NaN or infinite.
  vector_space(context const& ctx, datasets::vectors const& rows, metric_distance which);
  ~vector_space() override;

  std::size_t size() const noexcept override;
  distance_rounding rounding() const noexcept override;
  /// Of l2.
  bool has_four_points() const noexcept override;
  std::unique_ptr<distances_from> from(std::uint32_t object) const override;
  /// Queries of any of these types. Throws as the constructor does, and `usage_error` for other
  /// dimensions.
  std::unique_ptr<metric_queries> queries(context const& ctx, datasets::vectors const& some) const;
  metric_distance which() const noexcept;
  /// As float32.
  datasets::vectors const& rows() const noexcept;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

/// What a letter of a word is.
enum class letters : std::uint8_t {
  /// A code point of UTF-8, composed (NFC): é is one letter however it is written; a byte that is
  /// no
  /// part of it is the character of Latin-1 with its value
  code_points,
  bytes,
};

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

/// The lines of a file, plain or compressed, each a word without its LF or CRLF; an empty line is
/// the empty word, lines of `#` and a blank are comments. Throws `error` for a file that cannot be
/// read, and naming the place of a control character, of columns without a clear one of words, and
/// of Hunspell's flags. Where all lines have as many columns between tabs, commas, semicolons,
/// colons or blanks, the words are the column that a header names (`word`, `term`, ...), else the
/// only one with other than numbers; where all are in quotes, they are read without. `warn` hears
/// of it, and of numbers, tabs and quotes where not all lines have them.
std::vector<std::string> read_words(context const& ctx, std::string const& path,
                                    std::function<void(std::string const&)> const& warn = {},
                                    letters unit = letters::code_points);
/// The lines that begin in a part of a file's bytes, of `parts` equal ones: together, the parts
/// have each line once, in order.
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
  /// lc: objects of a cluster beside its centre; trees: of a leaf, in m-tree of every node. 0: what
  /// suits the type.
  std::size_t bucket = 0;
  /// sss, sss-tree: pivots are at least so much of the largest distance apart, within (0, 1].
  double alpha = 0.4;
  /// automatic: how many queries are expected in all; few where that is not known.
  std::size_t queries = 0;
};

using metric_index_info = engine_info<metric_index_type>;
/// All types.
std::span<metric_index_info const> metric_index_types();
/// "auto" for `automatic`.
std::string_view name_of(metric_index_type type);
/// Throws `usage_error` that lists the names.
metric_index_type metric_index_type_from(std::string_view name);
/// Whether an index of a type reads `metric_index_options::bucket`, and `alpha`.
bool has_bucket(metric_index_type type);
bool has_alpha(metric_index_type type);

/// What `automatic` stands for where so many queries are expected, and why.
struct metric_index_choice {
  metric_index_type type;
  std::string reason;
};
/// `together`: whether an index is given many queries at once, as `metric_index` is, rather than
/// one after the other.
metric_index_choice choose_metric_index(metric_space const& space, std::size_t queries,
                                        bool together = true);

/// The work of a search, the same for any number of threads.
struct metric_work {
  std::uint64_t evaluations = 0;  ///< distances that were computed, or cut off at a bound
};

struct saved_metric_index;

/// Objects of a space made ready to be searched, exactly: every index finds the same objects, with
/// the same values, in the same order. What an index excludes without its distance is farther by
/// the triangle inequality and by more than rounding makes of it.
class metric_index {
 public:
  /// An index of all objects of a space, or of the first `objects`. Throws `usage_error` for
  /// options out of range and for 2^32 - 1 objects and more.
  metric_index(context const& ctx, std::shared_ptr<metric_space const> space,
               metric_index_options const& options = {},
               std::size_t objects = std::numeric_limits<std::size_t>::max());
  ~metric_index();
  metric_index(metric_index&&) noexcept;

  /// Objects that are in the index.
  std::size_t size() const noexcept;
  metric_space const& space() const noexcept;
  metric_index_type type() const noexcept;
  /// That it was made with, and the type that was chosen. A file has no `queries`, and `alpha` of
  /// the types alone that read it.
  metric_index_options const& options() const noexcept;
  /// Distances that were computed for the index since it was made or opened.
  std::uint64_t build_evaluations() const noexcept;

  /// Takes in an object of the space, or out: brute, egnat, and m-tree takes in. Throws
  /// `usage_error` for other types, for an object that is in the index already, or is not.
  void insert(std::uint32_t object);
  void erase(std::uint32_t object);

  /// The k nearest objects of each query; `no_neighbour` stands behind them where there are fewer.
  /// Queries are those of the index's space. Throws `usage_error` for a k of 0 and for neighbours
  /// that memory does not hold. `work`: where the work is added up, or null.
  neighbours search(context const& ctx, metric_queries const& queries, std::size_t k,
                    metric_work* work = nullptr) const;
  /// The objects at most `radius` away. Throws `usage_error` for a radius that is NaN or below 0.
  rows_in_range search_range(context const& ctx, metric_queries const& queries, double radius,
                             metric_work* work = nullptr) const;

  /// Writes the index and its objects to a file, whole or not at all. Throws `usage_error` where
  /// the space is neither a `vector_space` nor a `word_space`, `output_error`.
  void save(context const& ctx, std::string const& path) const;
  /// What `save` wrote. Throws `error` naming the file where it is not that, byte for byte.
  static saved_metric_index open(context const& ctx, std::string const& path);

 private:
  friend struct metric_index_access;
  struct implementation;
  explicit metric_index(std::unique_ptr<implementation> made);
  std::unique_ptr<implementation> implementation_;
};

/// An index that was opened, with the space that its objects are of: one of the two.
struct saved_metric_index {
  metric_index index;
  std::shared_ptr<vector_space const> vectors;
  std::shared_ptr<word_space const> words;
};

/// Three objects whose distances are no metric's.
struct metric_breach {
  std::uint32_t a, b, c;
  double ab, bc, ac;
  std::string what;  ///< in a line
};
/// Looks among `triples` random triples of objects (from the context's seed) for a distance that is
/// not finite or below 0, that of an object to itself which is not 0, d(a, b) other than d(b, a),
/// or d(a, c) > d(a, b) + d(b, c), each by more than the space's rounding. The breach of the lowest
/// triple, or none, which is no proof.
std::optional<metric_breach> check_metric(context const& ctx, metric_space const& space,
                                          std::size_t triples);

}  // namespace rulerank::knn
