#pragma once

#include "core/host_device.hpp"

#include <cstddef>
#include <cstdint>

// The contribution of one itemset to the score of a document that holds it
// (docs/reference/definitions.md, Ranking), for host and device. Sums are integers, so their order
// does not matter.
namespace rulerank::inline v0::l2r {

__extension__ using wide_sum = unsigned __int128;

/// The two sums of a score: num and den. Sum is std::uint64_t or wide_sum.
template <class Sum>
struct score_sums {
  Sum num{};
  Sum den{};

  RULERANK_HOST_DEVICE score_sums& operator+=(score_sums const& more) {
    num += more.num;
    den += more.den;
    return *this;
  }
};

/// The score of a document; the training set's mean label if no rule was valid.
template <class Sum>
RULERANK_HOST_DEVICE inline double score_of(score_sums<Sum> const& sums, double mean_label) {
  return sums.den == 0 ? mean_label : static_cast<double>(sums.num) / static_cast<double>(sums.den);
}

/// Tables that map the counts of an itemset to its contribution. Trivially copyable, to be passed
/// to kernels. n is the itemset's support, 0 <= n < size; the entries for n = 0 are 0.
template <class Sum>
struct score_view {
  Sum const* factor = nullptr;  ///< [size] n^w / (n + a) in fixed point
  Sum const* unit = nullptr;    ///< [size] n^w in fixed point (a = 0 and all labels valid)
  Sum const* extra = nullptr;   ///< [classes x size] n^w a prior_r / (n + a); null if a = 0
  std::uint32_t const* min_valid = nullptr;  ///< [size] smallest valid support of a label
  std::int32_t const* labels = nullptr;      ///< [classes] descending
  std::uint32_t classes = 0;
  std::uint32_t size = 0;
  std::uint32_t folded_up_to = 0;  ///< for n up to this, folded() equals classwise()

  /// The contribution from n and weighted = sum of r n_r; only for n <= folded_up_to.
  RULERANK_HOST_DEVICE score_sums<Sum> folded(std::uint32_t n, std::uint32_t weighted) const {
    return {factor[n] * weighted, unit[n]};
  }

  /// The contribution from the class-wise supports `counts[k * stride]`; n is their sum.
  RULERANK_HOST_DEVICE score_sums<Sum> classwise(std::uint32_t n, std::uint32_t const* counts,
                                                 std::size_t stride) const;
};

/// Accumulates an itemset's contribution class by class.
template <class Sum>
class class_sums {
 public:
  RULERANK_HOST_DEVICE class_sums(score_view<Sum> const& table, std::uint32_t n)
      : n_(n), least_(table.min_valid[n]) {}

  /// Adds the support of class k. Add each class at most once; omitted classes count 0.
  RULERANK_HOST_DEVICE void add(score_view<Sum> const& table, std::uint32_t k,
                                std::uint32_t sigma) {
    if (sigma < least_) return;
    auto const label = static_cast<std::uint64_t>(table.labels[k]);
    valid_ += sigma;
    weighted_ += label * sigma;
    if (table.extra != nullptr) {
      Sum const more = table.extra[std::size_t{k} * table.size + n_];
      smoothed_ += {more * label, more};
    }
  }
  RULERANK_HOST_DEVICE score_sums<Sum> sums(score_view<Sum> const& table) const {
    Sum const factor = table.factor[n_];
    score_sums<Sum> all{factor * weighted_,
                        table.extra == nullptr && valid_ == n_ ? table.unit[n_] : factor * valid_};
    return all += smoothed_;
  }

 private:
  std::uint32_t n_;
  std::uint32_t least_;
  std::uint32_t valid_ = 0;
  std::uint64_t weighted_ = 0;
  score_sums<Sum> smoothed_;
};

template <class Sum>
RULERANK_HOST_DEVICE inline score_sums<Sum> score_view<Sum>::classwise(std::uint32_t n,
                                                                       std::uint32_t const* counts,
                                                                       std::size_t stride) const {
  class_sums<Sum> itemset(*this, n);
  for (std::uint32_t k = 0; k < classes; ++k) itemset.add(*this, k, counts[k * stride]);
  return itemset.sums(*this);
}

}  // namespace rulerank::l2r
