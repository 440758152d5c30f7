// MAP, MAP@k: the mean, over all relevant documents of the query, of the precision at each one's
// rank; documents not retrieved (or beyond k) count 0. Within a tie of t documents, r of them
// relevant, a rank is relevant with probability r / t, and then each rank of the tie above it with
// (r - 1) / (t - 1) (McSherry and Najork, ECIR 2008). gmMAP: its geometric mean over queries.
#include "eval/groups.hpp"
#include "eval/measures.hpp"

#include <array>

namespace rulerank::inline v0::eval {

namespace {

double average_precision_of(ranked_query const& query, conventions const& rules, std::size_t k) {
  if (query.relevant == 0) return rules.rules().no_relevant;
  double sum = 0;
  double above = 0;  // relevant documents before the group
  for_each_group(query, looked_at(query, k), [&](tie_group const& group) {
    auto const relevant = static_cast<double>(group.relevant(rules));
    if (relevant == 0) return true;
    auto const size = static_cast<double>(group.size());
    double const share = group.size() == 1 ? 0 : (relevant - 1) / (size - 1);
    for (std::size_t rank = group.begin; rank < group.cut; ++rank) {
      double const precision = (above + 1 + static_cast<double>(rank - group.begin) * share) /
                               static_cast<double>(rank + 1);
      sum += relevant / size * precision;
    }
    above += relevant;
    return true;
  });
  return sum / static_cast<double>(query.relevant);
}

constexpr std::array<std::string_view, 2> map_aliases{"ap", "map_cut"};
constexpr std::array<std::string_view, 2> geometric_aliases{"gm_map", "gmap"};

}  // namespace

constinit measure_definition const average_precision{
    {"MAP", map_aliases, measure_kind::cutoff::optional, "average precision",
     "Buckley and Voorhees, Evaluating evaluation measure stability, SIGIR 2000"},
    average_precision_of};

constinit measure_definition const geometric_map{
    {"gmMAP", geometric_aliases, measure_kind::cutoff::none,
     "average precision, its geometric mean over queries",
     "Robertson, On GMAP and other transformations, CIKM 2006", measure_kind::mean::geometric},
    average_precision_of};

}  // namespace rulerank::eval
