#include "knn/text/text_collection.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/text_source.hpp"
#include "knn/index_parts.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/text/text_index_part.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <span>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

struct text_collection::kept_searchers {
  std::mutex making{};
  sparse_search_options options{};
  std::vector<int> devices{};
  std::shared_ptr<text_searchers const> kept{};
};

text_collection::text_collection() : kept_(std::make_shared<kept_searchers>()) {}

bool text_collection::searches_parts(sparse_engine engine) {
  if (engine == sparse_engine::automatic) return true;
  return find_engine(sparse_engines(), engine) != nullptr &&
         registered_sparse_engines().maker_of(engine).gives_definition;
}

std::string text_collection::engines_of_parts() {
  std::string names;
  for (sparse_engine_info const& one : sparse_engines())
    if (searches_parts(one.which)) names.append(names.empty() ? "" : " or ").append(one.name);
  return names;
}

void text_collection::add(text_index index) {
  parts_.push_back({static_cast<std::size_t>(index.first_document()), index.ids().size()});
  postings_ += index.index().postings();
  indexes_.push_back(std::move(index));
}

text_collection::text_collection(text_index whole) : text_collection() {
  add(std::move(whole));
  items_ = parts_.front().size;
}

text_collection text_collection::open(context const& ctx, std::string const& path) {
  if (is_index_in_parts(path)) return open_parts(ctx, path, false);
  return text_collection(text_index::open(ctx, path));
}

text_collection text_collection::open_parts(context const& ctx, std::string const& path,
                                            bool is_split) {
  text_collection opened;
  opened.item_collection::open_parts(
      ctx, read_index_parts(path, "text"), is_split,
      [&](index_part const& part) { opened.add(text_index_part::open(ctx, part.path)); });
  if (is_split) opened.postings_ = sum(*ctx.processes, opened.postings_);
  return opened;
}

text_collection text_collection::build_part(context const& ctx, std::string const& collection,
                                            text_index_options const& options) {
  text_collection built;
  built.is_split_ = true;
  built.add(text_index_part::build(ctx, collection, options, *ctx.processes));
  built.items_ = built.first_index().statistics().documents;
  built.postings_ = sum(*ctx.processes, built.postings_);
  return built;
}

text_collection text_collection::build_part(context const& ctx, std::string const& collection,
                                            text_index_options const& options,
                                            std::string const& index) {
  process_group const& group = *ctx.processes;
  std::string const path = path_of_part(index, static_cast<std::size_t>(group.rank()));
  {
    output_file file(path);
    text_index_part::build(ctx, collection, options, group, file);
    group.gather({});  // either all processes have written their files, or no file is replaced
    file.commit();
  }
  write_index_parts(group, index, "text", text_index_part::open(ctx, path).ids().size());
  return open_parts(ctx, index, true);
}

std::vector<std::string> text_collection::labels(context const& ctx) const {
  std::vector<std::pair<std::uint64_t, std::string>> all;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (std::size_t d = 0; d < parts_[p].size; ++d)
      all.emplace_back(parts_[p].first + d, indexes_[p].label(d));
  if (is_split_) all = join(*ctx.processes, all);
  std::vector<std::string> labels(items_);
  for (auto& [document, label] : all) labels[document] = std::move(label);
  return labels;
}

void text_collection::save(context const& ctx, std::string const& path) const {
  save_index(ctx, path, "text", [&](std::string const& to) {
    std::span<std::byte const> const bytes = first_index().bytes();
    write_file(to, {reinterpret_cast<char const*>(bytes.data()), bytes.size()});
  });
}

std::shared_ptr<text_searchers const> text_collection::searchers(context const& ctx,
                                                                 searcher_maker const& make) const {
  auto const made = std::make_shared<text_searchers>();
  for (text_index const& part : indexes_) made->push_back(make(ctx, part.index()));
  return made;
}

std::shared_ptr<text_searchers const> text_collection::searchers(
    context const& ctx, sparse_search_options const& options) const {
  if (!is_whole() && !searches_parts(options.engine))
    throw usage_error(fmt::format("engine {} cannot search an index in parts, expected {}",
                                  name_of(options.engine), engines_of_parts()));
  kept_searchers& own = *kept_;
  std::lock_guard const alone(own.making);
  if (own.kept == nullptr || own.options != options || own.devices != ctx.devices) {
    own.kept = nullptr;  // frees the old ones first, since memory may not hold both
    own.kept = searchers(ctx, [&](context const& on, sparse_index const& part) {
      return sparse_searcher(on, part, options);
    });
    own.options = options;
    own.devices = ctx.devices;
  }
  return own.kept;
}

text_search::text_search(text_collection const& documents,
                         std::shared_ptr<text_searchers const> searchers,
                         std::span<datasets::text_document const> queries, std::string name,
                         sparse_result_options const& results)
    : searched_collection(documents),
      documents_(documents),
      searchers_(std::move(searchers)),
      queries_(queries),
      name_(std::move(name)),
      results_(results) {}

batch_limits text_search::limits(context const& ctx) const {
  // A search processes many queries of a thread with one tile.
  return {.dealt_neighbours = std::size_t{1} << 21,
          .most = ctx.devices.empty() ? std::size_t{4096} : std::size_t{1} << 16,
          .least_share = 64 * static_cast<std::size_t>(ctx.thread_count())};
}

sparse_matrix text_search::weights_of(context const& ctx, index_range queries) const {
  auto const some = queries_.subspan(queries.begin, queries.size());
  sparse_matrix matrix = documents_.first_index().queries(ctx, some);
  sparse_rows const rows = matrix;
  for (std::size_t q = 0; q < rows.size(); ++q)
    for (double const weight : rows[q].weight)
      if (std::abs(weight) > largest_weight)
        throw error(
            {datasets::display_name(name_), 0, 0},
            fmt::format("found a value of query {} whose tf-idf weight is {}, expected at most {}",
                        rulerank::quoted(some[q].id), weight, largest_weight));
  return matrix;
}

std::optional<std::string> text_collection::id_of(std::uint32_t document) const {
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (document >= parts_[p].first && document - parts_[p].first < parts_[p].size)
      return std::string(indexes_[p].ids()[document - parts_[p].first]);
  return std::nullopt;
}

neighbours text_search::nearest_of_whole(context const& ctx, index_range queries,
                                         std::size_t k) const {
  return searchers_->front().search(ctx, weights_of(ctx, queries), k, results_);
}

bool text_search::has_no_more(value_order order) const {
  // Vectors are never in parts, so all processes without parts give the same answer.
  bool const has_vectors = has_parts() && holds_vectors(documents_.first_index().options());
  return results_.pad || (order == value_order::larger_is_nearer && !has_vectors);
}

neighbours text_search::nearest_in_filter(context const& ctx, index_range queries,
                                          std::size_t k) const {
  text_search const matching(documents_, searchers_, queries_, name_, results_);
  auto const order = matching.nearest(ctx, {queries.begin, queries.begin}, 1).order;
  if (has_no_more(order)) return searched_collection::nearest_in_filter(ctx, queries, k);
  text_search padded(documents_, searchers_, queries_, name_, {.pad = true});
  padded.keep_only(filter());
  neighbours found = padded.nearest(ctx, queries, k);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    std::size_t const count = found.count_of(q);
    if (count == 0) continue;
    std::size_t const query = queries.begin + q;
    auto const ids = std::span(found.id).subspan(q * k, k);
    auto const values = std::span(found.value).subspan(q * k, k);
    auto const matches = matching.within(ctx, {query, query + 1}, values[count - 1]).row;
    std::unordered_set<std::uint32_t> const is_match(matches.begin(), matches.end());
    std::size_t left = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (is_match.contains(ids[i])) {
        ids[left] = ids[i];
        values[left++] = values[i];
      }
    std::ranges::fill(ids.subspan(left), no_neighbour);
    std::ranges::fill(values.subspan(left), 0);
  }
  return found;
}

std::vector<part_neighbours> text_search::nearest_of_parts(context const& ctx, index_range queries,
                                                           std::size_t k) const {
  std::vector<part_neighbours> found;
  if (!has_parts()) return found;  // a process without parts has no terms
  sparse_matrix const weights = weights_of(ctx, queries);
  for (sparse_searcher const& part : *searchers_)
    found.push_back(sparse_searcher_access::search_part(part, ctx, weights, k, results_));
  return found;
}

}  // namespace rulerank::knn
