#include "experiment/baselines.hpp"

#include "core/error.hpp"
#include "core/even_ranges.hpp"
#include "core/process_group.hpp"
#include "core/random.hpp"
#include "eval/evaluate.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace rulerank::inline v0::experiment {

std::vector<std::size_t> draw_documents(std::uint64_t seed, std::uint64_t fold, std::size_t draw,
                                        std::size_t documents, std::size_t size) {
  std::seed_seq mixed{seed & 0xffffffff, seed >> 32, fold, std::uint64_t{draw}};
  random_engine engine(mixed);
  std::vector<std::size_t> order(documents);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(std::span(order), engine);
  order.resize(std::min(size, documents));
  std::sort(order.begin(), order.end());
  return order;
}

ranking_feature best_feature(context const& ctx, datasets::dataset const& vali,
                             eval::measure const& by, eval::profile const& p) {
  std::vector<std::uint32_t> const features = datasets::listed_features(vali);
  ranking_feature const none{.value = -std::numeric_limits<double>::infinity()};
  ranking_feature best = none;
  index_range const own = own_range(ctx, features.size());
  for (std::size_t f = own.begin; f < own.end; ++f)
    for (bool const ascending : {false, true}) {
      std::vector<double> const scores = eval::feature_scores(vali, features[f], ascending);
      double const value =
          eval::evaluate(ctx, vali, scores, std::span(&by, 1), p).averages().front();
      if (value > best.value) best = {features[f], ascending, value};
    }
  // Among equally good features the first one remains, as with one process.
  if (has_processes(ctx))
    for (ranking_feature const& one : gather_values(*ctx.processes, std::exchange(best, none)))
      if (one.value > best.value) best = one;
  if (best.value == none.value)
    throw error({vali.name, 1, 1}, "no document lists a feature, expected one to rank by");
  if (!vali.names.empty()) best.name = datasets::name_of(best.feature, vali.names);
  return best;
}

}  // namespace rulerank::experiment
