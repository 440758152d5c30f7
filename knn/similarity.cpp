#include "knn/similarity.hpp"

#include <array>

namespace rulerank::inline v0::knn {

namespace {

/// In the order of the enum.
constexpr std::array<named_similarity, 4> known{{
    {similarity::cosine, "cosine", value_order::larger_is_nearer},
    {similarity::inner_product, "ip", value_order::larger_is_nearer},
    {similarity::normalized_l2, "normalized-l2", value_order::smaller_is_nearer},
    {similarity::l2, "l2", value_order::smaller_is_nearer},
}};

}  // namespace

std::span<named_similarity const> similarities() {
  return known;
}
std::string_view name_of(similarity which) {
  return known[static_cast<std::size_t>(which)].name;
}
value_order order_of(similarity which) {
  return known[static_cast<std::size_t>(which)].order;
}

}  // namespace rulerank::knn
