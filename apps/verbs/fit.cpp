#include "apps/shared/arguments/portability.hpp"
#include "apps/shared/arguments/scorer_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/named_values.hpp"
#include "core/output_file.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/item_words.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/options_json.hpp"
#include "l2r/model/recommended.hpp"
#include "learners/systems.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

struct fit_arguments : fitting_arguments {
  std::string pool;
  bool best = false;
  std::string peers, lightgbm;
  std::string feature_table;
  CLI::Option const* members = nullptr;

  /// Whether to compare the card with other models: not if certain members were requested, or the
  /// card was given, because folds of these documents cannot judge it.
  bool compares() const {
    return members->count() == 0 && settings.file.empty() && member.card_file.empty();
  }
  /// The option that requests the comparison; null: none.
  char const* asks_for_comparison() const {
    return best ? "--best" : !peers.empty() ? "--peers" : nullptr;
  }
};

/// The size of a member's input.
struct fitted_sizes {
  std::size_t features = 0;
  std::size_t items = 0;  ///< 0: none
  std::string words;
};

fitted_sizes sizes_of(l2r::model_member const& member) {
  if (auto const* const linear = std::get_if<l2r::linear_member>(&member)) {
    std::size_t const features = linear->weights.features.size();
    return {features, 0,
            fmt::format("weights of {}, strength {}", counted(features, "feature"),
                        linear->weights.options.strength)};
  }
  if (auto const* const card = std::get_if<l2r::scorecard_member>(&member)) {
    std::size_t const features = card->card.features.size(), items = card->card.points.size();
    std::string words =
        fmt::format("points of {} of {}", counted(items, "item"), counted(features, "feature"));
    if (card->options.page && card->options.page->target == l2r::card_target::members)
      words += ", fitted to grades that the recommended members give";
    else if (!card->frontier.empty())
      words += fmt::format(", smoothness {} by cross-fitting", card->options.smoothness);
    else if (card->cross_fitted_folds > 0)
      words += fmt::format(", points penalty {} and smoothness {} by cross-fitting",
                           card->options.points_penalty, card->options.smoothness);
    return {features, items, std::move(words)};
  }
  if (auto const* const joint = std::get_if<l2r::joint_member>(&member)) {
    std::size_t const features = joint->features.size();
    return {features, joint->points.size(),
            fmt::format("curves of {} and {} by cross-fitting", counted(features, "feature"),
                        counted(joint->pairs.size(), "pair"))};
  }
  datasets::binned_dataset const& items = *std::get<l2r::rules_member>(member).training;
  return {items.feature_count(), items.items(),
          fmt::format("{} with items, {}", counted(items.feature_count(), "feature"),
                      counted(items.items(), "item"))};
}

/// Prints the quality of each card size tried, and the reason for the choice.
void say_sizes(session& owner, l2r::fit_result const& result) {
  for (l2r::card_sizes const& sizes : result.sizes) {
    bool const squares = sizes.loss == l2r::card_loss::point;
    std::size_t const largest = sizes.tried.back().features;
    for (l2r::card_trial const& one : sizes.tried)
      owner.say(fmt::format(
          "card of at most {}: {} {:.4f}{}{}", counted(one.features, "feature"),
          squares ? "squared error per query" : "NDCG", squares ? -one.quality : one.quality,
          one.features == largest
              ? std::string()
              : fmt::format(", difference to {} {:+.4f} (standard error {:.4f})", largest,
                            squares ? one.behind : -one.behind, one.error),
          one.features != sizes.chosen ? ""
          : one.features == largest    ? "; chosen"
                                    : "; chosen: the smallest card that loses at most 0.5 %, with "
                                      "two standard errors counted"));
  }
}

/// Names the features of --card and --monotone that are not on the card. Features of --card are
/// left out only because of the labels.
void say_what_is_left_out(session& owner, fit_arguments const& arguments,
                          datasets::dataset const& train, l2r::model const& model) {
  auto const* const card = std::get_if<l2r::scorecard_member>(&model.members.front());
  if (card == nullptr || !card->options.page) return;
  std::vector<std::string> told;
  for (l2r::card_feature const& one : card->options.page->features) {
    if (std::ranges::count(card->card.features, one.feature) > 0) continue;
    std::string const feature = datasets::feature_text(one.feature, train.names);
    if (!arguments.member.card_file.empty())
      owner.warn(
          fmt::format("{}: left off the card, because the labels contradict its direction {}",
                      feature, l2r::name_of(one.direction)));
    else if (one.direction == l2r::card_direction::rising ||
             one.direction == l2r::card_direction::falling)
      told.push_back(fmt::format("{} ({})", feature, l2r::name_of(one.direction)));
  }
  if (!told.empty())
    owner.say(
        fmt::format("--monotone: left off the card, because the labels contradict the direction or "
                    "other features rank better: {}",
                    fmt::join(told, ", ")));
}

/// Warns of a member that gives all documents the same score.
void warn_of_constants(session& owner, l2r::model const& model) {
  auto const is_zero = [](std::int64_t points) { return points == 0; };
  for (std::size_t k = 0; k < model.members.size(); ++k) {
    bool constant = false;
    if (auto const* const card = std::get_if<l2r::scorecard_member>(&model.members[k]))
      constant = std::ranges::all_of(card->card.points, is_zero);
    if (auto const* const linear = std::get_if<l2r::linear_member>(&model.members[k]))
      constant = std::ranges::all_of(linear->weights.features, [](l2r::feature_weight const& one) {
        return one.weight == 0 && one.missing == 0;
      });
    if (auto const* const joint = std::get_if<l2r::joint_member>(&model.members[k]))
      constant = std::ranges::all_of(joint->weights, is_zero) &&
                 std::ranges::all_of(joint->points, is_zero);
    if (constant)
      owner.warn(
          fmt::format("member {} ({}) learned nothing: it gives all documents the same score",
                      k + 1, l2r::kind_of(model.members[k])));
  }
}

/// Suggests a pool if most labelled documents are the only ones of their query.
void say_of_pool(session& owner, datasets::dataset const& train) {
  constexpr double few_compared = 0.5;
  l2r::label_counts const labels = l2r::count_labels(train);
  if (!labels.knows_pool() && labels.share_compared() < few_compared)
    owner.say(
        "fewer than half of these documents share a query with documents of other labels; if you "
        "chose them from a larger file, --pool FILE names it, and ranking improves because values "
        "are standardized over all documents of a query");
}

nlohmann::ordered_json to_json(l2r::compared_model const& model) {
  return {{"name", model.name},
          {"ndcg", model.quality},
          {"difference", {model.ahead.mean, model.ahead.low, model.ahead.high}},
          {"is_better", model.is_better}};
}

constexpr char const* installed = "auto";

/// The rankers of other libraries named by --peers, or the installed ones.
std::vector<l2r::compared_model> peers_of(session& owner, fit_arguments const& arguments) {
  if (arguments.peers.empty()) return {};
  learners::system_options const options{.lightgbm = arguments.lightgbm};
  std::vector<std::string> const words = split_list(arguments.peers);
  std::vector<std::string_view> const found = std::ranges::count(words, installed) > 0
                                                  ? learners::installed_peers(options)
                                                  : std::vector<std::string_view>();
  std::vector<l2r::compared_model> peers;
  for (std::string_view const name : learners::peer_names())
    if (std::ranges::count(words, name) + std::ranges::count(found, name) > 0)
      peers.push_back(learners::make_peer(name, options));
  if (peers.empty())
    owner.say(fmt::format("--peers {}: found none of {}; install one with pip", installed,
                          list_of_names(learners::peer_names())));
  return peers;
}

nlohmann::ordered_json comparison_json(l2r::fit_result const& result) {
  nlohmann::ordered_json json;
  for (l2r::compared_model const& one : result.compared) json.push_back(to_json(one));
  return json;
}

/// Adds the sizes tried, the comparison, and the choice with its reason.
void add_result(nlohmann::ordered_json& json, l2r::fit_result const& result) {
  for (l2r::card_sizes const& one : result.sizes) json["sizes"].push_back(l2r::to_json(one));
  if (result.compared.empty()) return;
  json["compared"] = comparison_json(result);
  json["choice"] = {{"name", result.compared[result.chosen].name}, {"reason", result.reason}};
}

/// Prints the difference between the card and the best models that do not fit a page.
void say_comparison(session& owner, l2r::fit_result const& result, bool fits_best) {
  if (result.compared.empty())
    return owner.say(fmt::format("the card was not compared with other models: {}", result.reason));
  for (l2r::compared_model const& one : result.compared)
    owner.say(fmt::format(
        "{}{}: NDCG {:.4f}{}", one.name,
        !one.recipes.empty() && !l2r::is_portable(one.recipes)
            ? " (scores depend on the other documents of a list)"
            : "",
        one.quality,
        &one == &result.compared.front()
            ? fmt::format(" over {} by cross-fitting", counted(one.queries, "query", "queries"))
            : fmt::format(", difference to the card {:+.4f} (95 % interval {:+.4f} to {:+.4f})",
                          one.ahead.mean, one.ahead.low, one.ahead.high)));
  if (std::ranges::none_of(result.compared, [](auto const& one) { return one.name == "joint"; }))
    owner.say(
        "joint was not compared: there are too many documents, features or bins to fit it to each "
        "fold");
  l2r::compared_model const& best = result.compared[result.best];
  owner.say(result.reason + (best.is_better && !fits_best ? "; --best fits it" : ""));
  if (result.chosen > 0) owner.say(fmt::format("fitted the best model: {}", best.name));
}

/// How the card is compared with smaller cards and other models.
l2r::card_comparison comparison_of(session& owner, fit_arguments const& arguments,
                                   datasets::dataset const& train) {
  l2r::card_comparison how{.card = arguments.member.card_cuts(arguments.discretizer),
                           .discretizer = arguments.discretizer.options(),
                           .folds = arguments.member.folds,
                           .fits_best = arguments.best};
  if (!arguments.discretizer.fitted.empty())
    how.cuts = std::make_shared<datasets::discretizer const>(
        arguments.discretizer.fit_or_read(owner, train));
  return how;
}

/// Tries smaller sizes of a card that was fitted to grades, unless its smoothness was given.
void try_sizes(session& owner, fit_arguments const& arguments, datasets::dataset const& train,
               l2r::fit_result& result) {
  if (arguments.member.smoothness || !arguments.member.card_file.empty() ||
      !arguments.settings.file.empty())
    return;
  auto const timer = owner.stage("try sizes");
  l2r::try_sizes(owner.ctx(), train, result, comparison_of(owner, arguments, train));
}

/// Compares the card with other models; with --best the result's model is the best of all.
void compare(session& owner, fit_arguments const& arguments, datasets::dataset const& train,
             std::vector<l2r::compared_model> peers, l2r::fit_result& result) {
  auto const timer = owner.stage("compare");
  l2r::card_comparison how = comparison_of(owner, arguments, train);
  how.peers = std::move(peers);
  l2r::compare_card(owner.ctx(), train, result, how);
  char const* const option = arguments.asks_for_comparison();
  if (result.compared.empty() && option != nullptr)
    throw usage_error(fmt::format("{}: cannot compare models: {}", option, result.reason));
  if (!result.compared.empty()) owner.note("compared", comparison_json(result));
  say_comparison(owner, result, arguments.best);
}

/// Reads the training documents, including unlabelled ones of the pool.
datasets::dataset read_documents(session& owner, fit_arguments const& arguments) {
  auto const timer = owner.stage("read");
  datasets::dataset train = arguments.reading.read_judged(owner, arguments.train, "learn from");
  if (arguments.pool.empty()) return train;
  return datasets::labelled_by_sample(arguments.reading.read(owner, arguments.pool, 1), train);
}

/// Reports the fit on the terminal, in the manifest and as JSON.
void say_result(session& owner, fit_arguments const& arguments, datasets::dataset const& train,
                std::size_t labelled, l2r::fit_result const& result) {
  l2r::model const& model = result.model;
  warn_of_constants(owner, model);
  say_what_is_left_out(owner, arguments, train, model);
  l2r::portability const portability = l2r::measured_portability(owner.ctx(), model, train);
  note_portability(owner, portability);
  fitted_sizes const first = sizes_of(model.members.front());
  owner.note("training_documents", labelled);
  if (labelled < train.size()) owner.note("pool_documents", train.size());
  owner.note("features", first.features);
  nlohmann::ordered_json json{
      {"model", arguments.model}, {"documents", labelled}, {"features", first.features}};
  json.update(l2r::to_json(portability));
  if (first.items > 0) json["items"] = first.items;
  std::string const documents =
      labelled == train.size()
          ? counted(labelled, "document")
          : fmt::format("{} of a pool of {}", counted(labelled, "labelled document"), train.size());
  if (model.members.size() == 1) {
    owner.say(
        fmt::format("learned from {}: {}; wrote {}", documents, first.words, arguments.model));
  } else {
    owner.note("members", model.members.size());
    json["members"] = model.members.size();
    owner.say(fmt::format("learned from {}: {} members; wrote {}", documents, model.members.size(),
                          arguments.model));
  }
  add_result(json, result);
  if (owner.prints_json()) {
    output_file out("-");
    out.write(json_text_of(json));
    out.commit();
  }
}

void fit(session& owner, fit_arguments const& arguments) {
  arguments.reading.check_inputs(owner, {{"--train", arguments.train},
                                         {"--pool", arguments.pool},
                                         {"--discretizer", arguments.discretizer.fitted},
                                         {"--settings", arguments.settings.file},
                                         {"--monotone", arguments.member.monotone},
                                         {"--card", arguments.member.card_file},
                                         {"--feature-table", arguments.feature_table}});
  owner.outputs({{"--model", arguments.model}});
  output_file written(arguments.model);  // an unwritable output fails before the work
  std::vector<ranker_recipe> recipes = arguments.recipes(owner);
  std::vector<l2r::compared_model> peers = peers_of(owner, arguments);
  datasets::dataset const train = read_documents(owner, arguments);
  l2r::feature_descriptions descriptions;
  if (std::string const& path = arguments.feature_table; !path.empty())
    descriptions = l2r::feature_descriptions_from_text(
        datasets::open_text(owner.ctx(), owner.input(path))->bytes(), datasets::display_name(path),
        train.names, datasets::listed_features(train));
  std::size_t const labelled = datasets::labelled_documents(train, "learn from").size();
  bool const compares = arguments.compares() && labelled >= l2r::labels_to_compare;
  if (!arguments.peers.empty() && !compares)
    throw usage_error(fmt::format("--peers: found {}, expected {} or more to compare models",
                                  counted(labelled, "label"), l2r::labels_to_compare));
  if (arguments.best && !compares) recipes.front().kind = recommended_members;
  l2r::fit_result result = l2r::result_of(make_model(owner, train, recipes));
  try_sizes(owner, arguments, train, result);
  say_sizes(owner, result);
  if (arguments.compares()) {
    if (arguments.pool.empty()) say_of_pool(owner, train);
    bool const is_shown = !owner.run.quiet || owner.run.json || !owner.run.manifest.empty();
    if (compares && (is_shown || arguments.asks_for_comparison() != nullptr))
      compare(owner, arguments, train, std::move(peers), result);
    if (!compares && !arguments.best)
      // docs/studies/learning-curves.md: 1, 2 and 5 % of the labels of six sets.
      owner.say(
          "too few labels to compare models here; with 1 to 5 % of the labels of six data sets, "
          "the recommended members had .0032 more MAP than the card on average and .0184 at most; "
          "--best fits them");
  }
  {
    auto const timer = owner.stage("write");
    result.model.descriptions = std::move(descriptions);
    result.model.list_normalized = l2r::list_normalized_features(result.model, train);
    written.write(l2r::to_bytes(result.model));
    written.commit();
  }
  say_result(owner, arguments, train, labelled, result);
}

}  // namespace

void add_fit(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<fit_arguments>(
      program, owner, "fit", "Fit a model for rank, explain and inspect",
      "rulerank fit --train reduced.txt --model fold1.model\n"
      "  fits a card (ten features, whole points, one page) and compares it with larger models; "
      "--best fits the best of these, --members a model that you choose",
      fit);
  {
    help_group const group(verb, input_group);
    path_option(verb, "--train,TRAIN", a.train, "Training documents (SVMlight, CSV or TSV)")
        ->required();
    path_option(verb, "--pool", a.pool,
                "Documents that --train was chosen from, labelled or not: they supply the values "
                "for bins and normalization");
    path_option(verb, "--feature-table", a.feature_table,
                "Units and origins of features, kept in the model: lines of a feature, its unit "
                "and its origin, separated by tabs, after a line of these titles");
  }
  path_option(verb, "--model", a.model, "Output file of the model")
      ->required()
      ->group(output_group);
  {
    help_group const group(verb, "Model");
    verb.add_flag("--best", a.best,
                  "Fit the model that ranks best by cross-validation instead of a card; with fewer "
                  "than 1000 labels the recommended one");
    std::vector<std::string_view> peers = learners::peer_names();
    peers.push_back(installed);
    list_option(verb, "--peers NAME,...", a.peers, peers,
                "Compare the card with rankers of other libraries too: " + list_of_names(peers) +
                    " (all that are installed)");
    path_option(verb, "--lightgbm PATH", a.lightgbm,
                "LightGBM's library, lib_lightgbm.so of the Python package lightgbm")
        ->default_str("the installed one");
  }
  a.member.members = card_member;
  a.add_to(verb);
  verb.get_option("--method")->default_str("capped for card, otherwise tube");
  verb.get_option("--bins")->default_str("12 for card, otherwise 10");
  a.members = verb.get_option("--members");
  for (char const* const compared : {"--best", "--peers"})
    for (char const* const other : {"--members", "--settings", "--card"})
      verb.get_option(compared)->excludes(verb.get_option(other));
  verb.get_option("--lightgbm")->needs(verb.get_option("--peers"));
  usual_options(verb, {"--train", "--model", "--pool", "--best", "--members", "--max-features",
                       "--monotone", "--card", "--norm"});
}

}  // namespace rulerank::apps
