#pragma once
// Readers of delimited text; tests set the size of the chunks.

#include "core/context.hpp"
#include "datasets/delimited/layout.hpp"
#include "datasets/svmlight/read.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// Throws `error` for a text without records; `name` is used in the message.
void expect_records(std::string_view text, std::string const& name);
/// Returns an empty data set with the attributes that the header implies.
dataset layout_form(delimited_layout const& layout);
/// Returns the parser of the records after the header.
chunk_parser parser_of(delimited_layout layout, read_options const& options);

/// Reads delimited text in chunks of about `chunk_bytes`, at least 1; the result does not depend on
/// the size. `columns`: as in `read_layout`.
dataset parse_delimited_chunks(context const& ctx, std::shared_ptr<text_source const> text,
                               std::string name, char delimiter, read_options const& options,
                               std::function<void(std::string const&)> const& warn,
                               std::size_t chunk_bytes, std::span<std::string const> columns = {});

}  // namespace rulerank::datasets
