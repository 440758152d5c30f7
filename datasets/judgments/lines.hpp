#pragma once
// Judgments in lines and tables: what `read_qrels` and `read_judgments` share.

#include "datasets/fields.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// The columns of judgments in a table.
struct judgment_columns {
  char delimiter = 0;  ///< 0: the text is no table
  std::size_t qid = 0, docno = 0, label = 0;
  std::optional<std::size_t> other_label;  ///< another column that may be the label: an error
  bool texts = false;                      ///< `qid` holds query texts, not ids
  std::vector<std::string> others;         ///< the titles of the columns that are not read
};

/// The columns that the first line of a text names.
judgment_columns judgment_columns_of(std::string_view text);

/// A judgment as it is written.
struct judgment_fields {
  field qid, docno, label;
  std::uint64_t line = 0;        ///< of the document
  std::uint64_t label_line = 0;  ///< in a table another one where the document has line ends
  std::string_view columns;      ///< which column the label is, for messages; may be empty
};

/// Calls take(fields) for each judgment of a text: of the records below the header where `columns`
/// has a delimiter, else of the lines `qid iteration docno label` or `qid docno label`. Returns the
/// number of records without a label, which are no judgments. Views stay valid as long as `text`
/// and `kept` do. Throws `error` with the place as `read_qrels` does, but does not look at labels
/// and documents that come twice.
std::size_t for_each_judgment(std::string_view text, std::string const& name,
                              judgment_columns const& columns, std::list<std::string>& kept,
                              std::function<void(judgment_fields const&)> const& take);

}  // namespace rulerank::datasets
