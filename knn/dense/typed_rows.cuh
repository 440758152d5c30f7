#pragma once

#include "datasets/vectors.hpp"
#include "knn/dense/definition.hpp"

#include <cstddef>
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Values of rows on a device, and their defined sums (definition.hpp).
namespace rulerank::inline v0::knn {

__device__ inline float float_of(float value) {
  return value;
}
__device__ inline float float_of(__half value) {
  return __half2float(value);
}
__device__ inline float float_of(__nv_bfloat16 value) {
  return __bfloat162float(value);
}
__device__ inline float float_of(std::int8_t value) {
  return static_cast<float>(value);
}
__device__ inline float float_of(std::uint8_t value) {
  return static_cast<float>(value);
}

/// Calls use(value of the type) for a type that rows may have.
template <class Use>
void with_type(datasets::element type, Use const& use) {
  switch (type) {
    case datasets::element::float16:
      return use(__half());
    case datasets::element::bfloat16:
      return use(__nv_bfloat16());
    case datasets::element::int8:
      return use(std::int8_t());
    case datasets::element::uint8:
      return use(std::uint8_t());
    default:
      return use(float());
  }
}

/// Calls add(i, value as a double) for ascending i. Loads are issued ahead of the additions.
template <class T, class Add>
__device__ void for_each_value(T const* row, std::uint32_t dimensions, Add const& add) {
  constexpr std::uint32_t together = 16 / sizeof(T);
  std::uint32_t i = 0;
  if (reinterpret_cast<std::uintptr_t>(row) % 16 == 0) {
    constexpr std::uint32_t loads = sizeof(T) == 4 ? 8 : 4;
    for (; i + loads * together <= dimensions; i += loads * together) {
      uint4 raw[loads];
#pragma unroll
      for (std::uint32_t l = 0; l < loads; ++l)
        raw[l] = __ldg(reinterpret_cast<uint4 const*>(row + i) + l);
#pragma unroll
      for (std::uint32_t l = 0; l < loads; ++l) {
        T const* const values = reinterpret_cast<T const*>(raw + l);
#pragma unroll
        for (std::uint32_t j = 0; j < together; ++j)
          add(i + l * together + j, static_cast<double>(float_of(values[j])));
      }
    }
  }
  for (; i < dimensions; ++i) add(i, static_cast<double>(float_of(row[i])));
}

/// Returns the defined sum of a row, before `order_key`.
template <class T>
__device__ double defined_sum(T const* row, double const* query, std::uint32_t dimensions,
                              bool of_differences) {
  double sum = 0;
  if (of_differences)
    for_each_value(row, dimensions, [&](std::uint32_t i, double y) {
      double const difference = __dsub_rn(__ldg(query + i), y);
      sum = __dadd_rn(sum, __dmul_rn(difference, difference));
    });
  else
    for_each_value(row, dimensions, [&](std::uint32_t i, double y) {
      sum = __dadd_rn(sum, __dmul_rn(__ldg(query + i), y));
    });
  return sum;
}
template <class T>
__device__ double defined_norm_of(T const* row, std::uint32_t dimensions) {
  double sum = 0;
  for_each_value(row, dimensions,
                 [&](std::uint32_t, double y) { sum = __dadd_rn(sum, __dmul_rn(y, y)); });
  return __dsqrt_rn(sum);
}

}  // namespace rulerank::knn
