// The SSS-Index: Brisaboa et al. 2006; Barrientos 2011, Algorithms 3 and 4. A table has the
// distance of each object to each pivot.

#include "knn/metric/sss_pivots.hpp"
#include "knn/metric/structure.hpp"

#include <algorithm>

namespace rulerank::knn {

namespace {

/// A table of more would take longer to read than it saves.
constexpr std::size_t most_pivots = 256;
/// A part of a search has so many objects.
constexpr std::size_t objects_a_part = 1024;

class sss_index final : public metric_structure {
 public:
  explicit sss_index(structure_reader& from) : objects_(from.objects()), pivots_(from.pivots()) {
    if (pivots_.size() > std::max<std::size_t>(objects_.size(), 1))
      throw usage_error("the index has more pivots than objects");
    table_ = from.distances(objects_.size() * pivots_.size());
  }
  explicit sss_index(metric_build const& from) : objects_(first_numbers(from.objects)) {
    double const apart =
        from.options.alpha * estimated_diameter(from.ctx, from.space, objects_, evaluations_);
    for (std::size_t const place : sss_pivots(from, objects_, apart, most_pivots, evaluations_))
      pivots_.push_back(objects_[place]);
    std::size_t const pivots = pivots_.size();
    table_.resize(objects_.size() * pivots);
    std::vector<double> column(objects_.size());
    for (std::size_t p = 0; p < pivots; ++p) {
      distances_of(from.ctx, from.space, pivots_[p], objects_, column);
      for (std::size_t i = 0; i < column.size(); ++i) table_[i * pivots + p] = column[i];
    }
    evaluations_ += table_.size();
  }

  void search(metric_query& query) const override {
    std::vector<double> to_pivot(pivots_.size());
    query.measure(pivots_, to_pivot.data());
    search_rows(query, to_pivot, 0, objects_.size());
  }
  /// Regions: 0 the pivots, r > 0 the objects from (r - 1) objects_a_part on.
  bool search_some(metric_query& query, search_part const& part, std::uint64_t,
                   std::vector<search_part>& left) const override {
    if (part.region > 0) {
      std::size_t const begin = (part.region - 1) * objects_a_part;
      search_rows(query, *part.to_pivots, begin, std::min(begin + objects_a_part, objects_.size()));
      return false;
    }
    auto const to_pivot = std::make_shared<std::vector<double>>(pivots_.size());
    query.measure(pivots_, to_pivot->data());
    std::uint32_t region = 0;
    for (std::size_t i = 0; i < objects_.size(); i += objects_a_part)
      left.push_back({++region, 0, 0, {}, to_pivot});
    return false;
  }
  void save(structure_arrays& to) const override {
    to.put(objects_);
    to.put(pivots_);
    to.put_distances(table_);
  }
  std::size_t size() const override { return objects_.size(); }

 private:
  bool excludes(metric_query const& query, std::vector<double> const& to_pivot,
                std::size_t i) const {
    double const* const row = table_.data() + i * pivots_.size();
    for (std::size_t p = 0; p < to_pivot.size(); ++p)
      if (query.is_beyond(query.rule().at_least(to_pivot[p], row[p], row[p]))) return true;
    return false;
  }
  /// Objects of [first, last).
  void search_rows(metric_query& query, std::vector<double> const& to_pivot, std::size_t first,
                   std::size_t last) const {
    if (query.shrinks()) {
      search_nearest(query, to_pivot, first, last);
      return;
    }
    std::vector<std::uint32_t> left;
    for (std::size_t i = first; i < last; ++i)
      if (!excludes(query, to_pivot, i)) left.push_back(objects_[i]);
    query.compare(left);
  }
  /// Barrientos gives a search by radius alone. Objects whose bounds are the smallest come first,
  /// so that the radius is small when the others come.
  void search_nearest(metric_query& query, std::vector<double> const& to_pivot, std::size_t first,
                      std::size_t last) const {
    constexpr std::size_t at_once = 64;
    std::vector<metric_candidate> bounds(last - first);
    for (std::size_t i = first; i < last; ++i) {
      double const* const row = table_.data() + i * pivots_.size();
      double at_least = 0;
      for (std::size_t p = 0; p < to_pivot.size(); ++p)
        at_least = std::max(at_least, query.rule().at_least(to_pivot[p], row[p], row[p]));
      bounds[i - first] = {at_least, objects_[i]};
    }
    nearer<value_order::smaller_is_nearer> const is_nearer;
    std::vector<std::uint32_t> some;
    auto at = bounds.begin();
    for (std::size_t take = at_once; at != bounds.end(); take *= 2) {
      auto const end = at + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                take, static_cast<std::size_t>(bounds.end() - at)));
      if (end != bounds.end()) std::nth_element(at, end, bounds.end(), is_nearer);
      std::sort(at, end, is_nearer);
      while (at != end) {
        some.clear();
        for (; at != end && some.size() < at_once; ++at) {
          if (query.is_beyond(at->value)) break;
          some.push_back(at->id);
        }
        query.compare(some);
        if (at != end && query.is_beyond(at->value)) return;
      }
    }
  }

  std::vector<std::uint32_t> objects_;
  std::vector<std::uint32_t> pivots_;
  std::vector<double> table_;  // [objects][pivots]
};

}  // namespace

std::unique_ptr<metric_structure> make_sss(metric_build const& from) {
  if (from.saved != nullptr) return std::make_unique<sss_index>(*from.saved);
  return std::make_unique<sss_index>(from);
}

}  // namespace rulerank::knn
