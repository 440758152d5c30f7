#include "datasets/discretizer/tube_kernels.hpp"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "datasets/discretizer/tube_kernels.cpp"
#include <hwy/foreach_target.h>
// The comment keeps clang-format from sorting this in front of foreach_target.h.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>
// After foreach_target.h, which includes it for each instruction set.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace rulerank::inline v0::datasets::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using doubles_tag = hn::CappedTag<double, tube_chunk>;
using doubles = hn::Vec<doubles_tag>;

/// Cuts in one bin, by their distances to its ends and the documents on both sides.
class cuts_of_bin {
 public:
  cuts_of_bin(std::span<double const> before, tube_range const& bin)
      : from_(hn::Set(d, bin.from)),
        to_(hn::Set(d, bin.to)),
        smaller_(hn::Set(d, before[bin.first])),
        up_to_(hn::Set(d, before[bin.last])),
        total_(hn::Set(d, before.back())),
        parent_(terms(hn::Sub(up_to_, smaller_), hn::Sub(to_, from_))) {}

  /// `before`: documents smaller than the cut.
  doubles gains(doubles cut, doubles before) const {
    auto const inside = hn::And(hn::Gt(cut, from_), hn::Lt(cut, to_));
    doubles const gain = hn::Sub(hn::Add(terms(hn::Sub(before, smaller_), hn::Sub(cut, from_)),
                                         terms(hn::Sub(up_to_, before), hn::Sub(to_, cut))),
                                 parent_);
    return hn::IfThenElse(inside, gain, hn::Set(d, -std::numeric_limits<double>::infinity()));
  }

 private:
  static constexpr doubles_tag d{};

  /// n ln(n / (N w)), or 0 where n is 0.
  doubles terms(doubles n, doubles width) const {
    return hn::IfThenElseZero(hn::Gt(n, hn::Zero(d)),
                              hn::Mul(n, hn::Log(d, hn::Div(n, hn::Mul(total_, width)))));
  }

  doubles from_, to_, smaller_, up_to_, total_, parent_;
};

void approximate(std::span<double const> values, std::span<double const> before,
                 tube_range const& bin, std::span<double> gains) {
  doubles_tag const d;
  cuts_of_bin const cuts(before, bin);
  doubles const margin = hn::Set(d, bin.margin), half = hn::Set(d, 0.5);
  for (std::size_t c = 1; c + 1 < gains.size(); ++c) {
    doubles best = hn::Set(d, -std::numeric_limits<double>::infinity());
    std::size_t const begin = bin.first + c * tube_chunk;
    for (std::size_t i = begin; i < begin + tube_chunk; i += hn::Lanes(d)) {
      doubles const previous = hn::LoadU(d, &values[i - 1]), value = hn::LoadU(d, &values[i]),
                    next = hn::LoadU(d, &values[i + 1]);
      doubles const smaller = hn::LoadU(d, &before[i]);
      doubles const middle = hn::Mul(hn::Add(previous, value), half);
      doubles const below = hn::Max(hn::Sub(value, margin), middle);
      doubles const above = hn::Min(hn::Add(value, margin), hn::Mul(hn::Add(value, next), half));
      best = hn::Max(best, cuts.gains(above, hn::IfThenElse(hn::Le(above, value), smaller,
                                                            hn::LoadU(d, &before[i + 1]))));
      // Most cuts below a value are the cut above the value before.
      doubles const last_above = hn::Min(hn::Add(previous, margin), middle);
      if (hn::AllTrue(d, hn::Eq(below, last_above))) continue;
      best =
          hn::Max(best, cuts.gains(below, hn::IfThenElse(hn::Le(below, previous),
                                                         hn::LoadU(d, &before[i - 1]), smaller)));
    }
    gains[c] = hn::GetLane(hn::MaxOfLanes(d, best));
  }
}

}  // namespace rulerank::inline v0::datasets::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerank::inline v0::datasets {

HWY_EXPORT(approximate);

void approximate_tube_gains(std::span<double const> values, std::span<double const> before,
                            tube_range const& bin, std::span<double> gains) {
  HWY_DYNAMIC_DISPATCH(approximate)(values, before, bin, gains);
}

}  // namespace rulerank::datasets
#endif
