#include "l2r/export/export.hpp"

#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/arguments/ranker_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/named_values.hpp"
#include "core/sha256.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/item_words.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/options_json.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

struct export_arguments {
  std::string model;
  std::string to;
  std::string out = "-";
  std::string names;
  std::string feature_set;
  std::string check;
  reading_arguments reading;
};

/// The name of the export: that of its file.
std::string name_of_export(export_arguments const& arguments) {
  std::string const& path = arguments.out == "-" ? arguments.model : arguments.out;
  std::string name = l2r::export_name_of(path);
  if (arguments.to == "java" && arguments.out != "-" &&
      name != std::filesystem::path(path).stem().string())
    throw usage_error(fmt::format(
        "--out: found {} for the class {}, expected a file whose name is that of a class", path,
        name));
  return name;
}

/// Says how the scores of the export compare with the model's. Throws `error` naming the first
/// document with another score where the order of a query's documents changes. Measures the
/// portability.
nlohmann::ordered_json compare(session& owner, export_arguments const& arguments,
                               l2r::model const& model, l2r::export_options const& options,
                               l2r::portability& portability) {
  datasets::dataset documents;
  {
    auto const timer = owner.stage("read");
    documents = arguments.reading.read(owner, arguments.check, 0, reading_arguments::labels::any);
  }
  auto const timer = owner.stage("check");
  l2r::export_difference const found = l2r::check_export(owner.ctx(), model, options, documents);
  if (!found.same_order)
    throw error(datasets::place_of(documents, found.first),
                fmt::format("the export gives the score {}, expected the model's {}; {} of {} "
                            "have other scores, in another order",
                            found.by_export, found.by_model, found.documents,
                            counted(documents.size(), "document")));
  if (found.documents == 0)
    owner.say(fmt::format("the export gives all {} of {} the model's scores{}",
                          counted(documents.size(), "document"), arguments.check,
                          found.within == 0 ? "" : fmt::format(" within {:.2g}", found.within)));
  else
    owner.warn(fmt::format(
        "the export gives {} of {} other scores, in the same order: {} instead "
        "of {} in {}, line {}",
        found.documents, counted(documents.size(), "document"), found.by_export, found.by_model,
        arguments.check, datasets::place_of(documents, found.first).line));
  nlohmann::ordered_json summary{{"documents", documents.size()},
                                 {"other_scores", found.documents},
                                 {"same_order", found.same_order}};
  portability = l2r::measured_portability(owner.ctx(), model, documents);
  return summary;
}

void export_file(session& owner, export_arguments const& arguments, CLI::App const& verb) {
  if (arguments.to != "elasticsearch" && arguments.to != "opensearch")
    expect_none_of(verb, {"--feature-set"},
                   "{} without --to elasticsearch or opensearch, whose plugins read it");
  arguments.reading.check_inputs(owner, {{"--model", arguments.model},
                                         {"--names", arguments.names},
                                         {"--feature-set", arguments.feature_set},
                                         {"--check", arguments.check}});
  owner.outputs({{"--out", arguments.out}});
  l2r::export_options options;
  options.format = l2r::export_format_from(arguments.to);
  options.name = name_of_export(arguments);
  options.ubjson = arguments.out.ends_with(".ubj");
  output_file out(arguments.out);  // an output that cannot be written fails before the work
  l2r::model model;
  {
    auto const timer = owner.stage("read");
    model = l2r::read_model(owner.input(arguments.model));
    if (!arguments.names.empty())
      options.names = datasets::read_feature_names(owner.ctx(), owner.input(arguments.names));
    options.feature_set_name = arguments.feature_set;
    if (!arguments.feature_set.empty())
      options.feature_set =
          datasets::read_file(owner.input(arguments.feature_set), "a feature set");
  }
  options.source = fmt::format("a model file with SHA-256 {}", sha256_of_file(arguments.model));
  l2r::exported_model const made = read_for(
      arguments.model, [&](l2r::model const& of) { return l2r::export_model(of, options); }, model);
  for (std::string const& note : made.notes) owner.warn(note);
  l2r::portability portability = l2r::portability_of(model);
  nlohmann::ordered_json summary{{"to", arguments.to}, {"name", options.name}};
  nlohmann::ordered_json check;
  if (!arguments.check.empty()) check = compare(owner, arguments, model, options, portability);
  summary.update(l2r::to_json(portability));
  if (!check.is_null()) summary["check"] = std::move(check);
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  out.write(made.text);
  out.commit();
  if (arguments.out != "-")
    owner.say(fmt::format("wrote {} as {}; {}", arguments.out, arguments.to, portability.words));
  if (owner.prints_json()) {
    summary["seconds"] = owner.timings();
    write_file("-", json_text_of(summary));
  }
}

}  // namespace

void add_export(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<export_arguments>(
      program, owner, "export", "Write a card for another language or program",
      "rulerank export card.model --to c --out card.h --check test.txt\n"
      "writes a header of C, and compares its scores of the documents with those of rank",
      export_file);
  {
    help_group const group(verb, input_group);
    path_option(verb, "--model,MODEL", a.model, "Model that fit wrote: a card or scorecard")
        ->required();
    path_option(verb, "--names", a.names, "Names of features: lines of a number and a name");
    path_option(verb, "--feature-set", a.feature_set,
                "elasticsearch, opensearch: JSON of a feature set of the plugin; the export gets "
                "its definitions of the card's features");
    path_option(verb, "--check", a.check,
                "Documents to score by the export and by the model, to compare the scores");
  }
  {
    help_group const group(verb, output_group);
    word_option(verb, "--to FORMAT", a.to, l2r::export_format_names(),
                "Format: " + list_of_names(l2r::export_format_names()))
        ->required();
    path_option(verb, "--out", a.out,
                "Output file; its name without the extension names functions, classes and models; "
                "- is standard output");
  }
  a.reading.add_to(verb);
  usual_options(verb, {"--model", "--to", "--out", "--names", "--feature-set", "--check"});
}

}  // namespace rulerank::apps
