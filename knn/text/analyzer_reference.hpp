#pragma once
// A simple analyzer for tests and benches: uses ICU for every word, and stems every word again.

#include "knn/text/word_rules.hpp"
#include "knn/unicode.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

class plain_analyzer {
 public:
  explicit plain_analyzer(analyzer_options const& options) : rules_(options) {}

  void analyze(std::string_view text, std::function<void(std::string_view)> const& take) {
    breaker_.split(well_formed(text, repaired_), [&](std::string_view word, bool has_letter) {
      rules_.fold(word, folded_);
      for_each_part(folded_, [&](std::string_view whole) {
        std::string_view const part = rules_.without_elision(whole);
        if (!rules_.admits(part, has_letter)) return;
        rules_.term_of(part, term_);
        if (!term_.empty()) take(term_);
      });
    });
  }

 private:
  word_rules rules_;
  word_breaker breaker_;
  std::string repaired_;
  std::string folded_;
  std::string term_;
};

inline std::vector<std::string> analyzed_plainly(analyzer_options const& options,
                                                 std::string_view text) {
  std::vector<std::string> terms;
  plain_analyzer(options).analyze(text, [&](std::string_view term) { terms.emplace_back(term); });
  return terms;
}

}  // namespace rulerank::knn
