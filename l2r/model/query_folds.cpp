#include "l2r/model/query_folds.hpp"

#include "core/random.hpp"

#include <numeric>
#include <random>
#include <span>

namespace rulerank::inline v0::l2r {

std::vector<std::size_t> deal_queries(std::uint64_t seed, std::size_t queries, std::size_t folds) {
  std::vector<std::size_t> order(queries), fold(queries);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (folds > 1) {
    std::seed_seq mixed{seed & 0xffffffff, seed >> 32};
    random_engine engine(mixed);
    shuffle(std::span(order), engine);
  }
  for (std::size_t i = 0; i < queries; ++i) fold[order[i]] = i % folds;
  return fold;
}

}  // namespace rulerank::l2r
