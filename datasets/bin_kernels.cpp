#include "datasets/bin_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "datasets/bin_kernels.cpp"
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

}  // namespace rulerank::datasets::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerank::inline v0::datasets {

HWY_EXPORT(count_cuts);

void count_cuts(std::span<double const, tile_documents> values, std::span<double const> cuts,
                std::uint8_t missing, std::span<std::uint8_t, tile_documents> codes) {
  HWY_DYNAMIC_DISPATCH(count_cuts)(values.data(), cuts.data(), cuts.size(), missing, codes.data());
}

}  // namespace rulerank::datasets
#endif
