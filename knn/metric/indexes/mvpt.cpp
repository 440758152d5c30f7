// Developed in this project: a multi-vantage-point tree after Bozkaya and Özsoyoglu 1999, Indexing
// large metric spaces for similarity search queries, whose nodes of one level share their two
// vantage points, as in Chen et al. 2017, Pivot-based metric indexing. Leaves store the distances
// of their objects to all points, which exclude most objects without computing their distances to
// the query. Points are selected one after the other so that they raise the bounds of pairs of
// objects the most (Bustos, Navarro and Chávez 2003, Pivot selection techniques for proximity
// searching in metric spaces: incremental). Subtrees and objects are visited by ascending lower
// bound.

#include "core/random.hpp"
#include "knn/metric/indexes/structure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <queue>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::size_t mvpt_bucket = 64;
constexpr std::size_t parts = 4;  // parts of a node per vantage point
constexpr std::size_t points_a_node = 2;
constexpr std::size_t most_points = 256;
// Points tested per visit of an object, before another may be nearer.
constexpr std::size_t points_a_look = 16;
// Objects compared before the k-th distance is read again.
constexpr std::size_t mvpt_objects_at_once = 8;
constexpr std::size_t objects_a_point = 32;  // fewest objects per point, so that points cost little

constexpr std::size_t sampled_objects = 384;  // from which points are selected
constexpr std::size_t sampled_pairs = 8192;

using point_distances = std::array<double, points_a_node>;

struct child {
  point_distances low{}, high{};  ///< of the distances of its objects to the level's points
  std::uint32_t node = 0;
};
struct mvpt_node {
  std::vector<child> children;        ///< empty for a leaf
  std::vector<std::uint32_t> bucket;  ///< for a leaf
  std::vector<double> to_points;      ///< [bucket][points]
};

/// An element of the search queue: a node, or an object of a leaf given its distances to the first
/// points; ordered by a lower bound of its distance.
struct waiting {
  static constexpr std::uint32_t whole_node = ~std::uint32_t{0};
  static constexpr std::uint32_t points_node = ~std::uint32_t{0};

  double at_least;
  std::uint32_t node;
  std::uint32_t place = whole_node;  ///< index of the object in the leaf
  std::uint32_t points = 0;
  bool operator<(waiting const& other) const {
    if (at_least != other.at_least) return at_least > other.at_least;
    return node != other.node ? node > other.node : place > other.place;
  }
};

class mvp_tree final : public metric_structure {
 public:
  explicit mvp_tree(structure_reader& from) : points_(from.objects()), size_(from.number()) {
    own_ = {{}, points_, from.distances(points_.size() * points_.size())};
    if (size_ > points_.size()) read(from, 0);
    if (from.seen() != size_)
      throw usage_error("the number of objects in the tree differs from that of the index");
  }
  mvp_tree(metric_build const& from, std::size_t bucket);

  void search(metric_query& query) const override;
  /// Regions: 0 the vantage points, r > 0 the node r - 1.
  bool search_some(metric_query& query, search_task const& task, std::uint64_t,
                   std::vector<search_task>& left) const override;
  void save(structure_arrays& to) const override {
    to.put(points_);
    to.put(size_);
    to.put_distances(own_.to_points);
    if (!nodes_.empty()) save(to, 0);
  }
  std::size_t size() const override { return size_; }

 private:
  void choose_points(metric_build const& from, std::size_t most);
  std::uint32_t make(std::size_t bucket, std::span<std::uint32_t> objects, std::size_t level);
  void put_row(std::uint32_t object, mvpt_node& leaf) const;
  std::uint32_t read(structure_reader& from, std::size_t level);
  void save(structure_arrays& to, std::uint32_t which) const;
  void measure_points(metric_query& query, std::size_t count, std::vector<double>& to) const;
  void search_within(metric_query& query) const;
  template <class Each>
  void for_each_child(metric_query const& query, std::vector<double> const& to, std::uint32_t which,
                      double at_least, Each const& each) const;
  void look_closer(metric_query const& query, std::vector<double> const& to, waiting& at) const;
  void look_through(metric_query const& query, std::vector<double> const& to, waiting& at) const;
  mvpt_node const& leaf(std::uint32_t which) const {
    return which == waiting::points_node ? own_ : nodes_[which];
  }
  /// Returns the distance from a point to the next.
  double between(std::size_t point) const {
    return own_.to_points[point * points_.size() + point + 1];
  }
  std::size_t first_point(std::size_t level) const { return level * points_a_node; }
  bool has_points(std::size_t level) const {
    return first_point(level) + points_a_node <= points_.size();
  }

  std::vector<std::uint32_t> points_;
  mvpt_node own_;  ///< the points as a leaf outside of the tree
  std::size_t size_;
  std::vector<mvpt_node> nodes_;
  std::vector<std::uint8_t> level_;  ///< of each node
  std::vector<double> table_;        ///< [objects][points], during construction
};

mvp_tree::mvp_tree(metric_build const& from, std::size_t bucket) : size_(from.objects) {
  choose_points(from, std::min(most_points, size_ / objects_a_point));
  std::vector<std::uint32_t> const all = first_numbers(size_);
  std::vector<double> column(size_);
  table_.resize(size_ * points_.size());
  for (std::size_t p = 0; p < points_.size(); ++p) {
    from.ctx.check_stop();
    distances_of(from.ctx, from.space, points_[p], all, column);
    for (std::size_t i = 0; i < size_; ++i) table_[i * points_.size() + p] = column[i];
  }
  evaluations_ += table_.size();
  own_.bucket = points_;
  for (std::uint32_t const point : points_) put_row(point, own_);
  std::vector<bool> is_point(size_);
  for (std::uint32_t const point : points_) is_point[point] = true;
  std::vector<std::uint32_t> objects;
  for (std::uint32_t const one : all)
    if (!is_point[one]) objects.push_back(one);
  if (!objects.empty()) make(bucket, objects, 0);
  table_ = {};
}

/// Greedily selects random objects that maximize the sum of the bounds of random pairs.
void mvp_tree::choose_points(metric_build const& from, std::size_t most) {
  if (most == 0) return;
  std::vector<std::uint32_t> some = first_numbers(size_);
  random_engine chance(1);
  shuffle(std::span(some), chance);
  some.resize(std::min(sampled_objects, some.size()));
  std::size_t const count = some.size();
  std::vector<double> distance(count * count);
  for (std::size_t c = 0; c < count; ++c)
    distances_of(from.ctx, from.space, some[c], some,
                 std::span(distance).subspan(c * count, count));
  evaluations_ += distance.size();
  std::vector<std::pair<std::size_t, std::size_t>> pairs(sampled_pairs);
  for (auto& one : pairs) {
    one.first = static_cast<std::size_t>(uniform_below(chance, count));
    one.second = static_cast<std::size_t>(uniform_below(chance, count));
  }
  std::vector<double> bound(pairs.size());
  std::vector<bool> is_taken(count);
  for (std::size_t p = 0; p < std::min(most, count); ++p) {
    from.ctx.check_stop();
    std::size_t best = count;
    double best_sum = -1;
    for (std::size_t c = 0; c < count; ++c) {
      if (is_taken[c]) continue;
      double const* const to = distance.data() + c * count;
      double sum = 0;
      for (std::size_t i = 0; i < pairs.size(); ++i)
        sum += std::max(bound[i], std::abs(to[pairs[i].first] - to[pairs[i].second]));
      if (sum > best_sum) {
        best = c;
        best_sum = sum;
      }
    }
    is_taken[best] = true;
    points_.push_back(some[best]);
    double const* const to = distance.data() + best * count;
    for (std::size_t i = 0; i < pairs.size(); ++i)
      bound[i] = std::max(bound[i], std::abs(to[pairs[i].first] - to[pairs[i].second]));
  }
}

/// Sorts objects by `far`, equal ones by number, and calls each(part).
template <class Far, class Each>
void part_evenly(std::span<std::uint32_t> objects, Far const& far, Each const& each) {
  std::sort(objects.begin(), objects.end(), [&](std::uint32_t a, std::uint32_t b) {
    return far(a) != far(b) ? far(a) < far(b) : a < b;
  });
  for (std::size_t p = 0; p < parts; ++p) {
    std::size_t const begin = objects.size() * p / parts;
    std::size_t const end = objects.size() * (p + 1) / parts;
    if (begin < end) each(objects.subspan(begin, end - begin));
  }
}

/// Appends the distances of an object to all points.
void mvp_tree::put_row(std::uint32_t object, mvpt_node& leaf) const {
  std::size_t const row = points_.size();
  leaf.to_points.insert(leaf.to_points.end(),
                        table_.begin() + static_cast<std::ptrdiff_t>(object * row),
                        table_.begin() + static_cast<std::ptrdiff_t>((object + 1) * row));
}

std::uint32_t mvp_tree::make(std::size_t bucket, std::span<std::uint32_t> objects,
                             std::size_t level) {
  auto const which = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  level_.push_back(static_cast<std::uint8_t>(level));
  std::size_t const row = points_.size();
  if (objects.size() <= bucket || !has_points(level)) {
    std::sort(objects.begin(), objects.end());
    mvpt_node& leaf = nodes_.back();
    leaf.bucket.assign(objects.begin(), objects.end());
    for (std::uint32_t const object : objects) put_row(object, leaf);
    return which;
  }
  auto const distance = [&](std::size_t point) {
    return [this, row, at = first_point(level) + point](std::uint32_t object) {
      return table_[object * row + at];
    };
  };
  std::vector<child> children;
  part_evenly(objects, distance(0), [&](std::span<std::uint32_t> by_first) {
    part_evenly(by_first, distance(1), [&](std::span<std::uint32_t> by_both) {
      child one;
      for (std::size_t p = 0; p < points_a_node; ++p) {
        one.low[p] = one.high[p] = distance(p)(by_both[0]);
        for (std::uint32_t const object : by_both) {
          one.low[p] = std::min(one.low[p], distance(p)(object));
          one.high[p] = std::max(one.high[p], distance(p)(object));
        }
      }
      one.node = make(bucket, by_both, level + 1);
      children.push_back(one);
    });
  });
  nodes_[which].children = std::move(children);
  return which;
}

std::uint32_t mvp_tree::read(structure_reader& from, std::size_t level) {
  auto const which = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  level_.push_back(static_cast<std::uint8_t>(level));
  from.expect_depth(level);
  std::size_t const count = from.count(parts * parts);
  if (count == 0) {
    mvpt_node leaf;
    leaf.bucket = from.objects();
    leaf.to_points = from.distances(leaf.bucket.size() * points_.size());
    nodes_[which] = std::move(leaf);
    return which;
  }
  if (!has_points(level))
    throw usage_error("the tree of the index has more levels than vantage points");
  std::vector<child> children;
  for (std::size_t c = 0; c < count; ++c) {
    child one;
    for (std::size_t p = 0; p < points_a_node; ++p) {
      one.low[p] = from.distance();
      one.high[p] = from.distance();
    }
    one.node = read(from, level + 1);
    children.push_back(one);
  }
  nodes_[which].children = std::move(children);
  return which;
}

void mvp_tree::save(structure_arrays& to, std::uint32_t which) const {
  mvpt_node const& here = nodes_[which];
  to.put(here.children.size());
  if (here.children.empty()) {
    to.put(here.bucket);
    to.put_distances(here.to_points);
    return;
  }
  for (child const& one : here.children) {
    for (std::size_t p = 0; p < points_a_node; ++p) {
      to.put_distances({&one.low[p], 1});
      to.put_distances({&one.high[p], 1});
    }
    save(to, one.node);
  }
}

/// Appends the distances of `count` more points, or of the remaining ones; points are objects, too.
void mvp_tree::measure_points(metric_query& query, std::size_t count,
                              std::vector<double>& to) const {
  std::size_t const first = to.size();
  to.resize(std::min(first + count, points_.size()));
  auto const some = std::span(points_).subspan(first, to.size() - first);
  query.measure(some, to.data() + first);
  for (std::size_t p = 0; p < some.size(); ++p) query.offer(some[p], to[first + p]);
}

/// Calls each(node, lower bound of the distance to its objects) for the children of a node within
/// the bound.
template <class Each>
void mvp_tree::for_each_child(metric_query const& query, std::vector<double> const& to,
                              std::uint32_t which, double at_least, Each const& each) const {
  std::size_t const first = first_point(level_[which]);
  for (child const& below : nodes_[which].children) {
    double most = at_least;
    for (std::size_t p = 0; p < points_a_node; ++p)
      most = std::max(most, query.rule().at_least(to[first + p], below.low[p], below.high[p]));
    if (!query.is_beyond(most)) each(below.node, most);
  }
}

/// Uses a few more of the measured points; few of them suffice to exclude most objects.
void mvp_tree::look_closer(metric_query const& query, std::vector<double> const& to,
                           waiting& at) const {
  exclusion const& rule = query.rule();
  double const* const of_object = leaf(at.node).to_points.data() + at.place * points_.size();
  std::size_t const end = std::min(at.points + points_a_look, to.size());
  for (std::size_t p = at.points; p < end && !query.is_beyond(at.at_least); ++p) {
    at.at_least = std::max(at.at_least, rule.at_least(to[p], of_object[p], of_object[p]));
    if (p > 0 && rule.has_four_points())
      at.at_least = std::max(at.at_least, rule.at_least_by_two(to[p - 1], to[p], of_object[p - 1],
                                                               of_object[p], between(p - 1)));
  }
  at.points = static_cast<std::uint32_t>(end);
}

/// Uses points until the object is excluded or all are used.
void mvp_tree::look_through(metric_query const& query, std::vector<double> const& to,
                            waiting& at) const {
  do look_closer(query, to, at);
  while (at.points < to.size() && !query.is_beyond(at.at_least));
}

void mvp_tree::search(metric_query& query) const {
  if (!query.shrinks()) return search_within(query);
  std::vector<double> to;
  measure_points(query, points_.size(), to);
  std::priority_queue<waiting> next;
  if (!nodes_.empty()) next.push({0, 0});
  std::vector<std::uint32_t> left;
  while (!next.empty() && !query.is_beyond(next.top().at_least)) {
    waiting one = next.top();
    next.pop();
    mvpt_node const& here = nodes_[one.node];
    if (one.place != waiting::whole_node) {
      if (one.points < points_.size()) {
        look_closer(query, to, one);
        if (!query.is_beyond(one.at_least)) next.push(one);
        continue;
      }
      left.push_back(here.bucket[one.place]);
      if (left.size() < mvpt_objects_at_once) continue;
      query.compare(left);
      left.clear();
      continue;
    }
    for_each_child(query, to, one.node, one.at_least,
                   [&](std::uint32_t child_node, double at_least) {
                     next.push({at_least, child_node});
                   });
    for (std::uint32_t i = 0; i < here.bucket.size(); ++i) {
      waiting object{one.at_least, one.node, i};
      look_closer(query, to, object);
      if (!query.is_beyond(object.at_least)) next.push(object);
    }
  }
  query.compare(left);
}

/// The order of objects does not matter in a search by radius. Points are measured as long as the
/// last ones excluded more objects than there were points.
void mvp_tree::search_within(metric_query& query) const {
  std::size_t const levels =
      level_.empty() ? 0 : *std::max_element(level_.begin(), level_.end()) + std::size_t{1};
  std::vector<double> to;
  measure_points(query, std::max(points_a_look, levels * points_a_node), to);
  std::vector<waiting> nodes, left;
  if (!nodes_.empty()) nodes.push_back({0, 0});
  auto const add = [&](waiting object) {
    if (object.node == waiting::points_node && object.place < to.size()) return;  // measured
    look_through(query, to, object);
    if (!query.is_beyond(object.at_least)) left.push_back(object);
  };
  while (!nodes.empty()) {
    waiting const one = nodes.back();
    nodes.pop_back();
    for_each_child(query, to, one.node, one.at_least,
                   [&](std::uint32_t child_node, double at_least) {
                     nodes.push_back({at_least, child_node});
                   });
    for (std::uint32_t i = 0; i < nodes_[one.node].bucket.size(); ++i)
      add({one.at_least, one.node, i});
  }
  for (std::uint32_t p = 0; p < points_.size(); ++p) add({0, waiting::points_node, p});
  for (std::size_t excluded = points_a_look; excluded >= points_a_look;) {
    if (to.size() == points_.size() || left.size() <= points_a_look) break;
    measure_points(query, points_a_look, to);
    std::vector<waiting> before;
    before.swap(left);
    for (waiting const& object : before) add(object);
    excluded = before.size() - left.size();
  }
  std::vector<std::uint32_t> objects;
  for (waiting const& one : left) objects.push_back(leaf(one.node).bucket[one.place]);
  query.compare(objects);
}

bool mvp_tree::search_some(metric_query& query, search_task const& task, std::uint64_t,
                           std::vector<search_task>& left) const {
  if (!query.shrinks()) {  // all points are measured for all nodes
    search_within(query);
    return false;
  }
  if (task.region == 0) {
    auto const to = std::make_shared<std::vector<double>>();
    measure_points(query, points_.size(), *to);
    if (!nodes_.empty()) left.push_back({1, 0, 0, {}, to});
    return false;
  }
  std::vector<double> const& to = *task.to_pivots;
  mvpt_node const& here = nodes_[task.region - 1];
  for_each_child(query, to, task.region - 1, task.at_least,
                 [&](std::uint32_t child_node, double at_least) {
                   left.push_back({child_node + 1, 0, at_least, {}, task.to_pivots});
                 });
  std::sort(left.begin(), left.end(), [](search_task const& a, search_task const& b) {
    return a.at_least != b.at_least ? a.at_least < b.at_least : a.region < b.region;
  });
  std::vector<metric_candidate> order;
  for (std::uint32_t i = 0; i < here.bucket.size(); ++i) {
    waiting object{task.at_least, task.region - 1, i};
    look_through(query, to, object);
    if (!query.is_beyond(object.at_least)) order.push_back({object.at_least, here.bucket[i]});
  }
  std::sort(order.begin(), order.end(), nearer<value_order::smaller_is_nearer>{});
  std::vector<std::uint32_t> some;
  for (std::size_t i = 0; i < order.size() && !query.is_beyond(order[i].value);) {
    some.clear();
    for (; i < order.size() && some.size() < mvpt_objects_at_once; ++i) some.push_back(order[i].id);
    query.compare(some);
  }
  return false;
}

}  // namespace

std::unique_ptr<metric_structure> make_mvpt(metric_build const& from) {
  if (from.saved != nullptr) return std::make_unique<mvp_tree>(*from.saved);
  return std::make_unique<mvp_tree>(from,
                                    from.options.bucket > 0 ? from.options.bucket : mvpt_bucket);
}

}  // namespace rulerank::knn
