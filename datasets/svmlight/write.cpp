#include "datasets/svmlight/write.hpp"

#include "core/append_format.hpp"
#include "core/error.hpp"
#include "datasets/delimited/write.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/svmlight/comments.hpp"
#include "datasets/svmlight/names.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

[[noreturn]] void cannot_hold(dataset const& data, std::size_t d, char const* what,
                              std::string_view found) {
  throw error(place_of(data, d),
              fmt::format("found {} {}, expected text that a line of SVMlight can hold", what,
                          rulerank::quoted(found)));
}

void append_line(dataset const& data, std::string_view qid, std::size_t d, std::string& line) {
  auto const fits = [](std::string_view word) { return word.find_first_of(" \t#") == word.npos; };
  if (!fits(qid)) cannot_hold(data, d, "qid", qid);
  if (data.fractional_labels.empty())
    append_format(line, "{}", data.labels[d]);
  else
    append_format(line, "{}", data.fractional_labels[d]);
  line.append(" qid:").append(qid);
  append_entries(data.document(d), line, data.names);
  std::string_view const comment = data.comment(d);
  std::string_view const id = d < data.ids.size() ? data.ids[d] : std::string_view{};
  if (!id.empty() && docid_of(comment) != id) line.append(" #docid = ").append(id);
  if (!comment.empty()) line.append(" #").append(comment);
  line += '\n';
}

/// Returns the line with `label` as its first word.
std::string relabelled(std::string_view line, std::int32_t label) {
  std::size_t const begin = std::min(line.find_first_not_of(" \t"), line.size());
  std::size_t const end = std::min(line.find_first_of(" \t", begin), line.size());
  return fmt::format("{}{}{}", line.substr(0, begin), label, line.substr(end));
}

}  // namespace

void append_entries(std::span<feature_value const> entries, std::string& text,
                    feature_names const& names) {
  auto const append = [&text](auto const& feature, double value) {
    // The only spelling that Java reads.
    if (std::isnan(value))
      append_format(text, " {}:NaN", feature);
    else
      append_format(text, " {}:{}", feature, value);
  };
  for (feature_value const& entry : entries) {
    if (names.empty())
      append(entry.feature, entry.value);
    else
      append(name_of(entry.feature, names), entry.value);
  }
}

void write_svmlight(dataset const& data, output_file& out) {
  for (auto const& [feature, name] : data.names)
    if (!is_feature_name(name)) cannot_hold(data, 0, "feature name", name);
  std::string line;
  for (query_group const& query : data.queries) {
    for (std::size_t d = query.begin; d < query.end; ++d) {
      line.clear();
      append_line(data, query.qid, d, line);
      out.write(line);
    }
  }
}

void write_dataset(dataset const& data, output_file& out) {
  if (data.delimiter == 0)
    write_svmlight(data, out);
  else
    write_delimited(data, out);
}

void write_header(dataset const& data, output_file& out) {
  if (data.delimiter == 0) return;
  out.write(data.header);
  out.write("\n");
}

void write_records(dataset const& data, std::span<std::size_t const> chosen, output_file& out,
                   std::span<std::int32_t const> labels) {
  for (std::size_t const d : chosen)
    if (d >= data.lines.size())
      throw usage_error("write_lines: found a document without a line of the data set");
  std::vector<std::size_t> in_input_order(chosen.begin(), chosen.end());
  auto const& numbers = data.line_numbers;
  auto const place = [&](std::size_t d) { return d < numbers.size() ? numbers[d] : d + 1; };
  std::sort(in_input_order.begin(), in_input_order.end(),
            [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  bool const delimited = data.delimiter != 0 && !labels.empty();
  std::optional<record_labels> const relabel =
      delimited ? std::make_optional<record_labels>(data) : std::nullopt;
  for (std::size_t const d : in_input_order) {
    std::string_view const line = data.lines[d];
    std::optional<std::int32_t> label;
    if (!labels.empty() && data.labels[d] == unlabelled && labels[d] != unlabelled)
      label = labels[d];
    if (relabel)
      out.write(relabel->record_with(line, label));
    else if (label)
      out.write(relabelled(line, *label));
    else
      out.write(line);
    out.write("\n");
  }
}

void write_lines(dataset const& data, std::span<std::size_t const> chosen, output_file& out,
                 std::span<std::int32_t const> labels) {
  if (data.delimiter != 0)
    out.write((labels.empty() ? std::string(data.header) : record_labels(data).header()) + "\n");
  write_records(data, chosen, out, labels);
}

}  // namespace rulerank::datasets
