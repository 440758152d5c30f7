#include "l2r/export/weights.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "datasets/values_of.hpp"
#include "l2r/export/additive.hpp"

#include <cmath>
#include <limits>
#include <variant>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

float single_weight(raw_feature const& of, double weight) {
  auto const made = static_cast<float>(weight);
  if (weight != 0 && !std::isnormal(made))
    throw usage_error(
        fmt::format("found the weight {} of a raw value of {}, expected one that float32 holds",
                    weight, rulerank::quoted(of.name)));
  return made;
}

}  // namespace

bool has_raw_weights(model const& of) {
  auto const* const linear = std::get_if<linear_member>(&of.members.front());
  return of.members.size() == 1 && linear != nullptr &&
         linear->weights.options.scale == linear_scale::pool;
}

weights_form weights_form_of(model const& of, export_options const& options,
                             std::vector<std::string>& notes) {
  expect_identifier(options.name);
  linear_weights const& by = std::get<linear_member>(of.members.front()).weights;
  bool const absent_is_missing =
      std::isnan(datasets::unlisted_value(by.options.missing, by.options.unlisted));
  weights_form form;
  std::vector<std::string> names;
  for (feature_weight const& one : by.features) {
    raw_feature made{one.feature, name_of_feature(one.feature, by.names, options.names), 0};
    made.weight = single_weight(made, raw_weight(one));
    form.above_model += raw_weight(one) * one.mean;
    names.push_back(made.name);
    if (one.weight != 0 && (one.misses || absent_is_missing))
      notes.push_back(fmt::format(
          "a missing value of {} adds {} in the model; engines take it as 0, which adds "
          "{}",
          made.name, value_of_weight(one.missing), -raw_weight(one) * one.mean));
    form.features.push_back(std::move(made));
  }
  expect_distinct(names);
  notes.push_back(fmt::format(
      "the export's scores are the model's plus {}, because the forms of engines have no constant; "
      "they can be negative, and Elasticsearch and OpenSearch refuse negative scores",
      form.above_model));
  return form;
}

weighted_scores scores_of(context const& ctx, weights_form const& form,
                          datasets::dataset const& documents) {
  std::vector<std::uint32_t> numbers;
  for (raw_feature const& one : form.features) numbers.push_back(one.feature);
  // Each product rounds three times, and each sum once.
  double const share =
      (static_cast<double>(numbers.size()) + 3) * double{std::numeric_limits<float>::epsilon()} / 2;
  weighted_scores found{std::vector<double>(documents.size()),
                        std::vector<double>(documents.size())};
  parallel_for(ctx, documents.size(), 256, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t d = begin; d < end; ++d) {
      float score = 0;
      double size = 0;
      datasets::for_each_value(
          documents.document(d), numbers, 0.0, [&](std::size_t f, double value) {
            float const single = std::isnan(value) ? 0.0F : static_cast<float>(value);
            float const term = form.features[f].weight * single;
            score += term;
            size += std::abs(double{term});
          });
      found.scores[d] = double{score} - form.above_model;
      // Sums below the least normal number round by a fixed amount.
      found.within[d] =
          share * (size + std::abs(form.above_model)) + double{std::numeric_limits<float>::min()};
    }
  });
  return found;
}

}  // namespace rulerank::l2r
