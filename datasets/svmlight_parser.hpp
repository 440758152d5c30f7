#pragma once
// What the files of the SVMlight reader share; tests reach through it to the size of the pieces.

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/svmlight.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rulerank::datasets {

/// Passes over UTF-8's byte order mark, which some editors put in front of a text.
void remove_byte_order_mark(std::string_view& text);

/// Throws `usage_error` for options that make no sense.
void check_options(svmlight_options const& options);

/// `parse_svmlight` with the text cut into pieces of about `piece_bytes`, at least 1; the result
/// does not depend on them.
dataset parse_svmlight_pieces(context const& ctx, std::shared_ptr<text_source const> text,
                              std::string name, svmlight_options const& options,
                              std::function<void(std::string const&)> const& warn,
                              std::size_t piece_bytes);

}  // namespace rulerank::datasets
