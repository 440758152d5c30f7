#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "eval/agreement.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

// Reads labels of several sources. docs/reference/verbs/agreement.md defines the forms of files.
namespace rulerank::inline v0::labelling {

/// Collects labels of sources about pairs of a query and a document.
class label_sources {
 public:
  /// `pool`: the documents that journals name by their line; null: journals are refused.
  explicit label_sources(datasets::dataset const* pool = nullptr) : pool_(pool) {}

  /// Reads a file: judgments; a table with the columns qid, docid, label and labeller; a journal of
  /// `label` or `reduce`; or the record of a program. `name` names a source without a name in its
  /// file, and replaces the names of a record if `replace`. Skipped documents and labels below 0
  /// are left out. If a journal, record or table has several labels of a source for a document, the
  /// last one counts. Throws `error` with line and column.
  void read(context const& ctx, std::string const& path, std::string const& name, bool replace);

  eval::ratings ratings() const;
  /// [units] qid and docid.
  std::vector<std::pair<std::string, std::string>> const& units() const noexcept { return units_; }

 private:
  void add(std::string const& source, std::string const& qid, std::string const& docid,
           std::int32_t label);
  void read_journal(std::string_view text, std::string const& path, std::string const& name);
  void read_record(std::string_view text, std::string const& path, std::string const& name,
                   bool replace);
  bool read_table(std::string_view text, std::string const& path);

  datasets::dataset const* pool_;
  std::vector<std::string> sources_, qids_;
  std::vector<std::pair<std::string, std::string>> units_;
  std::vector<std::size_t> query_of_;  // [units]
  std::map<std::string, std::size_t> source_at_, query_at_;
  std::map<std::pair<std::string, std::string>, std::size_t> unit_at_;
  std::map<std::pair<std::size_t, std::size_t>, std::int32_t> labels_;  // by unit and source
};

}  // namespace rulerank::labelling
