#pragma once
// Queries: which documents belong together, by their qids, by a group file, or all to one.

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

/// Documents one after the other with the same qid (or all without one).
struct qid_run {
  std::optional<std::string_view> qid;
  std::size_t begin = 0;  ///< first document
  line_place place;       ///< of its qid, or where it would have to stand
};

/// Numbers the queries of a text from 0, its documents given in their order.
class query_former {
 public:
  /// Reads the group file, where the options name one; `name` stands in messages.
  query_former(context const& ctx, svmlight_options const& options, std::string name);

  /// Takes a run whose place counts the lines of the whole text and returns its query; it may be
  /// the query before, too. `last_line` (from 1) is that of the document before. When that
  /// document's query has ended, `ended` (may be empty) is called first. Throws `text_fault`.
  std::size_t begin_run(qid_run const& run, std::uint64_t last_line,
                        std::function<void()> const& ended = {});
  /// Takes a blank line that ends the query before it, `line` from 1: a run of the same query after
  /// it is at fault. False where no query has a qid: nothing ends.
  bool end_query(std::uint64_t line);
  /// Whether a group file gives the queries. If so, `next_of_group` is to be called for each
  /// document.
  bool grouped() const noexcept { return grouped_; }
  /// Takes a document and returns its query. Throws `error` naming the group file when its sizes
  /// are used up.
  std::size_t next_of_group();
  /// Whether the last document was the last of its group.
  bool group_is_whole() const noexcept { return left_ == 0; }
  std::string qid(std::size_t query) const;
  /// To be called at the text's end, after that many documents. Throws `error` for none, and for
  /// group sizes that add up to more.
  void finish(std::size_t documents, std::function<void(std::string const&)> const& warn) const;

 private:
  bool regroup_;
  bool grouped_;
  std::string group_file_;
  std::string name_;
  std::vector<group_size> sizes_;
  std::size_t group_ = 0;  // groups begun
  std::size_t left_ = 0;   // documents that the last of them lacks
  std::size_t taken_ = 0;  // documents in groups
  std::optional<bool> with_qid_;
  std::size_t current_ = 0;
  std::uint64_t ended_by_ = 0;  // the blank line that ended the query; 0: none did
  std::vector<std::string> qids_;
  std::vector<std::uint64_t> last_lines_;  // of the queries that ended
  std::unordered_map<std::string, std::size_t> numbers_;
};

}  // namespace rulerank::datasets
