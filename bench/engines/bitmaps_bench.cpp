// The kernels of bitmaps/ compared with a plain loop with std::popcount, in bytes of rows per
// second. The counts of each pair are compared first.

#include "bitmaps/bit_kernels.hpp"
#include "bitmaps/bit_matrix.hpp"
#include "core/random.hpp"

#include <bit>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

using namespace rulerank;
using bitmaps::word;

bitmaps::bit_matrix drawn(std::size_t rows, std::size_t words) {
  bitmaps::bit_matrix bits(rows, words * bitmaps::word_bits);
  random_engine engine(1);
  for (std::size_t r = 0; r < rows; ++r)
    for (word& w : bits.row(r)) w = engine();
  return bits;
}

std::uint64_t plain_and_popcount(std::span<word const> a, std::span<word const> b) {
  std::uint64_t count = 0;
  for (std::size_t w = 0; w < a.size(); ++w)
    count += static_cast<std::uint64_t>(std::popcount(a[w] & b[w]));
  return count;
}

void expect(bool same) {
  if (!same) throw std::runtime_error("the kernel and the plain loop differ: not timed");
}

void bytes_of_rows(benchmark::State& state, std::size_t rows) {
  state.SetBytesProcessed(state.iterations() * state.range(0) *
                          static_cast<std::int64_t>(sizeof(word) * rows));
  state.SetLabel(bitmaps::instruction_set());
}

void and_popcount(benchmark::State& state) {
  auto const bits = drawn(2, static_cast<std::size_t>(state.range(0)));
  expect(bitmaps::and_popcount(bits.row(0), bits.row(1)) ==
         plain_and_popcount(bits.row(0), bits.row(1)));
  for (auto _ : state) benchmark::DoNotOptimize(bitmaps::and_popcount(bits.row(0), bits.row(1)));
  bytes_of_rows(state, 2);
}

void and_popcount_plain(benchmark::State& state) {
  auto const bits = drawn(2, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(plain_and_popcount(bits.row(0), bits.row(1)));
  bytes_of_rows(state, 2);
}

/// A prefix with 64 rows that are stored word by word; the bytes are those of the rows.
void product_weighted_counts(benchmark::State& state) {
  constexpr std::size_t rows = 64;
  auto const words = static_cast<std::size_t>(state.range(0));
  auto const bits = drawn(rows + 1, words);
  aligned_vector<word> columns(words * rows);
  for (std::size_t w = 0; w < words; ++w)
    for (std::size_t r = 0; r < rows; ++r) columns[w * rows + r] = bits.row(r)[w];
  auto const half = static_cast<std::uint32_t>(words / 2);
  std::vector<bitmaps::word_range> const ranges{{0, half},
                                                {half, static_cast<std::uint32_t>(words)}};
  std::vector<std::uint32_t> const weights{1, 0};
  aligned_vector<std::uint32_t> n(rows), weighted(rows);
  auto run = [&] {
    bitmaps::product_weighted_counts(bits.row(rows).data(), columns.data(), rows, 0, rows, ranges,
                                     weights, n.data(), weighted.data());
  };
  run();
  for (std::size_t r = 0; r < rows; ++r)
    expect(n[r] == plain_and_popcount(bits.row(rows), bits.row(r)) &&
           weighted[r] == plain_and_popcount(bits.row(rows).first(half), bits.row(r).first(half)));
  for (auto _ : state) {
    run();
    benchmark::DoNotOptimize(n.data());
  }
  bytes_of_rows(state, rows);
}

BENCHMARK(and_popcount)->Arg(8)->Arg(32)->Arg(128)->Arg(16384);
BENCHMARK(and_popcount_plain)->Arg(8)->Arg(32)->Arg(128)->Arg(16384);
BENCHMARK(product_weighted_counts)->Arg(8)->Arg(16)->Arg(128);

}  // namespace

BENCHMARK_MAIN();
