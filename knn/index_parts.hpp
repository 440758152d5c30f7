#pragma once

#include "core/process_group.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// An index in parts: files F.part0, F.part1, ... that processes write, each its own, and the file F
// that names them. Whoever opens F finds all parts of the run that wrote it, or an error.
//
// Threads: functions with a group are for the thread that uses it, the others for any.
namespace rulerank::inline v0::knn {

/// One of the files.
struct index_part {
  std::string path;
  std::uint64_t first = 0;  ///< item of the collection that is the part's first
  std::uint64_t items = 0;
  std::string sha256;  ///< of the file's first 64 bytes, which hold the checksum of its header
};

struct index_parts {
  std::vector<index_part> parts;
  std::uint64_t items = 0;  ///< of all
};

/// Whether a file is one that names parts: by its first bytes. False where it cannot be read.
bool is_index_in_parts(std::string const& path);

/// The file of a part.
std::string path_of_part(std::string const& path, std::size_t part);

/// Writes the file that names the parts, on the first process, once all processes have written
/// theirs to `path_of_part(path, rank)`. All call it together. `kind`: dense, metric or text.
/// Throws `output_error`.
void write_index_parts(process_group const& group, std::string const& path, std::string_view kind,
                       std::uint64_t items);

/// Reads a file that names parts. Throws `error` naming it where it is not that, is damaged, or is
/// of another kind.
index_parts read_index_parts(std::string const& path, std::string_view kind);

/// Throws `error` naming the file of a part that is not there, or is not the one that was written
/// with the others. Its own reader finds out about the rest of it.
void expect_part(index_part const& part);

/// Throws `error` naming the file of a part that holds another number of items than it should.
void expect_items(index_part const& part, std::uint64_t found);

/// Those of the parts that this process has: all, or where they are split over the processes of the
/// context every n-th of n processes.
std::vector<index_part> parts_here(context const& ctx, index_parts const& all, bool is_split);

}  // namespace rulerank::knn
