#include "knn/sparse/search.hpp"

#include "apps/shared/arguments/text_arguments.hpp"
#include "apps/shared/search/corrections.hpp"
#include "apps/shared/search/search_driver.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "datasets/input/text_source.hpp"
#include "knn/search_seconds.hpp"
#include "knn/sparse/published/fish.hpp"
#include "knn/text/text_collection.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

struct search_text_arguments : search_arguments {
  search_text_arguments() { metric = "auto"; }

  bool pad = false;
  bool correct = false;
  std::size_t group = 1;
  std::string balance = "inter";
  text_arguments text;
};

/// Bytes of memory to make an index, per byte of text (bench/results/mpi/tables.md).
constexpr double index_bytes_a_byte = 12;

void check_usage(search_text_arguments const& arguments, CLI::App const& verb) {
  arguments.expect_source("documents");
  arguments.expect_work({});
  arguments.check_index(verb, text_arguments::index_options(), "exists already");
  if (arguments.text.format == "svmlight")
    refuse_options(verb, text_arguments::word_options(),
                   "cannot be combined with --collection-format svmlight, which has no words");
  arguments.text.check_weights(verb);
  if (arguments.text.weights != "bm25")
    refuse_options(verb, {"--k1", "--b"}, "needs --weights bm25");
  if (arguments.queries.empty())
    refuse_options(
        verb,
        {"--out", "--run", "--tag", "--leave-out-self", "--votes", "--classes", "--k", "--radius",
         "--filter", "--pad", "--metric", "--engine", "--launch-queries", "--balance"},
        "needs --queries");
  if (arguments.request.radius)
    refuse_options(verb, {"--k", "--pad", "--votes"}, "cannot be combined with --radius");
  arguments.check_outputs(verb);
  if (arguments.engine != "fish")
    refuse_options(verb, {"--launch-queries", "--balance"},
                   fmt::format("cannot be combined with --engine {}, expected --engine fish",
                               arguments.engine));
  if (!arguments.classes.empty() && arguments.votes.empty())
    throw usage_error("--classes needs --votes");
}

/// The corrector of the queries; empty without --correct. Throws `error` for an index file without
/// a dictionary.
std::optional<knn::spelling_corrector> corrector_of(session& owner,
                                                    search_text_arguments const& arguments,
                                                    knn::text_index const& index) {
  if (!arguments.correct) return std::nullopt;
  if (!index.dictionary()) {
    if (knn::holds_vectors(index.options()))
      throw usage_error("--correct: found an index of vectors, expected an index of words");
    throw error(
        {arguments.index, 1, 1},
        fmt::format("found an index without the dictionary that --correct needs, expected one made "
                    "by `rulerank search text --collection DOCS --index {} --correct`",
                    arguments.index));
  }
  auto const timer = owner.stage("dictionary");
  return std::make_optional<knn::spelling_corrector>(owner.ctx(), index);
}

/// One call of the verb.
class text_search {
 public:
  text_search(session& owner, search_text_arguments const& arguments)
      : owner_(owner),
        arguments_(arguments),
        run_(owner, arguments, {arguments.text.stop_list()}) {}

  void run() {
    auto const reading = arguments_.text.options(owner_);
    options_ = {text_arguments::metric_from(arguments_.metric, knn::similarity::cosine),
                knn::sparse_engine_from(arguments_.engine)};
    fish_ = {arguments_.group, knn::load_balance_from(arguments_.balance)};
    std::optional<neighbour_files> out;
    std::optional<class_votes> votes;
    if (!arguments_.queries.empty()) {
      out.emplace(run_.open_output());
      if (!arguments_.votes.empty())
        votes.emplace(arguments_.votes, owner_.destination(arguments_.classes));
    }
    knn::text_collection const documents = prepare();
    auto& summary = run_.summary;
    summary["documents"] = documents.size();
    // Ranks without a part skip this; rank 0 owns part 0.
    if (documents.has_parts()) {
      knn::text_index const& first = documents.first_index();
      options_.metric = text_arguments::metric_from(arguments_.metric, first.options().metric);
      warn_without_terms(owner_, first);
      summary["terms"] = first.terms().size();
    }
    summary["postings"] = documents.postings();
    if (out) {
      choose_engine(documents);
      run_.read_filter(documents, "a document", false);
      if (votes) {
        votes->learn(documents.labels(owner_.ctx()));
        out->vote(*std::move(votes), [this](std::size_t query) { return queries_[query].label; });
      }
      out->name_queries([this](std::size_t query) { return queries_[query].id; });
      search(documents, reading, *out);
    }
    run_.print();
  }

 private:
  knn::text_collection prepare() {
    auto const parts = run_.find_parts(
        index_bytes_a_byte, knn::searches_parts(options_.engine), knn::engines_of_parts(),
        arguments_.text.format == "svmlight" ? "--collection-format svmlight" : "");
    context const& ctx = owner_.ctx();
    auto const timer = owner_.stage(arguments_.collection.empty() ? "open" : "index");
    if (arguments_.collection.empty())
      return knn::text_collection::open(ctx, arguments_.index, parts.is_split);
    knn::text_index_options options = arguments_.text.options(owner_);
    options.dictionary = arguments_.correct;
    if (parts.is_split)
      return knn::text_collection::build_part(ctx, arguments_.collection, options,
                                              arguments_.index);
    knn::text_index_timings timings;
    auto made =
        knn::text_collection::build(ctx, arguments_.collection, options, arguments_.index, timings);
    owner_.took("read", timings.read_s);
    owner_.took("weigh", timings.weigh_s);
    return made;
  }

  void choose_engine(knn::text_collection const& documents) {
    {
      auto const timer = owner_.stage("prepare");
      owner_.choose_device(
          places_of(knn::sparse_engines(), options_.engine),
          knn::text_search_seconds(
              static_cast<double>(documents.size()),
              datasets::expected_text_bytes(arguments_.queries) / knn::bytes_a_term));
      searchers_ =
          documents.searchers(owner_.ctx(), [&](context const& ctx, knn::sparse_index const& part) {
            return options_.engine == knn::sparse_engine::fish
                       ? knn::make_fish_searcher(ctx, part, options_.metric, fish_)
                       : knn::sparse_searcher(ctx, part, options_);
          });
    }
    if (documents.has_parts())
      run_.expect_device_for(knn::sparse_engines(), searchers_.front()->engine());
  }

  /// Reads the queries, searches batch by batch and writes results.
  void search(knn::text_collection const& documents, knn::text_index_options const& reading,
              neighbour_files& out) {
    correction_report corrections;
    std::size_t const queries = search_queries(documents, reading, out, corrections);
    auto& summary = run_.summary;
    summary["queries"] = queries;
    run_.finish(out, queries, documents.size(), "document", [&] {
      if (arguments_.correct) {
        corrections.finish(owner_);
        summary["corrections"] = corrections.list();
      }
      run_.add_request(documents.size());
      summary["metric"] = knn::name_of(options_.metric);
      if (documents.has_parts()) summary["engine"] = knn::name_of(searchers_.front()->engine());
    });
  }

  std::size_t search_queries(knn::text_collection const& documents,
                             knn::text_index_options const& reading, neighbour_files& out,
                             correction_report& corrections) {
    // A rank without parts also reads the queries, to know their number.
    bool const has_parts = documents.has_parts();
    auto format = reading.format;
    if (has_parts)
      format = knn::query_format(documents.first_index(), "--collection-format", format);
    auto const corrector = has_parts ? corrector_of(owner_, arguments_, documents.first_index())
                                     : std::optional<knn::spelling_corrector>();
    context ctx = owner_.ctx();
    ctx.progress = nullptr;  // the number of batches is unknown
    auto const asked_now = [&] {
      return knn::text_search(documents, searchers_, queries_, arguments_.queries,
                              {arguments_.pad});
    };
    auto const first = asked_now();
    std::size_t const together = std::min<std::size_t>(
        knn::queries_together(ctx, first, arguments_.wanted(), first.limits(ctx)), 4096);
    std::size_t done = 0;
    auto const search = [&] {
      if (corrector) {
        auto const timer = owner_.stage("correct");
        corrections.correct(owner_, *corrector, queries_);
      }
      auto const timer = owner_.stage("nearest");
      auto asked = asked_now();
      run_.search(asked, out, &ctx);
      done += queries_.size();
      owner_.ctx().report("search", done, 0);
      queries_.clear();
    };
    auto const timer = owner_.stage("search");
    datasets::read_documents(
        owner_.ctx(), arguments_.queries, format,
        [&](datasets::text_document&& query) {
          queries_.push_back(std::move(query));
          if (queries_.size() == together) search();
        },
        datasets::for_queries(reading.reading));
    search();
    return done;
  }

  session& owner_;
  search_text_arguments const& arguments_;
  search_run run_;
  knn::sparse_search_options options_;
  knn::fish_options fish_;  // for that engine
  knn::sparse_searchers searchers_;
  std::vector<datasets::text_document> queries_;  // of a batch
};

void add_text(CLI::App& search, session& owner) {
  auto [verb, arguments] = add_verb<search_text_arguments>(
      search, owner, "text", "Find the nearest documents of text queries, exactly",
      "rulerank search text --collection docs.tsv --queries topics.tsv --k 100 --run "
      "candidates.trec",
      run_search<text_search, search_text_arguments>);
  arguments.add_sources_to(
      verb,
      "Documents: TSV, JSON lines, TREC's or SMART's form, or a folder; with --collection-format "
      "svmlight vectors; - is standard input",
      "Queries, in the same formats", "FILE|FOLDER|-");
  {
    help_group const group(verb, "Search");
    number_option(verb, "--radius", arguments.request.radius,
                  "Instead of --k: find all documents with at least this similarity, or with "
                  "--metric l2 at most this distance");
    arguments.add_filter_to(verb, "Ids of the documents that may be found, one on each line");
    verb.add_flag("--pad", arguments.pad,
                  "Fill up to k with documents that share no term with the query");
    verb.add_flag("--correct", arguments.correct,
                  fmt::format("{}; an index that is written keeps these words", correct_help));
    value_option(verb, "--metric NAME", arguments.metric,
                 "Metric: cosine, ip (inner product) or l2; auto: ip for bm25 and for "
                 "--weighting's norm n, otherwise cosine");
  }
  engine_option(verb, "--engine", arguments.engine, knn::sparse_engines());
  arguments.over_ranks.add_to(verb);
  {
    help_group const group(verb, machine_group);
    renamed_option(verb, "--group", "0.1.0",
                   number_option(verb, "--launch-queries", arguments.group,
                                 "fish: number of queries of a launch", {1, std::size_t{1} << 31}));
    value_option(verb, "--balance inter|intra", arguments.balance,
                 "fish: distribute postings evenly over threads (inter), or each term to a block "
                 "of threads (intra)");
  }
  arguments.add_outputs_to(verb,
                           "Output file: lines of query, rank, document, similarity or distance");
  arguments.add_votes_to(verb);
  arguments.add_classes_to(verb);
  arguments.text.vectors = true;
  arguments.text.add_reading_to(verb);
  renamed_option(verb, "--format", "0.1.0", verb.get_option("--collection-format"));
  arguments.text.add_index_to(verb);
  usual_options(verb, {"--collection", "--queries", "--k", "--index", "--collection-format",
                       "--weights", "--stemmer", "--correct", "--out", "--run"});
}

}  // namespace

void add_search(CLI::App& program, session& owner) {
  CLI::App* const search =
      program.add_subcommand("search", "Find the nearest neighbours of queries, exactly");
  search->require_subcommand(1);
  add_text(*search, owner);
  add_search_dense(*search, owner);
  add_search_metric(*search, owner);
}

}  // namespace rulerank::apps
