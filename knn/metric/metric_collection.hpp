#pragma once

#include "datasets/vectors.hpp"
#include "knn/metric/gpu_search.hpp"
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

/// Objects of a space: one of the three.
struct metric_objects {
  std::shared_ptr<vector_space const> vectors;
  std::shared_ptr<word_space const> words;
  std::shared_ptr<metric_space const> others{};  ///< whose metric the library does not have

  std::shared_ptr<metric_space const> space() const;
  /// The metric of vectors or words.
  metric_distance which() const;
  /// The queries among these objects, of their type. Throws `error`, and `usage_error` for queries
  /// of other dimensions.
  std::shared_ptr<metric_queries const> queries(context const& ctx,
                                                metric_asked const& asked) const;
};
/// The objects of one of so many parts of a file: rows of vectors, or of `edit` words, one a line.
/// Throws `error`; `warn` as in `read_words`.
metric_objects read_metric_objects(context const& ctx, std::string const& path,
                                   metric_distance which, letters unit, std::size_t part = 0,
                                   std::size_t parts = 1,
                                   std::function<void(std::string const&)> const& warn = {});

/// The objects of a file that a process indexes.
struct metric_part {
  metric_objects objects;
  std::size_t first = 0;  ///< the number of the first one in the file
  std::size_t all = 0;    ///< objects of the file
};
/// The objects of a file: all, or where it is split this process's part; all processes call it
/// together then. Throws `error`, and `usage_error` for 2^32 - 1 objects and more.
metric_part read_metric_part(context const& ctx, std::string const& path, metric_distance which,
                             letters unit, bool is_split,
                             std::function<void(std::string const&)> const& warn = {});

/// The queries of a file, of the type of the objects.
metric_asked read_metric_queries(context const& ctx, metric_objects const& among,
                                 std::string const& path,
                                 std::function<void(std::string const&)> const& warn = {});

/// How a collection is to be searched, as far as it decides which index is made and where.
struct metric_search_plan {
  metric_index_options index;  ///< with the type that is asked for
  metric_engine engine = metric_engine::automatic;
  metric_schedule schedule = metric_schedule::automatic;
  std::size_t split = 1;         ///< parts of the collection, for threads
  bool is_kept = false;          ///< whether the index is for later searches too
  std::optional<double> radius;  ///< none: the nearest

  /// Whether threads may search many queries at once.
  bool searches_together() const { return split == 1 && schedule == metric_schedule::automatic; }
};
/// Whether GPUs may be chosen where nobody asks for a device: for a comparison with all objects
/// that the CPU would do too, or that GPUs do in place of an index of vectors. An index that is
/// kept is the same on every machine, and one of a type that was asked for is searched as that
/// type. `type`: of the index.
bool may_choose_gpus(metric_search_plan const& plan, metric_objects const& objects,
                     metric_index_type type);
/// Seconds that a search for so many queries takes, for `worth_gpus`.
search_seconds search_seconds_of(metric_search_plan const& plan, metric_objects const& objects,
                                 std::size_t queries);
/// The type of index to make for so many queries (`plan.index.queries`), on GPUs or threads. The
/// reason is empty where the plan names the type.
metric_index_choice choose_index(metric_search_plan const& plan, metric_objects const& objects,
                                 bool on_gpus);
/// Objects of a metric space: an index of all, which GPUs may search, or indexes of parts.
class metric_collection final : public item_collection {
 public:
  /// The index in a file, or all parts of one.
  static metric_collection open(context const& ctx, std::string const& path);
  /// An index in parts: `is_split`: this process's share of the parts, else all of them. Throws
  /// `error`.
  static metric_collection open_parts(context const& ctx, std::string const& path, bool is_split);
  /// An index of all objects, or of so many parts of them which threads search
  /// (`split_metric_index`).
  metric_collection(context const& ctx, metric_objects objects, metric_index_options const& options,
                    std::size_t split = 1);
  /// This process's part of a collection, of `all` objects whose `first` is its first.
  static metric_collection of_part(context const& ctx, metric_objects objects,
                                   metric_index_options const& options, std::size_t first,
                                   std::size_t all);

  /// Writes the index to a file: of a part to that of this process, with the list of parts.
  void save(context const& ctx, std::string const& path) const;

  /// Of the first part here, where there is one (`has_parts`).
  metric_objects const& first_objects() const { return indexes_.front().objects; }
  metric_index_type first_type() const { return indexes_.front().type(); }
  /// Not of parts for threads.
  metric_index_options const& first_options() const { return indexes_.front().whole().options(); }
  /// Distances that were computed for the indexes here.
  std::uint64_t build_evaluations() const;

  /// Copies the index to the GPUs of the context, which search from then on. Throws as
  /// `metric_gpu_index`.
  void copy_to_gpus(context const& ctx, metric_engine engine);
  metric_gpu_index const* on_gpus() const { return gpu_ ? &*gpu_ : nullptr; }

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
  friend class metric_search;

  std::vector<part_index> indexes_;  // of the parts
  std::optional<metric_gpu_index> gpu_;
};

/// The work of searches, on threads and on GPUs.
struct metric_collection_work {
  schedule_work of_threads;
  metric_gpu_work of_gpus;
};
/// The work of the threads of all processes, on each of them, where they shared it out. All call it
/// together.
schedule_work work_of_all(context const& ctx, schedule_work const& own, metric_schedule schedule);

/// A search among the objects of a collection, which outlives it, as the work does.
class metric_search final : public collection_with_radius {
 public:
  /// `asked`: none on a process without parts, which learns their number from the first process;
  /// all make it together. `schedule`: how threads share out queries, of an index of one part, or
  /// of parts for threads. `work`: where the work is added up, or null: then several threads may
  /// search at once. Throws as `metric_objects::queries`.
  metric_search(context const& ctx, metric_collection const& objects,
                std::optional<metric_asked> asked, schedule_options const& schedule = {},
                metric_collection_work* work = nullptr);

  /// How many queries there are, on all processes.
  std::size_t queries() const noexcept { return count_; }

  std::optional<std::string> id_of(std::uint32_t object) const override {
    return objects_.id_of(object);
  }
  bool has_ids_in_parts() const override { return false; }
  batch_limits limits(context const& ctx) const override;

 private:
  neighbours search(context const& ctx, std::size_t part, index_range queries, std::size_t k) const;
  rows_in_range search_range(context const& ctx, std::size_t part, index_range queries,
                             double radius) const;
  neighbours nearest_of_whole(context const& ctx, index_range queries,
                              std::size_t k) const override;
  std::vector<part_neighbours> nearest_of_parts(context const& ctx, index_range queries,
                                                std::size_t k) const override;
  rows_in_range within_whole(context const& ctx, index_range queries, double radius) const override;
  std::vector<part_rows_in_range> within_parts(context const& ctx, index_range queries,
                                               double radius) const override;

  metric_collection const& objects_;
  std::vector<std::shared_ptr<metric_queries const>> asked_;  // of the parts
  std::size_t count_ = 0;
  schedule_options schedule_;
  metric_collection_work* work_;
};

}  // namespace rulerank::knn
