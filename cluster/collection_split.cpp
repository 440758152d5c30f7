#include "cluster/collection_split.hpp"

#include "core/bytes.hpp"
#include "core/error.hpp"
#include "core/machine.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <unistd.h>

namespace rulerank::cluster {

namespace {

constexpr std::array<std::string_view, 3> ways{"auto", "queries", "collection"};

/// An item of a part's list.
struct entry {
  double key = 0;
  double value = 0;
  std::uint32_t id = 0;
  bool is_match = true;
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
  auto const at = std::ranges::find(ways, name);
  if (at == ways.end())
    throw usage_error(fmt::format("found '{}', expected {}", name, fmt::join(ways, ", ")));
  return static_cast<shared_out>(at - ways.begin());
}

bool shares_collection(process_group const& group, shared_out asked, std::uint64_t bytes) {
  if (asked != shared_out::automatic) return asked == shared_out::collection;
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::string mine;
  put(mine, std::string(host.data()));
  put(mine, free_memory());
  put(mine, bytes);
  struct process {
    std::string host;
    std::uint64_t free = 0, bytes = 0;
  };
  std::vector<process> all;
  for (std::string_view told : group.gather(mine)) {
    process& one = all.emplace_back();
    take(told, one.host);
    take(told, one.free);
    take(told, one.bytes);
  }
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
  std::string bytes;
  put(bytes, mine.size());
  if (!mine.empty()) {
    knn::part_neighbours const own = nearest_of(mine, queries, k);
    put(bytes, own.order);
    put(bytes, own.key_order);
    put(bytes, own.id);
    put(bytes, own.value);
    put(bytes, own.key);
    put(bytes, own.is_match);
  }
  std::vector<knn::part_neighbours> all;
  for (std::string_view told : group.gather(bytes)) {
    std::size_t parts = 0;
    take(told, parts);
    if (parts == 0) continue;
    knn::part_neighbours& one = all.emplace_back();
    one.queries = queries;
    one.k = k;
    take(told, one.order);
    take(told, one.key_order);
    take(told, one.id);
    take(told, one.value);
    take(told, one.key);
    take(told, one.is_match);
  }
  return merge(all, queries, k);
}

knn::rows_in_range merge(process_group const& group, std::span<knn::part_rows_in_range const> mine,
                         std::size_t queries) {
  std::string bytes;
  put(bytes, mine.size());
  if (!mine.empty()) {
    knn::part_rows_in_range const own = rows_of(mine, queries);
    put(bytes, own.order);
    put(bytes, own.key_order);
    put(bytes, own.begin);
    put(bytes, own.row);
    put(bytes, own.value);
    put(bytes, own.key);
  }
  std::vector<knn::part_rows_in_range> all;
  for (std::string_view told : group.gather(bytes)) {
    std::size_t parts = 0;
    take(told, parts);
    if (parts == 0) continue;
    knn::part_rows_in_range& one = all.emplace_back();
    take(told, one.order);
    take(told, one.key_order);
    take(told, one.begin);
    take(told, one.row);
    take(told, one.value);
    take(told, one.key);
  }
  return merge(all, queries);
}

std::vector<std::string> names_of(
    process_group const& group, std::span<std::uint32_t const> items,
    std::function<std::optional<std::string>(std::uint32_t)> const& name) {
  std::string bytes;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i] == knn::no_neighbour) continue;
    if (std::optional<std::string> const known = name(items[i])) {
      put(bytes, i);
      put(bytes, *known);
    }
  }
  std::vector<std::string> names(items.size());
  for (std::string_view told : group.gather(bytes))
    while (!told.empty()) {
      std::size_t at = 0;
      take(told, at);
      take(told, names[at]);
    }
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

}  // namespace rulerank::cluster
