#pragma once

#include "al/partition.hpp"
#include "al/partition_loops.hpp"
#include "al/sampling_setup.hpp"
#include "core/engine_registry.hpp"

#include <functional>
#include <memory>
#include <vector>

// How an engine is made, and the loops that engines share.
namespace rulerank::inline v0::al {

/// All partitions of a sampling; may be null: each is then made when it starts and freed when it is
/// done.
using shared_partitions = std::shared_ptr<std::vector<partition> const>;

/// What the context's threads share among them.
enum class threads_share : std::uint8_t {
  nothing,     ///< one thread, a partition after the other
  documents,   ///< those of one partition, a partition after the other
  partitions,  ///< a partition each, or the documents where there is one alone
};

/// An engine: how rules are counted in a partition, and how partitions are taken.
struct sampling_engine {
  /// What counters of one sampling share is made by the first call and kept here.
  std::function<std::unique_ptr<rule_counter>(sampling_setup const& setup, partition const& part)>
      make_counter;
  threads_share threads = threads_share::documents;
  /// Whether counters go by `partition::counted`, so that processes can share out documents.
  bool counts_shares = true;
  /// Not null: the loops run on the context's GPUs, without counters.
  std::unique_ptr<partition_loops> (*make_loops_on_gpus)(sampling_setup const& setup) = nullptr;
};

/// `on_gpus`: whether there are GPUs to run on.
using engine_maker = sampling_engine (*)(bool on_gpus);
/// All engines of the module.
engine_registry<engine, engine_maker>& registered_engines();  // engine.cpp

/// Loops with a counter for each partition. What is referred to outlives them.
std::unique_ptr<partition_loops> make_counted_loops(sampling_setup const& setup,
                                                    sampling_engine const& engine,
                                                    shared_partitions parts);  // counted_loops.cpp

/// Shares out the partitions over the context's processes: as many as make whole rounds are one
/// process's each; those left are all processes' where the engine counts shares of documents.
void share_out(sampling_setup& setup, sampling_engine const& engine);  // shared_loops.cpp

/// The loops of all of the context's processes, from those of this one: what the others choose is
/// chosen here too, so that every process has the choices of one alone. All make the same calls.
std::unique_ptr<partition_loops> make_shared_loops(
    sampling_setup const& setup,
    std::unique_ptr<partition_loops> of_process);  // shared_loops.cpp

/// Whether the processes share out the documents of a partition, and this one's share of so many.
bool shares_documents(sampling_setup const& setup, std::size_t q);
index_range documents_of_process(process_group const& group, std::size_t documents);

/// The context for one partition, or one query, alone.
context alone(context const& ctx, sampling_engine const& engine);

/// All partitions, made side by side.
std::vector<partition> make_partitions(sampling_setup const& setup);

}  // namespace rulerank::al
