#include "datasets/discretizer/bin_kernels.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "datasets/discretizer/bin_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rulerank::inline v0::datasets::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void count_cuts(double const* values, double const* cuts, std::size_t count, std::uint8_t missing,
                std::uint8_t* codes) {
  hn::CappedTag<double, tile_documents> const d;
  hn::RebindToUnsigned<decltype(d)> const counts;
  hn::Rebind<std::uint8_t, decltype(d)> const bytes;
  for (std::size_t i = 0; i < tile_documents; i += hn::Lanes(d)) {
    auto const x = hn::LoadU(d, values + i);
    auto bin = hn::Zero(counts);
    for (std::size_t c = 0; c < count; ++c) {
      auto const reached = hn::Ge(x, hn::Set(d, cuts[c]));
      // A mask's lanes are all ones, which is -1.
      bin = hn::Sub(bin, hn::BitCast(counts, hn::VecFromMask(d, reached)));
    }
    auto const is_missing = hn::RebindMask(counts, hn::IsNaN(x));
    bin = hn::IfThenElse(is_missing, hn::Set(counts, missing), bin);
    hn::StoreU(hn::TruncateTo(bytes, bin), bytes, codes + i);
  }
}

template <class Value>
bool has_infinite(Value const* values, std::size_t count) {
  hn::ScalableTag<Value> const d;
  std::size_t const lanes = hn::Lanes(d), whole = count - count % lanes;
  auto found = hn::IsInf(hn::Zero(d));
  for (std::size_t i = 0; i < whole; i += lanes)
    found = hn::Or(found, hn::IsInf(hn::LoadU(d, values + i)));
  for (std::size_t i = whole; i < count; ++i)
    if (std::isinf(values[i])) return true;
  return !hn::AllFalse(d, found);
}

bool has_infinite_double(double const* values, std::size_t count) {
  return has_infinite(values, count);
}
bool has_infinite_float(float const* values, std::size_t count) {
  return has_infinite(values, count);
}

}  // namespace rulerank::datasets::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerank::inline v0::datasets {

HWY_EXPORT(count_cuts);
HWY_EXPORT(has_infinite_double);
HWY_EXPORT(has_infinite_float);

void count_cuts(std::span<double const, tile_documents> values, std::span<double const> cuts,
                std::uint8_t missing, std::span<std::uint8_t, tile_documents> codes) {
  HWY_DYNAMIC_DISPATCH(count_cuts)(values.data(), cuts.data(), cuts.size(), missing, codes.data());
}

bool has_infinite(std::span<double const> values) {
  return HWY_DYNAMIC_DISPATCH(has_infinite_double)(values.data(), values.size());
}

bool has_infinite(std::span<float const> values) {
  return HWY_DYNAMIC_DISPATCH(has_infinite_float)(values.data(), values.size());
}

}  // namespace rulerank::datasets
#endif
