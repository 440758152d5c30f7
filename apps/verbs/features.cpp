#include "apps/shared/options/suggestions.hpp"
#include "apps/shared/search/pair_pool.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "datasets/delimited/joined_features.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/svmlight/names.hpp"
#include "l2r/model/model.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::apps {
namespace {

struct features_arguments : pool_arguments {
  std::string pool, run, out, candidates_out, names_out, table_out;
  std::int32_t unjudged = datasets::unlabelled;
  std::vector<std::string> joins;
  std::string columns;
};

/// Units and origins of features, by their names in SVMlight files or by their numbers.
using described_features = std::map<std::string, l2r::feature_description>;

/// Options that only apply if pairs are made from text; --pool already has pairs.
void expect_none_beside_pool(CLI::App const& verb) {
  std::vector<std::string> const beside{
      "--pool",     "--out",    "--join",    "--join-columns", "--names-out", "--feature-table-out",
      "--unjudged", "--device", "--threads", "--seed",         "--quiet",     "--json",
      "--manifest"};
  for (CLI::Option const* const option : verb.get_options())
    if (option->count() > 0 && std::ranges::find(beside, option->get_name()) == beside.end())
      throw usage_error(fmt::format("{} cannot be combined with --pool, whose pairs exist already",
                                    option->get_name()));
}

void check_usage(features_arguments const& a, CLI::App const& verb) {
  if (a.pool.empty()) {
    for (auto const& [name, path] :
         {std::pair("--collection", &a.collection), std::pair("--topics", &a.topics)})
      if (path->empty())
        throw usage_error(
            fmt::format("found no {}, expected --collection and --topics, or --pool", name));
    if (!a.run.empty())
      for (char const* const name :
           {"--metric", "--search-engine", "--candidates-from", "--candidates-out",
            "--leave-out-self", "--fusion", "--fusion-norm", "--rrf-k", "--run-weights"})
        if (verb.count(name) > 0)
          throw usage_error(
              fmt::format("{} cannot be combined with --run, which has the candidates", name));
  } else {
    expect_none_beside_pool(verb);
    if (a.joins.empty()) throw usage_error("--pool needs --join, the columns to add");
  }
  if (a.qrels.empty() && verb.count("--not-relevant") > 0)
    throw usage_error("--not-relevant needs --qrels");
  if (a.joins.empty() && !a.columns.empty()) throw usage_error("--join-columns needs --join");
  if (a.pool.empty() && !a.names_out.empty())
    throw usage_error("--names-out needs --pool, because features of text have names already");
}

void name_files(session& owner, features_arguments const& a) {
  std::vector<session::named_input> inputs;
  if (a.pool.empty()) inputs = a.inputs(owner);
  inputs.push_back({"--pool", a.pool});
  inputs.push_back({"--run", a.run});
  for (std::string const& path : a.joins) inputs.push_back({"--join", path});
  owner.inputs(inputs);
  std::vector<session::named_output> const outputs{{"--out", a.out},
                                                   {"--candidates-out", a.candidates_out},
                                                   {"--names-out", a.names_out},
                                                   {"--feature-table-out", a.table_out}};
  owner.outputs(outputs);
  expect_outside(owner, inputs, outputs);
}

/// Makes pairs from text and, if requested, the search's lists. Unjudged pairs have the label
/// `unlabelled`.
datasets::dataset pairs_of_text(session& owner, features_arguments& a,
                                std::optional<datasets::run>& candidates,
                                described_features& described) {
  knn::text_index_options const options = a.index_options(owner);
  pool_inputs inputs = read_pool_inputs(owner, a, options);
  std::optional<datasets::run> given;
  if (!a.run.empty()) given = datasets::read_run(owner.ctx(), owner.input(a.run));
  auto const collection = index_collection(owner, a, options, inputs);
  std::vector<std::string> const names = collection.feature_names();
  std::vector<std::string> const units = collection.feature_units();
  for (std::size_t f = 0; f < names.size(); ++f)
    described[datasets::feature_word(names[f])] = {units[f], "rulerank features"};
  features::pool_topics const& topics = inputs.topics;
  features::pair_options how{.name = a.out, .named_features = true};
  features::found_lists lists;
  if (given) {
    lists = collection.lists_of(topics, *given);
  } else {
    features::found_candidates found = find_candidates(owner, a, collection, topics);
    if (!a.candidates_out.empty()) candidates = std::move(found.runs.front());
    lists = std::move(found.lists);
    how.most = a.candidates;
  }
  return make_pairs(owner, collection, topics, lists, how);
}

/// Reads existing pairs: with a label, without, or with the number of --unjudged.
datasets::dataset read_pairs(session& owner, features_arguments const& a) {
  datasets::read_options how;
  how.optional_labels = true;
  how.unlabelled = std::min(a.unjudged, -1);
  auto const timer = owner.stage("read");
  datasets::dataset data =
      datasets::read_dataset(owner.ctx(), owner.input(a.pool), how,
                             [&owner](std::string const& message) { owner.warn(message); });
  return data;
}

/// The delimiter of the cells by the file's name; 0 for SVMlight's lines.
char delimiter_of(std::string_view path) {
  if (path.ends_with(".csv")) return ',';
  return path.ends_with(".tsv") ? '\t' : '\0';
}

/// Named columns that were joined as numbered features, as lines for --names.
std::string lines_of_names(datasets::joined_features const& joined) {
  std::string lines;
  for (std::size_t f = 0; f < joined.columns.size(); ++f)
    lines += fmt::format("{}\t{}\n", joined.numbers[f], datasets::feature_word(joined.columns[f]));
  return lines;
}

/// The numbers of named columns: `47 clicks, 48 page_rank`; the first ones if there are many.
std::string numbered_columns(datasets::joined_features const& joined) {
  constexpr std::size_t most = 8;
  std::size_t const columns = joined.columns.size();
  std::string words;
  for (std::size_t f = 0; f < std::min(columns, most); ++f)
    words += fmt::format("{}{} {}", f == 0 ? "" : ", ", joined.numbers[f],
                         datasets::feature_word(joined.columns[f]));
  if (columns > most)
    words += fmt::format(" and {} more up to {}", columns - most, joined.numbers.back());
  return words;
}

/// The table that fit --feature-table reads.
std::string table_of(datasets::dataset const& data, described_features const& described) {
  std::string table = "feature\tunit\torigin\n";
  for (std::uint32_t const feature : datasets::listed_features(data)) {
    bool const has_name = data.names.contains(feature);
    std::string const word = has_name ? data.names.at(feature) : fmt::format("{}", feature);
    auto const found = described.find(has_name ? datasets::feature_word(word) : word);
    if (found != described.end())
      table += fmt::format("{}\t{}\t{}\n", word, found->second.unit, found->second.origin);
  }
  return table;
}

/// Joins the columns of a file; adds their names to `names` and their origin to `described`.
datasets::dataset joined(session& owner, features_arguments const& a, datasets::dataset data,
                         std::string const& path, std::string& names,
                         described_features& described) {
  auto const timer = owner.stage("join");
  std::vector<std::string> chosen;
  if (!a.columns.empty()) chosen = split_list(a.columns);
  datasets::dataset const columns =
      datasets::read_columns(owner.ctx(), owner.input(path), chosen,
                             [&owner](std::string const& message) { owner.warn(message); });
  datasets::joined_features result = datasets::join_features(data, columns, chosen);
  for (std::size_t f = 0; f < result.columns.size(); ++f)
    described[result.data.names.empty() ? fmt::format("{}", result.numbers[f])
                                        : datasets::feature_word(result.columns[f])] = {
        "", printable(path)};
  std::size_t const rows = columns.size();
  auto const [by_query, by_document] = result.key;
  std::string const counted_rows = by_query && by_document ? counted(rows, "pair")
                                   : by_query              ? counted(rows, "query", "queries")
                                                           : counted(rows, "document");
  if (result.matched == 0)
    throw error(datasets::place_of(columns, 0),
                fmt::format("found none of its {} in the pool; check that both files use the same "
                            "ids",
                            counted_rows));
  // A table of all documents or queries may have more than the pool.
  if (result.unknown > 0 && by_query && by_document)
    owner.warn(
        fmt::format("{}: left out {} of {}, because the pool lacks them; the first is '{}' ({}:{})",
                    path, result.unknown, counted_rows, columns.docid(*result.first_unknown), path,
                    datasets::place_of(columns, *result.first_unknown).line));
  if (result.matched < data.size())
    owner.say(fmt::format("{}: has no row for {} of {}; their values are missing", path,
                          data.size() - result.matched, counted(data.size(), "pair")));
  if (result.data.names.empty() && !columns.names.empty()) {
    owner.say(fmt::format("{}: {} {} joined to features with numbers: {}", path,
                          counted(result.columns.size(), "column"),
                          result.columns.size() == 1 ? "is" : "are", numbered_columns(result)));
    names += lines_of_names(result);
  }
  bool const in_lines = delimiter_of(a.out) == '\0';
  return in_lines && !result.data.names.empty()
             ? datasets::with_feature_words(std::move(result.data), path)
             : std::move(result.data);
}

/// Writes all outputs and then commits them.
void write_pairs(features_arguments const& a, datasets::dataset data,
                 std::optional<datasets::run> const& candidates, std::string const& names,
                 described_features const& described) {
  data.delimiter = delimiter_of(a.out);
  std::string const table = table_of(data, described);
  std::ranges::replace(data.labels, datasets::unlabelled, a.unjudged);
  output_file out(a.out);
  datasets::write_dataset(data, out);
  std::optional<output_file> lists, names_out, table_out;
  if (candidates) write_candidates(*candidates, lists.emplace(a.candidates_out));
  if (!a.names_out.empty()) names_out.emplace(a.names_out).write(names);
  if (!a.table_out.empty()) table_out.emplace(a.table_out).write(table);
  for (std::optional<output_file>* const beside : {&lists, &names_out, &table_out})
    if (*beside) (*beside)->flush();
  out.flush();
  for (std::optional<output_file>* const beside : {&lists, &names_out, &table_out})
    if (*beside) (*beside)->commit();
  out.commit();
}

void features(session& owner, features_arguments& a, CLI::App const& verb) {
  a.check(verb);
  check_usage(a, verb);
  name_files(owner, a);
  std::optional<datasets::run> candidates;
  described_features described;
  datasets::dataset data =
      a.pool.empty() ? pairs_of_text(owner, a, candidates, described) : read_pairs(owner, a);
  std::string names;
  for (std::string const& path : a.joins)
    data = joined(owner, a, std::move(data), path, names, described);
  std::size_t const pairs = data.size(), queries = data.queries.size();
  std::size_t const features = datasets::listed_features(data).size();
  auto const judged =
      pairs - static_cast<std::size_t>(std::ranges::count(data.labels, datasets::unlabelled));
  nlohmann::ordered_json const summary{
      {"queries", queries}, {"pairs", pairs}, {"judged", judged}, {"features", features}};
  {
    auto const timer = owner.stage("write");
    write_pairs(a, std::move(data), candidates, names, described);
  }
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  if (a.out != "-")
    owner.say(fmt::format("wrote {} of {} with {}, {} of them judged, to {}",
                          counted(pairs, "pair"), counted(queries, "topic"),
                          counted(features, "feature"), judged, a.out));
  if (owner.prints_json()) write_file("-", json_text_of(summary));
}

}  // namespace

void add_features(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<features_arguments>(
      program, owner, "features", "Compute features of query-document pairs from their texts",
      "rulerank features --collection docs.jsonl --topics topics.tsv --out pool.txt\n"
      "  finds 100 candidates for each topic; the next step is, for example,\n"
      "rulerank label --pool pool.txt --show docs.jsonl --topics topics.tsv",
      features);
  {
    help_group const group(verb, input_group);
    path_option(verb, "--collection,DOCS FILE|FOLDER", a.collection,
                "Documents: TSV, JSON lines, TREC's or SMART's form, or a folder");
    path_option(verb, "--topics,QUERIES FILE|FOLDER", a.topics,
                "Topics (queries), in the same formats");
    path_option(verb, "--qrels", a.qrels, "TREC judgments, the labels of the pairs");
    path_option(verb, "--run", a.run, "Candidates of another search, a TREC run");
    path_option(verb, "--pool", a.pool, "Existing pairs, which get the columns of --join");
    path_option(
        verb, "--join", a.joins,
        "Own features of pairs (CSV, TSV or SVMlight with qid and docid), of documents (docid "
        "alone) or of queries (qid alone)");
    value_option(verb, "--join-columns NAME,...", a.columns, "Columns of --join to add")
        ->default_str("all");
  }
  {
    help_group const group(verb, output_group);
    path_option(verb, "--out FILE|-", a.out,
                "Output file of the pairs: CSV or TSV if its name ends so, otherwise SVMlight with "
                "named features")
        ->required();
    path_option(verb, "--candidates-out", a.candidates_out,
                "Output file of the search's result, a TREC run");
    path_option(verb, "--names-out", a.names_out,
                "Output file with the numbers and names of joined columns, for --names of explain "
                "and inspect");
    path_option(verb, "--feature-table-out", a.table_out,
                "Output file with the units and origins of features, for --feature-table of fit");
  }
  a.add_search_to(verb, "Most documents of a topic");
  number_option(verb, "--unjudged V", a.unjudged,
                "Label of pairs without a judgment: negative, or 0 for not relevant", {.most = 0})
      ->group("Candidates and judgments");
  a.add_features_to(verb);
  verb.get_option("--run")->excludes(verb.get_option("--candidates"));
  usual_options(verb, {"--collection", "--topics", "--qrels", "--out", "--candidates", "--run",
                       "--join", "--unjudged", "--stemmer"});
}

}  // namespace rulerank::apps
