#include "experiment/experiment.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/sha256.hpp"
#include "experiment/finished.hpp"
#include "experiment/fold.hpp"
#include "experiment/fold_result.hpp"
#include "experiment/stage_timer.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace rulerank::experiment {

namespace {

namespace fs = std::filesystem;

/// The test parts of all folds, read before hours of work: the largest label of all is needed for
/// each, and faults of the last fold are known now.
std::vector<datasets::dataset> read_tests(context const& ctx, fold_source const& source,
                                          sinks const& out) {
  stage_timer const timer(out, "read");
  std::vector<datasets::dataset> tests;
  for (std::size_t fold = 0; fold < source.size(); ++fold)
    tests.push_back(source.read(ctx, fold, part::test, out.warn));
  return tests;
}

class folds_runner {
 public:
  folds_runner(context const& ctx, fold_work const& work, results& all)
      : ctx_(ctx), work_(work), all_(all) {}

  /// The result of each fold: an earlier run's, or made now and written at once.
  std::vector<fold_result> run(std::vector<datasets::dataset> tests) {
    std::vector<fold_result> folds;
    for (std::size_t i = 0; i < tests.size(); ++i) {
      datasets::dataset test = std::exchange(tests[i], {});
      std::string const name = fold_name(work_.source, i);
      stage_timer const timer(untimed_, name);
      auto inputs = work_.source.checksums(i);
      std::string const fingerprint = fingerprint_of(work_.settings, name, inputs);
      if (take_finished(name, fingerprint, folds)) continue;
      fold_result result = run_fold(ctx_, work_, i, std::move(test), fingerprint, all_.engines);
      result.inputs = std::move(inputs);
      folds.push_back(keep(result));
      all_.times.push_back({name, timer.seconds()});
      note(fmt::format("{} of {}: {}, {} in {:.1f} s", i + 1, counted(tests.size(), "fold"), name,
                       counted(folds.back().systems.size(), "system"), timer.seconds()));
    }
    return folds;
  }

 private:
  std::string const& out_dir() const { return work_.what.out_dir; }
  void note(std::string const& what) const {
    if (work_.out.note) work_.out.note(what);
  }

  void warn(std::string const& what) const {
    if (work_.out.warn) work_.out.warn(what);
  }

  /// Whether an earlier run finished the fold; says why its results cannot be used.
  bool take_finished(std::string const& name, std::string const& fingerprint,
                     std::vector<fold_result>& folds) {
    if (out_dir().empty()) return false;
    earlier found = find_finished(out_dir(), name, fingerprint);
    if (!found.result) {
      if (found.damaged)
        warn(fmt::format("{}: done again: {}", name, found.why_not));
      else if (!found.why_not.empty())
        note(fmt::format("{}: done again: {}", name, found.why_not));
      return false;
    }
    note(fmt::format("{}: finished by an earlier run", name));
    all_.times.push_back({name, {}});
    folds.push_back(std::move(*found.result));
    return true;
  }

  /// The result as a later run reads it.
  fold_result keep(fold_result const& result) const {
    std::string const text = to_text(result);
    if (out_dir().empty()) return fold_result_from(text, result.name);
    std::string const path = finished_path(out_dir(), result.name);
    write_file(path, text);
    return fold_result_from(text, path);
  }

  context const& ctx_;
  fold_work const& work_;
  results& all_;
  sinks const untimed_;
};

void write_report(results const& all, fs::path const& folder) {
  settings const& s = all.settings;
  write_file((folder / "table.md").string(), render(all.report, s, eval::table_format::markdown));
  write_file((folder / "table.tex").string(), render(all.report, s, eval::table_format::latex));
  write_file((folder / "results.json").string(), to_text(all.report, s));
}

}  // namespace

results run(context const& ctx, options const& what, fold_source const& source, sinks const& out) {
  results all;
  settings& s = all.settings = what.settings;
  check(s);
  s.seed = ctx.seed;
  s.reading = source.reading();
  if (s.feature_order == datasets::feature_order::file)
    s.reading["feature_order"] = sha256_of_file(s.feature_order_file);
  folder_lock alone;
  if (!what.out_dir.empty()) {
    std::string const folds = (fs::path(what.out_dir) / "folds").string();
    make_folders(folds);
    alone = folder_lock(folds);
  }
  std::vector<datasets::dataset> tests = read_tests(ctx, source, out);
  std::int32_t largest = 0;
  for (datasets::dataset const& test : tests) largest = std::max(largest, test.max_label());
  s.profile.max_label = largest;

  fold_work const work{what, s, source, out};
  std::vector<fold_result> folds = folds_runner(ctx, work, all).run(std::move(tests));
  {
    stage_timer const timer(out, "compare");
    all.report = make_report(ctx, s, std::move(folds), what.compared);
  }
  if (!what.out_dir.empty()) write_report(all, what.out_dir);
  return all;
}

}  // namespace rulerank::experiment
