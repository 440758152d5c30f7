#include "core/error.hpp"
#include "l2r/model/recommended.hpp"
#include "l2r/model/scorer.hpp"
#include "learners/systems.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

// Our rankers as learners: models with members of any kind.
namespace rulerank::inline v0::learners {

namespace {

using cuts_pointer = std::shared_ptr<datasets::discretizer const>;

/// The pool with only the known labels.
datasets::dataset labelled_pool(documents const& pool, labelled const& known) {
  if (pool.cuts == nullptr)
    throw usage_error("members: found items without their cuts, expected both");
  datasets::dataset train = pool.data;
  train.labels.assign(train.size(), datasets::unlabelled);
  for (std::size_t const d : known.documents) train.labels[d] = known.labels[d];
  return train;
}

class members_learner final : public learner {
 public:
  explicit members_learner(std::vector<l2r::recipe> recipes) : recipes_(std::move(recipes)) {
    if (recipes_.empty()) throw usage_error("members: found no recipe, expected one or more");
    raw_ = std::any_of(recipes_.begin(), recipes_.end(), [](l2r::recipe const& one) {
      return std::holds_alternative<l2r::linear_recipe>(one) ||
             std::holds_alternative<l2r::joint_recipe>(one);
    });
  }

  void fit(context const& ctx, documents const& pool, labelled const& known) override {
    scorer_.reset();
    datasets::dataset const train = labelled_pool(pool, known);
    if (datasets::listed_features(train).empty()) return;  // nothing to learn from
    for (l2r::recipe& one : recipes_) {
      if (auto* const linear = std::get_if<l2r::linear_recipe>(&one)) {
        linear->options.missing = pool.cuts->options.missing;
        linear->options.unlisted = pool.cuts->options.unlisted;
      } else if (auto* const rules = std::get_if<l2r::rules_recipe>(&one)) {
        rules->cuts = pool.cuts;
      } else if (auto* const joint = std::get_if<l2r::joint_recipe>(&one)) {
        joint->cuts = pool.cuts;
      } else {
        std::get<l2r::scorecard_recipe>(one).cuts = pool.cuts;
      }
    }
    scorer_.emplace(ctx, l2r::fit(ctx, train, recipes_));
  }

  std::vector<double> score(context const& ctx, documents const& test) override {
    if (!scorer_) return std::vector<double>(test.data.size());
    if (raw_) return scorer_->score(ctx, test.data).scores;
    return scorer_->score(ctx, l2r::binned_lists{test.data.queries, {&test.items}}).scores;
  }

 private:
  std::vector<l2r::recipe> recipes_;
  bool raw_ = false;  // a member scores raw documents
  std::optional<l2r::scorer> scorer_;
};

/// Members with their own cuts, determined by the known labels.
class own_cuts_learner final : public learner {
 public:
  using recipes_fn = std::function<std::vector<l2r::recipe>(
      datasets::dataset const& train, datasets::discretizer_options const& values)>;
  explicit own_cuts_learner(recipes_fn recipes) : recipes_(std::move(recipes)) {}

  void fit(context const& ctx, documents const& pool, labelled const& known) override {
    scorer_.reset();
    datasets::dataset const train = labelled_pool(pool, known);
    if (datasets::listed_features(train).empty()) return;  // nothing to learn from
    scorer_.emplace(ctx, l2r::fit(ctx, train, recipes_(train, pool.cuts->options)));
  }

  std::optional<l2r::card_sizes> sizes() const override {
    if (!scorer_) return std::nullopt;
    std::vector<l2r::card_sizes> const all = l2r::tried_sizes(scorer_->fitted());
    return all.empty() ? std::nullopt : std::optional(all.front());
  }

  std::vector<double> score(context const& ctx, documents const& test) override {
    // The items come from other cuts than the members'.
    return scorer_ ? scorer_->score(ctx, test.data).scores : std::vector<double>(test.data.size());
  }

 private:
  recipes_fn recipes_;
  std::optional<l2r::scorer> scorer_;
};

}  // namespace

std::unique_ptr<learner> make_recommended_learner() {
  return std::make_unique<own_cuts_learner>(
      [](datasets::dataset const& train, datasets::discretizer_options const& values) {
        return l2r::recommend(l2r::count_labels(train), values).recipes;
      });
}

std::unique_ptr<learner> make_own_cuts_learner(l2r::recipe how) {
  return std::make_unique<own_cuts_learner>(
      [how = std::move(how)](datasets::dataset const&,
                             datasets::discretizer_options const& values) {
        l2r::recipe made = how;
        std::visit(
            [&](auto& one) {
              if constexpr (requires { one.discretizer; }) {
                one.discretizer.missing = values.missing;
                one.discretizer.unlisted = values.unlisted;
              }
            },
            made);
        return std::vector{std::move(made)};
      });
}

std::unique_ptr<learner> make_members_learner(std::vector<l2r::recipe> recipes) {
  return std::make_unique<members_learner>(std::move(recipes));
}

}  // namespace rulerank::learners
