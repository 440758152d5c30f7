#include "knn/metric/indexes/sss_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn/metric/indexes/sss_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rulerank::inline v0::knn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using code_tag = hn::CappedTag<T, codes_a_block>;
/// Pivots after which a vector of objects is tested for being excluded completely.
constexpr std::size_t pivots_a_look = 8;

template <class T>
HWY_INLINE hn::Vec<code_tag<T>> codes_of(code_block const& of, std::size_t pivot,
                                         std::size_t first) {
  return hn::LoadU(code_tag<T>(),
                   reinterpret_cast<T const*>(of.codes) + pivot * codes_a_block + first);
}

template <class T>
std::uint64_t in_ranges_of(code_block const& of, code_range const* ranges) {
  code_tag<T> const d;
  auto const none = hn::Zero(d);
  std::uint64_t inside = 0;
  for (std::size_t first = 0; first < codes_a_block; first += hn::Lanes(d)) {
    auto beyond = none;
    for (std::size_t p = 0; p < of.pivots;) {
      std::size_t const end = p + pivots_a_look < of.pivots ? p + pivots_a_look : of.pivots;
      for (; p < end; ++p) {
        // Codes below the range wrap around.
        auto const from_low =
            hn::Sub(codes_of<T>(of, p, first), hn::Set(d, static_cast<T>(ranges[p].low)));
        auto const width = hn::Set(d, static_cast<T>(ranges[p].width));
        beyond = hn::Or(beyond, hn::SaturatedSub(from_low, width));
      }
      if (hn::AllFalse(d, hn::Eq(beyond, none))) break;
    }
    HWY_ALIGN std::uint8_t bits[codes_a_block / 8] = {};
    hn::StoreMaskBits(d, hn::Eq(beyond, none), bits);
    std::uint64_t mask = 0;
    hwy::CopySameSize(&bits, &mask);
    inside |= mask << first;
  }
  return inside;
}

template <class T>
void apart_of(code_block const& of, std::uint16_t const* from, std::uint16_t* apart) {
  code_tag<T> const d;
  for (std::size_t first = 0; first < codes_a_block; first += hn::Lanes(d)) {
    auto most = hn::Zero(d);
    for (std::size_t p = 0; p < of.pivots; ++p) {
      auto const code = codes_of<T>(of, p, first);
      auto const other = hn::Set(d, static_cast<T>(from[p]));
      most = hn::Max(most, hn::Or(hn::SaturatedSub(code, other), hn::SaturatedSub(other, code)));
    }
    HWY_ALIGN T values[codes_a_block];
    hn::Store(most, d, values);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) apart[first + i] = values[i];
  }
}

std::uint64_t in_ranges(code_block const& of, code_range const* ranges) {
  return of.code_bytes == 1 ? in_ranges_of<std::uint8_t>(of, ranges)
                            : in_ranges_of<std::uint16_t>(of, ranges);
}
void apart(code_block const& of, std::uint16_t const* from, std::uint16_t* values) {
  if (of.code_bytes == 1)
    apart_of<std::uint8_t>(of, from, values);
  else
    apart_of<std::uint16_t>(of, from, values);
}

}  // namespace rulerank::knn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerank::inline v0::knn {

HWY_EXPORT(in_ranges);
HWY_EXPORT(apart);

std::uint64_t codes_in_ranges(code_block const& of, code_range const* ranges) {
  return HWY_DYNAMIC_DISPATCH(in_ranges)(of, ranges);
}
void codes_apart(code_block const& of, std::uint16_t const* from, std::uint16_t* values) {
  HWY_DYNAMIC_DISPATCH(apart)(of, from, values);
}

}  // namespace rulerank::knn
#endif
