#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct sb_stemmer;

namespace rulerank::inline v0::knn {

/// Takes words to their stems. One thread at a time.
class stemmer {
 public:
  /// One of `stemmers()`, or "none": words are their own stems. Throws `usage_error` for another,
  /// and says which there are.
  explicit stemmer(std::string const& algorithm);
  stemmer(stemmer const& other) : stemmer(other.algorithm_) {}
  stemmer& operator=(stemmer const&) = delete;

  /// Of a word in lower case (well-formed UTF-8, less than 2 GiB). Valid until the next call, and
  /// as long as the word.
  std::string_view stem(std::string_view word);

 private:
  struct closer {
    void operator()(sb_stemmer* s) const noexcept;
  };
  std::string algorithm_;
  std::unique_ptr<sb_stemmer, closer> stemmer_;
};

}  // namespace rulerank::knn
