#include "mpi/split.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rulerank::mpi {

std::vector<int> devices_of_rank(std::vector<int> const& devices, int rank_here, int size_here) {
  if (devices.empty()) return {};
  share const mine = share_of(devices.size(), static_cast<std::size_t>(size_here),
                              static_cast<std::size_t>(rank_here));
  if (mine.size() == 0) return {devices[static_cast<std::size_t>(rank_here) % devices.size()]};
  return {devices.begin() + static_cast<std::ptrdiff_t>(mine.begin),
          devices.begin() + static_cast<std::ptrdiff_t>(mine.end)};
}

knn::sparse_rows rows_of(knn::sparse_rows const& all, share some) {
  return {all.begin.subspan(some.begin, some.size() + 1), all.term, all.weight, all.terms};
}

std::vector<share> factored_shares(std::size_t n, std::size_t parts, std::size_t least) {
  std::vector<share> shares;
  std::size_t at = 0, size = 0;
  while (at < n) {
    if (shares.size() % parts == 0)
      size = std::max({(n - at) / (2 * parts), least, std::size_t{1}});
    std::size_t const end = std::min(at + size, n);
    shares.push_back({at, end});
    at = end;
  }
  return shares;
}

knn::neighbours joined(std::vector<knn::neighbours> parts) {
  // Parts that are empty come last, and know neither k nor the order.
  knn::neighbours all = std::move(parts.front());
  for (auto part = parts.begin() + 1; part != parts.end(); ++part) {
    all.queries += part->queries;
    all.id.insert(all.id.end(), part->id.begin(), part->id.end());
    all.value.insert(all.value.end(), part->value.begin(), part->value.end());
  }
  return all;
}

knn::neighbours search(communicator const& ranks, std::size_t queries,
                       std::function<knn::neighbours(share)> const& search) {
  share const mine = own_share(ranks, queries);
  knn::neighbours found;
  if (ranks.size() == 1 || mine.size() > 0) found = search(mine);
  if (ranks.size() == 1) return found;
  knn::neighbours all = joined(gather_values(ranks, found));
  all.search_s = found.search_s;
  return all;
}

std::uint64_t sum(communicator const& ranks, std::uint64_t mine) {
  auto const all = gather_values(ranks, mine);
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

}  // namespace rulerank::mpi
