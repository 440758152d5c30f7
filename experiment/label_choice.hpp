#pragma once

#include "al/sampler.hpp"
#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/feature_order.hpp"
#include "rules/thresholds.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Ways to choose the documents of a training set whose labels are bought.
namespace rulerank::inline v0::experiment {

enum class way {
  all,       ///< every document
  chosen,    ///< the order of selective sampling
  random,    ///< documents at random
  queries,   ///< whole queries at random; of the last one as many documents as fit
  depth,     ///< of each query the best by one feature
  margin,    ///< nearest to another document by the mean score of a committee
  entropy,   ///< most evenly split vote of a committee
  variance,  ///< largest variance of a committee's scores
};
inline constexpr std::size_t way_count = 8;

std::string_view name_of(way w);
/// Throws `usage_error` that lists the names.
way way_from(std::string_view name);
std::vector<std::string_view> way_names();
/// Whether another draw may choose other documents.
bool is_drawn(way w);

struct way_options {
  rules::thresholds thresholds;  ///< of selective sampling, as what follows
  std::size_t partitions = 0;
  datasets::feature_order feature_order = datasets::feature_order::chi2;
  std::string feature_order_file;
};

struct chosen_documents {
  std::vector<std::size_t> documents;  ///< ascending
  std::string how;                     ///< what else is to be said, such as a rule size; or empty
};

/// Chooses documents of one training set. A choice is a function of the set, the options, the
/// way, the number of documents, seed, fold and draw alone. Once made, it may be used from several
/// threads at once.
class document_chooser {
 public:
  /// What is referred to outlives it. `most`: the largest number of documents that `way::chosen` is
  /// asked for; 0: it is not.
  document_chooser(context const& ctx, datasets::dataset const& data,
                   datasets::binned_dataset const& items, way_options const& options,
                   std::size_t most, std::uint64_t fold);

  /// `count` documents, 1 to all. Reads the labels of those alone.
  chosen_documents choose(context const& ctx, way w, std::size_t count, std::size_t draw) const;

 private:
  chosen_documents by_sampling(std::size_t count) const;
  std::vector<std::size_t> by_queries(std::uint64_t seed, std::size_t count,
                                      std::size_t draw) const;
  chosen_documents by_depth(std::uint64_t seed, std::size_t count, std::size_t draw) const;
  std::vector<std::size_t> by_committee(context const& ctx, way w, std::size_t count,
                                        std::size_t draw) const;

  datasets::dataset const& data_;
  datasets::binned_dataset const& items_;
  std::uint64_t fold_;
  /// What selective sampling chooses by rules of size 2 and, where these run dry, by larger rules,
  /// new items and at random: each document once, in the order of its choice. Ties are seeded.
  std::vector<al::choice> sampled_;
};

}  // namespace rulerank::experiment
