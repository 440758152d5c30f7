// The SSS-Tree: Brisaboa, Pedreira, Seco, Solar and Uribe 2008, Clustering-based similarity search
// in metric spaces with sparse spatial centers; Barrientos 2011, section 2.2.3.4 and Algorithm 5.
// The centres of a node are selected among its objects as SSS pivots; the other objects go to the
// nearest centre, and each centre has the radius of its cluster.

#include "knn/metric/indexes/sss_pivots.hpp"
#include "knn/metric/indexes/structure.hpp"

#include <algorithm>
#include <limits>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::size_t sss_tree_bucket = 32;
constexpr std::size_t most_centres = 256;
constexpr std::uint32_t no_sss_tree_node = std::numeric_limits<std::uint32_t>::max();

struct centre {
  std::uint32_t object;
  double radius;
  std::uint32_t child;
};
struct sss_tree_node {
  std::vector<std::uint32_t> bucket;  ///< of a leaf
  std::vector<centre> centres;        ///< of an inner node
};

class sss_tree final : public metric_structure {
 public:
  explicit sss_tree(structure_reader& from) : size_(from.number()) {
    if (size_ > 0) read(from, 0);
    if (from.seen() != size_)
      throw usage_error("the number of objects in the tree differs from that of the index");
  }
  sss_tree(metric_build const& from, std::size_t bucket) : size_(from.objects) {
    if (size_ > 0) make(from, bucket, first_numbers(size_), 0);
  }

  void search(metric_query& query) const override {
    if (size_ > 0) search(query, 0);
  }
  /// Regions: the nodes.
  bool search_some(metric_query& query, search_task const& task, std::uint64_t,
                   std::vector<search_task>& left) const override {
    if (size_ > 0)
      for (metric_candidate const& one : visit(query, task.region))
        if (!query.is_beyond(one.value)) left.push_back({one.id, 0, one.value});
    return false;
  }
  void save(structure_arrays& to) const override {
    to.put(size_);
    if (size_ > 0) save(to, 0);
  }
  std::size_t size() const override { return size_; }

 private:
  std::uint32_t make(metric_build const& from, std::size_t bucket,
                     std::vector<std::uint32_t> objects, std::size_t depth);
  std::uint32_t read(structure_reader& from, std::size_t depth);
  void save(structure_arrays& to, std::uint32_t which) const;
  void search(metric_query& query, std::uint32_t which) const;
  std::vector<metric_candidate> visit(metric_query& query, std::uint32_t which) const;

  std::size_t size_;
  std::vector<sss_tree_node> nodes_;
};

std::uint32_t sss_tree::make(metric_build const& from, std::size_t bucket,
                             std::vector<std::uint32_t> objects, std::size_t depth) {
  auto const which = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  if (objects.size() <= bucket || depth == structure_reader::deepest) {
    nodes_[which].bucket = std::move(objects);
    return which;
  }
  double const apart =
      from.options.alpha * estimated_diameter(from.ctx, from.space, objects, evaluations_);
  auto const places = sss_pivots(from, objects, apart, most_centres, evaluations_);
  std::vector<std::vector<std::uint32_t>> clusters(places.size());
  std::vector<double> radius(places.size());
  std::vector<double> nearest(objects.size(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> of(objects.size());
  std::vector<double> values(objects.size());
  for (std::size_t c = 0; c < places.size(); ++c) {
    distances_of(from.ctx, from.space, objects[places[c]], objects, values);
    evaluations_ += objects.size();
    for (std::size_t i = 0; i < objects.size(); ++i)
      if (values[i] < nearest[i]) {
        nearest[i] = values[i];
        of[i] = c;
      }
  }
  for (std::size_t i = 0, c = 0; i < objects.size(); ++i) {
    if (c < places.size() && places[c] == i) {
      ++c;
      continue;
    }
    clusters[of[i]].push_back(objects[i]);
    radius[of[i]] = std::max(radius[of[i]], nearest[i]);
  }
  std::vector<centre> centres;
  for (std::size_t c = 0; c < places.size(); ++c)
    centres.push_back({objects[places[c]], radius[c],
                       clusters[c].empty()
                           ? no_sss_tree_node
                           : make(from, bucket, std::move(clusters[c]), depth + 1)});
  nodes_[which].centres = std::move(centres);
  return which;
}

std::uint32_t sss_tree::read(structure_reader& from, std::size_t depth) {
  from.expect_depth(depth);
  auto const which = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  nodes_[which].bucket = from.objects();
  std::size_t const count = from.count(most_centres);
  if (count == 0 && nodes_[which].bucket.empty()) throw usage_error("a node of the tree is empty");
  std::vector<centre> centres;
  for (std::size_t c = 0; c < count; ++c) {
    centre one{from.object(), from.distance(), no_sss_tree_node};
    if (from.count(1) == 1) one.child = read(from, depth + 1);
    centres.push_back(one);
  }
  nodes_[which].centres = std::move(centres);
  return which;
}

void sss_tree::save(structure_arrays& to, std::uint32_t which) const {
  to.put(nodes_[which].bucket);
  to.put(nodes_[which].centres.size());
  for (centre const& one : nodes_[which].centres) {
    to.put(one.object);
    to.put_distances({&one.radius, 1});
    to.put(one.child == no_sss_tree_node ? 0 : 1);
    if (one.child != no_sss_tree_node) save(to, one.child);
  }
}

/// Compares the objects of a node and returns the remaining children with lower bounds of their
/// distances; for the k nearest, in ascending order.
std::vector<metric_candidate> sss_tree::visit(metric_query& query, std::uint32_t which) const {
  sss_tree_node const& here = nodes_[which];
  query.compare(here.bucket);
  std::vector<std::uint32_t> objects;
  for (centre const& one : here.centres) objects.push_back(one.object);
  std::vector<double> values(objects.size());
  query.measure(objects, values.data());
  std::vector<metric_candidate> next;
  for (std::size_t c = 0; c < objects.size(); ++c) {
    query.offer(objects[c], values[c]);
    centre const& one = here.centres[c];
    if (one.child != no_sss_tree_node)
      next.push_back({query.rule().at_least(values[c], 0, one.radius), one.child});
  }
  std::sort(next.begin(), next.end(), nearer<value_order::smaller_is_nearer>{});
  return next;
}

void sss_tree::search(metric_query& query, std::uint32_t which) const {
  for (metric_candidate const& one : visit(query, which))
    if (!query.is_beyond(one.value)) search(query, one.id);
}

}  // namespace

std::unique_ptr<metric_structure> make_sss_tree(metric_build const& from) {
  if (from.saved != nullptr) return std::make_unique<sss_tree>(*from.saved);
  return std::make_unique<sss_tree>(
      from, from.options.bucket > 0 ? from.options.bucket : sss_tree_bucket);
}

}  // namespace rulerank::knn
