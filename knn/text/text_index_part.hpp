#pragma once

#include "core/process_group.hpp"
#include "knn/text/text_index.hpp"

#include <string>

// Threads: functions may be called from any number of threads at once.
namespace rulerank::inline v0::knn {

struct collection_source;
struct index_build_settings;

/// The part of a collection's index that a process of a group has: of documents that follow each
/// other, about as many as those of the other processes, which all call it with the same
/// arguments. Terms and their numbers, what weighs them, and the dictionary are those of the
/// whole collection. Throws as `build` does, and `usage_error` for vectors. It reads the
/// collection twice, but for its share of the bytes where a document is a line of a plain file.
struct text_index_part {
  static text_index build(context const& ctx, std::string const& collection,
                          text_index_options const& options, process_group const& group);
  /// Into a file, which the caller commits.
  static text_index_timings build(context const& ctx, std::string const& collection,
                                  text_index_options const& options, process_group const& group,
                                  output_file& file);
  /// Maps a file that `build` wrote, and no file of a whole index. Throws `error`.
  static text_index open(context const& ctx, std::string const& path);

 private:
  friend class text_index;
  /// An index of all documents or, where the settings have a group, of a part.
  static indexed_collection build_in_memory(context const& ctx, collection_source const& collection,
                                            text_index_options const& options,
                                            index_build_settings const& settings);
};

}  // namespace rulerank::knn
