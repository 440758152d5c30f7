#include "experiment/fold_files.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

namespace rulerank::experiment {

namespace {

namespace fs = std::filesystem;

/// N of `FoldN`, 0 for another name.
std::uint64_t fold_number(std::string_view name) {
  constexpr std::string_view prefix = "Fold";
  if (!name.starts_with(prefix) || name.size() == prefix.size() || name[prefix.size()] == '0')
    return 0;
  std::uint64_t number = 0;
  auto const [end, status] =
      std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
  return status == std::errc{} && end == name.data() + name.size() ? number : 0;
}

/// The first of the names that is a file in the folder, as it is or compressed.
std::string find_file(fs::path const& folder, std::initializer_list<std::string> names,
                      std::string const& expected) {
  for (std::string const& name : names)
    for (char const* const packed : {"", ".gz", ".zst"}) {
      fs::path const path = folder / (name + packed);
      std::error_code status;
      if (fs::exists(path, status) && !fs::is_directory(path, status)) return path.string();
    }
  throw error({folder.string(), 0, 0}, fmt::format("found no {}, expected {}, plain, .gz or .zst",
                                                   *names.begin(), expected));
}

}  // namespace

std::vector<fold_files> find_folds(std::string const& folder, settings const& s) {
  std::vector<fold_files> folds;
  std::error_code status;
  for (fs::directory_iterator at(folder, status), end; !status && at != end; at.increment(status))
    if (at->is_directory(status))
      if (std::uint64_t const number = fold_number(at->path().filename().string()); number > 0)
        folds.push_back({number, at->path().filename().string(), {}, {}, {}, {}});
  if (status) throw error({folder, 0, 0}, fmt::format("cannot be read: {}", status.message()));
  if (folds.empty())
    throw error({folder, 0, 0}, "found no folder Fold1, expected Fold1, Fold2, ...");
  std::sort(folds.begin(), folds.end(),
            [](fold_files const& a, fold_files const& b) { return a.number < b.number; });
  for (fold_files& fold : folds) {
    fs::path const place = fs::path(folder) / fold.name;
    fold.train = find_file(place, {"train.txt"}, "the training part of the fold");
    if (s.feature || s.tune)
      fold.vali = find_file(place, {"vali.txt"},
                            s.feature ? "a validation part to choose the feature by"
                                      : "a validation part to tune on");
    fold.test = find_file(place, {"test.txt"}, "the test part of the fold");
    for (outside_system const& other : s.outside)
      fold.outside.push_back(
          find_file(other.folder, {fold.name + ".score", fold.name + ".scores", fold.name + ".txt"},
                    fmt::format("the scores of {} for {}, {}.score, .scores or .txt", other.name,
                                fold.name, fold.name)));
  }
  return folds;
}

}  // namespace rulerank::experiment
