#include "core/file_reader.hpp"

#include "core/error.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rulerank::inline v0 {

ssize_t read_at(int descriptor, void* to, std::size_t bytes, std::uint64_t begin) noexcept {
  std::size_t done = 0;
  while (done < bytes) {
    ssize_t const got = ::pread(descriptor, static_cast<char*>(to) + done, bytes - done,
                                static_cast<off_t>(begin + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return got;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

namespace {

[[noreturn]] void cannot_be_read(std::string const& path) {
  throw error({path, 0, 0}, std::string("cannot be read: ") + std::strerror(errno));
}

}  // namespace

file_reader::file_reader(std::string path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) cannot_be_read(path_);
}

file_reader::~file_reader() {
  ::close(descriptor_);
}

std::size_t file_reader::expect_regular(std::string_view expected) const {
  struct stat about {};
  if (::fstat(descriptor_, &about) != 0) cannot_be_read(path_);
  if (S_ISDIR(about.st_mode)) throw error({path_, 0, 0}, "is a folder, expected a file");
  if (!S_ISREG(about.st_mode))
    throw error({path_, 0, 0},
                fmt::format("not a regular file, expected {} in a regular file", expected));
  return static_cast<std::size_t>(about.st_size);
}

std::size_t file_reader::read(void* to, std::size_t bytes, std::uint64_t begin) const {
  ssize_t const got = read_at(descriptor_, to, bytes, begin);
  if (got < 0) cannot_be_read(path_);
  return static_cast<std::size_t>(got);
}

}  // namespace rulerank
