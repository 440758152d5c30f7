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

// The parts of a metric index, and the arguments of its search.
namespace rulerank::inline v0::knn {

using metric_candidate = candidate<double>;

class metric_query;

/// Objects of a space, laid out to compare them with a query together.
class metric_block {
 public:
  virtual ~metric_block() = default;
  /// Offers the objects within the query's bound to the query. `origin`: the query's, made by the
  /// block's space.
  virtual void compare(distances_from& origin, metric_query& query) const = 0;
  /// Returns the numbers of its parts in the order in which `compare` visits them. Each has at most
  /// some thousand objects.
  virtual std::vector<std::uint32_t> parts(distances_from& origin) const = 0;
  /// Compares one part, and returns the number of its objects.
  virtual std::size_t compare_part(std::uint32_t part, distances_from& origin,
                                   metric_query& query) const = 0;
  /// Removes an object of the block.
  virtual void erase(std::uint32_t object) = 0;
};

/// Lays out objects of a space as a block; null if `has_blocks(space)` is false.
std::unique_ptr<metric_block> block_of(metric_space const& space,
                                       std::span<std::uint32_t const> objects);
/// Returns whether the library lays out the objects of a space in blocks: only words.
bool has_blocks(metric_space const& space);

/// Objects that an index compares together.
class metric_bucket {
 public:
  metric_bucket() = default;
  metric_bucket(metric_space const& space, std::vector<std::uint32_t> objects)
      : objects_(std::move(objects)), block_(block_of(space, objects_)) {}

  std::vector<std::uint32_t> const& objects() const { return objects_; }
  /// Null if the space has no blocks.
  metric_block const* block() const { return block_.get(); }
  /// Removes an object of the bucket.
  void erase(std::uint32_t object) {
    objects_.erase(std::find(objects_.begin(), objects_.end(), object));
    if (block_) block_->erase(object);
  }

 private:
  std::vector<std::uint32_t> objects_;
  std::unique_ptr<metric_block> block_;
};

/// One query during its search: the distances that it computes, its results, and the bound beyond
/// which objects are irrelevant. The bound of the k nearest decreases.
class metric_query {
 public:
  /// Searches for all objects within `radius`, or for the k nearest if k > 0.
  metric_query(distances_from& origin, exclusion const& rule, double radius, std::size_t k)
      : origin_(origin),
        rule_(rule),
        radius_(k > 0 ? std::numeric_limits<double>::infinity() : radius) {
    if (k > 0) nearest_.emplace(k);
  }

  double bound() const {
    return nearest_ && nearest_->full() ? std::min(nearest_->last(), radius_) : radius_;
  }
  /// For the k nearest: lowers the bound, because another task of the search found k objects within
  /// it.
  void narrow(double bound) {
    if (nearest_) radius_ = std::min(radius_, bound);
  }
  /// Whether the bound decreases: it is a search for the k nearest.
  bool shrinks() const { return nearest_.has_value(); }
  exclusion const& rule() const { return rule_; }
  /// Returns whether objects at a distance of at least `at_least` are beyond the bound.
  bool is_beyond(double at_least) const { return at_least > bound(); }

  /// Computes exact distances of pivots.
  void measure(std::span<std::uint32_t const> objects, double* values) {
    evaluations_ += objects.size();
    origin_.compute(objects, std::numeric_limits<double>::infinity(), values);
  }
  double measure(std::uint32_t object) {
    double value = 0;
    measure({&object, 1}, &value);
    return value;
  }
  /// Offers an object whose distance is known.
  void offer(std::uint32_t object, double value) {
    if (nearest_)
      nearest_->add({value, object});
    else if (value <= radius_)
      within_.push_back({value, object});
  }
  /// Compares objects and keeps those within the bound.
  void compare(std::span<std::uint32_t const> objects);
  void compare(metric_bucket const& bucket) {
    if (bucket.block() == nullptr) return compare(bucket.objects());
    evaluations_ += bucket.objects().size();
    bucket.block()->compare(origin_, *this);
  }

  /// Do so by parts, in the order in which `parts_of` returns their numbers.
  std::vector<std::uint32_t> parts_of(metric_bucket const& bucket) const;
  void compare(metric_bucket const& bucket, std::uint32_t part);

  /// Returns the results, nearest first, equal values by ascending number.
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

/// The numbers and distances that represent an index in a file.
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

/// Reads these arrays. All functions throw `usage_error` for data that no index writes, so an index
/// never has a nonexistent object, a duplicate object, or a tree too deep to traverse.
class structure_reader {
 public:
  structure_reader(std::span<std::uint32_t const> numbers, std::span<double const> distances,
                   std::size_t objects)
      : numbers_(numbers), distances_(distances), seen_(objects) {}

  static constexpr std::size_t deepest = 10000;

  std::uint32_t number();
  /// Reads a number of at most `most`.
  std::size_t count(std::size_t most);
  /// Read objects of the index, each at most once.
  std::uint32_t object();
  std::vector<std::uint32_t> objects();
  /// Read objects that the index holds elsewhere.
  std::uint32_t pivot();
  std::vector<std::uint32_t> pivots();
  /// Reads a distance: not negative and not NaN.
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

/// A task of a search, which any thread may do independently: a requirement (region, index, query,
/// extra field) in Barrientos 2011, section 3.2, without the query. `{}` is the whole search.
struct search_task {
  std::uint32_t region = 0;          ///< of the index; each type numbers its regions
  std::uint32_t place = 0;           ///< position in the region where the task continues
  double at_least = 0;               ///< lower bound of the distance to all objects of the task
  std::array<double, 2> extra = {};  ///< further values of the type
  /// Distances to pivots of parent nodes.
  std::shared_ptr<std::vector<double> const> to_pivots = {};
};

/// Receives each query's results, nearest first, valid for one thread; called by any thread.
using take_answer = std::function<void(std::size_t query, std::vector<metric_candidate>& found)>;

/// An index. Several threads may call the const functions at once, because only the query changes
/// during a search, and each query belongs to one thread.
class metric_structure {
 public:
  virtual ~metric_structure() = default;
  virtual void search(metric_query& query) const = 0;
  /// Answers all queries with the context's threads and returns the work in distances; `k` and
  /// `radius` as in `metric_query`. Returns nothing, without results, if the type answers one query
  /// at a time, which is the default.
  virtual std::optional<metric_work> search_all(context const& ctx, metric_queries const& queries,
                                                double radius, std::size_t k,
                                                take_answer const& take) const;
  /// Does one task of a search: a node, a cluster or, for regions as long as the database, about
  /// `budget` distances. Appends the remaining tasks in the order of `search`; returns true if the
  /// last of them continues this task. Tasks whose `at_least` is beyond the query's bound can be
  /// skipped.
  virtual bool search_some(metric_query& query, search_task const& task, std::uint64_t budget,
                           std::vector<search_task>& left) const = 0;
  virtual void save(structure_arrays& to) const = 0;
  /// Throw `usage_error` by default.
  virtual void insert(std::uint32_t object);
  virtual void erase(std::uint32_t object);
  /// The number of objects in the index.
  virtual std::size_t size() const = 0;
  /// The distances computed to build the index.
  std::uint64_t evaluations() const { return evaluations_; }

 protected:
  std::uint64_t evaluations_ = 0;
};

/// The source of an index: the first `objects` of a space, or saved arrays.
struct metric_build {
  context const& ctx;
  metric_space const& space;
  metric_index_options const& options;
  std::size_t objects = 0;
  structure_reader* saved = nullptr;
};

/// Sets values[i] = d(from, objects[i]), with all threads.
void distances_of(context const& ctx, metric_space const& space, std::uint32_t from,
                  std::span<std::uint32_t const> objects, std::span<double> values);

/// 0, 1, ..., n - 1
std::vector<std::uint32_t> first_numbers(std::size_t n);

/// Returns a lower bound of the largest distance between two objects, at least half of it: let x be
/// the object farthest from the first; the result is the largest distance from x.
double estimated_diameter(context const& ctx, metric_space const& space,
                          std::span<std::uint32_t const> objects, std::uint64_t& evaluations);

/// The factories of the indexes, each in its own file.
using metric_structure_maker = std::unique_ptr<metric_structure> (*)(metric_build const& from);
/// `type` must not be `automatic`.
metric_structure_maker maker_of(metric_index_type type);  // search.cpp
std::unique_ptr<metric_structure> make_brute(metric_build const& from);
std::unique_ptr<metric_structure> make_lc(metric_build const& from);
std::unique_ptr<metric_structure> make_sss(metric_build const& from);
std::unique_ptr<metric_structure> make_sss_tree(metric_build const& from);
std::unique_ptr<metric_structure> make_egnat(metric_build const& from);
std::unique_ptr<metric_structure> make_m_tree(metric_build const& from);
std::unique_ptr<metric_structure> make_mvpt(metric_build const& from);

}  // namespace rulerank::knn
