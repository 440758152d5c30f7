#include "experiment/experiment.hpp"

#include "core/bytes.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/process_group.hpp"
#include "core/sha256.hpp"
#include "experiment/earlier_folds.hpp"
#include "experiment/fold.hpp"
#include "experiment/fold_result.hpp"
#include "experiment/stage_timer.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::experiment {

namespace {

namespace fs = std::filesystem;

/// Reads the test sets of all folds before hours of work: every fold needs the largest label of
/// all, and errors in the last fold appear early.
std::vector<datasets::dataset> read_tests(context const& ctx, fold_source const& source,
                                          sinks const& out) {
  stage_timer const timer(out, "read");
  std::vector<datasets::dataset> tests;
  for (std::size_t fold = 0; fold < source.size(); ++fold)
    tests.push_back(source.read(ctx, fold, fold_set::test, out.warn));
  return tests;
}

/// The outcome of a fold, without its files.
struct done_fold {
  std::string text;  // its result
  std::map<std::string, std::set<std::string>> engines;
  std::optional<double> seconds;  // empty: reused
  static auto members_of(auto& fold) { return std::tie(fold.text, fold.engines, fold.seconds); }
};

using system_scores = std::vector<std::pair<std::string, std::vector<double>>>;

/// A fold done by another process, as sent to the first one.
struct dealt_fold {
  done_fold done;
  std::map<std::string, std::string> files;
  std::vector<std::string> warnings;
  system_scores scores;  // if requested
  static auto members_of(auto& fold) {
    return std::tie(fold.done, fold.files, fold.warnings, fold.scores);
  }
};

class folds_runner {
 public:
  /// `wants_scores`: whether the first process calls `work.out.scores`.
  folds_runner(context const& ctx, fold_work const& work, bool wants_scores, results& all)
      : ctx_(ctx), work_(work), wants_scores_(wants_scores), all_(all) {}

  /// The result of each fold: reused, or computed now and written at once.
  std::vector<fold_result> run(std::vector<datasets::dataset> tests) {
    tests_ = std::move(tests);
    if (has_processes(ctx_))
      share_out();
    else
      for (std::size_t i = 0; i < tests_.size(); ++i)
        if (auto earlier = finished(i); !earlier.empty())
          add(i, {std::move(earlier), {}, {}});
        else
          add(i, do_here(i));
    std::vector<fold_result> folds;
    for (auto const& [i, done] : done_) {
      std::string const name = fold_name(work_.source, i);
      folds.push_back(
          fold_result_from(done.text, out_dir().empty() ? name : finished_path(out_dir(), name)));
      all_.times.push_back({name, done.seconds});
      for (auto const& [stage, names] : done.engines)
        all_.engines[stage].insert(names.begin(), names.end());
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

  void add(std::size_t fold, done_fold done) { done_[fold] = std::move(done); }

  void note_done(std::size_t fold, done_fold const& done, std::size_t systems) const {
    note(fmt::format("{} of {}: {}, {} in {:.1f} s", fold + 1, counted(tests_.size(), "fold"),
                     fold_name(work_.source, fold), counted(systems, "system"), *done.seconds));
  }

  /// The text of an earlier run's result; empty, with a message, if it is not usable.
  std::string finished(std::size_t fold) const {
    if (out_dir().empty()) return {};
    std::string const name = fold_name(work_.source, fold);
    earlier found = find_finished(
        out_dir(), name, fingerprint_of(work_.settings, name, work_.source.checksums(fold)));
    if (!found.result) {
      if (found.damaged)
        warn(fmt::format("{}: runs again: {}", name, found.why_not));
      else if (!found.why_not.empty())
        note(fmt::format("{}: runs again: {}", name, found.why_not));
      return {};
    }
    note(fmt::format("{}: finished by an earlier run", name));
    return to_text(*found.result);
  }

  /// Runs a fold on this process or, with a context of several, on all of them; stores the result.
  done_fold do_here(std::size_t fold) {
    std::size_t systems = 0;
    done_fold done = do_fold(ctx_, work_, fold, std::exchange(tests_[fold], {}), systems);
    if (has_processes(ctx_)) done.text = from_first(*ctx_.processes, [&] { return done.text; });
    keep(fold, done);
    note_done(fold, done, systems);
    return done;
  }

  done_fold do_fold(context const& ctx, fold_work const& work, std::size_t fold,
                    datasets::dataset test, std::size_t& systems) const {
    stage_timer const timer(untimed_, {});
    std::string const name = fold_name(work.source, fold);
    auto inputs = work.source.checksums(fold);
    done_fold done;
    fold_result result = run_fold(ctx, work, fold, std::move(test),
                                  fingerprint_of(work.settings, name, inputs), done.engines);
    result.inputs = std::move(inputs);
    systems = result.systems.size();
    done.text = to_text(result);
    done.seconds = timer.seconds();
    return done;
  }

  void keep(std::size_t fold, done_fold const& done) const {
    if (!out_dir().empty())
      write_file(finished_path(out_dir(), fold_name(work_.source, fold)), done.text);
  }

  /// Deals as many folds as make whole rounds to the processes, one each; all processes do the
  /// remaining folds together.
  void share_out() {
    process_group const& group = *ctx_.processes;
    auto texts = value_from_first(group, [&] {
      std::vector<std::string> earlier;
      for (std::size_t i = 0; i < tests_.size(); ++i) earlier.push_back(finished(i));
      return earlier;
    });
    std::vector<std::size_t> to_do;
    for (std::size_t i = 0; i < tests_.size(); ++i)
      if (texts[i].empty())
        to_do.push_back(i);
      else
        add(i, {std::move(texts[i]), {}, {}});
    auto const processes = static_cast<std::size_t>(group.size());
    std::size_t const dealt = to_do.size() / processes * processes;
    deal(std::span(to_do).first(dealt));
    for (std::size_t const i : std::span(to_do).subspan(dealt)) add(i, do_here(i));
  }

  void deal(std::span<std::size_t const> folds) {
    std::map<std::size_t, system_scores> scores;  // on the first process
    auto const kept = ctx_.processes->deal(
        folds.size(), [&](std::size_t t) { return bytes_of(do_alone(folds[t])); },
        [&](std::size_t t, std::string const& bytes) {
          std::size_t const fold = folds[t];
          auto got = value_of<dealt_fold>(bytes);
          for (std::string const& warning : got.warnings) warn(warning);
          for (auto const& [name, content] : got.files) {
            if (out_dir().empty()) break;
            fs::path const path = fs::path(out_dir()) / name;
            make_folders(path.parent_path().string());
            write_file(path.string(), content);
          }
          keep(fold, got.done);
          scores[fold] = std::move(got.scores);
          note_done(fold, got.done, fold_result_from(got.done.text, {}).systems.size());
          return bytes_of(got.done);
        });
    for (std::size_t t = 0; t < folds.size(); ++t) {
      add(folds[t], value_of<done_fold>(kept[t]));
      for (auto const& [system, of_system] : scores[folds[t]])
        work_.out.scores(folds[t], system, tests_[folds[t]], of_system);
      tests_[folds[t]] = {};
    }
  }

  /// Runs a fold without the other processes and without the output folder, which the first one
  /// owns.
  dealt_fold do_alone(std::size_t fold) const {
    dealt_fold dealt;
    sinks out;
    out.warn = [&](std::string const& warning) { dealt.warnings.push_back(warning); };
    out.stage = work_.out.stage;
    if (wants_scores_)
      out.scores = [&](std::size_t, std::string const& system, datasets::dataset const&,
                       std::span<double const> scores) {
        dealt.scores.emplace_back(system, std::vector<double>(scores.begin(), scores.end()));
      };
    std::size_t systems = 0;
    fold_work const work{work_.what, work_.settings, work_.source, out, &dealt.files};
    dealt.done = do_fold(without_processes(ctx_), work, fold, tests_[fold], systems);
    return dealt;
  }

  context const& ctx_;
  fold_work const& work_;
  bool const wants_scores_;
  results& all_;
  sinks const untimed_;
  std::vector<datasets::dataset> tests_;  // of folds to do
  std::map<std::size_t, done_fold> done_;
};

void write_report(results const& all, fs::path const& folder) {
  settings const& s = all.settings;
  write_file((folder / "table.md").string(), render(all.report, s, eval::table_format::markdown));
  write_file((folder / "table.tex").string(), render(all.report, s, eval::table_format::latex));
  write_file((folder / "results.json").string(), to_text(all.report, s));
}

}  // namespace

results run(context const& ctx, options const& given, fold_source const& source,
            sinks const& given_out) {
  options what = given;
  sinks out = given_out;
  if (has_processes(ctx) && !ctx.processes->is_first()) {
    what.out_dir.clear();
    out.note = {};
    out.scores = {};
  }
  results all;
  settings& s = all.settings = what.settings;
  check(s);
  s.seed = ctx.seed;
  s.reading = source.reading();
  if (s.feature_order == datasets::feature_order::file)
    s.reading->feature_order = sha256_of_file(s.feature_order_file);
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
  std::vector<fold_result> folds =
      folds_runner(ctx, work, static_cast<bool>(given_out.scores), all).run(std::move(tests));
  {
    stage_timer const timer(out, "compare");
    all.report = make_report(ctx, s, std::move(folds), what.compared);
  }
  if (!what.out_dir.empty()) write_report(all, what.out_dir);
  return all;
}

}  // namespace rulerank::experiment
