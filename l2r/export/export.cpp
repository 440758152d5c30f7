#include "l2r/export/export.hpp"

#include "core/error.hpp"
#include "core/named_values.hpp"
#include "core/parallel.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/values_of.hpp"
#include "l2r/export/additive.hpp"
#include "l2r/export/list_form.hpp"
#include "l2r/export/point_tree.hpp"
#include "l2r/export/weights.hpp"
#include "l2r/model/input_columns.hpp"
#include "l2r/model/member_kind.hpp"
#include "l2r/model/scorer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

using notes_of_export = std::vector<std::string>;

/// Search engines have no missing values: a feature that a document lacks has the points that the
/// model gives one that is not listed.
void give_absent_values_points(additive_form& form, std::string_view engine, bool absent_is_zero,
                               notes_of_export& notes) {
  for (additive_feature& one : form.features) {
    double const zero = points_of(one, 0);
    double const absent = form.absent_is_missing && !absent_is_zero ? one.missing : zero;
    if (one.missing != zero && one.misses)
      notes.push_back(fmt::format(
          "{}: a missing value of {} has {} points in the model; {} gives a document without a "
          "value {}",
          engine, one.name, one.missing, absent_is_zero ? "it" : "the plugin",
          absent == zero ? fmt::format("the points of 0, {}", zero)
                         : fmt::format("these, but some versions the points of 0, {}", zero)));
    one.missing = absent;
  }
  if (absent_is_zero) form.absent_is_missing = false;
}

void fit_xgboost(additive_form& form, notes_of_export&) {
  make_single(form, "XGBoost");
}

void fit_search_plugin(additive_form& form, notes_of_export& notes) {
  make_single(form, "the plugin");
  give_absent_values_points(form, "Elasticsearch, OpenSearch", false, notes);
  if (double const low = range_of(form).low; low < 0)
    notes.push_back(
        fmt::format("scores begin at {}; Elasticsearch and OpenSearch refuse negative "
                    "scores",
                    low));
}

/// Spreadsheets may treat values as equal that have the same 15 significant digits.
void fit_xlsx(additive_form& form, notes_of_export& notes) {
  for (additive_feature const& one : form.features)
    for (double const cut : one.cuts)
      // std::stod throws for numbers below the least normal one.
      if (std::strtod(fmt::format("{:.14e}", cut).c_str(), nullptr) != cut)
        notes.push_back(
            fmt::format("xlsx: the cut {} of {} has more than the 15 digits that "
                        "spreadsheets compare",
                        cut, one.name));
}

void fit_solr(additive_form& form, notes_of_export& notes) {
  make_single(form, "Solr");
  give_absent_values_points(form, "Solr", true, notes);
  for (additive_feature& one : form.features)
    for (double& cut : one.cuts) {
      double const moved = solr_cut(static_cast<float>(cut));
      if (moved != cut)
        notes.push_back(fmt::format("Solr: the cut {} of {} is at {}, as Solr adds 1e-6 to it", cut,
                                    one.name, moved));
      cut = moved;
    }
}

struct export_target {
  std::string_view name;
  std::string (*write)(additive_form const&, export_options const&);  ///< null: of a list_form
  /// Makes of the model's form what the target computes; null: no change.
  void (*fit)(additive_form&, notes_of_export&) = nullptr;
  /// Writes weights of raw values; null: the target does not hold them.
  std::string (*write_weights)(weights_form const&, export_options const&) = nullptr;
};

/// In the order of `export_format`.
constexpr std::array export_targets{
    export_target{"c", write_c},
    export_target{"java", write_java},
    export_target{"javascript", write_javascript},
    export_target{"python", write_python},
    export_target{"sql", write_sql},
    export_target{"xlsx", write_xlsx, fit_xlsx},
    export_target{"lightgbm", write_lightgbm},
    export_target{"xgboost", write_xgboost, fit_xgboost},
    export_target{"onnx", nullptr},  // a list_form
    export_target{"elasticsearch", write_search_plugin, fit_search_plugin, write_plugin_weights},
    export_target{"opensearch", write_search_plugin, fit_search_plugin, write_plugin_weights},
    export_target{"solr", write_solr, fit_solr, write_solr_weights}};

constexpr auto target_names = [] {
  std::array<std::string_view, export_targets.size()> names;
  std::ranges::transform(export_targets, names.begin(), &export_target::name);
  return names;
}();

export_target const& target_of(export_options const& options) {
  return export_targets[static_cast<std::size_t>(options.format)];
}

/// Refuses what no list form holds.
list_form checked_list_form(model const& of, export_options const& options) {
  for (model_member const& member : of.members)
    if (std::holds_alternative<rules_member>(member))
      throw usage_error(
          "found a member of the kind rules, which no format holds, expected cards, scorecards, "
          "linear and joint members; rulerank fit --members card makes a card");
  for (model_member const& member : of.members)
    if (auto const* const linear = std::get_if<linear_member>(&member);
        linear != nullptr && linear->weights.options.scale == linear_scale::pool)
      throw usage_error(
          "found a linear member fitted with --linear-scale pool, expected --linear-scale query; "
          "--to elasticsearch, opensearch and solr hold it alone");
  return list_form_of(of, options);
}

/// Whether the export has weights of raw values.
bool writes_weights(model const& of, export_options const& options) {
  return target_of(options).write_weights != nullptr && has_raw_weights(of);
}

additive_form fitted_form(model const& of, export_options const& options, notes_of_export& notes) {
  additive_form form = additive_form_of(of, options);
  if (auto const fit = target_of(options).fit; fit != nullptr) fit(form, notes);
  return form;
}

/// The scores of documents whose features have the numbers of the form.
std::vector<double> scores_of(context const& ctx, additive_form const& form,
                              datasets::dataset const& documents) {
  std::vector<std::uint32_t> numbers;
  for (additive_feature const& one : form.features) numbers.push_back(one.feature);
  double const absent = form.absent_is_missing ? std::numeric_limits<double>::quiet_NaN() : 0.0;
  std::vector<double> scores(documents.size());
  parallel_for(ctx, documents.size(), 256, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t d = begin; d < end; ++d)
      datasets::for_each_value(documents.document(d), numbers, absent,
                               [&](std::size_t f, double value) {
                                 if (form.single) value = static_cast<float>(value);
                                 scores[d] += points_of(form.features[f], value);
                               });
  });
  return scores;
}

/// Whether two scores of each document order and tie all pairs of a query alike.
bool same_order_in(datasets::query_group const& query, std::vector<double> const& a,
                   std::vector<double> const& b) {
  std::vector<std::size_t> order(query.size());
  std::iota(order.begin(), order.end(), query.begin);
  std::ranges::sort(order, {}, [&](std::size_t d) { return std::pair(a[d], b[d]); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t const before = order[i - 1], after = order[i];
    if ((a[before] < a[after]) != (b[before] < b[after]) || b[before] > b[after]) return false;
  }
  return true;
}

}  // namespace

std::span<std::string_view const> export_format_names() {
  return target_names;
}

export_format export_format_from(std::string_view name) {
  return value_named<export_format>(target_names, name, "format: found");
}

std::string export_name_of(std::string const& path) {
  auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string name = std::filesystem::path(path).stem().string();
  for (char& c : name)
    if (!is_digit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) c = '_';
  return name.empty() || is_digit(name.front()) ? "_" + name : name;
}

exported_model export_model(model const& of, export_options const& options) {
  exported_model made;
  if (writes_weights(of, options)) {
    made.text = target_of(options).write_weights(weights_form_of(of, options, made.notes), options);
    return made;
  }
  if (target_of(options).write == nullptr) {
    list_form const form = checked_list_form(of, options);
    made.text = write_onnx(form, options);
    return made;
  }
  additive_form const form = fitted_form(of, options, made.notes);
  made.text = target_of(options).write(form, options);
  return made;
}

export_difference check_export(context const& ctx, model const& of, export_options const& options,
                               datasets::dataset const& documents) {
  export_difference found;
  std::vector<double> by_export, within(documents.size());
  auto const numbered = [&] { return datasets::renumbered(documents, names_of(of)); };
  notes_of_export notes;
  if (writes_weights(of, options)) {
    weighted_scores weighted = scores_of(ctx, weights_form_of(of, options, notes), numbered());
    by_export = std::move(weighted.scores);
    within = std::move(weighted.within);
  } else if (target_of(options).write == nullptr) {
    list_form const form = checked_list_form(of, options);
    found.within = form.portability.portable ? 0 : 1e-9;
    by_export = scores_of(ctx, form, numbered());
  } else {
    additive_form const form = fitted_form(of, options, notes);
    by_export = scores_of(ctx, form, numbered());
  }
  std::vector<double> const by_model = score(ctx, of, documents).scores;
  for (std::size_t d = 0; d < by_model.size(); ++d) {
    double const size = std::max(1.0, std::abs(by_model[d]));
    if (within[d] > 0)
      found.within = std::max(found.within, within[d] / size);
    else
      within[d] = found.within * size;
    if (std::isfinite(by_export[d]) && std::abs(by_model[d] - by_export[d]) <= within[d])
      by_export[d] = by_model[d];
    if (by_model[d] == by_export[d] || found.documents++ > 0) continue;
    found.first = d;
    found.by_model = by_model[d];
    found.by_export = by_export[d];
  }
  if (found.documents > 0)
    for (datasets::query_group const& query : documents.queries)
      found.same_order = found.same_order && same_order_in(query, by_model, by_export);
  return found;
}

}  // namespace rulerank::l2r
