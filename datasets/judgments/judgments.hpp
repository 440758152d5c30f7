#pragma once

#include "core/context.hpp"
#include "core/named_values.hpp"
#include "core/output_file.hpp"
#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

// Judgment lists and feature logs in the formats of several tools. Threads: any thread may call
// these functions at any time. Several threads may read an object at once, or one may change it.
namespace rulerank::inline v0::datasets {

enum class judgment_form { qrels, csv, rre, srw, ltr_log, solr_log, letor };

/// The input formats, and the output formats.
inline constexpr named_values<judgment_form, 6> judgment_inputs{
    {{"qrels", judgment_form::qrels},
     {"csv", judgment_form::csv},
     {"rre", judgment_form::rre},
     {"srw", judgment_form::srw},
     {"ltr-log", judgment_form::ltr_log},
     {"solr-log", judgment_form::solr_log}}};
inline constexpr named_values<judgment_form, 5> judgment_outputs{{{"qrels", judgment_form::qrels},
                                                                  {"csv", judgment_form::csv},
                                                                  {"rre", judgment_form::rre},
                                                                  {"srw", judgment_form::srw},
                                                                  {"letor", judgment_form::letor}}};

/// A position in one of the files of a list; smaller than `source_position`.
struct file_place {
  std::size_t file = 0;  ///< index of its name
  std::uint64_t line = 0, column = 0;
};

/// A query, identified by its id or its text.
struct query_key {
  std::string name;
  bool is_text = false;
  friend bool operator==(query_key const&, query_key const&) = default;
};

struct query_key_hash {
  std::size_t operator()(query_key const& key) const noexcept {
    return std::hash<std::string>()(key.name) + (key.is_text ? 1 : 0);
  }
};

/// The judgment of a document.
struct graded_document {
  std::string id;
  double grade = 0;
  file_place place;
};

struct graded_query {
  query_key key;
  std::vector<graded_document> documents;  ///< distinct ids, in file order
};

/// Judgments, with queries in the order of their first occurrence in the files.
class judgment_list {
 public:
  std::vector<std::string> files;  ///< names, for messages

  std::vector<graded_query> const& queries() const noexcept { return queries_; }
  /// Adds a judgment, unless it exists. Throws `error` if it exists with another grade.
  void add(query_key const& query, graded_document document);
  graded_document const* find(query_key const& query, std::string const& document) const;
  /// Returns the list with other query keys; several queries may get one key. Throws as `add`.
  judgment_list renamed(
      std::function<query_key(query_key const&, file_place const&)> const& key_of) const;
  source_position position(file_place const& place) const;

 private:
  std::vector<graded_query> queries_;
  std::unordered_map<query_key, std::size_t, query_key_hash> query_at_;
  std::vector<std::unordered_map<std::string, std::size_t>> document_at_;  // [queries]
};

/// A document logged by a search engine, with its features.
struct logged_document {
  std::string id;
  std::vector<feature_value> features;  ///< by the numbers of `feature_log::features`, ascending
  file_place place;
};

struct logged_query {
  query_key key;
  std::vector<logged_document> documents;  ///< distinct ids, in file order
};

/// Documents of queries with their features, as logged by search engines.
class feature_log {
 public:
  std::vector<std::string> files;  ///< names, for messages
  /// names, and the position where each occurs first.
  std::vector<std::pair<std::string, file_place>> features;

  std::vector<logged_query> const& queries() const noexcept { return queries_; }
  std::uint32_t number_of(std::string const& feature, file_place const& place);
  /// Adds a document, unless it exists. Throws `error` if it exists with other features.
  void add(query_key const& query, logged_document document);
  /// Returns the log with other query keys; several queries may get one key. Throws as `add`.
  feature_log renamed(
      std::function<query_key(query_key const&, file_place const&)> const& key_of) const;
  source_position position(file_place const& place) const;

 private:
  std::vector<logged_query> queries_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::unordered_map<query_key, std::size_t, query_key_hash> query_at_;
  std::vector<std::unordered_map<std::string, std::size_t>> document_at_;  // [queries]
};

/// The text of a query that also has an id.
struct query_text {
  std::string id, text;
  source_position where;
};

/// Judgments and feature logs of one or more files.
struct judgments_read {
  judgment_list judgments;
  feature_log log;
  std::vector<query_text> texts;  ///< in tables with ids and texts; may repeat
};

/// Reads a judgment list or feature log and adds it to `to`; plain, .gz or .zst, "-" for standard
/// input. Without `form`, the format is detected: JSON by the names of its members, a table by its
/// header, otherwise qrels. `warn` lists once the parts of the file that judgments cannot
/// represent.
///
/// - qrels: TREC's `qid iteration docno grade` or `qid docno grade`, as in MS MARCO.
/// - csv: records after a header that names a query, a document and a grade. `query` is a text;
///   `qid`, `query_id`, `topic` are ids, beside which `query` is their text. A record without a
///   grade is no judgment.
/// - rre: ratings of the Rated Ranking Evaluator, also as Quepid exports them.
/// - srw: judgments of OpenSearch's Search Relevance Workbench: an import file or the response to a
///   GET.
/// - ltr-log: responses of Elasticsearch or OpenSearch with `_ltrlog`, also of _msearch, one after
///   the other. A response's query is its own member `qid` or `query`, otherwise the name of
///   a file with one response. A feature without a value did not match and is 0.
/// - solr-log: responses of Solr with `[features]`. The query is `qid` or `query` as above, or
///   `responseHeader.params.qid` or `.q`. `id_field` is the document's member with its id.
///
/// `label_names`: words that qrels and csv have for the grades 0, 1, ...; empty: grades are
/// numbers. Returns the format. Throws `error` with the position of malformed input, of a grade
/// that is not finite or has no name, and of a document with two grades in a query or two lists of
/// features; throws `error` for a file without judgments.
judgment_form read_judgments(context const& ctx, std::string const& path,
                             std::optional<judgment_form> form, std::string const& id_field,
                             judgments_read& to,
                             std::function<void(std::string const&)> const& warn = {},
                             std::span<std::string const> label_names = {});

/// Ids of query texts: from a file, from judgments that have both, or 1, 2, ... in the order in
/// which the texts occur.
class query_ids {
 public:
  query_ids() = default;
  /// Reads queries in any format of `read_documents`. Throws `error` for a duplicate text.
  query_ids(context const& ctx, std::string const& path);
  /// Takes the ids and texts of judgments. Throws `error` for an id with two texts, and for a text
  /// with two ids.
  explicit query_ids(std::vector<query_text> const& texts);

  /// Gives all queries texts, or ids, judgments first. Throws `error` for a query that the file
  /// lacks, for an id without a file, and if some queries have ids and others need new ones.
  void name_queries(judgments_read& read, bool texts);
  /// Whether ids were assigned that are in no file.
  bool has_new() const noexcept { return has_new_; }
  bool empty() const noexcept { return texts_.empty(); }
  /// Writes lines with id, tab and text. Throws `error` for a text with a line end.
  void write(output_file& out) const;

 private:
  query_key key_as(bool text, query_key const& key, source_position const& where);

  void add(query_text&& query);

  std::string file_;    // its name; empty: no file
  bool given_ = false;  // all ids and texts are in the file or the judgments
  bool has_new_ = false;
  std::vector<query_text> texts_;
  std::unordered_map<std::string, std::size_t> of_id_, of_text_;
};

/// Further names in the outputs.
struct judgment_writing {
  std::string name = "judgments";            ///< rre: index name; srw: list name
  std::string id_field = "id";               ///< rre: field of documents that holds the id
  std::string template_file = "query.json";  ///< rre: file with the query template
};

/// Writes judgments as qrels, csv, rre or srw. Queries must be ids for qrels, texts for the other
/// formats. Throws `error` with the position of data that the format cannot hold: spaces in ids and
/// fractional grades in qrels, bytes that are not UTF-8 in JSON.
void write_judgments(judgment_list const& judgments, judgment_form form,
                     judgment_writing const& options, output_file& out);

/// A feature log with labels.
struct labelled_log {
  dataset data;                      ///< its ids are docids; queries and documents as in the log
  std::size_t without_label = 0;     ///< documents of the log without a judgment
  std::size_t without_features = 0;  ///< judgments of documents that the log lacks
};

/// Returns the documents of a log that have a judgment. Queries must be ids in both. Features with
/// only digits are numbers, otherwise names. Throws `error` for data that SVMlight's format cannot
/// hold (spaces in ids, names of features), for labels that are not nonnegative integers, and if no
/// document remains.
labelled_log label_log(feature_log const& log, judgment_list const& judgments);

}  // namespace rulerank::datasets
