#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/scorecard/query_parts.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <memory>

// A card fitted to grades (card_target::members).
namespace rulerank::inline v0::l2r {

/// How to fit the recommended members that give the grades: arguments of `recommend`.
struct grading {
  datasets::discretizer_options discretizer{};
  std::shared_ptr<datasets::discretizer const> cuts{};
};

/// All documents of `train`, binned by `cuts`. Their labels are grades from 0 to 4, made from the
/// scores of the recommended members, fitted to the labels.
query_subset graded_by_members(context const& ctx, datasets::dataset const& train,
                               grading const& how, datasets::discretizer const& cuts);

/// The options for fitting a card to grades: penalties divided by 100.
scorecard_options options_for_grades(scorecard_options options);

}  // namespace rulerank::l2r
