#include "knn/metric/metric_collection.hpp"

#include "core/error.hpp"
#include "knn/dense/row_files.hpp"

#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

/// A range of queries.
class query_range final : public metric_queries {
 public:
  query_range(metric_queries const& all, index_range some) : all_(all), some_(some) {}
  std::size_t size() const noexcept override { return some_.size(); }
  std::unique_ptr<distances_from> from(std::size_t query) const override {
    return all_.from(some_.begin + query);
  }
  std::optional<datasets::vectors> as_vectors(std::size_t first, std::size_t count) const override {
    return all_.as_vectors(some_.begin + first, count);
  }
  std::optional<std::vector<std::string>> as_words(std::size_t first,
                                                   std::size_t count) const override {
    return all_.as_words(some_.begin + first, count);
  }

 private:
  metric_queries const& all_;
  index_range some_;
};

/// Returns the searches of an index, to which `index` points, with its work.
template <class Index, class Work>
metric_part_search search_of(std::shared_ptr<metric_queries const> queries, Index index,
                             Work* work) {
  return {std::move(queries),
          [=](context const& ctx, metric_queries const& some, std::size_t k) {
            return index->search(ctx, some, k, work);
          },
          [=](context const& ctx, metric_queries const& some, double radius) {
            return index->search_range(ctx, some, radius, work);
          }};
}

/// Returns the searches of an index by a schedule.
metric_part_search scheduled(std::shared_ptr<metric_queries const> queries,
                             metric_index const& index, schedule_options const& schedule,
                             schedule_work* work) {
  return {std::move(queries),
          [&index, schedule, work](context const& ctx, metric_queries const& some, std::size_t k) {
            return search_scheduled(ctx, index, some, k, schedule, work);
          },
          [&index, schedule, work](context const& ctx, metric_queries const& some, double radius) {
            return search_range_scheduled(ctx, index, some, radius, schedule, work);
          }};
}

/// An index without a schedule, whose work is that of one thread.
struct index_without_schedule {
  metric_index const* index;
  index_without_schedule const* operator->() const { return this; }

  neighbours search(context const& ctx, metric_queries const& some, std::size_t k,
                    schedule_work* work) const {
    metric_work done;
    auto found = index->search(ctx, some, k, &done);
    add(done, work);
    return found;
  }
  rows_in_range search_range(context const& ctx, metric_queries const& some, double radius,
                             schedule_work* work) const {
    metric_work done;
    auto found = index->search_range(ctx, some, radius, &done);
    add(done, work);
    return found;
  }
  static void add(metric_work const& done, schedule_work* work) {
    if (work == nullptr) return;
    work->evaluations.resize(1);
    work->evaluations[0] += done.evaluations;
  }
};

/// Consecutive parts of numbered objects.
class numbered_objects final : public item_collection {
 public:
  numbered_objects(context const& ctx, std::vector<std::size_t> const& sizes, bool is_split) {
    for (std::size_t const size : sizes) parts_.push_back({0, size});
    number_parts(ctx, is_split);
  }
  std::optional<std::string> id_of(std::uint32_t object) const override {
    return std::to_string(object);
  }
};

}  // namespace

std::shared_ptr<metric_space const> metric_objects::space() const {
  if (words) return words;
  if (vectors) return vectors;
  return others;
}

metric_distance metric_objects::which() const {
  return words ? metric_distance::edit : vectors->which();
}

std::shared_ptr<metric_queries const> metric_objects::queries(context const& ctx,
                                                              metric_asked const& asked) const {
  if (words) return words->queries(std::get<std::vector<std::string>>(asked));
  if (vectors) return vectors->queries(ctx, std::get<datasets::vectors>(asked));
  return std::get<std::shared_ptr<metric_queries const>>(asked);
}

metric_objects read_metric_objects(context const& ctx, std::string const& path,
                                   metric_distance which, letters unit, std::size_t part,
                                   std::size_t parts,
                                   std::function<void(std::string const&)> const& warn) {
  if (which == metric_distance::edit)
    return {nullptr, std::make_shared<word_space>(
                         read_words_part(ctx, path, part, parts, warn, unit), unit)};
  return {std::make_shared<vector_space>(ctx, read_search_rows(ctx, path, part, parts).rows, which),
          nullptr};
}

metric_part read_metric_part(context const& ctx, std::string const& path, metric_distance which,
                             letters unit, bool is_split,
                             std::function<void(std::string const&)> const& warn) {
  if (!is_split) {
    metric_part whole{read_metric_objects(ctx, path, which, unit, 0, 1, warn)};
    whole.all = whole.objects.space()->size();
    return whole;
  }
  process_group const& group = *ctx.processes;
  auto const rank = static_cast<std::size_t>(group.rank());
  metric_part part{read_metric_objects(ctx, path, which, unit, rank,
                                       static_cast<std::size_t>(group.size()), warn)};
  auto const sizes = gather_values(group, part.objects.space()->size());
  auto const mine = sizes.begin() + static_cast<std::ptrdiff_t>(rank);
  part.first = std::accumulate(sizes.begin(), mine, std::size_t{0});
  part.all = std::accumulate(mine, sizes.end(), part.first);
  if (part.all >= no_neighbour)
    throw usage_error(fmt::format("{}: found {}, expected fewer than {}", path,
                                  counted(part.all, "object"), no_neighbour));
  return part;
}

bool may_choose_gpus(metric_search_plan const& plan, metric_objects const& objects,
                     metric_index_type type) {
  if (!plan.searches_together() || !is_on_gpus(objects.which(), type)) return false;
  return type == metric_index_type::brute ||
         (type == metric_index_type::automatic && (objects.words != nullptr || !plan.is_kept));
}

search_seconds search_seconds_of(metric_search_plan const& plan, metric_objects const& objects,
                                 std::size_t queries) {
  auto const count = static_cast<double>(objects.space()->size());
  auto const asked = static_cast<double>(queries);
  if (objects.words)
    return word_search_work(count, asked,
                            plan.radius.value_or(std::numeric_limits<double>::infinity()));
  return metric_search_work(count, static_cast<double>(objects.vectors->rows().dimensions()), asked,
                            objects.which() == metric_distance::l2);
}

metric_index_choice choose_index(metric_search_plan const& plan, metric_objects const& objects,
                                 bool on_gpus) {
  metric_index_type type = plan.index.type;
  if (type == metric_index_type::automatic && on_gpus) type = index_type_of(plan.engine);
  if (type != metric_index_type::automatic) return {type, {}};
  if (on_gpus)
    return {metric_index_type::brute,
            "GPUs compare all objects faster than an index excludes some"};
  return choose_metric_index(*objects.space(), plan.index.queries, plan.searches_together());
}

metric_asked read_metric_queries(context const& ctx, metric_objects const& among,
                                 std::string const& path,
                                 std::function<void(std::string const&)> const& warn) {
  if (among.words) return read_words(ctx, path, warn, among.words->unit());
  return read_search_vectors(ctx, path);
}

std::size_t size_of(metric_asked const& asked) {
  if (auto const* const others = std::get_if<std::shared_ptr<metric_queries const>>(&asked))
    return (*others)->size();
  if (auto const* const words = std::get_if<std::vector<std::string>>(&asked)) return words->size();
  return std::get<datasets::vectors>(asked).size();
}

std::size_t metric_collection::part_index::size() const {
  return std::visit([](auto const& one) { return one.size(); }, index);
}

metric_index_type metric_collection::part_index::type() const {
  return std::visit([](auto const& one) { return one.type(); }, index);
}

void metric_collection::add(std::size_t first, metric_objects objects,
                            std::variant<metric_index, split_metric_index> index) {
  indexes_.push_back({std::move(objects), std::move(index)});
  parts_.push_back({first, indexes_.back().size()});
}

metric_collection metric_collection::open(context const& ctx, std::string const& path,
                                          bool is_split) {
  metric_collection opened;
  auto const open = [&](std::size_t first, std::string const& file) {
    auto one = metric_index::open(ctx, file);
    opened.add(first, {one.vectors, one.words}, std::move(one.index));
  };
  if (is_index_in_parts(path)) {
    opened.open_parts(ctx, read_index_parts(path, "metric"), is_split,
                      [&](index_part const& part) { open(part.first, part.path); });
  } else {
    open(0, path);
    opened.items_ = opened.parts_.front().size;
  }
  return opened;
}

metric_collection::metric_collection(context const& ctx, metric_objects objects,
                                     metric_index_options const& options, std::size_t split) {
  auto const space = objects.space();
  if (split > 1)
    add(0, std::move(objects), split_metric_index(ctx, space, options, split));
  else
    add(0, std::move(objects), metric_index(ctx, space, options));
  items_ = parts_.front().size;
}

metric_collection metric_collection::of_part(context const& ctx, metric_objects objects,
                                             metric_index_options const& options, std::size_t first,
                                             std::size_t all) {
  metric_collection made(ctx, std::move(objects), options);
  made.parts_.front().first = first;
  made.items_ = all;
  made.is_split_ = true;
  return made;
}

void metric_collection::save(context const& ctx, std::string const& path) const {
  metric_index const& index = indexes_.front().whole();
  save_index(ctx, path, "metric", [&](std::string const& to) { index.save(ctx, to); });
}

std::uint64_t metric_collection::build_evaluations() const {
  std::uint64_t evaluations = 0;
  for (part_index const& part : indexes_)
    evaluations += std::visit([](auto const& one) { return one.build_evaluations(); }, part.index);
  return evaluations;
}

std::vector<metric_part_search> metric_collection::searches(context const& ctx,
                                                            metric_asked const& asked,
                                                            schedule_options const& schedule,
                                                            metric_collection_work* work) const {
  schedule_work* const of_threads = work != nullptr ? &work->of_threads : nullptr;
  std::vector<metric_part_search> all;
  for (part_index const& part : indexes_) {
    auto queries = part.objects.queries(ctx, asked);
    if (gpu_)
      all.push_back(
          search_of(std::move(queries), &*gpu_, work != nullptr ? &work->of_gpus : nullptr));
    else if (auto const* const split = std::get_if<split_metric_index>(&part.index))
      all.push_back(search_of(std::move(queries), split, of_threads));
    else if (schedule.schedule != metric_schedule::automatic)
      all.push_back(scheduled(std::move(queries), part.whole(), schedule, of_threads));
    else
      all.push_back(
          search_of(std::move(queries), index_without_schedule{&part.whole()}, of_threads));
  }
  return all;
}

void metric_collection::copy_to_gpus(context const& ctx, metric_engine engine) {
  gpu_.emplace(ctx, indexes_.front().whole(), metric_gpu_options{engine});
}

schedule_work work_of_all(context const& ctx, schedule_work const& own, metric_schedule schedule) {
  schedule_work work = own;
  if (!has_processes(ctx)) return work;
  // Threads of a process without work count, too.
  if (work.evaluations.empty() && schedule != metric_schedule::automatic)
    work.evaluations.resize(static_cast<std::size_t>(ctx.thread_count()));
  work.evaluations = join(*ctx.processes, work.evaluations);
  for (std::uint64_t* const count : {&work.supersteps, &work.messages})
    *count = sum(*ctx.processes, *count);
  return work;
}

metric_search::metric_search(context const& ctx, metric_collection const& objects,
                             std::optional<metric_asked> const& asked,
                             schedule_options const& schedule, metric_collection_work* work)
    : metric_search(
          ctx, objects,
          asked ? objects.searches(ctx, *asked, schedule, work) : std::vector<metric_part_search>(),
          objects.on_gpus() != nullptr) {}

metric_search::metric_search(context const& ctx, item_collection const& objects,
                             std::vector<metric_part_search> searches, bool is_on_gpus)
    : collection_with_radius(objects), searches_(std::move(searches)), is_on_gpus_(is_on_gpus) {
  std::vector<std::size_t> counts;
  for (metric_part_search const& part : searches_) counts.push_back(part.queries->size());
  if (is_split()) counts = join(*ctx.processes, counts);
  if (!counts.empty()) count_ = counts.front();
  for (std::size_t const count : counts)
    if (count != count_)
      throw usage_error(
          fmt::format("queries: found {} for a part, expected {} as for the first", count, count_));
}

batch_limits metric_search::limits(context const& ctx) const {
  constexpr std::size_t of_gpus = std::size_t{1} << 16;
  if (is_on_gpus_) return {.most = of_gpus, .first_in_range = of_gpus, .most_in_range = of_gpus};
  // Dense search and schedules are faster with many queries at once.
  return {.neighbours = std::size_t{1} << 22,
          .fewest = 256,
          .least_share = 32 * static_cast<std::size_t>(ctx.thread_count())};
}

neighbours metric_search::nearest_of_whole(context const& ctx, index_range queries,
                                           std::size_t k) const {
  metric_part_search const& whole = searches_.front();
  return whole.nearest(ctx, query_range(*whole.queries, queries), k);
}

rows_in_range metric_search::within_whole(context const& ctx, index_range queries,
                                          double radius) const {
  metric_part_search const& whole = searches_.front();
  return whole.within(ctx, query_range(*whole.queries, queries), radius);
}

std::vector<part_neighbours> metric_search::nearest_of_parts(context const& ctx,
                                                             index_range queries,
                                                             std::size_t k) const {
  std::vector<part_neighbours> found;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    found.push_back({searches_[p].nearest(ctx, query_range(*searches_[p].queries, queries),
                                          neighbours_in(parts_[p], k)),
                     value_order::smaller_is_nearer,
                     {},
                     {}});
  return found;
}

std::vector<part_rows_in_range> metric_search::within_parts(context const& ctx, index_range queries,
                                                            double radius) const {
  std::vector<part_rows_in_range> found;
  for (metric_part_search const& part : searches_)
    found.push_back({part.within(ctx, query_range(*part.queries, queries), radius),
                     value_order::smaller_is_nearer,
                     {}});
  return found;
}

std::unique_ptr<searcher> make_searcher(context const& ctx, std::vector<metric_search_part> parts,
                                        bool is_split, metric_work* work) {
  std::vector<std::size_t> sizes;
  std::vector<metric_part_search> searches;
  for (metric_search_part& part : parts) {
    sizes.push_back(part.index->space().size());
    searches.push_back(search_of(std::move(part.queries), std::move(part.index), work));
  }
  numbered_objects objects(ctx, sizes, is_split);
  return std::make_unique<metric_search>(ctx, objects, std::move(searches), false);
}

std::unique_ptr<searcher> make_searcher(std::shared_ptr<metric_gpu_index const> index,
                                        std::shared_ptr<metric_queries const> queries,
                                        metric_gpu_work* work) {
  numbered_objects const objects({}, {index->size()}, false);
  std::vector<metric_part_search> searches{search_of(std::move(queries), std::move(index), work)};
  return std::make_unique<metric_search>(context(), objects, std::move(searches), true);
}

}  // namespace rulerank::knn
