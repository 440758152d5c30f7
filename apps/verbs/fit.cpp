#include "apps/shared/arguments.hpp"
#include "apps/shared/ranker_arguments.hpp"
#include "apps/shared/settings_argument.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/json_text.hpp"
#include "l2r/model.hpp"

#include <memory>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace rulerank::apps {
namespace {

struct fit_arguments {
  std::string train;
  std::string model;
  reading_arguments reading;
  discretizer_arguments discretizer;
  ranker_arguments ranker;
  settings_argument settings;
};

void fit(session& owner, fit_arguments& arguments) {
  arguments.reading.check_inputs(owner, {{"--train", arguments.train},
                                         {"--discretizer", arguments.discretizer.fitted},
                                         {"--settings", arguments.settings.file}});
  owner.outputs({{"--model", arguments.model}});
  std::vector<ranker_recipe> const recipes =
      arguments.settings.recipes(owner, {arguments.discretizer, arguments.ranker});
  l2r::model const model = make_model(owner, arguments.train, arguments.reading, recipes);
  {
    auto const timer = owner.stage("write");
    l2r::write_model(model, arguments.model);
  }
  datasets::binned_dataset const& first =
      *std::get<l2r::rules_member>(model.members.front()).training;
  owner.note("training_documents", first.documents);
  owner.note("features", first.feature_count());
  nlohmann::ordered_json json{{"model", arguments.model},
                              {"documents", first.documents},
                              {"features", first.feature_count()},
                              {"items", first.items()}};
  if (model.members.size() == 1) {
    owner.say(fmt::format("{}, {} with items, {}, in {}", counted(first.documents, "document"),
                          counted(first.feature_count(), "feature"), counted(first.items(), "item"),
                          arguments.model));
  } else {
    owner.note("members", model.members.size());
    json["members"] = model.members.size();
    owner.say(fmt::format("{}, {} members, in {}", counted(first.documents, "document"),
                          model.members.size(), arguments.model));
  }
  if (owner.prints_json()) {
    output_file out("-");
    out.write(datasets::text_of(json));
    out.commit();
  }
}

}  // namespace

void add_fit(CLI::App& program, session& owner) {
  auto const arguments = std::make_shared<fit_arguments>();
  CLI::App* const verb = add_verb(
      program, owner, "fit", "Write everything that rank needs into one checked file",
      "rulerank fit --train reduced.txt --model fold1.model --rule-size 4 --method frequency",
      [arguments, &owner] { fit(owner, *arguments); });
  path_option(*verb, "--train", arguments->train, "Training documents (SVMlight, CSV or TSV)")
      ->type_name("FILE")
      ->required();
  path_option(*verb, "--model", arguments->model, "Where the model goes")
      ->type_name("FILE")
      ->required();
  arguments->ranker.add_scoring_to(*verb);
  arguments->discretizer.add_to(*verb);
  arguments->settings.add_to(*verb);
  arguments->reading.add_to(*verb);
}

}  // namespace rulerank::apps
