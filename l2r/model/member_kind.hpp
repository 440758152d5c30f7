#pragma once

#include "l2r/model/json_fields.hpp"
#include "l2r/model/model.hpp"
#include "l2r/rules/ranker.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The interface of a member kind towards model files and scorers. To add a kind: a type in
// `model_member` and in `recipe`, a file that defines its entry, and the entry in member_kind.cpp.
namespace rulerank::inline v0::l2r {

using cuts_pointer = std::shared_ptr<datasets::discretizer const>;
using items_pointer = std::shared_ptr<datasets::binned_dataset const>;

/// Cuts and items that the members of a model file refer to by index.
struct stored_parts {
  std::vector<cuts_pointer> cuts;
  std::vector<items_pointer> training;

  /// The index of an equal entry, which is added if there is none.
  std::size_t index_of(cuts_pointer const& of);
  std::size_t index_of(items_pointer const& of);
};

/// A scorecard without points: the features of the cuts and where the items of each begin.
scorecard columns_of(datasets::discretizer const& cuts);

bool same_options(datasets::discretizer_options const& a, datasets::discretizer_options const& b);
bool same_cuts(cuts_pointer const& a, cuts_pointer const& b);
bool same_items(items_pointer const& a, items_pointer const& b);

/// Reads `count` integers from a list at `place`.
std::vector<std::int64_t> read_integers(json_fields const& from, std::string const& place,
                                        nlohmann::ordered_json const& list, std::size_t count,
                                        std::int64_t least, std::int64_t most);
/// Reads a list of integers per feature, one integer per item.
std::vector<std::int64_t> read_by_feature(json_fields const& from, std::string_view key,
                                          std::span<std::uint32_t const> item_begin,
                                          std::int64_t least, std::int64_t most);

/// A member prepared for scoring. `score` may be called from several threads at once.
class prepared_member {
 public:
  virtual ~prepared_member() = default;
  /// Scores documents given as items or, for kinds with member_kind::raw, raw documents. A kind
  /// implements one of the two.
  virtual scored score(context const& ctx, datasets::binned_dataset const& items) const;
  virtual scored score(context const& ctx, datasets::dataset const& documents) const;
  /// The ranker behind the score; null for kinds without rules.
  virtual ranker const* rules() const { return nullptr; }
};

/// Feature values that one thread scores in about two milliseconds, by points or weights.
inline constexpr std::size_t values_a_thread = 65'536;

class scorer;
/// Access for this module's own code.
struct scorer_access {
  /// Member k, prepared.
  static prepared_member const& prepared(scorer const& of, std::size_t k);
};

/// Labelled documents as items, and the cuts that made them.
struct fitted_items {
  datasets::discretizer_options options;  ///< of the cuts, if they were fitted
  bool given = false;                     ///< the cuts were given
  cuts_pointer cuts;
  items_pointer items;
};

/// State shared by the members of one fit.
struct fitting {
  datasets::dataset const& train;
  std::vector<std::size_t> labelled;         ///< indices of the documents with a label, ascending
  std::vector<datasets::query_group> lists;  ///< labelled documents by query
  std::vector<fitted_items> made;
};

/// The labelled documents as items made by these options or cuts; reused if another recipe asked
/// for the same. Cuts are fitted on all training documents, and values are normalized over all
/// documents of a query. Throws `error` naming the documents if no feature has two bins.
fitted_items const& items_of(context const& ctx, fitting& from,
                             datasets::discretizer_options const& discretizer,
                             cuts_pointer const& cuts);

struct member_kind {
  std::string_view name;  ///< name in model files
  bool raw;               ///< scores raw documents; otherwise items
  model_member (*fit)(context const& ctx, fitting& from, recipe const& how);
  nlohmann::ordered_json (*write)(model_member const& of, stored_parts& parts);
  model_member (*read)(json_fields const& from, stored_parts const& parts);
  std::unique_ptr<prepared_member> (*prepare)(context const& ctx, model_member const& of,
                                              engine_options const& how);
};

/// In the order of the types in `model_member` and `recipe`.
std::span<member_kind const> member_kinds();

extern member_kind const rules_kind;      // rules_member.cpp
extern member_kind const scorecard_kind;  // scorecard_member.cpp
extern member_kind const linear_kind;     // linear_member.cpp
extern member_kind const joint_kind;      // joint_member.cpp

}  // namespace rulerank::l2r
