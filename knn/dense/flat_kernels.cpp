#include "knn/dense/flat_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn/dense/flat_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rulerank::inline v0::knn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using lanes_tag = hn::CappedTag<float, query_group>;
using lanes = hn::Vec<lanes_tag>;
constexpr std::size_t lane_count = hn::MaxLanes(lanes_tag());

template <class T>
void to_floats_of(std::byte const* values, std::size_t count, float* floats) {
  auto const* const typed = reinterpret_cast<T const*>(values);
  for (std::size_t i = 0; i < count; ++i) floats[i] = static_cast<float>(typed[i]);
}
void to_floats(datasets::element type, std::byte const* values, std::size_t count, float* floats) {
  switch (type) {
    case datasets::element::float16:
      return to_floats_of<datasets::float16>(values, count, floats);
    case datasets::element::bfloat16:
      return to_floats_of<datasets::bfloat16>(values, count, floats);
    case datasets::element::int8:
      return to_floats_of<std::int8_t>(values, count, floats);
    case datasets::element::uint8:
      return to_floats_of<std::uint8_t>(values, count, floats);
    default:
      return to_floats_of<float>(values, count, floats);
  }
}
void subtract(float const* vector, std::size_t dimensions, std::size_t rows, float* values) {
  for (std::size_t r = 0; r < rows; ++r, values += dimensions)
    for (std::size_t i = 0; i < dimensions; ++i) values[i] -= vector[i];
}

struct squared_difference {
  static HWY_INLINE lanes add(lanes x, lanes y, lanes sum) {
    lanes const difference = hn::Sub(x, y);
    return hn::MulAdd(difference, difference, sum);
  }
  static float add(float x, float y, float sum) { return (x - y) * (x - y) + sum; }
};
struct product {
  static HWY_INLINE lanes add(lanes x, lanes y, lanes sum) { return hn::MulAdd(x, y, sum); }
  static float add(float x, float y, float sum) { return x * y + sum; }
};

/// Sums of R consecutive rows, with two accumulators per row to hide latency.
template <class Term, std::size_t R>
HWY_INLINE void sum_rows(float const* vector, float const* row, std::size_t stride,
                         std::size_t dimensions, float* sums) {
  lanes_tag const d;
  lanes even[R];
  lanes odd[R];
  HWY_UNROLL(4)
  for (std::size_t r = 0; r < R; ++r) even[r] = odd[r] = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lane_count <= dimensions; i += 2 * lane_count) {
    lanes const first = hn::LoadU(d, vector + i);
    lanes const second = hn::LoadU(d, vector + i + lane_count);
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < R; ++r) {
      even[r] = Term::add(hn::LoadU(d, row + r * stride + i), first, even[r]);
      odd[r] = Term::add(hn::LoadU(d, row + r * stride + i + lane_count), second, odd[r]);
    }
  }
  for (; i + lane_count <= dimensions; i += lane_count) {
    lanes const values = hn::LoadU(d, vector + i);
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < R; ++r)
      even[r] = Term::add(hn::LoadU(d, row + r * stride + i), values, even[r]);
  }
  HWY_UNROLL(4)
  for (std::size_t r = 0; r < R; ++r) {
    float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even[r], odd[r])));
    for (std::size_t j = i; j < dimensions; ++j)
      sum = Term::add(row[r * stride + j], vector[j], sum);
    sums[r] = sum;
  }
}

template <class Term>
void sum_all(float const* vector, float_rows const& rows, float* sums) {
  std::size_t r = 0;
  for (; r + 4 <= rows.count; r += 4)
    sum_rows<Term, 4>(vector, rows[r], rows.stride, rows.dimensions, sums + r);
  for (; r < rows.count; ++r)
    sum_rows<Term, 1>(vector, rows[r], rows.stride, rows.dimensions, sums + r);
}
void sum_squared_differences(float const* vector, float_rows const& rows, float* sums) {
  sum_all<squared_difference>(vector, rows, sums);
}
void sum_products(float const* vector, float_rows const& rows, float* sums) {
  sum_all<product>(vector, rows, sums);
}

/// Keeps the products of R rows and V vectors of queries in registers.
template <std::size_t V, std::size_t R>
HWY_INLINE std::size_t near_pairs_of(query_panel const& panel, float_rows const& rows,
                                     std::size_t begin, float const* term, near_pair* found) {
  constexpr std::size_t width = V * lane_count;
  lanes_tag const d;
  lanes sum[R][V];
  HWY_UNROLL(16)
  for (std::size_t r = 0; r < R; ++r) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < V; ++v) sum[r][v] = hn::Zero(d);
  }
  float const* const row = rows[begin];
  float const* values = panel.values;
  for (std::size_t i = 0; i < rows.dimensions; ++i, values += width) {
    lanes of_queries[V];
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < V; ++v) of_queries[v] = hn::LoadU(d, values + v * lane_count);
    HWY_UNROLL(16)
    for (std::size_t r = 0; r < R; ++r) {
      lanes const of_row = hn::Set(d, row[r * rows.stride + i]);
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < V; ++v) sum[r][v] = hn::MulAdd(of_row, of_queries[v], sum[r][v]);
    }
  }
  std::size_t count = 0;
  HWY_UNROLL(16)
  for (std::size_t r = 0; r < R; ++r) {
    lanes const of_row = hn::Set(d, term[begin + r]);
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < V; ++v) {
      lanes const key = hn::MulSub(of_row, hn::LoadU(d, panel.factor + v * lane_count), sum[r][v]);
      auto const near = hn::Le(key, hn::LoadU(d, panel.limit + v * lane_count));
      if (hn::AllFalse(d, near)) continue;
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(d, near, bits);
      float products[lane_count];
      hn::StoreU(sum[r][v], d, products);
      for (std::size_t lane = 0; lane < lane_count; ++lane)
        if ((bits[lane / 8] >> (lane % 8) & 1) != 0)
          found[count++] = {static_cast<std::uint32_t>(begin + r),
                            static_cast<std::uint32_t>(v * lane_count + lane), products[lane]};
    }
  }
  return count;
}

/// Processes as many rows at once as registers allow.
template <std::size_t V>
std::size_t near_pairs_of_width(query_panel const& panel, float_rows const& rows, float const* term,
                                near_pair* found) {
  constexpr std::size_t registers = lane_count >= 16 ? 28 : 12;
  constexpr std::size_t together = registers / V > 14 ? 14 : registers / V > 0 ? registers / V : 1;
  std::size_t count = 0;
  std::size_t r = 0;
  for (; r + together <= rows.count; r += together)
    count += near_pairs_of<V, together>(panel, rows, r, term, found + count);
  for (; r < rows.count; ++r) count += near_pairs_of<V, 1>(panel, rows, r, term, found + count);
  return count;
}
std::size_t find_near_pairs(query_panel const& panel, float_rows const& rows, float const* term,
                            near_pair* found) {
  constexpr std::size_t vectors = query_group / lane_count;
  return panel.width == query_group ? near_pairs_of_width<vectors>(panel, rows, term, found)
                                    : near_pairs_of_width<2 * vectors>(panel, rows, term, found);
}

}  // namespace rulerank::knn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerank::inline v0::knn {

HWY_EXPORT(to_floats);
HWY_EXPORT(subtract);
HWY_EXPORT(sum_squared_differences);
HWY_EXPORT(sum_products);
HWY_EXPORT(find_near_pairs);

void to_floats(datasets::element type, std::byte const* values, std::size_t count, float* floats) {
  HWY_DYNAMIC_DISPATCH(to_floats)(type, values, count, floats);
}
void subtract(float const* vector, std::size_t dimensions, std::size_t rows, float* values) {
  HWY_DYNAMIC_DISPATCH(subtract)(vector, dimensions, rows, values);
}
void sum_squared_differences(float const* vector, float_rows const& rows, float* sums) {
  HWY_DYNAMIC_DISPATCH(sum_squared_differences)(vector, rows, sums);
}
void sum_products(float const* vector, float_rows const& rows, float* sums) {
  HWY_DYNAMIC_DISPATCH(sum_products)(vector, rows, sums);
}
std::size_t find_near_pairs(query_panel const& panel, float_rows const& rows, float const* term,
                            near_pair* found) {
  return HWY_DYNAMIC_DISPATCH(find_near_pairs)(panel, rows, term, found);
}

}  // namespace rulerank::knn
#endif
