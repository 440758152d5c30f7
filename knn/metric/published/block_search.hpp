#pragma once

#include "core/host_device.hpp"
#include "knn/metric/gpu/block_memory.hpp"
#include "knn/metric/gpu/block_objects.hpp"
#include "knn/metric/indexes/exclusion.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

// The searches of Barrientos 2011, chapter 4, in which the threads of a block process one query
// together: Algorithms 11 to 13 within a radius, 14 to 16 for the k nearest. They work for any
// Block (knn/metric/gpu/block_objects.hpp). Differences to the document: results are returned, not
// counted. Distances are doubles, computed after floats have excluded objects that are too far.
// Exclusion has the slack for rounding of knn/metric/indexes/exclusion.hpp. minC of Algorithms 12
// and 15 is known before the first cluster is opened, so each run compares the same objects. Heaps
// are ordered by distance and number, which resolves all ties. They are merged once a radius
// contains k objects, not for each radius.
namespace rulerank::inline v0::knn {

// ------------------------------------------------------------------------------------- jobs

/// The arguments of all queries of a launch.
struct block_job {
  std::uint32_t k = 0;  ///< 0: all within the radius
  double radius = 0;    ///< for the nearest: the first radius
  double step = 0;      ///< increment of the radius
  /// For the nearest: the radii to try, and whether they start unbounded and shrink.
  std::uint32_t first_round = 0;
  std::uint32_t end_round = 1;
  bool shrinks = false;
};

/// After so many radii, the next one contains all objects.
inline constexpr std::uint32_t rounds_that_grow = 16;

RULERANK_HOST_DEVICE inline double radius_of(block_job const& job, std::uint32_t round) {
  if (job.k == 0) return job.radius;
  if (job.shrinks || round >= rounds_that_grow) return without_bound;
  return job.radius + round * job.step;
}

/// Replaces a count: the query needs a larger radius than the launch tried. No list has space for
/// so many objects (`is_whole`).
inline constexpr std::uint32_t is_pending = ~std::uint32_t{0};

// ------------------------------------------------------------------------------------- space

/// The state that the threads of a block share.
struct block_state {
  std::uint64_t evaluations;
  std::uint64_t bound;  ///< the bits of a double
  std::uint32_t count;
  std::uint32_t last;  ///< the last cluster to open
};

/// The memory of one block.
struct block_space : query_space {
  block_state* state = nullptr;
  double* pivot = nullptr;             ///< distances to the pivots or centres
  std::uint32_t* excluded = nullptr;   ///< [objects_together]
  double* heap_value = nullptr;        ///< [k][threads]
  std::uint32_t* heap_id = nullptr;    ///< [k][threads]
  std::uint32_t* heap_size = nullptr;  ///< [threads + lanes]
  double* lane_value = nullptr;        ///< [k][lanes]
  std::uint32_t* lane_id = nullptr;    ///< [k][lanes]
};

/// Threads that merge the heaps first.
inline constexpr std::uint32_t heap_lanes = 32;
/// Objects whose pivots are distributed over the threads between two barriers.
inline constexpr std::uint32_t objects_together = 1024;

/// A heap with elements `stride` apart, the farthest in front: the k nearest of the added objects.
struct nearest_heap {
  double* value;
  std::uint32_t* id;
  std::size_t stride;
  std::uint32_t k;
  std::uint32_t size = 0;

  RULERANK_HOST_DEVICE bool is_full() const { return size == k; }
  RULERANK_HOST_DEVICE double farthest() const { return value[0]; }
  RULERANK_HOST_DEVICE void add(double v, std::uint32_t i) {
    if (size < k) {
      std::uint32_t at = size++;
      while (at > 0) {
        std::uint32_t const parent = (at - 1) / 2;
        if (!is_before(value[parent * stride], id[parent * stride], v, i)) break;
        move(parent, at);
        at = parent;
      }
      put(at, v, i);
      return;
    }
    if (k == 0 || !is_before(v, i, value[0], id[0])) return;
    std::uint32_t at = 0;
    for (std::uint32_t child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && is_before(value[child * stride], id[child * stride],
                                        value[(child + 1) * stride], id[(child + 1) * stride]))
        ++child;
      if (!is_before(v, i, value[child * stride], id[child * stride])) break;
      move(child, at);
      at = child;
    }
    put(at, v, i);
  }

 private:
  RULERANK_HOST_DEVICE static bool is_before(double a, std::uint32_t i, double b, std::uint32_t j) {
    return a < b || (a == b && i < j);
  }
  RULERANK_HOST_DEVICE void put(std::uint32_t at, double v, std::uint32_t i) const {
    value[at * stride] = v;
    id[at * stride] = i;
  }
  RULERANK_HOST_DEVICE void move(std::uint32_t from, std::uint32_t to) const {
    put(to, value[from * stride], id[from * stride]);
  }
};

// ------------------------------------------------------------------------------------- queries

/// One query in one thread of its block.
template <class Block, class Objects>
class block_query {
 public:
  RULERANK_HOST_DEVICE block_query(Block const& of_block, block_job const& job,
                                   exclusion const& rule, std::uint32_t const* ids,
                                   block_space const& of_space, typename Objects::origin from,
                                   found_lists const& lists, std::size_t list)
      : block(of_block),
        space(of_space),
        job_(job),
        rule_(rule),
        ids_(ids),
        origin_(from),
        lists_(lists),
        list_(list),
        heap_{nullptr, nullptr, of_block.threads(), job.k} {
    if (job.k == 0) return;
    heap_.value = space.heap_value + block.thread();
    heap_.id = space.heap_id + block.thread();
  }

  Block const& block;
  block_space const& space;

  /// Restarts with another radius; all threads call it.
  RULERANK_HOST_DEVICE void begin(double radius) {
    radius_ = radius;
    heap_.size = 0;
    found_ = 0;
    block.sync();
    if (block.thread() == 0) {
      space.state->count = 0;
      space.state->last = ~std::uint32_t{0};
      memcpy(&space.state->bound, &radius, sizeof radius);
    }
    block.sync();
  }
  RULERANK_HOST_DEVICE double bound() const {
    if (!job_.shrinks) return radius_;
    std::uint64_t const bits = block.load(&space.state->bound);
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  RULERANK_HOST_DEVICE exclusion const& rule() const { return rule_; }
  /// Returns the exact distance to a pivot.
  RULERANK_HOST_DEVICE double measure(std::uint32_t place) {
    ++evaluations_;
    return origin_.measure(place);
  }
  RULERANK_HOST_DEVICE void offer(std::uint32_t place, double value) {
    if (!(value <= bound())) return;
    std::uint32_t const id = ids_[place];
    if (job_.k == 0) {
      std::uint32_t const at = block.add(&space.state->count, 1U);
      if (at >= lists_.capacity) return;
      lists_.value[list_ * lists_.capacity + at] = value;
      lists_.id[list_ * lists_.capacity + at] = id;
      return;
    }
    ++found_;
    heap_.add(value, id);
    if (!job_.shrinks || !heap_.is_full()) return;
    // k objects are at least this near, so no farther one is among the k nearest. Distances are not
    // negative, so their bits have the same order.
    double const farthest = heap_.farthest();
    std::uint64_t bits = 0;
    memcpy(&bits, &farthest, sizeof bits);
    block.lower(&space.state->bound, bits);
  }
  RULERANK_HOST_DEVICE void compare(std::uint32_t place) {
    ++evaluations_;
    double value = 0;
    origin_.set_bound(bound());
    if (origin_.is_within(place, value)) offer(place, value);
  }

  /// Returns whether the search is complete, the same in all threads; all threads call it.
  RULERANK_HOST_DEVICE bool is_done() {
    if (job_.k > 0 && found_ > 0) block.add(&space.state->count, found_);
    block.sync();
    bool const done = job_.k == 0 || space.state->count >= job_.k || radius_ == without_bound;
    block.sync();
    return done;
  }
  /// Merges the heaps of all threads (Algorithm 14).
  RULERANK_HOST_DEVICE void reduce() {
    std::uint32_t const threads = block.threads();
    std::uint32_t const lanes = threads < heap_lanes ? threads : heap_lanes;
    std::uint32_t const lane = block.thread();
    space.heap_size[lane] = heap_.size;
    block.sync();
    if (lane < lanes) {
      nearest_heap merged{space.lane_value + lane, space.lane_id + lane, lanes, job_.k};
      for (std::uint32_t t = lane; t < threads; t += lanes)
        for (std::uint32_t i = 0; i < space.heap_size[t]; ++i) {
          std::size_t const at = std::size_t{i} * threads + t;
          merged.add(space.heap_value[at], space.heap_id[at]);
        }
      space.heap_size[threads + lane] = merged.size;
    }
    block.sync();
    if (lane == 0) {
      nearest_heap last{lists_.value + list_ * lists_.capacity, lists_.id + list_ * lists_.capacity,
                        1, job_.k};
      for (std::uint32_t l = 0; l < lanes; ++l)
        for (std::uint32_t i = 0; i < space.heap_size[threads + l]; ++i) {
          std::size_t const at = std::size_t{i} * lanes + l;
          last.add(space.lane_value[at], space.lane_id[at]);
        }
      space.state->count = last.size;
    }
    block.sync();
  }
  RULERANK_HOST_DEVICE void finish(bool is_found) {
    block.add(&space.state->evaluations, evaluations_);
    block.sync();
    if (block.thread() == 0) {
      lists_.count[list_] = is_found ? space.state->count : is_pending;
      lists_.evaluations[list_] += space.state->evaluations;
    }
    block.sync();
  }

 private:
  block_job const& job_;
  exclusion const& rule_;
  std::uint32_t const* ids_;
  typename Objects::origin origin_;
  found_lists const& lists_;
  std::size_t list_;
  nearest_heap heap_;
  double radius_ = 0;
  std::uint32_t found_ = 0;
  std::uint64_t evaluations_ = 0;
};

// ------------------------------------------------------------------------------------- candidates

/// Algorithm 11: all objects.
struct all_candidates {
  std::uint32_t objects = 0;

  std::uint32_t pivots() const { return 0; }
  std::uint32_t flags() const { return 0; }
  template <class Query>
  RULERANK_HOST_DEVICE void measure(Query&) const {}
  template <class Query>
  RULERANK_HOST_DEVICE void visit(Query& query) const {
    for (std::uint32_t j = query.block.thread(); j < objects; j += query.block.threads())
      query.compare(j);
  }
};

/// Algorithms 12 and 15: a List of Clusters. The centres are in the first places, followed by the
/// objects of the clusters, in order.
struct lc_candidates {
  std::uint32_t centres = 0;
  std::uint32_t objects = 0;                  // in clusters
  double const* radius = nullptr;             // [centres]
  std::uint32_t const* cluster_of = nullptr;  // [objects]

  std::uint32_t pivots() const { return centres; }
  std::uint32_t flags() const { return 0; }
  template <class Query>
  RULERANK_HOST_DEVICE void measure(Query& query) const {
    for (std::uint32_t c = query.block.thread(); c < centres; c += query.block.threads())
      query.space.pivot[c] = query.measure(c);
    query.block.sync();
  }
  template <class Query>
  RULERANK_HOST_DEVICE void visit(Query& query) const {
    auto const& block = query.block;
    exclusion const& rule = query.rule();
    for (std::uint32_t c = block.thread(); c < centres; c += block.threads()) {
      query.offer(c, query.space.pivot[c]);
      // All objects within the bound are in this cluster or an earlier one.
      if (radius[c] - query.space.pivot[c] - rule.slack(radius[c] + query.space.pivot[c]) >
          query.bound())
        block.lower(&query.space.state->last, c);
    }
    block.sync();
    std::uint32_t const last = query.space.state->last;
    for (std::uint32_t j = block.thread(); j < objects; j += block.threads()) {
      std::uint32_t const c = cluster_of[j];
      if (c > last) break;
      if (!(rule.at_least(query.space.pivot[c], 0, radius[c]) > query.bound()))
        query.compare(centres + j);
    }
  }
};

/// The table of Algorithms 13 and 16. The objects are in the first places, followed by the pivots.
struct sss_table {
  std::uint32_t objects = 0;
  std::uint32_t pivots = 0;
  double const* distance = nullptr;

  template <class Query>
  RULERANK_HOST_DEVICE void measure(Query& query) const {
    for (std::uint32_t p = query.block.thread(); p < pivots; p += query.block.threads())
      query.space.pivot[p] = query.measure(objects + p);
    query.block.sync();
  }
  template <class Query>
  RULERANK_HOST_DEVICE bool excludes(Query const& query, std::uint32_t p, double of_object) const {
    return query.rule().at_least(query.space.pivot[p], of_object, of_object) > query.bound();
  }
};

/// Algorithms 13 and 16: objects distributed over the threads; distances are [pivots][objects].
struct sss_candidates {
  sss_table table;

  std::uint32_t pivots() const { return table.pivots; }
  std::uint32_t flags() const { return 0; }
  template <class Query>
  RULERANK_HOST_DEVICE void measure(Query& query) const {
    table.measure(query);
  }
  template <class Query>
  RULERANK_HOST_DEVICE void visit(Query& query) const {
    for (std::uint32_t j = query.block.thread(); j < table.objects; j += query.block.threads()) {
      bool is_out = false;
      for (std::uint32_t p = 0; p < table.pivots && !is_out; ++p)
        is_out = table.excludes(query, p, table.distance[std::size_t{p} * table.objects + j]);
      if (!is_out) query.compare(j);
    }
  }
};

/// Section 4.1.3: pivots distributed over the threads; distances are [objects][pivots].
struct sss_pivot_candidates {
  sss_table table;

  std::uint32_t pivots() const { return table.pivots; }
  std::uint32_t flags() const { return objects_together; }
  template <class Query>
  RULERANK_HOST_DEVICE void measure(Query& query) const {
    table.measure(query);
  }
  template <class Query>
  RULERANK_HOST_DEVICE void visit(Query& query) const {
    auto const& block = query.block;
    std::uint32_t* const excluded = query.space.excluded;
    for (std::uint32_t first = 0; first < table.objects; first += objects_together) {
      std::uint32_t const left = table.objects - first;
      std::uint32_t const some = left < objects_together ? left : objects_together;
      for (std::uint32_t e = block.thread(); e < some; e += block.threads()) excluded[e] = 0;
      block.sync();
      for (std::uint32_t e = 0; e < some; ++e) {
        double const* const row = table.distance + std::size_t{first + e} * table.pivots;
        for (std::uint32_t p = block.thread(); p < table.pivots; p += block.threads())
          if (table.excludes(query, p, row[p])) block.store(&excluded[e], 1U);
      }
      block.sync();
      for (std::uint32_t e = block.thread(); e < some; e += block.threads())
        if (excluded[e] == 0) query.compare(first + e);
      block.sync();
    }
  }
};

/// Searches one query with all threads of a block; the results go to list `list`.
template <class Block, class Objects, class Candidates>
RULERANK_HOST_DEVICE void search_in_block(Block const& block, Objects const& objects,
                                          Candidates const& candidates, exclusion const& rule,
                                          std::uint32_t const* ids, block_job const& job,
                                          std::size_t q, std::size_t list, block_space const& space,
                                          found_lists const& lists) {
  block.sync();
  if (block.thread() == 0) space.state->evaluations = 0;
  block_query<Block, Objects> query(block, job, rule, ids, space, objects.load(block, q, space),
                                    lists, list);
  candidates.measure(query);
  bool is_found = false;
  for (std::uint32_t round = job.first_round; round < job.end_round && !is_found; ++round) {
    query.begin(radius_of(job, round));
    candidates.visit(query);
    is_found = query.is_done();
  }
  if (is_found && job.k > 0) query.reduce();
  query.finish(is_found);
}

// ------------------------------------------------------------------------------------- memory

/// The placement of a block's memory.
class block_plan : public block_memory<10> {
 public:
  /// For `threads` threads with `most_own` bytes of shared memory, at least 64.
  template <class Objects, class Candidates>
  block_plan(Objects const& objects, Candidates const& candidates, std::uint32_t k,
             std::uint32_t threads, std::size_t most_own) {
    std::size_t const lanes = threads < heap_lanes ? threads : heap_lanes;
    place(state, sizeof(block_state), most_own);
    place(query, objects.query_bytes(), most_own);
    place(pivot, candidates.pivots() * sizeof(double), most_own);
    place(excluded, candidates.flags() * sizeof(std::uint32_t), most_own);
    place(lane_value, k * lanes * sizeof(double), most_own);
    place(lane_id, k * lanes * sizeof(std::uint32_t), most_own);
    place(heap_size, k > 0 ? (threads + lanes) * sizeof(std::uint32_t) : 0, most_own);
    place(rows, objects.row_numbers() * threads * sizeof(std::uint64_t), 0);
    place(heap_value, std::size_t{k} * threads * sizeof(double), 0);
    place(heap_id, std::size_t{k} * threads * sizeof(std::uint32_t), 0);
  }

  RULERANK_HOST_DEVICE block_space at(std::byte* own, std::byte* of_device) const {
    block_space space;
    space.query = of<std::byte>(query, own, of_device);
    space.rows = of<std::uint64_t>(rows, own, of_device);
    space.state = of<block_state>(state, own, of_device);
    space.pivot = of<double>(pivot, own, of_device);
    space.excluded = of<std::uint32_t>(excluded, own, of_device);
    space.heap_value = of<double>(heap_value, own, of_device);
    space.heap_id = of<std::uint32_t>(heap_id, own, of_device);
    space.heap_size = of<std::uint32_t>(heap_size, own, of_device);
    space.lane_value = of<double>(lane_value, own, of_device);
    space.lane_id = of<std::uint32_t>(lane_id, own, of_device);
    return space;
  }

 private:
  enum array : std::size_t {
    state,
    query,
    pivot,
    excluded,
    lane_value,
    lane_id,
    heap_size,
    rows,
    heap_value,
    heap_id
  };
};

}  // namespace rulerank::knn
