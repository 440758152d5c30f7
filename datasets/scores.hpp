#pragma once

#include "core/context.hpp"
#include "core/output_file.hpp"
#include "datasets/dataset.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::datasets {

/// A file of scores as read.
struct score_list {
  std::string name;                  ///< the path, for messages
  std::vector<double> values;        ///< finite
  std::vector<std::string> qids;     ///< RankLib's first column; empty for one number a line
  std::vector<std::uint64_t> index;  ///< RankLib's second column, 0-based; empty likewise
  std::vector<std::uint64_t> line_numbers;
};

/// Reads one number a line, RankLib's three columns (qid, index within the query, score), or below
/// its header CatBoost's two (number of the document from 0, which ascends, and score); plain,
/// .gz or .zst, "-" for standard input; blank lines are passed over. Throws `error` with line and
/// column for a number of columns other than the first line's, for what is not a number, for NaN
/// and infinity, and for a file without scores.
score_list read_scores(context const& ctx, std::string const& path);

/// The scores of a test set's documents, in its order.
/// The file has them in the order of the test file's lines. Beyond `read_scores`, throws `error`
/// when there are fewer or more scores than documents, and when RankLib's qids or indices are not
/// those of the documents.
std::vector<double> read_scores_of(context const& ctx, std::string const& path,
                                   dataset const& test);

/// Writes a test set's scores in the order of its file's lines, one number a line, the shortest
/// that reads back as the same double. Throws `usage_error` when there are not as many scores as
/// documents.
void write_scores(dataset const& test, std::span<double const> scores, output_file& out);
/// The same as text.
std::string scores_text(dataset const& test, std::span<double const> scores);

}  // namespace rulerank::datasets
