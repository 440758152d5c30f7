// Fuzz target (core/fuzzing.cpp): reading a model succeeds or throws an error with a place,
// whatever its header and documents hold. A model that was read serializes to its own bytes and
// scores documents with finite numbers. The input is the text after a model's first line; its
// checksum is corrected, so that the rest is tested.

#include "core/error.hpp"
#include "core/fuzzing.hpp"
#include "core/sha256.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/scorer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace rulerank;
using namespace rulerank::fuzzing;

datasets::dataset documents() {
  return datasets::parse_svmlight(
      one_thread(), "0 qid:1 1:1 2:3\n1 qid:1 1:2 2:1\n2 qid:1 1:4\n0 qid:2 1:1 2:2\n",
      "documents");
}

l2r::model small_model() {
  context const ctx = one_thread();
  auto const cuts = std::make_shared<datasets::discretizer const>(
      datasets::fit_discretizer(ctx, documents(), {}));
  auto const items = std::make_shared<datasets::binned_dataset const>(
      datasets::apply_discretizer(ctx, documents(), *cuts));
  l2r::model m;
  m.members.emplace_back(l2r::rules_member{cuts, items, {}});
  return m;
}

/// Whether scoring takes negligible time.
bool is_small(l2r::model const& m) {
  return m.members.size() <= 4 && std::ranges::all_of(m.members, [](l2r::model_member const& one) {
           auto const* const rules = std::get_if<l2r::rules_member>(&one);
           return rules == nullptr ||
                  (rules->scoring.rule_size <= 4 && rules->training->feature_count() <= 8 &&
                   rules->training->documents <= 64);
         });
}

void require_scores(l2r::model const& by) {
  static datasets::dataset const some = documents();
  for (double const score : l2r::scorer(one_thread(), by).score(one_thread(), some).scores)
    require(std::isfinite(score), "a score is not finite");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  std::string const body(reinterpret_cast<char const*>(bytes), size);
  try {
    l2r::model const read =
        l2r::model_from_bytes("rulerank-model 3 " + sha256_hex(body) + "\n" + body, "model");
    require(!read.members.empty(), "a model has no members");
    std::string const written = l2r::to_bytes(read);
    require(l2r::to_bytes(l2r::model_from_bytes(written, "again")) == written,
            "a model does not come back");
    if (is_small(read)) require_scores(read);
  } catch (error const& e) {
    require(e.where().file == "model", "an error names no file");
    require(e.where().line > 0, "an error names no line");
  }
  return 0;
}

std::vector<std::string> rulerank::fuzzing::seeds() {
  l2r::model two = small_model();
  two.members.push_back(two.members.front());
  auto& other = std::get<l2r::rules_member>(two.members.back()).scoring;
  other.rule_size = 2;
  other.support_weight = 0.5;
  other.smoothing = 1;
  l2r::model const kinds = l2r::fit(
      context{}, documents(),
      std::vector<l2r::recipe>{l2r::scorecard_recipe{}, l2r::linear_recipe{}, l2r::joint_recipe{}});
  l2r::model joint =
      l2r::fit(context{}, documents(), std::vector<l2r::recipe>{l2r::joint_recipe{}});
  auto& tables = std::get<l2r::joint_member>(joint.members.front());
  tables.pairs.push_back({0, 1, std::vector<std::int64_t>(16, 5)});
  tables.moved.push_back(5);
  std::vector<std::string> seeds;
  for (l2r::model const& m : {small_model(), two, kinds, joint}) {
    std::string const whole = l2r::to_bytes(m);
    seeds.push_back(whole.substr(whole.find('\n') + 1));
  }
  return seeds;
}
