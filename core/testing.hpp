#pragma once
// What the tests of several modules use; not installed.

#include "core/context.hpp"
#include "core/devices.hpp"
#include "core/error.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rulerank::testing_tools {

/// A folder of its own, removed with all it holds at the end.
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

/// The GPUs of this machine, none in a build without CUDA.
inline std::vector<int> gpus() {
  std::vector<int> ordinals;
  for (device const& d : list_devices().devices) ordinals.push_back(d.ordinal);
  return ordinals;
}

/// Contexts with the first GPU, with two, with four, as far as there are so many.
inline std::vector<context> with_gpus() {
  std::vector<context> contexts;
  auto const all = gpus();
  for (std::size_t n = 1; n <= all.size(); n *= 2)
    contexts.emplace_back().devices.assign(all.begin(),
                                           all.begin() + static_cast<std::ptrdiff_t>(n));
  return contexts;
}

/// A file or folder of the real data sets, under $RULERANK_TEST_DATA; empty when it is not there.
inline std::optional<std::string> real_data(std::string const& name) {
  char const* root = std::getenv("RULERANK_TEST_DATA");
  if (root == nullptr) return std::nullopt;
  std::filesystem::path const path = std::filesystem::path(root) / name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path.string();
}

}  // namespace rulerank::testing_tools

/// Skips a test whose real data set is absent, naming it; else defines `path`.
#define RULERANK_REAL_DATA(path, name)                                                \
  auto const path##_found = ::rulerank::testing_tools::real_data(name);               \
  if (!path##_found) GTEST_SKIP() << "needs " << (name) << " in $RULERANK_TEST_DATA"; \
  std::string const path = *path##_found

/// Skips a test of GPUs on a machine without one, saying why there is none.
#define RULERANK_NEEDS_GPU() \
  if (::rulerank::testing_tools::gpus().empty()) GTEST_SKIP() << ::rulerank::list_devices().why_none
