#include "core/error.hpp"
#include "l2r/recommended.hpp"
#include "l2r/scorer.hpp"
#include "peers/peers.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

// Our rankers as learners: a model of members of any kind.
namespace rulerank::peers {

namespace {

using cuts_pointer = std::shared_ptr<datasets::discretizer const>;

/// The labelled documents, their values normalized as the cuts say within whole queries: within the
/// labelled documents of a query alone they would be other values than those that are ranked.
datasets::dataset labelled_part(context const& ctx, committee::documents const& pool,
                                committee::labelled const& known) {
  if (pool.cuts == nullptr)
    throw usage_error("members: found items without their cuts, expected both");
  datasets::discretizer_options const& how = pool.cuts->options;
  datasets::dataset part = how.norm == datasets::normalization::none
                               ? datasets::subset(pool.data, known.documents)
                               : datasets::subset(datasets::normalize(ctx, pool.data, how.norm,
                                                                      how.missing, how.unlisted),
                                                  known.documents);
  for (std::size_t i = 0; i < part.size(); ++i) part.labels[i] = known.labels[known.documents[i]];
  return part;
}

/// The same cuts for values that are normalized already.
cuts_pointer without_norm(cuts_pointer const& cuts) {
  if (cuts->options.norm == datasets::normalization::none) return cuts;
  auto plain = std::make_shared<datasets::discretizer>(*cuts);
  plain->options.norm = datasets::normalization::none;
  return plain;
}

class members_learner final : public committee::learner {
 public:
  explicit members_learner(std::vector<l2r::recipe> recipes) : recipes_(std::move(recipes)) {
    if (recipes_.empty()) throw usage_error("members: no recipe, expected one or more");
    raw_ = std::any_of(recipes_.begin(), recipes_.end(), [](l2r::recipe const& one) {
      return std::holds_alternative<l2r::linear_recipe>(one);
    });
  }

  void learn(context const& ctx, committee::documents const& pool,
             committee::labelled const& known) override {
    scorer_.reset();
    datasets::dataset const train = labelled_part(ctx, pool, known);
    if (datasets::listed_features(train).empty()) return;  // nothing to learn from
    cuts_pointer const cuts = without_norm(pool.cuts);
    for (l2r::recipe& one : recipes_) {
      if (auto* const linear = std::get_if<l2r::linear_recipe>(&one)) {
        linear->options.missing = cuts->options.missing;
        linear->options.unlisted = cuts->options.unlisted;
      } else if (auto* const rules = std::get_if<l2r::rules_recipe>(&one)) {
        rules->cuts = cuts;
      } else {
        std::get<l2r::scorecard_recipe>(one).cuts = cuts;
      }
    }
    l2r::model fitted = l2r::fit(ctx, train, recipes_);
    for (l2r::model_member& one : fitted.members) {
      if (auto* const rules = std::get_if<l2r::rules_member>(&one)) rules->cuts = pool.cuts;
      if (auto* const card = std::get_if<l2r::scorecard_member>(&one)) card->cuts = pool.cuts;
    }
    scorer_.emplace(ctx, std::move(fitted));
  }

  std::vector<double> score(context const& ctx, committee::documents const& test) override {
    if (raw_ || !scorer_) return score_documents(ctx, test.data);
    return scorer_->score(ctx, l2r::binned_lists{test.data.queries, {&test.items}}).scores;
  }

  /// Without their items.
  std::vector<double> score_documents(context const& ctx, datasets::dataset const& test) const {
    return scorer_ ? scorer_->score(ctx, test).scores : std::vector<double>(test.size());
  }

 private:
  std::vector<l2r::recipe> recipes_;
  bool raw_ = false;  // a member scores raw documents
  std::optional<l2r::scorer> scorer_;
};

/// The members that `l2r::recommend` finds for the labels at hand.
class recommended_learner final : public committee::learner {
 public:
  void learn(context const& ctx, committee::documents const& pool,
             committee::labelled const& known) override {
    members_.reset();
    datasets::dataset const train = labelled_part(ctx, pool, known);
    std::vector<l2r::recipe> recipes =
        l2r::recommend(l2r::count_labels(train), pool.cuts->options).recipes;
    members_.emplace(recipes);
    members_->learn(ctx, {pool.data, pool.items, cuts_for(ctx, pool, recipes)}, known);
  }

  std::vector<double> score(context const& ctx, committee::documents const& test) override {
    // The items were made by other cuts than the members'.
    return members_->score_documents(ctx, test.data);
  }

 private:
  /// The cuts that the recipes ask for, of the whole pool: they read no label.
  static cuts_pointer cuts_for(context const& ctx, committee::documents const& pool,
                               std::vector<l2r::recipe> const& recipes) {
    for (l2r::recipe const& one : recipes) {
      if (auto const* const rules = std::get_if<l2r::rules_recipe>(&one))
        return std::make_shared<datasets::discretizer>(
            datasets::fit_discretizer(ctx, pool.data, rules->discretizer));
      if (auto const* const card = std::get_if<l2r::scorecard_recipe>(&one))
        return std::make_shared<datasets::discretizer>(
            datasets::fit_discretizer(ctx, pool.data, card->discretizer));
    }
    return pool.cuts;
  }

  std::optional<members_learner> members_;
};

}  // namespace

std::unique_ptr<committee::learner> make_recommended_learner() {
  return std::make_unique<recommended_learner>();
}

std::unique_ptr<committee::learner> make_members_learner(std::vector<l2r::recipe> recipes) {
  return std::make_unique<members_learner>(std::move(recipes));
}

}  // namespace rulerank::peers
