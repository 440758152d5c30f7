#pragma once

#include "core/aligned.hpp"

#include <cstddef>
#include <memory>
#include <new>

namespace rulerank::inline v0::datasets {

/// Returns uninitialized memory that is aligned to `alignment`.
inline std::shared_ptr<std::byte> aligned_bytes(std::size_t bytes) {
  constexpr std::align_val_t at{alignment};
  return {static_cast<std::byte*>(::operator new(bytes, at)),
          [](std::byte* p) { ::operator delete(p, at); }};
}

}  // namespace rulerank::datasets
