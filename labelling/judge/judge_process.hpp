#pragma once

#include "core/context.hpp"

#include <cstddef>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace rulerank::inline v0::labelling {

/// A program that reads lines from its standard input and writes lines to its standard output. Its
/// standard error is ours. `/bin/sh -c COMMAND` starts it in a process group of its own. Not
/// thread-safe.
class judge_process {
 public:
  /// Throws `output_error` if no process can be started.
  explicit judge_process(std::string const& command);
  /// Closes the program's input, waits up to half a second for its end, then kills its process
  /// group.
  ~judge_process();
  judge_process(judge_process const&) = delete;
  judge_process& operator=(judge_process const&) = delete;

  /// Queues a line for the program; `next` writes it.
  void send(std::string_view line);

  enum class event { line, time_out, end };
  /// Waits for the program's next line, which goes to `line` without its line feed, for at most
  /// `seconds`. After `end` (the program closed its output, or wrote a line of more than 1 MiB) the
  /// object is of no more use. Throws `interrupted` within 0.1 s of a stop request.
  event next(context const& ctx, double seconds, std::string& line);
  /// Kills the program if it still runs, and says how it ended: "exit status 1", "signal 9".
  std::string how_it_ended();

 private:
  void write_some();
  bool read_some();

  pid_t child_ = -1;
  int input_ = -1, output_ = -1;  // our ends of its standard input and output
  std::string unsent_, unread_;
};

}  // namespace rulerank::labelling
