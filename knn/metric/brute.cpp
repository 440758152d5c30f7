#include "core/error.hpp"
#include "knn/metric/structure.hpp"

#include <algorithm>

namespace rulerank::knn {

namespace {

/// Compares all objects.
class brute final : public metric_structure {
 public:
  explicit brute(std::vector<std::uint32_t> objects) : objects_(std::move(objects)) {}

  void search(metric_query& query) const override { query.compare(objects_); }
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
