#include "core/error.hpp"
#include "core/sha256.hpp"
#include "datasets/scores.hpp"
#include "datasets/svmlight.hpp"
#include "experiment/experiment.hpp"
#include "experiment/labelled_set.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::experiment {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t sets_a_fold = 3;

/// N of `FoldN`; 0 for another name.
std::uint64_t fold_number(std::string_view name) {
  constexpr std::string_view prefix = "Fold";
  if (!name.starts_with(prefix) || name.size() == prefix.size() || name[prefix.size()] == '0')
    return 0;
  std::uint64_t number = 0;
  auto const [end, status] =
      std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
  return status == std::errc{} && end == name.data() + name.size() ? number : 0;
}

/// The first of the names that exists in the folder, plain or compressed.
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

/// The numbers of the folders `FoldN`, ascending.
std::vector<std::uint64_t> fold_numbers(std::string const& folder) {
  std::vector<std::uint64_t> numbers;
  std::error_code status;
  for (fs::directory_iterator at(folder, status), end; !status && at != end; at.increment(status))
    if (at->is_directory(status))
      if (std::uint64_t const number = fold_number(at->path().filename().string()); number > 0)
        numbers.push_back(number);
  if (status) throw error({folder, 0, 0}, fmt::format("cannot be read: {}", status.message()));
  if (numbers.empty())
    throw error({folder, 0, 0}, "found no folder Fold1, expected Fold1, Fold2, ...");
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string checksum_of(std::string const& path) {
  std::error_code status;
  if (!fs::is_regular_file(path, status))
    throw error({path, 0, 0}, "not a regular file, expected a file that can be read twice");
  return sha256_of_file(path);
}

}  // namespace

file_folds::file_folds(std::string const& folder, file_folds_options options)
    : options_(std::move(options)) {
  for (std::uint64_t const number : fold_numbers(folder)) {
    std::string const name = fmt::format("Fold{}", number);
    fs::path const path = fs::path(folder) / name;
    fold_files& fold = folds_.emplace_back();
    fold.number = number;
    fold.train =
        find_file(path, {"train.txt", "train.csv", "train.tsv"}, "the training set of the fold");
    if (options_.vali)
      fold.vali = find_file(path, {"vali.txt", "vali.csv", "vali.tsv"},
                            "a validation set, by which a feature or settings are chosen");
    fold.test = find_file(path, {"test.txt", "test.csv", "test.tsv"}, "the test set of the fold");
    for (outside_folder const& other : options_.outside)
      fold.outside.push_back(
          find_file(other.folder, {name + ".score", name + ".scores", name + ".txt"},
                    fmt::format("the scores of {} for {}, {}.score, .scores or .txt", other.name,
                                name, name)));
  }
  reading_.zero_based = options_.reading.zero_based;
  reading_.regroup = options_.reading.regroup;
  reading_.unlabelled = options_.reading.unlabelled;
  reading_.drop_unlabelled = options_.drop_unlabelled;
  for (std::string const& path : options_.group_files)
    reading_.groups.push_back(sha256_of_file(path));
  std::size_t const sets = folds_.size() * sets_a_fold;
  if (!options_.group_files.empty() && options_.group_files.size() != sets)
    throw usage_error(
        fmt::format("found {}, expected {}: one for train, vali and test of each fold",
                    counted(options_.group_files.size(), "group file"), sets));
}

std::vector<std::string> file_folds::files() const {
  std::vector<std::string> all = options_.group_files;
  for (fold_files const& fold : folds_) {
    for (std::string const& path : {fold.train, fold.vali, fold.test})
      if (!path.empty()) all.push_back(path);
    all.insert(all.end(), fold.outside.begin(), fold.outside.end());
  }
  return all;
}

std::map<std::string, std::string> file_folds::checksums(std::size_t fold) const {
  fold_files const& files = folds_[fold];
  std::map<std::string, std::string> sums;
  auto const add = [&](std::string const& folder, std::string const& path) {
    sums[folder + "/" + fs::path(path).filename().string()] = checksum_of(path);
  };
  for (std::string const& path : {files.train, files.vali, files.test})
    if (!path.empty()) add(fmt::format("Fold{}", files.number), path);
  for (std::size_t i = 0; i < files.outside.size(); ++i)
    add(options_.outside[i].name, files.outside[i]);
  return sums;
}

datasets::dataset file_folds::read(context const& ctx, std::size_t fold, fold_set which,
                                   message_fn const& warn) const {
  fold_files const& files = folds_[fold];
  datasets::read_options how = options_.reading;
  if (!options_.group_files.empty())
    how.group_file = options_.group_files[fold * sets_a_fold + static_cast<std::size_t>(which)];
  std::string const& path = which == fold_set::train  ? files.train
                            : which == fold_set::vali ? files.vali
                                                      : files.test;
  datasets::dataset data = datasets::read_dataset(ctx, path, how, warn);
  if (!options_.drop_unlabelled || which == fold_set::test) return data;
  return labelled_set(std::move(data), which);
}

std::vector<double> file_folds::scores(context const& ctx, std::size_t fold,
                                       std::string const& system,
                                       datasets::dataset const& test) const {
  auto const at = std::ranges::find(options_.outside, system, &outside_folder::name);
  if (at == options_.outside.end())
    throw usage_error(fmt::format("found no scores of '{}' in the folds", system));
  return datasets::read_scores_of(
      ctx, folds_[fold].outside[static_cast<std::size_t>(at - options_.outside.begin())], test);
}

}  // namespace rulerank::experiment
