#include "knn/sparse/tile_kernels.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn/sparse/tile_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rulerank::inline v0::knn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using sums_tag = hn::CappedTag<std::int32_t, 16>;

std::size_t count_at_least(std::int32_t const* sums, std::size_t n, std::int32_t threshold) {
  sums_tag const d;
  auto const below = hn::Set(d, threshold - 1);
  auto count = hn::Zero(d);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d))  // a true lane is -1
    count = hn::Sub(count, hn::VecFromMask(d, hn::Gt(hn::LoadU(d, sums + i), below)));
  return static_cast<std::size_t>(hn::GetLane(hn::SumOfLanes(d, count)));
}

std::size_t find_at_least(std::int32_t const* sums, std::size_t n, std::int32_t threshold,
                          std::uint32_t* indices) {
  sums_tag const d;
  auto const below = hn::Set(d, threshold - 1);
  std::size_t found = 0;
  for (std::size_t begin = 0; begin < n; begin += tile_padding) {
    auto largest = hn::LoadU(d, sums + begin);
    for (std::size_t i = hn::Lanes(d); i < tile_padding; i += hn::Lanes(d))
      largest = hn::Max(largest, hn::LoadU(d, sums + begin + i));
    if (hn::AllFalse(d, hn::Gt(largest, below))) continue;
    for (std::size_t i = begin; i < begin + tile_padding; ++i)
      if (sums[i] >= threshold) indices[found++] = static_cast<std::uint32_t>(i);
  }
  return found;
}

std::size_t largest_of_sixteen(std::int32_t const* sums, std::size_t n, std::int32_t* maxima) {
  sums_tag const d;
  std::size_t made = 0;
  for (std::size_t begin = 0; begin < n; begin += 256, made += 16) {
    std::size_t const end = std::min(n, begin + 256);
    for (std::size_t j = 0; j < 16; j += hn::Lanes(d)) {
      auto largest = hn::LoadU(d, sums + begin + j);
      for (std::size_t i = begin + 16 + j; i < end; i += 16)
        largest = hn::Max(largest, hn::LoadU(d, sums + i));
      hn::StoreU(largest, d, maxima + made + j);
    }
  }
  return made;
}

void add_weighted(std::int32_t* sums, std::uint16_t const* weights, std::size_t n,
                  std::uint32_t weight) {
  sums_tag const d;
  hn::Rebind<std::uint16_t, sums_tag> const half;
  auto const by = hn::Set(d, static_cast<std::int32_t>(weight));
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    auto const product = hn::Mul(hn::PromoteTo(d, hn::LoadU(half, weights + i)), by);
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), product), d, sums + i);
  }
}

}  // namespace rulerank::knn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerank::inline v0::knn {

HWY_EXPORT(count_at_least);
HWY_EXPORT(find_at_least);
HWY_EXPORT(largest_of_sixteen);
HWY_EXPORT(add_weighted);

std::size_t count_at_least(std::int32_t const* sums, std::size_t n, std::int32_t threshold) {
  return HWY_DYNAMIC_DISPATCH(count_at_least)(sums, n, threshold);
}
std::size_t find_at_least(std::int32_t const* sums, std::size_t n, std::int32_t threshold,
                          std::uint32_t* indices) {
  return HWY_DYNAMIC_DISPATCH(find_at_least)(sums, n, threshold, indices);
}
std::size_t largest_of_sixteen(std::int32_t const* sums, std::size_t n, std::int32_t* maxima) {
  return HWY_DYNAMIC_DISPATCH(largest_of_sixteen)(sums, n, maxima);
}
void add_weighted(std::int32_t* sums, std::uint16_t const* weights, std::size_t n,
                  std::uint32_t weight) {
  HWY_DYNAMIC_DISPATCH(add_weighted)(sums, weights, n, weight);
}

}  // namespace rulerank::knn
#endif
