#pragma once

#include "datasets/dataset.hpp"
#include "l2r/explain/explanation.hpp"
#include "l2r/explain/inspection.hpp"
#include "report/document.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// The output of `inspect` and `explain`: as blocks for people and as JSON for programs.
//
// Threads: functions may be called from any number of threads at once.
namespace rulerank::inline v0::report {

/// The names and units for a member's rules, points or weights.
struct member_words {
  std::string_view kind;  ///< of the member: rules, scorecard, card, linear or joint
  std::vector<datasets::item_range> ranges;  ///< [items]; empty for weights of raw features
  datasets::normalization norm = datasets::normalization::none;
  datasets::feature_names const& names;
  l2r::scorecard_member const* card = nullptr;  ///< for a card; else null
  datasets::unlisted_values unlisted = datasets::unlisted_values::zero;
  l2r::feature_descriptions const& descriptions;
  l2r::linear_scale scale = l2r::linear_scale::query;
};
/// Returns the words for member k. `names` replaces the names of the training documents; empty:
/// keeps those. The result keeps references to the model and to `names`.
member_words words_of(l2r::model const& model, std::size_t k,
                      std::vector<datasets::item_range> ranges,
                      datasets::feature_names const& names);

/// A document of a query.
struct query_document {
  datasets::dataset const& query;  ///< data set with only this query
  std::size_t d = 0;
};

/// The explanation of one document with at most `top` of its items; `words`: [members]. With
/// several members: their parts of the score, the effects of features, then each member's own
/// explanation, in the unit of the score. The numbers of a table sum to the number that they
/// explain. `effects`, `of_first`, `of_second`: of the same documents.
blocks explanation(query_document const& document, l2r::model_explanation const& why,
                   l2r::score_effects const& effects, std::span<member_words const> words,
                   std::size_t top);
blocks explanation(query_document const& first, query_document const& second,
                   l2r::model_comparison const& why, l2r::score_effects const& of_first,
                   l2r::score_effects const& of_second, std::span<member_words const> words,
                   std::size_t top);

/// As JSON: integers of any size are strings of digits, with doubles next to them.
nlohmann::ordered_json explanation_json(query_document const& document,
                                        l2r::model_explanation const& why,
                                        std::span<member_words const> words);
nlohmann::ordered_json explanation_json(query_document const& first, query_document const& second,
                                        l2r::model_comparison const& why,
                                        std::span<member_words const> words);

/// A document's score by features, in units of the score: one row per feature with its
/// contribution, in total and by member. Shows the `top` features with the largest absolute
/// contributions; one row sums the others. The displayed numbers sum to the displayed score.
blocks effects(query_document const& document, l2r::score_effects const& of,
               std::span<member_words const> words, std::size_t top);
/// As above, for the difference of two documents of a query.
blocks effects(query_document const& first, query_document const& second,
               l2r::score_effects const& of_first, l2r::score_effects const& of_second,
               std::span<member_words const> words, std::size_t top);
/// All documents of a query [documents] in ranking order, one row per document; columns are the
/// `top` features with the largest effect on the scores.
blocks effects(datasets::dataset const& query, std::span<l2r::score_effects const> all,
               std::span<member_words const> words, std::size_t top);

/// The effects as JSON, with every feature and all digits.
nlohmann::ordered_json effects_json(query_document const& document, l2r::score_effects const& of,
                                    std::span<member_words const> words);
nlohmann::ordered_json effects_json(query_document const& first, query_document const& second,
                                    l2r::score_effects const& of_first,
                                    l2r::score_effects const& of_second,
                                    std::span<member_words const> words);
nlohmann::ordered_json effects_json(datasets::dataset const& query,
                                    std::span<l2r::score_effects const> all,
                                    std::span<member_words const> words);

/// A member and its inspection, one of three by its kind; joint members also use `linear`.
struct inspected_member {
  l2r::model_member const& member;
  member_words words;
  l2r::rules_inspection rules;
  l2r::card_inspection card;
  std::vector<l2r::feature_part> linear;
  std::vector<l2r::points_interval> intervals{};  ///< [items] for a card's points; may be empty
};
/// Inspects member k; `names` as for `words_of`. The result keeps references to both.
inspected_member inspected(context const& ctx, l2r::model const& model, std::size_t k,
                           datasets::feature_names const& names,
                           l2r::inspection_options const& options);

/// The effects of features on a file's scores, and the loss under permuted features.
struct inspected_file {
  std::string path;
  l2r::combined_inspection combined;
  std::string profile;
  std::vector<eval::measure> measures;
  std::size_t draws = 0;
  l2r::permutation_importance found;
  datasets::feature_names const& names;
};

struct inspected_model {
  std::string path;
  std::uint64_t bytes = 0;
  std::string sha256;  ///< of the model file
  l2r::portability portability;
  std::vector<inspected_member> members;
  std::optional<inspected_file> file;
};

/// At most `top` rules and features per member.
blocks inspection(inspected_model const& of, std::size_t top);
nlohmann::ordered_json inspection_json(inspected_model const& of);

enum class card_form { html, latex, pdf };
/// A card as a page to print: self-contained HTML, a LaTeX `table` that needs the package booktabs,
/// or PDF. Throws `usage_error` unless the model is a single card.
std::string card_page(inspected_model const& of, card_form form);

}  // namespace rulerank::report
