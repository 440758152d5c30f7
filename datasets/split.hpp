#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::datasets {

/// The subsets of a fold, numbered from 0.
struct fold_subsets {
  std::vector<std::size_t> train;
  std::size_t vali = 0;
  std::size_t test = 0;
};

/// LETOR's rotation of the subsets S1..SK: fold N trains on S_N, S_N+1, ..., validates on the next
/// to last subset of this rotation and tests on the last. With five folds, train = S_N S_N+1 S_N+2,
/// vali = S_N+3, test = S_N+4, modulo five (Qin et al. 2010, LETOR, section 4.1). `fold` counts
/// from 0. Throws `usage_error` for fewer than 3 folds.
fold_subsets letor_rotation(std::size_t fold, std::size_t folds);

/// The size of a set.
struct set_size {
  std::size_t documents = 0;  ///< at least `queries`
  std::size_t queries = 0;
};

/// A written fold.
struct written_fold {
  std::string folder;
  set_size train, vali, test;
  /// SHA-256 of train.txt, vali.txt and test.txt, if requested.
  std::array<std::string, 3> sha256{};
};

struct split_options {
  std::size_t folds = 5;  ///< at least 3
  bool shuffle = true;    ///< false: subsets are consecutive queries in file order
};

/// Divides whole queries into `folds` subsets whose numbers of queries differ by at most one.
/// Returns indexes into `data.queries`, ascending in each subset. Uses `ctx.seed`. Throws `error`
/// naming the data set if it has fewer queries than folds.
std::vector<std::vector<std::size_t>> split_queries(context const& ctx, dataset const& data,
                                                    split_options const& options);

/// The documents of one fold, as indexes in the order in which `write_split` writes them.
struct fold_documents {
  std::vector<std::size_t> train, vali, test;
};

/// Returns LETOR's folds of a split, without files; `subset` extracts their documents. Throws as
/// above.
std::vector<fold_documents> split_folds(context const& ctx, dataset const& data,
                                        split_options const& options);

/// Writes `folder`/FoldN/{train,vali,test}.txt for N = 1..folds, with unchanged lines and, within a
/// subset, in file order. Makes the folders. A fold's files appear together when they are complete.
/// Returns the contents of the folds. Throws as above and `output_error`.
std::vector<written_fold> write_split(context const& ctx, dataset const& data,
                                      split_options const& options, std::string const& folder);
/// Writes the folds of `split_folds`; on request, returns checksums of the files.
std::vector<written_fold> write_folds(context const& ctx, dataset const& data,
                                      std::span<fold_documents const> folds,
                                      std::string const& folder, bool with_sha256 = false);

/// Makes `folder`/FoldN with its parents and returns its path; `fold` counts from 0.
std::string make_fold_folder(std::string const& folder, std::size_t fold);

}  // namespace rulerank::datasets
