#pragma once

#include "core/aligned.hpp"

#include <cstddef>
#include <utility>

// Packs several arrays into one allocation, so that one copy moves all of them between host and
// device.
namespace rulerank::inline v0::knn {

/// An array of T by its offset in an allocation.
template <class T>
struct packed_array {
  std::size_t begin = 0;  ///< bytes
  T* in(std::byte* allocation) const { return reinterpret_cast<T*>(allocation + begin); }
};

/// Appends arrays, each at a multiple of `alignment`.
class packed_arrays {
 public:
  template <class T>
  packed_array<T> add(std::size_t n) {
    return {std::exchange(bytes_, round_up(bytes_ + n * sizeof(T), alignment))};
  }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

}  // namespace rulerank::knn
