#include "apps/shared/cross_validation.hpp"
#include "apps/shared/dense_candidates.hpp"
#include "apps/shared/device_rule.hpp"
#include "apps/shared/judged_ids.hpp"
#include "apps/shared/text_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/sha256.hpp"
#include "datasets/arrays.hpp"
#include "datasets/json_text.hpp"
#include "datasets/scores.hpp"
#include "datasets/split.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/trec.hpp"
#include "eval/evaluate.hpp"
#include "eval/report.hpp"
#include "knn/features/pair_features.hpp"
#include "knn/fusion.hpp"
#include "knn/sparse/search.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::apps {
namespace {

namespace fs = std::filesystem;

struct pipeline_arguments {
  std::string collection, topics, qrels, out_dir;
  std::size_t candidates = 100;
  std::string metric = "auto";
  std::string engine = "auto";
  std::vector<std::int32_t> not_relevant;
  std::size_t folds = 5;
  knn::pair_features_options features;
  text_arguments text;
  dense_arguments dense;
  knn::fusion_options fusion;
  cross_validation_arguments experiment;
};

/// How deep the candidates' recall is looked at.
constexpr std::size_t recall_depth = 1000;

/// What the main table holds every ranking against all judgments by.
constexpr char const* main_profile = "trec";
constexpr char const* main_measures = "MAP,NDCG@10,P@10,recall@100,recall@1000";

/// The feature that orders documents as a baseline, and what its scores are called.
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

/// Judgments, those of grades that mean "not relevant" as 0. Throws `error` for a grade that the
/// profile has no gain for.
datasets::qrels read_judgments(session& owner, pipeline_arguments const& a) {
  datasets::qrels judgments = datasets::read_qrels(owner.ctx(), owner.input(a.qrels));
  std::int32_t const largest = eval::largest_label(eval::make_profile(a.experiment.profile));
  for (auto& query : judgments.queries)
    for (auto& document : query.documents) {
      if (std::find(a.not_relevant.begin(), a.not_relevant.end(), document.label) !=
          a.not_relevant.end())
        document.label = 0;
      if (document.label > largest)
        throw error({judgments.name, document.line, 0},
                    fmt::format("found the grade {} of document '{}', whose gain is beyond "
                                "doubles, expected at most {} or --profile trec",
                                document.label, document.docno, largest));
    }
  return judgments;
}

/// Topics, whose ids become qids of LETOR lines.
std::vector<datasets::text_document> read_topics(session& owner, pipeline_arguments const& a,
                                                 knn::text_index_options options) {
  options.reading.ids = datasets::id_form::qid;
  std::vector<datasets::text_document> topics;
  datasets::read_documents(
      owner.ctx(), owner.input(a.topics), datasets::text_format::automatic,
      [&](datasets::text_document&& topic) { topics.push_back(std::move(topic)); },
      options.reading);
  return topics;
}

/// What was found for the topics, as a run; topics without a document are none of its queries.
datasets::run run_of(std::vector<datasets::text_document> const& topics, found_lists const& found,
                     knn::text_index const& index, std::string tag) {
  datasets::run run;
  run.name = tag;
  run.tag = std::move(tag);
  for (std::size_t q = 0; q < topics.size(); ++q) {
    datasets::run_query query{topics[q].id, {}};
    for (auto const& [document, score] : found[q])
      query.documents.push_back({std::string(index.ids()[document]), score});
    if (!query.documents.empty()) run.queries.push_back(std::move(query));
  }
  return run;
}

/// What a run has for the topics, by the documents' numbers.
found_lists lists_of_run(datasets::run const& run,
                         std::vector<datasets::text_document> const& topics,
                         knn::text_index const& index) {
  std::unordered_map<std::string_view, std::uint32_t> number;
  for (std::uint32_t d = 0; d < index.ids().size(); ++d) number[index.ids()[d]] = d;
  std::unordered_map<std::string_view, datasets::run_query const*> query_of;
  for (auto const& query : run.queries) query_of[query.qid] = &query;
  found_lists lists(topics.size());
  for (std::size_t q = 0; q < topics.size(); ++q)
    if (auto const at = query_of.find(topics[q].id); at != query_of.end())
      for (auto const& [docno, score] : at->second->documents)
        lists[q].push_back({number.at(docno), score});
  return lists;
}

void write_candidates(datasets::run const& run, std::string const& path) {
  output_file out(path);
  for (auto const& query : run.queries)
    for (std::size_t i = 0; i < query.documents.size(); ++i)
      out.write(datasets::run_line(query.qid, query.documents[i].docno, i + 1,
                                   query.documents[i].score, run.tag));
  out.commit();
}

/// Topics with the documents that are ranked for them, in the order of the collection: that of the
/// search would tell a ranker more than the features.
struct ranked_pairs {
  std::vector<std::uint64_t> begin{0};  ///< [topics + 1] into documents
  std::vector<std::uint32_t> documents;
};

ranked_pairs pairs_of(pipeline_arguments const& a, found_lists const& found) {
  ranked_pairs pairs;
  for (auto const& list : found) {
    auto& documents = pairs.documents;
    for (std::size_t i = 0; i < std::min(a.candidates, list.size()); ++i)
      documents.push_back(list[i].document);
    std::sort(documents.begin() + static_cast<std::ptrdiff_t>(pairs.begin.back()), documents.end());
    pairs.begin.push_back(documents.size());
  }
  if (pairs.documents.empty())
    throw error(
        {a.topics, 1, 1},
        fmt::format("found no topic that {} a document of {}, expected one at least",
                    a.dense.by_vectors() ? "is near to" : "shares a term with", a.collection));
  return pairs;
}

/// Rows of the pairs' features, with the similarity of their vectors as the last one where there
/// are vectors: [pairs][features].
std::vector<double> features_of(context const& ctx, ranked_pairs const& pairs,
                                std::vector<datasets::text_document> const& topics,
                                knn::text_index const& index, knn::pair_features const& features,
                                dense_candidates const* vectors) {
  std::size_t const n = features.size();
  std::vector<double> values(pairs.documents.size() * n);
  features.of(ctx, index.counts(ctx, topics), pairs.begin, pairs.documents, values);
  if (vectors == nullptr) return values;
  auto const similarities = vectors->similarities(ctx, pairs.begin, pairs.documents);
  std::vector<double> wider;
  wider.reserve(pairs.documents.size() * (n + 1));
  for (std::size_t p = 0; p < pairs.documents.size(); ++p) {
    auto const row = values.begin() + static_cast<std::ptrdiff_t>(p * n);
    wider.insert(wider.end(), row, row + static_cast<std::ptrdiff_t>(n));
    wider.push_back(similarities[p]);
  }
  return wider;
}

/// The pairs as documents: judged or 0, their features, their ids.
datasets::dataset make_letor(session& owner, pipeline_arguments const& a, ranked_pairs const& pairs,
                             std::vector<datasets::text_document> const& topics,
                             knn::text_index const& index, datasets::qrels const& judgments,
                             std::vector<double> const& values) {
  std::unordered_map<std::string, datasets::judged_query const*> judged;
  for (auto const& query : judgments.queries) judged[query.qid] = &query;
  std::vector<std::int32_t> labels;
  std::vector<std::string_view> qids, ids;
  for (std::size_t q = 0; q < topics.size(); ++q) {
    auto const of_topic = judged.find(topics[q].id);
    for (std::size_t i = pairs.begin[q]; i < pairs.begin[q + 1]; ++i) {
      std::string_view const id = ids.emplace_back(index.ids()[pairs.documents[i]]);
      qids.push_back(topics[q].id);
      std::int32_t& label = labels.emplace_back(0);
      if (of_topic == judged.end()) continue;
      auto const& all = of_topic->second->documents;
      auto const at = std::ranges::lower_bound(all, id, {}, &datasets::judgment::docno);
      if (at != all.end() && at->docno == id) label = std::max(at->label, 0);
    }
  }
  datasets::document_arrays about;
  about.labels = labels;
  about.qids = qids;
  about.ids = ids;
  about.name = (fs::path(a.out_dir) / "letor.txt").string();
  about.lines = true;
  std::size_t const rows = pairs.documents.size(), columns = values.size() / rows;
  return datasets::make_dataset(
      owner.ctx(), datasets::dense_rows<double>{values.data(), rows, columns, columns}, about);
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

/// Writes a baseline's scores of a test part.
void write_baseline(datasets::dataset const& data, std::span<std::size_t const> test,
                    std::vector<double> const& scores, fs::path const& path) {
  std::vector<double> of_test;
  for (std::size_t const d : test) of_test.push_back(scores[d]);
  make_folders(path.parent_path().string());
  output_file to(path.string());
  datasets::write_scores(datasets::subset(data, test), of_test, to);
  to.commit();
}

/// The folds of the documents, with the baselines' scores of their test parts. They are written as
/// files, whose checksums the results name, and are handed on from memory.
experiment::memory_folds make_folds(session& owner, pipeline_arguments const& a,
                                    datasets::dataset const& data,
                                    std::vector<std::string> const& names) {
  auto const documents = datasets::split_folds(owner.ctx(), data, {.folds = a.folds});
  auto const written = datasets::write_folds(owner.ctx(), data, documents, a.experiment.folds);
  auto const scores = baseline_scores(a, data, names);
  bool const with_vali = experiment::needs_validation(options_of(a.experiment).settings);
  std::vector<experiment::memory_fold> folds;
  for (std::size_t f = 0; f < documents.size(); ++f) {
    std::string const name = fmt::format("Fold{}", f + 1);
    std::map<std::string, std::string> sums;
    for (std::string const part : {"train.txt", "vali.txt", "test.txt"})
      if (with_vali || part != "vali.txt")
        sums[name + "/" + part] = sha256_of_file((fs::path(written[f].folder) / part).string());
    for (auto const& [system, all] : scores) {
      fs::path const path = fs::path(a.out_dir) / "scores" / system / (name + ".txt");
      write_baseline(data, documents[f].test, all, path);
      sums[fmt::format("{}/{}.txt", system, name)] = sha256_of_file(path.string());
    }
    folds.push_back({f + 1, documents[f].train, documents[f].vali, documents[f].test, sums});
  }
  return {data, std::move(folds), scores};
}

/// The rankings of the systems over the test parts, to be held against all judgments.
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

  /// Of all folds; those that an earlier run finished are read from what it wrote.
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

/// The options with what follows from others. Throws `usage_error` for wrong ones, first of all.
pipeline_arguments resolved(pipeline_arguments a, knn::text_index_options const& options) {
  a.features.k1 = options.weighting.k1;
  a.features.b = options.weighting.b;
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

/// Names the inputs and outputs to the session, which checks them.
void announce_files(session& owner, pipeline_arguments const& a) {
  std::vector<session::named_input> inputs{
      {"--collection", a.collection}, {"--topics", a.topics}, {"--qrels", a.qrels}};
  for (session::named_input const& input : a.dense.inputs()) inputs.push_back(input);
  if (auto const list = a.text.stop_list()) {
    inputs.push_back(*list);
    owner.input(list->path);
  }
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

/// What is searched for, and what is known of it.
struct asked {
  datasets::qrels judgments;
  std::vector<datasets::text_document> topics;
  std::optional<dense_candidates> vectors{};
};

asked read_asked(session& owner, pipeline_arguments const& a,
                 knn::text_index_options const& options) {
  auto const timer = owner.stage("read");
  asked what{read_judgments(owner, a), read_topics(owner, a, options)};
  if (std::ranges::none_of(what.topics, [&](auto const& topic) {
        return std::ranges::find(what.judgments.queries, topic.id, &datasets::judged_query::qid) !=
               what.judgments.queries.end();
      }))
    throw error({a.qrels, 1, 1},
                fmt::format("found no judgment of a topic of {}, expected one at least", a.topics));
  if (a.dense.given()) what.vectors.emplace(owner, a.dense, what.topics.size());
  return what;
}

/// What was found for the topics, which is also written: the candidates, and where they are fused
/// what each of the searches found.
struct candidate_runs {
  found_lists candidates;
  std::vector<std::pair<std::string, datasets::run>> runs;  ///< their names; the candidates first
};

found_lists search_text(session& owner, pipeline_arguments const& a,
                        knn::text_index_options const& options, asked const& what,
                        knn::text_index const& index, std::size_t depth) {
  knn::sparse_search_options search;
  search.k = depth;
  search.metric = text_arguments::metric_from(a.metric, options.metric);
  search.engine = knn::sparse_engine_from(a.engine);
  auto const timer = owner.stage("search");
  return lists_of(knn::sparse_searcher(owner.ctx(), index.index(), search)
                      .search(owner.ctx(), index.queries(owner.ctx(), what.topics)));
}

candidate_runs find_candidates(session& owner, pipeline_arguments const& a,
                               knn::text_index_options const& options, asked const& what,
                               knn::text_index const& index) {
  std::size_t const depth = std::max(a.candidates, recall_depth);
  candidate_runs found;
  found_lists by_text, by_vectors;
  if (a.dense.by_text()) by_text = search_text(owner, a, options, what, index, depth);
  if (a.dense.by_vectors()) {
    auto const timer = owner.stage("search vectors");
    by_vectors = what.vectors->search(owner.ctx(), depth);
  }
  bool const both = a.dense.by_text() && a.dense.by_vectors();
  if (both) {
    auto const timer = owner.stage("fuse");
    datasets::run const runs[] = {run_of(what.topics, by_text, index, "candidates-text"),
                                  run_of(what.topics, by_vectors, index, "candidates-dense")};
    knn::fusion_options fusion = a.fusion;
    fusion.depth = depth;
    found.candidates = lists_of_run(knn::fuse(owner.ctx(), runs, fusion), what.topics, index);
    for (datasets::run const& run : runs) found.runs.emplace_back(run.tag, run);
  } else {
    found.candidates = std::move(a.dense.by_text() ? by_text : by_vectors);
  }
  found.runs.emplace(found.runs.begin(), "candidates",
                     run_of(what.topics, found.candidates, index, "candidates"));
  for (auto const& [name, run] : found.runs)
    write_candidates(run, (fs::path(a.out_dir) / (name + ".run")).string());
  return found;
}

/// The candidates and their features, which are also written.
struct found_pairs {
  std::vector<std::pair<std::string, datasets::run>> searches;
  std::vector<std::string> feature_names;
  datasets::dataset data;
};

found_pairs find_pairs(session& owner, pipeline_arguments const& a,
                       knn::text_index_options const& options, asked& what) {
  auto const index_collection = [&] {
    auto const timer = owner.stage("index");
    return knn::text_index::build_with_fields(owner.ctx(), owner.input(a.collection), options);
  };
  knn::indexed_collection collection = index_collection();
  knn::text_index const& index = collection.index;
  warn_without_terms(owner, index);
  warn_of_ids(owner, what.judgments, what.topics, a.topics, index.ids(), a.collection);
  owner.choose_device(places_of(knn::sparse_engines(), knn::sparse_engine_from(a.engine)),
                      search_seconds(static_cast<double>(index.ids().size()),
                                     bytes_ahead(a.topics) / bytes_a_term));
  if (what.vectors) what.vectors->prepare(owner, index.ids().size(), a.collection);
  candidate_runs found = find_candidates(owner, a, options, what, index);
  auto const timer = owner.stage("features");
  auto const file = [&](char const* name) { return (fs::path(a.out_dir) / name).string(); };
  found_pairs pairs;
  pairs.searches = std::move(found.runs);
  knn::pair_features const features(owner.ctx(), std::move(collection.fields), a.features);
  pairs.feature_names = features.names();
  if (what.vectors) pairs.feature_names.push_back(a.dense.feature());
  write_names(pairs.feature_names, file("features.tsv"));
  ranked_pairs const ranked = pairs_of(a, found.candidates);
  pairs.data = make_letor(owner, a, ranked, what.topics, index, what.judgments,
                          features_of(owner.ctx(), ranked, what.topics, index, features,
                                      what.vectors ? &*what.vectors : nullptr));
  write_letor(pairs.data);
  return pairs;
}

/// Every ranking against all judgments: what no candidate is counts as not found.
eval::report compare(session& owner, pipeline_arguments const& a, datasets::qrels const& judgments,
                     std::vector<std::pair<std::string, datasets::run>> const& searches,
                     experiment::results const& validated, system_runs& runs) {
  eval::report report;
  report.rules = eval::make_profile(main_profile);
  report.rules.complete = true;
  report.folds = {a.qrels};
  auto const measures = eval::parse_measures(main_measures);
  auto const add = [&](std::string const& name, datasets::run const& run) {
    report.systems.push_back(
        {name, {eval::evaluate(owner.ctx(), judgments, run, measures, report.rules)}});
  };
  auto const timer = owner.stage("compare");
  for (auto const& [name, run] : searches) add(name, run);
  for (auto const& system : validated.report.systems)
    if (system.what.kind != experiment::system_kind::random)
      add(system.what.name, runs.of(owner.ctx(), a.experiment.out_dir, system.what.name));
  report.compared.permutations = a.experiment.permutations;
  // The searches go deeper than what the systems rank: where one does, they are not compared.
  bool const deeper = std::ranges::any_of(searches, [&](auto const& search) {
    return std::ranges::any_of(search.second.queries, [&](auto const& query) {
      return query.documents.size() > a.candidates;
    });
  });
  auto const comparable =
      std::span(std::as_const(report.systems)).subspan(deeper ? searches.size() : 0);
  auto const reference =
      std::ranges::find(comparable, "bm25", &eval::system_values::name) - comparable.begin();
  report.comparisons =
      eval::compare(owner.ctx(), comparable, static_cast<std::size_t>(reference), report.compared);
  return report;
}

void pipeline(session& owner, pipeline_arguments const& given) {
  if (given.collection == "-" || given.topics == "-" || given.qrels == "-")
    throw usage_error(
        "--collection, --topics and --qrels are files here, whose checksums "
        "the manifest has");
  if (given.dense.vectors == "-" || given.dense.topic_vectors == "-")
    throw usage_error("--vectors and --topic-vectors are files here, whose names say their form");
  eval::table_format const format =
      owner.run.json ? eval::table_format::json : eval::table_format_from(given.experiment.format);
  knn::text_index_options options = given.text.options(owner);
  options.reading.ids = datasets::id_form::run_column;
  text_arguments::metric_from(given.metric, options.metric);
  knn::sparse_engine_from(given.engine);
  pipeline_arguments const a = resolved(given, options);
  announce_files(owner, a);
  asked what = read_asked(owner, a, options);
  folder_lock const lock = owner.hold(a.out_dir);
  found_pairs const pairs = find_pairs(owner, a, options, what);
  auto const folds = [&] {
    auto const timer = owner.stage("split");
    return make_folds(owner, a, pairs.data, pairs.feature_names);
  }();
  system_runs runs(a.folds);
  auto const validated =
      cross_validate(owner, a.experiment, folds,
                     [&](std::size_t fold, std::string const& system, datasets::dataset const& test,
                         std::span<double const> scores) { runs.add(fold, system, test, scores); });
  eval::report const report = compare(owner, a, what.judgments, pairs.searches, validated, runs);
  auto const file = [&](char const* name) { return (fs::path(a.out_dir) / name).string(); };
  write_file(file("table.md"), eval::render(report, eval::table_format::markdown));
  write_file(file("results.json"), datasets::text_of(eval::to_json(report)));
  write_file("-", eval::render(report, format));
}

}  // namespace

void add_pipeline(CLI::App& program, session& owner) {
  auto const arguments = std::make_shared<pipeline_arguments>();
  pipeline_arguments& a = *arguments;
  a.text.weights = "bm25";
  a.experiment.discretizer.norm = "query-minmax";
  CLI::App* const verb = add_verb(
      program, owner, "pipeline",
      "From documents, topics and judgments to ranked and evaluated lists",
      "rulerank pipeline --collection cran.all.1400 --topics cran.qry --number-by-position\n"
      "  --qrels cran.qrels --not-relevant 5 --out-dir cranfield",
      [&owner, &program, arguments] {
        CLI::App const& line = *program.get_subcommand("pipeline");
        arguments->text.check_weights(line);
        arguments->dense.check(line);
        arguments->fusion = arguments->dense.fusion.options(line);
        pipeline(owner, *arguments);
      });
  path_option(*verb, "--collection", a.collection,
              "Documents: TSV, JSON lines, TREC's or SMART's form, a folder")
      ->type_name("FILE|FOLDER")
      ->required();
  path_option(*verb, "--topics", a.topics, "Topics, in a form of documents")
      ->type_name("FILE|FOLDER")
      ->required();
  path_option(*verb, "--qrels", a.qrels, "TREC judgments")->type_name("FILE")->required();
  path_option(*verb, "--out-dir", a.out_dir, "Folder for all that is written; made where missing")
      ->type_name("D")
      ->required();
  number_option(*verb, "--candidates", a.candidates, "Documents of a topic that are ranked",
                {1, std::size_t{1} << 31});
  verb->add_option(
          "--metric", a.metric,
          "Of the search: cosine, ip, l2; auto: ip for bm25 and --weighting's norm n, else "
          "cosine")
      ->capture_default_str();
  engine_option(*verb, "--search-engine", a.engine, knn::sparse_engines(), "Of the search");
  number_option(*verb, "--not-relevant", a.not_relevant, "Grades of the judgments that mean 0")
      ->delimiter(',')
      ->type_name("GRADE,...");
  number_option(*verb, "--fold-count", a.folds, "Folds, at least 3", {1, 1'000'000})
      ->type_name("K");
  std::string const models = "Features";
  number_option(*verb, "--mu", a.features.mu, "LMIR.DIR: terms the collection adds")->group(models);
  number_option(*verb, "--lambda", a.features.lambda, "LMIR.JM: the collection's share")
      ->group(models);
  number_option(*verb, "--delta", a.features.delta, "LMIR.ABS: what counts are lowered by")
      ->group(models);
  a.dense.add_to(*verb);
  a.text.add_reading_to(*verb);
  a.text.add_index_to(*verb);
  add_cross_validation_to(*verb, a.experiment);
  for (auto const& [option, of_main_table] :
       {std::pair{"--metrics", main_measures}, std::pair{"--profile", main_profile}}) {
    CLI::Option* const one = verb->get_option(option);
    one->description(fmt::format("{}; of the tables in D/experiment. The main table's: {}",
                                 one->get_description(), of_main_table));
  }
}

}  // namespace rulerank::apps
