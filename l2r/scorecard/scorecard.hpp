#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// A score that is a sum of points, one number per item (docs/reference/components.md).
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::l2r {

/// The loss that the points minimize on the training documents. With s the scores and y the labels:
/// - pair: the mean over queries of the sum over pairs with y_i > y_j of w_ij log(1 + exp(s_j -
///   s_i)), w_ij = (2^y_i - 2^y_j) over the query's sum of these; all queries count, those without
///   a pair with 0 (RankNet of Burges et al., Learning to rank using gradient descent, ICML 2005,
///   with weights).
/// - list: the mean over queries of -sum_i t_i log softmax(s)_i, t_i = (2^y_i - 1) over the query's
///   sum of these (ListNet, Cao et al., Learning to rank: from pairwise approach to listwise
///   approach, ICML 2007). A query counts where it has a label above 0.
/// - point: the mean over documents of (s - (y - mean y))^2 / (variance of y): least squares.
enum class card_loss { pair, list, point };

/// The command-line keywords; card_loss_from throws `usage_error`.
std::string_view name_of(card_loss);
card_loss card_loss_from(std::string_view);

/// The target values of a card on one page.
/// - labels: the training documents' labels.
/// - members: grades from 0 to 4 for all documents of the pool, made from the scores of the
/// recommended
///   members (recommend) fitted to the labels. Grades of all documents reduce the variance of a
///   card fitted to few labels (Bucila, Caruana and Niculescu-Mizil, Model compression, KDD 2006).
///   Both penalties are divided by 100, because grades have little noise.
/// - automatic: `members` for fewer than `few_labels_for_card` labels, else `labels`.
enum class card_target { automatic, labels, members };
inline constexpr std::size_t few_labels_for_card = 2000;

/// The command-line keywords, `auto` for automatic; card_target_from throws `usage_error`.
std::string_view name_of(card_target);
card_target card_target_from(std::string_view);

/// Whether a feature's points rise or fall over its bins of values. `either`: as the training
/// documents suggest. `free`: not monotone.
enum class card_direction { either, rising, falling, free };

/// The keywords in files; card_direction_from throws `usage_error`.
std::string_view name_of(card_direction);
card_direction card_direction_from(std::string_view);

/// A person's specification of a feature on a card.
struct card_feature {
  std::uint32_t feature = 0;
  card_direction direction = card_direction::either;
  /// Between its bins, ascending. Empty: chosen from the training documents.
  std::vector<double> cuts{};
  /// The points of each bin, the bin of missing values last; empty entries are fitted. Empty
  /// without cuts.
  std::vector<std::optional<int>> points{};
  std::size_t line = 0;  ///< of the text that names it; 0: none
};

/// A card on one page: at most max_features features, chosen greedily by gain. A feature's points
/// rise or fall over its bins, in the direction that the documents suggest; the bin of missing
/// values is free. Points are integers. Bins with equal points are merged.
struct card_page {
  std::size_t max_features = 10;  ///< 1 to 1000
  int points = 100;               ///< largest points of an item, 1 to 10000; sums stay below 2^24
  /// With `scorecard_options::cross_fit`: the labels also choose between `pair` and `point`.
  bool choose_loss = false;
  card_target target = card_target::labels;
  /// Features with a given direction and possibly given cuts and points.
  std::vector<card_feature> features{};
  /// The card has exactly these features. Otherwise only their directions are used.
  bool only_these = false;
};

/// Makes a page with exactly these features: sets max_features to their number, and `points` large
/// enough for the given points.
void set_features(card_page& page, std::vector<card_feature> features);

/// The cross-fitted quality of the best card of a size. The quality of a query is its NDCG for
/// `pair` and `list`, in expectation over the orders of tied scores, and minus the sum of squared
/// errors for `point`.
struct card_trial {
  std::size_t features = 0;  ///< maximum number
  double smoothness = 0;
  double quality = 0;  ///< mean over the queries; larger is better
  double behind = 0;   ///< mean over the queries of the difference to the largest card
  double error = 0;    ///< standard error of `behind`
};

/// The training documents of a card on one page within a range of totals.
struct card_total {
  std::int64_t from = 0;  ///< integer points; the range ends below the next larger `from` in a list
  std::uint32_t documents = 0;  ///< with totals in the range
  double mean_label = 0;        ///< of these documents
};

/// Reads a card from text (docs/guides/edit-card.md). A line has a direction and a feature, by
/// number or by its name in `names`. Lines for the feature's bins may follow: the bin's least value
/// (`least` for the first bin, `missing` for missing values) and its points or `?`. Throws `error`
/// with `name`, line and column for invalid text.
std::vector<card_feature> card_from_text(std::string_view text, std::string const& name,
                                         datasets::feature_names const& names);
/// As above, for text without bins.
std::vector<card_feature> card_directions_from_text(std::string_view text, std::string const& name,
                                                    datasets::feature_names const& names);

/// The points p of a card minimize the loss, plus `points_penalty` times the sum of p^2, plus
/// `smoothness` times the sum over neighbouring bins of a feature of the squared difference of
/// their points. The item of missing values has no neighbour.
struct scorecard_options {
  card_loss loss = card_loss::pair;
  double points_penalty = 1e-4;  ///< lambda, 1e-9 to 1e4
  double smoothness = 0.1;       ///< mu, 0 to 1e4
  /// Choose both from the training documents instead (choose_penalties).
  bool cross_fit = false;
  std::size_t folds = 5;            ///< of the cross-fitting, 2 to 1000
  std::optional<card_page> page{};  ///< none: all features, points of any size
};

/// Throws `usage_error` for invalid options.
void check(scorecard_options const& options);

/// Integer points of the items of some features, in units of 2^-card_bits.
struct scorecard {
  std::vector<std::uint32_t> features;    ///< [F] ascending
  std::vector<std::uint32_t> item_begin;  ///< [F + 1] as in a binned_dataset
  std::vector<std::int64_t> points;       ///< [items]
};

inline constexpr int card_bits = 32;

/// The text that `card_from_text` reads, without `?`; `cuts`: those of the card. Points are rounded
/// to integers. A feature written by number gets its name in `names` as a comment.
std::string to_text(scorecard const& card, datasets::discretizer const& cuts,
                    datasets::feature_names const& names = {});

/// Converts a sum of points to a double.
double value_of_points(std::int64_t points);

/// Labelled documents as items; `queries` cover them.
struct scorecard_training {
  std::span<datasets::query_group const> queries;
  datasets::binned_dataset const& documents;
};

/// Chooses the penalties by cross-fitting if `cross_fit` is set, and returns the options with them
/// and `cross_fit` false; else returns the options unchanged. The context's seed deals the queries
/// into folds; with fewer queries than folds, each query is a fold. Candidates are points_penalty
/// 1e-4, 1e-3, 1e-2, 1e-1, each with smoothness 0.01, 0.1, 1, 10; the first with the smallest
/// held-out loss wins. The loss is, for `pair` and `list`, the mean over the queries that the loss
/// counts; for `point`, the sum of squared errors, centred on the mean label of the other folds.
/// With one query: the defaults. Throws as `fit_scorecard` does.
scorecard_options choose_penalties(context const& ctx, scorecard_training const& training,
                                   scorecard_options const& options);

/// Fits the points until the gradient is below 1e-9 (`pair` and `list` by Newton's method with
/// conjugate gradients, `point` by Cholesky's), then rounds each once. With `cross_fit`, chooses
/// the penalties first. Sums run in a fixed order: the same bits for any number of threads. Ignores
/// `options.page`, because a card on one page has fewer cuts: `fit` makes it. All points are 0 if
/// there is nothing to learn (no query has a pair, a label above 0, or documents of different
/// labels). Throws `usage_error` for invalid options, for training documents without a label or
/// without items, and for too large a problem: 2^31 pairs, or with `point` 2^14 items.
scorecard fit_scorecard(context const& ctx, scorecard_training const& training,
                        scorecard_options const& options);

/// The scores [documents]: the sum of the points of a document's items, as a double. Matches
/// features by number and ignores those that only one side has. Throws `usage_error` if a feature's
/// bins differ.
std::vector<double> score(context const& ctx, scorecard const& by,
                          datasets::binned_dataset const& documents);

}  // namespace rulerank::l2r
