#pragma once

#include "core/device_memory.hpp"
#include "knn/sparse/single_precision.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace rulerank::inline v0::knn {

/// A document of a posting list.
struct alignas(8) posting {
  std::uint32_t document;
  float weight;
};

/// What kernels see of a device_index.
struct device_index_ref {
  std::uint32_t const* frequency = nullptr;  ///< [terms] documents that have the term
  std::uint32_t const* begin = nullptr;      ///< [terms] its first posting
  posting const* postings = nullptr;         ///< by term, the documents of a term in any order
  float const* norms = nullptr;              ///< [documents]
  std::uint32_t documents = 0;
};

/// The inverted index in a device's memory, built there (Freitas 2017, Algorithm 7): frequencies
/// counted, an exclusive prefix sum, lists filled and norms summed with atomic additions. The
/// pairs' weights are ready, so the algorithm's line 8, which makes tf-idf of them, is left out.
class device_index {
 public:
  /// On the current device; waits until it is there. Throws `device_error` when it does not fit, or
  /// has more than 2^31 - 1 postings.
  device_index(std::span<term_document const> pairs, std::uint32_t documents, std::uint32_t terms);

  device_index_ref ref() const noexcept;

 private:
  std::uint32_t documents_;
  device_buffer<std::uint32_t> frequency_, begin_;
  device_buffer<posting> postings_;
  device_buffer<float> norms_;
};

/// Throws `device_error` when the current device has fewer bytes free; `what` is named in the
/// message.
void check_fits(std::size_t bytes, std::string_view what);

}  // namespace rulerank::knn
