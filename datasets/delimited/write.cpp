#include "datasets/delimited/write.hpp"

#include "core/append_format.hpp"
#include "datasets/delimited/label_cells.hpp"
#include "datasets/delimited/layout.hpp"
#include "datasets/delimited/records.hpp"
#include "datasets/text/text_sums.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

/// Documents as records.
class record_writer {
 public:
  record_writer(dataset const& data, output_file& out)
      : data_(data),
        out_(out),
        features_(listed_features(data)),
        with_labels_(std::ranges::any_of(data.labels, [](auto l) { return l != unlabelled; })),
        with_ids_(!data.ids.empty()),
        with_sums_(std::ranges::any_of(data.comments,
                                       [](auto comment) { return bool(text_sums_of(comment)); })) {}

  void write_header() {
    if (with_labels_) append("label");
    append("qid");
    if (with_ids_) append("docid");
    if (with_sums_) append(text_sums_key);
    for (std::uint32_t const feature : features_)
      append(guarded_formula(name_of(feature, data_.names)));
    end_record();
  }

  void write(std::string_view qid, std::size_t d) {
    if (with_labels_) append(label_of(d));
    append(guarded_id(qid));
    if (with_ids_) append(data_.ids[d].empty() ? std::string() : guarded_id(data_.ids[d]));
    if (with_sums_) {
      auto const sums = text_sums_of(data_.comment(d));
      append(sums ? comment_of(*sums) : std::string());
    }
    auto const listed = data_.document(d);
    auto entry = listed.begin();
    for (std::uint32_t const feature : features_) {
      separate();
      if (entry == listed.end() || entry->feature != feature) {
        record_ += '0';
        continue;
      }
      if (!std::isnan(entry->value)) append_format(record_, "{}", entry->value);
      ++entry;
    }
    end_record();
  }

 private:
  std::string label_of(std::size_t d) const {
    if (!data_.fractional_labels.empty()) return fmt::format("{}", data_.fractional_labels[d]);
    return data_.labels[d] == unlabelled ? std::string() : std::to_string(data_.labels[d]);
  }

  void separate() {
    if (!std::exchange(at_begin_, false)) record_ += data_.delimiter;
  }
  void append(std::string_view text) {
    separate();
    append_cell(text, data_.delimiter, record_);
  }
  void end_record() {
    record_ += '\n';
    out_.write(record_);
    record_.clear();
    at_begin_ = true;
  }

  dataset const& data_;
  output_file& out_;
  std::vector<std::uint32_t> features_;
  bool with_labels_;
  bool with_ids_;
  bool with_sums_;
  std::string record_;
  bool at_begin_ = true;
};

}  // namespace

void write_delimited(dataset const& data, output_file& out) {
  record_writer writer(data, out);
  writer.write_header();
  for (query_group const& query : data.queries)
    for (std::size_t d = query.begin; d < query.end; ++d) writer.write(query.qid, d);
}

record_labels::record_labels(dataset const& data)
    : data_(data), column_(label_column(data.header, data.delimiter, data.label_column)) {}

std::string record_labels::header() const {
  std::string text;
  if (adds_column()) text.append("label").append(1, data_.delimiter);
  return text.append(data_.header);
}

std::string record_labels::record_with(std::string_view text,
                                       std::optional<std::int32_t> label) const {
  std::string const shown = label ? std::to_string(*label) : "";
  if (adds_column()) return fmt::format("{}{}{}", shown, data_.delimiter, text);
  if (!label) return std::string(text);
  record now;
  record_reader(data_.delimiter).read(text, now);
  cell const& old = now.cells[*column_];
  return fmt::format("{}{}{}", text.substr(0, old.offset), shown,
                     text.substr(old.offset + old.text.size()));
}

}  // namespace rulerank::datasets
