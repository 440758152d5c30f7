// Prevents an output from overwriting another output, an input, or the results of a concurrent run.
#include "core/error.hpp"
#include "core/output_file.hpp"

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

std::string shown(named_path const& which) {
  return fmt::format("{} {}", which.name, which.path == "-" ? "standard output" : which.path);
}

void expect_apart(named_path const& one, named_path const& other) {
  if (!same_output(one.path, other.path)) return;
  throw usage_error(one.path == other.path
                        ? fmt::format("{} and {} are both {}, expected different files", one.name,
                                      other.name, one.path == "-" ? "standard output" : one.path)
                        : fmt::format("{} and {} are the same file, expected different files",
                                      shown(one), shown(other)));
}

/// Returns whether the open lock file still has its name, which a previous holder may have removed.
bool has_name(int descriptor, std::string const& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

}  // namespace

void expect_apart(std::vector<named_path> const& inputs, std::vector<named_path> const& outputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    if (output->path.empty()) continue;
    for (auto other = outputs.begin(); other != output; ++other)
      if (!other->path.empty()) expect_apart(*other, *output);
    for (named_path const& input : inputs) {
      std::error_code none;  // only a regular file can be overwritten
      if (input.path.empty() || input.path == "-" ||
          !std::filesystem::is_regular_file(input.path, none))
        continue;
      if (same_output(input.path, output->path))
        throw usage_error(fmt::format("{} is also {}, expected a different file", shown(*output),
                                      input.name.empty() ? "an input" : input.name));
    }
  }
}

folder_lock::folder_lock(std::string const& folder)
    : path_((std::filesystem::path(folder) / ".rulerank.lock").string()) {
  do {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = ::open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) continue;
    int const status = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw output_error(
        status == EWOULDBLOCK
            ? fmt::format("{}: another run writes to this folder, expected a different folder",
                          folder)
            : fmt::format("{}: cannot be written: {}", path_, std::strerror(status)));
  } while (!has_name(descriptor_, path_));
}

folder_lock::~folder_lock() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());  // while the lock is held
  ::close(descriptor_);
}

folder_lock::folder_lock(folder_lock&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

folder_lock& folder_lock::operator=(folder_lock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

}  // namespace rulerank
