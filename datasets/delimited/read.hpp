#pragma once
// Readers of delimited text; tests choose the size of the chunks.

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

/// Throws `error` for a text without records, of that name in messages.
void expect_records(std::string_view text, std::string const& name);
/// What is said of all documents of a text with that header.
dataset layout_form(delimited_layout const& layout);
/// How the records behind the header are read.
chunk_parser parser_of(delimited_layout layout, read_options const& options);

/// Reads delimited text, cut into chunks of about `chunk_bytes`, at least 1; the result does not
/// depend on them. `columns`: as `read_layout` says.
dataset parse_delimited_chunks(context const& ctx, std::shared_ptr<text_source const> text,
                               std::string name, char delimiter, read_options const& options,
                               std::function<void(std::string const&)> const& warn,
                               std::size_t chunk_bytes, std::span<std::string const> columns = {});

}  // namespace rulerank::datasets
