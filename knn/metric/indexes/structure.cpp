#include "knn/metric/indexes/structure.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::size_t objects_at_once = 64;
constexpr std::size_t objects_a_range = 1024;

[[noreturn]] void refuse(char const* what) {
  throw usage_error(what);
}

}  // namespace

std::optional<datasets::vectors> metric_queries::as_vectors(std::size_t, std::size_t) const {
  return {};
}
std::optional<std::vector<std::string>> metric_queries::as_words(std::size_t, std::size_t) const {
  return std::nullopt;
}

void metric_query::compare(std::span<std::uint32_t const> objects) {
  std::array<double, objects_at_once> values{};
  evaluations_ += objects.size();
  for (std::size_t begin = 0; begin < objects.size(); begin += objects_at_once) {
    auto const some = objects.subspan(begin, std::min(objects_at_once, objects.size() - begin));
    double const limit = bound();
    origin_.compute(some, limit, values.data());
    for (std::size_t i = 0; i < some.size(); ++i)
      if (values[i] <= limit) offer(some[i], values[i]);
  }
}

std::vector<std::uint32_t> metric_query::parts_of(metric_bucket const& bucket) const {
  if (bucket.block() != nullptr) return bucket.block()->parts(origin_);
  return first_numbers((bucket.objects().size() + objects_a_range - 1) / objects_a_range);
}

void metric_query::compare(metric_bucket const& bucket, std::uint32_t part) {
  if (bucket.block() != nullptr) {
    evaluations_ += bucket.block()->compare_part(part, origin_, *this);
    return;
  }
  std::span const all(bucket.objects());
  std::size_t const begin = part * objects_a_range;
  compare(all.subspan(begin, std::min(objects_a_range, all.size() - begin)));
}

std::vector<metric_candidate>& metric_query::sorted() {
  if (nearest_) return nearest_->sorted();
  std::sort(within_.begin(), within_.end(), nearer<value_order::smaller_is_nearer>{});
  return within_;
}

std::uint32_t structure_reader::number() {
  if (numbers_.empty()) refuse("the index has fewer numbers than it needs");
  std::uint32_t const first = numbers_.front();
  numbers_ = numbers_.subspan(1);
  return first;
}
std::size_t structure_reader::count(std::size_t most) {
  std::size_t const found = number();
  if (found > most) refuse("a count of the index is too large");
  return found;
}
std::uint32_t structure_reader::pivot() {
  std::uint32_t const found = number();
  if (found >= seen_.size()) refuse("the index refers to an object that does not exist");
  return found;
}
std::uint32_t structure_reader::object() {
  std::uint32_t const found = pivot();
  if (seen_[found]) refuse("the index lists an object twice");
  seen_[found] = true;
  ++count_;
  return found;
}
std::vector<std::uint32_t> structure_reader::objects() {
  std::vector<std::uint32_t> some(count(numbers_.size() - (numbers_.empty() ? 0 : 1)));
  for (std::uint32_t& one : some) one = object();
  return some;
}
std::vector<std::uint32_t> structure_reader::pivots() {
  std::vector<std::uint32_t> some(count(numbers_.size() - (numbers_.empty() ? 0 : 1)));
  for (std::uint32_t& one : some) one = pivot();
  return some;
}
double structure_reader::distance() {
  return distances(1)[0];
}
std::vector<double> structure_reader::distances(std::size_t count) {
  if (count > distances_.size()) refuse("the index has fewer distances than it needs");
  std::vector<double> some(distances_.begin(),
                           distances_.begin() + static_cast<std::ptrdiff_t>(count));
  distances_ = distances_.subspan(count);
  for (double const one : some)
    if (!(one >= 0)) refuse("a distance of the index is negative or not a number");
  return some;
}
void structure_reader::expect_depth(std::size_t depth) const {
  if (depth > deepest) refuse("the tree of the index is too deep");
}
void structure_reader::expect_end() const {
  if (!numbers_.empty() || !distances_.empty()) refuse("the index has more numbers than it needs");
}

std::optional<metric_work> metric_structure::search_all(context const&, metric_queries const&,
                                                        double, std::size_t,
                                                        take_answer const&) const {
  return {};
}
void metric_structure::insert(std::uint32_t) {
  refuse("objects cannot be added to an index of this type");
}
void metric_structure::erase(std::uint32_t) {
  refuse("objects cannot be removed from an index of this type");
}

void distances_of(context const& ctx, metric_space const& space, std::uint32_t from,
                  std::span<std::uint32_t const> objects, std::span<double> values) {
  parallel_for(ctx, objects.size(), objects_a_range, [&](std::size_t begin, std::size_t end, int) {
    space.from(from)->compute(objects.subspan(begin, end - begin),
                              std::numeric_limits<double>::infinity(), values.data() + begin);
  });
}

std::vector<std::uint32_t> first_numbers(std::size_t n) {
  std::vector<std::uint32_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

double estimated_diameter(context const& ctx, metric_space const& space,
                          std::span<std::uint32_t const> objects, std::uint64_t& evaluations) {
  if (objects.empty()) return 0;
  std::vector<double> values(objects.size());
  std::uint32_t from = objects[0];
  for (int sweep = 0; sweep < 2; ++sweep) {
    distances_of(ctx, space, from, objects, values);
    evaluations += objects.size();
    auto const farthest = std::max_element(values.begin(), values.end());
    from = objects[static_cast<std::size_t>(farthest - values.begin())];
    if (sweep == 1) return *farthest;
  }
  return 0;
}

}  // namespace rulerank::knn
