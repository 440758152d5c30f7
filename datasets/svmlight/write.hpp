#pragma once

#include "core/output_file.hpp"
#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace rulerank::inline v0::datasets {

/// Appends ` FEATURE:VALUE` for each entry, with lossless values, and missing ones as `NaN`;
/// features are named if they have names.
void append_entries(std::span<feature_value const> entries, std::string& text,
                    feature_names const& names = {});

/// `write_lines` without the header of delimited text, and only that header.
void write_records(dataset const& data, std::span<std::size_t const> chosen, output_file& out,
                   std::span<std::int32_t const> labels = {});
void write_header(dataset const& data, output_file& out);

}  // namespace rulerank::datasets
