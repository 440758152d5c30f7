#include "apps/shared/evaluation/cross_validation.hpp"
#include "apps/shared/search/pair_pool.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "core/sha256.hpp"
#include "datasets/scores.hpp"
#include "datasets/split.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/trec.hpp"
#include "eval/evaluate.hpp"
#include "eval/report.hpp"
#include "eval/report_json.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::apps {
namespace {

namespace fs = std::filesystem;

struct pipeline_arguments : pool_arguments {
  std::string out_dir;
  std::size_t folds = 5;
  std::int32_t unjudged = 0;  ///< or datasets::unlabelled
  cross_validation_arguments experiment;
};

/// The profile and measures of the main table, which compares rankings with all judgments.
constexpr char const* main_profile = "trec";
constexpr char const* main_measures = "MAP,NDCG@10,P@10,recall@100,recall@1000";
/// The share of a ranking's top that is judged; with --unjudged -1.
constexpr char const* known_measure = ",judged@10";

/// A feature that ranks documents as a baseline, and the name of its scores.
struct feature_baseline {
  char const* name;
  std::string feature;
};
std::vector<feature_baseline> baselines_of(pipeline_arguments const& a) {
  std::vector<feature_baseline> baselines{{"bm25", "BM25 of document"},
                                          {"cosine", "tf-idf cosine of document"}};
  if (a.dense.given()) baselines.push_back({"dense", a.dense.feature()});
  return baselines;
}

/// Throws `error` for a grade without a gain in the profile.
void expect_gains(datasets::qrels const& judgments, pipeline_arguments const& a) {
  std::int32_t const largest = eval::largest_label(eval::make_profile(a.experiment.profile));
  for (auto const& query : judgments.queries)
    for (auto const& document : query.documents)
      if (document.label > largest)
        throw error({judgments.name, document.line, 0},
                    fmt::format("found grade {} of document '{}', whose gain exceeds a double; "
                                "expected at most {}, or --profile trec",
                                document.label, document.docno, largest));
}

void write_letor(datasets::dataset const& data) {
  std::vector<std::size_t> all(data.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  output_file out(data.name);
  datasets::write_lines(data, all, out);
  out.commit();
}

void write_names(std::vector<std::string> const& names, std::string const& path) {
  std::string text;
  for (std::size_t f = 0; f < names.size(); ++f) text += fmt::format("{}\t{}\n", f + 1, names[f]);
  write_file(path, text);
}

/// The scores of all documents by each baseline's feature.
std::map<std::string, std::vector<double>> baseline_scores(pipeline_arguments const& a,
                                                           datasets::dataset const& data,
                                                           std::vector<std::string> const& names) {
  std::map<std::string, std::vector<double>> scores;
  for (feature_baseline const& baseline : baselines_of(a)) {
    auto const at = std::find(names.begin(), names.end(), baseline.feature) - names.begin();
    scores[baseline.name] = eval::feature_scores(data, static_cast<std::uint32_t>(at + 1));
  }
  return scores;
}

/// Writes a baseline's scores of a test set and returns the file's checksum.
std::string write_baseline(datasets::dataset const& data, std::span<std::size_t const> test,
                           std::vector<double> const& scores, fs::path const& path) {
  std::vector<double> of_test;
  for (std::size_t const d : test) of_test.push_back(scores[d]);
  make_folders(path.parent_path().string());
  sha256 sum;
  output_file to(path.string(), [&](std::string_view bytes) { sum.update(bytes); });
  datasets::write_scores(datasets::subset(data, test), of_test, to);
  to.commit();
  return sum.hex();
}

/// Makes the folds of the documents, with the baselines' scores of the test sets. Writes them as
/// files, whose checksums the results name, and returns them in memory.
experiment::memory_folds make_folds(session& owner, pipeline_arguments const& a,
                                    datasets::dataset const& data,
                                    std::vector<std::string> const& names) {
  auto const documents = datasets::split_folds(owner.ctx(), data, {.folds = a.folds});
  auto const written =
      datasets::write_folds(owner.ctx(), data, documents, a.experiment.folds, true);
  auto const scores = baseline_scores(a, data, names);
  bool const with_vali = experiment::needs_validation(options_of(a.experiment).settings);
  std::vector<experiment::memory_fold> folds;
  for (std::size_t f = 0; f < documents.size(); ++f) {
    std::string const name = fmt::format("Fold{}", f + 1);
    auto const& [train, vali, test] = written[f].sha256;
    std::map<std::string, std::string> sums{{name + "/train.txt", train},
                                            {name + "/test.txt", test}};
    if (with_vali) sums[name + "/vali.txt"] = vali;
    for (auto const& [system, all] : scores) {
      fs::path const path = fs::path(a.out_dir) / "scores" / system / (name + ".txt");
      sums[fmt::format("{}/{}.txt", system, name)] =
          write_baseline(data, documents[f].test, all, path);
    }
    folds.push_back({f + 1, documents[f].train, documents[f].vali, documents[f].test, sums});
  }
  return {data, std::move(folds), scores, a.unjudged == datasets::unlabelled};
}

/// Collects the systems' rankings of the test sets, for comparison with all judgments.
class system_runs {
 public:
  explicit system_runs(std::size_t folds) : folds_(folds) {}

  void add(std::size_t fold, std::string const& system, datasets::dataset const& test,
           std::span<double const> scores) {
    std::vector<datasets::run_query>& queries = by_system_[system][fold];
    for (datasets::query_group const& group : test.queries) {
      datasets::run_query& query = queries.emplace_back(datasets::run_query{group.qid, {}});
      for (std::size_t d = group.begin; d < group.end; ++d)
        query.documents.push_back({test.docid(d), scores[d]});
    }
  }

  /// The run over all folds; reads those that an earlier run finished from its files.
  datasets::run of(context const& ctx, fs::path const& experiment, std::string const& system) {
    datasets::run all;
    for (std::size_t fold = 0; fold < folds_; ++fold) {
      auto& queries = by_system_[system];
      if (!queries.contains(fold)) {
        fs::path const path = experiment / "runs" / system / fmt::format("Fold{}.run", fold + 1);
        queries[fold] = datasets::read_run(ctx, path.string()).queries;
      }
      std::ranges::move(queries[fold], std::back_inserter(all.queries));
    }
    return all;
  }

 private:
  std::size_t folds_;
  std::map<std::string, std::map<std::size_t, std::vector<datasets::run_query>>> by_system_;
};

/// Fills in options that follow from others. Throws `usage_error` for invalid ones; call it first.
pipeline_arguments resolved(pipeline_arguments a) {
  datasets::letor_rotation(0, a.folds);
  fs::path const out = a.out_dir;
  a.experiment.folds = (out / "folds").string();
  a.experiment.out_dir = (out / "experiment").string();
  for (feature_baseline const& baseline : baselines_of(a))
    a.experiment.scores.push_back(
        fmt::format("{}={}", baseline.name, (out / "scores" / baseline.name).string()));
  options_of(a.experiment);
  return a;
}

/// Registers the inputs and outputs with the session, which checks them.
void announce_files(session& owner, pipeline_arguments const& a) {
  auto const inputs = a.inputs(owner);
  owner.inputs(inputs);
  auto const file = [&](char const* name) { return (fs::path(a.out_dir) / name).string(); };
  auto outputs = outputs_of(a.experiment);
  outputs.push_back({"the report", "-"});
  for (char const* const name :
       {"candidates.run", "letor.txt", "features.tsv", "table.md", "results.json"})
    outputs.push_back({fmt::format("--out-dir's {}", name), file(name)});
  if (a.dense.by_text() && a.dense.by_vectors())
    for (char const* const name : {"candidates-text.run", "candidates-dense.run"})
      outputs.push_back({fmt::format("--out-dir's {}", name), file(name)});
  owner.outputs(outputs);
  outputs.insert(outputs.begin(), {"--out-dir", a.out_dir});
  for (char const* const name : {"folds", "scores", "experiment"})
    outputs.push_back({fmt::format("--out-dir's {}", name), file(name)});
  expect_outside(owner, inputs, outputs);
}

/// The candidates and their features, which are also written.
struct found_pairs {
  std::vector<datasets::run> searches;
  std::vector<std::string> feature_names;
  datasets::dataset data;
};

found_pairs find_pairs(session& owner, pipeline_arguments const& a,
                       knn::text_index_options const& options, pool_inputs& inputs) {
  auto const file = [&](std::string const& name) { return (fs::path(a.out_dir) / name).string(); };
  auto const collection = index_collection(owner, a, options, inputs);
  auto found = find_candidates(owner, a, collection, inputs.topics);
  for (datasets::run const& run : found.runs) {
    output_file out(file(run.tag + ".run"));
    write_candidates(run, out);
    out.commit();
  }
  found_pairs pairs{std::move(found.runs), collection.feature_names(), {}};
  write_names(pairs.feature_names, file("features.tsv"));
  pairs.data =
      make_pairs(owner, collection, inputs.topics, found.lists,
                 {.most = a.candidates, .unjudged = a.unjudged, .name = file("letor.txt")});
  write_letor(pairs.data);
  return pairs;
}

/// Compares every ranking with all judgments: documents that are not candidates count as not found.
eval::report compare(session& owner, pipeline_arguments const& a, datasets::qrels const& judgments,
                     std::vector<datasets::run> const& searches,
                     experiment::results const& validated, system_runs& runs) {
  eval::report report;
  report.rules = eval::make_profile(main_profile);
  report.rules.complete = true;
  report.folds = {a.qrels};
  auto const measures = eval::parse_measures(
      std::string(main_measures) + (a.unjudged == datasets::unlabelled ? known_measure : ""));
  auto const add = [&](std::string const& name, datasets::run const& run) {
    report.systems.push_back(
        {name, {eval::evaluate(owner.ctx(), judgments, run, measures, report.rules)}});
  };
  auto const timer = owner.stage("compare");
  for (datasets::run const& run : searches) add(run.tag, run);
  for (auto const& system : validated.report.systems)
    if (system.what.kind != experiment::system_kind::random)
      add(system.what.name, runs.of(owner.ctx(), a.experiment.out_dir, system.what.name));
  if (!owner.ranks().is_first()) return report;
  report.compared.permutations = a.experiment.permutations;
  // Searches may return more than the systems rank: then they are not compared.
  bool const deeper = std::ranges::any_of(searches, [&](auto const& search) {
    return std::ranges::any_of(
        search.queries, [&](auto const& query) { return query.documents.size() > a.candidates; });
  });
  auto const comparable =
      std::span(std::as_const(report.systems)).subspan(deeper ? searches.size() : 0);
  auto const reference =
      std::ranges::find(comparable, "bm25", &eval::system_values::name) - comparable.begin();
  report.comparisons =
      eval::compare(owner.ctx(), comparable, static_cast<std::size_t>(reference), report.compared);
  return report;
}

/// A temporary folder of this process, removed with its content at the end.
class private_folder {
 public:
  private_folder() {
    std::string name = (fs::temp_directory_path() / "rulerank-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw output_error(fmt::format("{}: cannot be created: {}", name, std::strerror(errno)));
    path_ = std::move(name);
  }
  ~private_folder() {
    std::error_code gone;
    fs::remove_all(path_, gone);
  }
  private_folder(private_folder const&) = delete;
  private_folder& operator=(private_folder const&) = delete;
  std::string const& path() const { return path_; }

 private:
  std::string path_;
};

void pipeline(session& owner, pipeline_arguments given, CLI::App const& line) {
  given.check(line);
  eval::table_format const format =
      owner.run.json ? eval::table_format::json : eval::table_format_from(given.experiment.format);
  knn::text_index_options const options = given.index_options(owner);
  announce_files(owner, resolved(given));
  // Over several MPI ranks, only the first one's files are the results.
  auto const own = owner.ranks().is_first() ? nullptr : std::make_unique<private_folder>();
  if (own != nullptr) given.out_dir = own->path();
  pipeline_arguments const a = resolved(given);
  pool_inputs inputs = read_pool_inputs(owner, a, options);
  expect_gains(*inputs.topics.judgments, a);
  folder_lock const lock = owner.hold(a.out_dir);
  found_pairs const pairs = find_pairs(owner, a, options, inputs);
  auto const folds = [&] {
    auto const timer = owner.stage("split");
    return make_folds(owner, a, pairs.data, pairs.feature_names);
  }();
  system_runs runs(a.folds);
  auto const validated =
      cross_validate(owner, a.experiment, folds,
                     [&](std::size_t fold, std::string const& system, datasets::dataset const& test,
                         std::span<double const> scores) { runs.add(fold, system, test, scores); });
  if (own != nullptr) return;
  eval::report const report =
      compare(owner, a, *inputs.topics.judgments, pairs.searches, validated, runs);
  auto const file = [&](char const* name) { return (fs::path(a.out_dir) / name).string(); };
  write_file(file("table.md"), eval::render(report, eval::table_format::markdown));
  write_file(file("results.json"), json_text_of(eval::to_json(report)));
  write_file("-", eval::render(report, format));
}

}  // namespace

void add_pipeline(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<pipeline_arguments>(
      program, owner, "pipeline", "Rank and evaluate a judged collection, from texts to tables",
      "rulerank pipeline --collection cran.all.1400 --topics cran.qry --number-by-position "
      "--qrels cran.qrels --not-relevant 5 --out-dir cranfield\n"
      "  finds 100 candidates for each topic, computes features, and compares rankers over folds",
      pipeline);
  a.experiment.discretizer.norm = "query-minmax";
  {
    help_group const group(verb, input_group);
    path_option(verb, "--collection FILE|FOLDER", a.collection,
                "Documents: TSV, JSON lines, TREC's or SMART's form, or a folder")
        ->required();
    path_option(verb, "--topics FILE|FOLDER", a.topics, "Topics (queries), in the same formats")
        ->required();
    path_option(verb, "--qrels", a.qrels, "TREC judgments")->required();
  }
  path_option(verb, "--out-dir D", a.out_dir, "Folder for the results, created if missing")
      ->required()
      ->group(output_group);
  a.add_search_to(verb, "Number of documents of a topic to rank");
  {
    help_group const group(verb, "Candidates and judgments");
    number_option(verb, "--unjudged V", a.unjudged,
                  "Label of pairs without a judgment: 0, not relevant; or -1, not used for "
                  "training, and the main table has judged@10",
                  {datasets::unlabelled, 0});
    number_option(verb, "--fold-count K", a.folds, "Number of folds, 3 or more", {1, 1'000'000});
  }
  a.add_features_to(verb);
  add_cross_validation_to(verb, a.experiment);
  runs_over_ranks(verb);
  for (auto const& [option, of_main_table] :
       {std::pair{"--metrics", main_measures}, std::pair{"--profile", main_profile}}) {
    CLI::Option* const one = verb.get_option(option);
    one->description(fmt::format("{}; for the tables in D/experiment. The main table has {}",
                                 one->get_description(), of_main_table));
  }
  usual_options(verb, {"--collection", "--topics", "--qrels", "--out-dir", "--candidates",
                       "--not-relevant", "--fold-count", "--rank-size", "--reduce-size"});
}

}  // namespace rulerank::apps
