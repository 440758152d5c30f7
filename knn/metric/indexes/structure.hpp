#pragma once

#include "core/context.hpp"
#include "knn/candidate.hpp"
#include "knn/metric/indexes/exclusion.hpp"
#include "knn/metric/search.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

// What an index of a metric space is made of, and what its search is given.
namespace rulerank::inline v0::knn {

using metric_candidate = candidate<double>;

class metric_query;

/// Objects of a space that are compared with a query all at once, laid out for that.
class metric_block {
 public:
  virtual ~metric_block() = default;
  /// Offers the query those within its bound. `origin`: the query's, which the block's space gave.
  virtual void compare(distances_from& origin, metric_query& query) const = 0;
  /// The numbers of its parts, in the order in which `compare` looks at them. Each has some
  /// thousand objects at most.
  virtual std::vector<std::uint32_t> parts(distances_from& origin) const = 0;
  /// Compares a part alone, and says how many objects it has.
  virtual std::size_t compare_part(std::uint32_t part, distances_from& origin,
                                   metric_query& query) const = 0;
  /// Takes one of the objects out.
  virtual void erase(std::uint32_t object) = 0;
};

/// Some objects of a space as a block; null where `has_blocks(space)` is false.
std::unique_ptr<metric_block> block_of(metric_space const& space,
                                       std::span<std::uint32_t const> objects);
/// Whether the library lays out the objects of a space in blocks: words.
bool has_blocks(metric_space const& space);

/// Objects that an index compares together.
class metric_bucket {
 public:
  metric_bucket() = default;
  metric_bucket(metric_space const& space, std::vector<std::uint32_t> objects)
      : objects_(std::move(objects)), block_(block_of(space, objects_)) {}

  std::vector<std::uint32_t> const& objects() const { return objects_; }
  /// Null where the space has none.
  metric_block const* block() const { return block_.get(); }
  /// Takes one of them out.
  void erase(std::uint32_t object) {
    objects_.erase(std::find(objects_.begin(), objects_.end(), object));
    if (block_) block_->erase(object);
  }

 private:
  std::vector<std::uint32_t> objects_;
  std::unique_ptr<metric_block> block_;
};

/// One query on its way through an index: the distances that it asks for, what was found, and the
/// distance beyond which nothing more is wanted, which of k nearest shrinks.
class metric_query {
 public:
  /// All within `radius`; or with k > 0 the k nearest.
  metric_query(distances_from& origin, exclusion const& rule, double radius, std::size_t k)
      : origin_(origin),
        rule_(rule),
        radius_(k > 0 ? std::numeric_limits<double>::infinity() : radius) {
    if (k > 0) nearest_.emplace(k);
  }

  double bound() const {
    return nearest_ && nearest_->full() ? std::min(nearest_->last(), radius_) : radius_;
  }
  /// Of k nearest: as many are known to be within `bound`, as another task of the search found.
  void narrow(double bound) {
    if (nearest_) radius_ = std::min(radius_, bound);
  }
  /// How many are wanted; 0: all within the radius.
  bool shrinks() const { return nearest_.has_value(); }
  exclusion const& rule() const { return rule_; }
  /// Whether objects are all beyond the bound that are at least so far.
  bool is_beyond(double at_least) const { return at_least > bound(); }

  /// Distances of pivots, whole.
  void measure(std::span<std::uint32_t const> objects, double* values) {
    evaluations_ += objects.size();
    origin_.compute(objects, std::numeric_limits<double>::infinity(), values);
  }
  double measure(std::uint32_t object) {
    double value = 0;
    measure({&object, 1}, &value);
    return value;
  }
  /// An object whose distance is known.
  void offer(std::uint32_t object, double value) {
    if (nearest_)
      nearest_->add({value, object});
    else if (value <= radius_)
      within_.push_back({value, object});
  }
  /// Compares objects, and takes those that are within the bound.
  void compare(std::span<std::uint32_t const> objects);
  void compare(metric_bucket const& bucket) {
    if (bucket.block() == nullptr) return compare(bucket.objects());
    evaluations_ += bucket.objects().size();
    bucket.block()->compare(origin_, *this);
  }

  /// The same in parts, in the order of their numbers here.
  std::vector<std::uint32_t> parts_of(metric_bucket const& bucket) const;
  void compare(metric_bucket const& bucket, std::uint32_t part);

  /// Nearest first, equally near ones by rising number.
  std::vector<metric_candidate>& sorted();
  std::uint64_t evaluations() const { return evaluations_; }

 private:
  distances_from& origin_;
  exclusion const& rule_;
  double radius_;
  std::optional<nearest_candidates<double, value_order::smaller_is_nearer>> nearest_;
  std::vector<metric_candidate> within_;
  std::uint64_t evaluations_ = 0;
};

/// The numbers and distances that an index is written as.
struct structure_arrays {
  std::vector<std::uint32_t> numbers;
  std::vector<double> distances;

  void put(std::size_t number) { numbers.push_back(static_cast<std::uint32_t>(number)); }
  void put(std::span<std::uint32_t const> some) {
    put(some.size());
    numbers.insert(numbers.end(), some.begin(), some.end());
  }
  void put_distances(std::span<double const> some) {
    distances.insert(distances.end(), some.begin(), some.end());
  }
};

/// Reads them again. All functions throw `usage_error` for what no index writes, so that an index
/// never has an object that there is not, one twice, or a tree too deep to walk.
class structure_reader {
 public:
  structure_reader(std::span<std::uint32_t const> numbers, std::span<double const> distances,
                   std::size_t objects)
      : numbers_(numbers), distances_(distances), seen_(objects) {}

  static constexpr std::size_t deepest = 10000;

  std::uint32_t number();
  /// A number that is at most `most`.
  std::size_t count(std::size_t most);
  /// Objects that the index has, each once.
  std::uint32_t object();
  std::vector<std::uint32_t> objects();
  /// Objects that it has elsewhere.
  std::uint32_t pivot();
  std::vector<std::uint32_t> pivots();
  /// Not below 0 and not NaN.
  double distance();
  std::vector<double> distances(std::size_t count);
  void expect_depth(std::size_t depth) const;
  void expect_end() const;
  std::size_t seen() const { return count_; }
  std::vector<bool> const& holds() const { return seen_; }

 private:
  std::span<std::uint32_t const> numbers_;
  std::span<double const> distances_;
  std::vector<bool> seen_;
  std::size_t count_ = 0;
};

/// A task of a search, which any thread may do apart from the other tasks: what Barrientos 2011,
/// section 3.2, calls a requirement (region, index, query, extra field), less the query. `{}` is
/// the whole search.
struct search_task {
  std::uint32_t region = 0;          ///< of the index, as each type numbers them
  std::uint32_t place = 0;           ///< where in the region the task goes on
  double at_least = 0;               ///< the distance to all objects of the task, from below
  std::array<double, 2> extra = {};  ///< what the type needs besides
  std::shared_ptr<std::vector<double> const> to_pivots = {};  ///< distances to pivots above
};

/// Given each query's answer, nearest first, by any thread; the answers are those of one thread.
using take_answer = std::function<void(std::size_t query, std::vector<metric_candidate>& found)>;

/// An index. Several threads may call the const functions at once: all that changes in a search is
/// in the query, which is one thread's.
class metric_structure {
 public:
  virtual ~metric_structure() = default;
  virtual void search(metric_query& query) const = 0;
  /// Answers all queries in the threads of the context, `k` and `radius` as of `metric_query`, and
  /// says how many distances that takes; none, and no answer, where the type answers them one after
  /// the other, which is the default.
  virtual std::optional<metric_work> search_all(context const& ctx, metric_queries const& queries,
                                                double radius, std::size_t k,
                                                take_answer const& take) const;
  /// Does a task of a search: a node, a cluster, or of what is as long as the database so much as
  /// takes about `budget` distances. Appends the tasks that are left of it, in the order in which
  /// `search` does them; true: the last of them is the rest of this one. Tasks whose `at_least` is
  /// beyond the query's bound need not be done.
  virtual bool search_some(metric_query& query, search_task const& task, std::uint64_t budget,
                           std::vector<search_task>& left) const = 0;
  virtual void save(structure_arrays& to) const = 0;
  /// Throw `usage_error` unless a type says otherwise.
  virtual void insert(std::uint32_t object);
  virtual void erase(std::uint32_t object);
  /// Objects in it.
  virtual std::size_t size() const = 0;
  /// The distances that were computed for it.
  std::uint64_t evaluations() const { return evaluations_; }

 protected:
  std::uint64_t evaluations_ = 0;
};

/// What an index is made of: the first `objects` of a space, or what was saved.
struct metric_build {
  context const& ctx;
  metric_space const& space;
  metric_index_options const& options;
  std::size_t objects = 0;
  structure_reader* saved = nullptr;
};

/// values[i] = d(from, objects[i]), in all threads.
void distances_of(context const& ctx, metric_space const& space, std::uint32_t from,
                  std::span<std::uint32_t const> objects, std::span<double> values);

/// 0, 1, ..., n - 1
std::vector<std::uint32_t> first_numbers(std::size_t n);

/// A bound from below of the largest distance between two of the objects, at least half of it: the
/// distance from the object that is farthest from the first to the one farthest from that.
double estimated_diameter(context const& ctx, metric_space const& space,
                          std::span<std::uint32_t const> objects, std::uint64_t& evaluations);

/// The indexes, each in its own file.
using metric_structure_maker = std::unique_ptr<metric_structure> (*)(metric_build const& from);
/// Of a type other than `automatic`.
metric_structure_maker maker_of(metric_index_type type);  // search.cpp
std::unique_ptr<metric_structure> make_brute(metric_build const& from);
std::unique_ptr<metric_structure> make_lc(metric_build const& from);
std::unique_ptr<metric_structure> make_sss(metric_build const& from);
std::unique_ptr<metric_structure> make_sss_tree(metric_build const& from);
std::unique_ptr<metric_structure> make_egnat(metric_build const& from);
std::unique_ptr<metric_structure> make_m_tree(metric_build const& from);
std::unique_ptr<metric_structure> make_mvpt(metric_build const& from);

}  // namespace rulerank::knn
