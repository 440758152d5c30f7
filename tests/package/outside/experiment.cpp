// A cross-validation of a data set in memory: ranking by all training documents, by those chosen at
// rule size 3 and by as many drawn at random.
// Prints: 3 folds: full-rank-2, reduced-3-rank-2, random-3-rank-2, of [0-9]+ % of the documents
#include "experiment/experiment.hpp"

#include "core/context.hpp"
#include "datasets/sample.hpp"
#include "eval/measure.hpp"
#include "eval/profile.hpp"

#include <cstddef>
#include <iostream>
#include <vector>

using namespace rulerank;

int main() {
  context const ctx;
  auto const data = datasets::sample_documents(ctx, datasets::options_of(600, 5, 30, 3, 1));
  // A fold tests every third query and trains on the others.
  std::vector<experiment::memory_fold> folds(3);
  for (std::size_t f = 0; f < folds.size(); ++f) {
    folds[f].number = f + 1;
    for (std::size_t q = 0; q < data.queries.size(); ++q)
      for (std::size_t d = data.queries[q].begin; d < data.queries[q].end; ++d)
        (q % folds.size() == f ? folds[f].test : folds[f].train).push_back(d);
  }

  experiment::options what;
  what.settings.reduce_sizes = {3};
  what.settings.rank_sizes = {2};
  what.settings.feature = false;
  what.settings.measures = eval::parse_measures("NDCG@10");
  what.settings.profile = eval::make_profile("standard");
  auto const done = experiment::run(ctx, what, experiment::memory_folds(data, folds));

  std::cout << done.report.folds.size() << " folds: ";
  for (auto const& system : done.report.systems) std::cout << system.what.name << ", ";
  std::cout << "of " << static_cast<int>(100 * *done.report.systems[1].share)
            << " % of the documents\n";
}
