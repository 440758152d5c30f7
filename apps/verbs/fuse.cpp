#include "apps/shared/arguments/fusion_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "datasets/trec.hpp"
#include "knn/fusion.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

struct fuse_arguments {
  std::vector<std::string> runs;
  std::vector<std::string> distances;
  fusion_arguments fusion;
  std::string out = "-";
  std::string tag = "rulerank";
  bool distinct_scores = false;
};

void name_files(session& owner, fuse_arguments const& arguments) {
  std::vector<session::named_input> inputs;
  for (std::string const& path : arguments.runs) inputs.push_back({"--run", path});
  owner.inputs(inputs);
  owner.outputs({{"--out", arguments.out}}, {}, "--out");
  for (std::string const& path : arguments.runs) owner.input(path);
}

std::vector<datasets::run> read_runs(session& owner, fuse_arguments const& arguments) {
  auto const timer = owner.stage("read");
  std::vector<datasets::run> runs;
  for (std::string const& path : arguments.runs)
    runs.push_back(datasets::read_run(owner.ctx(), path));
  return runs;
}

/// Which runs have distances as scores.
std::vector<bool> distances_of(fuse_arguments const& arguments) {
  std::vector<bool> are(arguments.runs.size(), false);
  for (std::string const& path : arguments.distances) {
    auto const at = std::ranges::find(arguments.runs, path);
    if (at == arguments.runs.end())
      throw usage_error(fmt::format("--distances: found '{}', expected one of the runs", path));
    are[static_cast<std::size_t>(at - arguments.runs.begin())] = true;
  }
  return are;
}

void warn_of_distances(session& owner, std::vector<datasets::run> const& runs,
                       std::vector<bool> const& are_distances) {
  for (std::size_t r = 0; r < runs.size(); ++r)
    if (!are_distances[r] && knn::ascends(runs[r]))
      owner.warn(
          fmt::format("{}: scores ascend in each query, as distances do, but the largest score "
                      "counts as the best; --distances {} ranks by the smallest",
                      runs[r].name, runs[r].name));
}

/// Warns of runs that lack queries of others: fewer runs are fused for these.
void warn_of_missing(session& owner, std::vector<datasets::run> const& runs, std::size_t queries) {
  for (datasets::run const& run : runs)
    if (run.queries.size() < queries)
      owner.warn(
          fmt::format("{}: has {} of {} queries; the other queries are fused without this run",
                      run.name, run.queries.size(), queries));
}

/// Writes a TREC run or, with --json on standard output, an object per query.
void write(datasets::run const& fused, fuse_arguments const& arguments, bool as_json) {
  output_file out(arguments.out);
  auto const score = [&](datasets::run_query const& query, std::size_t i) {
    return arguments.distinct_scores ? static_cast<double>(query.documents.size() - i)
                                     : query.documents[i].score;
  };
  for (datasets::run_query const& query : fused.queries) {
    nlohmann::ordered_json documents = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < query.documents.size(); ++i)
      if (as_json)
        documents.push_back({{"docid", query.documents[i].docno}, {"score", score(query, i)}});
      else
        out.write(datasets::run_line(query.qid, query.documents[i].docno, i + 1, score(query, i),
                                     arguments.tag));
    if (as_json)
      out.write(json_line_of(nlohmann::ordered_json{{"qid", query.qid}, {"documents", documents}}) +
                "\n");
  }
  out.commit();
}

void fuse_runs(session& owner, fuse_arguments const& arguments, CLI::App const& verb) {
  knn::fusion_options options = arguments.fusion.options(verb);
  if (!datasets::is_run_column(arguments.tag))
    throw usage_error(fmt::format("--tag: found '{}', expected one word", arguments.tag));
  if (arguments.runs.size() < 2)
    throw usage_error(fmt::format("--run: found {}, expected two or more",
                                  counted(arguments.runs.size(), "file")));
  if (!options.weights.empty() && options.weights.size() != arguments.runs.size())
    throw usage_error(fmt::format("--run-weights: found {}, expected one for each of {} runs",
                                  counted(options.weights.size(), "number"),
                                  arguments.runs.size()));
  options.distances = distances_of(arguments);
  name_files(owner, arguments);
  auto const runs = read_runs(owner, arguments);
  warn_of_distances(owner, runs, options.distances);
  auto const fused = [&] {
    auto const timer = owner.stage("fuse");
    return knn::fuse(owner.ctx(), runs, options);
  }();
  warn_of_missing(owner, runs, fused.queries.size());
  std::size_t documents = 0;
  for (datasets::run_query const& query : fused.queries) documents += query.documents.size();
  write(fused, arguments, owner.run.json && arguments.out == "-");
  nlohmann::ordered_json summary{{"runs", runs.size()},
                                 {"queries", fused.queries.size()},
                                 {"documents", documents},
                                 {"method", knn::name_of(options.method)}};
  if (!knn::ignores_scores(options.method)) summary["norm"] = knn::name_of(options.norm);
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  if (arguments.out != "-")
    owner.say(fmt::format("fused {} into {} of {}; wrote {}", counted(runs.size(), "run"),
                          counted(documents, "document"),
                          counted(fused.queries.size(), "query", "queries"), arguments.out));
  if (owner.prints_json()) {
    summary["seconds"] = owner.timings();
    write_file("-", json_text_of(summary));
  }
}

}  // namespace

void add_fuse(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<fuse_arguments>(
      program, owner, "fuse", "Fuse several runs into one",
      "rulerank fuse --run text.run dense.run --out both.run\n"
      "  fuses by reciprocal ranks; --method combsum adds the scores that --norm normalizes",
      fuse_runs);
  path_option(verb, "--run,RUN", a.runs, "TREC runs, two or more; - is standard input")
      ->required()
      ->group(input_group);
  path_option(verb, "--distances RUN", a.distances,
              "Runs of --run whose scores are distances: the smallest ranks first")
      ->group(input_group);
  {
    help_group const group(verb, output_group);
    path_option(verb, "--out", a.out, "Output file of the fused run; - is standard output");
    number_option(verb, "--depth", a.fusion.chosen.depth,
                  "Number of documents of a query to write; 0: all");
    verb.add_flag("--distinct-scores", a.distinct_scores,
                  "Write n, n - 1, ..., 1 as scores, so that evaluation programs keep the order");
    value_option(verb, "--tag WORD", a.tag, "Last column of the run");
  }
  a.fusion.add_to(verb, "--method", "--norm");
  usual_options(verb, {"--run", "--out", "--method", "--norm", "--run-weights", "--depth"});
}

}  // namespace rulerank::apps
