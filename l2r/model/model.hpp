#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/linear/linear.hpp"
#include "l2r/rules/options.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// A fitted model: one or more members, saved and loaded as one file.
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::l2r {

/// Ranks by the association rules of training documents (class ranker). No pointer is null, except
/// `cuts` if documents are given as items (binned_lists). Members may share cuts and documents:
/// these are then stored, and cuts applied, once.
struct rules_member {
  std::shared_ptr<datasets::discretizer const> cuts;
  std::shared_ptr<datasets::binned_dataset const> training;
  scoring_options scoring;
};

/// Ranks by a sum of points, one number per item. `cuts` is null if documents are given as items. A
/// card is a scorecard with `options.page`.
struct scorecard_member {
  std::shared_ptr<datasets::discretizer const> cuts;
  scorecard_options options;  ///< used for the fit
  scorecard card;
  /// The number of folds if cross-fitting chose the penalties, or judged the frontier of a card
  /// fitted to grades; else 0.
  std::size_t cross_fitted_folds = 0;
  /// The number of training documents, and how many have each item [items]; 0 and empty if the
  /// model file does not store them.
  std::uint32_t training_documents = 0;
  std::vector<std::uint32_t> item_documents;
  /// For a card on one page: the best card of each size tried, smallest first. Empty if sizes were
  /// not tried.
  std::vector<card_trial> frontier{};
  /// The loss whose quality the frontier has; for grades it may differ from that of `options`.
  card_loss frontier_loss = card_loss::pair;
  /// For a card on one page: the totals of its training documents, ascending. Empty if the model
  /// file does not store them.
  std::vector<card_total> totals{};
};

/// Ranks by a weighted sum of raw features, each standardized within its query. Cannot score
/// documents given as items.
struct linear_member {
  linear_weights weights;
};

/// How a `joint_member` is fitted (docs/reference/components.md).
struct joint_options {
  std::size_t max_pairs = 24;  ///< maximum number of feature pairs with a table, 0 to 1000
  std::size_t folds = 5;       ///< of cross-fitting, 2 to 1000
};

/// Throws `usage_error` for invalid options.
void check(joint_options const& options);

/// Factors of the sums of squares of the weights, of the points, of the differences between
/// neighbouring bins' points, and of the tables' points.
struct joint_penalties {
  double weights = 0.1;
  double points = 0.1;
  double smoothness = 1;
  double tables = 0.3;
};

/// Points for two features together, by groups of neighbouring bins.
struct joint_pair {
  std::size_t first = 0, second = 0;  ///< indices into the member's features, ascending
  std::vector<std::int64_t> points;   ///< [groups of first x groups of second]
};

/// Ranks by a sum of curves and tables. A curve, one per feature, is a weight times the z-score
/// within the query (0 if missing) plus the points of the value's bin. A table belongs to a pair of
/// features. Weights and points are integers in units of 2^-joint_bits. Cannot score documents
/// given as items.
struct joint_member {
  std::shared_ptr<datasets::discretizer const> cuts;  ///< not null
  joint_options options;                              ///< used for the fit
  joint_penalties penalties;                          ///< chosen by the fit
  /// pair: the weighted pair loss; point: squared error, used if few documents are compared.
  card_loss loss = card_loss::pair;
  std::vector<std::uint32_t> features;    ///< [F] ascending
  std::vector<std::uint32_t> item_begin;  ///< [F + 1] as in a binned_dataset
  std::vector<std::int64_t> weights;      ///< [F]
  std::vector<std::int64_t> points;       ///< [items]
  std::vector<joint_pair> pairs;          ///< by decreasing gain
  std::uint32_t training_documents = 0;
  /// Mean absolute contribution over the training documents: of each feature, then of each pair.
  std::vector<std::int64_t> moved;
};

inline constexpr int joint_bits = 32;

/// A member of a model (in the documentation also: component): one ranker, of one of these kinds.
using model_member = std::variant<rules_member, scorecard_member, linear_member, joint_member>;

/// The names of the member kinds, in the order of `model_member` and `recipe`: rules, scorecard,
/// linear, joint.
std::span<std::string_view const> member_kind_names();
/// The name shown for a member: its kind, but `card` for a scorecard on one page, which model files
/// store as `scorecard`.
std::string_view kind_of(model_member const& of);

/// The cuts of a member; null for `linear`, and if documents are given as items.
std::shared_ptr<datasets::discretizer const> const& cuts_of(model_member const& of);

/// The unit of a feature's values, such as `EUR`, and where the values are computed. Both are UTF-8
/// without control characters, and may be empty.
struct feature_description {
  std::string unit;
  std::string origin;
};
/// By the features' numbers.
using feature_descriptions = std::map<std::uint32_t, feature_description>;

/// Empty texts for a feature that `in` lacks.
feature_description const& description_of(std::uint32_t feature, feature_descriptions const& in);

/// Reads a feature table (docs/reference/verbs/fit.md): cells separated by tabs, first the titles
/// `feature`, `unit` and `origin`, then a line for each feature, by its name in `names` or, without
/// names, by its number, up to the last of `listed` (datasets::listed_features). Throws `error`
/// with `name`, line and column for invalid text, another feature, and a feature that occurs twice.
feature_descriptions feature_descriptions_from_text(std::string_view text, std::string const& name,
                                                    datasets::feature_names const& names,
                                                    std::span<std::uint32_t const> listed);

/// A complete ranking model. A document's score is that of the only member or, with several, the
/// mean of the members' scores, each standardized within the query's list (0 if all are equal).
struct model {
  std::vector<model_member> members;  ///< one or more
  /// Width of the feature arrays used for the fit, if known and larger than the last listed
  /// feature's number: the features beyond it occur in no document. Otherwise 0.
  std::uint32_t columns = 0;
  /// Units and origins of features, as far as a person described them.
  feature_descriptions descriptions{};
  /// Features that the model reads and whose values looked normalized within their query already in
  /// the training documents, ascending; empty if the model itself is not portable.
  std::vector<std::uint32_t> list_normalized{};
};

/// The names of a model's features; empty if they have numbers. All members were fitted to the same
/// documents.
datasets::feature_names const& names_of(model const& of);

/// How to fit a `rules_member`.
struct rules_recipe {
  datasets::discretizer_options discretizer;
  /// If not null, these cuts are used and `discretizer` is ignored.
  std::shared_ptr<datasets::discretizer const> cuts;
  scoring_options scoring;
};

/// How to fit a `scorecard_member`.
struct scorecard_recipe {
  datasets::discretizer_options discretizer;
  /// If not null, these cuts are used and `discretizer` is ignored.
  std::shared_ptr<datasets::discretizer const> cuts;
  scorecard_options options;
};

/// A card on one page: bins of its own; loss, smoothness and size chosen by cross-fitting.
scorecard_recipe card_recipe();

/// How to fit a `linear_member`.
struct linear_recipe {
  linear_options options;
};

/// How to fit a `joint_member`.
struct joint_recipe {
  datasets::discretizer_options discretizer{datasets::binning::frequency, 20};
  /// If not null, these cuts are used and `discretizer` is ignored.
  std::shared_ptr<datasets::discretizer const> cuts;
  joint_options options;
};

/// How to fit a member.
using recipe = std::variant<rules_recipe, scorecard_recipe, linear_recipe, joint_recipe>;

/// Whether a document's score depends on the document's own values alone. Otherwise it depends on
/// the other documents of its query's list, too: scores of a part of the list differ.
struct portability {
  /// Values that a file has normalized within queries count as a document's own.
  bool portable = true;
  /// The number of features of a portable model that looked normalized within their query in the
  /// training documents: if they are, scores depend on the list through their values.
  std::size_t normalized_features = 0;
  /// The share of the pairs of documents ordered by the model that change their order if each half
  /// of a list is scored alone. Empty: not measured.
  std::optional<double> changed_in_halves{};
  /// For a message: "portable: ...", "portable only where ..." or "not portable: ...".
  std::string words{};
};

portability portability_of(model const& of);
/// The portability of the models that recipes fit to these training documents. Without recipes:
/// portable.
portability portability_of(std::span<recipe const> recipes, datasets::dataset const& training);
/// As portability_of, with `changed_in_halves` if the model is not portable. The halves are random
/// by the context's seed. Uses lists chosen at random until they have 2,000 documents, and at most
/// 1,000 documents of a half for pairs: time is that of scoring twice 2,000 documents, or the
/// longest list.
portability measured_portability(context const& ctx, model const& of,
                                 datasets::dataset const& documents);
/// portability_of(...).portable.
bool is_portable(model const& of);
bool is_portable(std::span<recipe const> recipes);
/// The features of a portable model whose values look normalized within their query in the training
/// documents, ascending: `model::list_normalized`.
std::vector<std::uint32_t> list_normalized_features(model const& of,
                                                    datasets::dataset const& training);

/// Fits one member per recipe, in the order of the recipes, to the training documents that have a
/// label. Recipes share equal cuts and items. Documents without a label (`unlabelled`) are used
/// where no label is needed: to fit cuts and to normalize values within queries. Throws `error`
/// naming the documents if none has a label or no feature has two bins, `usage_error` for no
/// recipes and for invalid options.
model fit(context const& ctx, datasets::dataset const& train, std::span<recipe const> recipes);

/// The model file version that this program writes. It also reads version 2, which has only members
/// of kind `rules`.
inline constexpr int model_version = 3;

/// Serializes a model. Format: the line `rulerank-model VERSION SHA256` (of everything after that
/// line); a line of JSON (cuts, the columns of the training documents, members that refer to these
/// by index, `model::columns` if known, and descriptions and list-normalized features if any); then
/// little-endian binary: for each set of training documents the bin codes column by column, one
/// byte each, unpadded, and the labels, four bytes each. Equal cuts and documents are stored once.
/// Throws `usage_error` for a model without members or with a member without cuts.
std::string to_bytes(model const& m);
/// Throws `error` naming `name` if the bytes are not a model, are damaged or truncated, have
/// another version, or hold invalid values.
model model_from_bytes(std::string_view bytes, std::string const& name);

/// Writes the file atomically; throws `output_error`.
void write_model(model const& m, std::string const& path);
/// Throws `error` as `model_from_bytes` does, and if the file cannot be read.
model read_model(std::string const& path);

}  // namespace rulerank::l2r
