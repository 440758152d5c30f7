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

// What model files and scorers need to know of a kind of member. A new kind: a type among those of
// `model_member` and `recipe`, a file with its entry, and the entry in member_kind.cpp.
namespace rulerank::inline v0::l2r {

using cuts_pointer = std::shared_ptr<datasets::discretizer const>;
using items_pointer = std::shared_ptr<datasets::binned_dataset const>;

/// What members of a model file refer to by index.
struct stored_parts {
  std::vector<cuts_pointer> cuts;
  std::vector<items_pointer> training;

  /// The index of something equal, added where there is none.
  std::size_t index_of(cuts_pointer const& of);
  std::size_t index_of(items_pointer const& of);
};

/// The features of cuts and where the items of each begin, without points.
scorecard columns_of(datasets::discretizer const& cuts);

bool same_options(datasets::discretizer_options const& a, datasets::discretizer_options const& b);
bool same_cuts(cuts_pointer const& a, cuts_pointer const& b);
bool same_items(items_pointer const& a, items_pointer const& b);

/// `count` integers of a list at `place`.
std::vector<std::int64_t> read_integers(json_fields const& from, std::string const& place,
                                        nlohmann::ordered_json const& list, std::size_t count,
                                        std::int64_t least, std::int64_t most);
/// Of each feature a list of integers, one an item.
std::vector<std::int64_t> read_by_feature(json_fields const& from, std::string_view key,
                                          std::span<std::uint32_t const> item_begin,
                                          std::int64_t least, std::int64_t most);

/// A member made ready to score. `score` may be called from several threads at once.
class prepared_member {
 public:
  virtual ~prepared_member() = default;
  /// Of documents as items, or of kinds that need them (member_kind::raw) of raw documents: one of
  /// the two is there.
  virtual scored score(context const& ctx, datasets::binned_dataset const& items) const;
  virtual scored score(context const& ctx, datasets::dataset const& documents) const;
  /// What computes the score; null for kinds that are no rules.
  virtual ranker const* rules() const { return nullptr; }
};

class scorer;
/// For this module's own code.
struct scorer_access {
  /// Member k made ready.
  static prepared_member const& prepared(scorer const& of, std::size_t k);
};

/// Labelled documents as items, and how they became so.
struct fitted_items {
  datasets::discretizer_options options;  ///< of cuts that were fitted
  bool given = false;                     ///< the cuts were
  cuts_pointer cuts;
  items_pointer items;
};

/// What the members of one fit have in common.
struct fitting {
  datasets::dataset const& train;
  std::vector<std::size_t> labelled;         ///< documents that have a label, ascending
  std::vector<datasets::query_group> lists;  ///< these by query
  std::vector<fitted_items> made;
};

/// The labelled documents as the items that these options or cuts make, which another recipe may
/// have asked for already. Cuts are fitted on all training documents, and values normalized within
/// all of their query. Throws `error` naming the documents where no feature has two bins.
fitted_items const& items_of(context const& ctx, fitting& from,
                             datasets::discretizer_options const& discretizer,
                             cuts_pointer const& cuts);

struct member_kind {
  std::string_view name;  ///< in model files
  bool raw;               ///< scores raw documents; otherwise items
  /// By which documents become items; null where they are given as items, and for raw documents.
  cuts_pointer const& (*cuts)(model_member const& of);
  model_member (*fit)(context const& ctx, fitting& from, recipe const& how);
  nlohmann::ordered_json (*write)(model_member const& of, stored_parts& parts);
  model_member (*read)(json_fields const& from, stored_parts const& parts);
  std::unique_ptr<prepared_member> (*prepare)(context const& ctx, model_member const& of,
                                              engine_options const& how);
};

/// In the order of the types of `model_member` and of `recipe`.
std::span<member_kind const> member_kinds();

extern member_kind const rules_kind;      // rules_member.cpp
extern member_kind const scorecard_kind;  // scorecard_member.cpp
extern member_kind const linear_kind;     // linear_member.cpp
extern member_kind const joint_kind;      // joint_member.cpp

}  // namespace rulerank::l2r
