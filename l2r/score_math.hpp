#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define RULERANK_HOST_DEVICE __host__ __device__
#else
#define RULERANK_HOST_DEVICE
#endif

// What one itemset adds to the score of a document that holds it (docs/definitions.md, Ranking),
// for host and device alike. All sums are integers: their order does not matter.
namespace rulerank::l2r {

__extension__ using wide_sum = unsigned __int128;

/// The two sums of a score. Sum is std::uint64_t or wide_sum.
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

/// The score of a document, or the training set's mean label where no rule was valid.
template <class Sum>
RULERANK_HOST_DEVICE inline double score_of(score_sums<Sum> const& sums, double mean_label) {
  return sums.den == 0 ? mean_label : static_cast<double>(sums.num) / static_cast<double>(sums.den);
}

/// The tables that turn the counts of an itemset into what it adds; trivially copyable, so that a
/// kernel can be given one. n is the number of training documents that hold the itemset,
/// 0 <= n < size; the entries for n = 0 are 0.
template <class Sum>
struct score_view {
  Sum const* factor = nullptr;  ///< [size] n^w / (n + a) in fixed point
  Sum const* unit = nullptr;    ///< [size] n^w in fixed point (a = 0: all labels valid)
  Sum const* extra = nullptr;   ///< [classes x size] n^w a prior_r / (n + a); null without a
  std::uint32_t const* min_valid = nullptr;  ///< [size] smallest valid support of a label
  std::int32_t const* labels = nullptr;      ///< [classes] descending
  std::uint32_t classes = 0;
  std::uint32_t size = 0;
  std::uint32_t folded_up_to = 0;  ///< up to this n, folded() gives the same as classwise()

  /// From n and weighted = sum of r n_r; only for n <= folded_up_to.
  RULERANK_HOST_DEVICE score_sums<Sum> folded(std::uint32_t n, std::uint32_t weighted) const {
    return {factor[n] * weighted, unit[n]};
  }

  /// From the class-wise supports `counts[k * stride]`, n their sum.
  RULERANK_HOST_DEVICE score_sums<Sum> classwise(std::uint32_t n, std::uint32_t const* counts,
                                                 std::size_t stride) const {
    std::uint32_t const least = min_valid[n];
    std::uint64_t weighted = 0;
    std::uint64_t valid = 0;
    score_sums<Sum> smoothed;
    for (std::uint32_t k = 0; k < classes; ++k) {
      std::uint32_t const sigma = counts[k * stride];
      if (sigma < least) continue;
      auto const label = static_cast<std::uint64_t>(labels[k]);
      valid += sigma;
      weighted += label * sigma;
      if (extra != nullptr) {
        Sum const more = extra[std::size_t{k} * size + n];
        smoothed += {more * label, more};
      }
    }
    score_sums<Sum> sums{factor[n] * weighted,
                         extra == nullptr && valid == n ? unit[n] : factor[n] * valid};
    return sums += smoothed;
  }
};

}  // namespace rulerank::l2r
