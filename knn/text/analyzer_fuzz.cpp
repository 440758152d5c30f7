// Fuzz target (core/fuzzing.cpp): for any bytes, the analyzer finds the terms of the plain
// analyzer. The first byte selects the options.

#include "core/fuzzing.hpp"
#include "knn/text/analyzer.hpp"
#include "knn/text/analyzer_reference.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace rulerank;
using namespace rulerank::fuzzing;
using namespace rulerank::knn;

/// An analyzer that is used for many texts, and its reference.
struct candidate {
  analyzer_options options;
  analyzer fast{options};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  static std::vector<candidate> candidates{
      {{}},
      {{.fold = false, .stop_words = "none", .stemmer = "none"}},
      {{.stop_words = "none", .stemmer = "turkish", .max_length = 5, .keep_numbers = false}}};
  if (size == 0) return 0;
  candidate& c = candidates[bytes[0] % candidates.size()];
  std::string_view const text(reinterpret_cast<char const*>(bytes + 1), size - 1);
  std::vector<std::string> terms;
  c.fast.analyze(text, [&](std::string_view term) { terms.emplace_back(term); });
  require(terms == analyzed_plainly(c.options, text), "other terms than the plain analyzer's");
  return 0;
}

std::vector<std::string> rulerank::fuzzing::seeds() {
  std::vector<std::string> seeds{
      std::string(1, '\0') + "Isn't it U.S.A. 1,000.5 me@site.org a:b _x_ \r\n caf\xe9",
      "\1Stra\u00dfe \u0130 e\u0301 \u6771\u4eac\u90fd \u0e2a\u0e27\u0e31 \ufdfa \ufb01 \u2019",
      "\2aboard \u0663 2nd 42 \u30ab\u3099 \ud55c\uad6d \xff\xc3 \U0001f1e9\U0001f1ea"};
  return seeds;
}
