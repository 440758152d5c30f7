#include "cluster/split.hpp"

#include "core/bytes.hpp"
#include "core/share.hpp"

#include <numeric>
#include <string>
#include <string_view>

namespace rulerank::cluster {

part part_of(std::size_t count, int rank, int size) {
  share const mine =
      share_of(count, static_cast<std::size_t>(size), static_cast<std::size_t>(rank));
  return {mine.begin, mine.end};
}

std::vector<int> devices_of_rank(std::vector<int> const& devices, int rank_here, int size_here) {
  if (devices.empty()) return {};
  part const mine = part_of(devices.size(), rank_here, size_here);
  if (mine.size() == 0) return {devices[static_cast<std::size_t>(rank_here) % devices.size()]};
  return {devices.begin() + static_cast<std::ptrdiff_t>(mine.begin),
          devices.begin() + static_cast<std::ptrdiff_t>(mine.end)};
}

knn::sparse_rows rows_of(knn::sparse_rows const& all, part some) {
  return {all.begin.subspan(some.begin, some.size() + 1), all.term, all.weight, all.terms};
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
