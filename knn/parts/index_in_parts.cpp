#include "knn/parts/index_in_parts.hpp"

#include "core/error.hpp"
#include "core/process_group.hpp"
#include "knn/dense/dense_collection.hpp"
#include "knn/index_parts.hpp"
#include "knn/metric/metric_collection.hpp"
#include "knn/text/text_collection.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

// A collection has one set of queries at a time, so one search runs at a time.
struct dense_parts::state {
  dense_collection collection;
  std::mutex one_search{};
};
struct metric_parts::state {
  metric_collection collection;
  std::mutex one_search{};
};
struct text_parts::state {
  text_collection collection;
  std::mutex one_search{};
  bool is_ready = false;  // for a search with these options and devices
  sparse_search_options options{};
  std::vector<int> devices{};

  void prepare(context const& ctx, sparse_search_options const& asked) {
    if (is_ready && options == asked && devices == ctx.devices) return;
    is_ready = false;
    collection.prepare(ctx, [&](context const& on, sparse_index const& part) {
      return sparse_searcher(on, part, asked);
    });
    options = asked;
    devices = ctx.devices;
    is_ready = true;
  }
};

std::optional<dense_parts> dense_parts::open(context const& ctx, std::string const& path,
                                             dense_engine engine) {
  if (!is_index_in_parts(path)) return std::nullopt;
  if (!dense_collection::searches_parts(engine))
    throw usage_error(
        fmt::format("engine {} of an index in parts, expected flat", name_of(engine)));
  dense_parts opened;
  opened.state_.reset(new state{dense_collection::open_parts(
      without_processes(ctx), read_index_parts(path, "dense"), engine, false)});
  return opened;
}

std::size_t dense_parts::size() const noexcept {
  return state_->collection.size();
}

std::size_t dense_parts::dimensions() const noexcept {
  return state_->collection.first_index().dimensions();
}

similarity dense_parts::metric() const noexcept {
  return state_->collection.first_index().metric();
}

namespace {

/// Searches a dense collection for all of the queries.
template <class Search>
auto search_dense(dense_collection& collection, datasets::vectors const& queries,
                  std::span<std::uint64_t const> filter, Search const& search) {
  std::size_t const words = (collection.size() + 63) / 64;
  if (!filter.empty() && filter.size() != words)
    throw usage_error(fmt::format("filter: found {}, expected {} for {}",
                                  counted(filter.size(), "word"), words,
                                  counted(collection.size(), "row")));
  dense_search_work work;
  collection.set_queries(queries, {filter, {}}, work);
  return search(index_range{0, queries.size()});
}

}  // namespace

neighbours dense_parts::search(context const& ctx, datasets::vectors const& queries, std::size_t k,
                               std::span<std::uint64_t const> filter) const {
  if (k == 0) throw usage_error("k: found 0, expected at least 1");
  std::lock_guard const alone(state_->one_search);
  return search_dense(state_->collection, queries, filter, [&](index_range all) {
    return state_->collection.nearest(without_processes(ctx), all, k);
  });
}

rows_in_range dense_parts::search_range(context const& ctx, datasets::vectors const& queries,
                                        double radius,
                                        std::span<std::uint64_t const> filter) const {
  std::lock_guard const alone(state_->one_search);
  return search_dense(state_->collection, queries, filter, [&](index_range all) {
    return state_->collection.within(without_processes(ctx), all, radius);
  });
}

std::optional<metric_parts> metric_parts::open(context const& ctx, std::string const& path) {
  if (!is_index_in_parts(path)) return std::nullopt;
  metric_parts opened;
  opened.state_.reset(
      new state{metric_collection::open_parts(without_processes(ctx), path, false)});
  return opened;
}

std::size_t metric_parts::size() const noexcept {
  return state_->collection.size();
}

std::shared_ptr<vector_space const> metric_parts::first_vectors() const {
  return state_->collection.first_objects().vectors;
}

std::shared_ptr<word_space const> metric_parts::first_words() const {
  return state_->collection.first_objects().words;
}

metric_index_options const& metric_parts::options() const {
  return state_->collection.first_options();
}

neighbours metric_parts::search(context const& ctx, queries some, std::size_t k) const {
  if (k == 0) throw usage_error("k: found 0, expected at least 1");
  std::lock_guard const alone(state_->one_search);
  std::size_t const count = size_of(some);
  state_->collection.set_queries(without_processes(ctx), std::move(some));
  return state_->collection.nearest(without_processes(ctx), {0, count}, k);
}

rows_in_range metric_parts::search_range(context const& ctx, queries some, double radius) const {
  std::lock_guard const alone(state_->one_search);
  std::size_t const count = size_of(some);
  state_->collection.set_queries(without_processes(ctx), std::move(some));
  return state_->collection.within(without_processes(ctx), {0, count}, radius);
}

std::optional<text_parts> text_parts::open(context const& ctx, std::string const& path) {
  if (!is_index_in_parts(path)) return std::nullopt;
  text_parts opened;
  opened.state_.reset(new state{text_collection::open_parts(without_processes(ctx), path, false)});
  return opened;
}

std::size_t text_parts::size() const noexcept {
  return state_->collection.size();
}

std::size_t text_parts::terms() const noexcept {
  return state_->collection.first_index().terms().size();
}

text_index_options const& text_parts::options() const {
  return state_->collection.first_index().options();
}

std::vector<std::string> text_parts::ids() const {
  std::vector<std::string> all;
  all.reserve(size());
  for (std::size_t d = 0; d < size(); ++d)
    all.push_back(*state_->collection.id_of(static_cast<std::uint32_t>(d)));
  return all;
}

neighbours text_parts::search(context const& ctx, std::span<datasets::text_document const> queries,
                              std::size_t k, sparse_search_options const& options,
                              sparse_result_options const& results) const {
  if (k == 0) throw usage_error("k: found 0, expected at least 1");
  if (!text_collection::searches_parts(options.engine))
    throw usage_error(fmt::format("engine {} of an index in parts, expected tiles or mt",
                                  name_of(options.engine)));
  context const alone = without_processes(ctx);
  std::lock_guard const one(state_->one_search);
  state_->prepare(alone, options);
  state_->collection.set_queries(queries, "queries", results);
  return state_->collection.nearest(alone, {0, queries.size()}, std::min(k, size()));
}

}  // namespace rulerank::knn
