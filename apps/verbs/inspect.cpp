#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/arguments/profile_arguments.hpp"
#include "apps/shared/arguments/ranker_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/named_values.hpp"
#include "core/output_file.hpp"
#include "core/sha256.hpp"
#include "datasets/item_words.hpp"
#include "l2r/explain/inspection.hpp"
#include "l2r/model/model.hpp"
#include "report/models.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

struct inspect_arguments {
  std::string model;
  std::uint64_t top = 50;
  std::uint64_t documents = l2r::inspection_options{}.documents;
  std::string names;
  std::string test;
  std::string metrics = "MAP,NDCG@10";
  profile_arguments profile;
  std::uint64_t shuffles = 5;
  std::uint64_t bootstrap = 0;
  std::string train, pool;
  reading_arguments reading;
  std::string format = "text";
  std::string out = "-";
  CLI::Option* documents_option = nullptr;
  std::vector<CLI::Option*> of_test;  // options that require --test
};

constexpr named_values<report::card_form, 3> card_forms{{{"html", report::card_form::html},
                                                         {"latex", report::card_form::latex},
                                                         {"pdf", report::card_form::pdf}}};

/// The page format that shows a card; empty for a text or JSON.
std::optional<report::card_form> card_form_of(inspect_arguments const& arguments) {
  for (auto const& [name, form] : card_forms)
    if (name == arguments.format) return form;
  return {};
}

void check(session& owner, inspect_arguments& arguments) {
  arguments.reading.check_inputs(owner, {{"--model", arguments.model},
                                         {"--names", arguments.names},
                                         {"--test", arguments.test},
                                         {"--train", arguments.train},
                                         {"--pool", arguments.pool}});
  owner.outputs({{"--out", arguments.out}}, {}, "--out");
  if (arguments.shuffles == 0) throw usage_error("--shuffles: found 0, expected at least 1");
  if ((arguments.bootstrap > 0) != !arguments.train.empty())
    throw usage_error("--bootstrap N needs --train FILE, and --train FILE needs --bootstrap N");
  if (arguments.bootstrap > 0 && arguments.format == "card")
    throw usage_error("--bootstrap cannot be combined with --format card, which has no intervals");
  if (arguments.bootstrap == 0 && arguments.reading.drop_unjudged)
    throw usage_error("--drop-unjudged needs --bootstrap");
  if (!arguments.test.empty()) {
    if (card_form_of(arguments) || arguments.format == "card")
      throw usage_error(
          fmt::format("--format {} cannot be combined with --test, expected text, markdown or json",
                      arguments.format));
    return;
  }
  for (CLI::Option* const option : arguments.of_test)
    if (option->count() > 0) throw usage_error(fmt::format("{} needs --test", option->get_name()));
}

/// --documents only applies to members of kind `rules`.
void expect_rules(inspect_arguments const& arguments, l2r::model const& model) {
  if (arguments.documents_option->count() == 0) return;
  for (l2r::model_member const& member : model.members)
    if (std::holds_alternative<l2r::rules_member>(member)) return;
  throw usage_error(
      fmt::format("--documents needs a model with a member of the kind rules, and {} has none",
                  arguments.model));
}

report::inspected_file inspect_file(session& owner, inspect_arguments const& arguments,
                                    l2r::model const& model, datasets::feature_names const& names) {
  datasets::feature_names const& own = l2r::names_of(model);
  std::vector<eval::measure> const measures = eval::parse_measures(arguments.metrics);
  eval::profile const profile = arguments.profile.make("letor");
  l2r::scorer const scorer(owner.ctx(), model);
  datasets::dataset test;
  {
    auto const timer = owner.stage("read");
    test = datasets::renumbered(
        arguments.reading.read(owner, arguments.test, 0, reading_arguments::labels::numbers), own);
  }
  l2r::combined_inspection combined;
  {
    auto const timer = owner.stage("explain");
    combined = l2r::inspect(owner.ctx(), scorer, test, arguments.documents);
  }
  auto const timer = owner.stage("permute");
  return {arguments.test,
          std::move(combined),
          eval::describe(profile),
          measures,
          arguments.shuffles,
          l2r::permute(owner.ctx(), scorer, test, measures, profile, arguments.shuffles),
          names.empty() ? own : names};
}

/// The model's only member, a card. Throws `usage_error` with `needs`, the option that requires a
/// card.
l2r::scorecard_member const& card_of(inspect_arguments const& arguments, l2r::model const& model,
                                     std::string_view needs) {
  auto const* const card = std::get_if<l2r::scorecard_member>(&model.members.front());
  if (model.members.size() > 1 || card == nullptr || !card->options.page)
    throw usage_error(fmt::format("{}: {} is not a card, expected a card", needs, arguments.model));
  return *card;
}

/// A card as editable text.
std::string card_text(inspect_arguments const& arguments, l2r::model const& model,
                      datasets::feature_names const& names) {
  l2r::scorecard_member const& card = card_of(arguments, model, "--format card");
  return l2r::to_text(card.card, *card.cuts, names);
}

/// Adds confidence intervals of a card's points.
void add_intervals(session& owner, inspect_arguments const& arguments, l2r::model const& model,
                   report::inspected_model& found) {
  l2r::scorecard_member const& card = card_of(arguments, model, "--bootstrap");
  datasets::dataset train;
  {
    auto const timer = owner.stage("read");
    std::size_t const input = arguments.test.empty() ? 0 : 1;
    train = arguments.reading.read_judged(owner, arguments.train, "learn from", input);
    if (!arguments.pool.empty())
      train = datasets::labelled_by_sample(arguments.reading.read(owner, arguments.pool, input + 1),
                                           train);
    train = datasets::renumbered(std::move(train), l2r::names_of(model));
  }
  auto const timer = owner.stage("bootstrap");
  found.members.front().intervals = l2r::bootstrap(owner.ctx(), card, train, arguments.bootstrap);
}

/// Measured on the lists of --pool, if it is given for that.
l2r::portability portability_in(session& owner, inspect_arguments const& arguments,
                                l2r::model const& model) {
  if (arguments.pool.empty() || arguments.bootstrap > 0) return l2r::portability_of(model);
  if (l2r::is_portable(model))
    throw usage_error(
        fmt::format("--pool: {} gives the same scores to a part of a list, expected --bootstrap or "
                    "a model that depends on the list",
                    arguments.model));
  auto const timer = owner.stage("halves");
  return l2r::measured_portability(
      owner.ctx(), model,
      arguments.reading.read(owner, arguments.pool, arguments.test.empty() ? 0 : 1,
                             reading_arguments::labels::any));
}

void write(session const& owner, inspect_arguments const& arguments, l2r::model const& model,
           datasets::feature_names const& names, report::inspected_model const& found,
           output_file& out) {
  if (arguments.format == "json" || owner.run.json)
    return out.write(json_text_of(report::inspection_json(found)));
  if (arguments.format == "card") return out.write(card_text(arguments, model, names));
  if (auto const form = card_form_of(arguments))
    return out.write(read_for(
        "--format", [&](report::card_form of) { return report::card_page(found, of); }, *form));
  out.write(report::to_text(
      report::inspection(found, arguments.top),
      arguments.format == "markdown" ? eval::table_format::markdown : eval::table_format::table));
}

void inspect(session& owner, inspect_arguments& arguments) {
  check(owner, arguments);
  output_file out(arguments.out);  // an unwritable output fails before the work
  l2r::model model;
  datasets::feature_names names;
  {
    auto const timer = owner.stage("read");
    model = l2r::read_model(owner.input(arguments.model));
    if (!arguments.names.empty())
      names = datasets::read_feature_names(owner.ctx(), owner.input(arguments.names));
  }
  report::inspected_model found{arguments.model,
                                file_state_of(arguments.model).size,
                                sha256_of_file(arguments.model),
                                portability_in(owner, arguments, model),
                                {},
                                {}};
  expect_rules(arguments, model);
  {
    auto const timer = owner.stage("inspect");
    for (std::size_t k = 0; k < model.members.size(); ++k)
      found.members.push_back(report::inspected(
          owner.ctx(), model, k, names, {.top = arguments.top, .documents = arguments.documents}));
  }
  if (arguments.bootstrap > 0) add_intervals(owner, arguments, model, found);
  if (!arguments.test.empty()) found.file.emplace(inspect_file(owner, arguments, model, names));
  write(owner, arguments, model, names, found, out);
  out.commit();
}

}  // namespace

void add_inspect(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<inspect_arguments>(
      program, owner, "inspect", "Show a model as a whole: its features, points and rules",
      "rulerank inspect fold1.model --test Fold1/vali.txt --metrics NDCG@10\n"
      "  shows the model, and how much each feature matters for the ranking of vali.txt",
      inspect);
  path_option(verb, "--model,MODEL", a.model, "Model that fit wrote")
      ->required()
      ->group(input_group);
  path_option(verb, "--names", a.names, "Names of features: lines of a number and a name")
      ->group(input_group);
  {
    help_group const group(verb, output_group);
    number_option(verb, "--top", a.top, "Most rules and features to list");
    format_option(verb, word_option(verb, "--format FORMAT", a.format,
                                    {"text", "markdown", "latex", "html", "pdf", "json", "card"},
                                    "Format of the output: text, markdown or json; of a card alone "
                                    "also latex, html and pdf (a page), and card (a file to edit "
                                    "for fit --card)"));
    path_option(verb, "--out", a.out, "Output file; - is standard output");
  }
  help_group const group(verb, "Importance of features");
  path_option(verb, "--test", a.test,
              "Documents with labels: show how features move the scores, and what the ranking "
              "loses when a feature is shuffled");
  a.of_test.push_back(
      measures_option(verb, "--metrics M,...", a.metrics,
                      "Measures of the ranking of --test, with cut-offs; the first one sorts"));
  a.of_test.push_back(number_option(verb, "--shuffles", a.shuffles,
                                    "Number of shuffles of a feature; the loss is their mean"));
  a.documents_option =
      number_option(verb, "--documents", a.documents,
                    "rules: number of training documents to score, and about as many of --test; 0: "
                    "all, which is exact");
  number_option(verb, "--bootstrap", a.bootstrap,
                "card: number of samples of the queries of --train for confidence intervals of the "
                "points");
  path_option(verb, "--train", a.train, "Documents that the card was fitted to, for --bootstrap");
  path_option(
      verb, "--pool", a.pool,
      "Pool that the card was fitted with, for --bootstrap; of a model that is not portable, "
      "documents of whole lists: show how halves of them change the order");
  std::size_t const own = verb.get_options().size();
  a.profile.add_to(verb);
  verb.get_option("--profile")->default_str("letor");
  auto const all = verb.get_options();
  a.of_test.insert(a.of_test.end(), all.begin() + static_cast<std::ptrdiff_t>(own), all.end());
  a.reading.add_to(verb);
  a.reading.add_drop_unjudged_to(verb);
  usual_options(verb, {"--model", "--names", "--test", "--metrics", "--top", "--format", "--out"});
}

}  // namespace rulerank::apps
