#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0 {

/// Makes text safe for a terminal: control characters, direction marks and bytes that are not UTF-8
/// become \xNN. Errors apply it to their message at once; warnings when printed.
std::string printable(std::string_view text);

/// Quotes input for a message: bytes outside printable ASCII become \xNN, and long input is cut.
std::string quoted(std::string_view found);

/// A count for a message: `1 document`, `2 documents`. `many` is the plural if it is not `one` plus
/// s.
std::string counted(std::uint64_t count, std::string_view one, std::string_view many = {});

/// A position in an input: 1-based line and column (in bytes). Line 0: the whole input, such as a
/// file that cannot be read. Column 0: the whole line, shown as column 1.
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

/// A call with arguments that contradict each other; the program should explain the usage.
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

/// The work was interrupted, by a stop token or by a progress callable that returned false.
class interrupted : public std::runtime_error {
 public:
  interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace rulerank
