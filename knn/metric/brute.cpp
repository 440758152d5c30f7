#include "core/error.hpp"
#include "knn/metric/structure.hpp"

#include <algorithm>

namespace rulerank::knn {

namespace {

/// A part of a search has so many objects.
constexpr std::size_t objects_a_part = 1024;

/// Compares all objects.
class brute final : public metric_structure {
 public:
  explicit brute(std::vector<std::uint32_t> objects) : objects_(std::move(objects)) {}

  void search(metric_query& query) const override { query.compare(objects_); }
  /// Regions: 0 the database, r > 0 the objects from (r - 1) objects_a_part on.
  bool search_some(metric_query& query, search_part const& part, std::uint64_t,
                   std::vector<search_part>& left) const override {
    if (part.region == 0) {
      std::uint32_t region = 0;
      for (std::size_t i = 0; i < objects_.size(); i += objects_a_part) left.push_back({++region});
      return false;
    }
    std::size_t const begin = (part.region - 1) * objects_a_part;
    query.compare(
        std::span(objects_).subspan(begin, std::min(objects_a_part, objects_.size() - begin)));
    return false;
  }
  void save(structure_arrays& to) const override { to.put(objects_); }
  void insert(std::uint32_t object) override { objects_.push_back(object); }
  void erase(std::uint32_t object) override {
    objects_.erase(std::find(objects_.begin(), objects_.end(), object));
  }
  std::size_t size() const override { return objects_.size(); }

 private:
  std::vector<std::uint32_t> objects_;
};

}  // namespace

std::unique_ptr<metric_structure> make_brute(metric_build const& from) {
  return std::make_unique<brute>(from.saved != nullptr ? from.saved->objects()
                                                       : first_numbers(from.objects));
}

}  // namespace rulerank::knn
