#include "apps/shared/search/over_ranks.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "core/process_group.hpp"
#include "datasets/input/text_source.hpp"
#include "knn/index_parts.hpp"
#include "mpi/collection_split.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void over_ranks_argument::add_to(CLI::App& verb) {
  word_option(verb, "--over-ranks", how, {"auto", "queries", "collection"},
              "Work that MPI ranks divide: the queries or the collection; auto: the collection "
              "for an index in parts and if a rank lacks the memory for all of it")
      ->group(machine_group);
}

bool opens_parts(searched_paths const& paths) {
  return paths.collection.empty() && knn::is_index_in_parts(paths.index);
}

bool splits_collection(session& owner, over_ranks_argument const& asked,
                       searched_paths const& paths) {
  mpi::communicator const& ranks = owner.ranks();
  if (ranks.size() == 1) return false;
  auto const how = mpi::shared_out_from(asked.how);
  bool const by_collection = how == mpi::shared_out::collection;
  if (paths.collection.empty()) {
    if (knn::is_index_in_parts(paths.index)) return how != mpi::shared_out::queries;
    if (by_collection)
      throw usage_error(
          fmt::format("--over-ranks collection: found {} in one file, expected an index in parts; "
                      "several ranks write one with --collection and --index",
                      paths.index));
    return false;
  }
  if (!paths.index.empty()) {
    if (!paths.whole_for.empty())
      owner.expect_one_process("--collection with --index and " + paths.whole_for);
    if (how == mpi::shared_out::queries)
      throw usage_error(
          "--over-ranks queries cannot be combined with --collection and --index, because ranks "
          "write an index in parts");
    return true;
  }
  if (!paths.whole_for.empty()) {
    if (by_collection)
      throw usage_error("--over-ranks collection cannot be combined with " + paths.whole_for);
    return false;
  }
  double const bytes = datasets::expected_text_bytes(paths.collection) * paths.memory_a_byte;
  return mpi::shares_collection(ranks, how, static_cast<std::uint64_t>(bytes));
}

std::string part_written(session& owner, std::string const& collection, std::string const& index) {
  if (collection.empty() || index.empty() || !has_processes(owner.ctx())) return {};
  return knn::path_of_part(index, static_cast<std::size_t>(owner.ctx().processes->rank()));
}

}  // namespace rulerank::apps
