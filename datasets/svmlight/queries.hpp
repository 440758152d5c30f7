#pragma once
// Groups documents into queries: by their qids, by a group file, or all into one.

#include "core/context.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/svmlight/faults.hpp"
#include "datasets/svmlight/group_file.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rulerank::inline v0::datasets {

/// Consecutive documents with the same qid, or without one.
struct qid_run {
  std::optional<std::string_view> qid;
  std::size_t begin = 0;  ///< first document
  line_place place;       ///< where the qid is, or is expected
};

/// Numbers the queries of a text from 0, given its documents in order.
class query_former {
 public:
  /// Reads the group file, if the options name one; `name` is used in messages.
  query_former(context const& ctx, svmlight_options const& options, std::string name);

  /// Takes a run whose position counts the lines of the whole text, and returns its query, which
  /// may be the previous one. `last_line` (from 1) is the line of the previous document. If that
  /// document's query has ended, calls `ended` (may be empty) first. Throws `text_fault`.
  std::size_t begin_run(qid_run const& run, std::uint64_t last_line,
                        std::function<void()> const& ended = {});
  /// Takes an empty line, `line` from 1, which ends the query before it: a later run of this query
  /// is a fault. Returns false if queries have no qid, so that nothing ends.
  bool end_query(std::uint64_t line);
  /// Whether a group file defines the queries. If so, `next_of_group` must be called for each
  /// document.
  bool grouped() const noexcept { return grouped_; }
  /// Takes a document and returns its query. Throws `error` naming the group file if its sizes are
  /// exhausted.
  std::size_t next_of_group();
  /// Whether the last document completed its group.
  bool group_is_whole() const noexcept { return left_ == 0; }
  std::string qid(std::size_t query) const;
  /// Must be called at the end of the text with the number of documents. Throws `error` if there
  /// are none, and if the group sizes add up to more.
  void finish(std::size_t documents, std::function<void(std::string const&)> const& warn) const;

 private:
  bool regroup_;
  std::string_view regroup_option_;  // its name in messages
  bool grouped_;
  std::string group_file_;
  std::string name_;
  std::vector<group_size> sizes_;
  std::size_t group_ = 0;  // groups begun
  std::size_t left_ = 0;   // documents that are missing in the last group
  std::size_t taken_ = 0;  // documents in groups
  std::optional<bool> with_qid_;
  std::size_t current_ = 0;
  std::uint64_t ended_by_ = 0;  // line of the empty line that ended the query; 0: none
  std::vector<std::string> qids_;
  std::vector<std::uint64_t> last_lines_;  // of the queries that ended
  std::unordered_map<std::string, std::size_t> numbers_;
};

}  // namespace rulerank::datasets
