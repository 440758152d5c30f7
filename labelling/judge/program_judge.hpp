#pragma once

#include "core/append_file.hpp"
#include "core/context.hpp"
#include "labelling/judge/judge_process.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

// Labels from a program. The program gets one JSON object a line and answers with one a line, in
// any order; docs/reference/judges.md defines both and the record.
namespace rulerank::inline v0::labelling {

/// The beginning of the first line of a record.
inline constexpr std::string_view judge_record_mark =
    R"({"rulerank":"judgments of a program","version":1})";

/// The program's answer about a document.
struct verdict {
  std::optional<std::int32_t> label;  ///< empty: the document is excluded
  std::vector<double> probabilities;  ///< [max_label + 1] of the labels; empty: not given
  double cost = 0;
  std::string reason, source;
  std::string time;  ///< UTC, such as 2026-01-31T12:00:00Z
};

struct judge_options {
  std::string command;           ///< for /bin/sh
  std::string record;            ///< path of the file that keeps every answer and failure
  double seconds = 60;           ///< without any answer, after which the program is ended
  std::uint64_t most_calls = 0;  ///< that the record may hold; 0: no limit
  double most_cost = 0;          ///< likewise, in the unit of the program's answers
  std::int32_t max_label = 4;
};

/// Asks a program, and keeps its answers in a record. A question that the record answers costs no
/// call: the command and the request identify it. Each answer and each failure is on disk before it
/// counts. Not thread-safe.
class program_judge {
 public:
  /// Reads the record. Throws `error` with its line for a file that is no record, and
  /// `output_error` for a file that cannot be written.
  explicit program_judge(judge_options options);

  /// Returns an answer for each request, or nothing where the program gave none in three attempts,
  /// three starts in a row gave no answer at all, or a budget is used up. The program gets all
  /// requests at once, and one at a time after it ended, was silent or wrote something else. Throws
  /// `interrupted`; answers so far are in the record.
  std::vector<std::optional<verdict>> judge(context const& ctx,
                                            std::span<nlohmann::ordered_json const> requests);

  /// Sums over the record: requests sent, and the costs that answers state, failed ones included.
  std::uint64_t calls() const noexcept { return calls_; }
  double cost() const noexcept { return cost_; }
  /// Number of answers of this object from the record alone.
  std::size_t recalled() const noexcept { return recalled_; }
  /// Why the last request without an answer has none.
  std::string const& problem() const noexcept { return problem_; }

 private:
  struct round;
  void read_record();
  void add_call(double cost);
  void write(nlohmann::ordered_json const& line);
  bool may_send(std::size_t waiting);
  void send(round& now);
  void hear(round& now, std::string const& line);
  /// `is_its_own`: another request cannot be the reason.
  void fail(round& now, std::size_t request, std::string const& why, bool is_its_own,
            double cost = 0);
  void fail_all(round& now, std::string const& why);

  judge_options options_;
  append_file record_;
  std::unordered_map<std::string, verdict> known_;  // by the key of the question
  std::unique_ptr<judge_process> process_;
  std::uint64_t calls_ = 0;
  double cost_ = 0, largest_cost_ = 0;
  std::size_t recalled_ = 0;
  std::size_t next_id_ = 0;
  std::string problem_;
};

}  // namespace rulerank::labelling
