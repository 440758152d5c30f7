#pragma once
// What the readers of whole texts and of streams share; tests choose the size of the chunks.

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/svmlight.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace rulerank::datasets {

/// Throws `usage_error` for options that make no sense.
void check_options(svmlight_options const& options);

/// `parse_svmlight` with the text cut into chunks of about `chunk_bytes`, at least 1; the result
/// does not depend on them.
dataset parse_svmlight_chunks(context const& ctx, std::shared_ptr<text_source const> text,
                              std::string name, svmlight_options const& options,
                              std::function<void(std::string const&)> const& warn,
                              std::size_t chunk_bytes);

}  // namespace rulerank::datasets
