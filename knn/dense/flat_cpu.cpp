#include "core/aligned.hpp"
#include "core/error.hpp"
#include "core/machine.hpp"
#include "core/parallel.hpp"
#include "knn/dense/candidate_list.hpp"
#include "knn/dense/centre.hpp"
#include "knn/dense/definition.hpp"
#include "knn/dense/engine.hpp"
#include "knn/dense/error_bound.hpp"
#include "knn/dense/flat_kernels.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

// `flat` (docs/reference/modules/knn-dense.md): sums of floats exclude rows, and the remaining rows
// are computed by the definition. A block of rows stays in a core's caches while all queries of a
// group are compared with it, so rows are read from memory once per group. Rows that no bound
// excludes go to a list per query and thread. A few queries are compared by direct differences, one
// after the other, vectorized along the dimensions. More queries are compared together, by products
// and norms, which cost half as much but have wider bounds; pairs that these bounds leave are then
// compared by direct differences.
namespace rulerank::inline v0::knn {

namespace {

/// At most this many queries are compared one after the other.
constexpr std::size_t few_queries = 4;
/// Rows per block, for the caches; a multiple of the rows that the kernels process at once.
constexpr std::size_t most_block_rows = 252;
constexpr std::size_t block_bytes = 128 << 10;
/// Queries per group, for the caches and the memory of their lists.
constexpr std::size_t group_bytes = 1 << 20;
constexpr std::size_t list_bytes = std::size_t{256} << 20;
/// Fewest pairs of numbers per thread; for fewer, starting another thread takes longer.
constexpr std::size_t pairs_a_thread = std::size_t{1} << 18;
/// Bytes of the rows that a thread processes at once for one query.
constexpr std::size_t bytes_at_once = 2 << 20;

/// Queries that are compared with a block of rows together.
struct grouped_queries {
  dense_request const* request = nullptr;
  std::size_t first = 0;  // index in the request
  std::size_t count = 0;
  bool few = false;
  float const* values = nullptr;   // [count][dimensions]
  std::vector<double> magnitude;   // [count] as for rows
  std::vector<bool> beyond;        // [count] whether the kernels cannot process the query
  aligned_vector<float> panels;    // each [dimensions][width]
  std::vector<query_panel> panel;  // without factors and limits
  // Approximate number of rows in the lists of a range search.
  std::atomic<std::size_t> in_range{0};
  std::size_t most_in_range = 0;           // limit by the memory
  std::vector<std::atomic<double>> limit;  // [count] the lowest limit of all threads

  explicit grouped_queries(std::size_t n) : count(n), magnitude(n), beyond(n), limit(n) {
    for (auto& one : limit) one = std::numeric_limits<double>::infinity();
  }
};

bool passes(std::span<std::uint64_t const> words, std::size_t row) {
  return (words[row / 64] >> (row % 64) & 1) != 0;
}

/// The data that all threads of a search read.
struct flat_data {
  dense_rows const& rows;
  similarity metric;
  error_bound bound{0};
  std::vector<float> centre;          // l2: subtracted before products; empty: nothing
  std::vector<double> magnitude;      // [rows] l2: |x'|^2; otherwise |x| as defined
  std::vector<float> term;            // [rows] the term of each row in `worker::draw_line`
  std::vector<std::uint32_t> beyond;  // rows that the kernels cannot process, ascending

  /// Returns whether the kernels cannot process a vector.
  bool is_beyond(double of_vector) const {
    if (rows.dimensions() > most_bounded_dimensions) return true;
    double const norm = metric == similarity::l2 ? std::sqrt(of_vector) : of_vector;
    // Floats do not represent a smaller norm as precisely as the bound for cosine requires.
    if (metric == similarity::cosine && norm > 0 && norm < 0x1p-100) return true;
    return norm > largest_norm;
  }

  /// Returns the term of a row with this magnitude.
  float term_of(double of_row) const {
    if (metric == similarity::l2) return float_below(of_row * (1 - bound.norms()) / 2);
    if (metric == similarity::inner_product) return -float_above(1.001 * bound.products() * of_row);
    return static_cast<float>(of_row);
  }
};

/// The work of one thread in a search.
class alignas(apart) worker {
 public:
  worker(flat_data const& data, grouped_queries& group)
      : data_(data),
        group_(group),
        dimensions_(data.rows.dimensions()),
        lists_(group.count, candidate_list(group.request->k, group.request->farthest)),
        factor_(round_up(group.count, 2 * query_group), 0),
        limit_(factor_.size(), -std::numeric_limits<float>::infinity()),
        limit_of_line_(group.count, std::numeric_limits<double>::quiet_NaN()),
        eight_(rows_together * dimensions_) {}

  /// Processes a block of rows; the blocks of a thread ascend.
  void scan(std::size_t begin, std::size_t end) {
    gather(begin, end);
    if (rows_.count > 0) {
      for (std::size_t q = 0; q < group_.count; ++q) draw_line(q);
      if (group_.few)
        scan_few();
      else
        scan_many();
    }
    for (std::size_t q = 0; q < group_.count; ++q)
      if (group_.beyond[q]) add_exactly(q, number_, true);
    if (!apart_.empty())
      for (std::size_t q = 0; q < group_.count; ++q) add_exactly(q, apart_, false);
  }

  candidate_list& list(std::size_t q) { return lists_[q]; }
  std::uint64_t recomputed() const { return recomputed_; }

  /// Computes the exact keys of rows.
  void settle(std::size_t q, std::span<bounded_row> rows) {
    float const* const query = group_.values + q * dimensions_;
    std::array<float const*, rows_together> pointers{};
    std::array<bounded_row*, rows_together> of{};
    std::array<double, rows_together> sums{};
    std::size_t waiting = 0;
    auto const compute = [&] {
      if (data_.metric == similarity::l2)
        defined_sums(query, pointers.data(), waiting, dimensions_, squared_difference_of,
                     sums.data());
      else
        defined_sums(query, pointers.data(), waiting, dimensions_, product_of, sums.data());
      for (std::size_t i = 0; i < waiting; ++i) {
        double const key =
            order_key(data_.metric, sums[i], group_.magnitude[q], data_.magnitude[of[i]->row]);
        *of[i] = {key, key, of[i]->row, true};
      }
      recomputed_ += waiting;
      waiting = 0;
    };
    for (bounded_row& one : rows) {
      if (one.exact) continue;
      pointers[waiting] = floats_of(one.row, eight_.data() + waiting * dimensions_);
      of[waiting++] = &one;
      if (waiting == rows_together) compute();
    }
    compute();
  }

 private:
  /// Returns the values of a row as floats, converted into `space` if necessary.
  float const* floats_of(std::size_t row, float* space) const {
    std::byte const* const values = data_.rows.row(row);
    if (data_.rows.type() == datasets::element::float32)
      return reinterpret_cast<float const*>(values);
    to_floats(data_.rows.type(), values, dimensions_, space);
    return space;
  }

  /// Gathers the rows that the filter allows into a block, as floats, moved if products need it.
  void gather(std::size_t begin, std::size_t end) {
    std::span<std::uint64_t const> const filter = group_.request->filter.rows;
    number_.clear();
    apart_.clear();
    auto beyond = std::lower_bound(data_.beyond.begin(), data_.beyond.end(), begin);
    if (filter.empty() && (beyond == data_.beyond.end() || *beyond >= end)) {
      number_.resize(end - begin);
      std::iota(number_.begin(), number_.end(), static_cast<std::uint32_t>(begin));
    } else {
      for (std::size_t r = begin; r < end; ++r) {
        bool const is_beyond = beyond != data_.beyond.end() && *beyond == r;
        if (is_beyond) ++beyond;
        if (filter.empty() || passes(filter, r))
          (is_beyond ? apart_ : number_).push_back(static_cast<std::uint32_t>(r));
      }
    }
    rows_ = {nullptr, dimensions_, number_.size(), dimensions_};
    bool const moved = !group_.few && !data_.centre.empty();
    bool const whole = number_.size() == end - begin && data_.rows.together(begin) >= end - begin;
    if (whole && !moved && data_.rows.type() == datasets::element::float32) {
      rows_.data = reinterpret_cast<float const*>(data_.rows.row(begin));
    } else {
      floats_.resize(std::max(floats_.size(), number_.size() * dimensions_));
      if (whole)
        to_floats(data_.rows.type(), data_.rows.row(begin), number_.size() * dimensions_,
                  floats_.data());
      else
        for (std::size_t i = 0; i < number_.size(); ++i)
          to_floats(data_.rows.type(), data_.rows.row(number_[i]), dimensions_,
                    floats_.data() + i * dimensions_);
      if (moved) subtract(data_.centre.data(), dimensions_, number_.size(), floats_.data());
      rows_.data = floats_.data();
    }
    gather_terms();
  }

  /// Gathers the terms of the block's rows.
  void gather_terms() {
    if (group_.few && data_.metric == similarity::l2) return;
    term_.resize(std::max(term_.size(), number_.size()));
    for (std::size_t i = 0; i < number_.size(); ++i) term_[i] = data_.term[number_[i]];
  }

  /// Sets factor and limit of a query so that term * factor - product <= limit for each row whose
  /// key may be within the query's limit; for l2 with few queries, sum <= limit. Subtraction and
  /// comparison are monotone, so the inequality holds for rounded values if it holds for exact
  /// ones.
  void draw_line(std::size_t q) {
    if (group_.beyond[q]) return;
    double const farthest =
        std::min(lists_[q].limit(), group_.limit[q].load(std::memory_order_relaxed));
    if (farthest == limit_of_line_[q]) return;
    limit_of_line_[q] = farthest;
    error_bound const& bound = data_.bound;
    double const magnitude = group_.magnitude[q];
    if (data_.metric == similarity::l2 && group_.few) {
      limit_[q] =
          float_above(farthest * (1 + bound.differences()) * (1 + 0x1p-50) + bound.underflow());
    } else if (data_.metric == similarity::l2) {
      // low = (|x'|^2 + |y'|^2) (1 - bound) - 2 product - underflow
      factor_[q] = 1;
      limit_[q] =
          float_above((farthest - magnitude * (1 - bound.norms()) + 2 * bound.underflow()) / 2);
    } else if (data_.metric == similarity::inner_product) {
      // low = -product - bound |x| |y| - underflow
      factor_[q] = float_above(magnitude);
      limit_[q] = float_above(farthest + bound.underflow());
    } else if (farthest > 1.5) {
      factor_[q] = 0;
      limit_[q] = std::numeric_limits<float>::infinity();
    } else {
      // low = -product / (|x| |y|) - bound - underflow / (|x| |y|); 8 units cover the rounding of
      // |x| and of its product.
      factor_[q] = float_below(-(farthest + bound.products() + 0x1p-21) * magnitude);
      limit_[q] = float_above(bound.underflow());
    }
  }

  void scan_few() {
    sums_.resize(std::max(sums_.size(), rows_.count));
    bool const l2 = data_.metric == similarity::l2;
    for (std::size_t q = 0; q < group_.count; ++q) {
      if (group_.beyond[q]) continue;
      float const* const query = group_.values + q * dimensions_;
      if (l2)
        sum_squared_differences(query, rows_, sums_.data());
      else
        sum_products(query, rows_, sums_.data());
      float const limit = limit_[q];
      float const factor = factor_[q];
      for (std::size_t r = 0; r < rows_.count; ++r)
        if ((l2 ? sums_[r] : term_[r] * factor - sums_[r]) <= limit) consider(q, r, sums_[r]);
    }
  }

  void scan_many() {
    std::size_t first = 0;
    for (query_panel panel : group_.panel) {
      panel.factor = factor_.data() + first;
      panel.limit = limit_.data() + first;
      pairs_.resize(std::max(pairs_.size(), rows_.count * panel.width));
      std::size_t const found = find_near_pairs(panel, rows_, term_.data(), pairs_.data());
      for (std::size_t i = 0; i < found; ++i) {
        near_pair const& pair = pairs_[i];
        consider(first + pair.query, pair.row, pair.product);
      }
      first += panel.width;
    }
  }

  bool may_be_found(std::size_t q, std::size_t row) const {
    std::span<std::uint64_t const> const filters = group_.request->filter.of_query;
    if (filters.empty()) return true;
    std::size_t const words = (data_.rows.size() + 63) / 64;
    return passes(filters.subspan((group_.first + q) * words, words), row);
  }

  /// Considers a row that passes a query's limit. `sum`: of products, or for l2 with few queries of
  /// differences.
  void consider(std::size_t q, std::size_t in_block, float sum) {
    std::uint32_t const row = number_[in_block];
    if (!may_be_found(q, row)) return;
    add(q, bounds_of(q, row, sum), true);
  }

  bounded_row bounds_of(std::size_t q, std::uint32_t row, float sum) {
    error_bound const& bound = data_.bound;
    if (data_.metric == similarity::l2) {
      if (!group_.few)
        sum_squared_differences(group_.values + q * dimensions_,
                                {floats_of(row, eight_.data()), dimensions_, 1, dimensions_}, &sum);
      double const s = sum;
      return {(s - bound.underflow()) / (1 + bound.differences()),
              (s + bound.underflow()) / (1 - bound.differences()), row, false};
    }
    double const norms = group_.magnitude[q] * data_.magnitude[row];
    if (data_.metric == similarity::inner_product) {
      double const error = bound.products() * norms + bound.underflow();
      return {-static_cast<double>(sum) - error, -static_cast<double>(sum) + error, row, false};
    }
    if (norms == 0) return {0, 0, row, true};
    double const key = -static_cast<double>(sum) / norms;
    double const error = bound.products() + bound.underflow() / norms;
    return {key - error, key + error, row, false};
  }

  void add(std::size_t q, bounded_row const& one, bool in_order) {
    if (one.low > group_.limit[q].load(std::memory_order_relaxed)) return;
    bool const fell =
        lists_[q].add(one, in_order, [&](std::vector<bounded_row>& rows) { settle(q, rows); });
    if (group_.request->k == 0) count_in_range();
    if (!fell) return;
    double const mine = lists_[q].limit();
    double known = group_.limit[q].load(std::memory_order_relaxed);
    while (mine < known && !group_.limit[q].compare_exchange_weak(known, mine)) {
    }
  }

  void count_in_range() {
    constexpr std::size_t some = 1024;
    if (++in_range_ % some != 0) return;
    if ((group_.in_range += some) > group_.most_in_range)
      throw usage_error(
          fmt::format("radius: found more than {} rows for {}, more than memory holds; use a "
                      "smaller radius or fewer queries at a time",
                      group_.most_in_range, counted(group_.count, "query", "queries")));
  }

  void add_exactly(std::size_t q, std::span<std::uint32_t const> rows, bool in_order) {
    exact_.clear();
    for (std::uint32_t const row : rows)
      if (may_be_found(q, row)) exact_.push_back({0, 0, row, false});
    settle(q, exact_);
    for (bounded_row const& one : exact_) add(q, one, in_order);
  }

  flat_data const& data_;
  grouped_queries& group_;
  std::size_t dimensions_;
  std::vector<candidate_list> lists_;
  aligned_vector<float> factor_, limit_;  // [queries of the panels]
  std::vector<double> limit_of_line_;
  // Rows of the block, and those that the kernels cannot process.
  std::vector<std::uint32_t> number_, apart_;
  float_rows rows_;
  aligned_vector<float> floats_, term_, sums_, eight_;
  std::vector<near_pair> pairs_;
  std::vector<bounded_row> exact_;
  std::uint64_t recomputed_ = 0;
  std::size_t in_range_ = 0;
};

class flat_on_cpu final : public dense_search_engine {
 public:
  flat_on_cpu(context const& ctx, dense_rows const& rows, dense_index_options const& options)
      : data_{rows, options.metric, error_bound(0), {}, {}, {}, {}} {
    added(ctx, 0);
  }

  void added(context const& ctx, std::size_t first) override {
    std::size_t const rows = data_.rows.size();
    std::size_t const dimensions = data_.rows.dimensions();
    if (first == 0) {
      data_.bound = error_bound(dimensions);
      data_.centre =
          data_.metric == similarity::l2 ? centre_of_rows(data_.rows) : std::vector<float>();
    }
    data_.magnitude.resize(rows);
    data_.term.resize(rows);
    std::vector<aligned_vector<float>> space(static_cast<std::size_t>(ctx.thread_count()));
    parallel_for(ctx, rows - first, 4096, [&](std::size_t begin, std::size_t end, int thread) {
      auto& floats = space[static_cast<std::size_t>(thread)];
      floats.resize(rows_together * dimensions);
      for (std::size_t r = first + begin; r < first + end; r += rows_together)
        measure(r, std::min(rows_together, first + end - r), floats.data());
    });
    data_.beyond.erase(std::lower_bound(data_.beyond.begin(), data_.beyond.end(), first),
                       data_.beyond.end());
    for (std::size_t r = first; r < rows; ++r)
      if (data_.is_beyond(data_.magnitude[r]))
        data_.beyond.push_back(static_cast<std::uint32_t>(r));
  }

  void search(context const& ctx, dense_request const& request,
              std::span<std::vector<dense_candidate>> found,
              dense_search_work& work) const override {
    auto const threads = static_cast<std::size_t>(ctx.thread_count());
    std::size_t const rows = data_.rows.size();
    std::size_t const of_lists =
        std::min(threads * (2 * request.k + 32), rows) * sizeof(bounded_row) + 1;
    std::size_t const together = std::max<std::size_t>(
        std::min(list_bytes / of_lists, group_bytes / (data_.rows.dimensions() * sizeof(float))),
        2 * query_group);
    for (std::size_t first = 0; first < request.count; first += together)
      search_group(ctx, request, first, std::min(together, request.count - first),
                   found.subspan(first), work);
  }

 private:
  void search_group(context const& ctx, dense_request const& request, std::size_t first,
                    std::size_t count, std::span<std::vector<dense_candidate>> found,
                    dense_search_work& work) const {
    grouped_queries group(count);
    prepare(request, first, group);
    // A list may need twice its size while it grows, and is copied at the end.
    if (request.k == 0) group.most_in_range = free_memory() / (4 * sizeof(bounded_row)) + 1024;
    std::size_t const row_bytes = data_.rows.dimensions() * sizeof(float);
    context on = ctx;
    on.threads = static_cast<int>(std::clamp<std::size_t>(
        data_.rows.size() * data_.rows.dimensions() * count / pairs_a_thread, 1,
        static_cast<std::size_t>(ctx.thread_count())));
    auto const threads = static_cast<std::size_t>(on.threads);
    std::vector<worker> workers(threads, worker(data_, group));
    std::size_t const block =
        std::clamp<std::size_t>(block_bytes / row_bytes / 14 * 14, 14, most_block_rows);
    std::size_t const at_once =
        block * std::max<std::size_t>(bytes_at_once / (block * row_bytes * count), 1);
    parallel_for(on, data_.rows.size(), at_once,
                 [&](std::size_t begin, std::size_t end, int thread) {
                   for (std::size_t r = begin; r < end; r += block)
                     workers[static_cast<std::size_t>(thread)].scan(r, std::min(end, r + block));
                 });
    std::atomic<std::uint64_t> widened{0};
    parallel_for(
        on, count, count / (8 * threads) + 1, [&](std::size_t begin, std::size_t end, int thread) {
          for (std::size_t q = begin; q < end; ++q)
            widened +=
                merge(workers, workers[static_cast<std::size_t>(thread)], q, request, found[q]);
        });
    for (worker const& one : workers) work.recomputed += one.recomputed();
    work.widened += widened;
  }

  /// Merges the lists of all threads for a query, exactly and in order. Returns 1 if a list was
  /// widened, otherwise 0.
  static std::uint64_t merge(std::vector<worker>& workers, worker& mine, std::size_t q,
                             dense_request const& request, std::vector<dense_candidate>& found) {
    std::vector<bounded_row> rows;
    std::uint64_t widened = 0;
    for (worker& one : workers) {
      auto& some = one.list(q).rows();
      rows.insert(rows.end(), some.begin(), some.end());
      std::vector<bounded_row>().swap(some);
      if (one.list(q).widened()) widened = 1;
    }
    std::size_t const k = request.k;
    if (k > 0 && rows.size() > k) {
      auto const kth = rows.begin() + static_cast<std::ptrdiff_t>(k - 1);
      std::nth_element(rows.begin(), kth, rows.end(),
                       [](auto const& a, auto const& b) { return a.high < b.high; });
      double const limit = kth->high;
      std::erase_if(rows, [&](bounded_row const& one) { return one.low > limit; });
    }
    mine.settle(q, rows);
    found.clear();
    found.reserve(rows.size());
    for (bounded_row const& one : rows)
      if (k > 0 || one.low <= request.farthest) found.push_back({one.low, one.row});
    std::sort(found.begin(), found.end(), nearer_row());
    if (k > 0 && found.size() > k) found.resize(k);
    return widened;
  }

  /// Computes the magnitudes of up to `rows_together` consecutive rows.
  void measure(std::size_t begin, std::size_t count, float* floats) {
    std::size_t const dimensions = data_.rows.dimensions();
    std::array<float const*, rows_together> rows{};
    for (std::size_t i = 0; i < count; ++i) {
      float* const to = floats + i * dimensions;
      to_floats(data_.rows.type(), data_.rows.row(begin + i), dimensions, to);
      if (!data_.centre.empty()) subtract(data_.centre.data(), dimensions, 1, to);
      rows[i] = to;
    }
    std::array<double, rows_together> sums{};
    defined_sums(
        rows[0], rows.data(), count, dimensions, [](double, double y) { return y * y; },
        sums.data());
    for (std::size_t i = 0; i < count; ++i) {
      double const magnitude = data_.metric == similarity::l2 ? sums[i] : std::sqrt(sums[i]);
      data_.magnitude[begin + i] = magnitude;
      data_.term[begin + i] = data_.term_of(magnitude);
    }
  }

  void prepare(dense_request const& request, std::size_t first, grouped_queries& group) const {
    std::size_t const dimensions = data_.rows.dimensions();
    group.request = &request;
    group.first = first;
    group.few = group.count <= few_queries;
    group.values = request.queries.data() + first * dimensions;
    if (request.k == 0)
      for (auto& one : group.limit) one = request.farthest;
    std::vector<float> moved(group.values, group.values + group.count * dimensions);
    if (!data_.centre.empty()) subtract(data_.centre.data(), dimensions, group.count, moved.data());
    for (std::size_t q = 0; q < group.count; ++q) {
      double const norm = defined_norm(moved.data() + q * dimensions, dimensions);
      group.magnitude[q] = data_.metric == similarity::l2 ? norm * norm : norm;
      group.beyond[q] = data_.is_beyond(group.magnitude[q]);
      if (group.beyond[q]) std::fill_n(moved.data() + q * dimensions, dimensions, 0.0F);
    }
    if (group.few) return;
    std::size_t const width = 2 * query_group;
    group.panels.resize(round_up(group.count, width) * dimensions);
    for (std::size_t q = 0; q < group.count; q += width) {
      std::size_t const here = std::min(width, group.count - q);
      query_panel panel;
      panel.width = here > query_group ? width : query_group;
      float* const values = group.panels.data() + q * dimensions;
      for (std::size_t j = 0; j < here; ++j)
        for (std::size_t i = 0; i < dimensions; ++i)
          values[i * panel.width + j] = moved[(q + j) * dimensions + i];
      panel.values = values;
      group.panel.push_back(panel);
    }
  }

  flat_data data_;
};

}  // namespace

std::unique_ptr<dense_search_engine> make_flat_on_cpu(context const& ctx, dense_rows const& rows,
                                                      dense_index_options const& options) {
  return std::make_unique<flat_on_cpu>(ctx, rows, options);
}

}  // namespace rulerank::knn
