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

// A score that is a sum of points, a number an item (docs/reference/components.md).
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::l2r {

/// What the points of the training documents are to be like. With s the scores and y the labels,
/// - pair: the mean over queries of the sum over pairs with y_i > y_j of w_ij log(1 + exp(s_j -
///   s_i)), w_ij = (2^y_i - 2^y_j) over the query's sum of these; all queries count, those without
///   a pair with 0 (RankNet of Burges et al., Learning to rank using gradient descent, ICML 2005,
///   with weights).
/// - list: the mean over queries of -sum_i t_i log softmax(s)_i, t_i = (2^y_i - 1) over the query's
///   sum of these (ListNet, Cao et al., Learning to rank: from pairwise approach to listwise
///   approach, ICML 2007). A query counts where it has a label above 0.
/// - point: the mean over documents of (s - (y - mean y))^2 / (variance of y): least squares.
enum class card_loss { pair, list, point };

/// The words of the command line; card_loss_from throws `usage_error`.
std::string_view name_of(card_loss);
card_loss card_loss_from(std::string_view);

/// The values that the points of a card on one page are fitted to.
/// - labels: those of the training documents.
/// - members: grades from 0 to 4, by the scores that the recommended members (recommend), fitted to
///   the labels, give to all documents of the pool. Few labels leave the points of a card to
///   chance; more members, and the pool, take some of it away (Bucila, Caruana and Niculescu-Mizil,
///   Model compression, KDD 2006). Both penalties count a hundredth: grades hold no chance.
/// - automatic: `members` for fewer than `few_labels_for_card` labels, else `labels`.
enum class card_target { automatic, labels, members };
inline constexpr std::size_t few_labels_for_card = 2000;

/// The words of the command line, `auto` for automatic; card_target_from throws `usage_error`.
std::string_view name_of(card_target);
card_target card_target_from(std::string_view);

/// Whether the points of a feature rise or fall over its bins of values. `either`: as its documents
/// say. `free`: each bin has points of its own.
enum class card_direction { either, rising, falling, free };

/// The words of files; card_direction_from throws `usage_error`.
std::string_view name_of(card_direction);
card_direction card_direction_from(std::string_view);

/// What a person says of a feature of a card.
struct card_feature {
  std::uint32_t feature = 0;
  card_direction direction = card_direction::either;
  /// Of its bins, ascending. None: those of the training documents.
  std::vector<double> cuts{};
  /// The points of each bin, those of missing values last; what has none is fitted. None where
  /// there are no cuts.
  std::vector<std::optional<int>> points{};
  std::size_t line = 0;  ///< of the text that names it; 0: none does
};

/// A card on one page: at most so many features, chosen one by one by what they gain; the points of
/// each rise or fall over its bins, which its documents decide (the bin of missing values is free);
/// points are whole numbers. Bins with the same points are one.
struct card_page {
  std::size_t max_features = 10;  ///< 1 to 1000
  int points = 100;               ///< the largest of an item, 1 to 10000; sums stay below 2^24
  /// Beside `scorecard_options::cross_fit`: the labels choose `pair` or `point`, too.
  bool choose_loss = false;
  card_target target = card_target::labels;
  /// Features whose direction, or more, is given.
  std::vector<card_feature> features{};
  /// The card has these features and no other. Otherwise their directions alone count.
  bool only_these = false;
};

/// Makes a page that of these features and no others. It gets as many features, and room for the
/// points that they give.
void set_features(card_page& page, std::vector<card_feature> features);

/// How good the best card of a size is on queries that it was not fitted to (cross-fitting). The
/// quality of a query is its NDCG where the loss is `pair` or `list`, with the expectation over the
/// orders of equal scores, and minus the sum of squared errors where it is `point`.
struct card_trial {
  std::size_t features = 0;  ///< at most
  double smoothness = 0;
  double quality = 0;  ///< mean over the queries; larger is better
  double behind = 0;   ///< mean over the queries of the difference to the largest card
  double error = 0;    ///< standard error of `behind`
};

/// Training documents of a card on one page, by their totals.
struct card_total {
  std::int64_t from = 0;        ///< whole points; up to the next larger total of a list
  std::uint32_t documents = 0;  ///< with such totals
  double mean_label = 0;        ///< theirs
};

/// Reads a card as text (docs/guides/edit-card.md). A line is a direction and a feature, its number
/// or one of `names`. Lines of the feature's bins may follow: the bin's least value (`least` for
/// the first bin, `missing` for missing values) and its points, or `?`. Throws `error` with `name`,
/// line and column for what does not fit.
std::vector<card_feature> card_from_text(std::string_view text, std::string const& name,
                                         datasets::feature_names const& names);
/// The same without bins.
std::vector<card_feature> card_directions_from_text(std::string_view text, std::string const& name,
                                                    datasets::feature_names const& names);

/// The points p of a card have the smallest sum of the loss, `points_penalty` times the sum of all
/// p^2, and `smoothness` times the sum over neighbouring bins of a feature of the squared
/// difference of their points. The item of missing values has no neighbour.
struct scorecard_options {
  card_loss loss = card_loss::pair;
  double points_penalty = 1e-4;  ///< lambda, 1e-9 to 1e4
  double smoothness = 0.1;       ///< mu, 0 to 1e4
  /// Both are chosen by the training documents (choose_penalties) instead.
  bool cross_fit = false;
  std::size_t folds = 5;            ///< of that, 2 to 1000
  std::optional<card_page> page{};  ///< none: all features, points of any size
};

/// Throws `usage_error` for what makes no sense.
void check(scorecard_options const& options);

/// Points of the items of some features: whole numbers, in units of 2^-card_bits.
struct scorecard {
  std::vector<std::uint32_t> features;    ///< [F] ascending
  std::vector<std::uint32_t> item_begin;  ///< [F + 1] as in a binned_dataset
  std::vector<std::int64_t> points;       ///< [items]
};

inline constexpr int card_bits = 32;

/// What `card_from_text` reads, without `?`; `cuts` are those of the card. Points are rounded to
/// whole ones. A feature with a number has its name in `names` as a comment.
std::string to_text(scorecard const& card, datasets::discretizer const& cuts,
                    datasets::feature_names const& names = {});

/// The number that a sum of points stands for.
double value_of_points(std::int64_t points);

/// Labelled documents as items, which `queries` cover.
struct scorecard_training {
  std::span<datasets::query_group const> queries;
  datasets::binned_dataset const& documents;
};

/// The options with penalties that are chosen by cross-fitting, and `cross_fit` false; without
/// `cross_fit` as they are. The context's seed deals the queries into folds, fewer queries make a
/// fold each, and the documents of each fold are judged by points that the others give. Of
/// points_penalty 1e-4, 1e-3, 1e-2, 1e-1, each with smoothness 0.01, 0.1, 1, 10, the first with the
/// smallest held-out loss: of `pair` and `list` the mean over the queries that the loss counts, of
/// `point` the sum of squared errors, the mean label that of the others. One query: the defaults.
/// Throws as `fit_scorecard` does.
scorecard_options choose_penalties(context const& ctx, scorecard_training const& training,
                                   scorecard_options const& options);

/// Fits the points, with `cross_fit` by the penalties that are chosen, to a gradient of 1e-9
/// (`pair` and `list` by Newton's method with conjugate gradients, `point` by Cholesky's), then
/// rounds each once. All sums run in a fixed order: the same bits for any number of threads.
/// `options.page` is not looked at: `fit` makes a card on one page, whose cuts are fewer than those
/// given. Where nothing is to be learned (no query has a pair, a label
/// above 0, or documents of different labels), all points are 0. Throws `usage_error` for options
/// that make no sense, training documents without a label or without items, and for a problem
/// beyond reason: 2^31 pairs, or with `point` 2^14 items.
scorecard fit_scorecard(context const& ctx, scorecard_training const& training,
                        scorecard_options const& options);

/// The scores [documents]: of each the sum of the points of its items, as a number. Features are
/// matched by number; those that only one side has are left out. Throws `usage_error` where a
/// feature's bins differ.
std::vector<double> score(context const& ctx, scorecard const& by,
                          datasets::binned_dataset const& documents);

}  // namespace rulerank::l2r
