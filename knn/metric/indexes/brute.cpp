#include "core/error.hpp"
#include "knn/metric/indexes/dense_brute.hpp"
#include "knn/metric/indexes/structure.hpp"

#include <algorithm>
#include <optional>

namespace rulerank::inline v0::knn {

namespace {

/// Compares all objects; for several queries under l2 by dense search.
class brute final : public metric_structure {
 public:
  brute(context const& ctx, metric_space const& space, std::vector<std::uint32_t> objects)
      : space_(space), all_(space, std::move(objects)) {
    if (dense_brute::suits(space)) dense_.emplace(ctx, space, all_.objects());
  }

  void search(metric_query& query) const override {
    query.compare(all_);
    query.compare(added_);
  }
  std::optional<metric_work> search_all(context const& ctx, metric_queries const& queries,
                                        double radius, std::size_t k,
                                        take_answer const& take) const override {
    if (!dense_ || !dense_->search(ctx, queries, radius, k, take)) return {};
    return metric_work{std::uint64_t{size()} * queries.size()};
  }
  /// Regions: 0 the database, 1 the added objects, r > 1 part r - 2 of the others.
  bool search_some(metric_query& query, search_task const& task, std::uint64_t,
                   std::vector<search_task>& left) const override {
    if (task.region == 0) {
      for (std::uint32_t const one : query.parts_of(all_)) left.push_back({one + 2});
      if (!added_.empty()) left.push_back({1});
    } else if (task.region == 1) {
      query.compare(added_);
    } else {
      query.compare(all_, task.region - 2);
    }
    return false;
  }
  void save(structure_arrays& to) const override { to.put(objects()); }
  void insert(std::uint32_t object) override {
    added_.push_back(object);
    if (dense_) dense_->insert(object);
    // With this frequency, repeated layouts take only a few times as long as a single one.
    if (added_.size() > all_.objects().size() / 2) {
      all_ = metric_bucket(space_, objects());
      added_.clear();
    }
  }
  void erase(std::uint32_t object) override {
    if (dense_) dense_->erase(object);
    auto const at = std::find(added_.begin(), added_.end(), object);
    if (at != added_.end())
      added_.erase(at);
    else
      all_.erase(object);
  }
  std::size_t size() const override { return all_.objects().size() + added_.size(); }

 private:
  std::vector<std::uint32_t> objects() const {
    std::vector<std::uint32_t> some = all_.objects();
    some.insert(some.end(), added_.begin(), added_.end());
    return some;
  }

  metric_space const& space_;
  metric_bucket all_;
  std::vector<std::uint32_t> added_;  // since the last layout of `all_`
  std::optional<dense_brute> dense_;  // for vectors under l2
};

}  // namespace

std::unique_ptr<metric_structure> make_brute(metric_build const& from) {
  return std::make_unique<brute>(
      from.ctx, from.space,
      from.saved != nullptr ? from.saved->objects() : first_numbers(from.objects));
}

}  // namespace rulerank::knn
