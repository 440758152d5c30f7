#include "core/aligned.hpp"
#include "knn/dense/flat_batch_cuda.cuh"

#include <algorithm>
#include <bit>
#include <cstring>

namespace rulerank::inline v0::knn {

namespace {

/// With more neighbours, all rows are computed and sorted.
constexpr std::size_t most_handed_neighbours = 2048;
/// The expected number of candidates per query: a multiple of k, or a minimum for small k. It is
/// smaller with many queries or neighbours, because collecting candidates then takes longer than a
/// larger sample. There is space for `space_for` times as many and, if few queries leave memory,
/// for up to `most_space_for` times, because bounds that are wide compared with the spread of the
/// scores admit so many.
constexpr std::uint32_t handed_a_neighbour = 32, few_handed_a_neighbour = 16;
constexpr std::uint32_t least_handed = 512, least_few_handed = 256;
constexpr std::size_t many_queries = 128, many_neighbours = 64;
constexpr std::uint32_t space_for = 4, most_space_for = 16;
/// A sample has at least one in so many rows.
constexpr std::uint32_t most_sample_of = 64;
/// With many queries, if the rows have at most so many values per neighbour, the sample has all
/// rows: this takes less time than collecting the candidates that a smaller sample leaves.
constexpr std::size_t all_sampled_a_neighbour = std::size_t{1} << 16;
/// Without a sample, all rows are candidates, at most about this many for all queries together; a
/// sample takes as long.
constexpr std::size_t handed_unsampled = std::size_t{1} << 16;
constexpr std::uint32_t range_capacity = 8192;
constexpr std::uint32_t range_sorted = 4096;
/// Bytes of a batch's queries and their candidates; bytes of their filters.
constexpr std::size_t handed_bytes = std::size_t{256} << 20;
constexpr std::size_t filter_bytes = std::size_t{64} << 20;
constexpr std::size_t most_together = 8192;
/// Rows that are computed and sorted at once.
constexpr std::uint32_t computed_rows = 1U << 23;

/// Returns 32 bits of a filter, from a row on.
std::uint32_t bits_from(std::span<std::uint64_t const> words, std::size_t bit) {
  std::size_t const word = bit / 64;
  if (word >= words.size()) return 0;
  std::uint64_t bits = words[word] >> (bit % 64);
  if (bit % 64 > 32 && word + 1 < words.size()) bits |= words[word + 1] << (64 - bit % 64);
  return static_cast<std::uint32_t>(bits);
}
void copy_filter(std::span<std::uint64_t const> words, flat_part const& part, std::uint32_t* to) {
  for (std::size_t slab = 0; slab < part.view().slabs(); ++slab)
    to[slab] = bits_from(words, part.of().begin + slab * slab_rows);
}

}  // namespace

flat_plan::flat_plan(std::size_t k, std::size_t queries, std::size_t capacity_wanted) {
  scans = k <= most_handed_neighbours;
  if (!scans) return;
  auto const count = static_cast<std::uint32_t>(k);
  bool const few = queries >= many_queries || k > many_neighbours;
  std::uint32_t const handed = std::max((few ? few_handed_a_neighbour : handed_a_neighbour) * count,
                                        few ? least_few_handed : least_handed);
  capacity = sample_above = k == 0 ? range_capacity : std::max(space_for * handed, 2048U);
  if (k > 0) {
    std::size_t const space =
        handed_bytes / 2 / sizeof(handed_row) / std::max<std::size_t>(queries, 1);
    capacity = static_cast<std::uint32_t>(
        std::clamp<std::size_t>(space, capacity, std::max(most_space_for * handed, capacity)));
  }
  sorted = k == 0 ? range_sorted : std::bit_ceil(std::max(2 * count + 64, 512U));
  groups = std::max(16 * count, 512U);
  sample_of = k == 0 ? 1 : std::min(handed / count, most_sample_of);
  if (k > 0 && queries >= many_queries) {
    all_sampled = k * all_sampled_a_neighbour;
    sample_above = std::min(
        sample_above, std::max(4 * count, static_cast<std::uint32_t>(handed_unsampled / queries)));
  }
  if (capacity_wanted > 0)
    capacity = sample_above = std::max(static_cast<std::uint32_t>(capacity_wanted), count);
}

flat_plan flat_plan::with_space_for(std::uint32_t handed) const {
  flat_plan more = *this;
  // The bounds may be a little wider in a batch with other queries.
  more.capacity = static_cast<std::uint32_t>(
      std::min<std::size_t>(std::size_t{handed} + handed / 8, handed_bytes / sizeof(handed_row)));
  return more;
}

std::size_t flat_batch::most_queries(flat_plan const& plan, dense_request const& request,
                                     std::size_t dimensions, std::size_t rows) {
  std::size_t const of_query = plan.capacity * sizeof(handed_row) +
                               dimensions * (sizeof(float) + sizeof(double)) +
                               plan.sorted * (sizeof(double) + sizeof(std::uint32_t));
  std::size_t most = std::min(most_together, handed_bytes / of_query);
  if (!request.filter.of_query.empty()) most = std::min(most, filter_bytes / (rows / 8 + 1));
  return std::max<std::size_t>(most, 1);
}

void flat_batch::search(flat_part const& part, flat_plan const& plan, flat_batch_request const& of,
                        flat_sink const& to, dense_search_work& work) {
  bool const scans = flat_batch::scans(plan, part.view().dimensions);
  stage(part, plan, of);
  run(part, plan, scans);
  std::byte* const host = output_.on_host();
  query_state const* const states = state_.in(host);
  std::size_t const count = of.queries.size();
  if (scans) {
    for (std::size_t q = 0; q < count; ++q)
      if (states[q] != query_state::done || computed_.in(host)[q] > plan.sorted)
        to.widened(of.queries[q]);
    if (std::find(states, states + count, query_state::crowded) != states + count)
      settle_crowded(part);
  }
  for (std::uint32_t q = 0; q < count; ++q)
    if (!scans || states[q] == query_state::exact || (states[q] == query_state::again && of.last)) {
      compute(part, q, of.queries[q], to);
      work.recomputed += part.view().rows;
    }
  end_.record(on_);
  work.device_s += end_.seconds_since(begin_);
  for (std::size_t q = 0; scans && q < count; ++q) {
    work.recomputed += computed_.in(host)[q];
    if (states[q] == query_state::done)
      to.add(of.queries[q], keys_.in(host) + q * results_.kept, rows_.in(host) + q * results_.kept,
             found_.in(host)[q]);
    if (states[q] == query_state::again && !of.last)
      to.again(of.queries[q], better_.in(host)[q], found_.in(host)[q]);
  }
}

/// Copies the queries to the device and lays out the memory for them.
void flat_batch::stage(flat_part const& part, flat_plan const& plan, flat_batch_request const& of) {
  shadow_rows const& rows = part.view();
  dense_request const& request = *of.request;
  std::size_t const count = of.queries.size();
  std::size_t const slabs = rows.slabs();
  packed_arrays input;
  auto const values = input.add<float>(count * rows.dimensions);
  auto const given = input.add<float>(of.limits.size());
  bool const by_row = !request.filter.rows.empty();
  bool const by_query = !request.filter.of_query.empty();
  auto const rows_filter = input.add<std::uint32_t>(by_row ? slabs : 0);
  auto const query_filter = input.add<std::uint32_t>(by_query ? count * slabs : 0);
  auto const ratio = input.add<std::uint32_t>(1);
  input_.reserve(input.bytes());
  std::byte* const host = input_.on_host();
  for (std::size_t q = 0; q < count; ++q)
    std::memcpy(values.in(host) + q * rows.dimensions,
                request.queries.data() + std::size_t{of.queries[q]} * rows.dimensions,
                rows.dimensions * sizeof(float));
  std::copy(of.limits.begin(), of.limits.end(), given.in(host));
  *ratio.in(host) = 0;
  if (by_row) copy_filter(request.filter.rows, part, rows_filter.in(host));
  if (by_query) {
    std::size_t const words = request.filter.of_query.size() / request.count;
    for (std::size_t q = 0; q < count; ++q)
      copy_filter(request.filter.of_query.subspan(of.queries[q] * words, words), part,
                  query_filter.in(host) + q * slabs);
  }
  std::byte* const device = input_.on_device();
  queries_ = {};
  queries_.ratio = ratio.in(device);
  queries_.values = values.in(device);
  queries_.given = of.limits.empty() ? nullptr : given.in(device);
  queries_.rows_filter = by_row ? rows_filter.in(device) : nullptr;
  queries_.query_filter = by_query ? query_filter.in(device) : nullptr;
  queries_.count = static_cast<std::uint32_t>(count);
  queries_.k = static_cast<std::uint32_t>(std::min<std::size_t>(request.k, rows.rows));
  queries_.farthest = request.farthest;
  queries_.capacity = plan.capacity;
  lay_out(rows, plan);
  begin_.record(on_);
  input_.upload(host, input.bytes(), on_.get());
}

/// Assigns device memory for the kernels' data and results.
void flat_batch::lay_out(shadow_rows const& rows, flat_plan const& plan) {
  std::size_t const count = queries_.count;
  std::size_t const padded = queries_.padded();
  packed_arrays space;
  auto const fragments = space.add<uint4>(padded / 16 * rows.steps() * 32);
  auto const exact = space.add<double>(count * rows.dimensions);
  auto const reach = space.add<float>(padded);
  auto const limit = space.add<float>(padded);
  auto const slack = space.add<float>(padded);
  auto const norm = space.add<double>(padded);
  auto const handed = space.add<std::uint32_t>(padded);
  auto const near = space.add<handed_row>(count * plan.capacity);
  space_.reserve(space.bytes());
  std::byte* const there = space_.data();
  queries_.fragments = fragments.in(there);
  queries_.exact = exact.in(there);
  queries_.reach = reach.in(there);
  queries_.limit = limit.in(there);
  queries_.slack = slack.in(there);
  queries_.norm = norm.in(there);
  queries_.handed = handed.in(there);
  queries_.rows = near.in(there);
  results_ = {};
  results_.kept = queries_.k == 0 ? plan.sorted : queries_.k;
  if (!plan.scans) results_.kept = 0;
  results_.sorted = plan.sorted;
  packed_arrays output;
  found_ = output.add<std::uint32_t>(count);
  computed_ = output.add<std::uint32_t>(count);
  state_ = output.add<query_state>(count);
  better_ = output.add<float>(count);
  keys_ = output.add<double>(count * results_.kept);
  rows_ = output.add<std::uint32_t>(count * results_.kept);
  output_bytes_ = output.bytes();
  output_.reserve(output_bytes_);
  std::byte* const out = output_.on_device();
  results_.keys = keys_.in(out);
  results_.rows = rows_.in(out);
  results_.found = found_.in(out);
  results_.computed = computed_.in(out);
  results_.state = state_.in(out);
  results_.limits = better_.in(out);
}

void flat_batch::run(flat_part const& part, flat_plan const& plan, bool scans) {
  shadow_rows const& rows = part.view();
  prepare(rows, queries_, results_, on_.get());
  if (scans) {
    bool const samples =
        queries_.k > 0 && queries_.given == nullptr && rows.rows > plan.sample_above;
    if (samples) {
      scan_plan const some = plan_sample(
          limits_, rows, queries_.count,
          std::size_t{rows.rows} * rows.dimensions > plan.all_sampled ? plan.sample_of : 1,
          plan.groups);
      if (some.groups() >= queries_.k) {
        maxima_.reserve(std::size_t{queries_.padded()} * some.groups());
        sample(rows, queries_, some, maxima_.data(), on_.get());
      }
    }
    knn::scan(rows, queries_, plan_scan(limits_, rows, queries_.count), on_.get());
    finish(limits_, rows, queries_, results_, on_.get());
    // A range search fills little of its space.
    output_.download({0, output_bytes_}, on_.get());
  }
}

/// Completes the crowded queries of the batch.
void flat_batch::settle_crowded(flat_part const& part) {
  finish_crowded(part.view(), queries_, results_, on_.get());
  output_.download({0, output_bytes_}, on_.get());
}

/// Computes all rows for the q-th query of the batch and passes on its nearest, or those in range.
void flat_batch::compute(flat_part const& part, std::uint32_t q, std::uint32_t query,
                         flat_sink const& to) {
  shadow_rows const& rows = part.view();
  std::uint32_t const at_once = std::min(rows.rows, computed_rows);
  std::size_t const sort_bytes =
      sort_keys(nullptr, 0, nullptr, nullptr, nullptr, nullptr, at_once, on_.get());
  packed_arrays space;
  auto const keys = space.add<std::uint64_t>(at_once);
  auto const sorted_keys = space.add<std::uint64_t>(at_once);
  auto const numbers = space.add<std::uint32_t>(at_once);
  auto const sorted_numbers = space.add<std::uint32_t>(at_once);
  auto const within = space.add<std::uint32_t>(1);
  auto const sort_space = space.add<std::byte>(sort_bytes);
  sort_space_.reserve(space.bytes());
  std::byte* const there = sort_space_.data();
  std::vector<std::uint64_t> near_keys;
  std::vector<std::uint32_t> near_rows;
  std::vector<double> values;
  for (std::uint32_t first = 0; first < rows.rows; first += at_once) {
    std::uint32_t const count = std::min(at_once, rows.rows - first);
    compute_all(rows, queries_, q, first, count, queries_.farthest, keys.in(there),
                numbers.in(there), within.in(there), on_.get());
    sort_keys(sort_space.in(there), sort_bytes, keys.in(there), sorted_keys.in(there),
              numbers.in(there), sorted_numbers.in(there), count, on_.get());
    std::uint32_t found = 0;
    check_cuda(
        cudaMemcpyAsync(&found, within.in(there), sizeof found, cudaMemcpyDeviceToHost, on_.get()));
    on_.synchronize();
    if (queries_.k > 0) found = std::min(found, queries_.k);
    near_keys.resize(found);
    near_rows.resize(found);
    values.resize(found);
    check_cuda(cudaMemcpyAsync(near_keys.data(), sorted_keys.in(there),
                               found * sizeof(std::uint64_t), cudaMemcpyDeviceToHost, on_.get()));
    check_cuda(cudaMemcpyAsync(near_rows.data(), sorted_numbers.in(there),
                               found * sizeof(std::uint32_t), cudaMemcpyDeviceToHost, on_.get()));
    on_.synchronize();
    std::transform(near_keys.begin(), near_keys.end(), values.begin(), key_of);
    to.add(query, values.data(), near_rows.data(), found);
  }
}

}  // namespace rulerank::knn
