#include "l2r/explain/explanation.hpp"
#include "l2r/explain/wide_integer.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace rulerank::inline v0::l2r {

wide_integer wide(exact_integer const& of) {
  wide_integer size;
  import_bits(size, of.limbs().begin(), of.limbs().end(), 64, false);
  return of.is_negative() ? wide_integer(-size) : size;
}

exact_integer exact(wide_integer const& of) {
  std::vector<std::uint64_t> limbs;
  export_bits(wide_integer(abs(of)), std::back_inserter(limbs), 64, false);
  std::array<std::uint64_t, 8> all{};
  std::copy_n(limbs.begin(), std::min(limbs.size(), all.size()), all.begin());
  return {all, of < 0};
}

exact_integer::exact_integer(std::array<std::uint64_t, 8> const& limbs, bool negative)
    : limbs_(limbs), negative_(negative && limbs != std::array<std::uint64_t, 8>{}) {}

std::string exact_integer::str() const {
  return wide(*this).str();
}

double exact_integer::to_double() const {
  return wide(*this).convert_to<double>();
}

exact_integer exact_integer::operator-() const {
  return {limbs_, !negative_};
}

exact_integer& exact_integer::operator+=(exact_integer const& other) {
  return *this = exact(wide(*this) + wide(other));
}

exact_integer& exact_integer::operator-=(exact_integer const& other) {
  return *this = exact(wide(*this) - wide(other));
}

exact_integer& exact_integer::operator*=(exact_integer const& other) {
  return *this = exact(wide(*this) * wide(other));
}

std::strong_ordering operator<=>(exact_integer const& a, exact_integer const& b) {
  if (a.negative_ != b.negative_)
    return a.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  auto const size = std::lexicographical_compare_three_way(a.limbs_.rbegin(), a.limbs_.rend(),
                                                           b.limbs_.rbegin(), b.limbs_.rend());
  return a.negative_ ? 0 <=> size : size;
}

exact_integer abs(exact_integer const& of) {
  return of.is_negative() ? -of : of;
}

double quotient(exact_integer const& numerator, exact_integer const& denominator) {
  return numerator.to_double() / denominator.to_double();
}

}  // namespace rulerank::l2r
