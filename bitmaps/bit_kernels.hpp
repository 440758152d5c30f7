#pragma once

#include "bitmaps/bit_matrix.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

// AND and popcount over words, dispatched at run time over the instruction sets that Highway
// supports. Spans of words must be aligned to 64 bytes and padded with zeros to a multiple of 8
// words. Rows of a bit_matrix are, and so are ranges that start and end at such a boundary.
namespace rulerank::inline v0::bitmaps {

/// Counts the set bits of a.
std::uint64_t popcount(std::span<word const> a);

/// Counts the set bits of a AND b; the spans must have the same length.
std::uint64_t and_popcount(std::span<word const> a, std::span<word const> b);

/// Sets out = a AND b; out may be a or b.
void and_words(std::span<word const> a, std::span<word const> b, std::span<word> out);

/// Sets out = a AND b, and counts[k] to the number of set bits of (a AND b AND class k). Class k is
/// the `words` words at `classes + k * stride`. One call serves one itemset of a bitmap with class
/// bitmaps.
void and_class_popcounts(std::span<word const> a, std::span<word const> b, word const* classes,
                         std::size_t stride, std::span<word> out, std::span<std::uint32_t> counts);

/// Words of one class in a range layout: [begin, end).
struct word_range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Sets counts[k] to the number of set bits of `a` within ranges[k]. In label order, this is a
/// class-wise support. Ranges start and end at multiples of 8 words.
void range_popcounts(std::span<word const> a, std::span<word_range const> ranges,
                     std::span<std::uint32_t> counts);

/// Computes the bit products of one prefix with many rows at once. Rows are stored word by word:
/// `columns[w * stride + l]` is word w of row l, so a vector holds one word of several rows and no
/// sum across lanes is needed. For each row l in [begin, end) and each range k, sets
///   counts[k * stride + l] = set bits of (prefix AND row l) within ranges[k].
/// Also writes lanes outside [begin, end) that share a vector with it. `stride` is a multiple of
/// 16, `columns` and `counts` are aligned to 64 bytes; ranges may start at any word.
void product_range_counts(word const* prefix, word const* columns, std::size_t stride,
                          std::size_t begin, std::size_t end, std::span<word_range const> ranges,
                          std::uint32_t* counts);

/// Computes the same products, folded: n[l] = all set bits, and weighted[l] = sum over k of
/// weights[k] × the set bits within ranges[k]. Sums are modulo 2^32.
void product_weighted_counts(word const* prefix, word const* columns, std::size_t stride,
                             std::size_t begin, std::size_t end, std::span<word_range const> ranges,
                             std::span<std::uint32_t const> weights, std::uint32_t* n,
                             std::uint32_t* weighted);

/// Adds the bit products of a few rows with many rows, all stored word by word as above:
///   counts[p * stride + l] += set bits of (row prefix + p AND row l)
/// for p < `prefixes` (1 to 4) and each row l in [begin, stride). Also adds to lanes before `begin`
/// that share a vector with it. `stride` is a multiple of 16 and `columns` is aligned to 64 bytes.
void add_product_counts(word const* columns, std::size_t stride, std::size_t words,
                        std::size_t prefix, std::size_t prefixes, std::size_t begin,
                        std::uint32_t* counts);

/// The overlap pass of the `delta` sampler. For every document p in [0, documents), padded to a
/// multiple of 64, mask is the set of bits j < `wanted.size()` (at most 16) for which columns[j][p]
/// == wanted[j]; then totals[p] += gain[mask]. Returns the smallest total and the first p that has
/// it. `gain` has 2^wanted.size() entries. `totals` is aligned to 64 bytes; its padding must hold
/// values that are never the smallest.
struct smallest_total {
  std::int32_t total = 0;
  std::size_t position = 0;
};
smallest_total add_overlap_gains(std::span<std::uint8_t const* const> columns,
                                 std::span<std::uint8_t const> wanted, std::size_t documents,
                                 std::span<std::int32_t const> gain,
                                 std::span<std::int32_t> totals);

/// Returns Highway's name of the instruction set that the kernels of this process use.
std::string instruction_set();

}  // namespace rulerank::bitmaps
