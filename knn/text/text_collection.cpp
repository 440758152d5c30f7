#include "knn/text/text_collection.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/input/text_source.hpp"
#include "knn/index_parts.hpp"
#include "knn/text/text_index_part.hpp"

#include <cmath>
#include <mutex>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

struct text_collection::kept_searchers {
  std::mutex making{};
  sparse_search_options options{};
  std::vector<int> devices{};
  sparse_searchers kept{};
};

namespace {

std::shared_ptr<text_index const> shared(text_index index) {
  return std::make_shared<text_index const>(std::move(index));
}

}  // namespace

text_collection::text_collection() : kept_(std::make_shared<kept_searchers>()) {}

void text_collection::add(std::shared_ptr<text_index const> index) {
  parts_.push_back({static_cast<std::size_t>(index->first_document()), index->ids().size()});
  postings_ += index->index().postings();
  indexes_.push_back(std::move(index));
}

text_collection::text_collection(text_index whole) : text_collection(shared(std::move(whole))) {}

text_collection::text_collection(std::shared_ptr<text_index const> whole) : text_collection() {
  add(std::move(whole));
  items_ = parts_.front().size;
}

text_collection text_collection::open(context const& ctx, std::string const& path, bool is_split) {
  if (!is_index_in_parts(path)) return text_collection(text_index::open(ctx, path));
  text_collection opened;
  opened.open_parts(ctx, read_index_parts(path, "text"), is_split, [&](index_part const& part) {
    opened.add(shared(text_index_part::open(ctx, part.path)));
  });
  if (is_split) opened.postings_ = sum(*ctx.processes, opened.postings_);
  return opened;
}

text_collection text_collection::build(context const& ctx, std::string const& collection,
                                       text_index_options const& options, std::string const& index,
                                       text_index_timings& timings) {
  if (index.empty()) {
    text_collection built(text_index::build(ctx, collection, options));
    timings = built.first_index().timings();
    return built;
  }
  output_file file(index);
  timings = text_index::build(ctx, collection, options, file);
  file.commit();
  return open(ctx, index);
}

text_collection text_collection::build_part(context const& ctx, std::string const& collection,
                                            text_index_options const& options,
                                            std::string const& index) {
  process_group const& group = *ctx.processes;
  if (index.empty()) {
    text_collection built;
    built.is_split_ = true;
    built.add(shared(text_index_part::build(ctx, collection, options, group)));
    built.items_ = built.first_index().statistics().documents;
    built.postings_ = sum(group, built.postings_);
    return built;
  }
  std::string const path = path_of_part(index, static_cast<std::size_t>(group.rank()));
  {
    output_file file(path);
    text_index_part::build(ctx, collection, options, group, file);
    group.gather({});  // either all processes have written their files, or no file is replaced
    file.commit();
  }
  write_index_parts(group, index, "text", text_index_part::open(ctx, path).ids().size());
  return open(ctx, index, true);
}

std::vector<std::string> text_collection::labels(context const& ctx) const {
  std::vector<std::pair<std::uint64_t, std::string>> all;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (std::size_t d = 0; d < parts_[p].size; ++d)
      all.emplace_back(parts_[p].first + d, indexes_[p]->label(d));
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

sparse_searchers text_collection::searchers(context const& ctx, searcher_maker const& make) const {
  sparse_searchers made;
  for (auto const& part : indexes_)
    made.push_back(std::make_shared<sparse_searcher const>(make(ctx, part->index())));
  return made;
}

sparse_searchers text_collection::searchers(context const& ctx,
                                            sparse_search_options const& options) const {
  if (!is_whole()) expect_parts_engine(options.engine);
  kept_searchers& own = *kept_;
  std::lock_guard const alone(own.making);
  if (own.kept.empty() || own.options != options || own.devices != ctx.devices) {
    own.kept.clear();  // frees the old ones first, since memory may not hold both
    own.kept = searchers(ctx, [&](context const& on, sparse_index const& part) {
      return sparse_searcher(on, part, options);
    });
    own.options = options;
    own.devices = ctx.devices;
  }
  return own.kept;
}

std::optional<std::string> text_collection::id_of(std::uint32_t document) const {
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (document >= parts_[p].first && document - parts_[p].first < parts_[p].size)
      return std::string(indexes_[p]->ids()[document - parts_[p].first]);
  return std::nullopt;
}

datasets::text_format query_format(text_index const& index, std::string_view option,
                                   datasets::text_format asked) {
  using enum datasets::text_format;
  if (holds_vectors(index.options())) {
    if (asked != svmlight && asked != automatic)
      throw usage_error(fmt::format("{}: the index holds vectors, expected svmlight", option));
    return svmlight;
  }
  if (asked == svmlight)
    throw usage_error(fmt::format(
        "{}: found 'svmlight', but the index holds words; expected the format of the queries",
        option));
  return asked;
}

namespace {

/// Throws `error` naming a query with a weight that a search does not support.
void expect_weights(sparse_rows const& rows, std::span<datasets::text_document const> queries,
                    std::string const& name) {
  for (std::size_t q = 0; q < rows.size(); ++q)
    for (double const weight : rows[q].weight)
      if (std::abs(weight) > largest_weight)
        throw error(
            {datasets::display_name(name), 0, 0},
            fmt::format("found a value of query {} whose tf-idf weight is {}, expected at most {}",
                        rulerank::quoted(queries[q].id), weight, largest_weight));
}

sparse_search::query_weights text_weights(text_collection const& documents,
                                          std::span<datasets::text_document const> queries,
                                          std::string name) {
  // Vectors are never in parts, so all processes without parts give the same answer.
  bool const has_vectors =
      documents.has_parts() && holds_vectors(documents.first_index().options());
  auto const of = [&documents, queries, name = std::move(name)](context const& ctx,
                                                                index_range some) {
    auto const texts = queries.subspan(some.begin, some.size());
    sparse_matrix weights = documents.first_index().queries(ctx, texts);
    expect_weights(weights, texts, name);
    return weights;
  };
  return {queries.size(), of, has_vectors};
}

}  // namespace

text_search::text_search(text_collection const& documents, sparse_searchers searchers,
                         std::span<datasets::text_document const> queries, std::string name,
                         sparse_result_options const& results)
    : sparse_search(documents, std::move(searchers),
                    text_weights(documents, queries, std::move(name)), results) {}

namespace {

std::unique_ptr<searcher> searcher_of(context const& ctx, text_collection documents,
                                      std::span<datasets::text_document const> queries,
                                      sparse_search_options const& options,
                                      sparse_result_options const& results) {
  sparse_search::query_weights weights{queries.size(), {}, false};
  if (documents.has_parts()) {  // a process without parts has no terms
    text_index const& index = documents.first_index();
    weights = sparse_search::weights_of(index.queries(ctx, queries));
    weights.may_be_negative = holds_vectors(index.options());  // never in parts
  }
  auto searchers = documents.searchers(ctx, options);
  return std::make_unique<owning_search<text_collection, sparse_search>>(
      std::move(documents), std::move(searchers), std::move(weights), results);
}

}  // namespace

std::unique_ptr<searcher> make_searcher(context const& ctx, std::shared_ptr<text_index const> index,
                                        std::span<datasets::text_document const> queries,
                                        sparse_search_options const& options,
                                        sparse_result_options const& results) {
  return searcher_of(ctx, text_collection(std::move(index)), queries, options, results);
}

std::unique_ptr<searcher> make_searcher(context const& ctx, std::string const& index_file,
                                        std::span<datasets::text_document const> queries,
                                        sparse_search_options const& options,
                                        sparse_result_options const& results, bool is_split) {
  return searcher_of(ctx, text_collection::open(ctx, index_file, is_split), queries, options,
                     results);
}

}  // namespace rulerank::knn
