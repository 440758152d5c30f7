#include "apps/shared/search/query_candidates.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void query_arguments::add_to(CLI::App& verb) {
  {
    help_group const group(verb, "A query as text");
    value_option(verb, "--query TEXT", query,
                 "Query as text: rank the documents that a search finds in --collection");
  }
  add_collection_to(verb);
}

void query_arguments::add_collection_to(CLI::App& verb) {
  {
    help_group const group(verb, "A query as text");
    path_option(verb, "--collection FILE|FOLDER", pool.collection,
                "Documents to search, in a format that features reads");
    path_option(verb, "--index FILE", index,
                "Index of the collection that search text wrote, for the search");
    number_option(verb, "--candidates", pool.candidates, "Most documents to find and rank",
                  {1, std::size_t{1} << 31});
    add_stemmer_to(verb, pool.text.index.analyzer.stemmer,
                   "Language of the words, the one that features had");
  }
  pool.text.add_reading_to(verb);
}

bool query_arguments::given(CLI::App const& verb) const {
  return verb.count("--query") > 0 || !pool.collection.empty() || !index.empty();
}

void query_arguments::check(CLI::App const& verb) const {
  if (query.empty())
    throw usage_error(fmt::format("--query: found no words, expected some to search {} for",
                                  pool.collection.empty() ? "--index" : "--collection"));
  if (pool.collection.empty() && index.empty())
    throw usage_error("--query needs --collection, the documents");
  check_collection(verb);
}

void query_arguments::check_collection(CLI::App const& verb) const {
  if (pool.collection.empty())
    throw usage_error(
        "--index needs --collection here: features such as BM25_of_document "
        "need counts of words, which an index does not hold");
  if (!index.empty())
    expect_none_of(verb, {"--stemmer"},
                   "{} cannot be combined with --index, which sets how words become terms");
}

namespace {

/// Opens the collection from its index, and counts its fields.
features::pool_collection open_collection(session& owner, query_arguments const& arguments,
                                          knn::text_index_options const& options) {
  pool_arguments const& pool = arguments.pool;
  auto index = [&] {
    auto const timer = owner.stage("open");
    return knn::text_index::open(owner.ctx(), owner.input(arguments.index));
  }();
  if (knn::holds_vectors(index.options()))
    throw error({arguments.index, 1, 1}, "found an index of vectors, expected an index of words");
  auto const timer = owner.stage("count");
  auto fields = knn::count_fields(owner.ctx(), index, owner.input(pool.collection), options);
  auto const how = pool.options(index.options());
  // Checksums of texts are only needed in pool files; none is written here.
  std::vector<std::uint32_t> sums(index.ids().size());
  return {
      owner.ctx(), pool.collection, {std::move(index), std::move(fields), std::move(sums)}, how};
}

constexpr std::size_t most_title_bytes = 72;

/// The title of a document or its first words, on one line.
std::string title_of(datasets::text_document const& document) {
  std::string text;
  for (datasets::text_field const& field : document.fields)
    if (field.name == "title") text = field.text;
  for (auto field = document.fields.begin(); text.empty() && field != document.fields.end();
       ++field)
    text = field->text;
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  if (text.size() <= most_title_bytes) return text;
  std::size_t const end = text.rfind(' ', most_title_bytes);
  return text.substr(0, end == text.npos || end == 0 ? most_title_bytes : end) + " ...";
}

}  // namespace

features::pool_collection open_query_collection(session& owner, query_arguments& arguments) {
  knn::text_index_options const options = arguments.pool.index_options(owner);
  pool_inputs none;
  return arguments.index.empty() ? index_collection(owner, arguments.pool, options, none)
                                 : open_collection(owner, arguments, options);
}

std::vector<std::string> titles_of(session& owner, query_arguments& arguments,
                                   std::span<std::string const> ids) {
  knn::text_index_options const options = arguments.pool.index_options(owner);
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t d = 0; d < ids.size(); ++d) places.emplace(ids[d], d);
  std::vector<std::string> titles(ids.size());
  datasets::read_documents(
      owner.ctx(), arguments.pool.collection, options.format,
      [&](datasets::text_document&& document) {
        auto const place = places.find(document.id);
        if (place != places.end()) titles[place->second] = title_of(document);
      },
      options.reading);
  return titles;
}

query_candidates find_query_candidates(session& owner, query_arguments& arguments) {
  pool_arguments& pool = arguments.pool;
  auto const topics =
      features::make_topics({{"query", "", {{"text", arguments.query}}}}, "--query");
  features::pool_collection const collection = open_query_collection(owner, arguments);
  features::found_candidates const found = find_candidates(owner, pool, collection, topics);
  if (found.lists.front().empty())
    throw error({pool.collection, 1, 1},
                fmt::format("found no document with a word of the query '{}', stop words left out; "
                            "expected one at least",
                            arguments.query));
  query_candidates made;
  made.pairs = make_pairs(owner, collection, topics, found.lists,
                          {.most = pool.candidates, .name = "--query", .named_features = true});
  std::vector<std::string> ids;
  for (std::size_t d = 0; d < made.pairs.size(); ++d) ids.push_back(made.pairs.docid(d));
  made.titles = titles_of(owner, arguments, ids);
  return made;
}

}  // namespace rulerank::apps
