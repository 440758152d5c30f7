#include "apps/shared/device_rule.hpp"
#include "apps/shared/neighbour_output.hpp"
#include "apps/shared/text_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/fields.hpp"
#include "datasets/json_text.hpp"
#include "datasets/text_source.hpp"
#include "datasets/vectors.hpp"
#include "knn/dense/search.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace rulerank::apps {
namespace {

struct search_dense_arguments : neighbour_paths {
  std::string collection;
  std::string queries;
  std::string filter;
  std::string labels;
  std::string query_labels;
  std::string values;
  std::string metric = "l2";
  std::string engine = "auto";
  std::string votes;
  std::string classes;
  std::optional<double> radius;
  std::size_t k = 30;
};

/// Whether a file is of vectors by its name.
bool is_vectors_name(std::string_view name) {
  return name.ends_with(".ivecs") || name.ends_with(".ibin") || name.ends_with(".npy");
}

void check_usage(search_dense_arguments const& arguments, CLI::App const& verb) {
  bool const in_rows = is_vectors_name(arguments.out);
  if (arguments.radius)
    for (char const* const name : {"--k", "--values", "--votes"})
      if (verb.count(name) > 0) throw usage_error(fmt::format("{} beside --radius", name));
  if (arguments.radius && in_rows)
    throw usage_error(
        fmt::format("--out {} beside --radius: queries have different numbers of "
                    "neighbours, expected lines",
                    arguments.out));
  if (!arguments.values.empty() && !in_rows)
    throw usage_error("--values: expected --out with a name in .ivecs, .ibin or .npy beside it");
  if (arguments.votes.empty())
    for (char const* const name : {"--labels", "--query-labels", "--classes"})
      if (verb.count(name) > 0) throw usage_error(fmt::format("{} without --votes", name));
  if (!arguments.votes.empty() && arguments.labels.empty())
    throw usage_error("--votes without --labels");
}

/// Names inputs and outputs before any is read or written.
void name_files(session& owner, search_dense_arguments const& arguments) {
  std::vector<session::named_input> const inputs{{"--collection", arguments.collection},
                                                 {"--queries", arguments.queries},
                                                 {"--filter", arguments.filter},
                                                 {"--labels", arguments.labels},
                                                 {"--query-labels", arguments.query_labels}};
  owner.inputs(inputs);
  std::vector<session::named_output> const outputs{{"--out", arguments.out},
                                                   {"--values", arguments.values},
                                                   {"--run", arguments.run},
                                                   {"--classes", arguments.classes}};
  owner.outputs(outputs);
  for (session::named_input const& input : inputs) owner.input(input.path);
  expect_outside(owner, inputs, outputs);
}

/// The rows whose numbers a file lists, one a line.
std::vector<std::uint64_t> read_filter(session& owner, std::string const& path, std::size_t rows) {
  if (path.empty()) return {};
  std::vector<std::uint64_t> words((rows + 63) / 64);
  auto const text = datasets::open_text(owner.ctx(), path);
  std::string const name = datasets::display_name(path);
  std::vector<datasets::field> fields;
  datasets::for_each_line(text->bytes(), [&](std::string_view line, std::uint64_t number) {
    datasets::split_fields(line, fields);
    if (fields.empty()) return;
    std::string_view const found = fields[0].text;
    std::size_t row = 0;
    auto const end = found.data() + found.size();
    auto const [at, wrong] = std::from_chars(found.data(), end, row);
    if (wrong != std::errc() || at != end || row >= rows)
      throw error({name, number, fields[0].column},
                  fmt::format("found {}, expected the number of a row below {}",
                              datasets::quoted(found), rows));
    if (fields.size() > 1)
      throw error(
          {name, number, fields[1].column},
          fmt::format("found {}, expected one number a line", datasets::quoted(fields[1].text)));
    words[row / 64] |= std::uint64_t{1} << (row % 64);
  });
  datasets::expect_unchanged(*text, name);
  return words;
}

std::vector<std::int32_t> read_labels(session& owner, std::string const& path, std::size_t expected,
                                      std::string_view what) {
  if (path.empty()) return {};
  auto labels = datasets::read_classes(owner.ctx(), path);
  if (labels.size() != expected)
    throw error({path, 0, 0}, fmt::format("found {}, expected one for each of {} {}",
                                          counted(labels.size(), "label"), expected, what));
  return labels;
}

/// What one call writes.
class dense_output {
 public:
  dense_output(search_dense_arguments const& arguments, datasets::vectors const& queries,
               std::vector<std::int32_t> const& labels,
               std::vector<std::int32_t> const& query_labels)
      : arguments_(arguments),
        query_labels_(query_labels),
        lines_(is_vectors_name(arguments.out) ? std::string() : arguments.out, arguments.run,
               arguments.tag) {
    if (!arguments.votes.empty()) {
      votes_.emplace(arguments.votes, arguments.classes);
      votes_->learn(labels);
    }
    if (is_vectors_name(arguments.out)) rows_.reserve(queries.size() * arguments.k);
  }

  /// The neighbours of queries from `first` on.
  void add(std::size_t first, knn::neighbours const& found) {
    for (std::size_t q = 0; q < found.queries; ++q)
      lines_.write(std::to_string(first + q), q, found);
    if (votes_) votes_->add(first, query_labels_, found);
    if (!is_vectors_name(arguments_.out)) return;
    for (std::uint32_t const row : found.id)
      rows_.push_back(row == knn::no_neighbour ? -1 : static_cast<std::int32_t>(row));
    if (!arguments_.values.empty())
      for (double const value : found.value) values_.push_back(static_cast<float>(value));
  }
  void add_range(std::size_t first, knn::rows_in_range const& found) { lines_.write(first, found); }
  void commit(session& owner) {
    lines_.flush();
    if (votes_) votes_->flush();
    std::size_t const k = arguments_.k;
    if (is_vectors_name(arguments_.out))
      datasets::write_vectors(owner.ctx(), arguments_.out, datasets::vectors(std::move(rows_), k));
    if (!arguments_.values.empty())
      datasets::write_vectors(owner.ctx(), arguments_.values,
                              datasets::vectors(std::move(values_), k));
    lines_.commit();
    if (votes_) votes_->commit();
  }
  std::optional<class_votes> const& votes() const { return votes_; }

 private:
  search_dense_arguments const& arguments_;
  std::vector<std::int32_t> const& query_labels_;
  neighbour_files lines_;
  std::optional<class_votes> votes_;
  std::vector<std::int32_t> rows_;
  std::vector<float> values_;
};

void search_batches(session& owner, search_dense_arguments const& arguments,
                    knn::dense_index const& index, datasets::vectors const& queries,
                    knn::dense_filter const& filter, dense_output& out,
                    knn::dense_search_work& work) {
  auto const timer = owner.stage("search");
  // As many queries as have neighbours for some 400 MB.
  std::size_t const together =
      arguments.radius ? 256
                       : std::clamp<std::size_t>((std::size_t{1} << 25) / arguments.k, 1, 4096);
  for (std::size_t first = 0; first < queries.size(); first += together) {
    auto const some = queries.rows(first, std::min(together, queries.size() - first));
    if (arguments.radius)
      out.add_range(first, index.search_range(owner.ctx(), some, *arguments.radius, filter, &work));
    else
      out.add(first, index.search(owner.ctx(), some, arguments.k, filter, &work));
    owner.ctx().report("search", first + some.size(), queries.size());
  }
}

void search_dense(session& owner, search_dense_arguments const& given, CLI::App const& verb) {
  check_usage(given, verb);
  name_files(owner, given);
  search_dense_arguments arguments = given;
  knn::dense_index_options const options{knn::dense_similarity_from(arguments.metric),
                                         knn::dense_engine_from(arguments.engine)};
  datasets::vectors rows;
  datasets::vectors queries;
  {
    auto const timer = owner.stage("read");
    rows = read_searched_vectors(owner.ctx(), arguments.collection);
    queries = read_searched_vectors(owner.ctx(), arguments.queries);
  }
  arguments.k = std::min(arguments.k, rows.size());
  auto const filter = read_filter(owner, arguments.filter, rows.size());
  auto const labels = read_labels(owner, arguments.labels, rows.size(), "rows");
  auto const query_labels = read_labels(owner, arguments.query_labels, queries.size(), "queries");
  dense_output out(arguments, queries, labels, query_labels);
  owner.choose_device(places_of(knn::dense_engines(), options.engine), 0);
  std::optional<knn::dense_index> index;
  {
    auto const timer = owner.stage("prepare");
    index.emplace(owner.ctx(), rows, options);
  }
  auto const& engine = *find_engine(knn::dense_engines(), index->engine());
  owner.expect_device_for(engine.name, engine.where);
  knn::dense_search_work work;
  search_batches(owner, arguments, *index, queries, {filter, {}}, out, work);
  out.commit(owner);
  nlohmann::ordered_json summary{
      {"rows", index->size()},     {"dimensions", index->dimensions()},
      {"queries", queries.size()}, {"metric", knn::name_of(options.metric)},
      {"engine", engine.name},     {"recomputed", work.recomputed},
      {"widened", work.widened}};
  if (!arguments.radius) summary["k"] = arguments.k;
  if (engine.which == knn::dense_engine::gs) {
    summary["by_minima"] = work.by_minima;
    summary["by_sorting"] = work.by_sorting;
  }
  if (arguments.out != "-")
    owner.say(fmt::format("searched {} in {}, neighbours in {}",
                          counted(queries.size(), "query", "queries"),
                          counted(index->size(), "row"), arguments.out));
  if (out.votes()) note_quality(owner, *out.votes(), summary);
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  if (owner.prints_json()) {
    summary["seconds"] = owner.timings();
    write_file("-", datasets::text_of(summary));
  }
}

}  // namespace

void add_search_dense(CLI::App& search, session& owner) {
  auto const arguments = std::make_shared<search_dense_arguments>();
  CLI::App* const verb = add_verb(
      search, owner, "dense", "The nearest rows among dense vectors, exactly",
      "rulerank search dense --collection base.fvecs --queries queries.fvecs --k 100 --out "
      "nearest.ivecs",
      [arguments, &owner, &search] {
        search_dense(owner, *arguments, *search.get_subcommand("dense"));
      });
  path_option(*verb, "--collection", arguments->collection,
              "Rows: .npy, .fvecs, .bvecs, .fbin, .u8bin, .i8bin or idx")
      ->type_name("FILE")
      ->required();
  path_option(*verb, "--queries", arguments->queries, "Queries, in a form of the rows")
      ->type_name("FILE")
      ->required();
  number_option(*verb, "--k", arguments->k, "Neighbours of a query", {1, std::size_t{1} << 40});
  verb->add_option("--metric", arguments->metric, "l2, ip (inner product) or cosine")
      ->capture_default_str();
  number_option(*verb, "--radius", arguments->radius,
                "Instead of k: all rows within a distance, or of at least a similarity");
  path_option(*verb, "--filter", arguments->filter,
              "Numbers of the rows that may be found, from 0, one a line")
      ->type_name("FILE");
  engine_option(*verb, "--engine", arguments->engine, knn::dense_engines());
  arguments->add_outputs_to(
      *verb,
      "Lines of query, rank, row, similarity or distance; with .ivecs, .ibin or .npy the "
      "rows alone, -1 where there are none");
  path_option(*verb, "--values", arguments->values,
              "Beside --out F.ivecs: the similarities or distances, in .fvecs, .fbin or .npy")
      ->type_name("FILE");
  verb->add_option("--votes", arguments->votes,
                   "Classify the queries by their neighbours' labels: majority or similarity");
  path_option(*verb, "--labels", arguments->labels,
              "The rows' labels: integers in idx, .npy or .ivecs")
      ->type_name("FILE");
  path_option(*verb, "--query-labels", arguments->query_labels,
              "The queries' labels, to say how many are right")
      ->type_name("FILE");
  path_option(*verb, "--classes", arguments->classes, "Lines of query, label, class voted for")
      ->type_name("FILE");
}

}  // namespace rulerank::apps
