#include "apps/shared/arguments/scorer_arguments.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"

#include <utility>

namespace rulerank::inline v0::apps {

void fitting_arguments::add_to(CLI::App& verb) {
  member.add_to(verb);
  ranker.add_scoring_to(verb);
  discretizer.add_to(verb);
  settings.add_to(verb);
  reading.add_to(verb);
  reading.add_drop_unjudged_to(verb);
}

std::vector<ranker_recipe> fitting_arguments::recipes(session& owner) const {
  return settings.recipes(owner, {discretizer, ranker, member});
}

void scorer_arguments::add_inputs_to(CLI::App& verb) {
  help_group const group(verb, input_group);
  path_option(verb, "--model", model, "Model that fit wrote");
  path_option(verb, "--train", train,
              "Training documents instead of a model (SVMlight, CSV or TSV)");
}

void scorer_arguments::add_to(CLI::App& verb) {
  fitting_arguments::add_to(verb);
  ranker.add_engine_to(verb);
  // A model replaces --train and the options of cuts and settings.
  CLI::Option* const fitted = verb.get_option("--model");
  for (char const* const name :
       {"--train", "--norm", "--method", "--bins", "--missing-values", "--unlisted",
        "--discretizer", "--settings", "--members", "--loss", "--points-penalty", "--smoothness",
        "--max-features", "--max-points", "--target", "--monotone", "--card", "--strength",
        "--linear-scale"})
    fitted->excludes(verb.get_option(name));
}

void scorer_arguments::check(session const& owner, std::vector<session::named_input> files) const {
  if (model.empty() == train.empty())
    throw usage_error("found no training documents, expected --train or --model");
  std::vector<session::named_input> inputs{{"--train", train}};
  inputs.insert(inputs.end(), files.begin(), files.end());
  inputs.insert(inputs.end(), {{"--model", model},
                               {"--discretizer", discretizer.fitted},
                               {"--settings", settings.file},
                               {"--monotone", member.monotone},
                               {"--card", member.card_file}});
  reading.check_inputs(owner, std::move(inputs));
}

l2r::model scorer_arguments::fit_or_read(session& owner,
                                         std::vector<ranker_recipe> const& recipes) const {
  return model.empty() ? make_model(owner, train, reading, recipes)
                       : read_model(owner, model, ranker);
}

}  // namespace rulerank::apps
