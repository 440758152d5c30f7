#include "datasets/vectors.hpp"

#include "apps/shared/arguments/text_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "datasets/text/documents.hpp"
#include "knn/sparse/latent_space.hpp"
#include "knn/text/text_index.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

/// Texts to convert to vectors of the space: the paths of input and outputs.
struct vector_files {
  std::string in, out, ids;
};

struct vectors_arguments {
  vector_files collection;
  vector_files topics;
  vector_files more;
  std::size_t dimensions = 128;
  std::string element = "f32";
  text_arguments text;
};

/// Throws `usage_error` for a file format that cannot hold such values.
void expect_form(char const* option, std::string const& path, bool doubles) {
  if (path.empty() || path.ends_with(".npy") ||
      (!doubles && (path.ends_with(".fvecs") || path.ends_with(".fbin"))))
    return;
  throw usage_error(fmt::format("{}: found {}, expected a name that ends with .npy{}", option, path,
                                doubles ? " for f64" : ", .fvecs or .fbin"));
}

void check_usage(vectors_arguments const& arguments, CLI::App const& verb) {
  arguments.text.check_weights(verb);
  for (auto const& [input, output, ids] :
       {std::tuple{"--topics", "--topics-out", "--topic-ids-out"},
        std::tuple{"--fold-in", "--fold-in-out", "--fold-in-ids-out"}}) {
    bool const given = verb.count(input) > 0;
    if (given && verb.count(output) == 0)
      throw usage_error(fmt::format("{} needs {}", input, output));
    for (char const* const name : {output, ids})
      if (!given && verb.count(name) > 0)
        throw usage_error(fmt::format("{} needs {}", name, input));
  }
  bool const doubles = arguments.element == "f64";
  expect_form("--out", arguments.collection.out, doubles);
  expect_form("--topics-out", arguments.topics.out, doubles);
  expect_form("--fold-in-out", arguments.more.out, doubles);
  if (arguments.text.weights != "bm25")
    for (char const* const name : {"--k1", "--b"})
      if (verb.count(name) > 0) throw usage_error(fmt::format("{} needs --weights bm25", name));
}

void name_files(session& owner, vectors_arguments const& arguments) {
  std::vector<session::named_input> inputs{{"--collection", arguments.collection.in},
                                           {"--topics", arguments.topics.in},
                                           {"--fold-in", arguments.more.in},
                                           arguments.text.stop_list()};
  owner.inputs(inputs);
  std::vector<session::named_output> const outputs{
      {"--out", arguments.collection.out},    {"--ids-out", arguments.collection.ids},
      {"--topics-out", arguments.topics.out}, {"--topic-ids-out", arguments.topics.ids},
      {"--fold-in-out", arguments.more.out},  {"--fold-in-ids-out", arguments.more.ids}};
  owner.outputs(outputs);
  for (session::named_input const& input : inputs) owner.input(input.path);
  expect_outside(owner, inputs, outputs);
}

std::vector<datasets::text_document> read(session& owner, std::string const& path,
                                          datasets::text_format format,
                                          datasets::text_options const& reading) {
  auto const timer = owner.stage("read");
  std::vector<datasets::text_document> texts;
  if (path.empty()) return texts;
  datasets::read_documents(
      owner.ctx(), path, format,
      [&](datasets::text_document&& text) { texts.push_back(std::move(text)); }, reading);
  return texts;
}

/// A line of a file of ids.
std::string id_line(std::string_view id) {
  if (id.find_first_of("\r\n") != id.npos)
    throw usage_error(
        fmt::format("found the id '{}', expected an id without line breaks", printable(id)));
  return fmt::format("{}\n", id);
}

/// Writes vectors and their ids to files, without committing them.
void write(session& owner, vectors_arguments const& arguments, vector_files const& to,
           datasets::vectors const& rows, std::string const& ids,
           std::vector<output_file>& written) {
  auto const element =
      arguments.element == "f64" ? datasets::element::float64 : datasets::element::float32;
  written.push_back(datasets::vectors_file(
      owner.ctx(), to.out,
      datasets::converted(owner.ctx(), rows, element, datasets::rounding::nearest)));
  if (to.ids.empty()) return;
  written.emplace_back(to.ids).write(ids);
  written.back().flush();
}

std::string ids_of(std::vector<datasets::text_document> const& texts) {
  std::string ids;
  for (auto const& text : texts) ids += id_line(text.id);
  return ids;
}

std::string ids_of(knn::text_index const& index) {
  std::string ids;
  for (std::size_t d = 0; d < index.ids().size(); ++d) ids += id_line(index.ids()[d]);
  return ids;
}

/// Writes the vectors of all requested texts.
void write_all(session& owner, vectors_arguments const& arguments, knn::text_index const& index,
               knn::latent_space const& space, std::vector<datasets::text_document> const& topics,
               std::vector<datasets::text_document> const& more) {
  context const& ctx = owner.ctx();
  auto const timer = owner.stage("fold in");
  std::string const ids = arguments.collection.ids.empty() ? std::string() : ids_of(index);
  auto const documents = space.fold_in(ctx, index.index().documents());
  std::vector<output_file> written;  // committed together: all files or none
  if (!topics.empty())
    write(owner, arguments, arguments.topics, space.fold_in(ctx, index.queries(ctx, topics)),
          ids_of(topics), written);
  if (!more.empty())
    write(owner, arguments, arguments.more,
          space.fold_in(ctx, knn::weigh_documents(index.counts(ctx, more), index.statistics(),
                                                  index.options().weighting)),
          ids_of(more), written);
  write(owner, arguments, arguments.collection, documents, ids, written);
  for (output_file& file : written) file.commit();
}

void make_vectors(session& owner, vectors_arguments const& arguments, CLI::App const& verb) {
  check_usage(arguments, verb);
  name_files(owner, arguments);
  knn::text_index_options const options = arguments.text.options(owner);
  auto const index = [&] {
    auto const timer = owner.stage("index");
    return knn::text_index::build(owner.ctx(), arguments.collection.in, options);
  }();
  warn_without_terms(owner, index);
  auto const topics =
      read(owner, arguments.topics.in, options.format, datasets::for_queries(options.reading));
  auto const more = read(owner, arguments.more.in, options.format, options.reading);
  auto const space = [&] {
    auto const timer = owner.stage("decompose");
    return knn::latent_space(owner.ctx(), index.index(),
                             {.dimensions = arguments.dimensions,
                              .unit_rows = options.metric == knn::similarity::cosine});
  }();
  write_all(owner, arguments, index, space, topics, more);
  nlohmann::ordered_json summary{{"documents", index.ids().size()},
                                 {"terms", index.terms().size()},
                                 {"topics", topics.size()},
                                 {"folded_in", more.size()},
                                 {"dimensions", space.dimensions()},
                                 {"largest_singular_value", space.singular_values().front()},
                                 {"smallest_singular_value", space.singular_values().back()},
                                 {"products", space.products()}};
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  owner.say(fmt::format("wrote {} and {} as vectors of {} to {}",
                        counted(index.ids().size(), "document"), counted(topics.size(), "topic"),
                        counted(space.dimensions(), "dimension"), arguments.collection.out));
  if (owner.prints_json()) {
    summary["seconds"] = owner.timings();
    write_file("-", json_text_of(summary));
  }
}

void add_files(CLI::App& verb, vector_files& files, std::string const& input,
               std::string const& output, std::string const& ids, std::string const& name,
               std::string const& what, bool required) {
  auto* const in = path_option(verb, input + " FILE|FOLDER|-", files.in, what)->group(input_group);
  help_group const group(verb, output_group);
  auto* const out = path_option(
      verb, output, files.out,
      fmt::format("Output file of the {}' vectors, one row for each: .npy, .fvecs or .fbin", name));
  path_option(
      verb, ids, files.ids,
      fmt::format("Output file of the {}' ids, one on each line, in the order of the rows", name));
  if (!required) return;
  in->required();
  out->required();
}

}  // namespace

void add_vectors(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<vectors_arguments>(
      program, owner, "vectors", "Compute latent semantic vectors of documents and topics",
      "rulerank vectors --collection docs.tsv --out docs.npy --topics topics.tsv --topics-out "
      "topics.npy\n"
      "rulerank search dense --metric cosine --collection docs.npy --queries topics.npy\n"
      "  finds the documents that are nearest to the topics",
      make_vectors);
  a.text.smart = "ltc.ltc";
  add_files(verb, a.collection, "--collection,DOCS", "--out", "--ids-out", "documents",
            "Documents: TSV, JSON lines, TREC's or SMART's form, or a folder; - is standard input",
            true);
  add_files(verb, a.topics, "--topics", "--topics-out", "--topic-ids-out", "topics",
            "Topics (queries), in the same formats", false);
  add_files(verb, a.more, "--fold-in", "--fold-in-out", "--fold-in-ids-out", "further documents",
            "Further documents, which do not change the space", false);
  {
    help_group const group(verb, "Space");
    number_option(verb, "--dimensions", a.dimensions, "Dimensions of the space, 1 to 2048",
                  {1, knn::latent_space::most_dimensions});
    word_option(verb, "--element", a.element, {"f32", "f64"}, "Type of a value; f64 only in .npy");
  }
  a.text.add_reading_to(verb);
  a.text.add_index_to(verb);
  usual_options(verb, {"--collection", "--out", "--ids-out", "--topics", "--topics-out",
                       "--dimensions", "--collection-format", "--stemmer"});
}

}  // namespace rulerank::apps
