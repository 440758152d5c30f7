#pragma once

#include "datasets/vectors.hpp"
#include "knn/metric/gpu_search.hpp"
#include "knn/metric/schedule.hpp"
#include "knn/metric/search.hpp"
#include "knn/search_seconds.hpp"
#include "knn/searched_collection.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rulerank::inline v0::knn {

/// Objects whose metric the library has: one of the two.
struct metric_objects {
  std::shared_ptr<vector_space const> vectors;
  std::shared_ptr<word_space const> words;

  std::shared_ptr<metric_space const> space() const;
  metric_distance which() const;
};
/// The objects of one of so many parts of a file: rows of vectors, or of `edit` words, one a line.
/// Throws `error`.
metric_objects read_metric_objects(context const& ctx, std::string const& path,
                                   metric_distance which, letters unit, std::size_t part = 0,
                                   std::size_t parts = 1);

/// The objects of a file that a process indexes.
struct metric_part {
  metric_objects objects;
  std::size_t first = 0;  ///< the number of the first one in the file
  std::size_t all = 0;    ///< objects of the file
};
/// The objects of a file: all, or where it is split this process's part; all processes call it
/// together then. Throws `error`, and `usage_error` for 2^32 - 1 objects and more.
metric_part read_metric_part(context const& ctx, std::string const& path, metric_distance which,
                             letters unit, bool is_split);

/// What is searched for among objects: vectors or words.
using metric_asked = std::variant<datasets::vectors, std::vector<std::string>>;
metric_asked read_metric_queries(context const& ctx, metric_objects const& among,
                                 std::string const& path);
std::size_t size_of(metric_asked const& asked);

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
/// How many queries the threads or GPUs of a context take together. Dense search and schedules take
/// many at once in less time; fewer vectors at a time would each take longer to compare with all.
batch_limits metric_batch_limits(context const& ctx);

/// Objects of a metric space: an index of all, which GPUs may search, or indexes of parts.
class metric_collection final : public searched_collection {
 public:
  /// The index in a file, not in parts.
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

  /// How threads share out queries. An index of one part, or of parts for threads.
  void set_schedule(schedule_options const& options) { schedule_ = options; }
  /// Copies the index to the GPUs of the context, which search from then on. Throws as
  /// `metric_gpu_index`.
  void copy_to_gpus(context const& ctx, metric_engine engine);
  /// What is searched for, by the functions of `searched_collection`. Throws `error`.
  void set_queries(context const& ctx, metric_asked asked);

  /// What the searches did since the queries were set: on threads, and on GPUs.
  schedule_work const& work() const { return work_; }
  /// The work of all processes, on each of them, where they shared it out. All call it together.
  schedule_work work_of_all(context const& ctx) const;
  metric_gpu_work const& gpu_work() const { return gpu_work_; }
  metric_gpu_index const* on_gpus() const { return gpu_ ? &*gpu_ : nullptr; }

  std::optional<std::string> id_of(std::uint32_t object) const override {
    return std::to_string(object);
  }
  bool has_ids_in_parts() const override { return false; }

 private:
  struct part_index {
    metric_objects objects;
    std::variant<metric_index, split_metric_index> index;
    std::unique_ptr<metric_queries> queries;

    metric_index const& whole() const { return std::get<metric_index>(index); }
    std::size_t size() const;
    metric_index_type type() const;
  };
  metric_collection() = default;
  void add(std::size_t first, metric_objects objects,
           std::variant<metric_index, split_metric_index> index);
  neighbours search(context const& ctx, part_index const& part, index_range queries,
                    std::size_t k) const;
  rows_in_range search_range(context const& ctx, part_index const& part, index_range queries,
                             double radius) const;
  neighbours nearest_of_whole(context const& ctx, index_range queries,
                              std::size_t k) const override;
  std::vector<part_neighbours> nearest_of_parts(context const& ctx, index_range queries,
                                                std::size_t k) const override;
  rows_in_range within_whole(context const& ctx, index_range queries, double radius) const override;
  std::vector<part_rows_in_range> within_parts(context const& ctx, index_range queries,
                                               double radius) const override;

  std::vector<part_index> indexes_;  // of the parts
  schedule_options schedule_;
  metric_asked asked_;
  std::optional<metric_gpu_index> gpu_;
  // A process searches with one thread at a time.
  mutable schedule_work work_;
  mutable metric_gpu_work gpu_work_;
};

}  // namespace rulerank::knn
