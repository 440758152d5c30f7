#pragma once

#include "core/output_file.hpp"
#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// `write_dataset` for delimited text: the columns label (if a document has one), qid, docid (if a
/// document has one), then the features.
void write_delimited(dataset const& data, output_file& out);

/// Inserts labels into the records of delimited text.
class record_labels {
 public:
  explicit record_labels(dataset const& data);

  /// Whether the records have no label column, so that one is inserted in front.
  bool adds_column() const noexcept { return !column_; }
  std::string header() const;
  /// Without a label, the record's own label is kept.
  std::string record_with(std::string_view text, std::optional<std::int32_t> label) const;

 private:
  dataset const& data_;
  std::optional<std::size_t> column_;
};

}  // namespace rulerank::datasets
