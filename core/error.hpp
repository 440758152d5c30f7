#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0 {

/// Text for a message that may go to a terminal: control characters, marks of direction and what is
/// not UTF-8 stand as \xNN. Errors do this to what they are given; warnings when shown.
std::string printable(std::string_view text);

/// Input for a message: in quotes, bytes beyond printable ASCII as \xNN, cut when long.
std::string quoted(std::string_view found);

/// A count for a message: `1 document`, `2 documents`; `many` where it is not `one` with an s.
std::string counted(std::uint64_t count, std::string_view one, std::string_view many = {});

/// A position in an input: 1-based line and column (in bytes). Line 0: the input as a whole, such
/// as a file that cannot be read. Column 0: the line as a whole, shown as column 1.
struct source_position {
  std::string file;
  std::uint64_t line = 0;
  std::uint64_t column = 0;
};

/// Bad input data. `what()` is `FILE:LINE:COLUMN: found, expected`, or `FILE: ...` for line 0,
/// printable.
class error : public std::runtime_error {
 public:
  error(source_position where, std::string_view found_and_expected);
  source_position const& where() const noexcept { return where_; }

 private:
  source_position where_;
};

/// A call with arguments that make no sense together; its program should explain the usage.
class usage_error : public std::invalid_argument {
 public:
  explicit usage_error(std::string_view message) : std::invalid_argument(printable(message)) {}
};

/// A device that is missing, lost or out of memory.
class device_error : public std::runtime_error {
 public:
  explicit device_error(std::string_view message) : std::runtime_error(printable(message)) {}
};

/// An output that could not be written (disk full, no permission).
class output_error : public std::runtime_error {
 public:
  explicit output_error(std::string_view message) : std::runtime_error(printable(message)) {}
};

/// The work was stopped from outside: a stop token, or a progress callable that returned false.
class interrupted : public std::runtime_error {
 public:
  interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace rulerank
