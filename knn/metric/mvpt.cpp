// The project's own: a multi-vantage-point tree after Bozkaya and Özsoyoglu 1999, Indexing large
// metric spaces for similarity search queries. A node has two vantage points; distances to the
// first part its objects evenly, those to the second each part again. Vantage points are far from
// those above them. A leaf keeps the distances of its objects to the vantage points above it, so
// that most are excluded without one of their own.

#include "knn/metric/structure.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace rulerank::knn {

namespace {

constexpr std::size_t default_bucket = 64;
constexpr std::size_t parts = 4;      // of a node by one vantage point
constexpr std::size_t most_path = 8;  // distances that a leaf keeps of an object
constexpr std::size_t points_a_node = 2;

using path_distances = std::array<double, most_path>;
using point_distances = std::array<double, points_a_node>;

/// An object with its distances to the vantage points above it, and to those of the node that is
/// being made.
struct placed {
  std::uint32_t object = 0;
  path_distances path{};
  point_distances to{};
};

struct child {
  point_distances low{}, high{};  ///< of the distances of its objects to the node's points
  std::uint32_t node = 0;
};
struct node {
  std::vector<std::uint32_t> points;  ///< two; of a leaf none
  std::vector<child> children;
  std::vector<std::uint32_t> bucket;  ///< of a leaf
  std::vector<double> path;           ///< [bucket][length]
  std::size_t length = 0;
};

class mvp_tree final : public metric_structure {
 public:
  explicit mvp_tree(structure_reader& from) : size_(from.number()) {
    if (size_ > 0) read(from, 0, 0);
    if (from.seen() != size_) throw usage_error("the tree has another number of objects");
  }
  mvp_tree(metric_build const& from, std::size_t bucket) : size_(from.objects) {
    std::vector<placed> objects(size_);
    for (std::size_t i = 0; i < size_; ++i) objects[i].object = static_cast<std::uint32_t>(i);
    if (size_ > 0) make(from, bucket, objects, 0);
  }

  void search(metric_query& query) const override {
    path_distances path{};
    if (size_ > 0) search(query, 0, path, 0);
  }
  /// Regions: the nodes; pivots: the vantage points above, as many as a leaf keeps.
  bool search_some(metric_query& query, search_part const& part, std::uint64_t,
                   std::vector<search_part>& left) const override {
    if (size_ == 0) return false;
    node const& here = nodes_[part.region];
    path_distances path{};
    std::size_t const length = part.to_pivots ? part.to_pivots->size() : 0;
    if (length > 0) std::copy(part.to_pivots->begin(), part.to_pivots->end(), path.begin());
    if (here.points.empty()) {
      search_leaf(query, here, path);
      return false;
    }
    std::vector<metric_candidate> const next = visit(query, here, path, length);
    auto const below = std::make_shared<std::vector<double>>(
        path.begin(),
        path.begin() + static_cast<std::ptrdiff_t>(std::min(length + points_a_node, most_path)));
    for (metric_candidate const& one : next) left.push_back({one.id, 0, one.value, {}, below});
    return false;
  }
  void save(structure_arrays& to) const override {
    to.put(size_);
    if (size_ > 0) save(to, 0);
  }
  std::size_t size() const override { return size_; }

 private:
  std::uint32_t make(metric_build const& from, std::size_t bucket, std::span<placed> objects,
                     std::size_t length);
  std::uint32_t make_leaf(std::span<placed> objects, std::size_t length);
  std::vector<child> part(metric_build const& from, std::size_t bucket, std::span<placed> objects,
                          std::size_t length);
  void measure(metric_build const& from, std::uint32_t point, std::span<placed> objects,
               std::size_t which);
  std::uint32_t read(structure_reader& from, std::size_t length, std::size_t depth);
  void save(structure_arrays& to, std::uint32_t which) const;
  static void search_leaf(metric_query& query, node const& leaf, path_distances const& path);
  static std::vector<metric_candidate> visit(metric_query& query, node const& here,
                                             path_distances& path, std::size_t length);
  void search(metric_query& query, std::uint32_t which, path_distances& path,
              std::size_t length) const;

  std::size_t size_;
  std::vector<node> nodes_;
};

std::uint32_t mvp_tree::make_leaf(std::span<placed> objects, std::size_t length) {
  std::sort(objects.begin(), objects.end(),
            [](placed const& a, placed const& b) { return a.object < b.object; });
  node leaf;
  leaf.length = length;
  for (placed const& one : objects) {
    leaf.bucket.push_back(one.object);
    leaf.path.insert(leaf.path.end(), one.path.begin(),
                     one.path.begin() + static_cast<std::ptrdiff_t>(length));
  }
  nodes_.push_back(std::move(leaf));
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

void mvp_tree::measure(metric_build const& from, std::uint32_t point, std::span<placed> objects,
                       std::size_t which) {
  std::vector<std::uint32_t> numbers;
  for (placed const& one : objects) numbers.push_back(one.object);
  std::vector<double> values(numbers.size());
  distances_of(from.ctx, from.space, point, numbers, values);
  for (std::size_t i = 0; i < values.size(); ++i) objects[i].to[which] = values[i];
  evaluations_ += values.size();
}

/// Takes the object out that is farthest by `far`.
template <class Far>
std::uint32_t take_farthest(std::span<placed>& objects, Far const& far) {
  auto const at =
      std::max_element(objects.begin(), objects.end(), [&](placed const& a, placed const& b) {
        return far(a) != far(b) ? far(a) < far(b) : a.object > b.object;
      });
  std::uint32_t const taken = at->object;
  std::swap(*at, objects.back());
  objects = objects.first(objects.size() - 1);
  return taken;
}

/// Orders objects by their distance to a point, equal ones by number, and calls each(part).
template <class Each>
void part_evenly(std::span<placed> objects, std::size_t point, Each const& each) {
  std::sort(objects.begin(), objects.end(), [point](placed const& a, placed const& b) {
    return a.to[point] != b.to[point] ? a.to[point] < b.to[point] : a.object < b.object;
  });
  for (std::size_t p = 0; p < parts; ++p) {
    std::size_t const begin = objects.size() * p / parts;
    std::size_t const end = objects.size() * (p + 1) / parts;
    if (begin < end) each(objects.subspan(begin, end - begin));
  }
}

std::vector<child> mvp_tree::part(metric_build const& from, std::size_t bucket,
                                  std::span<placed> objects, std::size_t length) {
  std::vector<child> children;
  part_evenly(objects, 0, [&](std::span<placed> by_first) {
    part_evenly(by_first, 1, [&](std::span<placed> by_both) {
      child one{by_both[0].to, by_both[0].to, 0};
      for (placed const& object : by_both)
        for (std::size_t p = 0; p < points_a_node; ++p) {
          one.low[p] = std::min(one.low[p], object.to[p]);
          one.high[p] = std::max(one.high[p], object.to[p]);
        }
      one.node = make(from, bucket, by_both, length);
      children.push_back(one);
    });
  });
  return children;
}

std::uint32_t mvp_tree::make(metric_build const& from, std::size_t bucket,
                             std::span<placed> objects, std::size_t length) {
  if (objects.size() <= bucket + points_a_node) return make_leaf(objects, length);
  auto const which = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  // The first point is far from the last one above, the second from the first.
  std::vector<std::uint32_t> points;
  points.push_back(take_farthest(
      objects, [&](placed const& one) { return length == 0 ? 0 : one.path[length - 1]; }));
  measure(from, points[0], objects, 0);
  points.push_back(take_farthest(objects, [](placed const& one) { return one.to[0]; }));
  measure(from, points[1], objects, 1);
  std::size_t const longer = std::min(length + points_a_node, most_path);
  for (placed& one : objects)
    std::copy_n(one.to.begin(), longer - length,
                one.path.begin() + static_cast<std::ptrdiff_t>(length));
  auto children = part(from, bucket, objects, longer);
  nodes_[which].points = std::move(points);
  nodes_[which].children = std::move(children);
  return which;
}

std::uint32_t mvp_tree::read(structure_reader& from, std::size_t length, std::size_t depth) {
  from.expect_depth(depth);
  auto const which = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  if (from.count(1) == 1) {
    node leaf;
    leaf.bucket = from.objects();
    leaf.length = length;
    leaf.path = from.distances(leaf.bucket.size() * length);
    nodes_[which] = std::move(leaf);
    return which;
  }
  node here;
  for (std::size_t p = 0; p < points_a_node; ++p) here.points.push_back(from.object());
  std::size_t const count = from.count(parts * parts);
  for (std::size_t c = 0; c < count; ++c) {
    child one;
    for (std::size_t p = 0; p < points_a_node; ++p) {
      one.low[p] = from.distance();
      one.high[p] = from.distance();
    }
    one.node = read(from, std::min(length + points_a_node, most_path), depth + 1);
    here.children.push_back(one);
  }
  nodes_[which] = std::move(here);
  return which;
}

void mvp_tree::save(structure_arrays& to, std::uint32_t which) const {
  node const& here = nodes_[which];
  to.put(here.points.empty() ? 1 : 0);
  if (here.points.empty()) {
    to.put(here.bucket);
    to.put_distances(here.path);
    return;
  }
  for (std::uint32_t const point : here.points) to.put(point);
  to.put(here.children.size());
  for (child const& one : here.children) {
    for (std::size_t p = 0; p < points_a_node; ++p) {
      to.put_distances({&one.low[p], 1});
      to.put_distances({&one.high[p], 1});
    }
    save(to, one.node);
  }
}

void mvp_tree::search_leaf(metric_query& query, node const& leaf, path_distances const& path) {
  std::array<std::uint32_t, 64> left{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < leaf.bucket.size(); ++i) {
    double const* const to = leaf.path.data() + i * leaf.length;
    double at_least = 0;
    for (std::size_t p = 0; p < leaf.length; ++p)
      at_least = std::max(at_least, query.rule().at_least(path[p], to[p], to[p]));
    if (!query.is_beyond(at_least)) left[count++] = leaf.bucket[i];
    if (count == left.size() || (i + 1 == leaf.bucket.size() && count > 0)) {
      query.compare({left.data(), count});
      count = 0;
    }
  }
}

/// Measures the vantage points of a node, and lengthens the path by them; the children that are
/// left, what may be nearest first.
std::vector<metric_candidate> mvp_tree::visit(metric_query& query, node const& here,
                                              path_distances& path, std::size_t length) {
  point_distances to{};
  query.measure(here.points, to.data());
  for (std::size_t p = 0; p < points_a_node; ++p) {
    query.offer(here.points[p], to[p]);
    if (length + p < most_path) path[length + p] = to[p];
  }
  std::vector<metric_candidate> next;
  for (child const& one : here.children) {
    double at_least = 0;
    for (std::size_t p = 0; p < points_a_node; ++p)
      at_least = std::max(at_least, query.rule().at_least(to[p], one.low[p], one.high[p]));
    if (!query.is_beyond(at_least)) next.push_back({at_least, one.node});
  }
  std::sort(next.begin(), next.end(), nearer<value_order::smaller_is_nearer>{});
  return next;
}

void mvp_tree::search(metric_query& query, std::uint32_t which, path_distances& path,
                      std::size_t length) const {
  node const& here = nodes_[which];
  if (here.points.empty()) {
    search_leaf(query, here, path);
    return;
  }
  for (metric_candidate const& one : visit(query, here, path, length))
    if (!query.is_beyond(one.value))
      search(query, one.id, path, std::min(length + points_a_node, most_path));
}

}  // namespace

std::unique_ptr<metric_structure> make_mvpt(metric_build const& from) {
  if (from.saved != nullptr) return std::make_unique<mvp_tree>(*from.saved);
  return std::make_unique<mvp_tree>(from,
                                    from.options.bucket > 0 ? from.options.bucket : default_bucket);
}

}  // namespace rulerank::knn
