// The edit distances of all pairs of two lists of words, on one thread.
//
//   edit_bench database=FILE queries=FILE [radius=1,2,3] [k=8,16,32] [rounds=3]
//              [matrix=FILE]
//
// Searches use `metric_index` of type brute. The matrix has one byte per pair, [queries][words] in
// file order, for words at distances below 256; it is written to the file that `matrix` names.
// Before the timing, results of some queries are compared with single pairs, and so is the whole
// matrix. One JSON line per kind of search, the best of the rounds, in seconds of CPU time.

#include "bench/engines/settings.hpp"
#include "core/context.hpp"
#include "core/machine.hpp"
#include "knn/metric/edit_distance/edit_distance.hpp"
#include "knn/metric/edit_distance/edit_groups.hpp"
#include "knn/metric/search.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;
using std::size_t;
using table = std::vector<std::vector<std::uint32_t>>;

constexpr size_t letters_of_bytes = 256;

/// Measures CPU time, which depends little on other processes: everything runs in one thread.
class stopwatch {
 public:
  double seconds() const {
    return static_cast<double>(std::clock() - start_) / static_cast<double>(CLOCKS_PER_SEC);
  }

 private:
  std::clock_t start_ = std::clock();
};

template <class Work>
double seconds_of(Work const& work) {
  stopwatch const watch;
  work();
  return watch.seconds();
}

table bytes_of(std::vector<std::string> const& words) {
  table some;
  for (std::string const& word : words) {
    auto& letters = some.emplace_back();
    for (char const c : word) letters.push_back(static_cast<unsigned char>(c));
  }
  return some;
}

/// Writes the distances of a query in the order of the groups' numbers.
class matrix_row final : public knn::edit_sink {
 public:
  explicit matrix_row(std::uint8_t* row) : row_(row) {}
  size_t bound() const override { return ~size_t{0}; }
  void take(std::uint32_t const* numbers, size_t length, std::int8_t const* differences,
            std::uint64_t near) override {
    // Lanes with words are the first ones.
    auto const lanes = static_cast<size_t>(64 - std::countl_zero(near));
    for (size_t i = 0; i < lanes; ++i)
      row_[numbers[i]] =
          static_cast<std::uint8_t>(length + static_cast<size_t>(std::ptrdiff_t{differences[i]}));
  }

 private:
  std::uint8_t* row_;
};

std::vector<std::uint8_t> matrix_of(knn::edit_groups const& groups,
                                    knn::letter_classes const& classes, table const& queries,
                                    size_t words, std::vector<std::uint8_t> matrix) {
  matrix.resize(queries.size() * words);
  for (size_t q = 0; q < queries.size(); ++q) {
    knn::edit_query query(queries[q], classes);
    matrix_row row(matrix.data() + q * words);
    groups.compare(query, row);
  }
  return matrix;
}

void report(std::string const& what, double seconds, double before, size_t pairs, size_t found) {
  fmt::print(
      "{{\"what\": \"{}\", \"pairs\": {}, \"found\": {}, \"seconds\": {:.4g}, \"pairs_s\": {:.4g}, "
      "\"single_pairs_s\": {:.4g}}}\n",
      what, pairs, found, seconds, static_cast<double>(pairs) / seconds, before);
  std::fflush(stdout);
}

/// Computes single pairs, for as many queries as take some seconds.
double single(table const& words, table const& queries, size_t bound,
              std::vector<std::vector<size_t>>& distances) {
  stopwatch const watch;
  distances.assign(queries.size(), std::vector<size_t>(words.size()));
  for (size_t q = 0; q < queries.size(); ++q) {
    knn::edit_pattern pattern(queries[q], letters_of_bytes);
    for (size_t i = 0; i < words.size(); ++i) distances[q][i] = pattern.to(words[i], bound);
  }
  return static_cast<double>(queries.size() * words.size()) / watch.seconds();
}

// Long because it is the benchmark from the first line to the last.
void measure(bench::settings const& chosen) {
  context ctx;
  ctx.threads = 1;
  auto const here = this_machine();
  fmt::print(stderr, "commit {}, {}, {} cores\n", commit(), here.cpu, here.cores);
  auto const words = knn::read_words(ctx, chosen["database"]);
  auto const asked = knn::read_words(ctx, chosen["queries"]);
  size_t const pairs = words.size() * asked.size();
  size_t const rounds = std::stoul(chosen["rounds"]);
  auto const numbers_in = [&](std::string const& name) {
    std::vector<size_t> some;
    for (auto const& number : chosen.list(name)) some.push_back(std::stoul(number));
    return some;
  };

  stopwatch const building;
  auto const space = std::make_shared<knn::word_space>(words, knn::letters::bytes);
  knn::metric_index const index(ctx, space, {knn::metric_index_type::brute});
  fmt::print("{{\"what\": \"build\", \"words\": {}, \"seconds\": {:.4g}}}\n", words.size(),
             building.seconds());
  auto const queries = space->queries(asked);
  table const database = bytes_of(words);
  table const all_queries = bytes_of(asked);
  table const some_queries(
      all_queries.begin(),
      all_queries.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(all_queries.size(), 50)));
  std::vector<std::vector<size_t>> one_by_one;
  size_t const none = ~size_t{0} >> 1;

  for (size_t const radius : numbers_in("radius")) {
    auto const found = index.search_range(ctx, *queries, static_cast<double>(radius));
    double const before = single(database, some_queries, radius, one_by_one);
    for (size_t q = 0; q < some_queries.size(); ++q) {
      size_t count = 0;
      for (size_t i = 0; i < words.size(); ++i) count += one_by_one[q][i] <= radius ? 1 : 0;
      bool same = count == found.begin[q + 1] - found.begin[q];
      for (size_t i = found.begin[q]; i < found.begin[q + 1]; ++i)
        same = same && static_cast<double>(one_by_one[q][found.row[i]]) == found.value[i];
      if (!same) throw std::logic_error(fmt::format("radius {}, query {}: others", radius, q));
    }
    double best = 1e300;
    for (size_t r = 0; r < rounds; ++r)
      best = std::min(best, seconds_of([&] {
                        index.search_range(ctx, *queries, static_cast<double>(radius));
                      }));
    report(fmt::format("radius {}", radius), best, before, pairs, found.row.size());
  }
  double const before = single(database, some_queries, none, one_by_one);
  for (size_t const k : numbers_in("k")) {
    auto const found = index.search(ctx, *queries, k);
    for (size_t q = 0; q < some_queries.size(); ++q) {
      std::vector<std::uint32_t> order(words.size());
      std::iota(order.begin(), order.end(), 0U);
      auto const& to = one_by_one[q];
      std::stable_sort(order.begin(), order.end(),
                       [&to](std::uint32_t a, std::uint32_t b) { return to[a] < to[b]; });
      if (!std::equal(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k),
                      found.id.begin() + static_cast<std::ptrdiff_t>(q * k)))
        throw std::logic_error(fmt::format("k {}, query {}: others", k, q));
    }
    double best = 1e300;
    for (size_t r = 0; r < rounds; ++r)
      best = std::min(best, seconds_of([&] { index.search(ctx, *queries, k); }));
    report(fmt::format("k {}", k), best, before, pairs, found.id.size());
  }

  std::vector<std::uint32_t> numbers(words.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  std::vector<knn::edit_groups::word> const spans(database.begin(), database.end());
  knn::letter_classes const classes(spans, letters_of_bytes);
  knn::edit_groups const groups(spans, numbers, classes);
  std::vector<std::uint8_t> matrix;
  double best = 1e300;
  for (size_t r = 0; r <= rounds; ++r) {  // the first round allocates memory
    stopwatch const watch;
    matrix = matrix_of(groups, classes, all_queries, words.size(), std::move(matrix));
    if (r > 0) best = std::min(best, watch.seconds());
  }
  for (size_t q = 0; q < some_queries.size(); ++q)
    for (size_t i = 0; i < words.size(); ++i)
      if (matrix[q * words.size() + i] != one_by_one[q][i])
        throw std::logic_error("the matrix is another");
  report("matrix", best, before, pairs, pairs);
  if (!chosen["matrix"].empty())
    std::ofstream(chosen["matrix"], std::ios::binary)
        .write(reinterpret_cast<char const*>(matrix.data()),
               static_cast<std::streamsize>(matrix.size()));
}

}  // namespace

int main(int argc, char** argv) try {
  bench::settings chosen({{"database", ""},
                          {"queries", ""},
                          {"radius", "1,2,3"},
                          {"k", "8,16,32"},
                          {"rounds", "3"},
                          {"matrix", ""}});
  chosen.read(argc, argv);
  measure(chosen);
  return 0;
} catch (std::exception const& e) {
  fmt::print(stderr, "edit_bench: {}\n", e.what());
  return 1;
}
