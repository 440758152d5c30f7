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

/// The label of a document whose label is not known yet (`--unlabelled`).
inline constexpr std::int32_t unlabelled = -1;

/// A run of documents that belong to one query.
struct query_group {
  std::string qid;
  std::size_t begin = 0;  ///< first document
  std::size_t end = 0;    ///< one past the last
  std::size_t size() const noexcept { return end - begin; }
};

/// What features are called, by their numbers.
using feature_names = std::map<std::uint32_t, std::string>;

/// A feature of a document as its line lists it.
struct feature_value {
  std::uint32_t feature = 0;  ///< the file's number, 1-based unless read with `zero_based`
  double value = 0;           ///< NaN: listed as missing (`NULL`, `nan`)
};

/// Entries in a row. `resize` leaves the added ones unset, so that threads can fill what they own
/// without one of them touching all of it first; long ones ask for huge pages.
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

/// The text that a data set was read from (mapped or decompressed), or that was made for it. The
/// views of lines, comments and ids point into it.
class text_source {
 public:
  virtual ~text_source() = default;
  virtual std::string_view bytes() const noexcept = 0;
};

/// Some lines of a plain file: bytes [begin, end), where a line begins at both.
struct line_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t lines_before = 0;  ///< in the file
};

/// N documents in query groups, as read: nothing is normalized, filled in or dropped.
/// Entry lists are rows in compressed form: those of document d are
/// `entries[row[d] .. row[d + 1])`, features ascending and distinct. Several threads may read one
/// data set at once.
///
/// In SVMlight's form an id is a part of its document's comment, `docid = ID`, so that it is
/// written and read with it; `read_svmlight` and `make_dataset` (datasets/arrays.hpp) fill both.
///
/// Features have numbers in the text, or all of them have names. Names get the numbers 1, 2, ... in
/// the order of their bytes, whatever their order in the text. Another text may name others, so
/// numbers mean something within one data set alone: `apply_discretizer` goes by the names, and
/// `renumbered` gives one set the numbers of another.
struct dataset {
  std::string name;                        ///< the path, for messages
  std::vector<std::int32_t> labels;        ///< [N] 0 or more, or `unlabelled`
  std::vector<double> fractional_labels;   ///< [N] where some are, and `labels` are rounded down
  std::vector<query_group> queries;        ///< in file order; together they cover 0..N
  std::vector<std::size_t> row{0};         ///< [N + 1]
  entry_list entries;                      ///< all rows, one after the other
  std::vector<std::string_view> comments;  ///< [N] trimmed; empty where no document has one
  std::vector<std::string_view> ids;       ///< [N] "": none; empty where no document has one
  feature_names names;                     ///< of the features, where the text names them
  std::vector<std::string_view> lines;  ///< [N] without LF or CRLF; empty for a set made in memory
  std::vector<std::uint64_t> line_numbers;  ///< [N] 1-based, in the file; empty likewise
  char delimiter = 0;        ///< between the cells of delimited text (CSV, TSV); 0: another form
  std::string_view header;   ///< its first record, likewise without LF or CRLF
  std::string label_column;  ///< the title of its labels, empty for `label`
  std::shared_ptr<text_source const> text;  ///< keeps the views above alive; empty without any

  std::size_t size() const noexcept { return labels.size(); }
  std::span<feature_value const> document(std::size_t d) const {
    return std::span(entries).subspan(row[d], row[d + 1] - row[d]);
  }
  /// The largest label, at least 0.
  std::int32_t max_label() const noexcept;
  /// What follows the first `#` of the document's line, blanks trimmed; empty without one.
  std::string_view comment(std::size_t d) const {
    return d < comments.size() ? comments[d] : std::string_view{};
  }
  /// The document's id (X of LETOR's `docid = X` or `#docid = X` in the comment), else `line_id`.
  std::string docid(std::size_t d) const;
  /// `<qid>-<line number>`, no other document's; a set made in memory counts its documents as
  /// lines.
  std::string line_id(std::size_t d) const;
};

/// Where document `d` stands, for messages: the data set's name and its line, or its number from 1.
source_position place_of(dataset const& data, std::size_t d);

/// Throws `error` naming the first document without a label: "found a document without a label,
/// expected labels to `purpose`", such as "learn from", and likewise for a fractional label.
void expect_labels(dataset const& data, std::string_view purpose);

/// The documents that have a label, ascending. Throws `error` as `expect_labels` does for a
/// fractional label, and where no document has one.
std::vector<std::size_t> labelled_documents(dataset const& data, std::string_view purpose);

/// The pool that a sample was taken of, with the sample's labels: a document of the sample is the
/// first of the pool's that has its qid and its values and was no other one's. All others are
/// `unlabelled`, whatever the pool's labels. Throws `error` naming the sample's document that is
/// not in the pool.
dataset labelled_by_sample(dataset pool, dataset const& sample);

/// The distinct features that any document lists, ascending.
std::vector<std::uint32_t> listed_features(dataset const& data);

/// `FEATURE` or what it is called.
std::string name_of(std::uint32_t feature, feature_names const& names);

/// The data set with its features numbered as in `names`; those that are not there follow behind,
/// and keep their names. Without names on both sides it is given back as it is. Throws `error` that
/// names the data set where one side has names and the other numbers.
dataset renumbered(dataset data, feature_names const& names);

/// Where each document stands among those of its input, 0 to N - 1: d itself, but for a set whose
/// lines were regrouped. Files with a line or a score for each document keep the input's order.
std::vector<std::size_t> input_places(dataset const& data);

/// The distinct documents `chosen`, those of a query together and ascending, as a data set of their
/// own, in that order; groups that lose all their documents go. Throws `usage_error` for others.
dataset subset(dataset const& data, std::span<std::size_t const> chosen);
/// The query groups of that.
std::vector<query_group> subset_queries(dataset const& data, std::span<std::size_t const> chosen);

}  // namespace rulerank::datasets
