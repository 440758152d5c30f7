#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct sb_stemmer;

namespace rulerank::inline v0::knn {

/// Stems words. One thread at a time may use a stemmer.
class stemmer {
 public:
  /// One of `stemmers()`, or "none": each word is its own stem. Throws `usage_error` for another
  /// name, listing the known ones.
  explicit stemmer(std::string const& algorithm);
  stemmer(stemmer const& other) : stemmer(other.algorithm_) {}
  stemmer& operator=(stemmer const&) = delete;

  /// Returns the stem of a lower-case word (well-formed UTF-8, less than 2 GiB). Valid until the
  /// next call and while `word` is valid.
  std::string_view stem(std::string_view word);

 private:
  struct closer {
    void operator()(sb_stemmer* s) const noexcept;
  };
  std::string algorithm_;
  std::unique_ptr<sb_stemmer, closer> stemmer_;
};

}  // namespace rulerank::knn
