#include "datasets/delimited/joined_features.hpp"

#include "datasets/delimited/layout.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

std::string key_of(join_key by, std::string_view qid, std::string_view id) {
  return fmt::format("{}\t{}", by.query ? qid : "", by.document ? id : "");  // no id has a tab
}

std::string key_text(join_key by, std::string_view qid, std::string_view id) {
  std::string const query = by.query ? "query " + rulerank::quoted(qid) : "";
  std::string const document = by.document ? "document " + rulerank::quoted(id) : "";
  return query + (by.query && by.document ? " and " : "") + document;
}

std::string_view id_of(dataset const& data, std::size_t d) {
  return d < data.ids.size() ? data.ids[d] : std::string_view{};
}

/// Returns the row of each key. Throws `error` for a row without a docid and for a duplicate key.
std::unordered_map<std::string, std::size_t> rows_by_key(dataset const& columns, join_key by) {
  std::unordered_map<std::string, std::size_t> row_of;
  for (query_group const& query : columns.queries)
    for (std::size_t d = query.begin; d < query.end; ++d) {
      std::string_view const id = id_of(columns, d);
      if (by.document && id.empty())
        throw error(place_of(columns, d),
                    fmt::format("found a row without a docid, expected one, because columns are "
                                "joined by {}docid",
                                by.query ? "qid and " : ""));
      auto const [first, is_new] = row_of.emplace(key_of(by, query.qid, id), d);
      if (is_new) continue;
      std::size_t const before = std::min(first->second, d), again = std::max(first->second, d);
      throw error(place_of(columns, again),
                  fmt::format("found {} again (first on line {}), expected each {} once",
                              key_text(by, query.qid, id), place_of(columns, before).line,
                              by.query && by.document ? "pair"
                              : by.query              ? "query"
                                                      : "document"));
    }
  return row_of;
}

/// Returns what identifies the rows. Throws `error` for columns that have neither a qid nor a
/// docid.
join_key key_of(dataset const& columns, std::span<std::string const> chosen) {
  if (columns.delimiter == 0) return {};
  read_options any;
  any.optional_labels = true;
  delimited_layout const layout =
      read_layout(std::string(columns.header) + "\n", columns.delimiter, columns.name, any, chosen);
  auto const has = [&](column_role::kind what) {
    return std::ranges::find(layout.columns, what, &column_role::what) != layout.columns.end();
  };
  join_key const key{has(column_role::kind::qid), has(column_role::kind::docid)};
  if (!key.query && !key.document)
    throw error({columns.name, 1, 1},
                "found no column qid or docid, expected one or both, and features");
  return key;
}

/// Returns the numbers of the features to join.
std::vector<std::uint32_t> features_to_join(dataset const& pool, dataset const& columns,
                                            std::span<std::string const> chosen) {
  std::vector<std::uint32_t> const listed = listed_features(columns);
  if (listed.empty())
    throw error({columns.name, 1, 1}, "found no feature, expected columns to join");
  std::vector<std::uint32_t> features;
  for (std::string const& name : chosen) {
    auto const at = std::ranges::find_if(
        listed, [&](std::uint32_t f) { return name_of(f, columns.names) == name; });
    if (at == listed.end())
      throw error(
          {columns.name, 1, 1},
          fmt::format("found no column {}, expected the column to join", rulerank::quoted(name)));
    features.push_back(*at);
  }
  if (chosen.empty()) features = listed;
  std::ranges::sort(features);
  features.erase(std::unique(features.begin(), features.end()), features.end());
  std::vector<std::uint32_t> const before = listed_features(pool);
  std::set<std::string> taken;
  for (std::uint32_t const f : before) taken.insert(name_of(f, pool.names));
  for (std::uint32_t const f : features)
    if (std::string const name = name_of(f, columns.names); taken.contains(name))
      throw error(
          {columns.name, 1, 1},
          fmt::format("found the column {}, which {} has already, expected a different name",
                      rulerank::quoted(name), pool.name));
  if (!pool.names.empty() && columns.names.empty())
    throw error({columns.name, 1, 1},
                fmt::format("found features by number, expected them by name as in {}", pool.name));
  return features;
}

/// Returns all names with the numbers 1, 2, ... in byte order.
feature_names numbered_names(dataset const& pool, dataset const& columns,
                             std::span<std::uint32_t const> joined) {
  std::set<std::string> all;
  for (auto const& one : pool.names) all.insert(one.second);
  for (std::uint32_t const f : joined) all.insert(name_of(f, columns.names));
  feature_names names;
  for (std::string const& name : all)
    names.emplace(static_cast<std::uint32_t>(names.size() + 1), name);
  return names;
}

/// New numbers of features, by previous number.
using new_numbers = std::unordered_map<std::uint32_t, std::uint32_t>;

new_numbers renumbering(feature_names const& from, feature_names const& to) {
  std::unordered_map<std::string_view, std::uint32_t> number;
  for (auto const& [feature, name] : to) number.emplace(name, feature);
  new_numbers numbers;
  for (auto const& [feature, name] : from)
    if (auto const at = number.find(name); at != number.end()) numbers.emplace(feature, at->second);
  return numbers;
}

/// Returns the numbers after those of the pool's features. Throws `error` if there are too many.
new_numbers next_numbers(std::uint32_t last, std::span<std::uint32_t const> joined,
                         std::string const& columns) {
  constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
  if (joined.size() > most - last)
    throw error({columns, 1, 1},
                fmt::format("found {} to join after feature {}, expected numbers up to {}",
                            counted(joined.size(), "column"), last, most));
  new_numbers numbers;
  for (std::uint32_t const f : joined) numbers.emplace(f, ++last);
  return numbers;
}

std::uint32_t changed(new_numbers const& numbers, std::uint32_t feature) {
  auto const at = numbers.find(feature);
  return at == numbers.end() ? feature : at->second;
}

}  // namespace

joined_features join_features(dataset const& pool, dataset const& columns,
                              std::span<std::string const> chosen) {
  join_key const key = key_of(columns, chosen);
  auto const row_of = rows_by_key(columns, key);
  std::vector<std::uint32_t> const features = features_to_join(pool, columns, chosen);
  joined_features result;
  result.key = key;
  dataset& data = result.data;
  data = pool;
  data.lines.clear();
  data.header = {};
  std::vector<std::uint32_t> const before = listed_features(pool);
  bool const pool_has_numbers = pool.names.empty() && !before.empty();
  if (!columns.names.empty() && !pool_has_numbers)
    data.names = numbered_names(pool, columns, features);
  new_numbers const of_pool = renumbering(pool.names, data.names);
  new_numbers const of_columns = columns.names.empty() || !pool_has_numbers
                                     ? renumbering(columns.names, data.names)
                                     : next_numbers(before.back(), features, columns.name);
  for (std::uint32_t const f : features) {
    result.columns.push_back(name_of(f, columns.names));
    result.numbers.push_back(changed(of_columns, f));
  }

  data.row.assign(1, 0);
  data.entries.clear();
  std::vector<bool> used(columns.size());
  std::vector<feature_value> row;
  for (query_group const& query : pool.queries)
    for (std::size_t d = query.begin; d < query.end; ++d) {
      row.clear();
      for (feature_value const& entry : pool.document(d))
        row.push_back({changed(of_pool, entry.feature), entry.value});
      auto const at = row_of.find(key_of(key, query.qid, id_of(pool, d)));
      if (at == row_of.end()) {
        for (std::uint32_t const f : features)
          row.push_back({changed(of_columns, f), std::numeric_limits<double>::quiet_NaN()});
      } else {
        used[at->second] = true;
        ++result.matched;
        for (feature_value const& entry : columns.document(at->second))
          if (std::ranges::binary_search(features, entry.feature))
            row.push_back({changed(of_columns, entry.feature), entry.value});
      }
      std::ranges::sort(row, {}, &feature_value::feature);
      data.entries.insert(data.entries.end(), row.begin(), row.end());
      data.row.push_back(data.entries.size());
    }
  for (std::size_t d = 0; d < used.size(); ++d)
    if (!used[d]) {
      ++result.unknown;
      if (!result.first_unknown ||
          place_of(columns, d).line < place_of(columns, *result.first_unknown).line)
        result.first_unknown = d;
    }
  return result;
}

}  // namespace rulerank::datasets
