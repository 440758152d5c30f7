#include "knn/option_names.hpp"

#include "core/error.hpp"

#include <algorithm>

#include <fmt/ranges.h>

namespace rulerank::knn {

std::size_t index_of_name(std::string_view name, std::span<std::string_view const> names,
                          std::string_view what) {
  auto const at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    throw usage_error(
        fmt::format("found {} '{}', expected {}", what, name, fmt::join(names, ", ")));
  return static_cast<std::size_t>(at - names.begin());
}

}  // namespace rulerank::knn
