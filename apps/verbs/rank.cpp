#include "apps/shared/arguments/portability.hpp"
#include "apps/shared/arguments/scorer_arguments.hpp"
#include "apps/shared/search/query_candidates.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "core/process_group.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/scores.hpp"
#include "datasets/trec.hpp"
#include "l2r/model/scorer.hpp"
#include "l2r/rules/ranker.hpp"
#include "mpi/rank_devices.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace rulerank::inline v0::apps {
namespace {

/// Typical size of a line: OHSUMED has 493 bytes (45 features), MQ2008 614 (46).
constexpr double bytes_a_document = 500;

struct rank_arguments {
  scorer_arguments scorer;
  std::vector<std::string> tests;
  std::vector<std::string> outs;
  std::vector<std::string> runs;
  std::string tag = "rulerank";
  query_arguments query;
};

/// The format of scores: one per line in input order; or each query's documents best first, as a
/// table for terminals and, with --json, as one object per line.
enum class scores_form { lines, table, json };

scores_form form_of(session const& owner, rank_arguments const& arguments) {
  if (arguments.outs != std::vector<std::string>{"-"}) return scores_form::lines;
  if (owner.run.json) return scores_form::json;
  // mpirun gives its processes a pseudo-terminal.
  return ::tcgetpgrp(STDOUT_FILENO) >= 0 ? scores_form::table : scores_form::lines;
}

/// The documents of a query, best first, ties in input order.
std::string ranked_text(scores_form form, datasets::dataset const& test,
                        datasets::query_group const& query, std::span<double const> scores) {
  std::vector<std::size_t> const order = l2r::ranking(scores, query.begin, query.end);
  if (form == scores_form::json) {
    nlohmann::ordered_json ranked{{"qid", query.qid},
                                  {"documents", nlohmann::ordered_json::array()}};
    for (std::size_t const d : order)
      ranked["documents"].push_back({{"docid", test.docid(d)}, {"score", scores[d]}});
    return json_line_of(ranked) + "\n";
  }
  std::string text = fmt::format("query {}\n", printable(query.qid));
  for (std::size_t i = 0; i < order.size(); ++i)
    text += fmt::format("{:5}  {:<12.6g}  {}\n", i + 1, scores[order[i]],
                        printable(test.docid(order[i])));
  return text;
}

std::string scores_text(scores_form form, datasets::dataset const& test,
                        std::span<double const> scores) {
  if (form == scores_form::lines) return datasets::scores_text(test, scores);
  std::string text;
  for (datasets::query_group const& query : test.queries)
    text += ranked_text(form, test, query, scores);
  return text;
}

/// Writes the scores and the run of a test file, and counts its output.
class ranking_writer {
 public:
  /// `run`: path of the run, or empty.
  ranking_writer(session& owner, scores_form form, std::string const& scores,
                 std::string const& run, std::string tag)
      : owner_(owner), form_(form), scores_(scores), tag_(std::move(tag)) {
    if (!run.empty()) run_.emplace(run);
  }

  /// Writes a rank's part of a test file; all ranks must call it together.
  void write_part(datasets::dataset const& part, l2r::scored const& result) {
    auto const timer = owner_.stage("write");
    mpi::communicator const& ranks = owner_.ranks();
    collect_on_first(ranks, scores_text(form_, part, result.scores),
                     [&](std::string_view text) { scores_.write(text); });
    if (!run_) return;
    std::string again;  // repeated docid, if any
    datasets::distinct_ids(part, [&](std::string const& what) { again = what; });
    auto const of_ranks = gather_values(ranks, again);
    auto const first = std::ranges::find_if_not(of_ranks, &std::string::empty);
    if (first != of_ranks.end()) {
      owner_.warn(*first);
      ids_ = datasets::run_ids::line;
    }
    std::string run;
    datasets::write_run(part, result.scores, tag_, [&](std::string_view text) { run += text; },
                        {.ids = ids_});
    collect_on_first(ranks, run, [&](std::string_view text) { run_->write(text); });
  }

  void write(datasets::dataset const& test, l2r::scored const& result) {
    auto const timer = owner_.stage("write");
    scores_.write(scores_text(form_, test, result.scores));
    if (run_) {
      // A stream arrives by query: from the first repeated docid on, lines identify documents.
      if (ids_ == datasets::run_ids::docid)
        ids_ = datasets::distinct_ids(test, [&](std::string const& what) { owner_.warn(what); });
      datasets::write_run(test, result.scores, tag_, *run_, {.ids = ids_});
    }
  }
  void flush() {
    scores_.flush();
    if (run_) run_->flush();
  }
  void commit() {
    scores_.commit();
    if (run_) run_->commit();
  }

 private:
  session& owner_;
  scores_form form_;
  output_file scores_;
  std::optional<output_file> run_;
  std::string tag_;
  datasets::run_ids ids_ = datasets::run_ids::docid;
};

/// Counts over all test files.
struct ranking_counts {
  std::size_t documents = 0;
  std::size_t queries = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t prefix_lookups = 0;

  static ranking_counts of(datasets::dataset const& test, l2r::scored const& result) {
    return {test.size(), test.queries.size(), count_of(result.counts, "cache_hits"),
            count_of(result.counts, "cache_misses"), count_of(result.counts, "prefix_lookups")};
  }
  void add(ranking_counts const& other) {
    documents += other.documents;
    queries += other.queries;
    hits += other.hits;
    misses += other.misses;
    prefix_lookups += other.prefix_lookups;
  }
  nlohmann::ordered_json summary() const {
    nlohmann::ordered_json json;
    json["documents"] = documents;
    json["queries"] = queries;
    if (hits + misses > 0) json["cache"] = {{"hits", hits}, {"misses", misses}};
    if (prefix_lookups > 0) json["cache"]["prefix_lookups"] = prefix_lookups;
    return json;
  }
};

/// Throws for invalid options before anything is read.
void check(session& owner, rank_arguments const& arguments) {
  if (!datasets::is_run_column(arguments.tag))
    throw usage_error(fmt::format("--tag: found '{}', expected one word", arguments.tag));
  auto const expect_one_each = [&](char const* option, std::vector<std::string> const& files) {
    if (files.size() != arguments.tests.size())
      throw usage_error(fmt::format("{}: found {}, expected {}, one for each --test", option,
                                    counted(files.size(), "file"), arguments.tests.size()));
  };
  std::vector<session::named_input> inputs;
  std::vector<session::named_output> outputs;
  for (std::string const& path : arguments.tests) inputs.push_back({"--test", path});
  for (std::string const& path : arguments.outs) outputs.push_back({"--out", path});
  for (std::string const& path : arguments.runs) outputs.push_back({"--run", path});
  expect_one_each("--out", arguments.outs);
  if (!arguments.runs.empty()) expect_one_each("--run", arguments.runs);
  arguments.scorer.check(owner, std::move(inputs));
  owner.outputs(outputs, {}, "--out");
}

/// The documents of a test file or, over several ranks, this one's part.
struct test_documents {
  datasets::dataset documents;
  bool is_part = false;
};

test_documents read_test(session& owner, rank_arguments const& arguments, std::size_t t) {
  auto const timer = owner.stage("read");
  constexpr auto any = reading_arguments::labels::any;
  reading_arguments const& reading = arguments.scorer.reading;
  std::string const& path = arguments.tests[t];
  std::size_t const input = arguments.scorer.first_test() + t;
  if (auto part = reading.read_part(owner, path, input, any)) return {*std::move(part), true};
  return {reading.read(owner, path, input, any)};
}

/// The estimated total number of documents, extrapolated from the first file if it was read.
double documents_ahead(std::vector<std::string> const& tests, datasets::dataset const* first) {
  double bytes = 0;
  for (std::string const& path : tests) bytes += datasets::expected_text_bytes(path);
  if (first == nullptr) return bytes / bytes_a_document;
  return static_cast<double>(first->size()) *
         (bytes / std::max(datasets::expected_text_bytes(tests.front()), 1.0));
}

/// Scores the documents of the `t`-th test file, `read` if given, or the queries of standard input
/// as they arrive.
void rank_test(session& owner, rank_arguments const& arguments, std::size_t t,
               std::optional<test_documents> read, l2r::scorer const& scorer,
               ranking_counts& counts, ranking_writer& out) {
  bool begun = false;
  auto const score = [&](context const& ctx, datasets::dataset const& documents) {
    if (!std::exchange(begun, true)) warn_of_lacking_features(owner, documents, scorer.fitted());
    l2r::scored result;
    if (documents.size() > 0) result = scorer.score(ctx, documents);
    owner.took("discretize", result.timings.discretize_s);
    owner.took("rank", result.timings.score_s);
    return result;
  };
  auto const rank_list = [&](datasets::dataset const& documents) {
    owner.ranks();  // compares the ranks' inputs
    l2r::scored const result = score(owner.ctx(), documents);
    counts.add(ranking_counts::of(documents, result));
    out.write(documents, result);
  };
  reading_arguments const& reading = arguments.scorer.reading;
  std::size_t const input = arguments.scorer.first_test() + t;
  std::string const& path = arguments.tests[t];
  if (path != "-") {
    test_documents const test = read ? *std::move(read) : read_test(owner, arguments, t);
    if (!test.is_part) return rank_list(test.documents);
    l2r::scored const result = score(without_processes(owner.ctx()), test.documents);
    auto const mine = ranking_counts::of(test.documents, result);
    for (ranking_counts const& part : gather_values(owner.ranks(), mine)) counts.add(part);
    return out.write_part(test.documents, result);
  }
  auto const how = reading.options(input, reading_arguments::labels::any);
  owner.input(how.group_file);
  owner.input(path);
  datasets::stream_dataset(
      owner.ctx(), STDIN_FILENO, "standard input", how,
      [&](datasets::dataset const& query) {
        rank_list(query);
        out.flush();
      },
      [&](std::string const& message) { owner.warn(message); });
}

/// Ranks all files, and commits the outputs after all are written: a full disk leaves none.
ranking_counts rank_files(session& owner, rank_arguments const& arguments,
                          std::vector<ranker_recipe> const& recipes, std::string& engine) {
  std::deque<ranking_writer> outs;  // an unwritable output fails before the work
  for (std::size_t t = 0; t < arguments.tests.size(); ++t)
    outs.emplace_back(owner, form_of(owner, arguments), owner.destination(arguments.outs[t]),
                      arguments.runs.empty() ? "" : owner.destination(arguments.runs[t]),
                      arguments.tag);
  l2r::model model = arguments.scorer.fit_or_read(owner, recipes);
  std::optional<test_documents> first;  // read first, because its size determines the device
  if (arguments.tests.front() != "-") first = read_test(owner, arguments, 0);
  l2r::scorer const scorer = make_scorer(
      owner, std::move(model), arguments.scorer.ranker,
      documents_ahead(arguments.tests, first && !first->is_part ? &first->documents : nullptr));
  engine = ranked_by(scorer);
  note_portability(owner, l2r::portability_of(scorer.fitted()));
  ranking_counts counts;
  for (std::size_t t = 0; t < arguments.tests.size(); ++t)
    rank_test(owner, arguments, t, std::exchange(first, std::nullopt), scorer, counts, outs[t]);
  auto const timer = owner.stage("write");
  for (ranking_writer& out : outs) out.flush();
  owner.meet();
  for (ranking_writer& out : outs) out.commit();
  return counts;
}

/// Ranks the documents found for --query, and prints ids and titles, best first.
void rank_query(session& owner, rank_arguments& arguments, CLI::App const& verb) {
  owner.expect_one_process("rank --query");
  expect_none_of(verb, {"--tag"}, "{} cannot be combined with --query, expected --run");
  if (verb.count("--query") == 0 && !arguments.tests.empty())
    expect_none_of(verb, {"--collection", "--index"}, "{} needs --query instead of --test");
  if (!arguments.tests.empty() || !arguments.runs.empty())
    throw usage_error(
        "--query cannot be combined with --test or --run; put a query of several words in quotes");
  if (arguments.outs.size() > 1) throw usage_error("--query: found several --out, expected one");
  arguments.query.check(verb);
  arguments.scorer.check(owner, {{"--collection", arguments.query.pool.collection},
                                 {"--index", arguments.query.index}});
  std::string const out = arguments.outs.empty() ? "-" : arguments.outs.front();
  owner.outputs({{"--out", out}}, {}, "--out");
  std::vector<ranker_recipe> const recipes = arguments.scorer.recipes(owner);
  l2r::model model = arguments.scorer.fit_or_read(owner, recipes);
  query_candidates const found = find_query_candidates(owner, arguments.query);
  l2r::scorer const scorer =
      make_scorer(owner, std::move(model), arguments.scorer.ranker, found.pairs.size());
  warn_of_lacking_features(owner, found.pairs, scorer.fitted());
  std::vector<double> const scores = scorer.score(owner.ctx(), found.pairs).scores;
  std::string text;
  nlohmann::ordered_json documents = nlohmann::ordered_json::array();
  std::vector<std::size_t> const order = l2r::ranking(scores, 0, found.pairs.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::size_t const d = order[i];
    text += fmt::format("{:5}  {:<10.6g}  {}  {}\n", i + 1, scores[d],
                        printable(found.pairs.docid(d)), printable(found.titles[d]));
    documents.push_back(
        {{"docid", found.pairs.docid(d)}, {"score", scores[d]}, {"title", found.titles[d]}});
  }
  if (owner.run.json)
    text = json_line_of(
               nlohmann::ordered_json{{"query", arguments.query.query}, {"documents", documents}}) +
           "\n";
  write_file(out, text);
}

void rank(session& owner, rank_arguments arguments, CLI::App const& verb) {
  if (arguments.query.given(verb)) return rank_query(owner, arguments, verb);
  expect_none_of(verb, {"--candidates", "--collection-format", "--encoding", "--stemmer"},
                 "{} needs --query");
  if (arguments.tests.empty()) throw usage_error("--test is required, or --query and --collection");
  if (arguments.runs.empty())
    expect_none_of(verb, {"--tag"}, "{} needs --run, whose last column it sets");
  if (arguments.outs.empty() && arguments.tests.size() == 1) arguments.outs = {"-"};
  check(owner, arguments);
  std::vector<ranker_recipe> const recipes = arguments.scorer.recipes(owner);
  std::string engine;
  ranking_counts const counts = rank_files(owner, arguments, recipes, engine);
  nlohmann::ordered_json const summary = counts.summary();
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  owner.say(
      fmt::format("ranked {} of {} with {}{}", counted(counts.documents, "document"),
                  counted(counts.queries, "query", "queries"), engine,
                  arguments.outs == std::vector<std::string>{"-"}
                      ? ""
                      : fmt::format("; wrote the scores to {}", fmt::join(arguments.outs, " "))));
  if (owner.prints_json()) {
    nlohmann::ordered_json json;
    if (arguments.outs.size() == 1)
      json["scores"] = arguments.outs.front();
    else
      json["scores"] = arguments.outs;
    json["engine"] = engine;
    json.update(summary);
    write_file("-", json_text_of(json));
  }
}

}  // namespace

void add_rank(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<rank_arguments>(
      program, owner, "rank", "Score and rank documents",
      "rulerank rank --model fold1.model --test Fold1/test.txt --out scores.txt --run run.trec\n"
      "rulerank rank --model shop.model --query \"red shoes\" --collection docs.jsonl\n"
      "  ranks the documents that a search finds for these words",
      rank);
  runs_over_ranks(verb);
  a.scorer.add_inputs_to(verb);
  path_option(verb, "--test,TEST FILE|-", a.tests,
              "Documents to rank; - is standard input, where each query is ranked as soon as it is "
              "complete")
      ->group(input_group);
  {
    help_group const group(verb, output_group);
    path_option(
        verb, "--out", a.outs,
        "Output file, one for each --test: one score on each line, in input order; on a terminal "
        "the documents of each query, best first")
        ->default_str("-");
    path_option(verb, "--run", a.runs,
                "Output file of the ranking as a TREC run, one for each --test");
    value_option(verb, "--tag WORD", a.tag, "Last column of the run");
  }
  a.scorer.add_to(verb);
  a.query.add_to(verb);
  usual_options(verb, {"--model", "--test", "--query", "--collection", "--train", "--members",
                       "--out", "--run"});
}

}  // namespace rulerank::apps
