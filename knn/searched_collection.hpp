#pragma once

#include "core/process_group.hpp"
#include "knn/index_parts.hpp"
#include "knn/neighbours.hpp"
#include "knn/part_neighbours.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

// One search for all collections: dense rows, texts and objects of a metric space say how one part
// is searched; parts, processes and batches are the same for all of them. The program, Python and
// pools search by it.
namespace rulerank::inline v0::knn {

/// What is searched for: the k nearest items of a query or, with a radius, all items within it.
struct search_request {
  std::size_t k = 30;
  std::optional<double> radius{};
};

/// How many queries are searched for together.
struct batch_limits {
  std::size_t neighbours = std::size_t{1} << 25;  ///< of a batch: some 400 MB
  std::size_t dealt_neighbours = std::size_t{1}
                                 << 22;  ///< whose lines processes tell the first one
  std::size_t fewest = 1;
  std::size_t most = 4096;           ///< for each process that is dealt some
  std::size_t first_in_range = 256;  ///< while the number of neighbours is not known
  std::size_t most_in_range = 4096;
  std::size_t least_share = 1;  ///< queries that a process is dealt at a time
};

/// The items of a collection: in one part or in several, on this process or, where it is split, on
/// the processes of the context's group. Derived classes hold the indexes of the parts.
///
/// Where it is split, all processes call each function together. Several threads may call const
/// functions of one that is not split.
class item_collection {
 public:
  virtual ~item_collection() = default;

  /// Items of all parts, on all processes.
  std::size_t size() const noexcept { return items_; }
  /// Whether other processes have other parts.
  bool is_split() const noexcept { return is_split_; }
  /// Whether this process has some items: one of several may have none.
  bool has_parts() const noexcept { return !parts_.empty(); }
  /// Whether all items are in one part on this process.
  bool is_whole() const noexcept { return !is_split_ && parts_.size() == 1; }

  /// What an item is called, where it is known here.
  virtual std::optional<std::string> id_of(std::uint32_t item) const = 0;
  /// Whether ids are known to the process alone that has the item.
  virtual bool has_ids_in_parts() const { return is_split_; }

 protected:
  /// The items of a part, which follow each other.
  struct extent {
    std::size_t first = 0;
    std::size_t size = 0;
  };
  item_collection() = default;
  item_collection(item_collection const&) = default;
  item_collection(item_collection&&) = default;
  item_collection& operator=(item_collection&&) = default;

  /// Opens the parts of an index that this process has: all, or its own where the index is split.
  /// `open` adds a part to `parts_`. Throws `error` for a part that is not there, or is another
  /// one.
  void open_parts(context const& ctx, index_parts const& all, bool is_split,
                  std::function<void(index_part const& part)> const& open);
  /// Writes the one index of this process by `save(path)`: to `path`, or where the collection is
  /// split to the file of the part, with the list of parts of that kind at `path`. Throws
  /// `usage_error` where this process has several parts.
  void save_index(context const& ctx, std::string const& path, std::string_view kind,
                  std::function<void(std::string const& path)> const& save) const;

  std::vector<extent> parts_;  // of this process
  std::size_t items_ = 0;
  bool is_split_ = false;
};

/// A collection and the queries that it is searched for, which a derived class holds or refers to.
/// Queries are named by their numbers. The results do not depend on the parts.
class searched_collection : public item_collection {
 public:
  /// Whether processes that have all items may be dealt the queries.
  virtual bool may_be_dealt() const { return true; }
  /// The batches that suit the search, by the threads and devices of the context.
  virtual batch_limits limits(context const& /*ctx*/) const { return {}; }

  /// From now on the search finds only these items: a bit for each item of all parts, which outlive
  /// the search. Throws `usage_error` for another number of bits.
  void keep_only(std::span<std::uint64_t const> filter);

  /// The k nearest items of each query, `no_neighbour` behind them where the filter has fewer; `k`
  /// is at least 1.
  neighbours nearest(context const& ctx, index_range queries, std::size_t k) const;
  /// The items within a distance, or of at least a similarity.
  rows_in_range within(context const& ctx, index_range queries, double radius) const;

 protected:
  searched_collection() = default;
  explicit searched_collection(item_collection const& items) : item_collection(items) {}

  /// How a collection of one part is searched, and one of several: part by part, by the numbers
  /// that items have in their part, for at most as many neighbours as a part has items.
  virtual neighbours nearest_of_whole(context const& ctx, index_range queries,
                                      std::size_t k) const = 0;
  virtual std::vector<part_neighbours> nearest_of_parts(context const& ctx, index_range queries,
                                                        std::size_t k) const = 0;
  /// Whether a query that has fewer than k neighbours of this order has no others. Where it may
  /// have, a search that needs more asks for more.
  virtual bool has_no_more(value_order /*order*/) const { return true; }
  std::span<std::uint64_t const> filter() const noexcept { return filter_; }
  /// The k nearest of those that the filter has, where there is one. The default asks for more and
  /// more neighbours, until k of them are in the filter.
  virtual neighbours nearest_in_filter(context const& ctx, index_range queries,
                                       std::size_t k) const;
  /// The items within a radius, whatever the filter. The default looks for more and more
  /// neighbours, until one lies outside.
  virtual rows_in_range within_of_all(context const& ctx, index_range queries, double radius) const;
  /// The k of a search of a part.
  std::size_t neighbours_in(extent const& part, std::size_t k) const {
    return std::clamp<std::size_t>(part.size, 1, k);
  }

 private:
  neighbours nearest_of_all(context const& ctx, index_range queries, std::size_t k) const;
  bool is_kept(std::uint32_t item) const {
    return filter_.empty() || (filter_[item / 64] >> (item % 64) & 1) != 0;
  }

  std::span<std::uint64_t const> filter_;  // empty: all items
  std::size_t kept_ = 0;                   // items of the filter
};

/// A collection whose indexes find the items within a radius themselves.
class collection_with_radius : public searched_collection {
 protected:
  using searched_collection::searched_collection;
  rows_in_range within_of_all(context const& ctx, index_range queries, double radius) const final;
  /// As `nearest_of_whole` and `nearest_of_parts`.
  virtual rows_in_range within_whole(context const& ctx, index_range queries,
                                     double radius) const = 0;
  virtual std::vector<part_rows_in_range> within_parts(context const& ctx, index_range queries,
                                                       double radius) const = 0;
};

/// Whether the queries are dealt to the context's processes, each of which has all items.
bool deals_queries(context const& ctx, searched_collection const& collection);
/// Queries of the first batch.
std::size_t queries_together(context const& ctx, searched_collection const& collection,
                             search_request const& request, batch_limits const& limits);

/// What is written of some queries: lines, and those of a TREC run.
struct result_lines {
  std::string lines, run;
  std::uint64_t most = 0;  ///< results of the query that has the most, where the output counts them
  static auto members_of(auto& all) { return std::tie(all.lines, all.run, all.most); }
};

/// What was found for a query.
struct query_result {
  std::size_t query = 0;
  value_order order = value_order::larger_is_nearer;
  std::span<std::uint32_t const> items;  ///< nearest first, equally near ones by rising number
  std::span<double const> values;        ///< of each
};

/// Takes what was found. Functions that are const may be called by any process for queries that it
/// was dealt.
class search_output {
 public:
  using id_of_fn = std::function<std::string(std::uint32_t item)>;

  virtual ~search_output() = default;
  /// Adds what is written of a query.
  virtual void add_lines(result_lines& to, query_result const& found,
                         id_of_fn const& id_of) const = 0;
  /// Whether `add_lines` asks for ids, on all processes.
  virtual bool writes_ids() const { return true; }
  /// In the order of the queries.
  virtual void write(result_lines const& lines) = 0;
  /// Whether `take` is called, on all processes.
  virtual bool takes_neighbours() const { return false; }
  /// Takes the results of queries from `first` on.
  virtual void take(std::size_t /*first*/, neighbours /*found*/) {}
  virtual void take(std::size_t /*first*/, rows_in_range /*found*/) {}
};

/// As process_group::deal.
using deal_fn = std::function<std::vector<std::string>(
    std::size_t tasks, process_group::task_fn const& task, process_group::keep_fn const& keep)>;

/// Searches for queries 0, 1, ... of a collection, batch after batch, and gives the output what was
/// found, in their order: by one process, by processes that have a part of the collection each, or
/// by processes that are dealt the queries, with the same lines. `deal`: what deals; default: the
/// context's processes. All processes call it together.
void search_in_batches(context const& ctx, searched_collection const& collection,
                       std::size_t queries, search_request const& request,
                       batch_limits const& limits, search_output& output, deal_fn const& deal = {});

/// What `search_in_batches` finds for all queries, in memory, on each process: the k nearest items,
/// all items where there are fewer, or the items within a radius. Throws `usage_error` for a k of
/// 0.
neighbours search_all(context const& ctx, searched_collection const& collection,
                      std::size_t queries, std::size_t k);
rows_in_range search_all_in_range(context const& ctx, searched_collection const& collection,
                                  std::size_t queries, double radius);

}  // namespace rulerank::knn
