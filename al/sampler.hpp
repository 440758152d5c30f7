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

/// What counts the rules. All engines choose the same documents in the same order.
enum class engine {
  automatic,
  ssarp,   ///< as published, serial: every rule of every document recounted each iteration
           ///< (Freitas 2017, Algorithms 3 and 4)
  pssarp,  ///< the same with the documents in parallel (Algorithms 10 and 11)
  prss,    ///< the same on GPUs, a document a thread (Algorithms 12 to 14); in builds with CUDA
  delta,   ///< ours: only what the chosen document changed
};

using engine_info = rulerank::engine_info<engine>;

/// The engines of this build, with what each runs on. This and the two functions below may be
/// called from several threads at once.
std::span<engine_info const> engines();
std::string_view name_of(engine e);
/// The engine of that name; "auto": `automatic`. Throws `usage_error` that lists the names.
engine engine_from(std::string_view name);

/// Gives the label of a document (0 or more) at the moment it is chosen; called from one thread at
/// a time. What it throws ends the sampling.
using oracle = std::function<std::int32_t(std::size_t document)>;

struct sampler_options {
  /// Consequent included: itemsets of at most rule_size - 1 items. At 4 the chosen documents rank
  /// about as well as all; 3 chooses 2.5 to 3.7 times fewer, and the ranking loses
  /// (bench/results/rule-size).
  rules::rule_size rule_size = rules::size_to_choose;
  rules::thresholds thresholds;
  std::size_t partitions = 0;  ///< 0: one for every 12 features with items, rounded up
  /// Not empty: whole queries are chosen, query q has the documents from query_begin[q] up to
  /// query_begin[q + 1]; the first is 0, the last the number of documents. On the CPU.
  std::vector<std::size_t> query_begin;
  std::vector<std::size_t> feature_order;  ///< a permutation of the columns; empty: as they are
  std::size_t max_documents = 0;           ///< budget; 0: none; of whole queries as many as fit
  /// Whether to go on where the stop rule ends the sampling below the budget, until the budget is
  /// met or no document is left: see `reason`. Not for whole queries.
  bool fill_budget = false;
  /// [documents] Documents that tie are taken by descending key, and by a hash of key and index
  /// where keys are equal. Empty: by descending index, as published. See `tie_keys`.
  std::vector<std::uint64_t> tie_keys;
  al::engine engine = al::engine::automatic;
};

/// Why a document was chosen. The reasons follow each other in this order
/// (docs/reference/definitions.md, "Filling a budget").
enum class reason : std::uint8_t {
  rules,         ///< fewest rules of the size asked for
  larger_rules,  ///< fewest rules of a larger size
  new_items,     ///< most items that no chosen document has
  random,        ///< next in a seeded order
};

/// One document chosen in one partition. Of whole queries: partition 0 stands for all, and
/// iteration counts queries.
struct choice {
  std::size_t document = 0;
  std::size_t partition = 0;
  std::size_t iteration = 0;   ///< 0 for the partition's first document
  std::uint64_t rules = 0;     ///< its valid rules over the sample then; 0 for the first
  reason why = reason::rules;  ///< `new_items`, `random`: the three above are 0
  /// Size of the rules that chose the document; 0: no rule did.
  rules::rule_size rule_size = 0;
};

struct partition_report {
  std::size_t features = 0;
  std::size_t documents = 0;      ///< those with an item in the partition
  std::size_t iterations = 0;     ///< documents chosen
  std::size_t stopped_after = 0;  ///< documents chosen when the stop rule held; 0: it never did
  /// Rules that were valid and became invalid on the way (counted by `delta` alone).
  std::uint64_t rules_lost = 0;
  /// Of its loop, without making it ready; 0 where labels were given one by one.
  double seconds = 0;
};

struct sample {
  std::vector<std::size_t> documents;        ///< U: chosen documents, ascending, each once
  std::vector<choice> choices;               ///< in (iteration, partition) order
  std::vector<partition_report> partitions;  ///< of whole queries: one, for all
  /// Whether the stop rule ended the sampling by rules of the size asked for.
  bool ran_dry = false;
  al::engine engine = al::engine::automatic;  ///< that ran
};

/// Reduces a training set to the documents that bring new rules (docs/reference/definitions.md,
/// Sampling; Freitas 2017, Algorithms 3 and 4). Without `label_of` the labels are those of `data`.
/// With it, it is asked for the label of every document chosen; of whole queries, of those that
/// have none in `data`. Throws `usage_error` for options that make no sense, for memory that is not
/// there and for a chosen document without a label, `device_error` for GPUs that are not there or
/// too small.
///
/// Calls from several threads at once are independent of each other, on the CPU. The
/// caller must not let two calls with `delta` use the same GPU at once: its kernels wait for each
/// other, and those of two calls could wait for ever.
sample reduce(context const& ctx, datasets::binned_dataset const& data,
              sampler_options const& options, oracle const& label_of = {});

/// A key for each document (`sampler_options::tie_keys`): a hash of the seed, the document's query,
/// and its id, or its values where it has no id. So the keys do not depend on the order of the
/// documents. May be called from several threads at once.
std::vector<std::uint64_t> tie_keys(datasets::dataset const& data, std::uint64_t seed);

/// "rules", "rules-5" (larger rules, of that size), "items" or "random".
std::string describe_reason(choice const& of);

/// TSV with a header, a row for each choice: line, docid, partition, iteration, rules. Lines are
/// counted from 0 in the order of the input. `data`: the documents that were sampled.
/// `with_reasons` adds the column reason.
std::string choices_table(datasets::dataset const& data, sample const& chosen,
                          bool with_reasons = false);
/// The same of documents that lie in the order of the input; `docids`: of each choice.
std::string choices_table(sample const& chosen, std::span<std::string const> docids,
                          bool with_reasons = false);

}  // namespace rulerank::al
