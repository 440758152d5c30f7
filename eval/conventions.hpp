#pragma once

#include "eval/profile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rulerank::inline v0::eval {

/// A profile prepared for one data set: with r_max, and logarithms tabulated.
class conventions {
 public:
  /// `largest_label`: of the data; `longest`: the longest ranking or pool of a query. Throws
  /// `usage_error` for a profile that `check` rejects or that does not fit the labels (a max-label
  /// or a list of prel that ends below `largest_label`, gains beyond a double).
  conventions(profile p, std::int32_t largest_label, std::size_t longest);

  profile const& rules() const noexcept { return profile_; }

  /// The gain of a label. Exponential gains require integers (see `measure_kind::labels`).
  double gain(double label) const {
    if (label <= 0) return 0;
    return profile_.gain == gain_function::linear ? label
                                                  : std::ldexp(1.0, static_cast<int>(label)) - 1;
  }
  /// The discounted gain at `rank`, from 0.
  double discounted(double gain, std::size_t rank) const {
    if (profile_.discount == discount_function::log2) return gain / logarithm_[rank];
    return rank == 0 ? gain : gain * ln2_ / logarithm_[rank];
  }
  bool relevant(double label) const { return label >= profile_.relevant_from; }
  /// (2^r - 1) / 2^r_max: ERR's probability that a document satisfies the reader.
  double satisfaction(double label) const {
    return label <= 0 ? 0 : std::ldexp(std::ldexp(1.0, static_cast<int>(label)) - 1, -max_label_);
  }
  /// pFound's p_rel.
  double found(double label) const {
    if (label < 0) return 0;
    return profile_.prel.empty() ? satisfaction(label)
                                 : profile_.prel[static_cast<std::size_t>(label)];
  }

 private:
  profile profile_;
  std::int32_t max_label_;
  double ln2_ = std::log(2.0);
  std::vector<double> logarithm_;  // log2(rank + 2); for letor log(rank + 1)
};

}  // namespace rulerank::eval
