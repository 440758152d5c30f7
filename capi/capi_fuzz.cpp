// Fuzz target (core/fuzzing.cpp): the C library loads the bytes of a model or refuses them with a
// text, and a model that it loads scores and explains rows. The input is what follows a model's
// first line, whose checksum is made right.

#include "core/error.hpp"
#include "core/fuzzing.hpp"
#include "core/sha256.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/model/model.hpp"
#include "rulerank.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace rulerank;
using namespace rulerank::fuzzing;

/// Whether a score takes no time to speak of.
bool is_small(std::string const& bytes) {
  l2r::model const read = l2r::model_from_bytes(bytes, "model");
  return read.members.size() <= 4 &&
         std::ranges::all_of(read.members, [](l2r::model_member const& one) {
           auto const* const rules = std::get_if<l2r::rules_member>(&one);
           return rules == nullptr ||
                  (rules->scoring.rule_size <= 4 && rules->training->feature_count() <= 8 &&
                   rules->training->documents <= 64);
         });
}

void require_sums(rulerank_model const* model) {
  constexpr std::size_t rows = 3;
  std::size_t const columns = rulerank_model_columns(model), terms = rulerank_model_terms(model);
  if (columns > 64) return;
  std::vector<double> values(rows * columns, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < values.size(); i += 2) values[i] = static_cast<double>(i % 5);
  std::vector<double> scores(rows), base(rows), added(rows * terms);
  std::array<char, 200> error{};
  require(rulerank_score_double(model, values.data(), rows, columns, columns, nullptr, 0,
                                scores.data(), error.data(), error.size()) == RULERANK_OK,
          error.data());
  if (rulerank_explain_double(model, values.data(), rows, columns, columns, nullptr, 0, base.data(),
                              added.data(), error.data(), error.size()) != RULERANK_OK) {
    require(error[0] != '\0', "an error without a text");
    return;
  }
  for (std::size_t d = 0; d < rows; ++d) {
    double sum = base[d], size = std::abs(base[d]);
    for (std::size_t t = 0; t < terms; ++t) {
      sum += added[d * terms + t];
      size += std::abs(added[d * terms + t]);
    }
    require(std::isfinite(scores[d]), "a score is not finite");
    require(std::abs(sum - scores[d]) <= 1e-9 * (1 + size), "the terms do not add up to the score");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  std::string const body(reinterpret_cast<char const*>(bytes), size);
  std::string const whole = "rulerank-model 3 " + sha256_hex(body) + "\n" + body;
  try {
    if (!is_small(whole)) return 0;
  } catch (error const&) {  // the C library must refuse it, too
  }
  rulerank_model* model = nullptr;
  std::array<char, 200> error{};
  auto const code =
      rulerank_model_from_bytes(whole.data(), whole.size(), &model, error.data(), error.size());
  require((code == RULERANK_OK) == (model != nullptr), "a code and a model contradict each other");
  if (model == nullptr) {
    require(code == RULERANK_BAD_INPUT || code == RULERANK_USAGE, error.data());
    require(error[0] != '\0', "an error without a text");
    return 0;
  }
  require_sums(model);
  rulerank_model_free(model);
  return 0;
}

std::vector<std::string> rulerank::fuzzing::seeds() {
  auto const documents = datasets::parse_svmlight(
      one_thread(), "0 qid:1 1:1 2:3\n1 qid:1 1:2 2:1\n2 qid:1 1:4\n0 qid:2 1:1 2:2\n",
      "documents");
  std::vector<std::string> seeds;
  for (std::vector<l2r::recipe> const& recipes :
       {std::vector<l2r::recipe>{l2r::rules_recipe{}},
        std::vector<l2r::recipe>{l2r::scorecard_recipe{}, l2r::linear_recipe{}},
        std::vector<l2r::recipe>{l2r::joint_recipe{}}}) {
    std::string const whole = l2r::to_bytes(l2r::fit(one_thread(), documents, recipes));
    seeds.push_back(whole.substr(whole.find('\n') + 1));
  }
  return seeds;
}
