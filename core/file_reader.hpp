#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace rulerank::inline v0 {

/// Reads `bytes` bytes of an open file from `begin` on, or fewer at the end of the file; resumes
/// short and interrupted calls. Returns the number read, or a negative number with errno set.
ssize_t read_at(int descriptor, void* to, std::size_t bytes, std::uint64_t begin) noexcept;

/// An open file. Several threads may read it at once.
class file_reader {
 public:
  /// Throws `error` naming the file if it cannot be opened.
  explicit file_reader(std::string path);
  ~file_reader();
  file_reader(file_reader const&) = delete;
  file_reader& operator=(file_reader const&) = delete;

  /// Returns the current size in bytes. Throws `error` unless it is a regular file; `expected` says
  /// what it should be ("an index").
  std::size_t expect_regular(std::string_view expected) const;
  /// Reads bytes from `begin` on and returns their number: fewer than `bytes` only at the end of
  /// the file. Throws `error` if the file cannot be read.
  std::size_t read(void* to, std::size_t bytes, std::uint64_t begin) const;

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace rulerank
