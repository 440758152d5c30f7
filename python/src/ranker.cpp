#include "python/src/ranker.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/item_words.hpp"
#include "l2r/explain/explanation.hpp"
#include "l2r/explain/inspection.hpp"
#include "l2r/export/export.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/recommended.hpp"
#include "l2r/model/row_scores.hpp"
#include "l2r/model/scorer.hpp"
#include "l2r/rules/options.hpp"
#include "python/src/data.hpp"
#include "python/src/discretizer.hpp"
#include "python/src/run.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace rulerank::inline v0::python {

namespace {

using namespace nb::literals;
using shared_cuts = std::shared_ptr<datasets::discretizer const>;

/// A model owned by Python.
struct fitted_model {
  l2r::model model;
};

/// The recipe of a member, owned by Python.
struct member_recipe {
  l2r::recipe how;
};

shared_cuts shared(fitted_cuts const* given) {
  return given != nullptr ? given->cuts : nullptr;
}

/// The number of array columns if known, else that of the members' features: the largest number, or
/// the number of names.
std::uint32_t feature_count(l2r::model const& model) {
  std::size_t count = std::max<std::size_t>(l2r::names_of(model).size(), model.columns);
  for (l2r::model_member const& member : model.members)
    if (auto const& cuts = l2r::cuts_of(member)) {
      count = std::max<std::size_t>(count, column_count(*cuts));
    } else {
      auto const& weights = std::get<l2r::linear_member>(member).weights.features;
      if (!weights.empty()) count = std::max<std::size_t>(count, weights.back().feature);
    }
  return static_cast<std::uint32_t>(count);
}

void add_parameters(nb::dict& to, l2r::rules_member const& of) {
  to["rule_size"] = of.scoring.rule_size;
  to["min_support"] = of.scoring.thresholds.min_support;
  to["min_confidence"] = of.scoring.thresholds.min_confidence;
  to["support_weight"] = of.scoring.support_weight;
  to["smoothing"] = of.scoring.smoothing;
  to["feature_share"] = of.scoring.feature_share;
}

void add_parameters(nb::dict& to, l2r::scorecard_member const& of) {
  to["loss"] = std::string(l2r::name_of(of.options.loss));
  if (of.options.page) {
    to["points_penalty"] = of.options.points_penalty;
    to["smoothness"] = of.options.smoothness;
    to["max_features"] = of.options.page->max_features;
    to["max_points"] = of.options.page->points;
    to["target"] = std::string(l2r::name_of(of.options.page->target));
  } else if (of.cross_fitted_folds != 0) {
    to["points_penalty"] = "cross-fit";
    to["folds"] = of.cross_fitted_folds;
  } else {
    to["points_penalty"] = of.options.points_penalty;
    to["smoothness"] = of.options.smoothness;
  }
}

void add_parameters(nb::dict& to, l2r::linear_member const& of) {
  l2r::linear_options const& options = of.weights.options;
  to["strength"] = options.strength;
  to["linear_scale"] = std::string(l2r::name_of(options.scale));
  to["folds"] = options.folds;
  to["missing_values"] = std::string(datasets::name_of(options.missing));
  to["unlisted"] = std::string(datasets::name_of(options.unlisted));
}

void add_parameters(nb::dict& to, l2r::joint_member const& of) {
  to["pairs"] = of.options.max_pairs;
  to["folds"] = of.options.folds;
}

/// The parameters of a ranker that fits such members; of several members of a kind, the first
/// one's.
nb::dict model_parameters(l2r::model const& model) {
  nb::dict all;
  for (l2r::model_member const& member : model.members) {
    nb::dict own;
    if (auto const& cuts = l2r::cuts_of(member)) own = parameters_of(cuts->options);
    std::visit([&](auto const& of) { add_parameters(own, of); }, member);
    for (auto const& [name, value] : own)
      if (!all.contains(name)) all[name] = value;
  }
  return all;
}

/// The parameters used for each member's fit; chosen penalties are numbers.
nb::list used_parameters(l2r::model const& model) {
  nb::list all;
  for (l2r::model_member const& member : model.members) {
    nb::dict own;
    own["kind"] = std::string(l2r::kind_of(member));
    if (auto const& cuts = l2r::cuts_of(member))
      for (auto const& [name, value] : parameters_of(cuts->options)) own[name] = value;
    std::visit([&](auto const& of) { add_parameters(own, of); }, member);
    if (auto const* const card = std::get_if<l2r::scorecard_member>(&member)) {
      own["points_penalty"] = card->options.points_penalty;
      own["smoothness"] = card->options.smoothness;
    }
    all.append(own);
  }
  return all;
}

nb::object python_int(l2r::exact_integer const& of) {
  return nb::steal(PyLong_FromString(of.str().c_str(), nullptr, 10));
}

/// A feature's name, or its number if it has none.
std::string feature_text(std::uint32_t feature, datasets::feature_names const& names) {
  return datasets::name_of(feature, names);
}

// Explanations as dictionaries and lists, displayed by rulerank/_explanation.py.

/// The names and ranges that an explanation's text needs.
struct wording {
  std::vector<datasets::item_range> ranges;
  datasets::feature_names const& names;
  std::string_view kind;  ///< of the member

  nb::list items(std::span<rules::item const> of) const {
    nb::list words;
    for (rules::item const one : of) words.append(datasets::words_of(ranges[one], names));
    return words;
  }
};

/// `denominator`: the unit of the rules' `moved`.
void add_rules(nb::list& to, l2r::moving_rules const& rules, l2r::exact_integer const& denominator,
               wording const& words) {
  for (l2r::document_rule const& rule : rules.most) {
    nb::dict row;
    row["antecedent"] = words.items(rule.antecedent);
    row["label"] = rule.label;
    row["support"] = rule.support;
    row["documents"] = rule.documents;
    row["confidence"] = static_cast<double>(rule.support) / rule.documents;
    row["moves"] = l2r::quotient(rule.moved, denominator);
    row["share"] = python_int(rule.share);
    row["first"] = rule.first;
    row["second"] = rule.second;
    to.append(row);
  }
}

nb::list items_of(l2r::moving_items const& of, l2r::exact_integer const& denominator,
                  wording const& words) {
  nb::list rows;
  for (l2r::item_part const& part : of.items) {
    nb::dict row;
    row["item"] = datasets::words_of(words.ranges[part.item], words.names);
    row["feature"] = feature_text(words.ranges[part.item].feature, words.names);
    row["rules"] = part.rules;
    row["moves"] = l2r::quotient(part.moved, denominator * of.split);
    rows.append(row);
  }
  return rows;
}

nb::dict explained(l2r::explanation const& why, wording const& words) {
  l2r::exact_integer const over = l2r::exact_integer(why.training) * why.denominator;
  nb::list rules;
  for (l2r::moving_rules const* const some : {&why.up, &why.down, &why.level})
    add_rules(rules, *some, over, words);
  nb::dict all;
  all["kind"] = "rules";
  all["score"] = why.score;
  all["numerator"] = python_int(why.numerator);
  all["denominator"] = python_int(why.denominator);
  all["mean_label"] = why.mean_label;
  all["training_documents"] = why.training;
  all["rule_count"] = why.rules;
  all["itemsets"] = why.itemsets;
  all["rules"] = rules;
  all["items"] = items_of(why.items, over, words);
  return all;
}

nb::dict explained(l2r::sum_explanation const& why, wording const& words) {
  nb::list terms;
  bool const is_joint = words.kind == "joint";
  for (l2r::score_term const& term : why.terms) {
    nb::dict row;
    row["feature"] = feature_text(term.feature, words.names);
    row["adds"] = term.adds;
    if (term.item) row["item"] = datasets::words_of(words.ranges[*term.item], words.names);
    if (term.partner) row["partner"] = feature_text(*term.partner, words.names);
    if (term.partner_item)
      row["partner_item"] = datasets::words_of(words.ranges[*term.partner_item], words.names);
    if (is_joint) row["points"] = term.points;
    if (is_joint ? !term.partner : !term.item) {
      row["weight"] = term.weight;
      row["z"] = term.z;
      row["missing"] = term.missing;
    }
    terms.append(row);
  }
  nb::dict all;
  all["kind"] = "sum";
  all["score"] = why.score;
  all["terms"] = terms;
  return all;
}

nb::dict compared(l2r::comparison const& why, wording const& words) {
  nb::list rules;
  for (l2r::moving_rules const* const some : {&why.up, &why.down})
    add_rules(rules, *some, why.denominator, words);
  nb::dict all;
  all["kind"] = "rules";
  all["rules"] = rules;
  all["items"] = items_of(why.items, why.denominator, words);
  return all;
}

nb::dict compared(l2r::sum_comparison const& why, wording const& words) {
  nb::list terms;
  for (std::size_t k = 0; k < why.first.terms.size(); ++k) {
    nb::dict row;
    row["feature"] = feature_text(why.first.terms[k].feature, words.names);
    row["adds"] = why.first.terms[k].adds;
    row["against"] = why.second.terms[k].adds;
    terms.append(row);
  }
  nb::dict all;
  all["kind"] = "sum";
  all["terms"] = terms;
  return all;
}

/// The value of a feature in a document; NaN if missing.
double value_of(datasets::dataset const& list, std::size_t d, std::uint32_t feature,
                datasets::unlisted_values unlisted) {
  for (datasets::feature_value const& v : list.document(d))
    if (v.feature == feature) return v.value;
  return unlisted == datasets::unlisted_values::zero ? 0 : std::numeric_limits<double>::quiet_NaN();
}

/// Scores of documents by features, as arrays, displayed by rulerank/_explanation.py.
class effect_arrays {
 public:
  effect_arrays(l2r::model const& of, int digits) : digits_(digits) {
    auto const& cuts = l2r::cuts_of(of.members.front());
    unlisted_ = cuts != nullptr
                    ? cuts->options.unlisted
                    : std::get<l2r::linear_member>(of.members.front()).weights.options.unlisted;
  }

  void add(datasets::dataset const& list, std::size_t d, l2r::score_effects const& of) {
    features_ = of.features;
    scores_.push_back(of.score);
    ranks_.push_back(static_cast<std::int64_t>(of.rank));
    base_.push_back(of.base);
    l2r::shown_effects const shown = l2r::shown(of, digits_);
    shown_scores_.push_back(shown.score);
    for (std::size_t k = 0; k < of.base_by_member.size(); ++k) {
      base_by_member_.push_back(of.base_by_member[k]);
      shown_base_by_member_.push_back(shown.base_by_member[k]);
      for (l2r::feature_effect const& one : of.features) by_member_.push_back(one.by_member[k]);
      shown_by_member_.insert(shown_by_member_.end(), shown.by_member[k].begin(),
                              shown.by_member[k].end());
    }
    for (l2r::feature_effect const& one : of.features) {
      adds_.push_back(one.adds);
      values_.push_back(one.partner ? std::numeric_limits<double>::quiet_NaN()
                                    : value_of(list, d, one.feature, unlisted_));
    }
  }

  /// The arrays [documents], [documents x features], [documents x members x features], in this
  /// order.
  nb::dict take(datasets::feature_names const& names) {
    nb::list features;
    for (l2r::feature_effect const& one : features_) {
      std::string text = datasets::feature_text(one.feature, names);
      if (one.partner) text += " and " + datasets::feature_text(*one.partner, names);
      features.append(text);
    }
    nb::dict all;
    all["features"] = features;
    all["digits"] = digits_;
    all["scores"] = array_of(std::move(scores_));
    all["ranks"] = array_of(std::move(ranks_));
    all["base"] = array_of(std::move(base_));
    all["base_by_member"] = array_of(std::move(base_by_member_));
    all["values"] = array_of(std::move(values_));
    all["adds"] = array_of(std::move(adds_));
    all["by_member"] = array_of(std::move(by_member_));
    all["shown_scores"] = array_of(std::move(shown_scores_));
    all["shown_base_by_member"] = array_of(std::move(shown_base_by_member_));
    all["shown_by_member"] = array_of(std::move(shown_by_member_));
    return all;
  }

 private:
  int digits_;
  datasets::unlisted_values unlisted_;
  std::vector<l2r::feature_effect> features_;
  std::vector<double> scores_, base_, base_by_member_, values_, adds_, by_member_;
  std::vector<std::int64_t> ranks_, shown_scores_, shown_base_by_member_, shown_by_member_;
};

/// A model prepared for scoring.
class python_scorer {
 public:
  python_scorer(run_settings const& how, fitted_model const& of, std::string const& engine)
      : scorer_(run(how, [&](context const& ctx) {
          return l2r::scorer(ctx, of.model, {l2r::engine_from(engine)});
        })) {}

  output_vector<double> score(run_settings const& how, documents const& list) const {
    return array_of(
        run(how, [&](context const& ctx) { return scorer_.score(ctx, list.data).scores; }));
  }

  template <class T>
  output_vector<double> score_rows(run_settings const& how, input_matrix<T> const& values,
                                   std::vector<std::size_t> const& group_sizes) const {
    datasets::document_arrays about;
    about.group_sizes = group_sizes;
    about.name = "X";
    datasets::dense_rows<T> const rows = dense_rows_of(values);
    return array_of(run(how, [&](context const& ctx) {
      return l2r::score_rows(ctx, scorer_, rows, about).scores;
    }));
  }

  std::vector<output_vector<double>> score_each(run_settings const& how,
                                                documents const& list) const {
    std::vector<output_vector<double>> all;
    for (l2r::scored& one :
         run(how, [&](context const& ctx) { return scorer_.score_each(ctx, list.data); }))
      all.push_back(array_of(std::move(one.scores)));
    return all;
  }

  /// Explains the score of document d (default: the first of the ranking), or why it ranks above
  /// another.
  nb::dict explain(run_settings const& how, documents const& list, std::optional<std::size_t> d,
                   std::optional<std::size_t> against, std::size_t top) const {
    l2r::explainer const why =
        run(how, [&](context const& ctx) { return l2r::explainer(ctx, scorer_, list.data); });
    std::size_t const first = d ? *d : why.order().front();
    nb::dict all = against ? comparison(how, why, list.data, first, *against, top)
                           : explanation(how, why, list.data, first, top);
    all["document"] = first;
    return all;
  }

  /// Explains all documents by features, query by query.
  nb::dict explain_all(run_settings const& how, documents const& list) const {
    auto const effects = run(how, [&](context const& ctx) {
      std::vector<l2r::score_effects> of;
      for (std::size_t q = 0; q < list.data.queries.size(); ++q) {
        ctx.report("explain", q, list.data.queries.size());
        std::vector<std::size_t> rows(list.data.queries[q].size());
        std::iota(rows.begin(), rows.end(), list.data.queries[q].begin);
        datasets::dataset const query = datasets::subset(list.data, rows);
        for (l2r::score_effects& one : l2r::explainer(ctx, scorer_, query).effects(ctx))
          of.push_back(std::move(one));
      }
      return of;
    });
    std::vector<std::size_t> all(effects.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return arrays_of(list.data, all, effects);
  }

  std::string engine() const { return std::string(l2r::name_of(scorer_.engine())); }

 private:
  /// The arrays of `effects` for the documents `rows` of a list.
  nb::dict arrays_of(datasets::dataset const& list, std::vector<std::size_t> const& rows,
                     std::vector<l2r::score_effects> const& effects) const {
    effect_arrays arrays(scorer_.fitted(), l2r::digits_of(effects));
    for (std::size_t k = 0; k < rows.size(); ++k) arrays.add(list, rows[k], effects[k]);
    return arrays.take(l2r::names_of(scorer_.fitted()));
  }

  nb::dict explanation(run_settings const& how, l2r::explainer const& why,
                       datasets::dataset const& list, std::size_t d, std::size_t top) const {
    auto const found = run(how, [&](context const& ctx) { return why.explain(ctx, d, top); });
    datasets::feature_names const& names = l2r::names_of(scorer_.fitted());
    nb::list members;
    for (std::size_t k = 0; k < found.members.size(); ++k) {
      l2r::member_explanation const& one = found.members[k];
      wording const words{why.ranges(k), names, l2r::kind_of(scorer_.fitted().members[k])};
      nb::dict member =
          std::visit([&](auto const& each) { return explained(each, words); }, one.why);
      member["member"] = std::string(l2r::kind_of(scorer_.fitted().members[k]));
      member["rank"] = one.rank;
      member["mean"] = one.mean;
      member["deviation"] = one.deviation;
      member["part"] = one.part;
      members.append(member);
    }
    nb::dict all;
    all["score"] = found.score;
    all["rank"] = found.rank;
    all["members"] = members;
    all["effects"] = arrays_of(list, {d}, {why.effects(found)});
    return all;
  }

  nb::dict comparison(run_settings const& how, l2r::explainer const& why,
                      datasets::dataset const& list, std::size_t first, std::size_t second,
                      std::size_t top) const {
    datasets::feature_names const& names = l2r::names_of(scorer_.fitted());
    auto const found =
        run(how, [&](context const& ctx) { return why.compare(ctx, first, second, top); });
    nb::list members;
    for (std::size_t k = 0; k < found.members.size(); ++k) {
      l2r::member_comparison const& one = found.members[k];
      wording const words{why.ranges(k), names, l2r::kind_of(scorer_.fitted().members[k])};
      nb::dict member =
          std::visit([&](auto const& each) { return compared(each, words); }, one.why);
      member["member"] = std::string(l2r::kind_of(scorer_.fitted().members[k]));
      member["scores"] = nb::make_tuple(one.first_score, one.second_score);
      member["ranks"] = nb::make_tuple(one.first_rank, one.second_rank);
      member["parts"] = nb::make_tuple(one.first_part, one.second_part);
      members.append(member);
    }
    nb::dict all;
    all["scores"] = nb::make_tuple(found.first_score, found.second_score);
    all["ranks"] = nb::make_tuple(found.first_rank, found.second_rank);
    all["members"] = members;
    all["effects"] =
        arrays_of(list, {first, second}, run(how, [&](context const& ctx) {
                    return std::vector{why.effects(ctx, first), why.effects(ctx, second)};
                  }));
    return all;
  }

  l2r::scorer scorer_;
};

/// The text for the parameter `card`.
std::string card_text(fitted_model const& of) {
  auto const* const card = std::get_if<l2r::scorecard_member>(&of.model.members.front());
  if (of.model.members.size() > 1 || card == nullptr || !card->options.page)
    throw usage_error("found a ranker of other members, expected a card");
  return l2r::to_text(card->card, *card->cuts);
}

/// Writes the file; returns what its target computes in another way.
std::vector<std::string> export_model(fitted_model const& of, std::string const& to,
                                      std::string const& path) {
  l2r::export_options options;
  options.format = l2r::export_format_from(to);
  options.name = l2r::export_name_of(path);
  options.ubjson = path.ends_with(".ubj");
  l2r::exported_model const made = l2r::export_model(of.model, options);
  write_file(path, made.text);
  return made.notes;
}

/// The features' effects on scores: for each member a list of (number, effect).
auto importances(run_settings const& how, fitted_model const& of, std::size_t documents) {
  std::vector<std::vector<std::tuple<std::uint32_t, double>>> all;
  for (l2r::model_member const& member : of.model.members) {
    auto const parts = run(how, [&](context const& ctx) -> std::vector<l2r::feature_part> {
      if (auto const* const card = std::get_if<l2r::scorecard_member>(&member))
        return l2r::inspect(*card).features;
      if (auto const* const linear = std::get_if<l2r::linear_member>(&member))
        return l2r::inspect(*linear);
      if (auto const* const joint = std::get_if<l2r::joint_member>(&member))
        return l2r::inspect(*joint);
      auto const& rules = std::get<l2r::rules_member>(member);
      l2r::ranker const ranker(ctx, *rules.training, {.scoring = rules.scoring});
      return l2r::inspect(ctx, ranker, *rules.training, {.top = 0, .documents = documents})
          .features;
    });
    auto& moved = all.emplace_back();
    for (l2r::feature_part const& part : parts) moved.emplace_back(part.feature, part.moved);
  }
  return all;
}

l2r::scorecard_options card_options(std::string const& loss, std::optional<double> points_penalty,
                                    double smoothness, std::size_t folds) {
  l2r::scorecard_options options;
  options.loss = l2r::card_loss_from(loss);
  options.cross_fit = !points_penalty;
  options.points_penalty = points_penalty.value_or(options.points_penalty);
  options.smoothness = smoothness;
  options.folds = folds;
  l2r::check(options);
  return options;
}

/// The recipe of a card; empty parameters get a card's defaults.
member_recipe card_of(datasets::discretizer_options const& discretizer, fitted_cuts const* cuts,
                      std::optional<std::string> const& method, std::optional<int> bins,
                      std::optional<std::string> const& loss, std::optional<double> points_penalty,
                      std::optional<double> smoothness, std::size_t folds, std::size_t max_features,
                      int max_points, std::string const& target, documents const& train,
                      std::optional<std::string> const& monotone,
                      std::optional<std::string> const& card) {
  l2r::scorecard_recipe made = l2r::card_recipe();
  made.cuts = shared(cuts);
  datasets::discretizer_options const own = made.discretizer;
  made.discretizer = discretizer;
  made.discretizer.method = method ? datasets::binning_from(*method) : own.method;
  made.discretizer.bins = bins.value_or(own.bins);
  l2r::scorecard_options& options = made.options;
  if (loss) {
    options.loss = l2r::card_loss_from(*loss);
    options.page->choose_loss = false;
  }
  options.points_penalty = points_penalty.value_or(options.points_penalty);
  options.cross_fit = !smoothness;
  options.smoothness = smoothness.value_or(options.smoothness);
  options.folds = folds;
  options.page->max_features = max_features;
  options.page->points = max_points;
  options.page->target = l2r::card_target_from(target);
  try {
    if (monotone)
      options.page->features =
          l2r::card_directions_from_text(*monotone, "monotone", train.data.names);
    if (card)
      l2r::set_features(*options.page, l2r::card_from_text(*card, "card", train.data.names));
  } catch (error const& e) {  // about a parameter, not a file
    throw usage_error(e.what());
  }
  l2r::check(options);
  return {std::move(made)};
}

/// The recipe of a joint member; empty parameters get its defaults.
member_recipe joint_of(datasets::discretizer_options const& discretizer, fitted_cuts const* cuts,
                       std::optional<std::string> const& method, std::optional<int> bins,
                       std::size_t pairs, std::size_t folds) {
  l2r::joint_recipe made;
  datasets::discretizer_options const own = made.discretizer;
  made.cuts = shared(cuts);
  made.discretizer = discretizer;
  made.discretizer.method = method ? datasets::binning_from(*method) : own.method;
  made.discretizer.bins = bins.value_or(own.bins);
  made.options = {pairs, folds};
  l2r::check(made.options);
  return {std::move(made)};
}

member_recipe linear_of(datasets::discretizer_options const& discretizer,
                        std::optional<double> strength, std::string const& scale,
                        std::size_t folds) {
  if (strength == 0.0) throw usage_error("strength: found 0, expected 1e-9 to 1e9, or 'cross-fit'");
  l2r::linear_options const options{.strength = strength.value_or(0),
                                    .folds = folds,
                                    .missing = discretizer.missing,
                                    .unlisted = discretizer.unlisted,
                                    .scale = l2r::linear_scale_from(scale)};
  l2r::check(options);
  return member_recipe{l2r::linear_recipe{options}};
}

void add_recipes(nb::module_& to) {
  nb::class_<member_recipe> const recipe(to, "Recipe", "How to fit a member of a model.");
  to.def(
      "rules_recipe",
      [](datasets::discretizer_options const& discretizer, fitted_cuts const* cuts,
         rules::rule_size rule_size, std::uint32_t min_support, double min_confidence,
         double support_weight, double smoothing, double feature_share) {
        l2r::scoring_options const scoring{.rule_size = rule_size,
                                           .thresholds = {min_support, min_confidence},
                                           .support_weight = support_weight,
                                           .smoothing = smoothing,
                                           .feature_share = feature_share};
        l2r::check(scoring);
        return member_recipe{l2r::rules_recipe{discretizer, shared(cuts), scoring}};
      },
      "discretizer"_a, "cuts"_a.none(), "rule_size"_a, "min_support"_a, "min_confidence"_a,
      "support_weight"_a, "smoothing"_a, "feature_share"_a);
  to.def(
      "scorecard_recipe",
      [](datasets::discretizer_options const& discretizer, fitted_cuts const* cuts,
         std::string const& loss, std::optional<double> points_penalty, double smoothness,
         std::size_t folds) {
        return member_recipe{l2r::scorecard_recipe{
            discretizer, shared(cuts), card_options(loss, points_penalty, smoothness, folds)}};
      },
      "discretizer"_a, "cuts"_a.none(), "loss"_a, "points_penalty"_a.none(), "smoothness"_a,
      "folds"_a, "points_penalty None: both penalties by cross-fitting.");
  to.def("card_recipe", card_of, "discretizer"_a, "cuts"_a.none(), "method"_a.none(),
         "bins"_a.none(), "loss"_a.none(), "points_penalty"_a.none(), "smoothness"_a.none(),
         "folds"_a, "max_features"_a, "max_points"_a, "target"_a, "train"_a, "monotone"_a.none(),
         "card"_a.none());
  to.def("linear_recipe", linear_of, "discretizer"_a, "strength"_a.none(), "linear_scale"_a,
         "folds"_a, "strength None: by cross-fitting.");
  to.def("joint_recipe", joint_of, "discretizer"_a, "cuts"_a.none(), "method"_a.none(),
         "bins"_a.none(), "pairs"_a, "folds"_a);
  to.def(
      "recommend",
      [](documents const& train, datasets::discretizer_options const& discretizer,
         fitted_cuts const* cuts) {
        auto found = l2r::recommend(l2r::count_labels(train.data), discretizer, shared(cuts));
        std::vector<member_recipe> recipes;
        for (l2r::recipe& one : found.recipes) recipes.push_back({std::move(one)});
        return std::tuple(found.name, found.members, found.reason, std::move(recipes));
      },
      "train"_a, "discretizer"_a, "cuts"_a.none(),
      "The name, members and reason of a recommendation, and its recipes.");
}

/// `columns`: of the array; 0: the last feature that a document lists is the last one.
l2r::feature_descriptions descriptions_of(std::optional<std::string> const& table,
                                          datasets::dataset const& train, std::uint32_t columns) {
  if (!table) return {};
  std::vector<std::uint32_t> listed = datasets::listed_features(train);
  if (columns > 0) listed = {1, columns};
  try {
    return l2r::feature_descriptions_from_text(*table, "feature_table", train.names, listed);
  } catch (error const& e) {  // about a parameter, not a file
    throw usage_error(e.what());
  }
}

/// (number, name, unit, origin) of each described feature; a feature without a name has none.
auto descriptions(fitted_model const& of) {
  datasets::feature_names const& names = l2r::names_of(of.model);
  std::vector<std::tuple<std::uint32_t, std::optional<std::string>, std::string, std::string>> all;
  for (auto const& [feature, one] : of.model.descriptions) {
    auto const name = names.find(feature);
    all.emplace_back(feature, name != names.end() ? std::optional(name->second) : std::nullopt,
                     one.unit, one.origin);
  }
  return all;
}

void add_model(nb::module_& to) {
  nb::class_<fitted_model>(to, "Model", "What fit makes and ranking needs: members, as one file.")
      .def_static(
          "from_bytes",
          [](nb::bytes const& bytes, std::string const& name) {
            return fitted_model{l2r::model_from_bytes({bytes.c_str(), bytes.size()}, name)};
          },
          "bytes"_a, "name"_a)
      .def_static(
          "read", [](std::string const& path) { return fitted_model{l2r::read_model(path)}; },
          "path"_a)
      .def(
          "write",
          [](fitted_model const& of, std::string const& path) { l2r::write_model(of.model, path); },
          "path"_a)
      .def("to_bytes",
           [](fitted_model const& of) {
             std::string const bytes = l2r::to_bytes(of.model);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("__getstate__",
           [](fitted_model const& of) {
             std::string const bytes = l2r::to_bytes(of.model);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("__setstate__",
           [](fitted_model& self, nb::bytes const& bytes) {
             new (&self) fitted_model{
                 l2r::model_from_bytes({bytes.c_str(), bytes.size()}, "the pickled model")};
           })
      .def_prop_ro("kinds",
                   [](fitted_model const& of) {
                     std::vector<std::string> kinds;
                     for (l2r::model_member const& one : of.model.members)
                       kinds.emplace_back(l2r::kind_of(one));
                     return kinds;
                   })
      .def_prop_ro("portable", [](fitted_model const& of) { return l2r::is_portable(of.model); })
      .def_prop_ro("portability",
                   [](fitted_model const& of) { return l2r::portability_of(of.model).words; })
      .def_prop_ro("parameters", [](fitted_model const& of) { return model_parameters(of.model); })
      .def_prop_ro("used_parameters",
                   [](fitted_model const& of) { return used_parameters(of.model); })
      .def_prop_ro("feature_count", [](fitted_model const& of) { return feature_count(of.model); })
      .def_prop_ro("descriptions", &descriptions)
      .def_prop_ro("feature_names", [](fitted_model const& of) {
        std::vector<std::string> names;
        for (auto const& [feature, name] : l2r::names_of(of.model)) names.push_back(name);
        return names;
      });
}

}  // namespace

void add_ranker(nb::module_& to) {
  add_recipes(to);
  add_model(to);
  to.def(
      "fit",
      [](run_settings const& how, documents const& train, std::vector<member_recipe> const& recipes,
         std::uint32_t columns, std::optional<std::string> const& feature_table) {
        std::vector<l2r::recipe> all;
        for (member_recipe const& one : recipes) all.push_back(one.how);
        l2r::feature_descriptions descriptions =
            descriptions_of(feature_table, train.data, columns);
        fitted_model made{
            run(how, [&](context const& ctx) { return l2r::fit(ctx, train.data, all); })};
        if (columns > feature_count(made.model)) made.model.columns = columns;
        made.model.descriptions = std::move(descriptions);
        made.model.list_normalized = l2r::list_normalized_features(made.model, train.data);
        return made;
      },
      "run"_a, "train"_a, "recipes"_a, "columns"_a, "feature_table"_a.none(),
      "columns: of the array that train was made of.");
  to.def("importances", &importances, "run"_a, "model"_a, "documents"_a,
         "What features move scores by: of each member (feature, moved).");
  to.def("card_text", &card_text, "model"_a);
  to.def("export_model", &export_model, "model"_a, "to"_a, "path"_a);
  nb::class_<python_scorer>(to, "Scorer", "A model made ready to score.")
      .def(nb::init<run_settings const&, fitted_model const&, std::string const&>(), "run"_a,
           "model"_a, "engine"_a)
      .def("score", &python_scorer::score, "run"_a, "documents"_a)
      .def("score_rows", &python_scorer::score_rows<double>, "run"_a, "values"_a.noconvert(),
           "group_sizes"_a)
      .def("score_rows", &python_scorer::score_rows<float>, "run"_a, "values"_a.noconvert(),
           "group_sizes"_a, "score, of the rows of an array whose columns have no names.")
      .def("score_each", &python_scorer::score_each, "run"_a, "documents"_a)
      .def("explain", &python_scorer::explain, "run"_a, "query"_a, "document"_a.none(),
           "against"_a.none(), "top"_a)
      .def("explain_all", &python_scorer::explain_all, "run"_a, "documents"_a)
      .def_prop_ro("engine", &python_scorer::engine);
}

}  // namespace rulerank::python
