#pragma once

#include "datasets/vectors.hpp"
#include "knn/metric/schedules/schedule.hpp"
#include "knn/metric/search.hpp"
#include "knn/search_seconds.hpp"
#include "knn/searched_collection.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rulerank::inline v0::knn {

/// The queries of a search among objects: vectors, words, or others.
using metric_asked = std::variant<datasets::vectors, std::vector<std::string>,
                                  std::shared_ptr<metric_queries const>>;
std::size_t size_of(metric_asked const& asked);

/// Objects of a space: exactly one of the three.
struct metric_objects {
  std::shared_ptr<vector_space const> vectors;
  std::shared_ptr<word_space const> words;
  std::shared_ptr<metric_space const> others{};  ///< objects with a metric that is not built in

  std::shared_ptr<metric_space const> space() const;
  /// The metric of vectors or words.
  metric_distance which() const;
  /// Converts queries to the type of these objects. Throws `error`, and `usage_error` for queries
  /// of other dimensions.
  std::shared_ptr<metric_queries const> queries(context const& ctx,
                                                metric_asked const& asked) const;
};
/// Reads the objects of one of `parts` parts of a file: rows of vectors or, for `edit`, words, one
/// per line. Throws `error`; `warn` as in `read_words`.
metric_objects read_metric_objects(context const& ctx, std::string const& path,
                                   metric_distance which, letters unit, std::size_t part = 0,
                                   std::size_t parts = 1,
                                   std::function<void(std::string const&)> const& warn = {});

/// The objects of a file that this process indexes.
struct metric_part {
  metric_objects objects;
  std::size_t first = 0;  ///< the number of the first object in the file
  std::size_t all = 0;    ///< objects of the file
};
/// Reads the objects of a file: all, or this process's part if `is_split`, which makes the call
/// collective. Throws `error`, and `usage_error` for 2^32 - 1 or more objects.
metric_part read_metric_part(context const& ctx, std::string const& path, metric_distance which,
                             letters unit, bool is_split,
                             std::function<void(std::string const&)> const& warn = {});

/// Reads the queries of a file, of the type of the objects.
metric_asked read_metric_queries(context const& ctx, metric_objects const& among,
                                 std::string const& path,
                                 std::function<void(std::string const&)> const& warn = {});

/// The options of a search that decide which index is made, and on which device.
struct metric_search_plan {
  metric_index_options index;  ///< with the requested type
  metric_engine engine = metric_engine::automatic;
  metric_schedule schedule = metric_schedule::automatic;
  std::size_t split = 1;         ///< parts of the collection, searched by different threads
  bool is_kept = false;          ///< the index is also for later searches
  std::optional<double> radius;  ///< empty: the nearest objects

  /// Whether threads may search many queries at once.
  bool searches_together() const { return split == 1 && schedule == metric_schedule::automatic; }
};
/// Returns whether GPUs may be selected without a requested device: for a comparison with all
/// objects that the CPU would also do, or that GPUs do instead of an index of vectors. A kept index
/// is the same on every machine, and an index of a requested type is searched as that type. `type`:
/// of the index.
bool may_choose_gpus(metric_search_plan const& plan, metric_objects const& objects,
                     metric_index_type type);
/// Estimates the time of a search for `queries` queries, for `worth_gpus`.
search_seconds search_seconds_of(metric_search_plan const& plan, metric_objects const& objects,
                                 std::size_t queries);
/// Chooses the type of index for the expected number of queries (`plan.index.queries`), on GPUs or
/// threads. The reason is empty if the plan names the type.
metric_index_choice choose_index(metric_search_plan const& plan, metric_objects const& objects,
                                 bool on_gpus);

/// The work of searches on threads and on GPUs.
struct metric_collection_work {
  schedule_work of_threads;
  metric_gpu_work of_gpus;
};
/// Returns the work of the threads of all processes, on each process, if they divided it.
/// Collective.
schedule_work work_of_all(context const& ctx, schedule_work const& own, metric_schedule schedule);

/// The searches in one part, and its queries.
struct metric_part_search {
  std::shared_ptr<metric_queries const> queries;
  std::function<neighbours(context const&, metric_queries const&, std::size_t k)> nearest;
  std::function<rows_in_range(context const&, metric_queries const&, double radius)> within;
};

/// Objects of a metric space: one index, which GPUs may search, or indexes of parts.
class metric_collection final : public item_collection {
 public:
  /// Opens the index in a file, or in parts: this process's share if `is_split`, otherwise all.
  /// Throws `error`.
  static metric_collection open(context const& ctx, std::string const& path, bool is_split = false);
  /// Indexes all objects together, or in `split` parts that threads search (`split_metric_index`).
  metric_collection(context const& ctx, metric_objects objects, metric_index_options const& options,
                    std::size_t split = 1);
  /// Indexes this process's part of a collection of `all` objects; `first` is the number of its
  /// first object.
  static metric_collection of_part(context const& ctx, metric_objects objects,
                                   metric_index_options const& options, std::size_t first,
                                   std::size_t all);

  /// Writes the index to a file. If the collection is split, writes this process's part and the
  /// list of parts.
  void save(context const& ctx, std::string const& path) const;

  /// The objects of the first part here; requires `has_parts`.
  metric_objects const& first_objects() const { return indexes_.front().objects; }
  metric_index_type first_type() const { return indexes_.front().type(); }
  /// Not for parts that threads search.
  metric_index_options const& first_options() const { return indexes_.front().whole().options(); }
  /// The distances computed to build the indexes here.
  std::uint64_t build_evaluations() const;

  /// Copies the index to the context's GPUs, which do all later searches. Throws as
  /// `metric_gpu_index`.
  void copy_to_gpus(context const& ctx, metric_engine engine);
  metric_gpu_index const* on_gpus() const { return gpu_ ? &*gpu_ : nullptr; }
  /// Returns the searches for queries in the parts here, for `metric_search`.
  std::vector<metric_part_search> searches(context const& ctx, metric_asked const& asked,
                                           schedule_options const& schedule,
                                           metric_collection_work* work) const;

  std::optional<std::string> id_of(std::uint32_t object) const override {
    return std::to_string(object);
  }
  bool has_ids_in_parts() const override { return false; }

 private:
  struct part_index {
    metric_objects objects;
    std::variant<metric_index, split_metric_index> index;

    metric_index const& whole() const { return std::get<metric_index>(index); }
    std::size_t size() const;
    metric_index_type type() const;
  };
  metric_collection() = default;
  void add(std::size_t first, metric_objects objects,
           std::variant<metric_index, split_metric_index> index);

  std::vector<part_index> indexes_;  // one per part
  std::optional<metric_gpu_index> gpu_;
};

/// A search among the objects of a collection. The collection and the work must outlive it.
class metric_search : public collection_with_radius {
 public:
  /// `asked`: empty on a process without parts, which gets the number of queries from another
  /// process; the constructor is collective. `schedule`: how threads divide queries, for an index
  /// of one part or of parts for threads. Adds its work to `*work`; several threads may search at
  /// once only if it is null. Throws as `metric_objects::queries`.
  metric_search(context const& ctx, metric_collection const& objects,
                std::optional<metric_asked> const& asked, schedule_options const& schedule = {},
                metric_collection_work* work = nullptr);
  /// `searches`: one per part. Throws `usage_error` for different numbers of queries, also of other
  /// processes.
  metric_search(context const& ctx, item_collection const& objects,
                std::vector<metric_part_search> searches, bool is_on_gpus);

  std::size_t queries() const noexcept override { return count_; }
  std::optional<std::string> id_of(std::uint32_t object) const override {
    return std::to_string(object);
  }
  bool has_ids_in_parts() const override { return false; }
  batch_limits limits(context const& ctx) const override;

 private:
  neighbours nearest_of_whole(context const& ctx, index_range queries,
                              std::size_t k) const override;
  std::vector<part_neighbours> nearest_of_parts(context const& ctx, index_range queries,
                                                std::size_t k) const override;
  rows_in_range within_whole(context const& ctx, index_range queries, double radius) const override;
  std::vector<part_rows_in_range> within_parts(context const& ctx, index_range queries,
                                               double radius) const override;

  std::vector<metric_part_search> searches_;
  std::size_t count_ = 0;
  bool is_on_gpus_;
};

}  // namespace rulerank::knn
