#pragma once

#include "core/for_each_device.hpp"
#include "knn/packed_arrays.hpp"
#include "knn/sparse/sparse_index.hpp"
#include "knn/sparse/tile_search_cuda.cuh"
#include "knn/staged_memory.cuh"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Copies a batch of queries to a device in one copy, and its results back in another.
namespace rulerank::inline v0::knn {

/// The places of a batch's arrays in an allocation.
class batch_layout {
 public:
  batch_layout() = default;
  /// `entries`: terms of all queries together.
  batch_layout(std::size_t queries, std::size_t entries, std::size_t k)
      : begin_(arrays_.add<std::uint64_t>(queries + 1)),
        norm_(arrays_.add<double>(queries)),
        error_(arrays_.add<std::uint32_t>(queries)),
        weight_(arrays_.add<double>(entries)),
        term_(arrays_.add<std::uint32_t>(entries)),
        best_(arrays_.add<std::uint32_t>(queries)),
        handed_on_(arrays_.add<std::uint32_t>(queries)),
        counts_(arrays_.add<unsigned long long>(2)),
        answered_(arrays_.add<std::uint32_t>(queries)),
        documents_(arrays_.add<std::uint32_t>(queries * k)),
        scores_(arrays_.add<double>(queries * k)) {}

  query_view queries(std::byte* at) const {
    return {.begin = begin_.in(at),
            .term = term_.in(at),
            .weight = weight_.in(at),
            .norm = norm_.in(at),
            .error = error_.in(at)};
  }
  handed_view handed(std::byte* at, handed_document* documents, std::uint32_t capacity) const {
    return {.best = best_.in(at),
            .count = handed_on_.in(at),
            .document = documents,
            .capacity = capacity};
  }
  results_view results(std::byte* at) const {
    return {.scores = scores_.in(at),
            .documents = documents_.in(at),
            .answered = answered_.in(at),
            .rescored = counts_.in(at),
            .postings_read = counts_.in(at) + 1};
  }

  std::size_t bytes() const noexcept { return arrays_.bytes(); }
  /// The bytes that a device starts with: the queries, then zeros.
  index_range start() const noexcept { return {0, documents_.begin}; }
  index_range zeros() const noexcept { return {best_.begin, documents_.begin}; }
  /// The bytes of the results.
  index_range found() const noexcept { return {counts_.begin, bytes()}; }

 private:
  packed_arrays arrays_;
  packed_array<std::uint64_t> begin_;
  packed_array<double> norm_;
  packed_array<std::uint32_t> error_;
  packed_array<double> weight_;
  packed_array<std::uint32_t> term_;
  packed_array<std::uint32_t> best_, handed_on_;
  packed_array<unsigned long long> counts_;
  packed_array<std::uint32_t> answered_, documents_;
  packed_array<double> scores_;
};

/// A batch of queries in pinned host memory.
class staged_batch {
 public:
  /// Allocates memory for a range of rows; any thread may then put each of them.
  void stage(sparse_rows const& rows, index_range const& of, std::size_t k) {
    of_ = of;
    first_entry_ = rows.begin[of.begin];
    layout_ = {of.size(), rows.begin[of.end] - first_entry_, k};
    memory_.reserve(std::bit_ceil(layout_.start().size()));
    std::memset(memory_.data() + layout_.zeros().begin, 0, layout_.zeros().size());
    view_ = layout_.queries(memory_.data());
    view_.begin[0] = 0;
  }
  void put(sparse_rows const& rows, std::size_t q, double norm, std::uint32_t error) {
    std::size_t const i = q - of_.begin;
    sparse_row const row = rows[q];
    std::uint64_t const begin = rows.begin[q] - first_entry_;
    view_.begin[i + 1] = begin + row.size();
    view_.norm[i] = norm;
    view_.error[i] = error;
    std::copy(row.term.begin(), row.term.end(), view_.term + begin);
    std::copy(row.weight.begin(), row.weight.end(), view_.weight + begin);
  }
  index_range const& of() const noexcept { return of_; }
  batch_layout const& layout() const noexcept { return layout_; }
  std::byte const* data() const noexcept { return memory_.data(); }

 private:
  index_range of_;
  std::uint64_t first_entry_ = 0;
  batch_layout layout_;
  query_view view_{};
  pinned_buffer<std::byte> memory_;
};

/// A batch and its results, on a device and on the host.
class query_batch {
 public:
  /// The limits that batches share. `queries`: most queries of a batch. `capacity`: most candidates
  /// of a query.
  struct shape {
    std::size_t queries = 1;
    std::size_t k = 0;
    std::size_t capacity = 0;
  };
  /// Returns the device bytes for such batches, without the terms of their queries.
  static std::size_t bytes(shape const& of) {
    return of.queries * of.capacity * sizeof(handed_document) +
           staged_memory::bytes(batch_layout(of.queries, 0, of.k).bytes());
  }

  /// Grows the memory for such batches. It never shrinks.
  void fit(shape const& of) {
    capacity_ = static_cast<std::uint32_t>(of.capacity);
    handed_.reserve(of.queries * of.capacity);
    memory_.reserve(batch_layout(of.queries, 0, of.k).bytes());
  }
  void start(staged_batch const& from, cudaStream_t on) {
    layout_ = from.layout();
    memory_.reserve(layout_.bytes());
    memory_.upload(from.data(), layout_.start().size(), on);
  }
  query_view queries() { return layout_.queries(memory_.on_device()); }
  handed_view handed() { return layout_.handed(memory_.on_device(), handed_.data(), capacity_); }
  results_view results() { return layout_.results(memory_.on_device()); }

  /// Waits for the results, which are valid until the next batch.
  void fetch(cudaStream_t on) { memory_.download(layout_.found(), on); }
  results_view found() { return layout_.results(memory_.on_host()); }

 private:
  std::uint32_t capacity_ = 0;
  batch_layout layout_;
  staged_memory memory_;
  device_buffer<handed_document> handed_;
};

}  // namespace rulerank::knn
