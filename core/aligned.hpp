#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace rulerank::inline v0 {

/// Bytes to which bit rows and byte columns are aligned and padded: a cache line, an AVX-512 word.
inline constexpr std::size_t alignment = 64;

/// Bytes between variables that different threads write often: two cache lines, because processors
/// fetch lines in pairs.
inline constexpr std::size_t apart = 2 * alignment;

template <class T>
struct aligned_allocator {
  using value_type = T;
  aligned_allocator() = default;
  template <class U>
  aligned_allocator(aligned_allocator<U> const&) noexcept {}
  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{alignment}));
  }
  void deallocate(T* p, std::size_t) noexcept {
    ::operator delete (p, std::align_val_t{alignment});
  }
  friend bool operator==(aligned_allocator, aligned_allocator) noexcept { return true; }
};

/// A vector whose data starts at a multiple of `alignment`.
template <class T>
using aligned_vector = std::vector<T, aligned_allocator<T>>;

/// n rounded up to a multiple of m.
constexpr std::size_t round_up(std::size_t n, std::size_t m) {
  return (n + m - 1) / m * m;
}

}  // namespace rulerank
