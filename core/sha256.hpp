#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace rulerank::inline v0 {

/// SHA-256 (FIPS 180-4) of a stream of bytes, as sha256sum prints it. One thread at a time may use
/// an object.
class sha256 {
 public:
  sha256();
  ~sha256();
  sha256(sha256&&) noexcept;
  sha256& operator=(sha256&&) noexcept;
  void update(std::string_view bytes);
  /// Returns 64 hexadecimal digits and resets the object.
  std::string hex();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Identifies a file's content without reading it: changes if the file is written or replaced.
struct file_state {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t seconds = 0, nanoseconds = 0;  ///< time of the last change
  bool operator==(file_state const&) const = default;
};
/// All 0 unless it is a regular file.
file_state file_state_of(std::string const& path) noexcept;

std::string sha256_hex(std::string_view bytes);
/// Hashes a file's bytes as stored on disk; throws `error` if it cannot be read.
std::string sha256_of_file(std::string const& path);

}  // namespace rulerank
