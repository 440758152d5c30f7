#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rulerank::inline v0::datasets {

/// The label of a document whose label is unknown (`--unlabelled`).
inline constexpr std::int32_t unlabelled = -1;

/// Consecutive documents of one query.
struct query_group {
  std::string qid;
  std::size_t begin = 0;  ///< first document
  std::size_t end = 0;    ///< one past the last
  std::size_t size() const noexcept { return end - begin; }
};

/// The names of features, by number.
using feature_names = std::map<std::uint32_t, std::string>;

/// A feature of a document, as listed in its line.
struct feature_value {
  std::uint32_t feature = 0;  ///< the file's number, 1-based unless read with `zero_based`
  double value = 0;           ///< NaN: listed as missing (`NULL`, `nan`)
};

/// Contiguous entries. `resize` leaves the added ones uninitialized, so that threads can fill their
/// own ranges without one thread touching all pages first; long lists use huge pages.
struct unset_allocator {
  using value_type = feature_value;
  template <class>
  struct rebind {
    using other = unset_allocator;
  };
  static feature_value* allocate(std::size_t n);
  static void deallocate(feature_value* entries, std::size_t n) noexcept;
  static void construct(feature_value*) noexcept {}
  template <class... Args>
  static void construct(feature_value* at, Args&&... args) {
    std::construct_at(at, std::forward<Args>(args)...);
  }
  friend bool operator==(unset_allocator, unset_allocator) noexcept { return true; }
};
using entry_list = std::vector<feature_value, unset_allocator>;

/// The text of a data set, mapped, decompressed or generated. The views of lines, comments and ids
/// refer to it.
class text_source {
 public:
  virtual ~text_source() = default;
  virtual std::string_view bytes() const noexcept = 0;
};

/// Lines of a plain file: bytes [begin, end), both at the beginning of a line.
struct line_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t lines_before = 0;  ///< in the file
};

/// N documents in query groups, as read: nothing is normalized, filled in or dropped. Entries are
/// stored as compressed rows: those of document d are `entries[row[d] .. row[d + 1])`, features
/// ascending and distinct. Several threads may read one data set at once.
///
/// In SVMlight's format, an id is part of its document's comment, `docid = ID`, and is read and
/// written with it; `read_svmlight` and `make_dataset` (datasets/arrays.hpp) set both.
///
/// Features have numbers in the text, or all have names. Names get the numbers 1, 2, ... in byte
/// order, whatever their order in the text. Another text may have other names, so these numbers are
/// valid only within one data set: `apply_discretizer` matches names, and `renumbered` gives one
/// set the numbers of another.
struct dataset {
  std::string name;                  ///< the path, for messages
  std::vector<std::int32_t> labels;  ///< [N] 0 or more, or `unlabelled`
  /// [N] if some labels are fractional; `labels` are then rounded down.
  std::vector<double> fractional_labels;
  std::vector<query_group> queries;        ///< in file order; they cover 0..N
  std::vector<std::size_t> row{0};         ///< [N + 1]
  entry_list entries;                      ///< all rows, one after the other
  std::vector<std::string_view> comments;  ///< [N] trimmed; empty if no document has one
  std::vector<std::string_view> ids;       ///< [N] "": none; empty if no document has one
  feature_names names;                     ///< of the features, if the text has names
  std::vector<std::string_view> lines;  ///< [N] without LF or CRLF; empty for a set made in memory
  /// [N] 1-based line in the file; empty for a set made in memory.
  std::vector<std::uint64_t> line_numbers;
  char delimiter = 0;        ///< separator of delimited text (CSV, TSV); 0: another format
  std::string_view header;   ///< the header of delimited text, without LF or CRLF
  std::string label_column;  ///< title of the label column, empty for `label`
  std::shared_ptr<text_source const> text;  ///< keeps the views above alive; null without any

  std::size_t size() const noexcept { return labels.size(); }
  std::span<feature_value const> document(std::size_t d) const {
    return std::span(entries).subspan(row[d], row[d + 1] - row[d]);
  }
  /// Returns the largest label, at least 0.
  std::int32_t max_label() const noexcept;
  /// Returns the text after the first `#` of the document's line, trimmed; empty if there is none.
  std::string_view comment(std::size_t d) const {
    return d < comments.size() ? comments[d] : std::string_view{};
  }
  /// Returns the document's id (X in LETOR's comment `docid = X` or `#docid = X`), otherwise
  /// `line_id`.
  std::string docid(std::size_t d) const;
  /// Returns `<qid>-<line number>`, which is unique; in a set made in memory, documents count as
  /// lines.
  std::string line_id(std::size_t d) const;
};

/// Returns the position of document `d` for messages: the name of the data set, and the line or the
/// number from 1.
source_position place_of(dataset const& data, std::size_t d);

/// Throws `error` naming the first document without a label: "found a document without a label,
/// expected labels to `purpose`", such as "learn from". Also throws for a fractional label.
void expect_labels(dataset const& data, std::string_view purpose);

/// Returns the documents with a label, ascending. Throws `error` as `expect_labels` for a
/// fractional label, and if no document has a label.
std::vector<std::size_t> labelled_documents(dataset const& data, std::string_view purpose);

/// Returns a pool with the labels of a sample of it. A document of the sample is matched to the
/// first unmatched document of the pool with the same qid and values. All other documents become
/// `unlabelled`, whatever the pool's labels. Throws `error` naming a document of the sample that is
/// not in the pool.
dataset labelled_by_sample(dataset pool, dataset const& sample);

/// Returns the distinct features that any document lists, ascending.
std::vector<std::uint32_t> listed_features(dataset const& data);

/// Returns the name of a feature, or its number.
std::string name_of(std::uint32_t feature, feature_names const& names);

/// Renumbers the features of a data set as in `names`. Features with other names get the following
/// numbers. Without names on both sides, returns the data set unchanged. Throws `error` naming the
/// data set if one side has names and the other numbers.
dataset renumbered(dataset data, feature_names const& names);

/// Returns the position of each document in the input, 0 to N - 1: d itself, unless the lines were
/// regrouped. Files with one line or score per document are in input order.
std::vector<std::size_t> input_places(dataset const& data);

/// Returns the distinct documents `chosen` as a data set in that order; those of a query must be
/// together and ascending. Drops groups without documents. Throws `usage_error` otherwise.
dataset subset(dataset const& data, std::span<std::size_t const> chosen);
/// Returns the query groups of this subset.
std::vector<query_group> subset_queries(dataset const& data, std::span<std::size_t const> chosen);

}  // namespace rulerank::datasets
