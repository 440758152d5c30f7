// The List of Clusters: Chávez and Navarro 2000, An effective clustering algorithm to index high
// dimensional metric spaces, with clusters of a fixed size. Search and order of the centres follow
// Barrientos 2011, Algorithms 6 and 7: the first object is the first centre; each next centre is
// the object outside of all clusters with the largest sum of distances to the previous centres.

#include "knn/metric/indexes/structure.hpp"

#include <algorithm>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::size_t lc_bucket = 32;

struct cluster {
  std::uint32_t centre = 0;
  /// Largest distance in the cluster; objects of later clusters are not nearer to the centre.
  double radius = 0;
  metric_bucket objects;
};

class list_of_clusters final : public metric_structure {
 public:
  list_of_clusters(metric_space const& space, structure_reader& from) {
    std::size_t const clusters = from.number();
    for (std::size_t c = 0; c < clusters; ++c) {
      cluster one;
      one.centre = from.object();
      one.radius = from.distance();
      one.objects = metric_bucket(space, from.objects());
      add(std::move(one));
    }
  }
  list_of_clusters(metric_build const& from, std::size_t bucket);

  void search(metric_query& query) const override {
    for (cluster const& one : clusters_) {
      bounds const at_least = visit(query, one);
      if (!query.is_beyond(at_least.inside)) query.compare(one.objects);
      if (query.is_beyond(at_least.behind)) return;
    }
  }
  /// Regions: 0 the list of centres, r > 0 the cluster r - 1. A search for the k nearest pauses at
  /// each cluster, because it may end there.
  bool search_some(metric_query& query, search_task const& task, std::uint64_t budget,
                   std::vector<search_task>& left) const override {
    if (task.region > 0) {
      query.compare(clusters_[task.region - 1].objects);
      return false;
    }
    auto const clusters = static_cast<std::uint32_t>(clusters_.size());
    std::uint64_t done = 0;
    for (std::uint32_t c = task.place; c < clusters; ++c) {
      bounds const at_least = visit(query, clusters_[c]);
      bool const enters = !query.is_beyond(at_least.inside);
      if (enters) left.push_back({c + 1, 0, at_least.inside});
      if (query.is_beyond(at_least.behind) || c + 1 == clusters) return false;
      if (++done >= budget || (enters && query.shrinks())) {
        left.push_back({0, c + 1, at_least.behind});
        return true;
      }
    }
    return false;
  }
  void save(structure_arrays& to) const override {
    to.put(clusters_.size());
    for (cluster const& one : clusters_) {
      to.put(one.centre);
      to.put_distances({&one.radius, 1});
      to.put(one.objects.objects());
    }
  }
  std::size_t size() const override { return size_; }

 private:
  /// Lower bounds of the distances to the objects of a cluster, and to those of all later clusters.
  struct bounds {
    double inside, behind;
  };
  static bounds visit(metric_query& query, cluster const& one) {
    double const distance = query.measure(one.centre);
    query.offer(one.centre, distance);
    exclusion const& rule = query.rule();
    // All later objects are at least `radius` away from the centre.
    return {rule.at_least(distance, 0, one.radius),
            one.radius - distance - rule.slack(one.radius + distance)};
  }
  void add(cluster one) {
    size_ += 1 + one.objects.objects().size();
    clusters_.push_back(std::move(one));
  }

  std::vector<cluster> clusters_;
  std::size_t size_ = 0;
};

list_of_clusters::list_of_clusters(metric_build const& from, std::size_t bucket) {
  std::vector<std::uint32_t> left = first_numbers(from.objects);
  std::vector<double> sum(from.objects);  // [objects] sum of the distances to all centres
  std::vector<double> values;
  std::vector<metric_candidate> near;
  std::size_t next = 0;  // index of the next centre in `left`
  while (!left.empty()) {
    from.ctx.check_stop();
    cluster one;
    one.centre = left[next];
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
    values.resize(left.size());
    distances_of(from.ctx, from.space, one.centre, left, values);
    evaluations_ += left.size();
    near.clear();
    for (std::size_t i = 0; i < left.size(); ++i) {
      sum[left[i]] += values[i];
      near.push_back({values[i], left[i]});
    }
    std::size_t const count = std::min(bucket, near.size());
    auto const end = near.begin() + static_cast<std::ptrdiff_t>(count);
    nearer<value_order::smaller_is_nearer> const is_nearer;
    if (count > 0) {
      std::nth_element(near.begin(), end - 1, near.end(), is_nearer);
      one.radius = (end - 1)->value;
      std::vector<std::uint32_t> objects;
      for (auto at = near.begin(); at != end; ++at) objects.push_back(at->id);
      std::sort(objects.begin(), objects.end());
      one.objects = metric_bucket(from.space, std::move(objects));
    }
    left.clear();
    for (auto at = end; at != near.end(); ++at) left.push_back(at->id);
    std::sort(left.begin(), left.end());
    next = 0;
    for (std::size_t i = 1; i < left.size(); ++i)
      if (sum[left[i]] > sum[left[next]]) next = i;
    add(std::move(one));
  }
}

}  // namespace

std::unique_ptr<metric_structure> make_lc(metric_build const& from) {
  if (from.saved != nullptr) return std::make_unique<list_of_clusters>(from.space, *from.saved);
  return std::make_unique<list_of_clusters>(
      from, from.options.bucket > 0 ? from.options.bucket : lc_bucket);
}

}  // namespace rulerank::knn
