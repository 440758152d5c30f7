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

// What `inspect` and `explain` say of a model, as blocks for people and as JSON for programs.
//
// Threads: functions may be called from any number of threads at once.
namespace rulerank::inline v0::report {

/// What the rules, points or weights of a member are written with.
struct member_words {
  std::string_view kind;  ///< of the member: rules, scorecard, card, linear or joint
  std::vector<datasets::item_range> ranges;  ///< [items]; empty for weights of raw features
  datasets::normalization norm = datasets::normalization::none;
  datasets::feature_names const& names;
  l2r::scorecard_member const* card = nullptr;  ///< of a card; else null
  datasets::unlisted_values unlisted = datasets::unlisted_values::zero;
};
/// `names`: other names than those of the member's own training documents; empty: these. The result
/// refers to the member and to `names`.
member_words words_of(l2r::model_member const& member, std::vector<datasets::item_range> ranges,
                      datasets::feature_names const& names);

/// A document of a query.
struct query_document {
  datasets::dataset const& query;  ///< a data set of this query alone
  std::size_t d = 0;
};

/// One document, at most `top` of its items; `words` of each member. With several members: how
/// their parts make the score, the effects of features, then each member's own explanation.
blocks explanation(query_document const& document, l2r::model_explanation const& why,
                   l2r::score_effects const& effects, std::span<member_words const> words,
                   std::size_t top);
blocks explanation(query_document const& first, query_document const& second,
                   l2r::model_comparison const& why, l2r::score_effects const& of_first,
                   l2r::score_effects const& of_second, std::span<member_words const> words,
                   std::size_t top);

/// The same for programs: whole numbers of any size as strings of digits, doubles beside them.
nlohmann::ordered_json explanation_json(query_document const& document,
                                        l2r::model_explanation const& why,
                                        std::span<member_words const> words);
nlohmann::ordered_json explanation_json(query_document const& first, query_document const& second,
                                        l2r::model_comparison const& why,
                                        std::span<member_words const> words);

/// A document's score by features, in the score's unit: one line a feature with what it adds, by
/// all members together and by each. The `top` features that add most, up or down; one line has the
/// sum of the others. The lines as shown add up to the score as shown.
blocks effects(query_document const& document, l2r::score_effects const& of,
               std::span<member_words const> words, std::size_t top);
/// The difference of two documents of a query, likewise.
blocks effects(query_document const& first, query_document const& second,
               l2r::score_effects const& of_first, l2r::score_effects const& of_second,
               std::span<member_words const> words, std::size_t top);
/// All documents of a query [documents], the first of the ranking first: one line a document, with
/// the `top` features that move the scores most as columns.
blocks effects(datasets::dataset const& query, std::span<l2r::score_effects const> all,
               std::span<member_words const> words, std::size_t top);

/// The effects for programs, with every feature and all digits.
nlohmann::ordered_json effects_json(query_document const& document, l2r::score_effects const& of,
                                    std::span<member_words const> words);
nlohmann::ordered_json effects_json(query_document const& first, query_document const& second,
                                    l2r::score_effects const& of_first,
                                    l2r::score_effects const& of_second,
                                    std::span<member_words const> words);
nlohmann::ordered_json effects_json(datasets::dataset const& query,
                                    std::span<l2r::score_effects const> all,
                                    std::span<member_words const> words);

/// A member, and what was found of it: by its kind one of the three; `linear` of joint members,
/// too.
struct inspected_member {
  l2r::model_member const& member;
  member_words words;
  l2r::rules_inspection rules;
  l2r::card_inspection card;
  std::vector<l2r::feature_part> linear;
  std::vector<l2r::points_interval> intervals{};  ///< [items] of a card's points; may be empty
};
/// Inspects a member; `names` as those of `words_of`. The result refers to both.
inspected_member inspected(context const& ctx, l2r::model_member const& member,
                           datasets::feature_names const& names,
                           l2r::inspection_options const& options);

/// What features move in a file's scores, and how its ranking suffers under shuffled ones.
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
  std::string sha256;  ///< of the file
  std::vector<inspected_member> members;
  std::optional<inspected_file> file;
};

/// At most `top` rules and features of each member.
blocks inspection(inspected_model const& of, std::size_t top);
nlohmann::ordered_json inspection_json(inspected_model const& of);

enum class card_form { html, latex, pdf };
/// The card as a page to print: HTML that asks for nothing else, a `table` of LaTeX that needs the
/// package booktabs, or PDF. Throws `usage_error` for a model that is no card alone.
std::string card_page(inspected_model const& of, card_form form);

}  // namespace rulerank::report
