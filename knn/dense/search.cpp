#include "knn/dense/search.hpp"

#include "core/error.hpp"
#include "core/memory_gate.hpp"
#include "core/named_values.hpp"
#include "core/parallel.hpp"
#include "core/stopwatch.hpp"
#include "knn/dense/definition.hpp"
#include "knn/dense/engine.hpp"
#include "knn/dense/flat_kernels.hpp"
#include "knn/dense/index_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

constexpr named_values<similarity, 3> metrics{
    {{"l2", similarity::l2}, {"ip", similarity::inner_product}, {"cosine", similarity::cosine}}};

using candidate_lists = std::vector<std::vector<dense_candidate>>;

/// Calls work(begin, end) for ranges of lists, with as many threads as are useful.
template <class Work>
void for_lists(context const& ctx, candidate_lists const& lists, Work const& work) {
  std::size_t candidates = 0;
  for (auto const& list : lists) candidates += list.size();
  std::size_t const ranges = candidates / candidates_a_thread + 1;
  parallel_for(ctx, lists.size(), lists.size() / ranges + 1,
               [&](std::size_t begin, std::size_t end, int) { work(begin, end); });
}
/// Calls work(i, lists[i]) for each list, with as many threads as are useful.
template <class Work>
void for_each_list(context const& ctx, candidate_lists& lists, Work const& work) {
  for_lists(ctx, lists, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) work(i, lists[i]);
  });
}

std::unique_ptr<dense_search_engine> make_flat(context const& ctx, dense_rows const& rows,
                                               dense_index_options const& options) {
#if RULERANK_HAS_CUDA
  if (!ctx.devices.empty()) return make_flat_on_gpus(ctx, rows, options);
#endif
  return make_flat_on_cpu(ctx, rows, options);
}
#if RULERANK_HAS_CUDA
constexpr runs_on of_flat = runs_on::cpu_and_gpus;
#else
constexpr runs_on of_flat = runs_on::cpu;
#endif

/// Bytes of queries that an engine gets at once.
constexpr std::size_t slice_bytes = std::size_t{64} << 20;

/// Throws as the constructor and `search`.
void check_vectors(context const& ctx, datasets::vectors const& some) {
  if (!is_searchable(some.type()))
    throw usage_error(fmt::format("{}: found values of type {}, expected {}", some.name(),
                                  datasets::name_of(some.type()), searchable_types));
  datasets::expect_finite(ctx, some);
}

void check_k(std::size_t k) {
  if (k == 0) throw usage_error("k: found 0, expected at least 1");
}

/// Returns an upper bound of the keys of rows in range.
double farthest_key(similarity metric, double radius) {
  if (metric != similarity::l2) return 0.0 - radius;
  return radius * radius * (1 + 0x1p-40);
}

/// Throws `usage_error` if a filter does not have the size for `rows` and `queries`.
void expect_filter(dense_filter const& filter, std::size_t rows, std::size_t queries) {
  std::size_t const words = (rows + 63) / 64;
  auto const expect = [&](std::string_view of, std::size_t found, std::size_t expected) {
    if (found != 0 && found != expected)
      throw usage_error(fmt::format("filter of {}: found {}, expected {} for {}", of,
                                    counted(found, "word"), expected, counted(rows, "row")));
  };
  expect("all queries", filter.rows.size(), words);
  expect("each query", filter.of_query.size(), words * queries);
}

}  // namespace

similarity dense_similarity_from(std::string_view name) {
  return value_named<similarity>(metrics, name, "found metric", name_list::plain);
}

void dense_search_engine::search_nearest(context const& ctx, dense_request const& request,
                                         take_nearest_rows const& take,
                                         dense_search_work& work) const {
  candidate_lists lists(request.count);
  search(ctx, request, lists, work);
  for_lists(ctx, lists, [&](std::size_t begin, std::size_t end) {
    std::vector<double> keys;
    std::vector<std::uint32_t> rows;
    for (std::size_t q = begin; q < end; ++q) {
      if (lists[q].empty()) continue;
      keys.clear();
      rows.clear();
      for (dense_candidate const& one : lists[q]) {
        keys.push_back(one.value);
        rows.push_back(one.id);
      }
      take(q, keys, rows);
    }
  });
}

engine_registry<dense_engine, dense_engine_maker>& registered_dense_engines() {
  static engine_registry<dense_engine, dense_engine_maker> engines{
      {{dense_engine::flat, "flat",
        "floats with proven bounds tell which rows may be near, and those are computed exactly", "",
        of_flat, of_flat},
       {.make = make_flat, .gives_definition = true}}};
  return engines;
}

std::span<dense_engine_info const> dense_engines() {
  return registered_dense_engines().list();
}
std::string_view name_of(dense_engine e) {
  return name_of_engine(dense_engines(), e);
}
dense_engine dense_engine_from(std::string_view name) {
  return engine_named<dense_engine>(dense_engines(), name);
}

struct dense_index::implementation {
  dense_rows rows;
  similarity metric;
  dense_engine which;
  std::vector<std::int64_t> ids;
  std::unique_ptr<dense_search_engine> engine;

  void check_queries(context const& ctx, datasets::vectors const& queries,
                     dense_filter const& filter) const {
    check_vectors(ctx, queries);
    if (rows.size() > 0 && queries.size() > 0 && queries.dimensions() != rows.dimensions())
      throw usage_error(fmt::format("{}: found {}, expected {}, as the rows have", queries.name(),
                                    counted(queries.dimensions(), "dimension"), rows.dimensions()));
    expect_filter(filter, rows.size(), queries.size());
  }

  /// Calls run(first, request) for batches of queries, beginning at `first`. request: k or
  /// farthest.
  template <class Run>
  void for_some(datasets::vectors const& queries, dense_request request, Run const& run) const {
    std::size_t const dimensions = rows.dimensions();
    std::size_t const words = (rows.size() + 63) / 64;
    dense_filter const filter = request.filter;
    std::size_t const of_query =
        dimensions * sizeof(float) + (request.k + 1) * sizeof(dense_candidate);
    std::size_t const together = std::max<std::size_t>(slice_bytes / of_query, 32);
    bool const are_floats = queries.type() == datasets::element::float32;
    std::vector<float> values;
    for (std::size_t first = 0; first < queries.size(); first += together) {
      request.count = std::min(together, queries.size() - first);
      if (are_floats) {
        request.queries =
            queries.values<float>().subspan(first * dimensions, request.count * dimensions);
      } else {
        values.resize(request.count * dimensions);
        to_floats(queries.type(), queries.data() + first * queries.row_bytes(), values.size(),
                  values.data());
        request.queries = values;
      }
      if (!filter.of_query.empty())
        request.filter.of_query = filter.of_query.subspan(first * words, request.count * words);
      run(first, std::as_const(request));
    }
    rows.first().expect_unchanged();
    queries.expect_unchanged();
  }
  /// Calls take(q, keys, rows) as `take_nearest_rows`. request: with k > 0.
  void search_nearest(context const& ctx, datasets::vectors const& queries,
                      dense_request const& request, take_nearest_rows const& take,
                      dense_search_work& work) const {
    for_some(queries, request, [&](std::size_t first, dense_request const& some) {
      engine->search_nearest(
          ctx, some,
          [&](std::size_t q, std::span<double const> keys, std::span<std::uint32_t const> found) {
            take(first + q, keys, found);
          },
          work);
    });
  }

  /// Implements the index's `search` and `search_range`; `keys`: receives the keys, or null.
  void nearest(context const& ctx, datasets::vectors const& queries, std::size_t k,
               dense_filter const& filter, dense_search_work* work, neighbours& found,
               std::vector<double>* keys) const;
  void within(context const& ctx, datasets::vectors const& queries, double radius,
              dense_filter const& filter, dense_search_work* work, rows_in_range& found,
              std::vector<double>* keys) const;
};

dense_index::dense_index(context const& ctx, datasets::vectors rows,
                         dense_index_options const& options, std::vector<std::int64_t> ids) {
  if (name_in(metrics, options.metric).empty()) dense_similarity_from(knn::name_of(options.metric));
  auto const& entry = choose_engine(dense_engines(), options.engine, ctx);
  if (!ids.empty() && ids.size() != rows.size())
    throw usage_error(fmt::format("ids: found {}, expected one for each of {}", ids.size(),
                                  counted(rows.size(), "row")));
  if (rows.size() >= no_neighbour)
    throw usage_error(fmt::format("{}: found {}, expected fewer than {}", rows.name(),
                                  counted(rows.size(), "row"), no_neighbour));
  check_vectors(ctx, rows);
  implementation_.reset(new implementation{dense_rows(std::move(rows)), options.metric, entry.which,
                                           std::move(ids), nullptr});
  implementation_->engine =
      registered_dense_engines().maker_of(entry.which).make(ctx, implementation_->rows, options);
  implementation_->rows.first().expect_unchanged();
}
dense_index::~dense_index() = default;
dense_index::dense_index(dense_index&&) noexcept = default;

void dense_index::save(context const& ctx, std::string const& path) const {
  write_dense_index(ctx, path, implementation_->rows, implementation_->ids,
                    implementation_->metric);
}
dense_index dense_index::open(context const& ctx, std::string const& path, dense_engine engine) {
  dense_index_content content = read_dense_index(ctx, path);
  return {ctx, std::move(content.rows), {content.metric, engine}, std::move(content.ids)};
}

void dense_index::add(context const& ctx, datasets::vectors const& rows,
                      std::span<std::int64_t const> ids) {
  implementation& own = *implementation_;
  std::size_t const before = own.rows.size();
  if (rows.empty()) return;
  check_vectors(ctx, rows);
  if (before == 0) own.rows.become(rows.type(), rows.dimensions());
  if (rows.type() != own.rows.type() || rows.dimensions() != own.rows.dimensions())
    throw usage_error(fmt::format("{}: found rows of {} values of type {}, expected {} of {}",
                                  rows.name(), rows.dimensions(), datasets::name_of(rows.type()),
                                  own.rows.dimensions(), datasets::name_of(own.rows.type())));
  bool const has_ids = before == 0 ? !ids.empty() : !own.ids.empty();
  if (ids.size() != (has_ids ? rows.size() : 0))
    throw usage_error(fmt::format("ids: found {} for {}, expected {}", ids.size(),
                                  counted(rows.size(), "row"),
                                  has_ids ? "one for each" : "none, as the other rows have none"));
  if (rows.size() >= no_neighbour - before)
    throw usage_error(fmt::format("{}: found {} in all, expected fewer than {}", rows.name(),
                                  counted(before + rows.size(), "row"), no_neighbour));
  own.ids.reserve(own.ids.size() + ids.size());
  own.rows.add(rows);
  try {
    own.engine->added(ctx, before);
    rows.expect_unchanged();
  } catch (...) {
    own.rows.remove_last(rows.size());
    throw;
  }
  own.ids.insert(own.ids.end(), ids.begin(), ids.end());
}

std::size_t dense_index::size() const noexcept {
  return implementation_->rows.size();
}
std::size_t dense_index::dimensions() const noexcept {
  return implementation_->rows.dimensions();
}
datasets::element dense_index::type() const noexcept {
  return implementation_->rows.type();
}
similarity dense_index::metric() const noexcept {
  return implementation_->metric;
}
dense_engine dense_index::engine() const noexcept {
  return implementation_->which;
}
bool dense_index::has_ids() const noexcept {
  return !implementation_->ids.empty();
}
std::int64_t dense_index::id_of(std::uint32_t row) const {
  return implementation_->ids.empty() ? std::int64_t{row} : implementation_->ids[row];
}
std::vector<std::int64_t> dense_index::ids_of(std::span<std::uint32_t const> rows) const {
  std::vector<std::int64_t> ids(rows.size());
  std::transform(rows.begin(), rows.end(), ids.begin(),
                 [&](std::uint32_t row) { return row == no_neighbour ? -1 : id_of(row); });
  return ids;
}

void dense_index_access::search_nearest(dense_index const& index, context const& ctx,
                                        datasets::vectors const& queries, std::size_t k,
                                        take_nearest_rows const& take, dense_search_work& work) {
  dense_index::implementation const& own = *index.implementation_;
  check_k(k);
  own.check_queries(ctx, queries, {});
  dense_request request;
  request.k = std::min(k, own.rows.size());
  if (request.k > 0) own.search_nearest(ctx, queries, request, take, work);
}

neighbours dense_index::search(context const& ctx, datasets::vectors const& queries, std::size_t k,
                               dense_filter const& filter, dense_search_work* work) const {
  neighbours found;
  implementation_->nearest(ctx, queries, k, filter, work, found, nullptr);
  return found;
}

part_neighbours dense_index_access::search_part(dense_index const& index, context const& ctx,
                                                datasets::vectors const& queries, std::size_t k,
                                                dense_filter const& filter,
                                                dense_search_work* work) {
  part_neighbours found;
  found.key_order = value_order::smaller_is_nearer;
  index.implementation_->nearest(ctx, queries, k, filter, work, found, &found.key);
  return found;
}

rows_in_range dense_index::search_range(context const& ctx, datasets::vectors const& queries,
                                        double radius, dense_filter const& filter,
                                        dense_search_work* work) const {
  rows_in_range found;
  implementation_->within(ctx, queries, radius, filter, work, found, nullptr);
  return found;
}

part_rows_in_range dense_index_access::search_range_part(dense_index const& index,
                                                         context const& ctx,
                                                         datasets::vectors const& queries,
                                                         double radius, dense_filter const& filter,
                                                         dense_search_work* work) {
  part_rows_in_range found;
  found.key_order = value_order::smaller_is_nearer;
  index.implementation_->within(ctx, queries, radius, filter, work, found, &found.key);
  return found;
}

void dense_index::implementation::nearest(context const& ctx, datasets::vectors const& queries,
                                          std::size_t k, dense_filter const& filter,
                                          dense_search_work* work, neighbours& found,
                                          std::vector<double>* keys) const {
  stopwatch const watch;
  implementation const& own = *this;
  check_k(k);
  own.check_queries(ctx, queries, filter);
  found.queries = queries.size();
  found.k = k;
  found.order = order_of(own.metric);
  dense_request request;
  request.k = std::min(k, own.rows.size());
  request.filter = filter;
  std::size_t const entry =
      sizeof(std::uint32_t) + sizeof(double) + (keys == nullptr ? 0 : sizeof(double));
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  bool const fits = queries.empty() || k <= most / 2 / entry / queries.size();
  // Besides the result, the lists of some queries need memory, which may briefly hold an entry for
  // every row.
  memory_gate().take(
      {fits ? queries.size() * k * entry + request.k * 64 : most,
       fmt::format("k {}: the neighbours of {}", k, counted(queries.size(), "query", "queries")),
       "use a smaller k, or search for fewer queries at a time"},
      [&] {
        found.id.assign(queries.size() * k, no_neighbour);
        found.value.assign(queries.size() * k, 0);
        if (keys != nullptr) keys->assign(queries.size() * k, 0);
      });
  if (request.k > 0) {
    dense_search_work done;
    own.search_nearest(
        ctx, queries, request,
        [&](std::size_t q, std::span<double const> of_query, std::span<std::uint32_t const> near) {
          std::size_t const begin = q * k;
          for (std::size_t i = 0; i < near.size(); ++i) {
            found.id[begin + i] = near[i];
            found.value[begin + i] = value_of_key(own.metric, of_query[i]);
            if (keys != nullptr) (*keys)[begin + i] = of_query[i];
          }
        },
        done);
    if (work != nullptr) *work += done;
  }
  found.search_s = watch.seconds();
}

void dense_index::implementation::within(context const& ctx, datasets::vectors const& queries,
                                         double radius, dense_filter const& filter,
                                         dense_search_work* work, rows_in_range& found,
                                         std::vector<double>* keys) const {
  stopwatch const watch;
  implementation const& own = *this;
  bool const is_distance = own.metric == similarity::l2;
  if (std::isnan(radius) || (is_distance && radius < 0))
    throw usage_error(fmt::format("radius: found {}, expected a number{}", radius,
                                  is_distance ? " of 0 or more" : ""));
  own.check_queries(ctx, queries, filter);
  found.order = order_of(own.metric);
  found.begin.assign(1, 0);
  if (own.rows.size() == 0) {
    found.begin.resize(queries.size() + 1, 0);
    return;
  }
  dense_request request;
  request.farthest = farthest_key(own.metric, radius);
  request.filter = filter;
  auto const is_beyond = [&](dense_candidate const& one) {
    double const value = value_of_key(own.metric, one.value);
    return is_distance ? value > radius : value < radius;
  };
  dense_search_work done;
  candidate_lists lists;
  own.for_some(queries, request, [&](std::size_t first, dense_request const& some_queries) {
    lists.assign(some_queries.count, {});
    own.engine->search(ctx, some_queries, lists, done);
    for_each_list(ctx, lists, [&](std::size_t, std::vector<dense_candidate>& some) {
      std::erase_if(some, is_beyond);
    });
    for (auto const& some : lists) found.begin.push_back(found.begin.back() + some.size());
    found.row.resize(found.begin.back());
    found.value.resize(found.begin.back());
    if (keys != nullptr) keys->resize(found.begin.back());
    for_each_list(ctx, lists, [&](std::size_t q, std::vector<dense_candidate> const& some) {
      std::size_t const begin = found.begin[first + q];
      for (std::size_t i = 0; i < some.size(); ++i) {
        found.row[begin + i] = some[i].id;
        found.value[begin + i] = value_of_key(own.metric, some[i].value);
        if (keys != nullptr) (*keys)[begin + i] = some[i].value;
      }
    });
  });
  if (work != nullptr) *work += done;
  found.search_s = watch.seconds();
}

}  // namespace rulerank::knn
