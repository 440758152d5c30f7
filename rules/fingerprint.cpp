#include "rules/fingerprint.hpp"

#include <algorithm>

namespace rulerank::inline v0::rules {

namespace {
bool is_prime(std::uint32_t n) {
  if (n < 2) return false;
  for (std::uint64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return true;
}
}  // namespace

fingerprint::fingerprint(std::uint32_t items, std::size_t max_size)
    : items_(std::max<std::uint32_t>(items, 1)) {
  std::uint32_t candidate = items == 0 ? 0 : items - 1;
  while (primes_.size() < max_size)
    if (is_prime(++candidate)) primes_.push_back(candidate);
  terms_.resize(max_size * items_);
  for (std::size_t i = 0; i < max_size; ++i)
    for (std::size_t f = 0; f < items_; ++f)
      terms_[i * items_ + f] = static_cast<double>(f) / static_cast<double>(primes_[i]);
}

}  // namespace rulerank::rules
