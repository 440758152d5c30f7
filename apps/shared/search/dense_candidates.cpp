#include "apps/shared/search/dense_candidates.hpp"

#include "apps/shared/arguments/text_arguments.hpp"
#include "apps/shared/options/options.hpp"
#include "apps/shared/session/device_rule.hpp"
#include "core/error.hpp"
#include "core/even_shares.hpp"
#include "knn/collection_parts.hpp"
#include "knn/dense/row_files.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

/// Throws `error` for a number of vectors that is another than what they are of.
void expect_one_each(datasets::vectors const& found, std::size_t expected,
                     std::string const& what) {
  if (found.size() != expected)
    throw error({found.name(), std::min(found.size(), expected) + 1, 0},
                fmt::format("found {}, expected one for each of {} {}",
                            counted(found.size(), "vector"), expected, what));
}

bool is_zero(datasets::vectors const& row) {
  return row.visit([](auto values) {
    return std::ranges::all_of(values, [](auto value) { return static_cast<float>(value) == 0; });
  });
}

/// Topics whose filters of documents take some 64 MB.
std::size_t topics_together(std::size_t words) {
  return std::clamp<std::size_t>((std::size_t{1} << 23) / std::max<std::size_t>(words, 1), 1, 4096);
}

}  // namespace

found_lists lists_of(knn::neighbours const& found) {
  found_lists lists(found.queries);
  for (std::size_t q = 0; q < found.queries; ++q)
    for (std::size_t i = 0; i < found.count_of(q); ++i)
      lists[q].push_back({found.ids_of(q)[i], run_score(found.order, found.values_of(q)[i])});
  return lists;
}

void dense_arguments::add_to(CLI::App& verb) {
  std::string const group = "Vectors";
  path_option(verb, "--vectors", vectors, "A vector for each document, in the collection's order")
      ->type_name("FILE")
      ->group(group);
  path_option(verb, "--topic-vectors", topic_vectors, "A vector for each topic, in their order")
      ->type_name("FILE")
      ->group(group);
  expect_words(
      verb,
      verb.add_option("--candidates-from", from,
                      "What finds the candidates; default: both with --vectors, else text"),
      {"text", "dense", "both"})
      ->group(group);
  word_option(verb, "--dense-metric", metric, {"cosine", "ip", "l2"},
              "What makes vectors near, in the search and as a feature")
      ->group(group);
  fusion.add_to(verb, "--fusion", "--fusion-norm");
}

void dense_arguments::check(CLI::App const& verb) const {
  if (vectors.empty() != topic_vectors.empty())
    throw usage_error(vectors.empty() ? "--topic-vectors without --vectors"
                                      : "--vectors without --topic-vectors");
  if (!given())
    for (char const* const name : {"--candidates-from", "--dense-metric"})
      if (verb.count(name) > 0) throw usage_error(fmt::format("{} without --vectors", name));
  if (!by_text() || !by_vectors())
    for (char const* const name : {"--fusion", "--fusion-norm", "--rrf-k", "--run-weights"})
      if (verb.count(name) > 0)
        throw usage_error(fmt::format("{} without --candidates-from both", name));
  auto const options = fusion.options(verb);
  if (!options.weights.empty() && options.weights.size() != 2)
    throw usage_error(fmt::format("--run-weights: found {}, expected two, of text and of vectors",
                                  counted(options.weights.size(), "number")));
}

std::vector<session::named_input> dense_arguments::inputs() const {
  return {{"--vectors", vectors}, {"--topic-vectors", topic_vectors}};
}

std::string dense_arguments::feature() const {
  return metric == "l2" ? "minus dense l2" : "dense " + metric;
}

dense_candidates::dense_candidates(session& owner, dense_arguments const& arguments,
                                   std::size_t topics)
    : metric_(knn::dense_similarity_from(arguments.metric)),
      documents_(knn::read_search_vectors(owner.ctx(), owner.input(arguments.vectors))),
      topics_(knn::read_search_vectors(owner.ctx(), owner.input(arguments.topic_vectors))) {
  expect_one_each(topics_, topics, "topics");
  if (topics_.dimensions() != documents_.dimensions())
    throw error({topics_.name(), 1, 0}, fmt::format("found {}, expected {} as in {}",
                                                    counted(topics_.dimensions(), "dimension"),
                                                    documents_.dimensions(), documents_.name()));
}

double dense_candidates::search_seconds() const {
  return dense_search_seconds(static_cast<double>(documents_.size()),
                              static_cast<double>(documents_.dimensions()),
                              static_cast<double>(topics_.size()));
}

void dense_candidates::prepare(session& owner, std::size_t documents,
                               std::string const& collection) {
  expect_one_each(documents_, documents, fmt::format("documents of {}", collection));
  index_.emplace(owner.ctx(), documents_, knn::dense_index_options{.metric = metric_});
}

found_lists dense_candidates::search(session& owner, std::size_t k) const {
  found_lists lists = lists_of(knn::search_evenly(owner.ranks(), topics_.size(), [&](share some) {
    return index_->search(owner.ctx(), topics_.rows(some.begin, some.size()),
                          std::min(k, documents_.size()));
  }));
  if (metric_ != knn::similarity::l2)
    for (std::size_t q = 0; q < lists.size(); ++q)
      if (is_zero(topics_.rows(q, 1))) lists[q].clear();
  return lists;
}

std::vector<double> dense_candidates::similarities(context const& ctx,
                                                   std::span<std::uint64_t const> begin,
                                                   std::span<std::uint32_t const> documents) const {
  std::vector<double> values(documents.size());
  std::size_t const words = (documents_.size() + 63) / 64;
  std::size_t const together = topics_together(words);
  std::vector<std::uint64_t> filters;
  std::unordered_map<std::uint32_t, double> of_document;
  for (std::size_t first = 0; first < topics_.size(); first += together) {
    std::size_t const count = std::min(together, topics_.size() - first);
    filters.assign(count * words, 0);
    std::size_t k = 1;
    for (std::size_t q = 0; q < count; ++q) {
      k = std::max<std::size_t>(k, begin[first + q + 1] - begin[first + q]);
      for (std::size_t i = begin[first + q]; i < begin[first + q + 1]; ++i)
        filters[q * words + documents[i] / 64] |= std::uint64_t{1} << (documents[i] % 64);
    }
    auto const found = lists_of(index_->search(ctx, topics_.rows(first, count), k, {{}, filters}));
    for (std::size_t q = 0; q < count; ++q) {
      of_document.clear();
      for (auto const& [document, score] : found[q]) of_document[document] = score;
      for (std::size_t i = begin[first + q]; i < begin[first + q + 1]; ++i)
        values[i] = of_document.at(documents[i]);
    }
  }
  return values;
}

}  // namespace rulerank::apps
