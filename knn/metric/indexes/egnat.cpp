// The EGNAT: Uribe 2005, Manipulación de estructuras métricas en memoria secundaria; Barrientos
// 2011, section 2.2.3.1 and Algorithm 1. Inner nodes are those of Brin's GNAT 1995, Near neighbor
// search in large metric spaces: centres, to the nearest of which each object belongs, and the
// range of distances from each centre to the objects of each centre. As there, centres are selected
// from three times as many objects so that they are far apart. Leaves store the distances to their
// centre. Objects are erased with ghost hyperplanes, which Barrientos names and Navarro and Uribe
// 2011, Fully dynamic metric access methods based on hyperplane partitioning, describe: an object
// from below replaces a centre; the ranges remain those of the former centre (its ghost), widened
// by the distance between the two.

#include "knn/metric/indexes/structure.hpp"

#include <algorithm>
#include <limits>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::size_t egnat_bucket = 32;
constexpr std::size_t arity = 16;
constexpr std::uint32_t no_egnat_node = std::numeric_limits<std::uint32_t>::max();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct egnat_node {
  bool is_leaf = true;
  std::uint32_t parent = no_egnat_node;
  std::vector<std::uint32_t> objects;  ///< of a leaf, or centres
  std::vector<double> to_centre;       ///< of a leaf except the root: distance to its centre
  std::vector<double> low, high;  ///< [i][j]: from centre i to centre j and the objects below it
  /// Upper bound of the distance from centre i to the centre of its ranges.
  std::vector<double> moved;
  std::vector<std::uint32_t> child;  ///< of each centre, or no_egnat_node
};

class egnat final : public metric_structure {
 public:
  explicit egnat(metric_build const& from)
      : space_(from.space),
        rule_(from.space.rounding()),
        bucket_(from.options.bucket > 0 ? from.options.bucket : egnat_bucket),
        node_of_(from.space.size(), no_egnat_node) {
    nodes_.emplace_back();
    if (from.saved != nullptr) {
      read(*from.saved, 0, 0);
      size_ = from.saved->seen();
      return;
    }
    size_ = from.objects;
    nodes_[0].objects = first_numbers(from.objects);
    fill(&from.ctx, 0, 0);
  }

  void search(metric_query& query) const override { search(query, {}); }
  /// Regions: the nodes. extra: the distance to the node's centre, and how far this centre has
  /// moved.
  bool search_some(metric_query& query, search_task const& task, std::uint64_t,
                   std::vector<search_task>& left) const override {
    visit(query, task, left);
    return false;
  }
  void save(structure_arrays& to) const override { save(to, 0); }
  void insert(std::uint32_t object) override;
  void erase(std::uint32_t object) override;
  std::size_t size() const override { return size_; }

 private:
  void fill(context const* ctx, std::uint32_t which, std::size_t depth);
  std::vector<std::uint32_t> choose_centres(std::vector<std::uint32_t> const& objects);
  void deal(std::uint32_t which, std::vector<std::uint32_t> const& objects,
            std::vector<double> const& values);
  std::uint32_t new_leaf(std::uint32_t parent);
  double distance(std::uint32_t a, std::uint32_t b) {
    ++evaluations_;
    return space_.from(a)->to(b);
  }
  std::uint32_t taken_from(std::uint32_t which);
  void remove_centre(std::uint32_t which, std::size_t slot);
  void unlink(std::uint32_t which);
  void read(structure_reader& from, std::uint32_t which, std::size_t depth);
  void save(structure_arrays& to, std::uint32_t which) const;
  void visit(metric_query& query, search_task const& task, std::vector<search_task>& next) const;
  void search(metric_query& query, search_task const& task) const;
  void search_leaf(metric_query& query, egnat_node const& leaf, double to_centre,
                   double moved) const;

  metric_space const& space_;
  exclusion rule_;
  std::size_t bucket_;
  std::size_t size_ = 0;
  std::vector<egnat_node> nodes_;       // the root first
  std::vector<std::uint32_t> unused_;   // indexes into nodes_
  std::vector<std::uint32_t> node_of_;  // the node of each object of the space
};

std::uint32_t egnat::new_leaf(std::uint32_t parent) {
  std::uint32_t which = static_cast<std::uint32_t>(nodes_.size());
  if (unused_.empty()) {
    nodes_.emplace_back();
  } else {
    which = unused_.back();
    unused_.pop_back();
    nodes_[which] = {};
  }
  nodes_[which].parent = parent;
  return which;
}

/// Returns the first object, then repeatedly the object farthest from the previous centres, out of
/// three times as many.
std::vector<std::uint32_t> egnat::choose_centres(std::vector<std::uint32_t> const& objects) {
  std::size_t const count = std::min(3 * arity, objects.size());
  std::vector<std::uint32_t> const sample(objects.begin(),
                                          objects.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<double> nearest(count, infinity);
  std::vector<double> values(count);
  std::vector<std::uint32_t> centres;
  std::size_t next = 0;
  while (centres.size() < std::min(arity, count)) {
    // Duplicates of a centre are no centres.
    if (nearest[next] == 0) break;
    centres.push_back(sample[next]);
    space_.from(sample[next])->compute(sample, infinity, values.data());
    evaluations_ += count;
    for (std::size_t i = 0; i < count; ++i) nearest[i] = std::min(nearest[i], values[i]);
    nearest[next] = 0;
    next = static_cast<std::size_t>(std::max_element(nearest.begin(), nearest.end()) -
                                    nearest.begin());
  }
  return centres;
}

/// Assigns the objects of an inner node to their nearest centres; values: [centre][object].
void egnat::deal(std::uint32_t which, std::vector<std::uint32_t> const& objects,
                 std::vector<double> const& values) {
  std::size_t const centres = nodes_[which].objects.size();
  for (std::size_t i = 0; i < objects.size(); ++i) {
    std::size_t nearest = 0;
    auto const value = [&](std::size_t c) { return values[c * objects.size() + i]; };
    for (std::size_t c = 1; c < centres; ++c)
      if (value(c) < value(nearest)) nearest = c;
    for (std::size_t c = 0; c < centres; ++c)
      if (nodes_[which].objects[c] == objects[i]) nearest = c;
    for (std::size_t c = 0; c < centres; ++c) {
      double& low = nodes_[which].low[c * centres + nearest];
      double& high = nodes_[which].high[c * centres + nearest];
      low = std::min(low, value(c));
      high = std::max(high, value(c));
    }
    if (nodes_[which].objects[nearest] == objects[i]) continue;
    if (nodes_[which].child[nearest] == no_egnat_node) {
      std::uint32_t const leaf = new_leaf(which);
      nodes_[which].child[nearest] = leaf;
    }
    egnat_node& leaf = nodes_[nodes_[which].child[nearest]];
    leaf.objects.push_back(objects[i]);
    leaf.to_centre.push_back(value(nearest));
  }
}

/// Converts a leaf with too many objects to an inner node, recursively.
void egnat::fill(context const* ctx, std::uint32_t which, std::size_t depth) {
  if (ctx != nullptr) ctx->check_stop();
  auto const stay = [&] {
    for (std::uint32_t const object : nodes_[which].objects) node_of_[object] = which;
  };
  if (nodes_[which].objects.size() <= bucket_ || depth == structure_reader::deepest) {
    stay();
    return;
  }
  std::vector<std::uint32_t> const centres = choose_centres(nodes_[which].objects);
  if (centres.size() < 2) {
    stay();
    return;
  }
  std::vector<std::uint32_t> const objects = std::move(nodes_[which].objects);
  egnat_node& inner = nodes_[which];
  inner.is_leaf = false;
  inner.to_centre.clear();
  inner.objects = centres;
  inner.low.assign(centres.size() * centres.size(), infinity);
  inner.high.assign(centres.size() * centres.size(), 0);
  inner.moved.assign(centres.size(), 0);
  inner.child.assign(centres.size(), no_egnat_node);
  std::vector<double> values(centres.size() * objects.size());
  for (std::size_t c = 0; c < centres.size(); ++c) {
    std::span<double> const row(values.data() + c * objects.size(), objects.size());
    if (ctx != nullptr)
      distances_of(*ctx, space_, centres[c], objects, row);
    else
      space_.from(centres[c])->compute(objects, infinity, row.data());
  }
  evaluations_ += values.size();
  deal(which, objects, values);
  for (std::size_t c = 0; c < centres.size(); ++c) {
    node_of_[centres[c]] = which;
    std::uint32_t const below = nodes_[which].child[c];
    if (below != no_egnat_node) fill(ctx, below, depth + 1);
  }
}

void egnat::insert(std::uint32_t object) {
  ++size_;
  auto const origin = space_.from(object);
  std::uint32_t which = 0;
  double to_centre = 0;
  std::size_t depth = 0;
  std::vector<double> values;
  for (; !nodes_[which].is_leaf; ++depth) {
    egnat_node& inner = nodes_[which];
    std::size_t const centres = inner.objects.size();
    values.resize(centres);
    origin->compute(inner.objects, infinity, values.data());
    evaluations_ += centres;
    auto const nearest =
        static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin());
    for (std::size_t c = 0; c < centres; ++c) {
      double& low = inner.low[c * centres + nearest];
      double& high = inner.high[c * centres + nearest];
      low = std::min(low, values[c]);
      high = std::max(high, values[c]);
    }
    to_centre = values[nearest];
    std::uint32_t below = inner.child[nearest];
    if (below == no_egnat_node) {
      below = new_leaf(which);
      nodes_[which].child[nearest] = below;
    }
    which = below;
  }
  egnat_node& leaf = nodes_[which];
  leaf.objects.push_back(object);
  if (leaf.parent != no_egnat_node) leaf.to_centre.push_back(to_centre);
  node_of_[object] = which;
  fill(nullptr, which, depth);
}

void egnat::unlink(std::uint32_t which) {
  std::uint32_t const parent = nodes_[which].parent;
  if (parent == no_egnat_node) {
    nodes_[which] = {};
    return;
  }
  auto& children = nodes_[parent].child;
  *std::find(children.begin(), children.end(), which) = no_egnat_node;
  unused_.push_back(which);
}

/// Removes a centre that has nothing below it.
void egnat::remove_centre(std::uint32_t which, std::size_t slot) {
  egnat_node& inner = nodes_[which];
  std::size_t const centres = inner.objects.size();
  if (centres == 1) {
    unlink(which);
    return;
  }
  std::vector<double> low;
  std::vector<double> high;
  for (std::size_t i = 0; i < centres; ++i)
    for (std::size_t j = 0; j < centres; ++j)
      if (i != slot && j != slot) {
        low.push_back(inner.low[i * centres + j]);
        high.push_back(inner.high[i * centres + j]);
      }
  inner.low = std::move(low);
  inner.high = std::move(high);
  auto const at = static_cast<std::ptrdiff_t>(slot);
  inner.objects.erase(inner.objects.begin() + at);
  inner.moved.erase(inner.moved.begin() + at);
  inner.child.erase(inner.child.begin() + at);
}

/// Removes and returns an object below a node: from a leaf the object nearest to the leaf's centre,
/// or a centre without objects.
std::uint32_t egnat::taken_from(std::uint32_t which) {
  while (!nodes_[which].is_leaf) {
    auto const& children = nodes_[which].child;
    auto const below = std::find_if(children.begin(), children.end(),
                                    [](std::uint32_t child) { return child != no_egnat_node; });
    if (below == children.end()) {
      std::uint32_t const centre = nodes_[which].objects.back();
      remove_centre(which, nodes_[which].objects.size() - 1);
      return centre;
    }
    which = *below;
  }
  egnat_node& leaf = nodes_[which];
  auto const at =
      std::min_element(leaf.to_centre.begin(), leaf.to_centre.end()) - leaf.to_centre.begin();
  std::uint32_t const object = leaf.objects[static_cast<std::size_t>(at)];
  leaf.objects.erase(leaf.objects.begin() + at);
  leaf.to_centre.erase(leaf.to_centre.begin() + at);
  if (leaf.objects.empty()) unlink(which);
  return object;
}

void egnat::erase(std::uint32_t object) {
  --size_;
  std::uint32_t const which = node_of_[object];
  node_of_[object] = no_egnat_node;
  auto& objects = nodes_[which].objects;
  auto const at = std::find(objects.begin(), objects.end(), object) - objects.begin();
  auto const slot = static_cast<std::size_t>(at);
  if (nodes_[which].is_leaf) {
    objects.erase(objects.begin() + at);
    if (nodes_[which].parent == no_egnat_node) return;
    nodes_[which].to_centre.erase(nodes_[which].to_centre.begin() + at);
    if (objects.empty()) unlink(which);
    return;
  }
  std::uint32_t const below = nodes_[which].child[slot];
  if (below == no_egnat_node) {
    remove_centre(which, slot);
    return;
  }
  std::uint32_t const heir = taken_from(below);
  nodes_[which].objects[slot] = heir;
  nodes_[which].moved[slot] += rule_.at_most(distance(object, heir), 0);
  node_of_[heir] = which;
}

void egnat::read(structure_reader& from, std::uint32_t which, std::size_t depth) {
  from.expect_depth(depth);
  nodes_[which].is_leaf = from.count(1) == 1;
  nodes_[which].objects = from.objects();
  for (std::uint32_t const object : nodes_[which].objects) node_of_[object] = which;
  std::size_t const count = nodes_[which].objects.size();
  if (nodes_[which].is_leaf) {
    if (which != 0 && count == 0) throw usage_error("a leaf of the tree is empty");
    if (which != 0) nodes_[which].to_centre = from.distances(count);
    return;
  }
  if (count == 0 || count > arity)
    throw usage_error("a node of the tree has a wrong number of centres");
  nodes_[which].low = from.distances(count * count);
  nodes_[which].high = from.distances(count * count);
  nodes_[which].moved = from.distances(count);
  nodes_[which].child.assign(count, no_egnat_node);
  for (std::size_t c = 0; c < count; ++c)
    if (from.count(1) == 1) {
      std::uint32_t const below = new_leaf(which);
      nodes_[which].child[c] = below;
      read(from, below, depth + 1);
    }
}

void egnat::save(structure_arrays& to, std::uint32_t which) const {
  egnat_node const& here = nodes_[which];
  to.put(here.is_leaf ? 1 : 0);
  to.put(here.objects);
  to.put_distances(here.to_centre);
  to.put_distances(here.low);
  to.put_distances(here.high);
  to.put_distances(here.moved);
  for (std::uint32_t const below : here.child) {
    to.put(below == no_egnat_node ? 0 : 1);
    if (below != no_egnat_node) save(to, below);
  }
}

void egnat::search_leaf(metric_query& query, egnat_node const& leaf, double to_centre,
                        double moved) const {
  if (leaf.to_centre.empty()) {
    query.compare(leaf.objects);
    return;
  }
  std::vector<std::uint32_t> left;
  for (std::size_t i = 0; i < leaf.objects.size(); ++i)
    if (!query.is_beyond(
            rule_.at_least(to_centre, leaf.to_centre[i] - moved, leaf.to_centre[i] + moved)))
      left.push_back(leaf.objects[i]);
  query.compare(left);
}

/// Compares the objects of a node; appends the remaining children, the nearest first.
void egnat::visit(metric_query& query, search_task const& task,
                  std::vector<search_task>& next) const {
  egnat_node const& here = nodes_[task.region];
  if (here.is_leaf) {
    search_leaf(query, here, task.extra[0], task.extra[1]);
    return;
  }
  std::size_t const centres = here.objects.size();
  std::vector<double> at_least(centres, 0);
  std::vector<double> distance(centres, 0);
  for (std::size_t i = 0; i < centres; ++i) {
    if (query.is_beyond(at_least[i])) continue;
    distance[i] = query.measure(here.objects[i]);
    query.offer(here.objects[i], distance[i]);
    for (std::size_t j = 0; j < centres; ++j)
      at_least[j] = std::max(at_least[j],
                             rule_.at_least(distance[i], here.low[i * centres + j] - here.moved[i],
                                            here.high[i * centres + j] + here.moved[i]));
  }
  std::vector<metric_candidate> order;
  for (std::size_t i = 0; i < centres; ++i)
    if (here.child[i] != no_egnat_node && !query.is_beyond(at_least[i]))
      order.push_back({at_least[i], static_cast<std::uint32_t>(i)});
  std::sort(order.begin(), order.end(), nearer<value_order::smaller_is_nearer>{});
  for (metric_candidate const& one : order)
    next.push_back({here.child[one.id], 0, one.value, {distance[one.id], here.moved[one.id]}});
}

void egnat::search(metric_query& query, search_task const& task) const {
  std::vector<search_task> next;
  visit(query, task, next);
  for (search_task const& one : next)
    if (!query.is_beyond(one.at_least)) search(query, one);
}

}  // namespace

std::unique_ptr<metric_structure> make_egnat(metric_build const& from) {
  return std::make_unique<egnat>(from);
}

}  // namespace rulerank::knn
