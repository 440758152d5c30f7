#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rulerank::inline v0 {

/// A text file that grows by whole lines, each of which is on disk when `append` returns. One
/// process at a time can open it. One thread at a time may use an object.
class append_file {
 public:
  /// Opens or creates the file. `kept` names what it keeps, for messages ("answers"). Throws
  /// `output_error` for a file that cannot be written, is not a regular file or is open in another
  /// process.
  append_file(std::string path, std::string_view kept);
  ~append_file();
  append_file(append_file const&) = delete;
  append_file& operator=(append_file const&) = delete;

  std::string const& path() const noexcept { return path_; }
  /// Returns the whole content, from the start.
  std::string read() const;
  /// Cuts the file to its first `size` bytes.
  void cut(std::size_t size);
  /// Appends text. If it cannot be written, cuts off its beginning and throws `output_error`.
  void append(std::string_view text);
  /// Makes the directory entry of a new file durable.
  void sync_folder() const;

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace rulerank
