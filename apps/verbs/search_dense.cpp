#include "apps/shared/search/search_driver.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "datasets/vectors.hpp"
#include "knn/dense/dense_collection.hpp"
#include "knn/dense/neighbour_matrix.hpp"
#include "knn/dense/row_files.hpp"
#include "knn/dense/search.hpp"
#include "knn/search_seconds.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

struct search_dense_arguments : search_arguments {
  std::string collection_format = "auto", queries_format = "auto";
  std::string ids, query_ids, labels, query_labels, values;
  bool verify = false;
};

/// Requires rows or an existing index, and queries or an index to make.
void check_sources(search_dense_arguments const& arguments, CLI::App const& verb) {
  arguments.expect_source("rows");
  if (!arguments.verify || arguments.index.empty()) arguments.expect_work(", or --verify");
  arguments.check_index(verb, {"--metric"}, "has its own metric");
  if (arguments.verify && (arguments.index.empty() || !arguments.collection.empty()))
    throw usage_error("--verify needs --index without --collection");
  if (!arguments.queries.empty()) return;
  if (arguments.collection.empty()) refuse_options(verb, {"--ids"}, "needs --queries");
  refuse_options(verb,
                 {"--out", "--values", "--run", "--tag", "--query-ids", "--votes", "--k",
                  "--leave-out-self", "--radius", "--filter", "--engine"},
                 "needs --queries");
}

/// Checks the formats implied by the names of inputs and outputs.
void check_names(search_dense_arguments const& arguments, CLI::App const& verb) {
  for (auto const& [name, path, format] :
       {std::tuple{"--collection", &arguments.collection, &arguments.collection_format},
        std::tuple{"--queries", &arguments.queries, &arguments.queries_format}}) {
    if (path->empty() && *format != "auto")
      throw usage_error(fmt::format("{}-format needs {}", name, name));
    if (*path == "-" && *format == "auto")
      throw usage_error(fmt::format(
          "{} -: standard input has no name that gives its format; set {}-format", name, name));
  }
  if (datasets::vectors_format_of_name(arguments.out) &&
      !knn::neighbour_matrix::is_name_of_numbers(arguments.out))
    throw usage_error(
        fmt::format("--out {}: found a format that does not hold numbers of rows, expected .ivecs, "
                    ".ibin, .npy, or a name of another kind for lines of text",
                    arguments.out));
  if (!arguments.values.empty() && !knn::neighbour_matrix::is_name_of_values(arguments.values))
    throw usage_error(fmt::format(
        "--values {}: expected a name that ends with .fvecs, .fbin or .npy", arguments.values));
  arguments.check_outputs(verb);
  if (!knn::neighbour_matrix::is_name_of_numbers(arguments.out) || !arguments.run.empty()) return;
  // --filter also uses the rows' ids, and an index stores them.
  bool const uses_ids = !arguments.filter.empty() || !arguments.index.empty();
  if (!arguments.query_ids.empty() || (!arguments.ids.empty() && !uses_ids))
    throw usage_error(
        fmt::format("{} has no effect with --out {}, which holds numbers of rows; write lines of "
                    "text, or add --run",
                    arguments.query_ids.empty() ? "--ids" : "--query-ids", arguments.out));
}

void check_usage(search_dense_arguments const& arguments, CLI::App const& verb) {
  check_sources(arguments, verb);
  check_names(arguments, verb);
  bool const in_rows = knn::neighbour_matrix::is_name_of_numbers(arguments.out);
  if (arguments.request.radius)
    refuse_options(verb, {"--k", "--values", "--votes"}, "cannot be combined with --radius");
  if (arguments.request.radius && in_rows)
    throw usage_error(
        fmt::format("--out {} cannot be combined with --radius, because queries have different "
                    "numbers of neighbours; write lines of text",
                    arguments.out));
  if (arguments.leave_out_self && in_rows)
    throw usage_error(
        fmt::format("--leave-out-self cannot be combined with --out {}, which holds k rows for "
                    "each query; write lines of text",
                    arguments.out));
  if (!arguments.values.empty() && !in_rows)
    throw usage_error("--values needs --out with a name that ends with .ivecs, .ibin or .npy");
  if (arguments.votes.empty())
    refuse_options(verb, {"--labels", "--query-labels", "--classes"}, "needs --votes");
  if (!arguments.votes.empty() && arguments.labels.empty())
    throw usage_error("--votes needs --labels");
}

/// Writes lines of neighbours or, if --out is a matrix of row numbers, that matrix, on the first
/// rank only.
class dense_output final : public neighbour_files {
 public:
  /// `in_rows`: the first rank's --out has row numbers instead of lines.
  dense_output(session& owner, search_dense_arguments const& arguments, bool in_rows,
               std::size_t queries)
      : neighbour_files(owner, in_rows ? std::string() : arguments.out, arguments.run,
                        arguments.tag),
        owner_(owner),
        arguments_(arguments),
        in_rows_(in_rows) {
    if (in_rows && owner.ranks().is_first())
      matrix_.emplace("--out " + arguments.out, queries, arguments.request.k,
                      !arguments.values.empty());
  }
  bool takes_neighbours() const override { return in_rows_ || neighbour_files::takes_neighbours(); }
  using neighbour_files::take;
  void take(std::size_t first, knn::neighbours found) override {
    if (matrix_) matrix_->take(first, found);
    neighbour_files::take(first, std::move(found));
  }
  void flush() override {
    if (matrix_) files_ = matrix_->files(owner_.ctx(), arguments_.out, arguments_.values);
    neighbour_files::flush();
  }
  void commit() override {
    for (output_file& file : files_) file.commit();
    neighbour_files::commit();
  }

 private:
  session& owner_;
  search_dense_arguments const& arguments_;
  bool in_rows_;
  std::optional<knn::neighbour_matrix> matrix_;
  std::vector<output_file> files_;
};

/// One call of the verb.
class dense_search {
 public:
  dense_search(session& owner, search_dense_arguments const& arguments)
      : owner_(owner),
        arguments_(arguments),
        engine_(knn::dense_engine_from(arguments.engine)),
        run_(owner, arguments,
             {{"--ids", arguments.ids},
              {"--query-ids", arguments.query_ids},
              {"--labels", arguments.labels},
              {"--query-labels", arguments.query_labels}},
             {{"--values", arguments.values}}) {}

  void run() {
    if (!arguments_.queries.empty()) {
      auto const timer = owner_.stage("read");
      queries_ = knn::read_search_vectors(owner_.ctx(), arguments_.queries,
                                          datasets::vectors_format_from(arguments_.queries_format));
    }
    std::size_t const asked_dimensions = queries_.dimensions();
    knn::dense_collection rows = prepare();
    // Ranks without a part skip this; rank 0 owns part 0.
    std::size_t const dimensions =
        rows.has_parts() ? rows.first_index().dimensions() : asked_dimensions;
    run_.summary.update({{"rows", rows.size()}, {"dimensions", dimensions}});
    std::string const shape =
        fmt::format("{} of {}", counted(rows.size(), "row"), counted(dimensions, "value"));
    if (!arguments_.collection.empty() && !arguments_.index.empty())
      owner_.say(fmt::format("wrote {} to {}", shape, arguments_.index));
    if (arguments_.verify) {
      owner_.meet();  // other ranks have read other parts
      owner_.say(
          fmt::format("{}: header, checksums and all {} are valid", arguments_.index, shape));
      run_.summary["verified"] = true;
    }
    if (!arguments_.queries.empty()) search(rows);
    run_.print();
  }

 private:
  /// Chooses the device for a search over this many values.
  void choose_device(double values) {
    if (!queries_.empty())
      owner_.choose_device(
          places_of(knn::dense_engines(), engine_),
          knn::dense_search_seconds(values, 1, static_cast<double>(queries_.size())));
  }

  /// Makes the index of the rows, stored if requested, or opens a stored one.
  knn::dense_collection prepare() {
    auto const parts = run_.find_parts(1, knn::dense_collection::searches_parts(engine_), "flat");
    if (!arguments_.collection.empty()) return index_rows(parts.is_split);
    context const& ctx = owner_.ctx();
    choose_device(knn::dense_collection::expected_values(ctx, arguments_.index, parts.is_split));
    auto const timer = owner_.stage("open");
    return knn::dense_collection::open(ctx, arguments_.index, engine_, parts.is_split);
  }

  knn::dense_collection index_rows(bool is_split) {
    knn::dense_rows_part read;
    {
      auto const timer = owner_.stage("read");
      read = knn::read_dense_rows(owner_.ctx(), arguments_.collection,
                                  datasets::vectors_format_from(arguments_.collection_format),
                                  keeps_ids() ? arguments_.ids : std::string(), is_split);
      knn::neighbour_matrix::expect_rows("--out " + arguments_.out, read.part.of_file);
    }
    datasets::vectors const& rows = read.part.rows;
    choose_device(static_cast<double>(rows.size()) * static_cast<double>(rows.dimensions()));
    auto const timer = owner_.stage("prepare");
    knn::dense_collection made(owner_.ctx(), std::move(read.part), is_split,
                               {knn::dense_similarity_from(arguments_.metric), engine_},
                               std::move(read.ids));
    if (!arguments_.index.empty()) made.save(owner_.ctx(), arguments_.index);
    return made;
  }
  bool keeps_ids() const { return !arguments_.index.empty() && !arguments_.ids.empty(); }

  /// An index has its own ids, stored with it.
  void name_rows(knn::dense_collection& rows) {
    if (!arguments_.collection.empty() && !arguments_.index.empty()) return;
    rows.call_rows(knn::row_ids(owner_.ctx(), arguments_.ids, rows.size(), "rows"));
  }

  void search(knn::dense_collection& rows) {
    if (rows.has_parts()) run_.expect_device_for(knn::dense_engines(), rows.first_index().engine());
    // Only the first rank knows the destination of --out.
    bool const in_rows = value_from_first(
        owner_.ranks(), [&] { return knn::neighbour_matrix::is_name_of_numbers(arguments_.out); });
    knn::neighbour_matrix::expect_rows("--out " + arguments_.out, rows.size());
    name_rows(rows);
    run_.read_filter(rows, "a row", rows.has_numbers());
    std::size_t const queries = queries_.size();
    context const& ctx = owner_.ctx();
    auto const labels = knn::read_labels(ctx, arguments_.labels, rows.size(), "rows");
    auto query_labels = knn::read_labels(ctx, arguments_.query_labels, queries, "queries");
    knn::row_ids query_ids(ctx, arguments_.query_ids, queries, "queries");
    dense_output out(owner_, arguments_, in_rows, queries);
    run_.leave_out_self(out);
    if (!arguments_.votes.empty()) {
      class_votes votes(arguments_.votes, owner_.destination(arguments_.classes));
      votes.learn(labels);
      out.vote(std::move(votes), [of = std::move(query_labels)](std::size_t query) {
        return of.empty() ? std::string() : of[query];
      });
    }
    out.name_queries([ids = std::move(query_ids)](std::size_t query) { return ids.of(query); });
    knn::dense_search_work work;
    knn::dense_search asked(rows, std::move(queries_), &work);
    {
      auto const timer = owner_.stage("search");
      run_.search(asked, out);
      work = knn::work_of_all(ctx, std::move(work));
    }
    auto& summary = run_.summary;
    summary["queries"] = queries;
    if (rows.has_parts()) {
      knn::dense_index const& one = rows.first_index();
      summary.update(
          {{"metric", knn::name_of(one.metric())}, {"engine", knn::name_of(one.engine())}});
    }
    summary.update({{"recomputed", work.recomputed}, {"widened", work.widened}});
    if (!arguments_.request.radius) summary["k"] = arguments_.request.k;
    if (rows.has_parts() && rows.first_index().engine() == knn::dense_engine::gs)
      for (std::string const name : {"by_minima", "by_sorting"})
        summary[name] = count_of(work.counts, name);
    run_.finish(out, queries, rows.size(), "row");
  }

  session& owner_;
  search_dense_arguments const& arguments_;
  knn::dense_engine engine_;
  search_run run_;
  datasets::vectors queries_;
};

}  // namespace

// Long because of its options' help texts.
void add_search_dense(CLI::App& search, session& owner) {
  auto [verb, arguments] = add_verb<search_dense_arguments>(
      search, owner, "dense", "Find the nearest rows among dense vectors, exactly",
      "rulerank search dense --collection base.fvecs --queries queries.fvecs --k 100 --out "
      "nearest.ivecs",
      run_search<dense_search, search_dense_arguments>);
  arguments.add_sources_to(verb, "Rows: .npy, .fvecs, .bvecs, .fbin, .u8bin, .i8bin or idx",
                           "Queries, in the same formats", "FILE");
  {
    help_group const group(verb, input_group);
    auto const formats = words_in(datasets::vectors_formats());
    word_option(
        verb, "--collection-format NAME", arguments.collection_format, formats,
        fmt::format("Format of the rows: {}; auto: by the file's name", fmt::join(formats, ", ")));
    word_option(verb, "--queries-format NAME", arguments.queries_format, formats,
                "Format of the queries, as for --collection-format");
    path_option(
        verb, "--ids", arguments.ids,
        "Ids of the rows, one on each line; a written index keeps ids that are whole numbers")
        ->default_str("those of the index, otherwise numbers from 0");
    path_option(verb, "--query-ids", arguments.query_ids, "Ids of the queries, one on each line")
        ->default_str("numbers from 0");
    verb.add_flag("--verify", arguments.verify,
                  "Check an index against its checksums and report; needs no --queries");
  }
  {
    help_group const group(verb, "Search");
    value_option(verb, "--metric NAME", arguments.metric,
                 "Metric: l2, ip (inner product) or cosine");
    number_option(verb, "--radius", arguments.request.radius,
                  "Instead of --k: find all rows within this distance (l2), or with at least this "
                  "similarity");
    arguments.add_filter_to(
        verb, "Rows that may be found, one on each line: by id, or without ids by number from 0");
  }
  engine_option(verb, "--engine", arguments.engine, knn::dense_engines());
  arguments.over_ranks.add_to(verb);
  arguments.add_outputs_to(
      verb,
      "Output file: lines of query, rank, row, similarity or distance; .ivecs, .ibin or .npy: "
      "row numbers only, k for each query, -1 after the last");
  path_option(verb, "--values", arguments.values,
              "Output file of the similarities or distances for --out F.ivecs: .fvecs, .fbin or "
              ".npy")
      ->group(output_group);
  arguments.add_votes_to(verb);
  {
    help_group const group(verb, "Classes");
    path_option(verb, "--labels", arguments.labels,
                "Labels of the rows: integers in idx, .npy or .ivecs");
    path_option(verb, "--query-labels", arguments.query_labels,
                "Labels of the queries, to measure the accuracy");
  }
  arguments.add_classes_to(verb);
  usual_options(verb, {"--collection", "--queries", "--k", "--metric", "--radius", "--index",
                       "--ids", "--out", "--run", "--device"});
}

}  // namespace rulerank::apps
