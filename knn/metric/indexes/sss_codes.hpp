#pragma once

#include "knn/metric/indexes/exclusion.hpp"
#include "knn/metric/indexes/sss_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::knn {

/// The table of an SSS-Index in one or two bytes a distance, which a search reads in place of the
/// table. Where all distances are whole numbers below 255, a code is the distance; else c stands
/// for the distances from c steps to c + 1. Codes exclude no object that the table does not, and
/// say which objects the table does not exclude either, but of the few at the border.
class pivot_codes {
 public:
  pivot_codes() = default;
  /// `table`: [objects][pivots], not NaN and not below 0.
  pivot_codes(std::span<double const> table, std::size_t pivots);

  /// Whether codes are the distances.
  bool are_whole() const { return is_whole_; }

  struct object_left {
    std::uint32_t place;
    bool is_sure;  ///< the table does not exclude it either
  };
  /// Those in [first, last) that the codes do not exclude, rising. `first` is a multiple of
  /// `codes_a_block`.
  std::vector<object_left> within(exclusion const& rule, std::span<double const> to_pivots,
                                  double bound, std::size_t first, std::size_t last) const;

  /// How far objects are from a query at least.
  struct bounds {
    std::vector<std::uint16_t> apart;  ///< of the objects in [first, last), in steps
    bool are_whole = false;            ///< distances and codes
    bool are_cut = false;              ///< the query is farther from a pivot than codes go
    double step = 1;
    double slack = 0;

    /// The bound by the table is within these two.
    double at_least(std::uint16_t some_apart) const {
      return (static_cast<double>(some_apart) - (are_whole ? 0 : 1)) * step - slack;
    }
    double at_most(std::uint16_t some_apart) const;
  };
  bounds bounds_of(exclusion const& rule, std::span<double const> to_pivots, std::size_t first,
                   std::size_t last) const;

 private:
  int last_code() const { return is_whole_ ? 255 : 65535; }  ///< of all distances from there on
  int code_of(double distance) const;
  double low_of(int code) const { return code * step_; }
  double high_of(int code) const;
  code_range range(exclusion const& rule, double to_pivot, double bound, bool& is_empty) const;
  code_range sure_range(double to_pivot, double bound, bool& is_empty) const;
  code_block block(std::size_t which) const {
    std::size_t const code_bytes = is_whole_ ? 1 : 2;
    return {codes_.data() + which * pivots_ * codes_a_block * code_bytes, code_bytes, pivots_};
  }

  std::size_t pivots_ = 0;
  bool is_whole_ = true;
  double step_ = 1;               ///< a power of two, so that no product or quotient rounds
  double farthest_ = 0;           ///< the largest finite distance of the table
  std::vector<std::byte> codes_;  ///< [blocks][pivots][codes_a_block], of 8 bits, or of 16
};

}  // namespace rulerank::knn
