#include "core/output_file.hpp"

#include "core/error.hpp"
#include "core/file_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rulerank::inline v0 {

namespace {

constexpr std::size_t buffer_size = 1 << 18;

[[noreturn]] void fail(std::string const& path, char const* what) {
  throw output_error(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

/// Makes text safe for a terminal, since bytes of a file could control it.
std::string for_terminal(std::string_view text) {
  std::string to;
  while (!text.empty()) {
    std::size_t const end = std::min(text.find_first_of("\n\t"), text.size());
    to += printable(text.substr(0, end));
    if (end < text.size()) to += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return to;
}

/// Truncates the name so that every file system accepts the partial name.
std::string partial_name(std::string const& path) {
  constexpr std::size_t most = 100;
  static std::atomic<unsigned> count{0};
  std::filesystem::path const target(path);
  return (target.parent_path() / fmt::format(".{}.partial-{}-{}",
                                             target.filename().string().substr(0, most), ::getpid(),
                                             count++))
      .string();
}

/// The destination of an output: an open descriptor, or a path that is no link.
struct target {
  int descriptor = -1;
  std::string path;
};

/// Returns the number of an entry of /proc/self/fd, by whatever path the folder was reached, or -1.
int descriptor_named(std::filesystem::path const& path) {
  std::error_code absent;
  auto const folder = std::filesystem::canonical(
      path.has_parent_path() ? path.parent_path() : std::filesystem::path("."), absent);
  if (absent || folder != std::filesystem::canonical("/proc/self/fd", absent)) return -1;
  std::string const name = path.filename().string();
  int descriptor = -1;
  auto const [end, status] = std::from_chars(name.data(), name.data() + name.size(), descriptor);
  return status == std::errc{} && end == name.data() + name.size() ? descriptor : -1;
}

/// Returns -1 with errno set if the descriptor does not exist or is read-only.
int writable_copy(int descriptor) {
  int const flags = ::fcntl(descriptor, F_GETFL);
  if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  errno = EBADF;
  return -1;
}

/// Follows the links of the path's last component, and stops at a link to an open descriptor.
target resolve(std::string const& path) {
  if (path == "-") return {STDOUT_FILENO, path};
  constexpr int most_links = 40;  // the kernel's limit
  std::filesystem::path at = path;
  for (int links = 0; links <= most_links; ++links) {
    if (int const descriptor = descriptor_named(at); descriptor >= 0) return {descriptor, path};
    std::error_code none;
    std::filesystem::path const linked = std::filesystem::read_symlink(at, none);
    if (none) return {-1, at.string()};
    at = at.parent_path() / linked;
  }
  errno = ELOOP;
  fail(path, "cannot be written");
}

}  // namespace

bool same_output(std::string const& a, std::string const& b) {
  target const at = resolve(a), other = resolve(b);
  if (at.descriptor >= 0 && at.descriptor == other.descriptor) return true;
  auto const look = [](target const& p, struct stat& found) {
    return (p.descriptor >= 0 ? ::fstat(p.descriptor, &found) : ::stat(p.path.c_str(), &found)) ==
           0;
  };
  struct stat found {};
  struct stat other_found {};
  bool const exists = look(at, found);
  if (exists != look(other, other_found)) return false;
  if (exists)
    return found.st_dev == other_found.st_dev && found.st_ino == other_found.st_ino &&
           !S_ISCHR(found.st_mode);
  auto const absolute = [](target const& p) {
    std::error_code unreadable;
    auto const path = std::filesystem::absolute(p.path).lexically_normal();
    auto const real = std::filesystem::weakly_canonical(p.path, unreadable);
    return unreadable ? path : std::filesystem::absolute(real);
  };
  return at.descriptor < 0 && other.descriptor < 0 && absolute(at) == absolute(other);
}

output_file::output_file(std::string path, std::function<void(std::string_view)> observe)
    : path_(std::move(path)), observe_(std::move(observe)) {
  target const to = resolve(path_);
  if (to.descriptor >= 0) {
    // The caller holds this file open, as a shell's redirection does: write from the caller's
    // position, without replacing the file.
    in_place_ = true;
    descriptor_ = path_ == "-" ? STDOUT_FILENO : writable_copy(to.descriptor);
    if (descriptor_ < 0) fail(path_, "cannot be written");
    return;
  }
  path_ = to.path;  // keeps a link, and replaces its target
  struct stat old {};
  bool const exists = ::stat(path_.c_str(), &old) == 0;
  if (!exists && errno != ENOENT)
    // For example, the name is too long.
    fail(path_, "cannot be written");
  if (exists && S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    fail(path_, "cannot be written");
  }
  if (exists && !S_ISREG(old.st_mode)) {
    // A device or a pipe (/dev/null, /dev/full, process substitution) is written in place.
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(path_, "cannot be written");
    in_place_ = true;
    return;
  }
  std::filesystem::path const parent = std::filesystem::path(path_).parent_path();
  std::string const folder = parent.empty() ? std::string(1, '.') : parent.string();
#ifdef O_TMPFILE
  descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#endif
  if (descriptor_ < 0) {
    partial_ = partial_name(path_);
    descriptor_ = ::open(partial_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
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
      observe_(std::exchange(other.observe_, {})),
      mapped_(std::exchange(other.mapped_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      in_place_(std::exchange(other.in_place_, false)) {}

output_file& output_file::operator=(output_file&& other) noexcept {
  if (this != &other) {
    discard();
    path_ = std::move(other.path_);
    partial_ = std::exchange(other.partial_, {});
    buffer_ = std::exchange(other.buffer_, {});
    observe_ = std::exchange(other.observe_, {});
    mapped_ = std::exchange(other.mapped_, {});
    descriptor_ = std::exchange(other.descriptor_, -1);
    in_place_ = std::exchange(other.in_place_, false);
  }
  return *this;
}

void output_file::discard() noexcept {
  unmap();
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
  descriptor_ = -1;
  if (!partial_.empty()) ::unlink(partial_.c_str());
  partial_.clear();
  buffer_.clear();
}

void output_file::unmap() noexcept {
  if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
  mapped_ = {};
}

std::span<std::byte> output_file::map(std::size_t bytes) {
  if (in_place_)
    throw usage_error(
        fmt::format("{}: expected a file, because this output is not written in order",
                    path_ == "-" ? "standard output" : path_));
  if (bytes == 0) return {};
  if (int const status = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes))) {
    errno = status;
    fail(path_, "cannot be written");
  }
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (at == MAP_FAILED) fail(path_, "cannot be written");
  mapped_ = {static_cast<std::byte*>(at), bytes};
  return mapped_;
}

void output_file::write(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= buffer_size) flush_buffer();
}

void output_file::flush() {
  flush_buffer();
}

void output_file::flush_buffer() {
  if (in_place_ && !buffer_.empty() && ::isatty(descriptor_) == 1) buffer_ = for_terminal(buffer_);
  if (observe_ && !buffer_.empty()) observe_(buffer_);
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
  if (!mapped_.empty() && ::msync(mapped_.data(), mapped_.size(), MS_SYNC) != 0)
    fail(path_, "cannot be written");
  unmap();
  if (in_place_) {
    discard();
    return;
  }
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail(path_, "cannot be written");
  struct stat old {};
  if (::stat(path_.c_str(), &old) == 0) ::fchmod(descriptor_, old.st_mode & 07777);
  bool in_its_place = false;
  if (partial_.empty()) {
    std::string const self = fmt::format("/proc/self/fd/{}", descriptor_);
    auto const link = [&](std::string const& name) {
      return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    };
    in_its_place = link(path_);
    if (!in_its_place) {
      if (errno != EEXIST) fail(path_, "cannot be written");
      // Renamed later, since a link cannot replace a file.
      std::string const name = partial_name(path_);
      if (!link(name)) fail(path_, "cannot be written");
      partial_ = name;
    }
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    int const failure = errno;
    if (in_its_place) ::unlink(path_.c_str());
    errno = failure;
    fail(path_, "cannot be written");
  }
  if (in_its_place) return;
  if (::rename(partial_.c_str(), path_.c_str()) != 0) fail(path_, "cannot be written");
  partial_.clear();
}

std::string written_bytes(std::function<void(output_file&)> const& write) {
  constexpr char const* name = "what is written in memory";
  int const file = ::memfd_create("rulerank", MFD_CLOEXEC);
  if (file < 0) fail(name, "cannot be created");
  struct closing {
    int descriptor;
    ~closing() { ::close(descriptor); }
  } const closes{file};
  output_file out(fmt::format("/proc/self/fd/{}", file));
  write(out);
  out.commit();
  struct stat now {};
  if (::fstat(file, &now) != 0) fail(name, "cannot be read");
  std::string bytes(static_cast<std::size_t>(now.st_size), '\0');
  if (read_at(file, bytes.data(), bytes.size(), 0) != now.st_size) fail(name, "cannot be read");
  return bytes;
}

void write_file(std::string const& path, std::string_view bytes) {
  output_file file(path);
  file.write(bytes);
  file.commit();
}

void make_folders(std::string const& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) throw output_error(fmt::format("{}: cannot be created: {}", path, failed.message()));
}

}  // namespace rulerank
