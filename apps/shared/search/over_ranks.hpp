#pragma once

#include "apps/shared/session/session.hpp"

#include <string>

#include <CLI/CLI.hpp>

// What searches share out over MPI ranks: the queries, or the collection.
namespace rulerank::inline v0::apps {

/// --over-ranks, and the paths that it is about.
struct over_ranks_argument {
  std::string how = "auto";

  void add_to(CLI::App& verb);
};

/// What a search has of a collection.
struct searched_paths {
  std::string collection;    ///< empty: the index was made before
  std::string index;         ///< empty: it is not kept
  double memory_a_byte = 1;  ///< that an index takes for a byte of the collection's file
  /// Why the collection cannot be split, such as an option; empty: it can.
  std::string whole_for;
};

/// Whether this rank has a part of the collection, and not all of it. All ranks call it together,
/// with the same answer; inputs have been named. Throws `usage_error` for what does not go
/// together.
bool splits_collection(session& owner, over_ranks_argument const& asked,
                       searched_paths const& paths);

/// Whether --index names parts that were made over ranks.
bool opens_parts(searched_paths const& paths);

/// The file that this rank writes its part of the index to, beside --index; empty where an index in
/// parts is not made.
std::string part_written(session& owner, std::string const& collection, std::string const& index);

}  // namespace rulerank::apps
