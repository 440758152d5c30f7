#include "datasets/judgments/judgments.hpp"

#include "apps/shared/arguments/view_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/named_values.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

using datasets::judgment_form;

struct judgments_arguments {
  std::vector<std::string> in;
  std::string from, to;
  std::string label_names;
  std::string out = "-";
  std::string judgments;
  std::string queries, queries_out;
  datasets::judgment_writing writing;
};

/// The formats that the command line names.
struct chosen_forms {
  std::optional<judgment_form> from;
  judgment_form to;
  bool takes_texts() const { return to != judgment_form::qrels && to != judgment_form::letor; }
};

constexpr char const* no_fields = "{} needs a solr-log as input, or --to rre";

chosen_forms forms_of(judgments_arguments const& arguments, CLI::App const& verb) {
  chosen_forms forms{{}, datasets::judgment_form::qrels};
  forms.to = value_named<judgment_form>(datasets::judgment_outputs, arguments.to, "--to: found");
  if (!arguments.from.empty())
    forms.from =
        value_named<judgment_form>(datasets::judgment_inputs, arguments.from, "--from: found");
  std::string const beside = fmt::format("{{}} cannot be combined with --to {}", arguments.to);
  if (forms.to == judgment_form::letor && arguments.judgments.empty())
    throw usage_error("--to letor needs --judgments FILE");
  if (forms.to != judgment_form::letor)
    expect_none_of(verb, {"--judgments"}, beside + ", expected letor");
  if (forms.takes_texts())
    expect_none_of(verb, {"--queries-out"}, beside + ", expected qrels or letor");
  if (forms.to != judgment_form::rre)
    expect_none_of(verb, {"--template"}, beside + ", expected rre");
  if (forms.to != judgment_form::rre && forms.to != judgment_form::srw)
    expect_none_of(verb, {"--name"}, beside + ", expected rre or srw");
  if (forms.to != judgment_form::rre && forms.to != judgment_form::letor)
    expect_none_of(verb, {"--id-field"}, no_fields);
  if (!arguments.queries.empty())
    expect_none_of(verb, {"--queries-out"},
                   "{} cannot be combined with --queries, which has the ids");
  return forms;
}

void name_files(session& owner, judgments_arguments const& arguments) {
  bool const writes_json = arguments.to == "rre" || arguments.to == "srw";
  std::vector<session::named_input> inputs;
  for (std::string const& path : arguments.in) inputs.push_back({"--in", path});
  inputs.push_back({"--judgments", arguments.judgments});
  inputs.push_back({"--queries", arguments.queries});
  owner.inputs(inputs);
  owner.outputs({{"--out", arguments.out}, {"--queries-out", arguments.queries_out}}, {},
                writes_json ? "--out" : "");
  for (session::named_input const& input : inputs) owner.input(input.path);
}

datasets::judgments_read read_all(session& owner, judgments_arguments const& arguments,
                                  chosen_forms const& forms, CLI::App const& verb) {
  auto const timer = owner.stage("read");
  datasets::judgments_read read;
  bool any_fields = forms.to == judgment_form::rre;
  std::vector<std::string> const names = arguments.label_names.empty()
                                             ? std::vector<std::string>()
                                             : parse_label_names(arguments.label_names);
  auto const add = [&](std::string const& path, std::optional<judgment_form> form, bool is_log) {
    judgment_form const found = datasets::read_judgments(
        owner.ctx(), path, form, arguments.writing.id_field, read,
        [&](std::string const& message) { owner.warn(message); }, names);
    if (!is_log && found != judgment_form::qrels && found != judgment_form::csv)
      expect_none_of(verb, {"--label-names"}, "{} needs qrels or csv as input");
    any_fields = any_fields || found == judgment_form::solr_log;
    if ((found == judgment_form::ltr_log || found == judgment_form::solr_log) != is_log)
      throw error({read.log.files.back(), 1, 1},
                  is_log
                      ? "found judgments, expected a feature log, which --to letor reads"
                      : "found a feature log, expected judgments; --to letor reads feature logs");
  };
  bool const logs = forms.to == judgment_form::letor;
  if (logs) add(arguments.judgments, {}, false);
  for (std::string const& path : arguments.in) add(path, forms.from, logs);
  if (!any_fields) expect_none_of(verb, {"--id-field"}, no_fields);
  return read;
}

/// Writes the labelled log; returns the number of its documents.
std::size_t write_letor(session& owner, datasets::judgments_read const& read, output_file& out) {
  datasets::labelled_log const labelled = datasets::label_log(read.log, read.judgments);
  if (labelled.without_label > 0)
    owner.warn(fmt::format("left out {} of the log for lack of a judgment",
                           counted(labelled.without_label, "document")));
  if (labelled.without_features > 0)
    owner.warn(fmt::format("left out {} for lack of a document in the log",
                           counted(labelled.without_features, "judgment")));
  datasets::write_svmlight(labelled.data, out);
  return labelled.data.size();
}

/// The ids and texts of queries: of --queries, or of the judgments where the output needs both.
datasets::query_ids ids_of(session& owner, judgments_arguments const& arguments,
                           chosen_forms const& forms, datasets::judgments_read const& read) {
  if (!arguments.queries.empty()) return {owner.ctx(), arguments.queries};
  bool const is_log_by_text =
      std::ranges::any_of(read.log.queries(), [](auto const& query) { return query.key.is_text; });
  if (forms.takes_texts() || !arguments.queries_out.empty() || is_log_by_text)
    return datasets::query_ids(read.texts);
  if (!read.texts.empty())
    owner.warn(
        fmt::format("left out the texts of queries, which {} does not hold; --queries-out "
                    "FILE writes them",
                    arguments.to));
  return {};
}

bool has_ids(datasets::judgment_list const& judgments) {
  return std::ranges::any_of(
      judgments.queries(), [](datasets::graded_query const& query) { return !query.key.is_text; });
}

void convert(session& owner, judgments_arguments const& arguments, CLI::App const& verb) {
  chosen_forms const forms = forms_of(arguments, verb);
  name_files(owner, arguments);
  datasets::judgments_read read = read_all(owner, arguments, forms, verb);
  datasets::query_ids ids = ids_of(owner, arguments, forms, read);
  if (forms.takes_texts() && has_ids(read.judgments))
    owner.warn(fmt::format("left out the ids of queries, which {} does not hold", arguments.to));
  ids.name_queries(read, forms.takes_texts());
  if (ids.has_new() && arguments.queries_out.empty())
    throw usage_error(
        fmt::format("queries are texts, but --to {} holds ids: --queries-out FILE writes new ids "
                    "and the texts, or --queries FILE gives ids and texts",
                    arguments.to));
  if (ids.empty() && !arguments.queries_out.empty())
    throw usage_error("--queries-out: found ids of all queries, expected texts");
  output_file out(arguments.out);
  std::size_t documents = 0;
  if (forms.to == judgment_form::letor) {
    documents = write_letor(owner, read, out);
  } else {
    for (auto const& query : read.judgments.queries()) documents += query.documents.size();
    datasets::write_judgments(read.judgments, forms.to, arguments.writing, out);
  }
  std::optional<output_file> queries;
  if (!arguments.queries_out.empty()) ids.write(queries.emplace(arguments.queries_out));
  if (queries) queries->flush();
  out.flush();
  if (queries) queries->commit();
  out.commit();
  nlohmann::ordered_json summary{
      {"to", arguments.to}, {"queries", read.judgments.queries().size()}, {"documents", documents}};
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  if (arguments.out != "-")
    owner.say(fmt::format("wrote {} of {} as {} to {}", counted(documents, "judgment"),
                          counted(read.judgments.queries().size(), "query", "queries"),
                          arguments.to, arguments.out));
  if (owner.prints_json()) {
    summary["seconds"] = owner.timings();
    write_file("-", json_text_of(summary));
  }
}

}  // namespace

void add_judgments(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<judgments_arguments>(
      program, owner, "judgments", "Convert judgments, and label feature logs",
      "rulerank judgments ratings.csv --to qrels --queries-out queries.tsv --out qrels.txt\n"
      "  converts Quepid's ratings to TREC's judgments; queries.tsv has the texts of the queries",
      convert);
  {
    help_group const group(verb, input_group);
    path_option(verb, "--in,IN", a.in,
                "Judgments, or with --to letor feature logs; - is standard input")
        ->required();
    word_option(verb, "--from FORM", a.from, datasets::judgment_inputs,
                "Form of the inputs: " + list_of_names(datasets::judgment_inputs))
        ->default_str("recognized by content");
    path_option(verb, "--judgments", a.judgments,
                "letor: judgments, the labels of the documents in the logs");
    value_option(verb, "--label-names NAME,...", a.label_names,
                 "qrels, csv: the labels are these words, which mean 0, 1, ..., such as "
                 "'Irrelevant,Partial,Exact'");
    path_option(verb, "--queries", a.queries,
                "Ids and texts of the queries, in a format that search text reads");
    value_option(verb, "--id-field NAME", a.writing.id_field,
                 "solr-log, rre: field with the id of a document");
  }
  help_group const group(verb, output_group);
  word_option(verb, "--to FORM", a.to, datasets::judgment_outputs,
              "Form of the output: " + list_of_names(datasets::judgment_outputs))
      ->required();
  path_option(verb, "--out", a.out, "Output file; - is standard output");
  path_option(verb, "--queries-out", a.queries_out,
              "qrels, letor: output file with the texts of the queries by their new ids 1, 2, ...");
  value_option(verb, "--name NAME", a.writing.name,
               "rre: name of the index; srw: name of the list");
  value_option(verb, "--template NAME", a.writing.template_file,
               "rre: file name of the query template");
  usual_options(verb, {"--in", "--to", "--from", "--label-names", "--out", "--judgments",
                       "--queries", "--queries-out"});
}

}  // namespace rulerank::apps
