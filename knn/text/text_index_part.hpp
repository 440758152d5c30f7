#pragma once

#include "core/process_group.hpp"
#include "knn/text/text_index.hpp"

#include <string>

// Threads: any thread may call these functions at any time.
namespace rulerank::inline v0::knn {

struct collection_source;
struct index_build_settings;

/// The index of the part of a collection that one process of a group holds: consecutive documents,
/// about as many as every other process has. Collective, with equal arguments on all processes.
/// Terms and their numbers, the statistics for weights, and the dictionary are those of the whole
/// collection. Throws as `build`, and `usage_error` for vectors. Reads the collection twice, or
/// only the process's share of the bytes if each document is a line of a plain file.
struct text_index_part {
  static text_index build(context const& ctx, std::string const& collection,
                          text_index_options const& options, process_group const& group);
  /// Builds into a file, which the caller commits.
  static text_index_timings build(context const& ctx, std::string const& collection,
                                  text_index_options const& options, process_group const& group,
                                  output_file& file);
  /// Maps a file that `build` wrote; rejects the file of a whole index. Throws `error`.
  static text_index open(context const& ctx, std::string const& path);

 private:
  friend class text_index;
  /// Builds an index of all documents or, if the settings have a group, of a part.
  static indexed_collection build_in_memory(context const& ctx, collection_source const& collection,
                                            text_index_options const& options,
                                            index_build_settings const& settings);
};

}  // namespace rulerank::knn
