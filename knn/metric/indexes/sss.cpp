// The SSS-Index: Brisaboa et al. 2006; Barrientos 2011, Algorithms 3 and 4. A table has the
// distance of each object to each pivot. A search reads codes of one or two bytes per distance
// (sss_codes.hpp), and the table itself only for the few objects that the codes leave undecided. It
// computes exactly as many distances as a search of the table.

#include "knn/metric/indexes/sss_codes.hpp"
#include "knn/metric/indexes/sss_pivots.hpp"
#include "knn/metric/indexes/structure.hpp"

#include <algorithm>
#include <array>

namespace rulerank::inline v0::knn {

namespace {

/// Reading a larger table would take longer than it saves.
constexpr std::size_t most_pivots = 256;
/// Objects per task.
constexpr std::size_t objects_a_task = 1024;
static_assert(objects_a_task % codes_a_block == 0);
/// Objects that are compared before the distance of the k-th is read again.
constexpr std::size_t rows_at_once = 16;

class sss_index final : public metric_structure {
 public:
  explicit sss_index(structure_reader& from) : objects_(from.objects()), pivots_(from.pivots()) {
    if (pivots_.size() > std::max<std::size_t>(objects_.size(), 1))
      throw usage_error("the index has more pivots than objects");
    table_ = from.distances(objects_.size() * pivots_.size());
    codes_ = pivot_codes(table_, pivots_.size());
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
    codes_ = pivot_codes(table_, pivots);
  }

  void search(metric_query& query) const override {
    std::vector<double> to_pivot(pivots_.size());
    query.measure(pivots_, to_pivot.data());
    search_rows(query, to_pivot, 0, objects_.size());
  }
  /// Regions: 0 the pivots, r > 0 the objects from (r - 1) objects_a_task on.
  bool search_some(metric_query& query, search_task const& task, std::uint64_t,
                   std::vector<search_task>& left) const override {
    if (task.region > 0) {
      std::size_t const begin = (task.region - 1) * objects_a_task;
      search_rows(query, *task.to_pivots, begin, std::min(begin + objects_a_task, objects_.size()));
      return false;
    }
    auto const to_pivot = std::make_shared<std::vector<double>>(pivots_.size());
    query.measure(pivots_, to_pivot->data());
    std::uint32_t region = 0;
    for (std::size_t i = 0; i < objects_.size(); i += objects_a_task)
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
  /// Tests an object with the table.
  bool excludes(metric_query const& query, std::vector<double> const& to_pivot,
                std::size_t i) const {
    double const* const row = table_.data() + i * pivots_.size();
    for (std::size_t p = 0; p < to_pivot.size(); ++p)
      if (query.is_beyond(query.rule().at_least(to_pivot[p], row[p], row[p]))) return true;
    return false;
  }
  /// Searches the objects of [first, last).
  void search_rows(metric_query& query, std::vector<double> const& to_pivot, std::size_t first,
                   std::size_t last) const {
    if (query.shrinks()) {
      search_nearest(query, to_pivot, first, last);
      return;
    }
    std::vector<std::uint32_t> left;
    for (auto const& one : codes_.within(query.rule(), to_pivot, query.bound(), first, last))
      if (one.is_sure || !excludes(query, to_pivot, one.place)) left.push_back(objects_[one.place]);
    query.compare(left);
  }
  /// Barrientos describes only searches by radius. Objects with the smallest bounds come first, so
  /// that the radius is small when the others follow.
  void search_nearest(metric_query& query, std::vector<double> const& to_pivot, std::size_t first,
                      std::size_t last) const {
    auto const bounds = codes_.bounds_of(query.rule(), to_pivot, first, last);
    std::array<std::size_t, 257> begin{};  // first object of each bucket, and the end
    for (std::uint16_t const apart : bounds.apart) ++begin[bucket_of(apart) + 1];
    for (std::size_t b = 0; b + 1 < begin.size(); ++b) begin[b + 1] += begin[b];
    std::vector<std::uint32_t> order(bounds.apart.size());
    auto next = begin;
    for (std::uint32_t i = 0; i < order.size(); ++i) order[next[bucket_of(bounds.apart[i])]++] = i;
    auto const is_nearer = [&](std::uint32_t a, std::uint32_t b) {
      return bounds.apart[a] != bounds.apart[b] ? bounds.apart[a] < bounds.apart[b] : a < b;
    };
    std::vector<std::uint32_t> some;
    for (std::size_t b = 0; b + 1 < begin.size(); ++b) {
      std::span const of_bucket(order.data() + begin[b], begin[b + 1] - begin[b]);
      if (of_bucket.empty()) continue;
      if (query.is_beyond(bounds.at_least(smallest_of_bucket(b)))) break;
      if (!codes_.are_whole()) std::sort(of_bucket.begin(), of_bucket.end(), is_nearer);
      for (std::uint32_t const i : of_bucket) {
        std::uint16_t const apart = bounds.apart[i];
        if (query.is_beyond(bounds.at_least(apart))) break;
        if (query.is_beyond(bounds.at_most(apart)) && excludes(query, to_pivot, first + i))
          continue;
        some.push_back(objects_[first + i]);
        if (some.size() < rows_at_once) continue;
        query.compare(some);
        some.clear();
      }
    }
    query.compare(some);
  }
  /// Objects are visited in 256 buckets of their codes.
  std::size_t bucket_of(std::uint16_t apart) const {
    return codes_.are_whole() ? apart : apart / std::size_t{256};
  }
  std::uint16_t smallest_of_bucket(std::size_t bucket) const {
    return static_cast<std::uint16_t>(codes_.are_whole() ? bucket : bucket * 256);
  }

  std::vector<std::uint32_t> objects_;
  std::vector<std::uint32_t> pivots_;
  std::vector<double> table_;  // [objects][pivots]
  pivot_codes codes_;
};

}  // namespace

std::unique_ptr<metric_structure> make_sss(metric_build const& from) {
  if (from.saved != nullptr) return std::make_unique<sss_index>(*from.saved);
  return std::make_unique<sss_index>(from);
}

}  // namespace rulerank::knn
