#pragma once

#include "core/context.hpp"
#include "knn/searched_collection.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

/// Reads the items that a file lists, one per line, into one bit for each item of the collection.
/// `item` names an item in messages, such as "a row". Lines are ids, and an id of several items
/// selects all of them; with `by_numbers`, lines are item numbers. Collective if each process has
/// only the ids of its part. Throws `error` naming a line that is no item.
std::vector<std::uint64_t> read_filter(context const& ctx, std::string const& path,
                                       item_collection const& items, std::string_view item,
                                       bool by_numbers);

}  // namespace rulerank::knn
