#include "experiment/learning_curves.hpp"

#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/machine.hpp"
#include "core/named_values.hpp"
#include "core/output_file.hpp"
#include "core/process_group.hpp"
#include "core/sha256.hpp"
#include "core/version.hpp"
#include "datasets/input/text_source.hpp"
#include "eval/report.hpp"
#include "experiment/curve_fold.hpp"
#include "experiment/curve_report.hpp"
#include "experiment/fold.hpp"
#include "experiment/label_choice.hpp"
#include "experiment/report_json.hpp"
#include "experiment/settings.hpp"
#include "experiment/stage_timer.hpp"
#include "learners/lightgbm.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::experiment {

namespace {

namespace fs = std::filesystem;
using json_text = nlohmann::ordered_json;

/// Version of the results' format; a change invalidates finished folds.
constexpr int curves_form = 3;

constexpr std::array<std::string_view, 3> setting_choice_names{"defaults", "cross-fitted",
                                                               "validated"};

void expect_once(std::vector<std::string> const& names, std::string_view what) {
  if (names.empty()) throw usage_error(fmt::format("found no {}, expected one or more", what));
  for (auto at = names.begin(); at != names.end(); ++at)
    if (std::find(names.begin(), at, *at) != at)
      throw usage_error(fmt::format("the {} '{}' is given twice", what, *at));
}

class curves_runner {
 public:
  curves_runner(context const& ctx, curve_options const& options, fold_source const& source,
                sinks const& out)
      : ctx_(ctx), source_(source), out_(out) {
    all_.options = options;
    for (std::string const& name : options.systems) {
      systems_.push_back(learners::make_system(name, {.lightgbm = options.lightgbm}));
      std::string const& library = systems_.back().library;
      if (library.empty())
        all_.ours.push_back(name);
      else if (std::find(all_.libraries.begin(), all_.libraries.end(), library) ==
               all_.libraries.end())
        all_.libraries.push_back(library);
    }
    reading_ = source.reading();
    if (options.feature_order == datasets::feature_order::file)
      reading_.feature_order = sha256_of_file(options.feature_order_file);
  }

  curve_results run() {
    folder_lock alone;
    if (writes()) {
      std::string const folds = (fs::path(out_dir()) / "curves").string();
      make_folders(folds);
      alone = folder_lock(folds);
    }
    std::vector<datasets::dataset> tests = read_tests();
    for (std::size_t i = 0; i < tests.size(); ++i)
      run_fold(i, tests.size(), std::exchange(tests[i], {}));
    if (writes()) write_report();
    return std::move(all_);
  }

 private:
  std::string const& out_dir() const { return all_.options.out_dir; }
  bool is_first() const { return !has_processes(ctx_) || ctx_.processes->is_first(); }
  bool writes() const { return is_first() && !out_dir().empty(); }
  void note(std::string const& what) const {
    if (out_.note) out_.note(what);
  }

  /// Read before hours of work: r_max is the largest label of all sets, and errors appear early.
  std::vector<datasets::dataset> read_tests() {
    stage_timer const timer(out_, "read");
    std::vector<datasets::dataset> tests;
    std::int32_t largest = 0;
    for (std::size_t fold = 0; fold < source_.size(); ++fold) {
      tests.push_back(source_.read(ctx_, fold, fold_set::test, out_.warn));
      largest = std::max(largest, tests.back().max_label());
    }
    all_.options.profile.max_label = largest;
    return tests;
  }

  std::string fingerprint_of(std::string const& fold,
                             std::map<std::string, std::string> const& inputs) const {
    json_text json;
    json["form"] = curves_form;
    json["version"] = version;
    json["commit"] = commit();
    json["options"] = options_json(all_);
    json["reading"] = to_json(reading_);
    json["seed"] = ctx_.seed;
    json["fold"] = fold;
    json["inputs"] = inputs;
    return sha256_hex(json_line_of(json));
  }

  /// Throws unless all processes have the same options, inputs and libraries.
  void expect_same(std::string const& fold, std::string const& fingerprint) const {
    if (has_processes(ctx_) &&
        from_first(*ctx_.processes, [&] { return fingerprint; }) != fingerprint)
      throw usage_error(
          fmt::format("{}: options, inputs or libraries ({}) differ from those of rank 0, expected "
                      "the same on all ranks",
                      fold, fmt::join(all_.libraries, ", ")));
  }

  std::string path_of(std::string const& fold, char const* end) const {
    if (out_dir().empty()) return {};
    return (fs::path(out_dir()) / "curves" / (fold + end)).string();
  }

  /// An earlier run's fold, which the first process may have.
  std::optional<curve_fold> finished(std::string const& path, std::string const& fingerprint,
                                     std::string const& name) const {
    if (!has_processes(ctx_)) return finished_here(path, fingerprint, name);
    std::string const text = from_first(*ctx_.processes, [&] {
      auto const found = finished_here(path, fingerprint, name);
      return found ? to_text(*found) : std::string();
    });
    if (text.empty()) return {};
    return curve_fold_from(text, path);
  }

  /// Reports why results cannot be reused.
  std::optional<curve_fold> finished_here(std::string const& path, std::string const& fingerprint,
                                          std::string const& name) const {
    std::error_code status;
    if (path.empty() || !fs::exists(path, status)) return {};
    try {
      curve_fold found = curve_fold_from(datasets::read_file(path, "learning curves"), path);
      if (found.fingerprint == fingerprint) return found;
      note(
          fmt::format("{}: runs again: options, inputs or program differ from the last run", name));
    } catch (error const& e) {
      if (out_.warn) out_.warn(fmt::format("{}: runs again: {}", name, e.what()));
    }
    return {};
  }

  void run_fold(std::size_t i, std::size_t folds, datasets::dataset test) {
    std::string const name = fold_name(source_, i);
    auto inputs = source_.checksums(i);
    std::string const fingerprint = fingerprint_of(name, inputs);
    expect_same(name, fingerprint);
    std::string const path = path_of(name, ".json");
    if (auto found = finished(path, fingerprint, name)) {
      note(fmt::format("{}: finished by an earlier run", name));
      all_.folds.push_back(std::move(*found));
      return;
    }
    curve_journal journal(ctx_, path_of(name, ".journal"), fingerprint);
    if (journal.size() > 0)
      note(fmt::format("{}: continues after {} samples and trials", name, journal.size()));
    curve_work const work{all_.options, systems_, source_, out_};
    stage_timer const timer(untimed_, name);
    curve_fold fold = run_curve_fold(ctx_, work, i, std::move(test), journal);
    fold.fingerprint = fingerprint;
    fold.inputs = std::move(inputs);
    // Parsed again, as a later run would read it.
    std::string const text = to_text(fold);
    if (writes()) {
      write_file(path_of(name, ".seconds.tsv"),
                 eval::render(seconds_table(fold), eval::table_format::tsv));
      write_file(path, text);
    }
    journal.remove();
    all_.folds.push_back(curve_fold_from(text, path));
    note(fmt::format("{} of {} folds: {} in {:.1f} s", i + 1, folds, name, timer.seconds()));
  }

  void write_report() const {
    fs::path const folder = out_dir();
    write_file((folder / "curves.tsv").string(),
               eval::render(points_table(all_), eval::table_format::tsv));
    write_file((folder / "curves.md").string(), render(all_, eval::table_format::markdown));
    write_file((folder / "curves.svg").string(), svg_file(all_));
  }

  context const& ctx_;
  fold_source const& source_;
  sinks const& out_;
  sinks const untimed_;
  std::vector<learners::system> systems_;
  data_reading reading_;
  curve_results all_;
};

}  // namespace

std::string_view name_of(setting_choice by) {
  return setting_choice_names[static_cast<std::size_t>(by)];
}

setting_choice setting_choice_from(std::string_view name) {
  return value_named<setting_choice>(setting_choice_names, name, "found the settings",
                                     name_list::plain);
}

std::vector<std::string_view> curve_systems() {
  return learners::system_names();
}

first_comparison first_systems(std::string const& lightgbm) {
  first_comparison first{{"card", "joint", "rules", "feature"}, {}};
  if (!lightgbm.empty() || !learners::find_lightgbm().empty())
    first.systems.emplace_back("lightgbm");
  else
    first.left_out.push_back(
        {"lightgbm", "not installed; python3 -m pip install lightgbm, or --lightgbm PATH"});
  return first;
}

std::vector<std::string_view> curve_ways() {
  std::vector<std::string_view> names = way_names();
  std::erase(names, name_of(way::all));
  return names;
}

void check(curve_options const& options) {
  expect_once(options.systems, "system");
  expect_once(options.ways, "way");
  std::vector<std::string_view> const ways = curve_ways();
  for (std::string const& name : options.ways)
    if (std::ranges::find(ways, name) == ways.end())
      throw unknown_name("found the way", name, list_of_names(ways));
  if (options.budgets.empty()) throw usage_error("found no budget, expected one or more");
  double before = 0;
  for (double const budget : options.budgets)
    if (!(budget > std::exchange(before, budget)) || budget > 1)
      throw usage_error("found budgets that do not ascend from above 0 to at most 100 %");
  if (options.draws == 0) throw usage_error("found 0 draws, expected 1 or more");
  if (options.measures.empty()) throw usage_error("found no measure, expected one or more");
  check_distinct(options.measures);
  for (std::string const& name : options.systems)
    learners::make_system(name, {.lightgbm = options.lightgbm});
}

bool needs_validation(curve_options const& options) {
  return !options.budgets.empty() && options.budgets.back() > largest_untuned_budget;
}

curve_results run_curves(context const& ctx, curve_options const& options,
                         fold_source const& source, sinks const& out) {
  check(options);
  return curves_runner(ctx, options, source, out).run();
}

}  // namespace rulerank::experiment
