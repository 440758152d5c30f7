#include "datasets/arrays.hpp"

#include "core/append_format.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight/comments.hpp"
#include "datasets/svmlight/fields.hpp"
#include "datasets/svmlight/write.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

[[noreturn]] void fail_at_row(std::string const& name, std::size_t row, std::string const& what) {
  throw error({name, row + 1, 0}, what);
}

/// Checks the lengths of all lists against the number of documents and of columns.
void check_lengths(document_arrays const& about, std::size_t documents) {
  auto const expect = [&](char const* what, std::size_t found) {
    if (found != 0 && found != documents)
      throw usage_error(fmt::format("{}: found {} {}, expected {}, one for each document",
                                    about.name, found, what, documents));
  };
  expect("labels", about.labels.size());
  expect("qids", about.qids.size());
  expect("ids", about.ids.size());
  expect("comments", about.comments.size());
  if (!about.qids.empty() && !about.group_sizes.empty())
    throw usage_error(about.name + ": found both qids and group sizes, expected one of them");
  for (std::size_t c = 0; c < about.features.size(); ++c)
    if (about.features[c] > max_feature || (c > 0 && about.features[c] <= about.features[c - 1]))
      throw usage_error(
          fmt::format("{}: found feature {}, expected ascending numbers of at most {}", about.name,
                      about.features[c], max_feature));
}

void set_labels(dataset& data, document_arrays const& about, std::size_t documents) {
  data.labels.assign(documents, unlabelled);
  for (std::size_t d = 0; d < about.labels.size(); ++d) {
    if (about.labels[d] < 0 && about.labels[d] != unlabelled)
      fail_at_row(
          data.name, d,
          fmt::format(
              "label {} is negative, expected 0 or more, or {} for a document without a label",
              about.labels[d], unlabelled));
    data.labels[d] = about.labels[d];
  }
}

void set_queries(dataset& data, document_arrays const& about) {
  if (about.qids.empty()) {
    std::size_t begin = 0;
    for (std::size_t const size : about.group_sizes) {
      if (size == 0 || size > data.size() - begin)
        throw usage_error(data.name +
                          ": found group sizes whose sum is not the number of documents");
      data.queries.push_back({std::to_string(data.queries.size() + 1), begin, begin + size});
      begin += size;
    }
    if (about.group_sizes.empty() && data.size() > 0)
      data.queries.push_back({"1", 0, data.size()});
    else if (begin != data.size())
      throw usage_error(data.name + ": found group sizes whose sum is not the number of documents");
    return;
  }
  std::unordered_set<std::string_view> seen;
  for (std::size_t d = 0; d < data.size(); ++d) {
    std::string_view const qid = about.qids[d];
    if (d == 0 || qid != about.qids[d - 1]) {
      bool const fits = std::ranges::none_of(
          qid, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '#'; });
      if (qid.empty() || !fits)
        fail_at_row(
            data.name, d,
            fmt::format("found qid {}, expected text without blanks and #", rulerank::quoted(qid)));
      if (!seen.insert(qid).second)
        fail_at_row(data.name, d,
                    fmt::format("query {} occurs again, expected its rows together",
                                rulerank::quoted(qid)));
      data.queries.push_back({std::string(qid), d, d});
    }
    data.queries.back().end = d + 1;
  }
}

/// Copies ids and comments into one text that the set owns.
void set_comments(dataset& data, document_arrays const& about) {
  if (about.ids.empty() && about.comments.empty()) return;
  std::string text;
  std::vector<std::size_t> ends;
  for (std::size_t d = 0; d < data.size(); ++d) {
    std::string_view const id = about.ids.empty() ? std::string_view{} : about.ids[d];
    std::string_view const comment =
        about.comments.empty() ? std::string_view{} : trimmed_comment(about.comments[d]);
    if (std::ranges::any_of(id, [](char c) { return static_cast<unsigned char>(c) <= ' '; }))
      fail_at_row(data.name, d,
                  fmt::format("found id {}, expected text without blanks", rulerank::quoted(id)));
    if (comment.find_first_of(std::string_view("\0\r\n", 3)) != comment.npos)
      fail_at_row(
          data.name, d,
          fmt::format("found comment {}, expected one line of text", rulerank::quoted(comment)));
    if (!id.empty() && docid_of(comment) != id) {
      text.append("docid = ").append(id);
      if (!comment.empty()) text += ' ';
    }
    text += comment;
    ends.push_back(text.size());
  }
  data.text = make_text(std::move(text));
  std::size_t begin = 0;
  for (std::size_t d = 0; d < ends.size(); ++d) {
    std::string_view const comment = data.text->bytes().substr(begin, ends[d] - begin);
    append_optional(data.comments, d, comment);
    append_optional(data.ids, d, docid_of(comment));
    begin = ends[d];
  }
}

void append_array_line(dataset const& data, std::string_view qid, std::size_t d,
                       std::string& text) {
  append_format(text, "{} qid:{}", data.labels[d], qid);
  append_entries(data.document(d), text);
  if (std::string_view const comment = data.comment(d); !comment.empty())
    text.append(" # ").append(comment);
}

/// Generates the lines; comments and ids become parts of them.
void set_lines(context const& ctx, dataset& data) {
  std::vector<std::string> texts(data.queries.size());
  std::vector<std::size_t> sizes(data.size());
  parallel_for(ctx, data.queries.size(), 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t q = begin; q < end; ++q)
      for (std::size_t d = data.queries[q].begin; d < data.queries[q].end; ++d) {
        std::size_t const before = texts[q].size();
        append_array_line(data, data.queries[q].qid, d, texts[q]);
        sizes[d] = texts[q].size() - before;
      }
  });
  std::string text;
  for (std::string& part : texts) {
    text += part;
    part = {};
  }
  auto const lines = make_text(std::move(text));
  std::size_t begin = 0;
  for (std::size_t d = 0; d < data.size(); ++d) {
    std::string_view const line = data.lines.emplace_back(lines->bytes().substr(begin, sizes[d]));
    if (!data.comments.empty())
      data.comments[d] = line.substr(line.size() - data.comments[d].size());
    if (!data.ids.empty()) data.ids[d] = docid_of(data.comments[d]);
    begin += sizes[d];
  }
  data.text = lines;
}

/// Entries that a thread copies in about a millisecond.
constexpr std::size_t entries_a_thread = 262'144;

/// Makes everything except the entries, whose rows are set. `fill(d, entries)` copies those of
/// document d and returns their fault.
template <class Fill>
dataset fill_dataset(context const& ctx, std::vector<std::size_t> row, document_arrays const& about,
                     Fill const& fill) {
  dataset data;
  data.name = about.name;
  std::size_t const documents = row.size() - 1;
  check_lengths(about, documents);
  data.row = std::move(row);
  set_labels(data, about, documents);
  set_queries(data, about);
  set_comments(data, about);
  if (about.names != nullptr) data.names = *about.names;
  data.entries.resize(data.row.back());
  std::atomic<std::size_t> first_fault{documents};
  context const team = with_useful_threads(ctx, data.entries.size(), entries_a_thread);
  parallel_for(team, documents, 256, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t d = begin; d < end; ++d) {
      if (fill(d, data.entries.data() + data.row[d]).empty()) continue;
      std::size_t before = first_fault;
      while (d < before && !first_fault.compare_exchange_weak(before, d)) {
      }
      break;
    }
  });
  if (std::size_t const bad = first_fault; bad < documents)
    fail_at_row(data.name, bad, fill(bad, data.entries.data() + data.row[bad]));
  if (about.lines) set_lines(ctx, data);
  return data;
}

/// Returns the feature of a column.
std::uint32_t feature_of(document_arrays const& about, std::size_t column) {
  return about.features.empty() ? static_cast<std::uint32_t>(column + 1) : about.features[column];
}

std::string infinite(std::uint32_t feature) {
  return fmt::format("value of feature {} is infinite, expected a finite number or NaN", feature);
}

}  // namespace

template <class Value>
dataset make_dataset(context const& ctx, dense_rows<Value> const& rows,
                     document_arrays const& about) {
  if (rows.documents > 1 && rows.stride < rows.columns)
    throw usage_error(fmt::format("{}: found a stride of {}, expected at least {}", about.name,
                                  rows.stride, counted(rows.columns, "column")));
  if (rows.columns > max_feature ||
      (!about.features.empty() && about.features.size() != rows.columns))
    throw usage_error(fmt::format("{}: found {} for {}, expected as many", about.name,
                                  counted(about.features.size(), "feature"),
                                  counted(rows.columns, "column")));
  std::vector<std::size_t> row(rows.documents + 1);
  for (std::size_t d = 0; d <= rows.documents; ++d) row[d] = d * rows.columns;
  return fill_dataset(ctx, std::move(row), about,
                      [&](std::size_t d, feature_value* entries) -> std::string {
                        Value const* const from = rows.values + d * rows.stride;
                        for (std::size_t c = 0; c < rows.columns; ++c) {
                          entries[c] = {feature_of(about, c), static_cast<double>(from[c])};
                          if (std::isinf(from[c])) return infinite(entries[c].feature);
                        }
                        return {};
                      });
}

template <class Value, class Index>
dataset make_dataset(context const& ctx, csr_rows<Value, Index> const& rows,
                     document_arrays const& about) {
  std::size_t const entries = rows.values.size();
  if (rows.row.empty() || rows.row.front() != 0 || !std::ranges::is_sorted(rows.row) ||
      static_cast<std::size_t>(rows.row.back()) != entries || rows.columns.size() != entries)
    throw usage_error(about.name +
                      ": found row offsets that do not ascend from 0 to the number of values");
  std::size_t const columns = about.features.empty() ? max_feature : about.features.size();
  std::vector<std::size_t> row(rows.row.begin(), rows.row.end());
  return fill_dataset(
      ctx, std::move(row), about, [&](std::size_t d, feature_value* to) -> std::string {
        auto const begin = static_cast<std::size_t>(rows.row[d]);
        auto const end = static_cast<std::size_t>(rows.row[d + 1]);
        bool ascending = true;
        for (std::size_t i = begin; i < end; ++i) {
          auto const column = static_cast<std::make_unsigned_t<Index>>(rows.columns[i]);
          if (column >= columns)
            return fmt::format("found column {}, expected 0 to {}", rows.columns[i], columns - 1);
          feature_value& entry = to[i - begin];
          entry = {feature_of(about, column), static_cast<double>(rows.values[i])};
          if (std::isinf(entry.value)) return infinite(entry.feature);
          ascending = ascending && (i == begin || (&entry)[-1].feature < entry.feature);
        }
        if (ascending) return {};
        std::span const listed(to, end - begin);
        std::ranges::sort(listed, {}, &feature_value::feature);
        auto const again = std::ranges::adjacent_find(listed, {}, &feature_value::feature);
        return again == listed.end()
                   ? std::string()
                   : fmt::format("found feature {} twice, expected each feature once",
                                 again->feature);
      });
}

template dataset make_dataset(context const&, dense_rows<float> const&, document_arrays const&);
template dataset make_dataset(context const&, dense_rows<double> const&, document_arrays const&);
template dataset make_dataset(context const&, csr_rows<float, std::int32_t> const&,
                              document_arrays const&);
template dataset make_dataset(context const&, csr_rows<double, std::int32_t> const&,
                              document_arrays const&);
template dataset make_dataset(context const&, csr_rows<float, std::int64_t> const&,
                              document_arrays const&);
template dataset make_dataset(context const&, csr_rows<double, std::int64_t> const&,
                              document_arrays const&);

numeric_labels labels_from(std::span<double const> values, std::string const& name) {
  constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
  numeric_labels made;
  made.whole.reserve(values.size());
  bool fractional = false;
  for (std::size_t d = 0; d < values.size(); ++d) {
    double const value = values[d];
    if (!(value == unlabelled || (value >= 0 && value <= largest)))
      fail_at_row(
          name, d,
          fmt::format("label {}{}, expected a number of 0 to {}, or {} for a row without a label",
                      value,
                      std::isfinite(value) ? (value < 0 ? " is negative" : " is out of range") : "",
                      largest, unlabelled));
    made.whole.push_back(static_cast<std::int32_t>(std::floor(value)));
    fractional = fractional || value != std::floor(value);
  }
  if (fractional) made.fractional.assign(values.begin(), values.end());
  return made;
}

}  // namespace rulerank::datasets
