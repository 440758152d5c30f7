#pragma once
// The options of a text index as the header of its file keeps them.

#include "knn/text/text_index.hpp"

#include <cstddef>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rulerank::inline v0::knn {

/// Throws `usage_error` for options that make no sense.
void check(text_index_options const& options);

/// With the words of a stop list that lies in a file: it is read once, and an index keeps it.
text_index_options with_stop_words(text_index_options options);

nlohmann::ordered_json to_json(text_index_options const& options);
/// Of what `to_json` wrote. Throws `usage_error` or a JSON exception for anything else.
text_index_options options_from(nlohmann::json const& json);

}  // namespace rulerank::knn
