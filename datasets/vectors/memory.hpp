#pragma once

#include "core/aligned.hpp"
#include "datasets/vectors.hpp"

#include <cstddef>
#include <memory>
#include <new>
#include <string>

namespace rulerank::inline v0::datasets {

/// So many bytes that are still to be written, at a multiple of `alignment`.
inline std::shared_ptr<std::byte> aligned_bytes(std::size_t bytes) {
  constexpr std::align_val_t at{alignment};
  return {static_cast<std::byte*>(::operator new(bytes, at)),
          [](std::byte* p) { ::operator delete(p, at); }};
}

/// Rows that lie in a text from its byte `begin` on, which they keep. Throws as the constructor of
/// vectors does.
vectors vectors_in(std::shared_ptr<text_source const> const& text, std::size_t begin, element type,
                   std::size_t rows, std::size_t dimensions, std::string const& name);

}  // namespace rulerank::datasets
