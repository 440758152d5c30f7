#pragma once

#include "core/context.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rulerank::inline v0::datasets {

/// A line of LightGBM's group file (also XGBoost's): the number of documents of the next query.
struct group_size {
  std::size_t documents = 0;
  std::uint64_t line = 0;  ///< its line, from 1
};

/// Reads a group file: one positive integer per line; empty lines are ignored. Throws `error` with
/// line and column.
std::vector<group_size> read_group_file(context const& ctx, std::string const& path);

}  // namespace rulerank::datasets
