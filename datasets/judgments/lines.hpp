#pragma once
// Judgments in lines and tables, for `read_qrels` and `read_judgments`.

#include "datasets/input/fields.hpp"

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
  std::optional<std::size_t> other_label;  ///< another possible label column, which is an error
  bool texts = false;                      ///< `qid` holds query texts, not ids
  std::optional<std::size_t> query_text;   ///< the texts of the queries beside their ids
  std::vector<std::string> others;         ///< titles of unread columns
};

/// Returns the columns that the first line of a text names.
judgment_columns judgment_columns_of(std::string_view text);

/// The fields of a judgment, as written.
struct judgment_fields {
  field qid, docno, label;
  std::uint64_t line = 0;         ///< of the document
  std::uint64_t label_line = 0;   ///< differs in a table if the document contains line ends
  std::string_view columns;       ///< the title of the label column, for messages; may be empty
  bool in_table = false;          ///< below a header
  std::string_view query_text{};  ///< in the column `judgment_columns::query_text`; may be empty
};

/// Calls take(fields) for each judgment of a text: of each record after the header if `columns` has
/// a delimiter, otherwise of each line `qid iteration docno label` or `qid docno label`. Returns
/// the number of records without a label, which are no judgments. Views are valid as long as `text`
/// and `kept`. Throws `error` with the position as `read_qrels`, but does not check labels and
/// duplicate documents.
std::size_t for_each_judgment(std::string_view text, std::string const& name,
                              judgment_columns const& columns, std::list<std::string>& kept,
                              std::function<void(judgment_fields const&)> const& take);

}  // namespace rulerank::datasets
