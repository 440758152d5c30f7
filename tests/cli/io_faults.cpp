// A library for LD_PRELOAD: calls of read and write on files of the working folder's device are cut
// short, interrupted, or fail, as $RULERANK_IO_FAULTS says:
//
//   short SEED         every call moves a part of the bytes, chosen at random
//   interrupted SEED   every third call or so fails with EINTR
//   fails N            the N-th call (from 0) fails: a read with EIO, a write with ENOSPC. Calls of
//   fsync and rename, and of
//                      close for files that are written, count, too, and fail with EIO
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

enum class fault { none, shorter, interrupted, fails };

struct plan {
  fault what = fault::none;
  std::uint64_t number = 0;
  dev_t device = 0;
  plan() {
    char const* const text = std::getenv("RULERANK_IO_FAULTS");
    struct stat here {};
    if (text == nullptr || ::stat(".", &here) != 0) return;
    device = here.st_dev;
    char const* const blank = std::strchr(text, ' ');
    number = blank == nullptr ? 0 : std::strtoull(blank, nullptr, 10);
    what = text[0] == 's' ? fault::shorter : text[0] == 'i' ? fault::interrupted : fault::fails;
  }
};

plan const& the_plan() {
  static plan const made;
  return made;
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> calls{0};
  return calls++;
}

std::uint64_t mixed(std::uint64_t x) {  // SplitMix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

bool is_watched(struct stat const& of) {
  return S_ISREG(of.st_mode) && of.st_dev == the_plan().device;
}

/// Whether a call that moves no bytes fails, with EIO.
bool fails_now(bool is_found, struct stat const& of) {
  if (the_plan().what != fault::fails || !is_found || !is_watched(of) ||
      next_number() != the_plan().number)
    return false;
  errno = EIO;
  return true;
}

/// Bytes that a call may move; 0: it fails with the errno that is set.
std::size_t allowed(int file, std::size_t bytes, int failure) {
  plan const& now = the_plan();
  struct stat of {};
  if (now.what == fault::none || bytes == 0 || ::fstat(file, &of) != 0 || !is_watched(of))
    return bytes;
  std::uint64_t const call = next_number();
  if (now.what == fault::fails) {
    if (call != now.number) return bytes;
    errno = failure;
    return 0;
  }
  std::uint64_t const chance = mixed(now.number * 1000003 + call);
  if (now.what == fault::shorter) return 1 + chance % bytes;
  if (chance % 3 != 0) return bytes;
  errno = EINTR;
  return 0;
}

template <class Function>
Function real(char const* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t read(int file, void* to, std::size_t bytes) {
  static auto const call = real<ssize_t (*)(int, void*, std::size_t)>("read");
  std::size_t const some = allowed(file, bytes, EIO);
  return some == 0 && bytes > 0 ? -1 : call(file, to, some);
}

ssize_t write(int file, void const* from, std::size_t bytes) {
  static auto const call = real<ssize_t (*)(int, void const*, std::size_t)>("write");
  std::size_t const some = allowed(file, bytes, ENOSPC);
  return some == 0 && bytes > 0 ? -1 : call(file, from, some);
}

ssize_t pread(int file, void* to, std::size_t bytes, off_t at) {
  static auto const call = real<ssize_t (*)(int, void*, std::size_t, off_t)>("pread");
  std::size_t const some = allowed(file, bytes, EIO);
  return some == 0 && bytes > 0 ? -1 : call(file, to, some, at);
}

ssize_t pread64(int file, void* to, std::size_t bytes, off64_t at) {
  static auto const call = real<ssize_t (*)(int, void*, std::size_t, off64_t)>("pread64");
  std::size_t const some = allowed(file, bytes, EIO);
  return some == 0 && bytes > 0 ? -1 : call(file, to, some, at);
}

int fsync(int file) {
  static auto const call = real<int (*)(int)>("fsync");
  struct stat of {};
  return fails_now(::fstat(file, &of) == 0, of) ? -1 : call(file);
}

int close(int file) {
  static auto const call = real<int (*)(int)>("close");
  struct stat of {};
  int const flags = ::fcntl(file, F_GETFL);
  bool const is_written = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
  bool const fails = is_written && fails_now(::fstat(file, &of) == 0, of);
  int const failure = errno;
  int const result = call(file);  // a close that fails closes the file, too
  if (!fails) return result;
  errno = failure;
  return -1;
}

int rename(char const* from, char const* to) noexcept {
  static auto const call = real<int (*)(char const*, char const*)>("rename");
  struct stat of {};
  return fails_now(::stat(from, &of) == 0, of) ? -1 : call(from, to);
}
}
