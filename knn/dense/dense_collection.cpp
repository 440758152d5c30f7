#include "knn/dense/dense_collection.hpp"

#include "core/error.hpp"
#include "core/sha256.hpp"
#include "knn/collection_parts.hpp"
#include "knn/dense/engine.hpp"

#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

void expect_parts_engine(dense_engine engine) {
  if (!dense_collection::searches_parts(engine))
    throw usage_error(
        fmt::format("engine {} cannot search an index in parts, expected flat", name_of(engine)));
}

}  // namespace

dense_rows_part read_dense_rows(context const& ctx, std::string const& path,
                                datasets::vectors_format format, std::string const& ids,
                                bool is_split) {
  auto const rank = is_split ? static_cast<std::size_t>(ctx.processes->rank()) : 0;
  auto const size = is_split ? static_cast<std::size_t>(ctx.processes->size()) : 1;
  dense_rows_part read{read_search_rows(ctx, path, rank, size, format), {}};
  datasets::vectors_part const& part = read.part;
  if (part.of_file >= no_neighbour)
    throw usage_error(fmt::format("{}: found {}, expected fewer than {}", path,
                                  counted(part.of_file, "row"), no_neighbour));
  if (ids.empty()) return read;
  auto const all = row_ids(ctx, ids, part.of_file, "rows").numbers(ids);
  auto const begin = all.begin() + static_cast<std::ptrdiff_t>(part.first);
  read.ids.assign(begin, begin + static_cast<std::ptrdiff_t>(part.rows.size()));
  return read;
}

bool dense_collection::searches_parts(dense_engine engine) {
  if (engine == dense_engine::automatic) return true;
  return find_engine(dense_engines(), engine) != nullptr &&
         registered_dense_engines().maker_of(engine).gives_definition;
}

dense_collection::dense_collection(dense_index whole) {
  add(0, std::move(whole));
  items_ = parts_.front().size;
}

void dense_collection::add(std::size_t first, dense_index index) {
  parts_.push_back({first, index.size()});
  has_ids_ = has_ids_ || index.has_ids();
  indexes_.push_back(std::make_shared<dense_index const>(std::move(index)));
}

dense_collection dense_collection::open(context const& ctx, std::string const& path,
                                        dense_engine engine, bool is_split) {
  if (is_index_in_parts(path))
    return open_parts(ctx, read_index_parts(path, "dense"), engine, is_split);
  return dense_collection(dense_index::open(ctx, path, engine));
}

double dense_collection::expected_values(context const& ctx, std::string const& path,
                                         bool is_split) {
  std::vector<std::string> files{path};
  if (is_index_in_parts(path)) {
    files.clear();
    for (index_part const& part : parts_here(ctx, read_index_parts(path, "dense"), is_split))
      files.push_back(part.path);
  }
  double bytes = 0;
  for (std::string const& file : files) bytes += static_cast<double>(file_state_of(file).size);
  return bytes / sizeof(float);
}

dense_collection::dense_collection(context const& ctx,
                                   std::vector<std::shared_ptr<dense_index const>> parts,
                                   bool is_split)
    : indexes_(std::move(parts)) {
  for (auto const& index : indexes_) {
    if (is_split || indexes_.size() > 1) expect_parts_engine(index->engine());
    parts_.push_back({0, index->size()});
    has_ids_ = has_ids_ || index->has_ids();
  }
  number_parts(ctx, is_split);
  if (is_split_) has_ids_ = sum(*ctx.processes, has_ids_ ? 1 : 0) > 0;
}

dense_collection dense_collection::open_parts(context const& ctx, index_parts const& all,
                                              dense_engine engine, bool is_split) {
  expect_parts_engine(engine);
  dense_collection opened;
  opened.item_collection::open_parts(ctx, all, is_split, [&](index_part const& part) {
    opened.add(part.first, dense_index::open(ctx, part.path, engine));
  });
  if (is_split) opened.has_ids_ = sum(*ctx.processes, opened.has_ids_ ? 1 : 0) > 0;
  return opened;
}

dense_collection::dense_collection(context const& ctx, datasets::vectors_part part, bool is_split,
                                   dense_index_options const& options,
                                   std::vector<std::int64_t> ids) {
  items_ = part.of_file;
  is_split_ = is_split;
  bool const has_ids = !ids.empty();
  add(part.first, dense_index(ctx, std::move(part.rows), options, std::move(ids)));
  if (is_split) has_ids_ = sum(*ctx.processes, has_ids ? 1 : 0) > 0;
}

void dense_collection::save(context const& ctx, std::string const& path) const {
  save_index(ctx, path, "dense", [&](std::string const& to) { first_index().save(ctx, to); });
}

std::optional<std::string> dense_collection::id_of(std::uint32_t row) const {
  if (!names_.empty()) return names_.of(row);
  if (!has_ids_) return std::to_string(row);
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (row >= parts_[p].first && row - parts_[p].first < parts_[p].size)
      return std::to_string(indexes_[p]->has_ids() ? indexes_[p]->id_of(static_cast<std::uint32_t>(
                                                         row - parts_[p].first))
                                                   : std::int64_t{row});
  return std::nullopt;
}

dense_search_work work_of_all(context const& ctx, dense_search_work work) {
  if (!has_processes(ctx)) return work;
  for (std::uint64_t* const count : {&work.recomputed, &work.widened})
    *count = sum(*ctx.processes, *count);
  // A process without work may lack names that others have.
  auto const all = gather_values(*ctx.processes, std::exchange(work.counts, {}));
  for (engine_counts const& counts : all) add(work.counts, counts);
  return work;
}

bool dense_search::has_even_shares() const {
  return has_parts() &&
         registered_dense_engines().maker_of(rows_.first_index().engine()).has_even_shares;
}

batch_limits dense_search::limits(context const& ctx) const {
  // With fewer queries in a batch, each would take `flat` longer, because it reads all rows once
  // per group of queries.
  if (ctx.devices.empty()) return {.most_in_range = 256, .least_share = 128};
  return {.most = std::size_t{1} << 16, .most_in_range = 4096};
}

neighbours dense_search::nearest_of_whole(context const& ctx, index_range queries,
                                          std::size_t k) const {
  auto const search = [&](index_range some) {
    index_range const own{queries.begin + some.begin, queries.begin + some.end};
    return rows_.first_index().search(ctx, queries_.rows(own.begin, own.size()), k, {filter(), {}},
                                      work_);
  };
  if (has_even_shares() && has_processes(ctx))
    return search_evenly(*ctx.processes, queries.size(), search);
  return search({0, queries.size()});
}

std::vector<part_neighbours> dense_search::nearest_of_parts(context const& ctx, index_range queries,
                                                            std::size_t k) const {
  auto const asked = queries_.rows(queries.begin, queries.size());
  std::vector<part_neighbours> found;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    auto const bits = bits_of(filter(), parts_[p].first, parts_[p].first + parts_[p].size);
    found.push_back(dense_index_access::search_part(
        *rows_.indexes_[p], ctx, asked, neighbours_in(parts_[p], k), {bits, {}}, work_));
  }
  return found;
}

rows_in_range dense_search::within_whole(context const& ctx, index_range queries,
                                         double radius) const {
  return rows_.first_index().search_range(ctx, queries_.rows(queries.begin, queries.size()), radius,
                                          {filter(), {}}, work_);
}

std::vector<part_rows_in_range> dense_search::within_parts(context const& ctx, index_range queries,
                                                           double radius) const {
  auto const asked = queries_.rows(queries.begin, queries.size());
  std::vector<part_rows_in_range> found;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    auto const bits = bits_of(filter(), parts_[p].first, parts_[p].first + parts_[p].size);
    found.push_back(dense_index_access::search_range_part(*rows_.indexes_[p], ctx, asked, radius,
                                                          {bits, {}}, work_));
  }
  return found;
}

std::unique_ptr<searcher> make_searcher(context const& ctx,
                                        std::vector<std::shared_ptr<dense_index const>> parts,
                                        datasets::vectors queries, bool is_split,
                                        dense_search_work* work) {
  return std::make_unique<owning_search<dense_collection, dense_search>>(
      dense_collection(ctx, std::move(parts), is_split), std::move(queries), work);
}

}  // namespace rulerank::knn
