#pragma once

#include "core/context.hpp"
#include "knn/searched_collection.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

/// The items that a file lists, one a line, as a bit for each item of the collection. `item`: such
/// as "a row", for messages. Items are listed by their ids, and an id that several items have
/// stands for all of them; `by_numbers`: by their numbers. Where each process has the ids of its
/// part, all processes call it together. Throws `error` naming the line of what is no item.
std::vector<std::uint64_t> read_filter(context const& ctx, std::string const& path,
                                       item_collection const& items, std::string_view item,
                                       bool by_numbers);

}  // namespace rulerank::knn
