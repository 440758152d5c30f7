#pragma once

#include "al/partition.hpp"
#include "al/partition_loops.hpp"
#include "al/sampling_setup.hpp"
#include "core/engine_registry.hpp"

#include <functional>
#include <memory>
#include <vector>

// The construction of engines, and the loops that they share.
namespace rulerank::inline v0::al {

/// All partitions of a sampling. Null: each is made when it starts and freed when it is done.
using shared_partitions = std::shared_ptr<std::vector<partition> const>;

/// The unit of work that the context's threads divide among themselves.
enum class threads_share : std::uint8_t {
  nothing,     ///< one thread, one partition at a time
  documents,   ///< the documents of one partition at a time
  partitions,  ///< one partition per thread, or the documents of a single partition
};

/// An engine: how rules are counted in a partition, and how partitions are processed.
struct sampling_engine {
  /// Makes a counter. The first call creates what the counters of a sampling share, and stores it
  /// here.
  std::function<std::unique_ptr<rule_counter>(sampling_setup const& setup, partition const& part)>
      make_counter;
  threads_share threads = threads_share::documents;
  /// Whether counters respect `partition::counted`, so that processes can split documents.
  bool counts_shares = true;
  /// If not null, the loops run on the context's GPUs, without counters.
  std::unique_ptr<partition_loops> (*make_loops_on_gpus)(sampling_setup const& setup) = nullptr;
};

/// `on_gpus`: whether GPUs are available.
using engine_maker = sampling_engine (*)(bool on_gpus);
/// The registry of the module's engines.
engine_registry<engine, engine_maker>& registered_engines();  // engine.cpp

/// Loops with a counter for each partition. Keeps references to the arguments.
std::unique_ptr<partition_loops> make_counted_loops(sampling_setup const& setup,
                                                    sampling_engine const& engine,
                                                    shared_partitions parts);  // counted_loops.cpp

/// Splits the partitions over the context's processes: as many as make whole rounds go to one
/// process each. The others are processed by all processes together, if the engine can count a
/// share of documents.
void share_out(sampling_setup& setup, sampling_engine const& engine);  // shared_loops.cpp

/// Combines the loops of all processes: each process's choices are broadcast, so that every process
/// has the choices of a single-process run. All processes must make the same calls.
std::unique_ptr<partition_loops> make_shared_loops(
    sampling_setup const& setup,
    std::unique_ptr<partition_loops> of_process);  // shared_loops.cpp

/// Whether the processes split the documents of a partition, and this process's range of documents.
bool shares_documents(sampling_setup const& setup, std::size_t q);
index_range documents_of_process(process_group const& group, std::size_t documents);

/// The context for a single partition or query.
context alone(context const& ctx, sampling_engine const& engine);

/// Makes all partitions in parallel.
std::vector<partition> make_partitions(sampling_setup const& setup);

}  // namespace rulerank::al
