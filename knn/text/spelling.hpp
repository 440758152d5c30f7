#pragma once
// Words of queries that a collection has not, and the nearest ones that it has.

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
  std::size_t document = 0;     ///< among those that were given
  std::string word;             ///< folded
  std::string replacement;      ///< a word of the dictionary
  std::uint32_t distance = 0;   ///< edits between the two
  std::uint32_t documents = 0;  ///< of the collection, that have the replacement
};

/// Replaces words that the dictionary of an index lacks by words that it has.
///
/// A word is looked at as the index's analyzer folds it. It is replaced where the dictionary lacks
/// it, it has 4 letters (code points) or more and no digit, and is no stop word; by the nearest
/// word of the dictionary within an edit distance (of code points) of 1, or of 2 from 8 letters on;
/// of equally near ones by that of the most documents, then by the first in the order of code
/// points. Several threads may call the const functions at once.
class spelling_corrector {
 public:
  /// Of an index that outlives it. Throws `usage_error` for one without a dictionary.
  spelling_corrector(context const& ctx, text_index const& index);

  /// Replaces such words in the texts of the documents, and leaves all other bytes as they are, but
  /// in a text with such a word those that are no UTF-8, which become the characters of Latin-1 as
  /// which they are read. Returns what it did, in the order of the texts. Throws `usage_error` for
  /// a text of 512 MB and more.
  std::vector<spelling_change> correct(context const& ctx,
                                       std::span<datasets::text_document> documents) const;

 private:
  text_index const& index_;
  metric_index near_;
};

}  // namespace rulerank::knn
