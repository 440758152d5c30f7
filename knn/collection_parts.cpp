#include "knn/collection_parts.hpp"

#include <algorithm>
#include <utility>

namespace rulerank::inline v0::knn {

namespace {

/// An item of a part's list.
struct entry {
  double key = 0;
  double value = 0;
  std::uint32_t id = 0;
  bool is_match = true;
};

/// Keeps the `most` nearest entries, nearest first, equal ones by ascending number.
void keep_nearest(std::vector<entry>& entries, value_order order, std::size_t most) {
  auto const is_nearer = [order](entry const& a, entry const& b) {
    if (a.key == b.key) return a.id < b.id;
    return order == value_order::smaller_is_nearer ? a.key < b.key : a.key > b.key;
  };
  if (entries.size() > most) {
    std::nth_element(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(most),
                     entries.end(), is_nearer);
    entries.resize(most);
  }
  std::sort(entries.begin(), entries.end(), is_nearer);
}

/// Returns the k nearest of all parts with their keys, and all that do not match.
part_neighbours nearest_of(std::span<part_neighbours const> parts, std::size_t queries,
                           std::size_t k) {
  part_neighbours all;
  all.queries = queries;
  all.k = k;
  if (!parts.empty()) {
    all.order = parts.front().order;
    all.key_order = parts.front().key_order;
  }
  all.id.assign(queries * k, no_neighbour);
  all.value.assign(queries * k, 0);
  all.key.assign(queries * k, 0);
  all.is_match.assign(queries * k, 0);
  std::vector<entry> entries;
  for (std::size_t q = 0; q < queries; ++q) {
    entries.clear();
    for (part_neighbours const& part : parts)
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

/// Removes items that do not match.
neighbours matches_of(part_neighbours&& all) {
  for (std::size_t q = 0; q < all.queries; ++q) {
    std::size_t const last = (q + 1) * all.k;
    std::size_t to = q * all.k;
    for (std::size_t i = to; i < last; ++i) {
      if (all.is_match[i] == 0) continue;
      all.id[to] = all.id[i];
      all.value[to++] = all.value[i];
    }
    for (; to < last; ++to) {
      all.id[to] = no_neighbour;
      all.value[to] = 0;
    }
  }
  return static_cast<neighbours&&>(all);
}

/// Returns the rows in range of all parts.
part_rows_in_range rows_of(std::span<part_rows_in_range const> parts, std::size_t queries) {
  part_rows_in_range all;
  all.begin = {0};
  if (!parts.empty()) {
    all.order = parts.front().order;
    all.key_order = parts.front().key_order;
  }
  std::vector<entry> entries;
  for (std::size_t q = 0; q < queries; ++q) {
    entries.clear();
    for (part_rows_in_range const& part : parts)
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

void renumber(part_neighbours& found, std::uint32_t first) {
  for (std::uint32_t& id : found.id)
    if (id != no_neighbour) id += first;
}

void renumber(part_rows_in_range& found, std::uint32_t first) {
  for (std::uint32_t& row : found.row) row += first;
}

neighbours merge(std::span<part_neighbours const> parts, std::size_t queries, std::size_t k) {
  return matches_of(nearest_of(parts, queries, k));
}

rows_in_range merge(std::span<part_rows_in_range const> parts, std::size_t queries) {
  return rows_of(parts, queries);
}

neighbours merge(process_group const& group, std::span<part_neighbours const> mine,
                 std::size_t queries, std::size_t k) {
  std::vector<part_neighbours> own;
  if (!mine.empty()) own.push_back(nearest_of(mine, queries, k));
  return merge(join(group, own), queries, k);
}

rows_in_range merge(process_group const& group, std::span<part_rows_in_range const> mine,
                    std::size_t queries) {
  std::vector<part_rows_in_range> own;
  if (!mine.empty()) own.push_back(rows_of(mine, queries));
  return merge(join(group, own), queries);
}

std::vector<std::string> names_of(
    process_group const& group, std::span<std::uint32_t const> items,
    std::function<std::optional<std::string>(std::uint32_t)> const& name) {
  std::vector<std::pair<std::size_t, std::string>> mine;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i] == no_neighbour) continue;
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

std::vector<index_range> factored_shares(std::size_t n, std::size_t parts, std::size_t least) {
  std::vector<index_range> shares;
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

neighbours joined(std::vector<neighbours> parts) {
  // Empty parts come last; they have neither k nor the order.
  neighbours all = std::move(parts.front());
  for (auto part = parts.begin() + 1; part != parts.end(); ++part) {
    all.queries += part->queries;
    all.id.insert(all.id.end(), part->id.begin(), part->id.end());
    all.value.insert(all.value.end(), part->value.begin(), part->value.end());
  }
  return all;
}

rows_in_range joined(std::vector<rows_in_range> parts) {
  rows_in_range all = std::move(parts.front());
  for (auto part = parts.begin() + 1; part != parts.end(); ++part) {
    std::uint64_t const before = all.begin.back();
    for (std::size_t q = 1; q < part->begin.size(); ++q)
      all.begin.push_back(before + part->begin[q]);
    all.row.insert(all.row.end(), part->row.begin(), part->row.end());
    all.value.insert(all.value.end(), part->value.begin(), part->value.end());
  }
  return all;
}

neighbours search_evenly(process_group const& group, std::size_t queries,
                         std::function<neighbours(index_range)> const& search) {
  index_range const mine = own_range(group, queries);
  neighbours found;
  if (group.size() == 1 || mine.size() > 0) found = search(mine);
  if (group.size() == 1) return found;
  neighbours all = joined(gather_values(group, found));
  all.search_s = found.search_s;
  return all;
}

}  // namespace rulerank::knn
