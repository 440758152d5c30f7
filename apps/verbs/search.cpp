#include "knn/sparse/search.hpp"

#include "apps/shared/corrections.hpp"
#include "apps/shared/device_rule.hpp"
#include "apps/shared/neighbour_output.hpp"
#include "apps/shared/text_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "cluster/split.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/json_text.hpp"
#include "datasets/text_source.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace rulerank::apps {
namespace {

struct search_text_arguments : neighbour_paths {
  std::string collection;
  std::string queries;
  std::string index;
  std::string metric = "auto";
  std::string engine = "auto";
  std::string votes;
  std::string classes;
  std::size_t k = 30;
  bool pad = false;
  bool correct = false;
  std::size_t group = 1;
  std::string balance = "inter";
  text_arguments text;
};

knn::text_index prepare(session& owner, search_text_arguments const& arguments) {
  if (arguments.collection.empty()) {
    auto const timer = owner.stage("open");
    return knn::text_index::open(owner.ctx(), arguments.index);
  }
  auto const timer = owner.stage("index");
  knn::text_index_options options = arguments.text.options(owner);
  options.dictionary = arguments.correct;
  auto const note_times = [&](knn::text_index_timings const& timings) {
    owner.took("read", timings.read_s);
    owner.took("weigh", timings.weigh_s);
  };
  if (arguments.index.empty()) {
    auto index = knn::text_index::build(owner.ctx(), arguments.collection, options);
    note_times(index.timings());
    return index;
  }
  {
    output_file file(arguments.index);
    note_times(knn::text_index::build(owner.ctx(), arguments.collection, options, file));
    file.commit();
  }
  return knn::text_index::open(owner.ctx(), arguments.index);
}

/// What corrects the queries, or none. Throws `error` for an index file without a dictionary.
std::optional<knn::spelling_corrector> corrector_of(session& owner,
                                                    search_text_arguments const& arguments,
                                                    knn::text_index const& index) {
  if (!arguments.correct) return std::nullopt;
  if (!index.dictionary()) {
    if (knn::holds_vectors(index.options()))
      throw usage_error("--correct: the index holds vectors, and there are no words");
    throw error({arguments.index, 1, 1},
                fmt::format("found an index without the words that --correct needs, expected one "
                            "made by `rulerank search text --collection DOCS --index {} --correct`",
                            arguments.index));
  }
  auto const timer = owner.stage("dictionary");
  return std::make_optional<knn::spelling_corrector>(owner.ctx(), index);
}

/// Throws `error` for a query that tf-idf gives a weight beyond what the search takes.
void expect_weights(knn::sparse_rows const& rows,
                    std::vector<datasets::text_document> const& queries, std::string const& path) {
  for (std::size_t q = 0; q < rows.size(); ++q)
    for (double const weight : rows[q].weight)
      if (std::abs(weight) > knn::largest_weight)
        throw error(
            {datasets::display_name(path), 0, 0},
            fmt::format("found a value of query {} that tf-idf makes {}, expected at most {}",
                        datasets::quoted(queries[q].id), weight, knn::largest_weight));
}

/// The form of the queries: what is asked for, if the index has such terms.
datasets::text_format format_of_queries(knn::text_index const& index, datasets::text_format asked) {
  using enum datasets::text_format;
  if (knn::holds_vectors(index.options())) {
    if (asked != svmlight && asked != automatic)
      throw usage_error("--collection-format: the index holds vectors, expected svmlight");
    return svmlight;
  }
  if (asked == svmlight)
    throw usage_error(
        "--collection-format: found 'svmlight', and the index holds documents of words");
  return asked;
}

void check_usage(search_text_arguments const& arguments, CLI::App const& verb) {
  if (arguments.collection.empty() && arguments.index.empty())
    throw usage_error("no documents, expected --collection or --index");
  if (arguments.queries.empty() && arguments.index.empty())
    throw usage_error("nothing to do, expected --queries, or --index to write the index to");
  if (arguments.queries.empty() && arguments.collection.empty())
    throw usage_error("nothing to do, expected --queries, or --collection to index");
  if (arguments.collection.empty())
    for (std::string const& name : text_arguments::index_options())
      if (verb.count(name) > 0)
        throw usage_error(
            fmt::format("{} beside --index without --collection: the index has been made", name));
  if (arguments.text.format == "svmlight")
    for (std::string const& name : text_arguments::word_options())
      if (verb.count(name) > 0)
        throw usage_error(
            fmt::format("{} beside --collection-format svmlight: there are no words", name));
  arguments.text.check_weights(verb);
  if (arguments.text.weights != "bm25")
    for (char const* const name : {"--k1", "--b"})
      if (verb.count(name) > 0) throw usage_error(fmt::format("{} without --weights bm25", name));
  if (arguments.queries.empty())
    for (char const* const name :
         {"--out", "--run", "--tag", "--votes", "--classes", "--k", "--pad", "--metric", "--engine",
          "--launch-queries", "--balance"})
      if (verb.count(name) > 0) throw usage_error(fmt::format("{} without --queries", name));
  if (arguments.engine != "fish")
    for (char const* const name : {"--launch-queries", "--balance"})
      if (verb.count(name) > 0)
        throw usage_error(
            fmt::format("{} beside --engine {}, expected --engine fish", name, arguments.engine));
  if (!arguments.classes.empty() && arguments.votes.empty())
    throw usage_error("--classes without --votes");
  if (arguments.index == "-")
    throw usage_error("--index: found -, expected a file, which is mapped and not read");
}

/// Names inputs and outputs before any is read or written.
void name_files(session& owner, search_text_arguments const& arguments) {
  std::vector<session::named_input> inputs{{"--collection", arguments.collection},
                                           {"--queries", arguments.queries}};
  if (auto const list = arguments.text.stop_list()) inputs.push_back(*list);
  owner.inputs(inputs);
  std::vector<session::named_output> outputs;
  if (!arguments.queries.empty())
    outputs = {
        {"--out", arguments.out}, {"--run", arguments.run}, {"--classes", arguments.classes}};
  if (!arguments.collection.empty()) outputs.push_back({"--index", arguments.index});
  owner.outputs(outputs);
  for (session::named_input const& input : inputs) owner.input(input.path);
  expect_outside(owner, inputs, outputs);
  if (arguments.collection.empty()) owner.input(arguments.index);
}

/// What one call writes, query by query.
struct search_output {
  neighbour_files neighbours;
  std::optional<class_votes> votes;

  search_output(session const& owner, search_text_arguments const& arguments)
      : neighbours(owner.destination(arguments.out), owner.destination(arguments.run),
                   arguments.tag) {
    if (!arguments.votes.empty())
      votes.emplace(arguments.votes, owner.destination(arguments.classes));
  }
  void commit(session const& owner) {
    neighbours.flush();
    if (votes) votes->flush();
    owner.meet();
    neighbours.commit();
    if (votes) votes->commit();
  }
};

/// Reads the queries, searches batch after batch and writes; the number of queries.
std::size_t search_queries(session& owner, search_text_arguments const& arguments,
                           knn::text_index const& index, knn::sparse_searcher const& searcher,
                           datasets::text_format asked, datasets::text_options const& reading,
                           search_output& out, correction_report& corrections) {
  datasets::text_format const format = format_of_queries(index, asked);
  std::vector<datasets::text_document> queries;
  std::size_t searched = 0;
  auto const corrector = corrector_of(owner, arguments, index);
  auto const search = [&] {
    if (corrector) {
      auto const timer = owner.stage("correct");
      corrections.correct(owner, *corrector, queries);
    }
    knn::sparse_matrix const rows = index.queries(owner.ctx(), queries);
    expect_weights(rows, queries, arguments.queries);
    knn::neighbours const found = [&] {
      auto const timer = owner.stage("nearest");
      return cluster::search(owner.ranks(), rows.size(), [&](cluster::part some) {
        return searcher.search(owner.ctx(), cluster::rows_of(rows, some));
      });
    }();
    for (std::size_t q = 0; q < queries.size(); ++q)
      out.neighbours.write(queries[q].id, q, found, index.ids());
    if (out.votes) out.votes->add(queries, found);
    searched += queries.size();
    owner.ctx().report("search", searched, 0);
    queries.clear();
  };
  // As many queries as have neighbours for some 400 MB.
  std::size_t const k = std::min(arguments.k, index.ids().size());
  std::size_t const together = std::clamp<std::size_t>((std::size_t{1} << 25) / k, 1, 4096);
  auto const timer = owner.stage("search");
  datasets::read_documents(
      owner.ctx(), arguments.queries, format,
      [&](datasets::text_document&& query) {
        queries.push_back(std::move(query));
        if (queries.size() == together) search();
      },
      reading);
  search();
  return searched;
}

knn::sparse_search_options search_options_of(search_text_arguments const& arguments) {
  knn::sparse_search_options options;
  options.k = arguments.k;
  options.pad = arguments.pad;
  options.metric = text_arguments::metric_from(arguments.metric, knn::similarity::cosine);
  options.engine = knn::sparse_engine_from(arguments.engine);
  options.group = arguments.group;
  options.balance = knn::load_balance_from(arguments.balance);
  return options;
}

void search_text(session& owner, search_text_arguments const& arguments, CLI::App const& verb) {
  check_usage(arguments, verb);
  if (!arguments.collection.empty() && !arguments.index.empty())
    owner.expect_one_process("--collection beside --index");
  name_files(owner, arguments);
  auto const reading = arguments.text.options(owner);
  knn::sparse_search_options options = search_options_of(arguments);
  std::optional<search_output> out;
  if (!arguments.queries.empty()) out.emplace(owner, arguments);
  knn::text_index const index = prepare(owner, arguments);
  options.metric = text_arguments::metric_from(arguments.metric, index.options().metric);
  warn_without_terms(owner, index);
  nlohmann::ordered_json summary{{"documents", index.ids().size()},
                                 {"terms", index.terms().size()},
                                 {"postings", index.index().postings()}};
  if (out) {
    std::optional<knn::sparse_searcher> searcher;
    {
      auto const timer = owner.stage("prepare");
      owner.choose_device(places_of(knn::sparse_engines(), options.engine),
                          search_seconds(static_cast<double>(index.ids().size()),
                                         bytes_ahead(arguments.queries) / bytes_a_term));
      searcher.emplace(owner.ctx(), index.index(), options);
    }
    auto const& engine = *find_engine(knn::sparse_engines(), searcher->engine());
    owner.expect_device_for(engine.name, engine.where);
    if (out->votes) out->votes->learn(index);
    correction_report corrections;
    summary["queries"] = search_queries(owner, arguments, index, *searcher, reading.format,
                                        reading.reading, *out, corrections);
    out->commit(owner);
    if (arguments.correct) {
      corrections.finish(owner);
      summary["corrections"] = corrections.list();
    }
    summary["k"] = std::min(arguments.k, index.ids().size());
    summary["metric"] = knn::name_of(options.metric);
    summary["engine"] = knn::name_of(searcher->engine());
    if (arguments.out != "-")
      owner.say(fmt::format("searched {} in {}, neighbours in {}",
                            counted(summary["queries"].get<std::size_t>(), "query", "queries"),
                            counted(index.ids().size(), "document"), arguments.out));
    if (out->votes) note_quality(owner, *out->votes, summary);
  }
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  if (owner.prints_json()) {
    summary["seconds"] = owner.timings();
    write_file("-", datasets::text_of(summary));
  }
}

void add_text(CLI::App& search, session& owner) {
  auto const arguments = std::make_shared<search_text_arguments>();
  CLI::App* const verb =
      add_verb(search, owner, "text", "The nearest documents of text queries, exactly",
               "rulerank search text --collection docs.tsv --queries topics.tsv --k 100 --run "
               "candidates.trec",
               [arguments, &owner, &search] {
                 search_text(owner, *arguments, *search.get_subcommand("text"));
               });
  runs_over_ranks(*verb);
  path_option(
      *verb, "--collection", arguments->collection,
      "Documents: TSV, JSON lines, TREC's or SMART's form, a folder, or with --collection-format "
      "svmlight vectors; - is standard input")
      ->type_name("FILE|FOLDER|-");
  path_option(*verb, "--index", arguments->index,
              "With --collection: where the index is kept; without: the index to search")
      ->type_name("FILE");
  path_option(*verb, "--queries", arguments->queries, "Queries, in a form of documents")
      ->type_name("FILE|FOLDER|-");
  number_option(*verb, "--k", arguments->k, "Neighbours of a query", {1, std::size_t{1} << 40});
  verb->add_flag("--pad", arguments->pad,
                 "Fill up to k with documents that share no term with the query");
  verb->add_flag("--correct", arguments->correct,
                 fmt::format("{}; beside --index the index keeps the words", correct_help));
  verb->add_option("--metric", arguments->metric,
                   "cosine, ip (inner product) or l2; auto: ip for bm25 and --weighting's norm n, "
                   "else cosine")
      ->capture_default_str();
  engine_option(*verb, "--engine", arguments->engine, knn::sparse_engines());
  renamed_option(*verb, "--group",
                 number_option(*verb, "--launch-queries", arguments->group,
                               "fish: queries of a launch", {1, std::size_t{1} << 31}));
  verb->add_option("--balance", arguments->balance,
                   "fish: postings dealt to threads evenly (inter), or a term to a block (intra)")
      ->capture_default_str();
  arguments->add_outputs_to(*verb, "Lines of query, rank, document, similarity or distance");
  verb->add_option("--votes", arguments->votes,
                   "Classify the queries by their neighbours' labels: majority or similarity");
  path_option(*verb, "--classes", arguments->classes, "Lines of query, label, class voted for")
      ->type_name("FILE");
  arguments->text.vectors = true;
  arguments->text.add_reading_to(*verb);
  renamed_option(*verb, "--format", verb->get_option("--collection-format"));
  arguments->text.add_index_to(*verb);
}

}  // namespace

void add_search(CLI::App& program, session& owner) {
  CLI::App* const search = program.add_subcommand("search", "Find the nearest neighbours, exactly");
  search->require_subcommand(1);
  add_text(*search, owner);
  add_search_dense(*search, owner);
  add_search_metric(*search, owner);
}

}  // namespace rulerank::apps
