#include "core/error.hpp"
#include "core/sha256.hpp"
#include "experiment/experiment.hpp"
#include "experiment/labelled_set.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::experiment {

namespace {

void check_documents(std::vector<std::size_t> const& documents, std::size_t size) {
  if (std::ranges::any_of(documents, [&](std::size_t d) { return d >= size; }))
    throw usage_error("found a document of a fold outside the data set");
}

std::string checksum_of(datasets::dataset const& data, std::vector<std::size_t> const& documents) {
  sha256 sum;
  for (std::size_t const d : documents) {
    auto const query = std::ranges::upper_bound(data.queries, d, {}, &datasets::query_group::end);
    std::string line = fmt::format("{} {} {}", data.labels[d], query->qid, data.docid(d));
    for (datasets::feature_value const& entry : data.document(d))
      line += fmt::format(" {}:{}", entry.feature, entry.value);
    sum.update(line + "\n");
  }
  return sum.hex();
}

std::string checksum_of(std::vector<double> const& scores,
                        std::vector<std::size_t> const& documents) {
  sha256 sum;
  for (std::size_t const d : documents) sum.update(fmt::format("{}\n", scores[d]));
  return sum.hex();
}

}  // namespace

memory_folds::memory_folds(datasets::dataset const& data, std::vector<memory_fold> folds,
                           std::map<std::string, std::vector<double>> outside, bool drop_unlabelled)
    : data_(data),
      folds_(std::move(folds)),
      outside_(std::move(outside)),
      drop_unlabelled_(drop_unlabelled) {
  if (folds_.empty()) throw usage_error("found no folds, expected one or more");
  std::uint64_t before = 0;
  for (memory_fold const& fold : folds_) {
    if (std::exchange(before, fold.number) >= fold.number)
      throw usage_error("found numbers of folds that do not ascend from 1");
    for (auto const* const documents : {&fold.train, &fold.vali, &fold.test})
      check_documents(*documents, data_.size());
  }
  for (auto const& [name, scores] : outside_)
    if (scores.size() != data_.size())
      throw usage_error(fmt::format("found {} of '{}', expected one for each of {}",
                                    counted(scores.size(), "score"), name,
                                    counted(data_.size(), "document")));
}

std::map<std::string, std::string> memory_folds::checksums(std::size_t fold) const {
  memory_fold const& f = folds_[fold];
  if (!f.checksums.empty()) return f.checksums;
  std::map<std::string, std::string> sums{
      {fmt::format("Fold{}/train", f.number), checksum_of(data_, f.train)},
      {fmt::format("Fold{}/vali", f.number), checksum_of(data_, f.vali)},
      {fmt::format("Fold{}/test", f.number), checksum_of(data_, f.test)}};
  for (auto const& [name, scores] : outside_)
    sums[fmt::format("{}/Fold{}", name, f.number)] = checksum_of(scores, f.test);
  return sums;
}

data_reading memory_folds::reading() const {
  data_reading reading;
  if (drop_unlabelled_) reading.unlabelled = datasets::unlabelled;
  reading.drop_unlabelled = drop_unlabelled_;
  return reading;
}

datasets::dataset memory_folds::read(context const&, std::size_t fold, fold_set which,
                                     message_fn const&) const {
  memory_fold const& f = folds_[fold];
  datasets::dataset data = datasets::subset(data_, which == fold_set::train  ? f.train
                                                   : which == fold_set::vali ? f.vali
                                                                             : f.test);
  if (!drop_unlabelled_ || which == fold_set::test) return data;
  return labelled_set(std::move(data), which);
}

std::vector<double> memory_folds::scores(context const&, std::size_t fold,
                                         std::string const& system,
                                         datasets::dataset const&) const {
  auto const at = outside_.find(system);
  if (at == outside_.end())
    throw usage_error(fmt::format("found no scores of '{}' in the folds", system));
  std::vector<double> scores;
  for (std::size_t const d : folds_[fold].test) scores.push_back(at->second[d]);
  return scores;
}

}  // namespace rulerank::experiment
