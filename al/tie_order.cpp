#include "al/tie_order.hpp"

#include "al/sampler.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string_view>
#include <tuple>

namespace rulerank::inline v0::al {

namespace {

/// A bijection in which each output bit depends on all input bits: the finalizer of SplitMix64
/// (Steele, Lea and Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

std::uint64_t joined(std::uint64_t hash, std::uint64_t value) {
  return mixed(hash ^ mixed(value));
}

/// Includes the length, so that two successive texts hash differently from their concatenation.
std::uint64_t joined(std::uint64_t hash, std::string_view text) {
  std::uint64_t of_text = 0xcbf29ce484222325U;  // FNV-1a
  for (char const c : text) of_text = (of_text ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return joined(joined(hash, of_text), text.size());
}

std::uint64_t joined(std::uint64_t hash, std::span<datasets::feature_value const> values) {
  for (datasets::feature_value const& v : values)
    hash = joined(joined(hash, v.feature), std::bit_cast<std::uint64_t>(v.value));
  return hash;
}

}  // namespace

std::vector<std::uint64_t> keys_of_indices(std::size_t documents, std::uint64_t seed) {
  std::vector<std::uint64_t> keys(documents);
  for (std::size_t d = 0; d < documents; ++d) keys[d] = joined(mixed(seed), d);
  return keys;
}

std::vector<std::uint64_t> tie_keys(datasets::dataset const& data, std::uint64_t seed) {
  std::vector<std::uint64_t> keys(data.size());
  for (datasets::query_group const& q : data.queries) {
    std::uint64_t const of_query = joined(mixed(seed), q.qid);
    for (std::size_t d = q.begin; d < q.end; ++d) {
      std::string_view const id = d < data.ids.size() ? data.ids[d] : std::string_view();
      keys[d] = id.empty() ? joined(of_query, data.document(d)) : joined(of_query, id);
    }
  }
  return keys;
}

std::vector<std::uint32_t> order_of_keys(std::span<std::uint64_t const> keys) {
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(keys[a], joined(keys[a], a)) > std::tuple(keys[b], joined(keys[b], b));
  });
  return order;
}

}  // namespace rulerank::al
