#include "apps/shared/cross_validation.hpp"

#include "apps/shared/options.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/sha256.hpp"
#include "experiment/finished.hpp"
#include "experiment/fold.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>

namespace rulerank::apps {
namespace {

/// How files are read, and where an option names a file the file's checksum.
nlohmann::ordered_json reading_json(cross_validation_arguments const& a) {
  nlohmann::ordered_json json;
  json["zero_based"] = a.reading.zero_based;
  json["regroup"] = a.reading.regroup;
  json["unlabelled"] = nullptr;
  if (a.reading.unlabelled) json["unlabelled"] = *a.reading.unlabelled;
  json["groups"] = nlohmann::ordered_json::array();
  for (std::string const& path : a.reading.group_files)
    json["groups"].push_back(sha256_of_file(path));
  constexpr std::string_view file_prefix = "file:";
  if (a.sampler.feature_order.starts_with(file_prefix))
    json["feature_order"] = sha256_of_file(a.sampler.feature_order.substr(file_prefix.size()));
  return json;
}

std::vector<eval::measure> distinct_measures(std::string_view option, std::string const& list) {
  std::vector<eval::measure> const measures = eval::parse_measures(list);
  for (auto m = measures.begin(); m != measures.end(); ++m)
    if (std::find(measures.begin(), m, *m) != m)
      throw usage_error(fmt::format("{}: {} is given twice", option, m->name()));
  return measures;
}

experiment::settings settings_of(session const& owner, cross_validation_arguments const& a) {
  experiment::settings s;
  s.reduce_sizes = experiment::rule_sizes_from("--reduce-size", a.reduce_sizes);
  s.rank_sizes = experiment::rule_sizes_from("--rank-size", a.rank_sizes);
  experiment::set_baselines(s, a.baselines);
  s.random_draws = a.random_draws;
  for (std::string const& text : a.scores) s.outside.push_back(experiment::outside_from(text));
  s.measures = distinct_measures("--metrics", a.metrics);
  s.profile = eval::make_profile(a.profile);
  s.discretizer = a.discretizer.options();
  a.sampler.check();
  s.partitions = a.sampler.partitions;
  s.feature_order = a.sampler.feature_order;
  if (s.feature_order.starts_with("file:")) s.feature_order = "file";  // its checksum is below
  s.scoring = a.ranker.options();
  if (!a.tune.empty())
    s.tune = {distinct_measures("--tune", a.tune), a.tuned.space(), a.tuned.options(),
              a.tuned.cross_fit};
  s.reading = reading_json(a);
  s.seed = owner.run.seed;
  return s;
}

/// Reads every test part once, before hours of work: one r_max for all folds, and faults of the
/// last fold are known now.
std::int32_t largest_label(session& owner, cross_validation_arguments const& a,
                           std::vector<experiment::fold_files> const& folds) {
  auto const timer = owner.stage("read");
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < folds.size(); ++i)
    largest = std::max(
        largest,
        a.reading.read(owner, folds[i].test, i * experiment::parts_a_fold + experiment::test_part)
            .max_label());
  return largest;
}

/// The result of each fold: an earlier run's, or made now and written in one piece.
std::vector<experiment::fold_result> run_folds(session& owner, cross_validation_arguments const& a,
                                               experiment::settings const& s,
                                               std::vector<experiment::fold_files> const& files) {
  experiment::fold_work work{a.reading, a.discretizer, a.sampler, a.ranker.options(), a.out_dir};
  work.sampler.min_support = s.scoring.thresholds.min_support;
  work.sampler.min_confidence = s.scoring.thresholds.min_confidence;
  work.sampler.engine = "auto";
  experiment::make_folder((std::filesystem::path(a.out_dir) / "folds").string());

  std::vector<experiment::fold_result> results;
  nlohmann::ordered_json how = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::string const& name = files[i].name;
    auto const begin = std::chrono::steady_clock::now();
    for (std::string const& path : {files[i].train, files[i].vali, files[i].test})
      owner.input(path);
    for (std::string const& path : files[i].outside) owner.input(path);
    auto const inputs = experiment::checksums_of(files[i], s);
    std::string const fingerprint = experiment::fingerprint_of(s, name, inputs);
    experiment::earlier found = experiment::find_finished(a.out_dir, name, fingerprint);
    if (found.result) {
      owner.say(fmt::format("{}: finished by an earlier run", name));
      how[name] = "finished by an earlier run";
      results.push_back(std::move(*found.result));
      continue;
    }
    if (!found.why_not.empty()) owner.say(fmt::format("{}: done again: {}", name, found.why_not));
    experiment::fold_result result = experiment::run_fold(owner, s, work, files[i], i, fingerprint);
    result.inputs = inputs;
    std::string const text = experiment::to_text(result);
    std::string const path = experiment::finished_path(a.out_dir, name);
    write_file(path, text);
    results.push_back(experiment::fold_result_from(text, path));
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
    how[name] = took.count();
    owner.say(fmt::format("{} of {} folds: {}, {} systems in {:.1f} s", i + 1, files.size(), name,
                          results.back().systems.size(), took.count()));
  }
  owner.note("fold_seconds", how);
  return results;
}

}  // namespace

std::vector<session::named_output> outputs_of(cross_validation_arguments const& a) {
  std::vector<session::named_output> outputs;
  for (char const* const name : {"table.md", "table.tex", "results.json", "manifest.json"})
    outputs.push_back(
        {fmt::format("--out-dir's {}", name), (std::filesystem::path(a.out_dir) / name).string()});
  return outputs;
}

void check(session& owner, cross_validation_arguments const& a) {
  experiment::systems_of(settings_of(owner, a));
}

cross_validation cross_validate(session& owner, cross_validation_arguments const& a) {
  cross_validation done{settings_of(owner, a), {}};
  experiment::settings& s = done.settings;
  experiment::systems_of(s);
  auto const files = experiment::find_folds(a.folds, s);
  if (!a.reading.group_files.empty() &&
      a.reading.group_files.size() != files.size() * experiment::parts_a_fold)
    throw usage_error(
        fmt::format("--group: found {} files, expected {}: of train, vali and test of each fold",
                    a.reading.group_files.size(), files.size() * experiment::parts_a_fold));
  s.profile.max_label = largest_label(owner, a, files);

  eval::comparison_options compared;
  compared.permutations = a.permutations;
  auto results = run_folds(owner, a, s, files);
  {
    auto const timer = owner.stage("compare");
    done.report = experiment::make_report(owner.ctx(), s, std::move(results), compared);
  }
  std::filesystem::path const out = a.out_dir;
  auto const replace = nlohmann::ordered_json::error_handler_t::replace;
  write_file((out / "table.md").string(),
             experiment::render(done.report, s, eval::table_format::markdown));
  write_file((out / "table.tex").string(),
             experiment::render(done.report, s, eval::table_format::latex));
  write_file((out / "results.json").string(),
             experiment::to_json(done.report, s).dump(2, ' ', false, replace) + "\n");
  write_file((out / "manifest.json").string(),
             owner.manifest().dump(2, ' ', false, replace) + "\n");
  return done;
}

void add_cross_validation_to(CLI::App& verb, cross_validation_arguments& a) {
  std::string const systems = "Systems";
  verb.add_option("--reduce-size", a.reduce_sizes,
                  "Rule sizes of selective sampling, or none: no reduced sets")
      ->type_name("A,...")
      ->capture_default_str()
      ->group(systems);
  verb.add_option("--rank-size", a.rank_sizes, "Rule sizes of the ranker, or none")
      ->type_name("B,...")
      ->capture_default_str()
      ->group(systems);
  verb.add_option("--baselines", a.baselines,
                  "full: all training documents; random: draws as large as each reduced set; "
                  "feature: the best single one on the validation part; or none")
      ->capture_default_str()
      ->group(systems);
  verb.add_option("--random-draws", a.random_draws, "Draws that random is the mean of")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str()
      ->group(systems);
  path_option(verb, "--scores", a.scores,
              "Systems whose scores come from elsewhere: DIR/Fold1.score (.scores, .txt), ...")
      ->type_name("NAME=DIR")
      ->group(systems);
  std::string const judging = "Measures";
  verb.add_option("--metrics", a.metrics,
                  "As evaluate's; the first one also chooses the single feature")
      ->capture_default_str()
      ->group(judging);
  verb.add_option("--profile", a.profile, "letor, mslr, standard, trec, lightgbm or yahoo")
      ->capture_default_str()
      ->group(judging);
  verb.add_option("--permutations", a.permutations, "Of Fisher's randomisation test")
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("N")
      ->capture_default_str()
      ->group(judging);
  verb.add_option("--format", a.format,
                  "What goes to standard output: table, tsv, json, markdown or latex")
      ->capture_default_str()
      ->group(judging);
  verb.add_option(
          "--tune", a.tune,
          "Also systems whose way to rank is chosen on each validation part by these metrics")
      ->type_name("M,...")
      ->group(systems);
  a.tuned.add_to(verb);
  a.ranker.add_scoring_to(verb);
  verb.remove_option(verb.get_option("--rule-size"));  // --reduce-size and --rank-size are it
  a.sampler.add_partitioning_to(verb);
  a.ranker.add_engine_to(verb);
  a.discretizer.add_to(verb, discretizer_arguments::fitted_cuts::refused);
}

}  // namespace rulerank::apps
