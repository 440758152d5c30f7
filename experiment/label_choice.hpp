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

// Ways to choose the documents of a training set to label.
namespace rulerank::inline v0::experiment {

enum class way {
  all,       ///< every document
  chosen,    ///< the order of selective sampling
  random,    ///< documents at random
  queries,   ///< whole queries at random; from the last one as many documents as fit
  depth,     ///< the best documents of each query by one feature
  margin,    ///< nearest to another document by the mean score of a committee
  entropy,   ///< most evenly split vote of a committee
  variance,  ///< largest variance of a committee's scores
};
inline constexpr std::size_t way_count = 8;

std::string_view name_of(way w);
/// Throws `usage_error` that lists the names.
way way_from(std::string_view name);
std::vector<std::string_view> way_names();
/// Whether the way is random, so that draws differ.
bool is_drawn(way w);

struct way_options {
  rules::thresholds thresholds;  ///< of selective sampling, like the next two
  std::size_t partitions = 0;
  datasets::feature_order feature_order = datasets::feature_order::chi2;
  std::string feature_order_file;
};

struct chosen_documents {
  std::vector<std::size_t> documents;  ///< ascending
  std::string how;                     ///< further details, such as a rule size; may be empty
};

/// Chooses documents of one training set. A choice depends only on the set, the options, the way,
/// the number of documents, seed, fold and draw. Thread-safe once constructed.
class document_chooser {
 public:
  /// Keeps references to the arguments. `most`: the largest number of documents to request by
  /// `way::chosen`; 0: none.
  document_chooser(context const& ctx, datasets::dataset const& data,
                   datasets::binned_dataset const& items, way_options const& options,
                   std::size_t most, std::uint64_t fold);

  /// Chooses `count` documents, 1 to all. Reads the labels of chosen documents only.
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
  /// The order of selective sampling by rules of size 2, continued by larger rules, new items and
  /// random documents when these run out: each document once. Ties are broken by the seed.
  std::vector<al::choice> sampled_;
};

}  // namespace rulerank::experiment
