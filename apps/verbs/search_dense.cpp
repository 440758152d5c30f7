#include "apps/shared/search/search_driver.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "datasets/vectors.hpp"
#include "knn/dense/dense_collection.hpp"
#include "knn/dense/neighbour_matrix.hpp"
#include "knn/dense/row_files.hpp"
#include "knn/dense/search.hpp"
#include "knn/search_seconds.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <memory>
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
  search_dense_arguments() { metric = "l2"; }

  std::string collection_format = "auto", queries_format = "auto";
  std::string ids, query_ids, labels, query_labels, values;
  bool verify = false;
};

/// Whether a name ends with one of these, ignoring case.
bool ends_with_any(std::string name, std::initializer_list<std::string_view> ends) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}
/// Whether --out has row numbers in a matrix format instead of lines.
bool is_matrix_name(std::string const& name) {
  return ends_with_any(name, {".ivecs", ".ibin", ".npy"});
}
/// Whether a name has an extension of a vector format, compressed or not.
bool is_vectors_name(std::string name) {
  for (std::string_view const end : {".gz", ".zst"})
    if (ends_with_any(name, {end})) name.resize(name.size() - end.size());
  for (datasets::named_vectors_format const& one : datasets::vectors_formats())
    if (one.which != datasets::vectors_format::automatic &&
        ends_with_any(name, {fmt::format(".{}", one.name)}))
      return true;
  return false;
}

/// Requires rows or an existing index, and queries or an index to make.
void check_sources(search_dense_arguments const& arguments, CLI::App const& verb) {
  if (arguments.collection.empty() && arguments.index.empty())
    throw usage_error("found no rows, expected --collection or --index");
  if (arguments.queries.empty() && arguments.index.empty())
    throw usage_error("nothing to do, expected --queries, or --index to write the index to");
  if (arguments.verify && (arguments.index.empty() || !arguments.collection.empty()))
    throw usage_error("--verify needs --index without --collection");
  if (arguments.queries.empty() && arguments.collection.empty() && !arguments.verify)
    throw usage_error("nothing to do, expected --queries, or --collection to index, or --verify");
  if (arguments.collection.empty())
    refuse_options(verb, {"--metric"},
                   "cannot be combined with --index without --collection, because the index has "
                   "its own metric");
  expect_index_file(arguments.index);
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
  if (is_vectors_name(arguments.out) && !is_matrix_name(arguments.out))
    throw usage_error(
        fmt::format("--out {}: found a format that does not hold numbers of rows, expected .ivecs, "
                    ".ibin, .npy, or a name of another kind for lines of text",
                    arguments.out));
  if (!arguments.values.empty() && !ends_with_any(arguments.values, {".fvecs", ".fbin", ".npy"}))
    throw usage_error(fmt::format(
        "--values {}: expected a name that ends with .fvecs, .fbin or .npy", arguments.values));
  arguments.check_outputs(verb);
  if (!is_matrix_name(arguments.out) || !arguments.run.empty()) return;
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
  bool const in_rows = is_matrix_name(arguments.out);
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

std::vector<std::string> names_of_formats() {
  std::vector<std::string> names;
  for (datasets::named_vectors_format const& one : datasets::vectors_formats())
    names.emplace_back(one.name);
  return names;
}

/// The format of that name.
datasets::vectors_format format_named(std::string_view name) {
  auto const known = datasets::vectors_formats();
  return std::find_if(known.begin(), known.end(), [&](auto const& one) { return one.name == name; })
      ->which;
}

/// Throws `usage_error` if row numbers exceed the value range of --out.
void expect_numbers_fit(search_dense_arguments const& arguments, std::size_t rows) {
  if (is_matrix_name(arguments.out))
    knn::neighbour_matrix::expect_rows("--out " + arguments.out, rows);
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
                                          format_named(arguments_.queries_format));
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
    auto const parts = run_.find_parts(1);
    if (parts && !knn::dense_collection::searches_parts(engine_))
      throw usage_error(fmt::format(
          "--engine {} cannot search a collection in parts, expected flat", arguments_.engine));
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
                                  format_named(arguments_.collection_format),
                                  keeps_ids() ? arguments_.ids : std::string(), is_split);
      expect_numbers_fit(arguments_, read.part.of_file);
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

  /// Sets up voting with the rows' classes and, if queries have labels, theirs.
  void vote(dense_output& out, std::vector<std::int32_t> const& labels,
            std::vector<std::int32_t> query_labels) {
    class_votes votes(arguments_.votes, owner_.destination(arguments_.classes));
    std::vector<std::string> words;
    for (std::int32_t const label : labels) words.push_back(std::to_string(label));
    votes.learn(words);
    out.vote(std::move(votes), [labels_of = std::move(query_labels)](std::size_t query) {
      return labels_of.empty() ? std::string() : std::to_string(labels_of[query]);
    });
  }

  void search(knn::dense_collection& rows) {
    if (rows.has_parts()) {
      auto const& engine = *find_engine(knn::dense_engines(), rows.first_index().engine());
      owner_.expect_device_for(engine.name, engine.where);
    }
    // Only the first rank knows the destination of --out.
    bool const in_rows =
        value_from_first(owner_.ranks(), [&] { return is_matrix_name(arguments_.out); });
    expect_numbers_fit(arguments_, rows.size());
    name_rows(rows);
    run_.read_filter(rows, "a row", rows.has_numbers());
    std::size_t const queries = queries_.size();
    context const& ctx = owner_.ctx();
    auto const labels = knn::read_labels(ctx, arguments_.labels, rows.size(), "rows");
    auto query_labels = knn::read_labels(ctx, arguments_.query_labels, queries, "queries");
    knn::row_ids query_ids(ctx, arguments_.query_ids, queries, "queries");
    dense_output out(owner_, arguments_, in_rows, queries);
    run_.leave_out_self(out);
    if (!arguments_.votes.empty()) vote(out, labels, std::move(query_labels));
    out.name_queries([ids = std::move(query_ids)](std::size_t query) { return ids.of(query); });
    knn::dense_search_work work;
    knn::dense_search asked(rows, std::move(queries_), &work);
    {
      auto const timer = owner_.stage("search");
      run_.search(asked, out);
      for (std::uint64_t* const count :
           {&work.recomputed, &work.widened, &work.counts["by_minima"], &work.counts["by_sorting"]})
        *count = sum(owner_.ranks(), *count);
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
  auto const arguments = std::make_shared<search_dense_arguments>();
  CLI::App* const verb = add_verb(
      search, owner, "dense", "Find the nearest rows among dense vectors, exactly",
      "rulerank search dense --collection base.fvecs --queries queries.fvecs --k 100 --out "
      "nearest.ivecs",
      [arguments, &owner, &search] {
        check_usage(*arguments, *search.get_subcommand("dense"));
        dense_search(owner, *arguments).run();
      });
  runs_over_ranks(*verb);
  arguments->add_sources_to(*verb, "Rows: .npy, .fvecs, .bvecs, .fbin, .u8bin, .i8bin or idx",
                            "Queries, in the same formats", "FILE");
  {
    help_group const group(*verb, input_group);
    std::vector<std::string> const formats = names_of_formats();
    word_option(
        *verb, "--collection-format NAME", arguments->collection_format, formats,
        fmt::format("Format of the rows: {}; auto: by the file's name", fmt::join(formats, ", ")));
    word_option(*verb, "--queries-format NAME", arguments->queries_format, formats,
                "Format of the queries, as for --collection-format");
    path_option(
        *verb, "--ids", arguments->ids,
        "Ids of the rows, one on each line; a written index keeps ids that are whole numbers")
        ->default_str("those of the index, otherwise numbers from 0");
    path_option(*verb, "--query-ids", arguments->query_ids, "Ids of the queries, one on each line")
        ->default_str("numbers from 0");
    verb->add_flag("--verify", arguments->verify,
                   "Check an index against its checksums and report; needs no --queries");
  }
  {
    help_group const group(*verb, "Search");
    value_option(*verb, "--metric NAME", arguments->metric,
                 "Metric: l2, ip (inner product) or cosine");
    number_option(*verb, "--radius", arguments->request.radius,
                  "Instead of --k: find all rows within this distance (l2), or with at least this "
                  "similarity");
    arguments->add_filter_to(
        *verb, "Rows that may be found, one on each line: by id, or without ids by number from 0");
  }
  engine_option(*verb, "--engine", arguments->engine, knn::dense_engines());
  arguments->over_ranks.add_to(*verb);
  arguments->add_outputs_to(
      *verb,
      "Output file: lines of query, rank, row, similarity or distance; .ivecs, .ibin or .npy: "
      "row numbers only, k for each query, -1 after the last");
  path_option(*verb, "--values", arguments->values,
              "Output file of the similarities or distances for --out F.ivecs: .fvecs, .fbin or "
              ".npy")
      ->group(output_group);
  arguments->add_votes_to(*verb);
  {
    help_group const group(*verb, "Classes");
    path_option(*verb, "--labels", arguments->labels,
                "Labels of the rows: integers in idx, .npy or .ivecs");
    path_option(*verb, "--query-labels", arguments->query_labels,
                "Labels of the queries, to measure the accuracy");
  }
  arguments->add_classes_to(*verb);
  usual_options(*verb, {"--collection", "--queries", "--k", "--metric", "--radius", "--index",
                        "--ids", "--out", "--run", "--device"});
}

}  // namespace rulerank::apps
