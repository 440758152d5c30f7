#pragma once
// Replaces words of queries that a collection lacks by similar words that it has.

#include "core/context.hpp"
#include "datasets/text/documents.hpp"
#include "knn/metric/search.hpp"
#include "knn/text/text_index.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::knn {

/// A word of a document that was replaced.
struct spelling_change {
  std::size_t document = 0;    ///< index among the given documents
  std::string word;            ///< folded
  std::string replacement;     ///< a word of the dictionary
  std::uint32_t distance = 0;  ///< edits between the words
  /// Number of documents of the collection that contain the replacement.
  std::uint32_t documents = 0;
};

/// Replaces words that the dictionary of an index lacks by words that it has.
///
/// A word is folded by the index's analyzer first. It is replaced if it is not in the dictionary,
/// has at least 4 letters (code points) and no digit, and is no stop word. The replacement is the
/// nearest word of the dictionary within an edit distance (in code points) of 1, or of 2 for words
/// of at least 8 letters. Ties go to the word in the most documents, then to the first in code
/// point order. Several threads may call the const functions at once.
class spelling_corrector {
 public:
  /// The index must outlive the corrector. Throws `usage_error` if it has no dictionary.
  spelling_corrector(context const& ctx, text_index const& index);

  /// Replaces such words in the texts of the documents. Other bytes stay unchanged, except that in
  /// a changed text, bytes that are not UTF-8 become the Latin-1 characters that they are read as.
  /// Returns the changes in the order of the texts. Throws `usage_error` for a text of 512 MB or
  /// more.
  std::vector<spelling_change> correct(context const& ctx,
                                       std::span<datasets::text_document> documents) const;

 private:
  text_index const& index_;
  metric_index near_;
};

}  // namespace rulerank::knn
