#pragma once

#include "core/context.hpp"
#include "knn/features/pair_features.hpp"
#include "knn/text/text_index.hpp"

#include <string>
#include <vector>

namespace rulerank::knn {

/// How often each term of an index is in each field of its collection, which is read again: the
/// fields in the order in which they come, fields without a name left out, and the whole document
/// last. Throws what `datasets::read_documents` throws, and `error` where the collection is not the
/// one that was indexed. Of `options` only how the collection is read matters.
std::vector<field_counts> count_fields(context const& ctx, text_index const& index,
                                       std::string const& collection,
                                       text_index_options const& options);

}  // namespace rulerank::knn
