#pragma once

#include "core/context.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

/// The items that a file lists, one a line, as a bit for each of `items`. `item`: such as "a row",
/// for messages. `id_of` gives the id of an item, and an id that several items have stands for all
/// of them; without it items are listed by their numbers. Throws `error` naming the line of what is
/// no item.
std::vector<std::uint64_t> read_filter(context const& ctx, std::string const& path,
                                       std::size_t items, std::string_view item,
                                       std::function<std::string(std::uint32_t)> const& id_of);

}  // namespace rulerank::knn
