#pragma once

#include "core/process_group.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// An index in parts: each process writes one of the files F.part0, F.part1, ..., and the file F
// lists them. Opening F gives all parts of the run that wrote it, or an error.
//
// Threads: only the thread that uses a group may call functions with it; any thread may call the
// others.
namespace rulerank::inline v0::knn {

/// One of the part files.
struct index_part {
  std::string path;
  std::uint64_t first = 0;  ///< the collection's number of the part's first item
  std::uint64_t items = 0;
  /// SHA-256 of the file's first 64 bytes, which contain the checksum of its header.
  std::string sha256;
};

struct index_parts {
  std::vector<index_part> parts;
  std::uint64_t items = 0;  ///< total
};

/// Returns whether a file lists parts, by its first bytes. False if it cannot be read.
bool is_index_in_parts(std::string const& path);

/// The path of a part file.
std::string path_of_part(std::string const& path, std::size_t part);

/// Writes the list of parts on the first process, after every process has written its part to
/// `path_of_part(path, rank)`. Collective. `kind`: dense, metric or text. Throws `output_error`.
void write_index_parts(process_group const& group, std::string const& path, std::string_view kind,
                       std::uint64_t items);

/// Reads a list of parts. Throws `error` naming the file if it is no such list, is damaged, or is
/// of another kind.
index_parts read_index_parts(std::string const& path, std::string_view kind);

/// Throws `error` naming the part file if it is missing or was not written together with the other
/// parts. Checks only the first bytes; the reader of the part checks the rest.
void expect_part(index_part const& part);

/// Throws `error` naming the part file if it holds a different number of items than the list says.
void expect_items(index_part const& part, std::uint64_t found);

/// Returns the parts that this process holds: all, or every n-th if the parts are split over the n
/// processes of the context.
std::vector<index_part> parts_here(context const& ctx, index_parts const& all, bool is_split);

}  // namespace rulerank::knn
