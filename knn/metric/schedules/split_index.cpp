#include "core/error.hpp"
#include "core/parallel.hpp"
#include "knn/metric/query_results.hpp"
#include "knn/metric/schedules/schedule.hpp"

#include <algorithm>

namespace rulerank::inline v0::knn {

namespace {

/// Part p of n: its object i is object p + i n of the whole space.
struct place_in_whole {
  std::uint32_t part, parts;
  std::uint32_t operator()(std::uint32_t object) const { return part + object * parts; }
};

class part_distances final : public distances_from {
 public:
  part_distances(std::unique_ptr<distances_from> whole, place_in_whole place)
      : whole_(std::move(whole)), place_(place) {}
  void compute(std::span<std::uint32_t const> objects, double bound, double* values) override {
    objects_.resize(objects.size());
    std::transform(objects.begin(), objects.end(), objects_.begin(), place_);
    whole_->compute(objects_, bound, values);
  }

 private:
  std::unique_ptr<distances_from> whole_;
  place_in_whole place_;
  std::vector<std::uint32_t> objects_;
};

class part_space final : public metric_space {
 public:
  part_space(std::shared_ptr<metric_space const> whole, place_in_whole place)
      : whole_(std::move(whole)), place_(place) {}
  std::size_t size() const noexcept override {
    return (whole_->size() + place_.parts - 1 - place_.part) / place_.parts;
  }
  distance_rounding rounding() const noexcept override { return whole_->rounding(); }
  std::unique_ptr<distances_from> from(std::uint32_t object) const override {
    return std::make_unique<part_distances>(whole_->from(place_(object)), place_);
  }

 private:
  std::shared_ptr<metric_space const> whole_;
  place_in_whole place_;
};

class part_queries final : public metric_queries {
 public:
  part_queries(metric_queries const& whole, place_in_whole place) : whole_(whole), place_(place) {}
  std::size_t size() const noexcept override { return whole_.size(); }
  std::unique_ptr<distances_from> from(std::size_t query) const override {
    return std::make_unique<part_distances>(whole_.from(query), place_);
  }

 private:
  metric_queries const& whole_;
  place_in_whole place_;
};

context of_one_thread(context const& ctx) {
  context one = ctx;
  one.threads = 1;
  one.progress = {};
  return one;
}

/// Adds the evaluations of each part.
void add_work(std::vector<metric_work> const& of_part, schedule_work* to) {
  if (to == nullptr) return;
  to->evaluations.resize(std::max(to->evaluations.size(), of_part.size()));
  for (std::size_t p = 0; p < of_part.size(); ++p) to->evaluations[p] += of_part[p].evaluations;
}

/// Merges the parts' results for each query; of(p, q): those of one part, with numbers of the whole
/// space.
template <class Of, class Take>
void merge(std::size_t parts, std::size_t queries, std::size_t k, Of const& of, Take const& take) {
  std::vector<metric_candidate> found;
  for (std::size_t q = 0; q < queries; ++q) {
    found.clear();
    for (std::size_t p = 0; p < parts; ++p) of(p, q, found);
    std::sort(found.begin(), found.end(), nearer<value_order::smaller_is_nearer>{});
    if (k > 0 && found.size() > k) found.resize(k);
    take(q, found);
  }
}

}  // namespace

struct split_metric_index::part {
  place_in_whole place;
  metric_index index;
};

split_metric_index::split_metric_index(context const& ctx,
                                       std::shared_ptr<metric_space const> space,
                                       metric_index_options const& options, std::size_t parts)
    : size_(space->size()), parts_(parts) {
  if (parts == 0 || parts >= no_neighbour)
    throw usage_error("found an index of no parts, expected at least 1");
  // All parts have the type that the whole would have.
  metric_index_options chosen = options;
  if (chosen.type == metric_index_type::automatic)
    chosen.type = choose_metric_index(*space, options.queries, false).type;
  parallel_for(ctx, parts, 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t p = begin; p < end; ++p) {
      place_in_whole const place{static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(parts)};
      parts_[p] = std::make_unique<part const>(part{
          place,
          metric_index(of_one_thread(ctx), std::make_shared<part_space>(space, place), chosen)});
    }
  });
}
split_metric_index::~split_metric_index() = default;
split_metric_index::split_metric_index(split_metric_index&&) noexcept = default;

std::size_t split_metric_index::size() const noexcept {
  return size_;
}
std::size_t split_metric_index::parts() const noexcept {
  return parts_.size();
}
metric_index_type split_metric_index::type() const noexcept {
  return parts_[0]->index.type();
}
std::uint64_t split_metric_index::build_evaluations() const noexcept {
  std::uint64_t sum = 0;
  for (auto const& one : parts_) sum += one->index.build_evaluations();
  return sum;
}

neighbours split_metric_index::search(context const& ctx, metric_queries const& queries,
                                      std::size_t k, schedule_work* work) const {
  return nearest_of_all(queries.size(), k, [&](auto const& take) {
    std::vector<neighbours> found(parts_.size());
    std::vector<metric_work> done(parts_.size());
    parallel_for(ctx, parts_.size(), 1, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t p = begin; p < end; ++p)
        found[p] = parts_[p]->index.search(
            of_one_thread(ctx), part_queries(queries, parts_[p]->place),
            std::min(k, std::max<std::size_t>(parts_[p]->index.size(), 1)), &done[p]);
    });
    add_work(done, work);
    merge(
        parts_.size(), queries.size(), k,
        [&](std::size_t p, std::size_t q, std::vector<metric_candidate>& to) {
          for (std::size_t i = 0; i < found[p].count_of(q); ++i)
            to.push_back({found[p].values_of(q)[i], parts_[p]->place(found[p].ids_of(q)[i])});
        },
        take);
  });
}

rows_in_range split_metric_index::search_range(context const& ctx, metric_queries const& queries,
                                               double radius, schedule_work* work) const {
  return within_of_all(ctx, queries.size(), radius, [&](auto const& take) {
    std::vector<rows_in_range> found(parts_.size());
    std::vector<metric_work> done(parts_.size());
    parallel_for(ctx, parts_.size(), 1, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t p = begin; p < end; ++p)
        found[p] = parts_[p]->index.search_range(
            of_one_thread(ctx), part_queries(queries, parts_[p]->place), radius, &done[p]);
    });
    add_work(done, work);
    merge(
        parts_.size(), queries.size(), 0,
        [&](std::size_t p, std::size_t q, std::vector<metric_candidate>& to) {
          for (std::size_t i = 0; i < found[p].rows_of(q).size(); ++i)
            to.push_back({found[p].values_of(q)[i], parts_[p]->place(found[p].rows_of(q)[i])});
        },
        take);
  });
}

}  // namespace rulerank::knn
