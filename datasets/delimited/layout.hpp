#pragma once
// The header of delimited text: what its columns are.

#include "datasets/dataset.hpp"
#include "datasets/svmlight.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// What a column holds.
struct column_role {
  enum class kind { label, qid, docid, text_sums, feature, passed_over };
  kind what = kind::feature;
  std::uint32_t feature = 0;  ///< its number
  std::size_t rank = 0;       ///< among the features, by number
};

struct delimited_layout {
  char delimiter = ',';
  std::string_view header;  ///< the record
  std::size_t size = 0;     ///< its bytes, with the line's end, and a separator's line before it
  std::size_t feeds = 0;    ///< line feeds in them
  std::vector<column_role> columns;
  std::vector<std::string> titles;  ///< of the columns
  std::size_t features = 0;
  feature_names names;  ///< empty: they have numbers
  bool has_qid = false;
  std::string label_title{};         ///< of the column of labels; empty for `label`
  std::vector<std::string> notes{};  ///< what is odd and valid
};

/// A first line `sep=;` with which Excel is told what is between cells; a comma or a tab may stand
/// there too.
struct separator_line {
  char delimiter = 0;
  std::size_t size = 0;  ///< its bytes, with the line's end; 0: there is none
};
separator_line separator_of(std::string_view text);

/// The delimiter of delimited text of that name that begins with this line, or 0 for another text.
/// See `read_dataset`.
char delimiter_of(std::string_view name, std::string_view first_line,
                  read_options const& options = {});

/// Reads the header of a text; `name` stands in messages. Throws `error` for a column without a
/// title, with that of another or with control characters in it, for columns between other
/// delimiters, for features by number and by name, for two columns that may both hold labels, ids
/// of queries or ids of documents, and for no column of labels where documents need one. `columns`:
/// the titles of the features that are read, of which all are there, the others and the labels are
/// passed over, whatever they hold; empty: all are read.
delimited_layout read_layout(std::string_view text, char delimiter, std::string const& name,
                             read_options const& options,
                             std::span<std::string const> columns = {});

/// The titles of features of `layout` that the first of `records` have text in and no number.
std::vector<std::string> text_columns(std::string_view records, delimited_layout const& layout);

/// A cell of a feature that is no number as `read_number` has it: `TRUE`, `FALSE` or a word for a
/// missing value, in any case; false for anything else.
bool read_word_value(std::string_view text, double& value);

/// The column of labels of a header, if it has one; `title`: empty for `label`.
std::optional<std::size_t> label_column(std::string_view header, char delimiter,
                                        std::string_view title);

}  // namespace rulerank::datasets
