#pragma once

#include <string_view>

namespace rulerank::inline v0::datasets {

enum class number_kind {
  finite,
  missing,    ///< `NULL` or `nan`, in any case
  infinite,   ///< `inf`, `infinity`, in any case
  too_large,  ///< digits whose value is beyond the largest double
  malformed,
};

/// Reads all of `token` as a decimal number the way strtod does in the C locale, rounded to the
/// nearest double, without hexadecimal and blanks; what is too small becomes 0. `value` is set
/// for `finite`, and to NaN for `missing`.
number_kind read_number(std::string_view token, double& value);

}  // namespace rulerank::datasets
