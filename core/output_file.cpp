#include "core/output_file.hpp"

#include "core/error.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rulerank {

namespace {

constexpr std::size_t buffer_size = 1 << 18;

[[noreturn]] void fail(std::string const& path, char const* what) {
  throw output_error(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

std::string partial_name(std::string const& path) {
  static std::atomic<unsigned> count{0};
  std::filesystem::path const target(path);
  return (target.parent_path() /
          fmt::format(".{}.partial-{}-{}", target.filename().string(), ::getpid(), count++))
      .string();
}

}  // namespace

output_file::output_file(std::string path) : path_(std::move(path)) {
  if (path_ == "-") {
    standard_output_ = true;
    descriptor_ = STDOUT_FILENO;
    return;
  }
  if (std::filesystem::is_directory(path_)) {
    errno = EISDIR;
    fail(path_, "cannot be written");
  }
  struct stat old {};
  if (::stat(path_.c_str(), &old) == 0 && !S_ISREG(old.st_mode)) {
    // A device or a pipe (/dev/null, /dev/full, process substitution) is written in place.
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(path_, "cannot be written");
    standard_output_ = true;
    return;
  }
  // A link stays: what it leads to is replaced.
  if (std::filesystem::is_symlink(path_)) path_ = std::filesystem::weakly_canonical(path_).string();
  std::filesystem::path const parent = std::filesystem::path(path_).parent_path();
  std::string const folder = parent.empty() ? std::string(1, '.') : parent.string();
#ifdef O_TMPFILE
  descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#endif
  if (descriptor_ < 0) {
    partial_ = partial_name(path_);
    descriptor_ = ::open(partial_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      partial_.clear();
      fail(path_, "cannot be written");
    }
  }
}

output_file::~output_file() {
  discard();
}

output_file::output_file(output_file&& other) noexcept
    : path_(std::move(other.path_)),
      partial_(std::exchange(other.partial_, {})),
      buffer_(std::exchange(other.buffer_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      standard_output_(std::exchange(other.standard_output_, false)) {}

output_file& output_file::operator=(output_file&& other) noexcept {
  if (this != &other) {
    discard();
    path_ = std::move(other.path_);
    partial_ = std::exchange(other.partial_, {});
    buffer_ = std::exchange(other.buffer_, {});
    descriptor_ = std::exchange(other.descriptor_, -1);
    standard_output_ = std::exchange(other.standard_output_, false);
  }
  return *this;
}

void output_file::discard() noexcept {
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
  descriptor_ = -1;
  if (!partial_.empty()) ::unlink(partial_.c_str());
  partial_.clear();
  buffer_.clear();
}

void output_file::write(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= buffer_size) flush_buffer();
}

void output_file::flush() {
  flush_buffer();
}

void output_file::flush_buffer() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    ssize_t const written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail(path_ == "-" ? "standard output" : path_, "cannot be written");
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void output_file::commit() {
  flush_buffer();
  if (standard_output_) {
    discard();
    return;
  }
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail(path_, "cannot be written");
  struct stat old {};
  if (::stat(path_.c_str(), &old) == 0) ::fchmod(descriptor_, old.st_mode & 07777);
  if (partial_.empty()) {
    std::string const name = partial_name(path_);
    std::string const self = fmt::format("/proc/self/fd/{}", descriptor_);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
      fail(path_, "cannot be written");
    partial_ = name;
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, "cannot be written");
  if (::rename(partial_.c_str(), path_.c_str()) != 0) fail(path_, "cannot be written");
  partial_.clear();
}

void write_file(std::string const& path, std::string_view bytes) {
  output_file file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace rulerank
