#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rulerank::inline v0 {

/// An output that appears whole or not at all. Bytes go to a nameless file in the target's folder,
/// or to `.NAME.partial-PID-N` on file systems without nameless files. `commit()` moves it to
/// `path` with one link or rename. Without a commit, an existing file at `path` stays unchanged.
///
/// Some outputs are written directly instead: standard output (path `-`), devices, pipes, and the
/// target of a link to an open descriptor (/dev/stdout, /dev/fd/N, /proc/self/fd/N), even a regular
/// file, because the shell that opened it keeps it open. Any other link stays, and its target is
/// replaced.
///
/// One thread at a time may use an output; several outputs may be written at once.
class output_file {
 public:
  /// Throws `output_error` if the folder cannot be written.
  explicit output_file(std::string path) : output_file(std::move(path), {}) {}
  /// `observe` receives all bytes written (except through `map`), in order, as they are passed to
  /// the system; `commit` passes the last ones.
  output_file(std::string path, std::function<void(std::string_view)> observe);
  ~output_file();
  output_file(output_file&&) noexcept;
  output_file& operator=(output_file&&) noexcept;

  /// Throws `output_error`, for example on a full disk.
  void write(std::string_view bytes);
  /// Replaces `write`: returns the bytes of the file, all 0, to fill before the commit. Allocates
  /// their space on disk at once. At most one call. Throws `usage_error` for standard output, a
  /// device or a pipe, and `output_error` on a full disk.
  std::span<std::byte> map(std::size_t bytes);
  /// Passes buffered bytes to the system, so that a reader of standard output sees them.
  void flush();
  /// Flushes to disk and renames; throws `output_error`. No write may follow.
  void commit();
  std::string const& path() const noexcept { return path_; }

 private:
  void discard() noexcept;
  void unmap() noexcept;
  void flush_buffer();
  std::string path_;
  std::string partial_;  // the named partial file; empty for a nameless one
  std::string buffer_;
  std::function<void(std::string_view)> observe_;
  std::span<std::byte> mapped_;
  int descriptor_ = -1;
  bool in_place_ = false;  // written directly, without a rename
};

/// Returns whether two paths name one output: one descriptor, one file or pipe, or one path without
/// a file yet. Paths to a device such as /dev/null never are one output.
bool same_output(std::string const& a, std::string const& b);

/// A path, and its name in messages, such as an option.
struct named_path {
  std::string name;
  std::string path;  ///< empty: not given
};

/// Throws `usage_error` naming both paths if two outputs are the same, or if an output would
/// replace an input. Compares files by device and inode, and missing files by the path where they
/// would be made. Inputs that are not regular files (streams, devices, folders) never conflict; the
/// name of an input may be empty.
void expect_apart(std::vector<named_path> const& inputs, std::vector<named_path> const& outputs);

/// Lets one run at a time write results into a folder. The lock lasts until the object is destroyed
/// or its process ends in any way. It excludes other processes and other threads of this process
/// alike. The lock is a file `.rulerank.lock` in the folder, removed at the end.
class folder_lock {
 public:
  /// Holds nothing.
  folder_lock() = default;
  /// Throws `output_error` if the folder is locked already or cannot be written.
  explicit folder_lock(std::string const& folder);
  ~folder_lock();
  folder_lock(folder_lock&& other) noexcept;
  folder_lock& operator=(folder_lock&& other) noexcept;

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// Returns in memory what `write` writes to an output. Throws `output_error` if there is not enough
/// memory.
std::string written_bytes(std::function<void(output_file&)> const& write);

/// Writes a whole file at once; like an `output_file`, it appears whole or not at all.
void write_file(std::string const& path, std::string_view bytes);

/// Makes a folder and its missing parents. Throws `output_error` if that fails or a name belongs to
/// something else.
void make_folders(std::string const& path);

}  // namespace rulerank
