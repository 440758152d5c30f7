#pragma once

#include "apps/shared/session/session.hpp"

#include <string>

#include <CLI/CLI.hpp>

// How searches are split over MPI ranks: by queries or by parts of the collection.
namespace rulerank::inline v0::apps {

/// --over-ranks, and its paths.
struct over_ranks_argument {
  std::string how = "auto";

  void add_to(CLI::App& verb);
};

/// The source of a search's collection.
struct searched_paths {
  std::string collection;    ///< empty: the index exists
  std::string index;         ///< empty: the index is not stored
  double memory_a_byte = 1;  ///< bytes of memory for an index per byte of the collection's file
  /// The reason why the collection cannot be split, such as an option; empty: it can.
  std::string whole_for;
};

/// Whether this rank holds only a part of the collection. All ranks must call it together and get
/// the same answer, after inputs have been named. Throws `usage_error` for conflicting options.
bool splits_collection(session& owner, over_ranks_argument const& asked,
                       searched_paths const& paths);

/// Whether --index names parts that were made over ranks.
bool opens_parts(searched_paths const& paths);

/// The file, next to --index, for this rank's part of the index; empty if no index in parts is
/// made.
std::string part_written(session& owner, std::string const& collection, std::string const& index);

}  // namespace rulerank::apps
