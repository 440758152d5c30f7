#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/linear/linear.hpp"
#include "l2r/rules/options.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// What is fitted once and ranks from then on: members, saved and loaded as one file.
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::l2r {

/// Ranks by the association rules of training documents (class ranker). Neither pointer is null,
/// but `cuts` where documents are given as items (binned_lists). Members of a model may point to
/// the same cuts and documents: they are then stored, and cuts applied, once.
struct rules_member {
  std::shared_ptr<datasets::discretizer const> cuts;
  std::shared_ptr<datasets::binned_dataset const> training;
  scoring_options scoring;
};

/// Ranks by a sum of points, a number an item. `cuts` are null where documents are given as items.
/// A card is a scorecard with `options.page`.
struct scorecard_member {
  std::shared_ptr<datasets::discretizer const> cuts;
  scorecard_options options;  ///< that it was fitted with
  scorecard card;
  /// The penalties were chosen by cross-fitting in at most so many folds of queries; 0: given.
  std::size_t cross_fitted_folds = 0;
  /// Those that it was fitted to, and how many of them have each item [items]; 0 and none where a
  /// model file does not say.
  std::uint32_t training_documents = 0;
  std::vector<std::uint32_t> item_documents;
  /// A card on one page has the best card of each size that was tried, smallest first. Empty if
  /// sizes were not tried.
  std::vector<card_trial> frontier{};
  /// A card on one page has the totals of its training documents, rising. Empty if the model file
  /// has none.
  std::vector<card_total> totals{};
};

/// Ranks by a weighted sum of the raw features, each within its query: documents that are items
/// already have no score by it.
struct linear_member {
  linear_weights weights;
};

/// How a `joint_member` is fitted (docs/reference/components.md).
struct joint_options {
  std::size_t max_pairs = 24;  ///< pairs of features with a table, at most; 0 to 1000
  std::size_t folds = 5;       ///< of cross-fitting, 2 to 1000
};

/// Throws `usage_error` for what makes no sense.
void check(joint_options const& options);

/// Times the sum of squares of the weights, of the points, of the differences of neighbouring bins'
/// points, and of the points of tables.
struct joint_penalties {
  double weights = 0.1;
  double points = 0.1;
  double smoothness = 1;
  double tables = 0.3;
};

/// Points of two features together, by groups of neighbouring bins.
struct joint_pair {
  std::size_t first = 0, second = 0;  ///< positions among the member's features, ascending
  std::vector<std::int64_t> points;   ///< [groups of first x groups of second]
};

/// Ranks by a sum of curves, one a feature: a weight times the z-score within the query (0 where
/// the value is missing), and the points of its bin; and of tables, one a pair of features. Weights
/// and points are whole numbers in units of 2^-joint_bits. Documents that are items already have no
/// score by it.
struct joint_member {
  std::shared_ptr<datasets::discretizer const> cuts;  ///< not null
  joint_options options;                              ///< that it was fitted with
  joint_penalties penalties;                          ///< that were chosen
  /// pair: the weighted pair loss; point: squares, where few documents are compared.
  card_loss loss = card_loss::pair;
  std::vector<std::uint32_t> features;    ///< [F] ascending
  std::vector<std::uint32_t> item_begin;  ///< [F + 1] as in a binned_dataset
  std::vector<std::int64_t> weights;      ///< [F]
  std::vector<std::int64_t> points;       ///< [items]
  std::vector<joint_pair> pairs;          ///< those that gained most first
  std::uint32_t training_documents = 0;
  /// The mean over the training documents of the size of what each feature, then each pair, adds.
  std::vector<std::int64_t> moved;
};

inline constexpr int joint_bits = 32;

/// One way to score documents, of one of several kinds.
using model_member = std::variant<rules_member, scorecard_member, linear_member, joint_member>;

/// The words for kinds of members, in the order of `model_member` and `recipe`: rules, scorecard,
/// linear, joint.
std::span<std::string_view const> member_kind_names();
/// The word for a member: `card` for a scorecard on one page, whose kind in a model file is
/// `scorecard`.
std::string_view kind_of(model_member const& of);

/// Everything that ranking needs. The score of a document is that of the member or, of several, the
/// mean of theirs, each standardized within its query's list; where these are all equal, 0.
struct model {
  std::vector<model_member> members;  ///< one or more
  /// Of the arrays that it was fitted to, where that is known and more than the last feature's
  /// number: no document lists the features behind it. 0 where not.
  std::uint32_t columns = 0;
};

/// How to fit a `rules_member`.
struct rules_recipe {
  datasets::discretizer_options discretizer;
  /// Not null: these cuts are used, and `discretizer` is not looked at.
  std::shared_ptr<datasets::discretizer const> cuts;
  scoring_options scoring;
};

/// How to fit a `scorecard_member`.
struct scorecard_recipe {
  datasets::discretizer_options discretizer;
  /// Not null: these cuts are used, and `discretizer` is not looked at.
  std::shared_ptr<datasets::discretizer const> cuts;
  scorecard_options options;
};

/// A card on one page: bins of its own, loss, smoothness and size by cross-fitting.
scorecard_recipe card_recipe();

/// How to fit a `linear_member`.
struct linear_recipe {
  linear_options options;
};

/// How to fit a `joint_member`.
struct joint_recipe {
  datasets::discretizer_options discretizer{datasets::binning::frequency, 20};
  /// Not null: these cuts are used, and `discretizer` is not looked at.
  std::shared_ptr<datasets::discretizer const> cuts;
  joint_options options;
};

/// How to fit a member.
using recipe = std::variant<rules_recipe, scorecard_recipe, linear_recipe, joint_recipe>;

/// Fits one member a recipe on the training documents that have a label, in the order of the
/// recipes; cuts and items that recipes share are made once. Those without one (`unlabelled`) count
/// where no label is read: cuts are of all documents, and values are normalized within all of their
/// query. Throws `error` naming the documents where none has a label and where no feature has two
/// bins, `usage_error` without recipes and for options that make no sense.
model fit(context const& ctx, datasets::dataset const& train, std::span<recipe const> recipes);

/// The version of model files that this program writes. It reads version 2, too, which has members
/// of the kind `rules` alone.
inline constexpr int model_version = 3;

/// One file: the line `rulerank-model VERSION SHA256` (of all that follows the line), a line of
/// JSON (cuts, the columns of training documents, members that refer to these by index, and
/// `model::columns` where it is known), then
/// little-endian binary: of each set of training documents the bin codes column by column, one byte
/// each, without padding, and the labels, four bytes each. Equal cuts and documents stand once.
/// Throws `usage_error` for a model without members or with one that has no cuts.
std::string to_bytes(model const& m);
/// Throws `error` naming `name` for a file that is not a model, is damaged or cut short, is of
/// another version, or holds what no model has.
model model_from_bytes(std::string_view bytes, std::string const& name);

/// Appears whole or not at all; throws `output_error`.
void write_model(model const& m, std::string const& path);
/// Throws `error` as `model_from_bytes` does, and for a file that cannot be read.
model read_model(std::string const& path);

}  // namespace rulerank::l2r
