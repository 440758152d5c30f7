#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rulerank::inline v0 {

/// An output that appears whole or not at all. Bytes go to a nameless file in the target's folder
/// (where the file system has them, else to `.NAME.partial-PID-N`), and `commit()` puts it in the
/// place of `path` with one link or rename. Destroyed without a commit, it leaves what was there.
/// The path `-` is standard output, written as it comes; so are devices, pipes and what a link to
/// an open descriptor (/dev/stdout, /dev/fd/N, /proc/self/fd/N) leads to, a file too: the shell
/// that opened it keeps it. Another link stays, and what it leads to is replaced.
///
/// One thread at a time may use an output; several outputs may be written at once.
class output_file {
 public:
  /// Throws `output_error` when the folder cannot be written.
  explicit output_file(std::string path) : output_file(std::move(path), {}) {}
  /// `observe` gets all bytes that are written (not those of `map`), in their order, as they are
  /// handed to the system, the last of them in `commit`.
  output_file(std::string path, std::function<void(std::string_view)> observe);
  ~output_file();
  output_file(output_file&&) noexcept;
  output_file& operator=(output_file&&) noexcept;

  /// Throws `output_error` on a full disk and the like.
  void write(std::string_view bytes);
  /// Instead of `write`: the file's bytes, all 0, to be filled before the commit; their room on the
  /// disk is taken at once. At most once, and only for a file that is replaced: `usage_error` for
  /// standard output, a device or a pipe, `output_error` on a full disk.
  std::span<std::byte> map(std::size_t bytes);
  /// Hands what is buffered to the system (a reader of standard output sees it now).
  void flush();
  /// Flushes to the disk and renames; throws `output_error`. Nothing may be written afterwards.
  void commit();
  std::string const& path() const noexcept { return path_; }

 private:
  void discard() noexcept;
  void unmap() noexcept;
  void flush_buffer();
  std::string path_;
  std::string partial_;  // the named partial file, empty for a nameless one
  std::string buffer_;
  std::function<void(std::string_view)> observe_;
  std::span<std::byte> mapped_;
  int descriptor_ = -1;
  bool in_place_ = false;  // nothing is renamed
};

/// Whether two paths name the same output: one descriptor, one file or pipe, or one path where
/// nothing is yet. A device such as /dev/null may be named any number of times.
bool same_output(std::string const& a, std::string const& b);

/// A path, and what names it in messages, such as an option.
struct named_path {
  std::string name;
  std::string path;  ///< empty: not given
};

/// Throws `usage_error` naming both where two outputs are the same, and where an output would take
/// the place of an input. Files are compared by device and inode, what is not there yet by where it
/// would be made. Inputs that are no files (streams, devices, folders) are in no output's way; one
/// may have no name.
void expect_apart(std::vector<named_path> const& inputs, std::vector<named_path> const& outputs);

/// One run at a time writes results into a folder. Holds the folder until it is destroyed or its
/// process ends, however it ends; locks of different processes and of one process's threads keep
/// each other out alike. The lock is a file `.rulerank.lock` in the folder, removed at the end.
class folder_lock {
 public:
  /// Holds nothing.
  folder_lock() = default;
  /// Throws `output_error` when the folder is held already, or cannot be written.
  explicit folder_lock(std::string const& folder);
  ~folder_lock();
  folder_lock(folder_lock&& other) noexcept;
  folder_lock& operator=(folder_lock&& other) noexcept;

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// What `write` writes to an output, in memory. Throws `output_error` where there is not enough.
std::string written_bytes(std::function<void(output_file&)> const& write);

/// Writes a whole file at once; like an `output_file`, it appears whole or not at all.
void write_file(std::string const& path, std::string_view bytes);

/// Makes a folder and the folders above it where they do not exist. Throws `output_error` where
/// that fails or something else has the name.
void make_folders(std::string const& path);

}  // namespace rulerank
