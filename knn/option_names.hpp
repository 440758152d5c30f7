#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace rulerank::knn {

/// The index of `name` in the names of an enumeration, in the order of its values. Throws
/// `usage_error` for an unknown name; the message says `what` kind of name it is, `name` and
/// `names`.
std::size_t index_of_name(std::string_view name, std::span<std::string_view const> names,
                          std::string_view what);

}  // namespace rulerank::knn
