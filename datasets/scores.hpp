#pragma once

#include "core/context.hpp"
#include "core/output_file.hpp"
#include "datasets/dataset.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::datasets {

/// A file of scores as read.
struct score_list {
  std::string name;               ///< the path, for messages
  std::vector<double> values;     ///< finite
  std::vector<std::string> qids;  ///< RankLib's first column; empty for one number per line
  /// RankLib's second column, 0-based; empty for one number per line.
  std::vector<std::uint64_t> index;
  std::vector<std::uint64_t> line_numbers;
};

/// Reads one number per line, RankLib's three columns (qid, index within the query, score), or,
/// after a header, CatBoost's two (ascending document number from 0, and score); plain, .gz or
/// .zst, "-" for standard input; empty lines are ignored. Throws `error` with line and column for a
/// number of columns that differs from the first line, for an invalid number, for NaN and infinity,
/// and for a file without scores.
score_list read_scores(context const& ctx, std::string const& path);

/// Reads the scores of a test set's documents and returns them in its order. The file must be in
/// the order of the test file's lines. Throws as `read_scores`, and `error` for fewer or more
/// scores than documents, and if RankLib's qids or indices are not those of the documents.
std::vector<double> read_scores_of(context const& ctx, std::string const& path,
                                   dataset const& test);

/// Writes a test set's scores in the order of its file's lines, one number per line, the shortest
/// that reads back as the same double. Throws `usage_error` if the numbers of scores and documents
/// differ.
void write_scores(dataset const& test, std::span<double const> scores, output_file& out);
/// Returns this text.
std::string scores_text(dataset const& test, std::span<double const> scores);

}  // namespace rulerank::datasets
