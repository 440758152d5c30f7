#pragma once

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "rules/thresholds.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::al {

/// The engines that count rules. All choose the same documents in the same order.
enum class engine {
  automatic,
  ssarp,   ///< as published, serial: recounts every rule of every document in each iteration
           ///< (Freitas 2017, Algorithms 3 and 4)
  pssarp,  ///< likewise, documents in parallel (Algorithms 10 and 11)
  prss,    ///< likewise on GPUs, a thread per document (Algorithms 12 to 14); in builds with CUDA
  delta,   ///< ours: updates only what the chosen document changed
};

using engine_info = rulerank::engine_info<engine>;

/// The engines of this build and their devices. This and the two functions below may be called from
/// several threads at once.
std::span<engine_info const> engines();
std::string_view name_of(engine e);
/// The engine of that name; "auto": `automatic`. Throws `usage_error` that lists the names.
engine engine_from(std::string_view name);

/// Returns the label of a document (0 or more) when it is chosen; not called concurrently. An
/// exception ends the sampling.
using oracle = std::function<std::int32_t(std::size_t document)>;

struct sampler_options {
  /// Includes the consequent: itemsets have at most rule_size - 1 items. With 4, the chosen
  /// documents rank about as well as all; 3 chooses 2.5 to 3.7 times fewer documents and ranks
  /// worse (bench/results/rule-size).
  rules::rule_size rule_size = rules::size_to_choose;
  rules::thresholds thresholds;
  std::size_t partitions = 0;  ///< 0: one per 12 features with items, rounded up
  /// If not empty, chooses whole queries, on the CPU: query q has the documents query_begin[q] ..
  /// query_begin[q + 1] - 1; the first entry is 0, the last the number of documents.
  std::vector<std::size_t> query_begin;
  std::vector<std::size_t> feature_order;  ///< a permutation of the columns; empty: the identity
  std::size_t max_documents = 0;           ///< budget; 0: none; for whole queries, as many as fit
  /// If the stop rule ends the sampling below the budget, continue until the budget is reached or
  /// no document is left: see `reason`.
  bool fill_budget = false;
  /// [documents] Tied documents are chosen by descending key; equal keys by a hash of key and
  /// index. Empty: by descending index, as published. See `tie_keys`.
  std::vector<std::uint64_t> tie_keys;
  al::engine engine = al::engine::automatic;
};

/// Why a document was chosen. The reasons apply in this order (docs/reference/definitions.md,
/// "Filling a budget").
enum class reason : std::uint8_t {
  rules,         ///< fewest rules of the requested size
  larger_rules,  ///< fewest rules of a larger size
  new_items,     ///< most items that no chosen document has
  random,        ///< next in a seeded random order
  remaining,     ///< in a whole query chosen after the rules ran dry
};

/// A document chosen in a partition. For whole queries: partition is 0, and iteration counts
/// queries.
struct choice {
  std::size_t document = 0;
  std::size_t partition = 0;
  std::size_t iteration = 0;   ///< 0 for the partition's first document
  std::uint64_t rules = 0;     ///< its valid rules over the sample at that time; 0 for the first
  reason why = reason::rules;  ///< for `new_items` and `random`, the three above are 0
  /// Size of the rules that chose the document; 0: chosen without rules.
  rules::rule_size rule_size = 0;
};

struct partition_report {
  std::size_t features = 0;
  std::size_t documents = 0;      ///< documents with an item in the partition
  std::size_t iterations = 0;     ///< documents chosen
  std::size_t stopped_after = 0;  ///< documents chosen when the stop rule applied; 0: it never did
  /// Number of rules that became invalid (only counted by `delta`).
  std::uint64_t rules_lost = 0;
  /// Duration of the loop, without its preparation; 0 if labels were given one by one.
  double seconds = 0;
};

struct sample {
  std::vector<std::size_t> documents;        ///< U: the chosen documents, ascending, distinct
  std::vector<choice> choices;               ///< in (iteration, partition) order
  std::vector<partition_report> partitions;  ///< for whole queries: a single one
  /// Whether the stop rule ended the sampling by rules of the requested size.
  bool ran_dry = false;
  al::engine engine = al::engine::automatic;  ///< the engine used
};

/// Reduces a training set to the documents that bring new rules (docs/reference/definitions.md,
/// Sampling; Freitas 2017, Algorithms 3 and 4). Uses the labels of `data`, or `label_of` if given:
/// it is called for every chosen document; for whole queries, only for those without a label in
/// `data`. Throws `usage_error` for invalid options, for insufficient memory, and for a chosen
/// document without a label, `device_error` for GPUs that are missing or too small.
///
/// Calls on the CPU may run concurrently. Two calls with `delta` must not use the same GPU at the
/// same time: its kernels wait for each other, and two calls could deadlock.
sample reduce(context const& ctx, datasets::binned_dataset const& data,
              sampler_options const& options, oracle const& label_of = {});

/// A key per document for `sampler_options::tie_keys`: a hash of the seed, the document's query,
/// and its id or, without an id, its values. Keys hence do not depend on the order of the
/// documents. May be called from several threads at once.
std::vector<std::uint64_t> tie_keys(datasets::dataset const& data, std::uint64_t seed);

/// The text of a reason: "rules", "rules-5" (larger rules of size 5), "items", "random" or
/// "remaining".
std::string describe_reason(choice const& of);

/// TSV with a header and a row per choice: line, docid, partition, iteration, rules. Lines count
/// from 0 in input order. `data`: the sampled documents. `with_reasons` adds the column reason.
std::string choices_table(datasets::dataset const& data, sample const& chosen,
                          bool with_reasons = false);
/// As above, for documents in input order; `docids`: [choices].
std::string choices_table(sample const& chosen, std::span<std::string const> docids,
                          bool with_reasons = false);

}  // namespace rulerank::al
