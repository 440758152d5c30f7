#pragma once

#include "core/process_group.hpp"
#include "knn/index_parts.hpp"
#include "knn/neighbours.hpp"
#include "knn/part_neighbours.hpp"
#include "knn/searcher.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

// The searcher of all collections. Dense rows, sparse rows, texts and objects of a metric space
// implement the search of one part; this file adds parts, processes, filters and batches.
namespace rulerank::inline v0::knn {

/// The sizes of batches of queries that are searched together.
struct batch_limits {
  std::size_t neighbours = std::size_t{1} << 25;  ///< most results in a batch: some 400 MB
  /// Most results in a batch that another process sends as lines.
  std::size_t dealt_neighbours = std::size_t{1} << 22;
  std::size_t fewest = 1;
  std::size_t most = 4096;           ///< for each process that gets queries
  std::size_t first_in_range = 256;  ///< while the number of results per query is unknown
  std::size_t most_in_range = 4096;
  std::size_t least_share = 1;  ///< fewest queries that a process gets at a time
};

/// The items of a collection, in one or several parts. The parts are on this process or, if the
/// collection is split, on all processes of the context's group. Derived classes hold the indexes
/// of the parts.
///
/// If the collection is split, all functions are collective. Otherwise several threads may call
/// const functions at once.
class item_collection {
 public:
  virtual ~item_collection() = default;

  /// The number of items of all parts, on all processes.
  std::size_t size() const noexcept { return items_; }
  /// Whether other processes hold other parts.
  bool is_split() const noexcept { return is_split_; }
  /// Whether this process holds items; in a split collection it may hold none.
  bool has_parts() const noexcept { return !parts_.empty(); }
  /// Whether all items are in one part on this process.
  bool is_whole() const noexcept { return !is_split_ && parts_.size() == 1; }

  /// Returns the id of an item, if this process knows it.
  virtual std::optional<std::string> id_of(std::uint32_t item) const = 0;
  /// Whether only the process that holds an item knows its id.
  virtual bool has_ids_in_parts() const { return is_split_; }

 protected:
  /// The consecutive items of a part.
  struct extent {
    std::size_t first = 0;
    std::size_t size = 0;
  };
  item_collection() = default;
  item_collection(item_collection const&) = default;
  item_collection(item_collection&&) = default;
  item_collection& operator=(item_collection&&) = default;

  /// Sets the first item of each of `parts_`, and the number of all items: parts are consecutive
  /// and, if the collection is split over processes, in the order of the ranks. Collective then.
  void number_parts(context const& ctx, bool is_split);
  /// Opens the parts of an index that this process holds: all, or its own if the index is split.
  /// `open` adds a part to `parts_`. Throws `error` if a part is missing or belongs to another
  /// index.
  void open_parts(context const& ctx, index_parts const& all, bool is_split,
                  std::function<void(index_part const& part)> const& open);
  /// Writes the single index of this process by `save(path)`. If the collection is split, saves to
  /// the part's file and writes the list of parts of this `kind` to `path`. Throws `usage_error` if
  /// this process has several parts.
  void save_index(context const& ctx, std::string const& path, std::string_view kind,
                  std::function<void(std::string const& path)> const& save) const;

  std::vector<extent> parts_;  // on this process
  std::size_t items_ = 0;
  bool is_split_ = false;
};

/// A collection and its queries, which a derived class holds or refers to.
class searched_collection : public searcher, public item_collection {
 public:
  std::size_t size() const noexcept final { return item_collection::size(); }
  std::optional<std::string> id_of(std::uint32_t item) const override = 0;
  void keep_only(std::span<std::uint64_t const> bits) final;
  neighbours nearest(context const& ctx, std::size_t k) const final;
  rows_in_range within(context const& ctx, double radius) const final;
  void search(context const& ctx, search_request const& request, take_fn const& take,
              std::size_t most_results) const final;

  /// Whether the queries may be divided among processes that each hold all items.
  virtual bool may_be_dealt() const { return true; }
  /// The batch sizes that suit the search, given the context's threads and devices.
  virtual batch_limits limits(context const& /*ctx*/) const { return {}; }

  /// As `nearest` and `within`, for some of the queries in one batch; k >= 1. Each query has
  /// entries for k items.
  neighbours nearest_of(context const& ctx, index_range queries, std::size_t k) const;
  rows_in_range within_of(context const& ctx, index_range queries, double radius) const;

 protected:
  searched_collection() = default;
  explicit searched_collection(item_collection const& items) : item_collection(items) {}

  /// Search a collection of one part, and one of several parts. The latter searches part by part,
  /// returns item numbers within the part, and at most as many neighbours as the part has items.
  virtual neighbours nearest_of_whole(context const& ctx, index_range queries,
                                      std::size_t k) const = 0;
  virtual std::vector<part_neighbours> nearest_of_parts(context const& ctx, index_range queries,
                                                        std::size_t k) const = 0;
  /// Whether a query with fewer than k neighbours of this order has no further ones. If it may have
  /// some, a search that needs more repeats with a larger k.
  virtual bool has_no_more(value_order /*order*/) const { return true; }
  /// Whether the searches of parts apply `filter()`. If they do not, this class searches for more
  /// and more neighbours until k of them are in the filter.
  virtual bool applies_filter() const { return false; }
  /// Empty: all items.
  std::span<std::uint64_t const> filter() const noexcept { return filter_; }
  void keep_all() { filter_.clear(); }
  /// Returns the k nearest items in the filter; not called if `applies_filter`.
  virtual neighbours nearest_in_filter(context const& ctx, index_range queries,
                                       std::size_t k) const;
  /// Returns the items within a radius, in the filter only if `applies_filter`. The default
  /// searches for more and more neighbours until one is outside.
  virtual rows_in_range within_of_all(context const& ctx, index_range queries, double radius) const;
  /// The k for the search of a part.
  std::size_t neighbours_in(extent const& part, std::size_t k) const {
    return std::clamp<std::size_t>(part.size, 1, k);
  }

 private:
  bool needs_filter() const { return !filter_.empty() && !applies_filter(); }
  neighbours nearest_of_all(context const& ctx, index_range queries, std::size_t k) const;
  bool is_kept(std::uint32_t item) const { return (filter_[item / 64] >> (item % 64) & 1) != 0; }

  std::vector<std::uint64_t> filter_;
  std::size_t kept_ = 0;  // number of items in the filter
};

/// A search that owns its collection.
template <class Collection, class Search>
class owning_search final : private std::unique_ptr<Collection const>, public Search {
 public:
  /// `more`: the arguments of `Search` after the collection.
  template <class... More>
  explicit owning_search(Collection all, More&&... more)
      : std::unique_ptr<Collection const>(std::make_unique<Collection const>(std::move(all))),
        Search(**this, std::forward<More>(more)...) {}
};

/// A collection whose indexes support searches within a radius.
class collection_with_radius : public searched_collection {
 protected:
  using searched_collection::searched_collection;
  rows_in_range within_of_all(context const& ctx, index_range queries, double radius) const final;
  /// Counterparts of `nearest_of_whole` and `nearest_of_parts`.
  virtual rows_in_range within_whole(context const& ctx, index_range queries,
                                     double radius) const = 0;
  virtual std::vector<part_rows_in_range> within_parts(context const& ctx, index_range queries,
                                                       double radius) const = 0;
};

/// Whether the queries are divided among the context's processes, each of which holds all items.
bool deals_queries(context const& ctx, searched_collection const& collection);
/// The number of queries in the first batch.
std::size_t queries_together(context const& ctx, searched_collection const& collection,
                             search_request const& request, batch_limits const& limits);

/// The output for some queries: result lines, and lines of a TREC run.
struct result_lines {
  std::string lines, run;
  std::uint64_t most = 0;  ///< the largest number of results of a query, if the output counts them
  static auto members_of(auto& all) { return std::tie(all.lines, all.run, all.most); }
};

/// Receives results. Const functions may run on any process, for the queries that it searched.
class search_output {
 public:
  using id_of_fn = std::function<std::string(std::uint32_t item)>;

  virtual ~search_output() = default;
  /// Appends the output for a query.
  virtual void add_lines(result_lines& to, query_result const& found,
                         id_of_fn const& id_of) const = 0;
  /// Whether `add_lines` needs ids; the same on all processes.
  virtual bool writes_ids() const { return true; }
  /// Called in the order of the queries.
  virtual void write(result_lines const& lines) = 0;
  /// Whether `take` is called; the same on all processes.
  virtual bool takes_neighbours() const { return false; }
  /// Receives the results of queries from `first` on.
  virtual void take(std::size_t /*first*/, neighbours /*found*/) {}
  virtual void take(std::size_t /*first*/, rows_in_range /*found*/) {}
};

/// The signature of process_group::deal.
using deal_fn = std::function<std::vector<std::string>(
    std::size_t tasks, process_group::task_fn const& task, process_group::keep_fn const& keep)>;

/// Searches for the queries of a collection in batches and passes the results to the output in
/// order. The lines are the same for one process, for processes that each hold a part of the
/// collection, and for processes that divide the queries. `deal` defaults to the deal of the
/// context's processes. Collective.
void search_in_batches(context const& ctx, searched_collection const& collection,
                       search_request const& request, batch_limits const& limits,
                       search_output& output, deal_fn const& deal = {});

}  // namespace rulerank::knn
