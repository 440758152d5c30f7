#include "knn/metric/published/block_search.hpp"

#include "core/error.hpp"
#include "knn/metric/edit_distance/edit_distance_reference.hpp"
#include "knn/metric/gpu/block_selection.hpp"
#include "knn/metric/gpu/gpu_engine.hpp"
#include "knn/metric/published/block_layout.hpp"
#include "knn/metric/testing.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

// Runs the searches of devices in threads of the host, with the same functions on the same arrays
// and with barriers and atomic operations of the standard library, and compares them with the index
// that they read.
namespace rulerank::inline v0::knn::block_search_test {
namespace {

using datasets::vectors;
using testing_tools::drawn_vectors;
using testing_tools::drawn_words;
using word = std::vector<std::uint32_t>;

/// Waiting threads sleep, because there are more of them than processors.
class barrier {
 public:
  explicit barrier(std::uint32_t threads) : threads_(threads) {}
  void wait() {
    std::unique_lock lock(mutex_);
    std::uint64_t const round = round_;
    if (++waiting_ == threads_) {
      waiting_ = 0;
      ++round_;
      all_came_.notify_all();
      return;
    }
    all_came_.wait(lock, [&] { return round_ != round; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_came_;
  std::uint32_t threads_;
  std::uint32_t waiting_ = 0;
  std::uint64_t round_ = 0;
};

class host_block {
 public:
  host_block(std::uint32_t thread, std::uint32_t threads, barrier& all)
      : thread_(thread), threads_(threads), all_(all) {}
  std::uint32_t thread() const { return thread_; }
  std::uint32_t threads() const { return threads_; }
  void sync() const { all_.wait(); }
  template <class T>
  T add(T* to, T more) const {
    return std::atomic_ref<T>(*to).fetch_add(more);
  }
  template <class T>
  void lower(T* to, T value) const {
    std::atomic_ref<T> at(*to);
    T before = at.load();
    while (value < before && !at.compare_exchange_weak(before, value)) {
    }
  }
  void set_bits(std::uint64_t* to, std::uint64_t bits) const {
    std::atomic_ref<std::uint64_t>(*to).fetch_or(bits);
  }
  template <class T>
  T load(T const* from) const {
    return std::atomic_ref<T>(*const_cast<T*>(from)).load();
  }
  template <class T>
  void store(T* to, T value) const {
    std::atomic_ref<T>(*to).store(value);
  }

 private:
  std::uint32_t thread_, threads_;
  barrier& all_;
};

/// Calls work(block) in all threads of a block.
template <class Work>
void in_a_block(std::uint32_t threads, Work const& work) {
  barrier all(threads);
  std::vector<std::jthread> others;
  for (std::uint32_t t = 1; t < threads; ++t)
    others.emplace_back([&, t] { work(host_block(t, threads, all)); });
  work(host_block(0, threads, all));
}

struct block_shape {
  std::uint32_t threads = 1;
  std::size_t own_bytes = 64;
};

/// Searches an index as devices do, in a block of the host.
class host_search {
 public:
  host_search(metric_index const& index, metric_engine engine, block_shape const& shape)
      : layout(laid_out(index, engine)), shape_(shape) {}

  gpu_candidates search(gpu_queries const& queries, gpu_request const& request,
                        launch_limits const& limits = {}) const {
    growing_radius radius;
    if (request.k > 0)
      radius = trained_radius(layout, request.k, [&](auto const&... of) {
        metric_gpu_work of_training;
        return run(of..., limits, of_training);
      });
    return run(queries, request, radius, limits, work);
  }
  block_layout layout;
  mutable metric_gpu_work work;

 private:
  /// Engine pairs has its words in another order, in which all are compared here.
  static block_layout laid_out(metric_index const& index, metric_engine engine) {
    if (engine != metric_engine::pairs) return lay_out_blocks(index, engine);
    block_layout layout;
    static_cast<gpu_layout&>(layout) = lay_out_all(index, word_places::by_length);
    return layout;
  }
  gpu_candidates run(gpu_queries const& queries, gpu_request const& request,
                     growing_radius const& radius, launch_limits const& limits,
                     metric_gpu_work& done) const {
    gpu_candidates found(queries.count);
    search_by_launches(
        {}, layout, request, queries.count, limits,
        [&](std::uint32_t attempt, auto const&... asked) {
          auto const one = launch(queries, job_of(layout, request, radius, attempt), asked...);
          count_pending(request, one, done);
          return one;
        },
        found, done);
    for (auto& list : found)
      std::sort(list.begin(), list.end(), nearer<value_order::smaller_is_nearer>{});
    return found;
  }
  launch_result launch(gpu_queries const& queries, block_job const& job,
                       std::span<std::uint32_t const> some, std::uint32_t capacity) const {
    value_.assign(some.size() * capacity, 0);
    id_.assign(some.size() * capacity, 0);
    count_.assign(some.size(), 0);
    begin_.resize(some.size());
    for (std::size_t i = 0; i < begin_.size(); ++i) begin_[i] = i * capacity;
    std::vector<std::uint64_t> evaluations(some.size());
    found_lists const lists{value_.data(), id_.data(), count_.data(), evaluations.data(), capacity};
    placed_queries const asked{queries.values.data(), queries.letters.data(), queries.begin.data(),
                               queries.longest()};
    auto const arrays = arrays_of(layout);
    with_objects(layout, arrays, asked, [&](auto const& objects) {
      with_candidates(layout, tables_of(layout), [&](auto const& candidates) {
        block_plan const plan(objects, candidates, job.k, shape_.threads, shape_.own_bytes);
        EXPECT_LE(plan.own_bytes, shape_.own_bytes);
        std::vector<std::uint64_t> own(plan.own_bytes / 8 + 1), device(plan.device_bytes / 8 + 1);
        block_space const space = plan.at(reinterpret_cast<std::byte*>(own.data()),
                                          reinterpret_cast<std::byte*>(device.data()));
        in_a_block(shape_.threads, [&](host_block const& block) {
          for (std::size_t list = 0; list < some.size(); ++list)
            search_in_block(block, objects, candidates, layout.rule, arrays.ids, job, some[list],
                            list, space, lists);
        });
      });
    });
    return {count_, begin_, value_, id_,
            std::accumulate(evaluations.begin(), evaluations.end(), std::uint64_t{0})};
  }

  block_shape shape_;
  // Results of the last launch.
  mutable std::vector<double> value_;
  mutable std::vector<std::uint32_t> id_, count_;
  mutable std::vector<std::uint64_t> begin_;
};

struct pair_found {
  std::uint32_t id;
  double value;
  bool operator==(pair_found const&) const = default;
};
std::vector<pair_found> pairs_of(std::vector<candidate<double>> const& list) {
  std::vector<pair_found> pairs;
  for (auto const& one : list) pairs.push_back({one.id, one.value});
  return pairs;
}
template <class Found>
std::vector<pair_found> pairs_of(Found const& ids, std::span<double const> values) {
  std::vector<pair_found> pairs;
  for (std::size_t i = 0; i < ids.size() && ids[i] != no_neighbour; ++i)
    pairs.push_back({ids[i], values[i]});
  return pairs;
}

context one_thread() {
  context ctx;
  ctx.threads = 1;
  return ctx;
}

/// Compares a search by blocks with the index: k from 1 to all, radii from none to all, distances
/// that occur and the adjacent doubles.
void expect_same(metric_index const& index, host_search const& gpu, metric_queries const& queries,
                 gpu_queries const& asked) {
  std::size_t const n = index.size();
  std::string const what = std::string(name_of(index.type())) + " " +
                           std::to_string(static_cast<int>(gpu.layout.engine));
  std::set<double> radii{0, 1e300};
  for (std::size_t const k : {std::size_t{1}, std::size_t{7}, n}) {
    if (n == 0) break;
    auto const found = gpu.search(asked, {k, 0});
    auto const expected = index.search(one_thread(), queries, k);
    for (std::size_t q = 0; q < asked.count; ++q) {
      ASSERT_EQ(pairs_of(found[q]), pairs_of(expected.ids_of(q), expected.values_of(q)))
          << what << " k " << k << " query " << q;
      for (std::size_t const i : {std::size_t{0}, n / 10, n - 1}) {
        if (i >= k || q > 1) continue;
        double const value = expected.values_of(q)[i];
        radii.insert({value, std::nextafter(value, 0), std::nextafter(value, 1e9)});
      }
    }
  }
  for (double const radius : radii) {
    auto const found = gpu.search(asked, {0, radius}, {.entries = 64, .capacity = 3});
    auto const expected = index.search_range(one_thread(), queries, radius);
    for (std::size_t q = 0; q < asked.count; ++q)
      ASSERT_EQ(pairs_of(found[q]), pairs_of(expected.rows_of(q), expected.values_of(q)))
          << what << " radius " << radius << " query " << q;
  }
}

constexpr metric_engine engines[] = {metric_engine::pairs,       metric_engine::brute_sort,
                                     metric_engine::lc_growing,  metric_engine::lc_shrinking,
                                     metric_engine::sss_objects, metric_engine::sss_pivots};
constexpr block_shape shapes[] = {{1, 64}, {3, 1 << 16}};

void expect_same_vectors(vectors const& rows, vectors const& asked) {
  for (auto const which : {metric_distance::l1, metric_distance::l2, metric_distance::linf}) {
    auto const space = std::make_shared<vector_space>(one_thread(), rows, which);
    auto const queries = space->queries(one_thread(), asked);
    for (auto const engine : engines) {
      metric_index const index(one_thread(), space,
                               {.type = type_read_by(engine), .bucket = 5, .alpha = .5});
      for (block_shape const& shape : shapes) {
        host_search const gpu(index, engine, shape);
        expect_same(index, gpu, *queries, queries_of(one_thread(), gpu.layout, asked));
      }
    }
  }
}
void expect_same_words(std::vector<std::string> const& words, std::vector<std::string> const& asked,
                       letters unit = letters::code_points) {
  auto const space = std::make_shared<word_space>(words, unit);
  auto const queries = space->queries(asked);
  for (auto const engine : engines) {
    metric_index const index(one_thread(), space,
                             {.type = type_read_by(engine), .bucket = 5, .alpha = .5});
    for (block_shape const& shape : shapes) {
      host_search const gpu(index, engine, shape);
      expect_same(index, gpu, *queries, queries_of(gpu.layout, asked));
    }
  }
}

TEST(block_search, finds_vectors) {
  expect_same_vectors(drawn_vectors(150, 6, 1, 0), drawn_vectors(6, 6, 2, 0));
}
TEST(block_search, finds_vectors_with_ties) {
  expect_same_vectors(drawn_vectors(150, 3, 3, 3), drawn_vectors(5, 3, 4, 3));
}
TEST(block_search, finds_few_objects) {
  expect_same_vectors(drawn_vectors(1, 2, 5, 0), drawn_vectors(3, 2, 6, 0));
  expect_same_vectors(drawn_vectors(40, 2, 7, 1), drawn_vectors(2, 2, 8, 1));
  expect_same_words({"a"}, {"", "a", "bc"});
  expect_same_words({"", ""}, {"", "a"});
}
TEST(block_search, finds_words) {
  expect_same_words(drawn_words(150, 9, 9, 3), drawn_words(6, 10, 12, 4));
  expect_same_words(drawn_words(60, 9, 9, 3), drawn_words(3, 10, 12, 4), letters::bytes);
}
TEST(block_search, finds_long_words_and_many_letters) {
  expect_same_words(drawn_words(60, 11, 200, 3), drawn_words(5, 12, 300, 3));
  expect_same_words(drawn_words(60, 13, 20, 500), drawn_words(5, 14, 90, 600));
}

/// More threads than initially merge their heaps.
TEST(block_search, has_many_threads) {
  auto const rows = drawn_vectors(120, 3, 19, 4);
  auto const asked = drawn_vectors(2, 3, 20, 4);
  auto const space = std::make_shared<vector_space>(one_thread(), rows, metric_distance::l2);
  metric_index const index(one_thread(), space, {.type = metric_index_type::lc, .bucket = 5});
  host_search const gpu(index, metric_engine::lc_growing, {34, 2048});
  auto const expected = index.search(one_thread(), *space->queries(one_thread(), asked), 9);
  auto const found = gpu.search(queries_of(one_thread(), gpu.layout, asked), {9, 0});
  for (std::size_t q = 0; q < 2; ++q)
    EXPECT_EQ(pairs_of(found[q]), pairs_of(expected.ids_of(q), expected.values_of(q)));
}

/// Lists of clusters open fewer clusters; tables of pivots leave fewer objects.
TEST(block_search, excludes) {
  auto const rows = drawn_vectors(600, 2, 15, 0);
  auto const asked = drawn_vectors(20, 2, 16, 0);
  auto const space = std::make_shared<vector_space>(one_thread(), rows, metric_distance::l2);
  std::uint64_t const all = 20 * 600;
  for (auto const engine :
       {metric_engine::lc_growing, metric_engine::sss_objects, metric_engine::sss_pivots}) {
    metric_index const index(one_thread(), space, {.type = type_read_by(engine), .bucket = 10});
    host_search const gpu(index, engine, {4, 4096});
    auto const queries = queries_of(one_thread(), gpu.layout, asked);
    gpu.search(queries, {0, .05});
    EXPECT_LT(gpu.work.evaluations, all / 2);
    // The index excludes by the same rule.
    metric_work of_cpu;
    index.search_range(one_thread(), *space->queries(one_thread(), asked), .05, &of_cpu);
    if (engine != metric_engine::lc_growing) {
      EXPECT_EQ(gpu.work.evaluations, of_cpu.evaluations);
    }
  }
}

TEST(block_search, asks_again_with_a_larger_radius) {
  auto const rows = drawn_vectors(500, 2, 17, 0);
  auto const far = drawn_vectors(10, 2, 18, 9);
  auto const space = std::make_shared<vector_space>(one_thread(), rows, metric_distance::l2);
  metric_index const index(one_thread(), space, {.type = metric_index_type::lc});
  host_search const gpu(index, metric_engine::lc_growing, {2, 4096});
  gpu.search(queries_of(one_thread(), gpu.layout, far), {3, 0});
  EXPECT_GT(count_of(gpu.work.counts, "pending"), 0U);
}

TEST(block_search, refuses_what_it_does_not_search) {
  auto const rows = drawn_vectors(5, 2, 1, 0);
  auto const angles = std::make_shared<vector_space>(one_thread(), rows, metric_distance::angular);
  metric_index const of_angles(one_thread(), angles, {.type = metric_index_type::brute});
  EXPECT_THROW(expect_searched(of_angles, metric_engine::brute_sort, metric_index_type::brute),
               usage_error);
  auto const space = std::make_shared<vector_space>(one_thread(), rows, metric_distance::l2);
  metric_index const index(one_thread(), space, {.type = metric_index_type::brute});
  EXPECT_THROW(expect_searched(index, metric_engine::lc_growing, metric_index_type::lc),
               usage_error);
  auto const layout = lay_out_blocks(index, metric_engine::brute_sort);
  EXPECT_THROW(queries_of(layout, {"word"}), usage_error);
  EXPECT_THROW(queries_of(one_thread(), layout, drawn_vectors(5, 3, 1, 0)), usage_error);
  object_space const numbers(std::vector<double>{1, 2},
                             [](double a, double b) { return std::abs(a - b); });
  auto const shared = std::make_shared<decltype(numbers)>(numbers);
  metric_index const of_numbers(one_thread(), shared, {.type = metric_index_type::brute});
  EXPECT_THROW(expect_searched(of_numbers, metric_engine::brute_sort, metric_index_type::brute),
               usage_error);
}

// ------------------------------------------------------------------------------------- pairs

word drawn_word(random_engine& chance, std::size_t length, std::size_t alphabet) {
  word letters(length);
  for (std::uint32_t& one : letters)
    one = static_cast<std::uint32_t>(uniform_below(chance, alphabet));
  return letters;
}

/// A single word as columns.
struct columns_of_a_word {
  columns_of_a_word(word const& of, std::uint32_t letters_a_number)
      : length(static_cast<std::uint32_t>(of.size())), numbers(of.size() + 1) {
    for (std::size_t i = 0; i < of.size(); ++i)
      numbers[i / letters_a_number] |= of[i] << (i % letters_a_number * (32 / letters_a_number));
    columns = {numbers.data(), &length, 1, letters_a_number};
  }
  std::uint32_t length;
  std::vector<std::uint32_t> numbers;
  word_columns columns;
};

template <class Mask>
std::uint32_t in_a_mask(word const& query, columns_of_a_word const& other, std::size_t alphabet) {
  std::vector<Mask> where(alphabet);
  for (std::size_t i = 0; i < query.size(); ++i) where[query[i]] |= Mask{1} << i;
  return edit_distance_in_a_mask(where.data(), static_cast<std::uint32_t>(query.size()),
                                 other.columns, 0);
}
std::uint32_t in_blocks(word const& query, columns_of_a_word const& other, std::size_t alphabet) {
  auto const length = static_cast<std::uint32_t>(query.size());
  std::vector<std::uint64_t> where(alphabet * (edit_blocks(length) + 1));
  for (std::size_t i = 0; i < query.size(); ++i)
    where[i / 64 * alphabet + query[i]] |= std::uint64_t{1} << (i % 64);
  std::vector<std::uint64_t> rows(2 * edit_blocks(length) * 3 + 1);
  return edit_distance_in_blocks(where.data(), length, static_cast<std::uint32_t>(alphabet),
                                 other.columns, 0, rows.data(), 3);
}

TEST(edit_math, is_the_dynamic_program) {
  random_engine chance(21);
  for (std::size_t const alphabet : {1, 2, 4, 30, 255})
    for (std::size_t const length : {0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200})
      for (std::size_t const other : {0, 1, 3, 4, 5, 31, 64, 70, 190}) {
        word const a = drawn_word(chance, length, alphabet);
        word b = drawn_word(chance, other, alphabet);
        // Half of the pairs have equal prefixes.
        if (uniform_below(chance, 2) == 0)
          std::copy_n(a.begin(), std::min(a.size(), b.size()) / 2, b.begin());
        std::size_t const expected = edit_distance_reference(a, b);
        for (std::uint32_t const letters_a_number : {1U, 4U}) {
          columns_of_a_word const columns(b, letters_a_number);
          if (length <= 32) {
            EXPECT_EQ(in_a_mask<std::uint32_t>(a, columns, alphabet), expected);
          }
          if (length <= 64) {
            EXPECT_EQ(in_a_mask<std::uint64_t>(a, columns, alphabet), expected);
          }
          EXPECT_EQ(in_blocks(a, columns, alphabet), expected) << length << " " << other;
        }
      }
}

/// Objects that floats exclude are too far; objects at the bound, or one unit from it, are never
/// lost.
template <metric_distance Which>
void expect_sound_filter() {
  random_engine chance(22);
  for (double const scale : {1e-42, 1e-30, 1e-3, 1., 1e10, 3e37})
    for (std::size_t const dimensions : {1, 2, 20, 300}) {
      std::size_t filtered = 0;
      for (int trial = 0; trial < 200; ++trial) {
        std::vector<float> a(dimensions), b(dimensions);
        for (std::size_t d = 0; d < dimensions; ++d) {
          a[d] = static_cast<float>(scale * (uniform_unit(chance) - .5));
          b[d] = static_cast<float>(scale * (uniform_unit(chance) - .5));
        }
        vector_columns const columns{b.data(), 1, static_cast<std::uint32_t>(dimensions)};
        double const distance = defined_distance<Which>(a.data(), columns, 0);
        for (double const bound : {distance, std::nextafter(distance, 1e300), distance * 1.0001})
          EXPECT_FALSE(is_filtered<Which>(a.data(), columns, 0,
                                          filter_limit<Which>(bound, columns.dimensions)))
              << scale << " " << dimensions;
        if (is_filtered<Which>(a.data(), columns, 0,
                               filter_limit<Which>(distance * .9, columns.dimensions)))
          ++filtered;
      }
      // If floats hold the squares, objects that are a tenth too far are excluded.
      if (scale > 1e-10 && scale < 1e12) {
        EXPECT_EQ(filtered, 200U) << scale << " " << dimensions;
      }
    }
}
TEST(vector_math, filters_nothing_within_the_bound) {
  expect_sound_filter<metric_distance::l1>();
  expect_sound_filter<metric_distance::l2>();
  expect_sound_filter<metric_distance::linf>();
}
TEST(vector_math, filters_nothing_without_a_bound) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  float const large = 3e38F;
  float const opposite = -3e38F;
  vector_columns const columns{&opposite, 1, 1};
  EXPECT_FALSE(is_filtered<metric_distance::l2>(&large, columns, 0,
                                                filter_limit<metric_distance::l2>(infinite, 1)));
  EXPECT_FALSE(is_filtered<metric_distance::l1>(&large, columns, 0,
                                                filter_limit<metric_distance::l1>(7e38, 1)));
  EXPECT_TRUE(is_filtered<metric_distance::l1>(&large, columns, 0,
                                               filter_limit<metric_distance::l1>(1e37, 1)));
}

TEST(take_nearest, is_the_front_of_the_sorted) {
  random_engine chance(23);
  for (std::uint32_t const n : {1U, 2U, 100U, 1000U})
    for (std::uint64_t const of : {std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{1} << 60}) {
      std::vector<std::uint64_t> keys(n);
      std::vector<std::uint32_t> ids(n);
      for (std::uint32_t i = 0; i < n; ++i) {
        keys[i] = uniform_below(chance, of);
        ids[i] = (i * 7919 + 3) % 100003;
      }
      std::vector<std::pair<std::uint64_t, std::uint32_t>> expected;
      for (std::uint32_t i = 0; i < n; ++i) expected.push_back({keys[i], ids[i]});
      std::sort(expected.begin(), expected.end());
      for (std::uint32_t const k : {1U, n / 2, n}) {
        if (k == 0) continue;
        for (std::uint32_t const threads : {1U, 5U}) {
          std::vector<std::pair<std::uint64_t, std::uint32_t>> found(k);
          selection_state state{};
          in_a_block(threads, [&](host_block const& block) {
            take_nearest(
                block, state, n, k, 8, [&](std::uint32_t i) { return keys[i]; }, ids.data(),
                [&](std::uint32_t at, std::uint32_t i) {
                  found[at] = {keys[i], ids[i]};
                });
          });
          std::sort(found.begin(), found.end());
          EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin()))
              << n << " " << k << " " << of;
        }
      }
    }
}

TEST(devices_for_queries, have_enough_each) {
  EXPECT_EQ(devices_for(0, 512, 4), 1U);
  EXPECT_EQ(devices_for(1, 512, 4), 1U);
  EXPECT_EQ(devices_for(1023, 512, 4), 1U);
  EXPECT_EQ(devices_for(1024, 512, 4), 2U);
  EXPECT_EQ(devices_for(40000, 512, 4), 4U);
  EXPECT_EQ(devices_for(3, 0, 4), 3U) << "a query of many objects has enough";
  gpu_layout layout;
  layout.objects = 1U << 15;
  EXPECT_EQ(least_queries_of_device(layout), 1024U);
}

}  // namespace
}  // namespace rulerank::knn::block_search_test
