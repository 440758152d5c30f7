#pragma once

#include "core/output_file.hpp"
#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// `write_dataset` for delimited text: the columns label (where a document has one), qid, docid
/// (where one has an id), then the features.
void write_delimited(dataset const& data, output_file& out);

/// Puts labels into the records of delimited text.
class record_labels {
 public:
  explicit record_labels(dataset const& data);

  /// Whether the records have no column of labels: one is put in front.
  bool adds_column() const noexcept { return !column_; }
  std::string header() const;
  /// Without a label the record's stays as it is.
  std::string record_with(std::string_view text, std::optional<std::int32_t> label) const;

 private:
  dataset const& data_;
  std::optional<std::size_t> column_;
};

}  // namespace rulerank::datasets
