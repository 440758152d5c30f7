#pragma once
// The analyzer written plainly, for tests: ICU for every word, every stem anew.

#include "knn/text/unicode.hpp"
#include "knn/text/word_rules.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace rulerank::knn {

inline std::vector<std::string> analyzed_plainly(analyzer_options const& options,
                                                 std::string_view text) {
  std::vector<std::string> terms;
  word_rules rules(options);
  word_breaker breaker;
  std::string repaired;
  breaker.split(well_formed(text, repaired), [&](std::string_view word, bool has_letter) {
    std::string folded;
    rules.fold(word, folded);
    for_each_piece(folded, [&](std::string_view piece) {
      std::string term;
      if (rules.admits(piece, has_letter)) rules.term_of(piece, term);
      if (!term.empty()) terms.push_back(term);
    });
  });
  return terms;
}

}  // namespace rulerank::knn
