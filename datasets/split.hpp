#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::datasets {

/// Which subsets, counted from 0, make a fold.
struct fold_subsets {
  std::vector<std::size_t> train;
  std::size_t vali = 0;
  std::size_t test = 0;
};

/// LETOR's rotation of the subsets S1..SK: fold N trains on S_N, S_N+1, ..., validates on the
/// subset before the last of that round and tests on the last, so with five folds train = S_N S_N+1
/// S_N+2, vali = S_N+3, test = S_N+4, modulo five (Qin et al. 2010, LETOR, section 4.1). `fold`
/// counts from 0. Throws `usage_error` for fewer than 3 folds.
fold_subsets letor_rotation(std::size_t fold, std::size_t folds);

/// How much a set holds.
struct set_size {
  std::size_t documents = 0;  ///< at least `queries`
  std::size_t queries = 0;
};

/// What was written of one fold.
struct written_fold {
  std::string folder;
  set_size train, vali, test;
  /// SHA-256 of train.txt, vali.txt and test.txt, where they were asked for.
  std::array<std::string, 3> sha256{};
};

struct split_options {
  std::size_t folds = 5;  ///< at least 3
  bool shuffle = true;    ///< false: subsets are runs of queries in the order of the file
};

/// Deals whole queries into `folds` subsets whose numbers of queries differ by at most one:
/// indexes into `data.queries`, ascending in each subset. `ctx.seed` draws. Throws `error` naming
/// the data set when it has fewer queries than folds.
std::vector<std::vector<std::size_t>> split_queries(context const& ctx, dataset const& data,
                                                    split_options const& options);

/// One fold as documents of the data set, in the order in which `write_split` writes them.
struct fold_documents {
  std::vector<std::size_t> train, vali, test;
};

/// LETOR's folds of a split, without files. `subset` takes their documents. Throws as above.
std::vector<fold_documents> split_folds(context const& ctx, dataset const& data,
                                        split_options const& options);

/// Writes `folder`/FoldN/{train,vali,test}.txt for N = 1..folds, lines verbatim and, within a
/// subset, in the order of the file. The folders are made. A fold's files appear together when they
/// are complete. Returns what the folds hold. Throws as above and `output_error`.
std::vector<written_fold> write_split(context const& ctx, dataset const& data,
                                      split_options const& options, std::string const& folder);
/// Writes folds that `split_folds` made; on request it returns checksums of the files.
std::vector<written_fold> write_folds(context const& ctx, dataset const& data,
                                      std::span<fold_documents const> folds,
                                      std::string const& folder, bool with_sha256 = false);

/// Makes `folder`/FoldN with its parents and returns its path; `fold` counts from 0.
std::string make_fold_folder(std::string const& folder, std::size_t fold);

}  // namespace rulerank::datasets
