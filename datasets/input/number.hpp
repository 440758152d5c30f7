#pragma once

#include <string_view>

namespace rulerank::inline v0::datasets {

enum class number_kind {
  finite,
  missing,    ///< `NULL` or `nan`, in any case
  infinite,   ///< `inf`, `infinity`, in any case
  too_large,  ///< digits whose value exceeds the largest double
  malformed,
};

/// Reads all of `token` as a decimal number like strtod in the C locale, rounded to the nearest
/// double, without hexadecimal and spaces; too small values become 0. Sets `value` for `finite`,
/// and to NaN for `missing`.
number_kind read_number(std::string_view token, double& value);

}  // namespace rulerank::datasets
