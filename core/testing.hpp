#pragma once
// Shared by the tests of several modules; not installed.

#include "core/context.hpp"
#include "core/devices.hpp"
#include "core/error.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace rulerank::inline v0::testing_tools {

/// A new folder, removed with its content at the end.
class temporary_folder {
 public:
  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "rulerank-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw output_error("no temporary folder");
    path_ = name;
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;
  std::filesystem::path const& path() const { return path_; }
  friend std::string operator/(temporary_folder const& folder, std::string const& name) {
    return (folder.path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

/// The GPUs of this machine, none in a build without CUDA. $RULERANK_TEST_GPUS may request more
/// than there are: the list then repeats them, so that the tests of several GPUs run on one. Not
/// for `delta`, whose kernels wait for each other.
inline std::vector<int> gpus() {
  std::vector<int> ordinals;
  for (device const& d : list_devices().devices) ordinals.push_back(d.ordinal);
  char const* const asked = std::getenv("RULERANK_TEST_GPUS");
  std::size_t const wanted = asked == nullptr ? 0 : std::strtoul(asked, nullptr, 10);
  for (std::size_t i = 0; !ordinals.empty() && ordinals.size() < wanted; ++i)
    ordinals.push_back(ordinals[i]);
  return ordinals;
}

/// The numbers of GPUs for tests, each in its own instance.
inline constexpr std::size_t gpu_counts[] = {1, 2, 4};

/// Returns why a test cannot run on n GPUs of this machine; empty if it can.
inline std::string why_not_on_gpus(std::size_t n) {
  std::size_t const here = gpus().size();
  if (here >= n) return {};
  if (here == 0) return list_devices().why_none;
  return "needs " + std::to_string(n) + " GPUs, this machine has " + std::to_string(here);
}

/// A context with the first n GPUs, which must exist.
inline context on_gpus(std::size_t n) {
  context ctx;
  ctx.devices = gpus();
  ctx.devices.resize(n);
  return ctx;
}

/// Returns the number of threads that remain after `work`: OpenMP's threads live as long as the
/// thread that started them.
template <class Work>
std::ptrdiff_t threads_woken_by(Work const& work) {
  auto const threads = [] {
    std::filesystem::directory_iterator const tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  std::ptrdiff_t more = 0;
  std::thread([&] {
    std::ptrdiff_t const before = threads();
    work();
    more = threads() - before;
  }).join();
  return more;
}

/// Returns a file or folder of the real data sets in $RULERANK_TEST_DATA; empty if it does not
/// exist.
inline std::optional<std::string> real_data(std::string const& name) {
  char const* root = std::getenv("RULERANK_TEST_DATA");
  if (root == nullptr) return std::nullopt;
  std::filesystem::path const path = std::filesystem::path(root) / name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path.string();
}

}  // namespace rulerank::testing_tools

/// Skips a test whose real data set is absent, naming it; otherwise defines `path`.
#define RULERANK_REAL_DATA(path, name)                                                \
  auto const path##_found = ::rulerank::testing_tools::real_data(name);               \
  if (!path##_found) GTEST_SKIP() << "needs " << (name) << " in $RULERANK_TEST_DATA"; \
  std::string const path = *path##_found

/// Skips a test on a machine with fewer than n GPUs, saying why.
#define RULERANK_NEEDS_GPUS(n)                                                              \
  if (auto const why_not = ::rulerank::testing_tools::why_not_on_gpus(n); !why_not.empty()) \
  GTEST_SKIP() << why_not
#define RULERANK_NEEDS_GPU() RULERANK_NEEDS_GPUS(1)
