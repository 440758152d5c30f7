#include "datasets/dataset.hpp"

#include "datasets/dataset_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <sys/mman.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

}  // namespace

feature_value* unset_allocator::allocate(std::size_t n) {
  if (n > std::numeric_limits<std::size_t>::max() / sizeof(feature_value))
    throw std::bad_array_new_length();
  std::size_t const bytes = n * sizeof(feature_value);
  if (bytes < huge_page) return static_cast<feature_value*>(::operator new(bytes));
  void* const entries = ::operator new (bytes, std::align_val_t{huge_page});
  ::madvise(entries, bytes, MADV_HUGEPAGE);  // a hint, without effect if huge pages are unavailable
  return static_cast<feature_value*>(entries);
}

void unset_allocator::deallocate(feature_value* entries, std::size_t n) noexcept {
  if (n * sizeof(feature_value) < huge_page)
    ::operator delete(entries);
  else
    ::operator delete (entries, std::align_val_t{huge_page});
}

std::int32_t dataset::max_label() const noexcept {
  std::int32_t largest = 0;
  for (std::int32_t const label : labels) largest = std::max(largest, label);
  return largest;
}

std::string dataset::docid(std::size_t d) const {
  return d < ids.size() && !ids[d].empty() ? std::string(ids[d]) : line_id(d);
}

std::string dataset::line_id(std::size_t d) const {
  auto const after = std::partition_point(queries.begin(), queries.end(),
                                          [d](query_group const& q) { return q.end <= d; });
  std::string id = after == queries.end() ? std::string() : after->qid;
  id += '-';
  id += std::to_string(d < line_numbers.size() ? line_numbers[d] : d + 1);
  return id;
}

source_position place_of(dataset const& data, std::size_t d) {
  return {data.name, d < data.line_numbers.size() ? data.line_numbers[d] : d + 1, 1};
}

namespace {

void expect_whole_labels(dataset const& data, std::string_view purpose) {
  for (std::size_t d = 0; d < data.fractional_labels.size(); ++d)
    if (data.fractional_labels[d] != data.labels[d])
      throw error(place_of(data, d), fmt::format("found the fractional label {}, expected classes "
                                                 "(integers) to {}",
                                                 data.fractional_labels[d], purpose));
}

}  // namespace

void expect_labels(dataset const& data, std::string_view purpose) {
  expect_whole_labels(data, purpose);
  auto const unknown = std::find(data.labels.begin(), data.labels.end(), unlabelled);
  if (unknown == data.labels.end()) return;
  throw error(place_of(data, static_cast<std::size_t>(unknown - data.labels.begin())),
              "found a document without a label, expected labels to " + std::string(purpose));
}

std::vector<std::size_t> labelled_documents(dataset const& data, std::string_view purpose) {
  std::vector<std::size_t> known;
  for (std::size_t d = 0; d < data.size(); ++d)
    if (data.labels[d] != unlabelled) known.push_back(d);
  if (known.empty())
    expect_labels(data, purpose);
  else
    expect_whole_labels(data, purpose);
  return known;
}

dataset labelled_by_sample(dataset pool, dataset const& sample) {
  std::unordered_map<std::string_view, query_group const*> query_of;
  for (query_group const& q : pool.queries) query_of.emplace(q.qid, &q);
  dataset const part = renumbered(sample, pool.names);
  pool.labels.assign(pool.size(), unlabelled);
  pool.fractional_labels.clear();
  auto const same = [](feature_value const& a, feature_value const& b) {
    return a.feature == b.feature &&
           (a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)));
  };
  for (query_group const& q : part.queries) {
    auto const whole = query_of.find(q.qid);
    for (std::size_t d = q.begin; d < q.end; ++d) {
      std::size_t at = whole == query_of.end() ? pool.size() : whole->second->begin;
      std::size_t const end = whole == query_of.end() ? at : whole->second->end;
      auto const row = part.document(d);
      while (at < end &&
             (pool.labels[at] != unlabelled || !std::ranges::equal(row, pool.document(at), same)))
        ++at;
      if (at == end)
        throw error(
            place_of(sample, d),
            fmt::format(
                "found a document of query {} that is not in {}, expected documents of this pool",
                q.qid, pool.name));
      pool.labels[at] = sample.labels[d];
    }
  }
  return pool;
}

std::vector<std::uint32_t> listed_features(dataset const& data) {
  // Most numbers are small; memory is proportional to the distinct features in any case.
  constexpr std::uint32_t small = 1U << 16;
  std::vector<bool> seen(small);
  std::unordered_set<std::uint32_t> large;
  for (feature_value const& entry : data.entries) {
    if (entry.feature < small)
      seen[entry.feature] = true;
    else
      large.insert(entry.feature);
  }
  std::vector<std::uint32_t> features;
  for (std::uint32_t f = 0; f < small; ++f)
    if (seen[f]) features.push_back(f);
  auto const middle = static_cast<std::ptrdiff_t>(features.size());
  features.insert(features.end(), large.begin(), large.end());
  std::sort(features.begin() + middle, features.end());
  return features;
}

std::string name_of(std::uint32_t feature, feature_names const& names) {
  auto const found = names.find(feature);
  return found == names.end() ? std::to_string(feature) : found->second;
}

dataset renumbered(dataset data, feature_names const& names) {
  if (data.names == names || data.entries.empty()) {
    data.names = names;
    return data;
  }
  if (data.names.empty() || names.empty())
    throw error({data.name, 1, 1},
                data.names.empty()
                    ? fmt::format("found features with numbers, expected names such as {}",
                                  names.begin()->second)
                    : fmt::format("found features with names such as {}, expected numbers",
                                  data.names.begin()->second));
  std::unordered_map<std::string_view, std::uint32_t> known;
  for (auto const& [feature, name] : names) known.emplace(name, feature);
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  feature_names all = names;
  for (auto const& [feature, name] : data.names) {
    auto const found = known.find(name);
    std::uint32_t const number =
        found != known.end() ? found->second : all.rbegin()->first + 1;  // in the order of names
    all.try_emplace(number, name);
    numbers[feature] = number;
  }
  for (feature_value& entry : data.entries) entry.feature = numbers.at(entry.feature);
  for (std::size_t d = 0; d < data.size(); ++d)
    std::sort(data.entries.begin() + static_cast<std::ptrdiff_t>(data.row[d]),
              data.entries.begin() + static_cast<std::ptrdiff_t>(data.row[d + 1]),
              [](feature_value const& a, feature_value const& b) { return a.feature < b.feature; });
  data.names = std::move(all);
  return data;
}

std::vector<std::size_t> input_places(dataset const& data) {
  std::vector<std::size_t> by_line(data.size());
  std::iota(by_line.begin(), by_line.end(), std::size_t{0});
  auto const& lines = data.line_numbers;
  if (lines.empty() || std::is_sorted(lines.begin(), lines.end())) return by_line;
  std::sort(by_line.begin(), by_line.end(),
            [&](std::size_t a, std::size_t b) { return lines[a] < lines[b]; });
  std::vector<std::size_t> places(data.size());
  for (std::size_t place = 0; place < places.size(); ++place) places[by_line[place]] = place;
  return places;
}

dataset rows_of(dataset const& data, std::span<std::size_t const> documents) {
  dataset part;
  part.name = data.name;
  part.names = data.names;
  part.delimiter = data.delimiter;
  part.header = data.header;
  part.label_column = data.label_column;
  part.text = data.text;
  auto const take = [&](auto& to, auto const& from) {
    if (from.empty()) return;
    to.reserve(documents.size());
    for (std::size_t const d : documents) to.push_back(from[d]);
  };
  take(part.labels, data.labels);
  take(part.fractional_labels, data.fractional_labels);
  take(part.comments, data.comments);
  take(part.ids, data.ids);
  take(part.lines, data.lines);
  take(part.line_numbers, data.line_numbers);
  part.row.reserve(documents.size() + 1);
  for (std::size_t const d : documents)
    part.row.push_back(part.row.back() + data.document(d).size());
  part.entries.reserve(part.row.back());
  for (std::size_t const d : documents) {
    auto const listed = data.document(d);
    part.entries.insert(part.entries.end(), listed.begin(), listed.end());
  }
  return part;
}

std::vector<query_group> subset_queries(dataset const& data, std::span<std::size_t const> chosen) {
  std::vector<query_group> queries;
  std::vector<bool> taken(data.queries.size());
  query_group const* from = nullptr;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::size_t const d = chosen[i];
    bool const same = from != nullptr && d >= from->begin && d < from->end;
    std::size_t const q =
        same ? 0
             : static_cast<std::size_t>(
                   std::ranges::upper_bound(data.queries, d, {}, &query_group::end) -
                   data.queries.begin());
    if (same ? d <= chosen[i - 1] : q == taken.size() || taken[q])
      throw usage_error(
          "subset: documents must be distinct, within the data set, and those of a "
          "query together and ascending");
    if (!same) {
      taken[q] = true;
      from = &data.queries[q];
      queries.push_back({from->qid, i, i});
    }
    queries.back().end = i + 1;
  }
  return queries;
}

dataset subset(dataset const& data, std::span<std::size_t const> chosen) {
  std::vector<query_group> queries = subset_queries(data, chosen);
  dataset part = rows_of(data, chosen);
  part.queries = std::move(queries);
  return part;
}

}  // namespace rulerank::datasets
