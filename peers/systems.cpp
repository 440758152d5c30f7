#include "core/error.hpp"
#include "peers/peers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace rulerank::peers {

namespace {

constexpr std::size_t most_trees = 300;  // of a trial, which stops where the validation part says

// Our ranker

trial rules_trial(datasets::binning method, std::uint32_t size, double weight, double smoothing) {
  trial t;
  t.name = fmt::format("{}, size {}, weight {}, smoothing {}", datasets::name_of(method), size,
                       weight, smoothing);
  t.method = method;
  l2r::ranker_options options;
  options.scoring.rule_size = size;
  options.scoring.support_weight = weight;
  options.scoring.smoothing = smoothing;
  t.make = [options](std::uint64_t, std::size_t) { return committee::make_rules_learner(options); };
  return t;
}

system make_rules(system_options const&) {
  system s{"rules", {}, rules_trial(datasets::binning::tube, 3, 0, 0), {}};
  for (auto const method : {datasets::binning::tube, datasets::binning::frequency})
    for (std::uint32_t const size : {3U, 2U})
      for (double const weight : {0.0, -0.25})
        for (double const smoothing : {0.0, 5.0})
          s.trials.push_back(rules_trial(method, size, weight, smoothing));
  return s;
}

// LightGBM

trial lightgbm_trial(lightgbm_library const& library, lightgbm_options options) {
  trial t;
  t.name = fmt::format("{}, {} leaves of {}, rate {}", options.objective, options.leaves,
                       options.least, options.rate);
  t.make = [library, options](std::uint64_t seed, std::size_t steps) {
    lightgbm_options o = options;
    o.seed = seed;
    if (steps > 0) o.trees = steps;
    return library.make(o);
  };
  return t;
}

system make_lightgbm(system_options const& options) {
  std::string const path = options.lightgbm.empty() ? find_lightgbm() : options.lightgbm;
  if (path.empty())
    throw usage_error(
        "lightgbm: found no lib_lightgbm.so, expected the Python package lightgbm or the path of "
        "its library");
  lightgbm_library const library(path);
  system s{"lightgbm", library.version(), lightgbm_trial(library, {}), {}};
  for (char const* const objective : {"lambdarank", "regression"})
    for (int const leaves : {31, 7})
      for (int const least : {20, 1})
        for (double const rate : {0.1, 0.05})
          s.trials.push_back(
              lightgbm_trial(library, {objective, most_trees, leaves, least, rate, 1}));
  return s;
}

// XGBoost

trial xgboost_trial(committee::boosted_options options) {
  trial t;
  t.name = fmt::format("{}, depth {}, rate {}", options.objective, options.depth, options.eta);
  t.make = [options](std::uint64_t seed, std::size_t steps) {
    committee::boosted_options o = options;
    o.seed = seed;
    if (steps > 0) o.trees = static_cast<int>(steps);
    return committee::make_boosted(o);
  };
  return t;
}

system make_xgboost(system_options const&) {
  system s{"xgboost",
           committee::library_of("xgboost"),
           xgboost_trial({100, 6, 0.3, "rank:pairwise", 0}),
           {}};
  for (char const* const objective : {"rank:pairwise", "rank:ndcg", "reg:squarederror"})
    for (int const depth : {6, 4, 2})
      for (double const eta : {0.1, 0.05})
        s.trials.push_back(xgboost_trial({static_cast<int>(most_trees), depth, eta, objective, 0}));
  return s;
}

// Linear rank SVM

trial ranksvm_trial(double c) {
  trial t;
  t.name = fmt::format("C {:.3g}", c);
  t.make = [c](std::uint64_t, std::size_t) {
    committee::ranksvm_options options;
    options.c = c;
    return committee::make_ranksvm(options);
  };
  return t;
}

system make_ranksvm(system_options const&) {
  system s{"ranksvm",
           committee::library_of("ranksvm"),
           ranksvm_trial(committee::ranksvm_options{}.c),
           {}};
  // Half decades from 1e-6 to 10.
  for (int i = -12; i <= 2; ++i) s.trials.push_back(ranksvm_trial(std::pow(10.0, i / 2.0)));
  return s;
}

struct entry {
  std::string_view name;
  std::string_view needs;  ///< a member of the committee, whose library it takes; or empty
  system (*make)(system_options const&);
};

constexpr std::array<entry, 4> all{{
    {"rules", "", make_rules},
    {"lightgbm", "", make_lightgbm},
    {"xgboost", "xgboost", make_xgboost},
    {"ranksvm", "ranksvm", make_ranksvm},
}};

}  // namespace

std::vector<std::string_view> system_names() {
  std::vector<std::string_view> names;
  for (entry const& e : all) names.push_back(e.name);
  return names;
}

system make_system(std::string_view name, system_options const& options) {
  auto const at =
      std::find_if(all.begin(), all.end(), [&](entry const& e) { return e.name == name; });
  if (at == all.end())
    throw usage_error(
        fmt::format("found the system '{}', expected {}", name, fmt::join(system_names(), ", ")));
  for (committee::learner_info const& l : committee::learners())
    if (l.name == at->needs && !l.available)
      throw usage_error(
          fmt::format("{} is not in this build, expected one with {}", name, l.library));
  return at->make(options);
}

}  // namespace rulerank::peers
