#pragma once

#include "apps/shared/session/session.hpp"
#include "datasets/text/documents.hpp"
#include "knn/text/spelling.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace rulerank::inline v0::apps {

/// Help of --correct.
inline constexpr char const* correct_help =
    "Correct misspelt words of the queries: replace a word that occurs in fewer than two documents "
    "by the nearest word that occurs in two or more";

/// Applies --correct and reports the replacements.
class correction_report {
 public:
  /// Corrects the documents.
  void correct(session& owner, knn::spelling_corrector const& corrector,
               std::span<datasets::text_document> documents);
  /// Reports the replacements, the first ones by name; adds all of them to the manifest.
  void finish(session& owner) const;
  /// A list with query, word, replacement and distance.
  nlohmann::ordered_json const& list() const noexcept { return list_; }

 private:
  nlohmann::ordered_json list_ = nlohmann::ordered_json::array();
  std::size_t queries_ = 0;
};

}  // namespace rulerank::apps
