#include "apps/shared/arguments.hpp"
#include "apps/shared/ranker_arguments.hpp"
#include "apps/shared/settings_argument.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/output_file.hpp"
#include "l2r/model.hpp"

#include <memory>

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
  auto const [discretizer, ranker] =
      arguments.settings.recipe(owner, {arguments.discretizer, arguments.ranker});
  l2r::ranker_options const options = ranker.options();
  discretizer.options();  // refuses wrong words before anything is read
  l2r::model const m = make_model(owner, arguments.train, arguments.reading, discretizer, options);
  {
    auto const timer = owner.stage("write");
    l2r::write_model(m, arguments.model);
  }
  owner.note("training_documents", m.training.documents);
  owner.note("features", m.training.feature_count());
  owner.say(fmt::format("{} documents, {} features with items, {} items, in {}",
                        m.training.documents, m.training.feature_count(), m.training.items(),
                        arguments.model));
  if (owner.prints_json()) {
    nlohmann::ordered_json json;
    json["model"] = arguments.model;
    json["documents"] = m.training.documents;
    json["features"] = m.training.feature_count();
    json["items"] = m.training.items();
    output_file out("-");
    out.write(json.dump(2) + "\n");
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
  path_option(*verb, "--train", arguments->train, "Training documents (SVMlight)")
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
