#pragma once

#include "knn/metric/indexes/exclusion.hpp"
#include "knn/metric/indexes/sss_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::knn {

/// The table of an SSS-Index in one or two bytes per distance, which a search reads instead of the
/// table. If all distances are integers below 255, a code is the distance; otherwise code c
/// represents the distances from c steps to c + 1. Codes never exclude an object that the table
/// does not exclude. For most of the remaining objects, the codes also show that the table does not
/// exclude them; only objects at the border are undecided.
class pivot_codes {
 public:
  pivot_codes() = default;
  /// `table`: [objects][pivots], not NaN and not negative.
  pivot_codes(std::span<double const> table, std::size_t pivots);

  /// Whether codes equal the distances.
  bool are_whole() const { return is_whole_; }

  struct object_left {
    std::uint32_t place;
    bool is_sure;  ///< the table does not exclude it either
  };
  /// Returns the objects in [first, last) that the codes do not exclude, ascending. `first` is a
  /// multiple of `codes_a_block`.
  std::vector<object_left> within(exclusion const& rule, std::span<double const> to_pivots,
                                  double bound, std::size_t first, std::size_t last) const;

  /// Lower bounds of the distances of objects to a query.
  struct bounds {
    std::vector<std::uint16_t> apart;  ///< for the objects in [first, last), in steps
    bool are_whole = false;            ///< distances and codes are integers
    bool are_cut = false;              ///< the query is farther from a pivot than the largest code
    double step = 1;
    double slack = 0;

    /// The bound from the table is between these two.
    double at_least(std::uint16_t some_apart) const {
      return (static_cast<double>(some_apart) - (are_whole ? 0 : 1)) * step - slack;
    }
    double at_most(std::uint16_t some_apart) const;
  };
  bounds bounds_of(exclusion const& rule, std::span<double const> to_pivots, std::size_t first,
                   std::size_t last) const;

 private:
  int last_code() const { return is_whole_ ? 255 : 65535; }  ///< represents all larger distances
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
  double step_ = 1;               ///< a power of two, so products and quotients are exact
  double farthest_ = 0;           ///< largest finite distance in the table
  std::vector<std::byte> codes_;  ///< [blocks][pivots][codes_a_block], 8 or 16 bits each
};

}  // namespace rulerank::knn
