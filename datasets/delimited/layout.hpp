#pragma once
// The header of delimited text: the meaning of its columns.

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

/// The meaning of a column.
struct column_role {
  enum class kind { label, qid, docid, text_sums, feature, passed_over };
  kind what = kind::feature;
  std::uint32_t feature = 0;  ///< its number
  std::size_t rank = 0;       ///< index among the features, by number
};

struct delimited_layout {
  char delimiter = ',';
  std::string_view header;  ///< the header record
  /// Bytes of the header with its line end, and of a separator line before it.
  std::size_t size = 0;
  std::size_t feeds = 0;  ///< number of line feeds in them
  std::vector<column_role> columns;
  std::vector<std::string> titles;  ///< one per column
  std::size_t features = 0;
  feature_names names;  ///< empty: features have numbers
  bool has_qid = false;
  bool qid_is_text = false;          ///< the text of a query serves as its id
  std::string label_title{};         ///< title of the label column; empty for `label`
  std::vector<std::string> notes{};  ///< unusual but valid input
};

/// A first line `sep=;`, which names the separator for Excel; also with a comma or a tab.
struct separator_line {
  char delimiter = 0;
  std::size_t size = 0;  ///< bytes with the line end; 0: there is none
};
separator_line separator_of(std::string_view text);

/// Returns the delimiter of delimited text with this name and first line, or 0 for other text. See
/// `read_dataset`. Throws `error` for other text that is clearly not SVMlight, such as JSON, or if
/// the options name columns.
char delimiter_of(std::string_view name, std::string_view first_line,
                  read_options const& options = {});

/// Reads the header of a text; `name` is used in messages. Throws `error` for a column with an
/// empty or duplicate title or control characters in it, for other delimiters, for features by
/// number and by name, for two columns that may both hold labels, qids or docids, and for a missing
/// label column if documents need labels. `columns`: the titles of the features to read, which must
/// exist; other columns and labels are skipped, whatever they hold. Empty: all are read.
delimited_layout read_layout(std::string_view text, char delimiter, std::string const& name,
                             read_options const& options,
                             std::span<std::string const> columns = {});

/// Returns the titles of features of `layout` that contain text instead of numbers in the first of
/// `records`.
std::vector<std::string> text_columns(std::string_view records, delimited_layout const& layout);

/// Reads a feature's cell that `read_number` does not accept: `TRUE`, `FALSE` or a keyword for a
/// missing value, in any case; returns false for anything else.
bool read_word_value(std::string_view text, double& value);

/// Returns the label column of a header, if there is one; `title`: empty for `label`.
std::optional<std::size_t> label_column(std::string_view header, char delimiter,
                                        std::string_view title);

}  // namespace rulerank::datasets
