#include "core/append_file.hpp"

#include "core/error.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rulerank::inline v0 {

namespace {

[[noreturn]] void fail_to_append(std::string const& path) {
  throw output_error(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

}  // namespace

append_file::append_file(std::string path, std::string_view kept) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_to_append(path_);
  try {
    struct stat found {};
    if (::fstat(descriptor_, &found) != 0) fail_to_append(path_);
    if (!S_ISREG(found.st_mode))
      throw output_error(fmt::format(
          "{}: cannot keep {}, because it is not a regular file; expected the name of a file",
          path_, kept));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
      throw output_error(fmt::format("{}: another process is writing to it", path_));
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

append_file::~append_file() {
  ::close(descriptor_);
}

std::string append_file::read() const {
  std::string text;
  char piece[1 << 16];
  for (;;) {
    ssize_t const count =
        ::pread(descriptor_, piece, sizeof piece, static_cast<off_t>(text.size()));
    if (count == 0) return text;
    if (count < 0 && errno != EINTR)
      throw error({path_, 0, 0}, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (count > 0) text.append(piece, static_cast<std::size_t>(count));
  }
}

void append_file::cut(std::size_t size) {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) fail_to_append(path_);
}

void append_file::append(std::string_view text) {
  // Removes a partial line, left by a full disk, so that no later line is appended to it.
  off_t const end = ::lseek(descriptor_, 0, SEEK_END);
  std::string_view left = text;
  while (!left.empty()) {
    ssize_t const count = ::write(descriptor_, left.data(), left.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      int const why = errno;
      if (::ftruncate(descriptor_, end) != 0) {
        // Readers detect an incomplete last line.
      }
      errno = why;
      fail_to_append(path_);
    }
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(descriptor_) != 0) fail_to_append(path_);
}

void append_file::sync_folder() const {
  std::filesystem::path const parent = std::filesystem::path(path_).parent_path();
  int const folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

}  // namespace rulerank
