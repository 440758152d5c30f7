#include "mpi/collection_split.hpp"

#include "core/machine.hpp"
#include "core/named_values.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include <unistd.h>

namespace rulerank::mpi {

namespace {

constexpr std::array<std::string_view, 3> ways{"auto", "queries", "collection"};

/// An item of a part's list.
struct entry {
  double key = 0;
  double value = 0;
  std::uint32_t id = 0;
  bool is_match = true;
};

/// A process, and the memory that it has and would take.
struct process {
  std::string host;
  std::uint64_t free = 0, bytes = 0;
  static auto members_of(auto& one) { return std::tie(one.host, one.free, one.bytes); }
};

/// Leaves so many, the nearest first, equally near ones by rising number.
void keep_nearest(std::vector<entry>& entries, knn::value_order order, std::size_t most) {
  auto const is_nearer = [order](entry const& a, entry const& b) {
    if (a.key == b.key) return a.id < b.id;
    return order == knn::value_order::smaller_is_nearer ? a.key < b.key : a.key > b.key;
  };
  if (entries.size() > most) {
    std::nth_element(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(most),
                     entries.end(), is_nearer);
    entries.resize(most);
  }
  std::sort(entries.begin(), entries.end(), is_nearer);
}

/// The k nearest of all parts, with what orders them and all that do not match.
knn::part_neighbours nearest_of(std::span<knn::part_neighbours const> parts, std::size_t queries,
                                std::size_t k) {
  knn::part_neighbours all;
  all.queries = queries;
  all.k = k;
  if (!parts.empty()) {
    all.order = parts.front().order;
    all.key_order = parts.front().key_order;
  }
  all.id.assign(queries * k, knn::no_neighbour);
  all.value.assign(queries * k, 0);
  all.key.assign(queries * k, 0);
  all.is_match.assign(queries * k, 0);
  std::vector<entry> entries;
  for (std::size_t q = 0; q < queries; ++q) {
    entries.clear();
    for (knn::part_neighbours const& part : parts)
      for (std::size_t i = 0; i < part.count_of(q); ++i)
        entries.push_back({part.keys_of(q)[i], part.values_of(q)[i], part.ids_of(q)[i],
                           part.is_match.empty() || part.is_match[q * part.k + i] != 0});
    keep_nearest(entries, all.key_order, k);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      std::size_t const at = q * k + i;
      all.id[at] = entries[i].id;
      all.value[at] = entries[i].value;
      all.key[at] = entries[i].key;
      all.is_match[at] = entries[i].is_match ? 1 : 0;
    }
  }
  return all;
}

/// Without what does not match.
knn::neighbours matches_of(knn::part_neighbours&& all) {
  for (std::size_t q = 0; q < all.queries; ++q) {
    std::size_t const last = (q + 1) * all.k;
    std::size_t to = q * all.k;
    for (std::size_t i = to; i < last; ++i) {
      if (all.is_match[i] == 0) continue;
      all.id[to] = all.id[i];
      all.value[to++] = all.value[i];
    }
    for (; to < last; ++to) {
      all.id[to] = knn::no_neighbour;
      all.value[to] = 0;
    }
  }
  return static_cast<knn::neighbours&&>(all);
}

/// The rows in range of all parts.
knn::part_rows_in_range rows_of(std::span<knn::part_rows_in_range const> parts,
                                std::size_t queries) {
  knn::part_rows_in_range all;
  all.begin = {0};
  if (!parts.empty()) {
    all.order = parts.front().order;
    all.key_order = parts.front().key_order;
  }
  std::vector<entry> entries;
  for (std::size_t q = 0; q < queries; ++q) {
    entries.clear();
    for (knn::part_rows_in_range const& part : parts)
      for (std::size_t i = 0; i < part.rows_of(q).size(); ++i)
        entries.push_back({part.keys_of(q)[i], part.values_of(q)[i], part.rows_of(q)[i]});
    keep_nearest(entries, all.key_order, entries.size());
    for (entry const& one : entries) {
      all.row.push_back(one.id);
      all.value.push_back(one.value);
      all.key.push_back(one.key);
    }
    all.begin.push_back(all.row.size());
  }
  return all;
}

}  // namespace

shared_out shared_out_from(std::string_view name) {
  return value_named<shared_out>(ways, name, "found", name_list::plain);
}

bool shares_collection(process_group const& group, shared_out asked, std::uint64_t bytes) {
  if (asked != shared_out::automatic) return asked == shared_out::collection;
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  auto const all = gather_values(group, process{host.data(), free_memory(), bytes});
  return std::ranges::any_of(all, [&](process const& one) {
    auto const there =
        static_cast<std::uint64_t>(std::ranges::count(all, one.host, &process::host));
    return one.bytes > one.free / there;
  });
}

void renumber(knn::part_neighbours& found, std::uint32_t first) {
  for (std::uint32_t& id : found.id)
    if (id != knn::no_neighbour) id += first;
}

void renumber(knn::part_rows_in_range& found, std::uint32_t first) {
  for (std::uint32_t& row : found.row) row += first;
}

knn::neighbours merge(std::span<knn::part_neighbours const> parts, std::size_t queries,
                      std::size_t k) {
  return matches_of(nearest_of(parts, queries, k));
}

knn::rows_in_range merge(std::span<knn::part_rows_in_range const> parts, std::size_t queries) {
  return rows_of(parts, queries);
}

knn::neighbours merge(process_group const& group, std::span<knn::part_neighbours const> mine,
                      std::size_t queries, std::size_t k) {
  std::vector<knn::part_neighbours> own;
  if (!mine.empty()) own.push_back(nearest_of(mine, queries, k));
  return merge(join(group, own), queries, k);
}

knn::rows_in_range merge(process_group const& group, std::span<knn::part_rows_in_range const> mine,
                         std::size_t queries) {
  std::vector<knn::part_rows_in_range> own;
  if (!mine.empty()) own.push_back(rows_of(mine, queries));
  return merge(join(group, own), queries);
}

std::vector<std::string> names_of(
    process_group const& group, std::span<std::uint32_t const> items,
    std::function<std::optional<std::string>(std::uint32_t)> const& name) {
  std::vector<std::pair<std::size_t, std::string>> mine;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i] == knn::no_neighbour) continue;
    if (std::optional<std::string> known = name(items[i])) mine.emplace_back(i, *std::move(known));
  }
  std::vector<std::string> names(items.size());
  for (auto& [at, known] : join(group, mine)) names[at] = std::move(known);
  return names;
}

std::vector<std::uint64_t> bits_of(std::span<std::uint64_t const> filter, std::size_t begin,
                                   std::size_t end) {
  if (filter.empty()) return {};
  std::vector<std::uint64_t> bits((end - begin + 63) / 64);
  for (std::size_t i = begin; i < end; ++i)
    if ((filter[i / 64] >> (i % 64) & 1) != 0)
      bits[(i - begin) / 64] |= std::uint64_t{1} << ((i - begin) % 64);
  return bits;
}

}  // namespace rulerank::mpi
