#include "cluster/split.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>

namespace rulerank::cluster {
namespace {

// Ranks are processes of one program on machines of one kind: values travel as they are in memory.

template <class Value>
void put(std::string& bytes, Value value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  bytes.append(reinterpret_cast<char const*>(&value), sizeof(value));
}

template <class Value>
void put(std::string& bytes, std::vector<Value> const& values) {
  put(bytes, values.size());
  bytes.append(reinterpret_cast<char const*>(values.data()), values.size() * sizeof(Value));
}

template <class Value>
void take(std::string_view& bytes, Value& value) {
  std::memcpy(&value, bytes.data(), sizeof(value));
  bytes.remove_prefix(sizeof(value));
}

/// Behind those that are there.
template <class Value>
void take(std::string_view& bytes, std::vector<Value>& values) {
  std::size_t count = 0;
  take(bytes, count);
  std::size_t const before = values.size();
  values.resize(before + count);
  if (count == 0) return;
  std::memcpy(values.data() + before, bytes.data(), count * sizeof(Value));
  bytes.remove_prefix(count * sizeof(Value));
}

std::vector<std::size_t> documents_of(std::vector<datasets::query_group> const& queries,
                                      part some) {
  std::size_t const begin = queries[some.begin].begin;
  std::vector<std::size_t> documents(queries[some.end - 1].end - begin);
  std::iota(documents.begin(), documents.end(), begin);
  return documents;
}

}  // namespace

part part_of(std::size_t count, int rank, int size) {
  auto const ranks = static_cast<std::size_t>(size);
  // The first `count % ranks` ranks have one more.
  auto const begin = [&](std::size_t r) { return count / ranks * r + std::min(r, count % ranks); };
  auto const r = static_cast<std::size_t>(rank);
  return {begin(r), begin(r + 1)};
}

part part_of(std::vector<datasets::query_group> const& queries, int rank, int size) {
  std::size_t const documents = queries.empty() ? 0 : queries.back().end;
  part const share = part_of(documents, rank, size);
  auto const first_from = [&](std::size_t document) {
    auto const at = std::ranges::lower_bound(queries, document, {}, &datasets::query_group::begin);
    return static_cast<std::size_t>(at - queries.begin());
  };
  return {first_from(share.begin), first_from(share.end)};
}

l2r::scored score(communicator const& ranks, context const& ctx, l2r::scorer const& scorer,
                  datasets::dataset const& documents) {
  if (ranks.size() == 1) return scorer.score(ctx, documents);
  part const mine = part_of(documents.queries, ranks.rank(), ranks.size());
  l2r::scored result;
  if (mine.size() > 0)
    result = scorer.score(ctx, subset(documents, documents_of(documents.queries, mine)));
  std::string bytes;
  put(bytes, result.cache_hits);
  put(bytes, result.cache_misses);
  put(bytes, result.prefix_lookups);
  put(bytes, result.scores);
  result.cache_hits = result.cache_misses = result.prefix_lookups = 0;
  result.scores.clear();
  result.scores.reserve(documents.size());
  for (std::string_view of_rank : ranks.gather(bytes)) {
    for (std::uint64_t* const total :
         {&result.cache_hits, &result.cache_misses, &result.prefix_lookups}) {
      std::uint64_t count = 0;
      take(of_rank, count);
      *total += count;
    }
    take(of_rank, result.scores);
  }
  return result;
}

knn::neighbours search(communicator const& ranks, std::size_t queries,
                       std::function<knn::neighbours(part)> const& search) {
  part const mine = part_of(queries, ranks.rank(), ranks.size());
  knn::neighbours all;
  if (ranks.size() == 1 || mine.size() > 0) all = search(mine);
  if (ranks.size() == 1) return all;
  std::string bytes;
  put(bytes, all.k);
  put(bytes, all.order);
  put(bytes, all.id);
  put(bytes, all.value);
  all.queries = queries;
  all.id.clear();
  all.value.clear();
  auto const of_ranks = ranks.gather(bytes);
  // Parts that are empty come last, and know neither k nor the order.
  std::string_view first = of_ranks.front();
  take(first, all.k);
  take(first, all.order);
  for (std::string_view of_rank : of_ranks) {
    of_rank.remove_prefix(sizeof(all.k) + sizeof(all.order));
    take(of_rank, all.id);
    take(of_rank, all.value);
  }
  return all;
}

knn::rows_in_range search_range(communicator const& ranks, std::size_t queries,
                                std::function<knn::rows_in_range(part)> const& search) {
  part const mine = part_of(queries, ranks.rank(), ranks.size());
  knn::rows_in_range all;
  all.begin = {0};
  if (ranks.size() == 1 || mine.size() > 0) all = search(mine);
  if (ranks.size() == 1) return all;
  std::string bytes;
  put(bytes, all.order);
  put(bytes, all.begin);
  put(bytes, all.row);
  put(bytes, all.value);
  all.begin = {0};
  all.row.clear();
  all.value.clear();
  auto const of_ranks = ranks.gather(bytes);
  std::string_view first = of_ranks.front();
  take(first, all.order);
  for (std::string_view of_rank : of_ranks) {
    of_rank.remove_prefix(sizeof(all.order));
    std::vector<std::uint64_t> begin;
    take(of_rank, begin);
    std::uint64_t const before = all.begin.back();
    for (std::size_t q = 1; q < begin.size(); ++q) all.begin.push_back(before + begin[q]);
    take(of_rank, all.row);
    take(of_rank, all.value);
  }
  return all;
}

std::vector<std::uint64_t> join(communicator const& ranks, std::vector<std::uint64_t> const& mine) {
  std::string bytes;
  put(bytes, mine);
  std::vector<std::uint64_t> all;
  for (std::string_view of_rank : ranks.gather(bytes)) take(of_rank, all);
  return all;
}

std::uint64_t sum(communicator const& ranks, std::uint64_t mine) {
  auto const all = join(ranks, {mine});
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

}  // namespace rulerank::cluster
