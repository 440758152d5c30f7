// The M-tree: Ciaccia, Patella and Zezula 1997, M-tree: an efficient access method for similarity
// search in metric spaces; Barrientos 2011, section 2.2.3.2 and Algorithm 2. Objects are in leaves;
// a routing object above them has the radius of all objects below it; nodes store the distances to
// the routing object above. A node with too many entries is split by mM_RAD, which promotes the
// pair of entries whose larger radius is smallest, and by the generalized hyperplane between them.
// Entries that are equally near to both go to the smaller half, because otherwise equal objects
// would make a deep tree.

#include "knn/metric/indexes/structure.hpp"

#include <algorithm>
#include <limits>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::size_t default_capacity = 32;
/// With a capacity of two, a half of three entries is full again: equal objects would add a level
/// each.
constexpr std::size_t least_capacity = 4;
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

struct entry {
  std::uint32_t object = 0;
  std::uint32_t child = none;  ///< of a routing object
  double radius = 0;           ///< upper bound of the distances to all objects below
  double to_parent = 0;        ///< to the routing object above; 0 in the root
};
struct m_tree_node {
  bool is_leaf = true;
  std::vector<entry> entries;
};

/// A split: the promoted entries, and the side of each entry.
struct halves {
  std::size_t promoted[2] = {0, 1};
  double radius[2] = {0, 0};
  std::vector<bool> is_second;
};

class m_tree final : public metric_structure {
 public:
  explicit m_tree(metric_build const& from)
      : space_(from.space),
        rule_(from.space.rounding()),
        capacity_(std::max<std::size_t>(
            from.options.bucket > 0 ? from.options.bucket : default_capacity, least_capacity)) {
    if (from.saved != nullptr) {
      root_ = read(*from.saved, 0);
      size_ = from.saved->seen();
      return;
    }
    nodes_.emplace_back();
    for (std::size_t i = 0; i < from.objects; ++i) {
      if (i % 256 == 0) from.ctx.check_stop();
      insert(static_cast<std::uint32_t>(i));
    }
  }

  void search(metric_query& query) const override { search(query, {}); }
  /// Regions: 0 the root, r > 0 the node r - 1. extra: the distance to the routing object above.
  bool search_some(metric_query& query, search_task const& task, std::uint64_t,
                   std::vector<search_task>& left) const override {
    visit(query, task, left);
    return false;
  }
  void save(structure_arrays& to) const override { save(to, root_); }
  void insert(std::uint32_t object) override {
    ++size_;
    auto const origin = space_.from(object);
    std::vector<entry> const made = insert_below(root_, none, *origin, {object, none, 0, 0});
    if (made.empty()) return;
    root_ = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({false, made});
  }
  std::size_t size() const override { return size_; }

 private:
  /// Returns the entries that replace the node's own if it was split; the caller sets their
  /// distances to the routing object above.
  std::vector<entry> insert_below(std::uint32_t which, std::uint32_t routing,
                                  distances_from& origin, entry const& added);
  std::vector<double> distances_between(std::vector<entry> const& entries);
  halves best_halves(std::vector<entry> const& entries, std::vector<double> const& between) const;
  std::vector<entry> split(std::uint32_t which);
  std::uint32_t read(structure_reader& from, std::size_t depth);
  void save(structure_arrays& to, std::uint32_t which) const;
  void visit(metric_query& query, search_task const& task, std::vector<search_task>& next) const;
  void search(metric_query& query, search_task const& task) const;

  metric_space const& space_;
  exclusion rule_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  std::uint32_t root_ = 0;
  std::vector<m_tree_node> nodes_;
};

/// Returns the routing object whose radius must grow least; among those that need not grow, the
/// nearest.
std::size_t best_child(std::vector<entry> const& entries, std::vector<double> const& to) {
  std::size_t best = 0;
  auto const growth = [&](std::size_t i) { return std::max(to[i] - entries[i].radius, 0.0); };
  for (std::size_t i = 1; i < entries.size(); ++i)
    if (growth(i) < growth(best) || (growth(i) == growth(best) && to[i] < to[best])) best = i;
  return best;
}

std::vector<entry> m_tree::insert_below(std::uint32_t which, std::uint32_t routing,
                                        distances_from& origin, entry const& added) {
  if (nodes_[which].is_leaf) {
    nodes_[which].entries.push_back(added);
  } else {
    auto& entries = nodes_[which].entries;
    std::vector<std::uint32_t> objects;
    for (entry const& one : entries) objects.push_back(one.object);
    std::vector<double> to(objects.size());
    origin.compute(objects, std::numeric_limits<double>::infinity(), to.data());
    evaluations_ += objects.size();
    std::size_t const best = best_child(entries, to);
    entries[best].radius = std::max(entries[best].radius, to[best]);
    entry below = added;
    below.to_parent = to[best];
    auto made = insert_below(entries[best].child, entries[best].object, origin, below);
    if (made.empty()) return {};
    if (routing != none)
      for (entry& one : made) {
        one.to_parent = space_.from(routing)->to(one.object);
        ++evaluations_;
      }
    auto& here = nodes_[which].entries;  // references are invalid after adding nodes
    here[best] = made[0];
    here.push_back(made[1]);
  }
  if (nodes_[which].entries.size() <= capacity_) return {};
  return split(which);
}

std::vector<double> m_tree::distances_between(std::vector<entry> const& entries) {
  std::size_t const n = entries.size();
  std::vector<std::uint32_t> objects;
  for (entry const& one : entries) objects.push_back(one.object);
  std::vector<double> between(n * n);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    std::span<std::uint32_t const> const others(objects.data() + i + 1, n - i - 1);
    space_.from(objects[i])
        ->compute(others, std::numeric_limits<double>::infinity(), between.data() + i * n + i + 1);
    evaluations_ += others.size();
    for (std::size_t j = i + 1; j < n; ++j) between[j * n + i] = between[i * n + j];
  }
  return between;
}

/// mM_RAD: tries all pairs.
halves m_tree::best_halves(std::vector<entry> const& entries,
                           std::vector<double> const& between) const {
  std::size_t const n = entries.size();
  halves best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a + 1; b < n; ++b) {
      halves tried{{a, b}, {entries[a].radius, entries[b].radius}, std::vector<bool>(n)};
      std::size_t count[2] = {1, 1};
      tried.is_second[b] = true;
      for (std::size_t i = 0; i < n; ++i) {
        if (i == a || i == b) continue;
        double const to[2] = {between[a * n + i], between[b * n + i]};
        bool const second = to[0] == to[1] ? count[1] < count[0] : to[1] < to[0];
        std::size_t const side = second ? 1 : 0;
        tried.is_second[i] = second;
        ++count[side];
        // The distance to an object in a leaf is exact.
        double const reach =
            entries[i].child == none ? to[side] : rule_.at_most(to[side], entries[i].radius);
        tried.radius[side] = std::max(tried.radius[side], reach);
      }
      double const larger = std::max(tried.radius[0], tried.radius[1]);
      if (larger < least) {
        least = larger;
        best = std::move(tried);
      }
    }
  return best;
}

std::vector<entry> m_tree::split(std::uint32_t which) {
  std::vector<entry> const entries = std::move(nodes_[which].entries);
  std::size_t const n = entries.size();
  std::vector<double> const between = distances_between(entries);
  halves const parts = best_halves(entries, between);
  auto const second = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({nodes_[which].is_leaf, {}});
  nodes_[which].entries.clear();
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t const side = parts.is_second[i] ? 1 : 0;
    entry one = entries[i];
    one.to_parent = between[parts.promoted[side] * n + i];
    nodes_[side == 1 ? second : which].entries.push_back(one);
  }
  std::vector<entry> made;
  for (std::size_t side = 0; side < 2; ++side) {
    entry const& promoted = entries[parts.promoted[side]];
    made.push_back({promoted.object, side == 1 ? second : which, parts.radius[side], 0});
  }
  return made;
}

std::uint32_t m_tree::read(structure_reader& from, std::size_t depth) {
  from.expect_depth(depth);
  auto const which = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  bool const is_leaf = from.count(1) == 1;
  std::size_t const count = from.number();
  if (count == 0 && !(is_leaf && depth == 0)) throw usage_error("a node of the tree is empty");
  std::vector<entry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    entry one;
    one.object = is_leaf ? from.object() : from.pivot();
    one.to_parent = from.distance();
    if (!is_leaf) {
      one.radius = from.distance();
      one.child = read(from, depth + 1);
    }
    entries.push_back(one);
  }
  nodes_[which] = {is_leaf, std::move(entries)};
  return which;
}

void m_tree::save(structure_arrays& to, std::uint32_t which) const {
  m_tree_node const& here = nodes_[which];
  to.put(here.is_leaf ? 1 : 0);
  to.put(here.entries.size());
  for (entry const& one : here.entries) {
    to.put(one.object);
    to.put_distances({&one.to_parent, 1});
    if (here.is_leaf) continue;
    to.put_distances({&one.radius, 1});
    save(to, one.child);
  }
}

/// Compares the objects of a node; appends the remaining children, the nearest first.
void m_tree::visit(metric_query& query, search_task const& task,
                   std::vector<search_task>& next) const {
  bool const has_parent = task.region > 0;
  m_tree_node const& here = nodes_[has_parent ? task.region - 1 : root_];
  std::vector<std::uint32_t> left;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < here.entries.size(); ++i) {
    entry const& one = here.entries[i];
    if (has_parent &&
        query.is_beyond(rule_.at_least_around(task.extra[0], one.to_parent, one.radius)))
      continue;
    left.push_back(one.object);
    places.push_back(i);
  }
  if (here.is_leaf) {
    query.compare(left);
    return;
  }
  std::vector<double> to(left.size());
  query.measure(left, to.data());
  std::vector<metric_candidate> order;
  for (std::size_t i = 0; i < left.size(); ++i)
    order.push_back(
        {rule_.at_least(to[i], 0, here.entries[places[i]].radius), static_cast<std::uint32_t>(i)});
  std::sort(order.begin(), order.end(), nearer<value_order::smaller_is_nearer>{});
  for (metric_candidate const& one : order)
    if (!query.is_beyond(one.value))
      next.push_back({here.entries[places[one.id]].child + 1, 0, one.value, {to[one.id], 0}});
}

void m_tree::search(metric_query& query, search_task const& task) const {
  std::vector<search_task> next;
  visit(query, task, next);
  for (search_task const& one : next)
    if (!query.is_beyond(one.at_least)) search(query, one);
}

}  // namespace

std::unique_ptr<metric_structure> make_m_tree(metric_build const& from) {
  return std::make_unique<m_tree>(from);
}

}  // namespace rulerank::knn
