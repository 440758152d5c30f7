#include "learners/learner.hpp"

#include "core/named_values.hpp"
#include "learners/library_versions.hpp"

#include <array>
#include <string>

#include <fmt/format.h>

namespace rulerank::inline v0::learners {

namespace {

#if RULERANK_HAS_LIBLINEAR
constexpr bool has_liblinear = true;
#else
constexpr bool has_liblinear = false;
#endif
#if RULERANK_HAS_XGBOOST
constexpr bool has_xgboost = true;
#else
constexpr bool has_xgboost = false;
#endif

constexpr std::array<learner_info, 3> all{{
    {"rules", true, ""},
    {"ranksvm", has_liblinear, "liblinear (liblinear-dev)"},
    {"xgboost", has_xgboost, "XGBoost (libxgboost-dev)"},
}};

}  // namespace

std::vector<std::vector<double>> learner::scores_by_steps(context const& ctx, documents const& test,
                                                          std::span<std::size_t const> counts) {
  for (std::size_t const count : counts)
    if (count != 1)
      throw usage_error(fmt::format("found {} steps for a learner that has one", count));
  return {counts.size(), score(ctx, test)};
}

std::vector<double> learner::score_by_steps(context const& ctx, documents const& test,
                                            std::size_t count) {
  return std::move(scores_by_steps(ctx, test, std::span(&count, 1)).front());
}

std::string library_of(std::string_view learner) {
  if (learner == "ranksvm") return liblinear_version();
  if (learner == "xgboost") return xgboost_version();
  return {};
}

std::span<learner_info const> learners() {
  return all;
}

std::unique_ptr<learner> make_learner(std::string_view name, learner_options const& options) {
  if (name == "rules") return make_rules_learner(options.rules);
  if (name == "ranksvm") return make_ranksvm(options.ranksvm);
  if (name == "xgboost") return make_boosted(options.boosted);
  throw unknown_name("committee: found", name, list_of_names(all, name_list::one_of));
}

}  // namespace rulerank::learners
