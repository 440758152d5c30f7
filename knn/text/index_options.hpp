#pragma once
// The options of a text index, as stored in the header of its file.

#include "knn/text/text_index.hpp"

#include <cstddef>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rulerank::inline v0::knn {

/// Throws `usage_error` for contradictory options.
void check(text_index_options const& options);

/// Replaces a stop list in a file by its words, so that the index keeps them.
text_index_options with_stop_words(text_index_options options);

nlohmann::ordered_json to_json(text_index_options const& options);
/// Inverts `to_json`. Throws `usage_error` or a JSON exception for anything else.
text_index_options options_from(nlohmann::json const& json);

}  // namespace rulerank::knn
