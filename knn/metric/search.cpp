#include "knn/metric/search.hpp"

#include "core/engine_registry.hpp"
#include "core/error.hpp"
#include "core/named_values.hpp"
#include "core/parallel.hpp"
#include "knn/metric/indexes/dense_brute.hpp"
#include "knn/metric/indexes/index_state.hpp"
#include "knn/metric/query_results.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

struct named_metric {
  metric_distance which;
  std::string_view name;
};
constexpr std::array<named_metric, 5> metric_names{{{metric_distance::l1, "l1"},
                                                    {metric_distance::l2, "l2"},
                                                    {metric_distance::linf, "linf"},
                                                    {metric_distance::angular, "angular"},
                                                    {metric_distance::edit, "edit"}}};

engine_registry<metric_index_type, metric_structure_maker> const& registered_index_types() {
  using enum metric_index_type;
  static engine_registry<metric_index_type, metric_structure_maker> const engines{
      {{brute, "brute", "compares all objects", "", runs_on::cpu, runs_on::cpu}, make_brute},
      {{lc, "lc", "List of Clusters of a fixed size, each with the radius of its cluster",
        "Chávez and Navarro 2000", runs_on::cpu, runs_on::nowhere},
       make_lc},
      {{sss, "sss", "a table of distances to pivots that are far apart", "Brisaboa et al. 2006",
        runs_on::cpu, runs_on::nowhere},
       make_sss},
      {{sss_tree, "sss-tree", "a tree of clusters around centres that are far apart",
        "Brisaboa et al. 2008", runs_on::cpu, runs_on::nowhere},
       make_sss_tree},
      {{egnat, "egnat",
        "a tree of centres with the ranges of distances from each to the objects of each",
        "Uribe 2005", runs_on::cpu, runs_on::nowhere},
       make_egnat},
      {{m_tree, "m-tree", "a balanced tree of balls, split by mM_RAD and generalized hyperplanes",
        "Ciaccia, Patella and Zezula 1997", runs_on::cpu, runs_on::nowhere},
       make_m_tree},
      {{mvpt, "mvpt",
        "a tree of two vantage points a node, with the distances to those above in leaves", "",
        runs_on::cpu, runs_on::nowhere},
       make_mvpt},
  };
  return engines;
}

metric_index_options checked(metric_index_options const& options, metric_space const& space) {
  if (!(options.alpha > 0 && options.alpha <= 1))
    throw usage_error(
        fmt::format("found alpha {}, expected a number above 0 and at most 1", options.alpha));
  if (space.size() >= no_neighbour)
    throw usage_error(
        fmt::format("found {} objects, expected less than {}", space.size(), no_neighbour));
  metric_index_options chosen = options;
  if (chosen.type == metric_index_type::automatic)
    chosen.type = choose_metric_index(space, options.queries).type;
  return chosen;
}

/// Answers all queries: take(q, found) from any thread.
template <class Take>
metric_work answer(context const& ctx, metric_queries const& queries,
                   metric_structure const& structure, exclusion const& rule, double radius,
                   std::size_t k, Take const& take) {
  if (auto const done = structure.search_all(ctx, queries, radius, k, take)) return *done;
  std::vector<std::uint64_t> evaluations(static_cast<std::size_t>(ctx.thread_count()));
  parallel_for(ctx, queries.size(), 1, [&](std::size_t begin, std::size_t end, int thread) {
    for (std::size_t q = begin; q < end; ++q) {
      auto const origin = queries.from(q);
      metric_query query(*origin, rule, radius, k);
      structure.search(query);
      take(q, query.sorted());
      evaluations[static_cast<std::size_t>(thread)] += query.evaluations();
    }
  });
  metric_work work;
  for (std::uint64_t const some : evaluations) work.evaluations += some;
  return work;
}

}  // namespace

std::string_view name_of(metric_distance which) {
  return metric_names[static_cast<std::size_t>(which)].name;
}

letters letters_from(std::string_view name) {
  constexpr std::array<std::string_view, 2> names{"code-points", "bytes"};
  return value_named<letters>(names, name, "letters: found", name_list::alternatives);
}

metric_distance metric_distance_from(std::string_view name) {
  for (named_metric const& one : metric_names)
    if (one.name == name) return one.which;
  std::string_view why;
  if (name == "squared-l2" || name == "l2sqr" || name == "sqeuclidean")
    why = "; squared l2 violates the triangle inequality, and l2 finds the same neighbours";
  if (name == "cosine")
    why = "; cosine violates the triangle inequality, and angular finds the same neighbours";
  if (name == "ip") why = "; inner products are not distances: use `rulerank search dense`";
  throw usage_error(
      fmt::format("found metric '{}', expected one of l1, l2, linf, angular, edit{}", name, why));
}

metric_structure_maker maker_of(metric_index_type type) {
  return registered_index_types().maker_of(type);
}
std::span<metric_index_info const> metric_index_types() {
  return registered_index_types().list();
}
std::string_view name_of(metric_index_type type) {
  return name_of_engine(metric_index_types(), type);
}
metric_index_type metric_index_type_from(std::string_view name) {
  return entry_named<metric_index_type>(metric_index_types(), "index type", name);
}
bool has_bucket(metric_index_type type) {
  using enum metric_index_type;
  return type == lc || type == sss_tree || type == egnat || type == m_tree || type == mvpt;
}
bool has_alpha(metric_index_type type) {
  using enum metric_index_type;
  return type == sss || type == sss_tree;
}

metric_index_choice choose_metric_index(metric_space const& space, std::size_t queries,
                                        bool together) {
  using enum metric_index_type;
  // Building a list of clusters takes about n^2 / 66 distances and, with the other work, as long as
  // n / 5 queries by brute force (measured with vectors of 20 dimensions). The cost and the gain
  // both grow with n, so no number of objects favours another index.
  constexpr std::size_t few = 1000;
  constexpr std::size_t objects_a_query = 5;
  std::size_t const n = space.size();
  if (n < few)
    return {brute, fmt::format("comparing all {} objects takes less time than making an index", n)};
  if (has_blocks(space))
    return {brute, "comparing many objects at once is faster than excluding some with an index"};
  // Measured in 2 to 20 dimensions (bench/results/metric-dense): faster than lc in most cases, and
  // slower in the others by so little that tens of thousands of queries do not repay building lc.
  if (together && dense_brute::suits(space))
    return {brute, "dense search compares all vectors under l2 faster than an index excludes some"};
  if (queries < n / objects_a_query)
    return {brute, fmt::format("making an index of {} objects pays for {} queries or more", n,
                               n / objects_a_query)};
  return {lc, "it was the fastest of all types in measurements"};
}

metric_index::metric_index(std::unique_ptr<implementation> made)
    : implementation_(std::move(made)) {}
metric_index::metric_index(context const& ctx, std::shared_ptr<metric_space const> space,
                           metric_index_options const& options, std::size_t objects) {
  metric_index_options const chosen = checked(options, *space);
  objects = std::min(objects, space->size());
  exclusion const rule(space->rounding(), space->has_four_points());
  implementation_ =
      std::make_unique<implementation>(implementation{std::move(space), chosen, rule, nullptr});
  implementation& all = *implementation_;
  all.holds.assign(all.space->size(), false);
  std::fill_n(all.holds.begin(), objects, true);
  all.structure = maker_of(chosen.type)({ctx, *all.space, all.options, objects, nullptr});
}
metric_index::~metric_index() = default;
metric_index::metric_index(metric_index&&) noexcept = default;

std::size_t metric_index::size() const noexcept {
  return implementation_->structure->size();
}
metric_space const& metric_index::space() const noexcept {
  return *implementation_->space;
}
metric_index_type metric_index::type() const noexcept {
  return implementation_->options.type;
}
metric_index_options const& metric_index::options() const noexcept {
  return implementation_->options;
}
std::uint64_t metric_index::build_evaluations() const noexcept {
  return implementation_->structure->evaluations();
}

void metric_index::insert(std::uint32_t object) {
  implementation& all = *implementation_;
  if (object >= all.holds.size())
    throw usage_error(
        fmt::format("found object {}, expected less than {}", object, all.holds.size()));
  if (all.holds[object])
    throw usage_error(fmt::format("object {} is in the index already", object));
  all.structure->insert(object);
  all.holds[object] = true;
}
void metric_index::erase(std::uint32_t object) {
  implementation& all = *implementation_;
  if (object >= all.holds.size() || !all.holds[object])
    throw usage_error(fmt::format("object {} is not in the index", object));
  all.structure->erase(object);
  all.holds[object] = false;
}

neighbours metric_index::search(context const& ctx, metric_queries const& queries, std::size_t k,
                                metric_work* work) const {
  return nearest_of_all(queries.size(), k, [&](auto const& take) {
    metric_work const done = answer(ctx, queries, *implementation_->structure,
                                    implementation_->rule, 0, std::min(k, size() + 1), take);
    if (work != nullptr) work->evaluations += done.evaluations;
  });
}

rows_in_range metric_index::search_range(context const& ctx, metric_queries const& queries,
                                         double radius, metric_work* work) const {
  return within_of_all(ctx, queries.size(), radius, [&](auto const& take) {
    metric_work const done =
        answer(ctx, queries, *implementation_->structure, implementation_->rule, radius, 0, take);
    if (work != nullptr) work->evaluations += done.evaluations;
  });
}

}  // namespace rulerank::knn
