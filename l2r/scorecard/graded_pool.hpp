#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/scorecard/query_parts.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <memory>
#include <vector>

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

/// The sizes that were tried for a card, and the loss whose quality the trials have.
struct tried_cards {
  card_loss loss = card_loss::pair;
  std::vector<card_trial> trials;
};

/// Cross-fits cards of several sizes, at most `options.page->max_features`, over folds of the
/// labelled queries: a fold's labels judge cards fitted to grades that the other folds' labels
/// give. The quality is NDCG over the labelled documents, or minus the squared error of the labels
/// where `choose_page` would use the loss `point`. No trials where fewer than 20 queries judge.
tried_cards try_graded_sizes(context const& ctx, datasets::dataset const& train, grading const& how,
                             datasets::discretizer const& cuts, scorecard_options const& options);

}  // namespace rulerank::l2r
