// success@k: 1 if a relevant document is among the first k ranks, else 0. In a tie of t documents
// with r relevant ones, j ranks contain none of them with probability C(t - r, j) / C(t, j).
#include "eval/groups.hpp"
#include "eval/measures.hpp"

#include <array>

namespace rulerank::inline v0::eval {

namespace {

double success_of(ranked_query const& query, conventions const& rules, std::size_t k) {
  double missed = 1;
  for_each_group(query, looked_at(query, k), [&](tie_group const& group) {
    auto const size = static_cast<double>(group.size());
    double const others = size - static_cast<double>(group.relevant(rules));
    if (others == size) return true;
    for (std::size_t j = 0; j < group.cut - group.begin && missed > 0; ++j)
      missed *= std::max(0.0, others - static_cast<double>(j)) / (size - static_cast<double>(j));
    return missed > 0;
  });
  return 1 - missed;
}

constexpr std::array<std::string_view, 1> success_aliases{"hit_rate"};

}  // namespace

constinit measure_definition const success{
    {"success", success_aliases, measure_kind::cutoff::required,
     "whether a relevant document is among the first k",
     "Craswell, Hawking and Robertson, Effective site finding "
     "using link anchor information, SIGIR 2001"},
    success_of};

}  // namespace rulerank::eval
