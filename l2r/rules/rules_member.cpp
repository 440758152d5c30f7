#include "core/error.hpp"
#include "l2r/model/member_kind.hpp"
#include "l2r/model/options_json.hpp"
#include "l2r/rules/score_table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

// The member kind `rules`: rules of training documents, for any engine of this module.
namespace rulerank::inline v0::l2r {

namespace {

model_member fit_rules(context const& ctx, fitting& from, recipe const& how) {
  auto const& rules = std::get<rules_recipe>(how);
  check(rules.scoring);
  fitted_items const& made = items_of(ctx, from, rules.discretizer, rules.cuts);
  itemsets_a_document(rules.scoring, made.items->feature_count());  // throws if there are too many
  return rules_member{made.cuts, made.items, rules.scoring};
}

nlohmann::ordered_json write_rules(model_member const& of, stored_parts& parts) {
  auto const& rules = std::get<rules_member>(of);
  if (!rules.cuts || !rules.training)
    throw usage_error("a member without cuts or training documents cannot be saved");
  return {{"cuts", parts.index_of(rules.cuts)},
          {"training", parts.index_of(rules.training)},
          {"options", to_json(rules.scoring)}};
}

/// Throws `error` if the training documents do not match the cuts' items.
void expect_agreement(json_fields const& from, datasets::discretizer const& cuts,
                      datasets::binned_dataset const& training) {
  if (training.feature_count() == 0)
    from.fail("training",
              "found training documents without features, expected one feature or more");
  for (std::size_t f = 0; f < training.feature_count(); ++f) {
    std::uint32_t const feature = training.features[f];
    std::size_t const bins = training.bins(f) - (training.has_missing_item[f] ? 1 : 0);
    auto const at =
        std::ranges::lower_bound(cuts.features, feature, {}, &datasets::feature_cuts::feature);
    if (at == cuts.features.end() || at->feature != feature || at->cuts.size() + 1 != bins)
      from.fail(
          "cuts",
          fmt::format(
              "found cuts that do not make the {} that the training documents have of feature {}",
              counted(bins, "bin"), feature));
  }
}

model_member read_rules(json_fields const& from, stored_parts const& parts) {
  rules_member rules;
  rules.cuts = parts.cuts[from.index("cuts", parts.cuts.size())];
  rules.training = parts.training[from.index("training", parts.training.size())];
  rules.scoring =
      scoring_options_from(from.member("options"), from.name(), from.prefix() + "options.");
  expect_agreement(from, *rules.cuts, *rules.training);
  try {
    itemsets_a_document(rules.scoring, rules.training->feature_count());
  } catch (usage_error const& too_many) {
    from.fail("options", too_many.what());
  }
  return rules;
}

class prepared_rules final : public prepared_member {
 public:
  prepared_rules(context const& ctx, rules_member const& of, engine_options const& how)
      : ranker_(ctx, *of.training, {of.scoring, how}) {}

  using prepared_member::score;
  scored score(context const& ctx, datasets::binned_dataset const& items) const override {
    return ranker_.score(ctx, items);
  }
  ranker const* rules() const override { return &ranker_; }

 private:
  ranker ranker_;
};

std::unique_ptr<prepared_member> prepare_rules(context const& ctx, model_member const& of,
                                               engine_options const& how) {
  auto const& rules = std::get<rules_member>(of);
  if (!rules.training)
    throw usage_error("found a member without training documents, expected one or more");
  return std::make_unique<prepared_rules>(ctx, rules, how);
}

}  // namespace

constinit member_kind const rules_kind{"rules",     false,      fit_rules,
                                       write_rules, read_rules, prepare_rules};

}  // namespace rulerank::l2r
