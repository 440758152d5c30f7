#pragma once

#include "core/device_memory.hpp"
#include "knn/sparse/single_precision.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace rulerank::inline v0::knn {

/// An entry of a posting list.
struct alignas(8) posting {
  std::uint32_t document;
  float weight;
};

/// The view of a device_index for kernels.
struct device_index_ref {
  std::uint32_t const* frequency = nullptr;  ///< [terms] the number of documents with the term
  std::uint32_t const* begin = nullptr;      ///< [terms] the term's first posting
  posting const* postings = nullptr;         ///< by term; the documents of a term in any order
  float const* norms = nullptr;              ///< [documents]
  std::uint32_t documents = 0;
};

/// An inverted index that is built in a device's memory (Freitas 2017, Algorithm 7): counts
/// frequencies, computes an exclusive prefix sum, fills lists, and sums norms with atomic
/// additions. The algorithm's line 8, which computes tf-idf, is omitted, because the pairs already
/// have their weights.
class device_index {
 public:
  /// Builds on the current device, and waits for the result. Throws `device_error` if the index
  /// does not fit, or has more than 2^31 - 1 postings.
  device_index(std::span<term_document const> pairs, std::uint32_t documents, std::uint32_t terms);

  device_index_ref ref() const noexcept;

 private:
  std::uint32_t documents_;
  device_buffer<std::uint32_t> frequency_, begin_;
  device_buffer<posting> postings_;
  device_buffer<float> norms_;
};

/// Throws `device_error` if the current device has fewer than `bytes` free; `what` is named in the
/// message.
void check_fits(std::size_t bytes, std::string_view what);

}  // namespace rulerank::knn
