#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace rulerank::inline v0 {

/// Reads bytes of a descriptor's file from `begin` on: fewer than `bytes` at its end alone, as
/// calls that are short or interrupted go on. Below 0, with errno: it cannot be read.
ssize_t read_at(int descriptor, void* to, std::size_t bytes, std::uint64_t begin) noexcept;

/// A file that is open. Several threads may read it at once.
class file_reader {
 public:
  /// Throws `error` naming the file where it cannot be opened.
  explicit file_reader(std::string path);
  ~file_reader();
  file_reader(file_reader const&) = delete;
  file_reader& operator=(file_reader const&) = delete;

  /// The bytes of the file now. Throws `error` where it is a folder or no regular file: `expected`
  /// says what it should be ("an index").
  std::size_t expect_regular(std::string_view expected) const;
  /// Reads bytes from `begin` on and returns their number: fewer than `bytes` at the file's end
  /// alone. Throws `error` where it cannot be read.
  std::size_t read(void* to, std::size_t bytes, std::uint64_t begin) const;

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace rulerank
