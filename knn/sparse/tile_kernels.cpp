#include "knn/sparse/tile_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn/sparse/tile_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rulerank::knn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using sums_tag = hn::CappedTag<std::int32_t, tile_padding>;

std::size_t count_at_least(std::int32_t const* sums, std::size_t n, std::int32_t threshold) {
  sums_tag const d;
  auto const below = hn::Set(d, threshold - 1);
  auto count = hn::Zero(d);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d))  // a true lane is -1
    count = hn::Sub(count, hn::VecFromMask(d, hn::Gt(hn::LoadU(d, sums + i), below)));
  return static_cast<std::size_t>(hn::GetLane(hn::SumOfLanes(d, count)));
}

std::size_t find_at_least(std::int32_t const* sums, std::size_t n, std::int32_t threshold,
                          std::uint32_t* places) {
  sums_tag const d;
  auto const below = hn::Set(d, threshold - 1);
  std::size_t found = 0;
  for (std::size_t begin = 0; begin < n; begin += tile_padding) {
    auto largest = hn::LoadU(d, sums + begin);
    for (std::size_t i = hn::Lanes(d); i < tile_padding; i += hn::Lanes(d))
      largest = hn::Max(largest, hn::LoadU(d, sums + begin + i));
    if (hn::AllFalse(d, hn::Gt(largest, below))) continue;
    for (std::size_t i = begin; i < begin + tile_padding; ++i)
      if (sums[i] >= threshold) places[found++] = static_cast<std::uint32_t>(i);
  }
  return found;
}

}  // namespace rulerank::knn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerank::knn {

HWY_EXPORT(count_at_least);
HWY_EXPORT(find_at_least);

std::size_t count_at_least(std::int32_t const* sums, std::size_t n, std::int32_t threshold) {
  return HWY_DYNAMIC_DISPATCH(count_at_least)(sums, n, threshold);
}
std::size_t find_at_least(std::int32_t const* sums, std::size_t n, std::int32_t threshold,
                          std::uint32_t* places) {
  return HWY_DYNAMIC_DISPATCH(find_at_least)(sums, n, threshold, places);
}

}  // namespace rulerank::knn
#endif
