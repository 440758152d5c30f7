#include "datasets/split.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/random.hpp"
#include "core/sha256.hpp"
#include "datasets/svmlight/write.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <span>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

void check_folds(std::size_t folds) {
  if (folds < 3)
    throw usage_error(fmt::format(
        "found {}, expected at least 3, because training, validation and test set differ",
        counted(folds, "fold")));
}

}  // namespace

fold_subsets letor_rotation(std::size_t fold, std::size_t folds) {
  check_folds(folds);
  fold_subsets subsets;
  for (std::size_t i = 0; i + 2 < folds; ++i) subsets.train.push_back((fold + i) % folds);
  subsets.vali = (fold + folds - 2) % folds;
  subsets.test = (fold + folds - 1) % folds;
  return subsets;
}

std::vector<std::vector<std::size_t>> split_queries(context const& ctx, dataset const& data,
                                                    split_options const& options) {
  check_folds(options.folds);
  std::size_t const queries = data.queries.size();
  if (queries < options.folds)
    throw error({data.name, 1, 1},
                fmt::format("found {}, expected at least {}, one for each fold",
                            counted(queries, "query", "queries"), options.folds));
  std::vector<std::size_t> order(queries);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (options.shuffle) {
    random_engine engine(ctx.seed);
    shuffle(std::span(order), engine);
  }
  // The first subsets get one query more if the numbers do not divide.
  std::vector<std::vector<std::size_t>> subsets(options.folds);
  auto next = order.begin();
  for (std::size_t p = 0; p < options.folds; ++p) {
    auto const size = static_cast<std::ptrdiff_t>(queries / options.folds +
                                                  (p < queries % options.folds ? 1 : 0));
    subsets[p].assign(next, next + size);
    std::sort(subsets[p].begin(), subsets[p].end());
    next += size;
  }
  return subsets;
}

std::vector<fold_documents> split_folds(context const& ctx, dataset const& data,
                                        split_options const& options) {
  auto const subsets = split_queries(ctx, data, options);
  auto const add = [&](std::size_t subset, std::vector<std::size_t>& to) {
    for (std::size_t const q : subsets[subset])
      for (std::size_t d = data.queries[q].begin; d < data.queries[q].end; ++d) to.push_back(d);
  };
  std::vector<fold_documents> folds(options.folds);
  for (std::size_t fold = 0; fold < options.folds; ++fold) {
    fold_subsets const roles = letor_rotation(fold, options.folds);
    for (std::size_t const subset : roles.train) add(subset, folds[fold].train);
    add(roles.vali, folds[fold].vali);
    add(roles.test, folds[fold].test);
  }
  return folds;
}

std::vector<written_fold> write_split(context const& ctx, dataset const& data,
                                      split_options const& options, std::string const& folder) {
  return write_folds(ctx, data, split_folds(ctx, data, options), folder);
}

std::vector<written_fold> write_folds(context const& ctx, dataset const& data,
                                      std::span<fold_documents const> folds,
                                      std::string const& folder, bool with_sha256) {
  std::uint64_t const total = data.size() * folds.size();
  std::uint64_t done = 0;
  // Query by query, each in file order.
  auto const write_set = [&](std::span<std::size_t const> documents, output_file& out) {
    set_size size;
    write_header(data, out);
    for (std::size_t i = 0; i < documents.size();) {
      auto const query =
          std::ranges::upper_bound(data.queries, documents[i], {}, &query_group::end);
      std::size_t const begin = i;
      while (i < documents.size() && documents[i] >= query->begin && documents[i] < query->end) ++i;
      write_records(data, documents.subspan(begin, i - begin), out);
      ++size.queries;
      size.documents += i - begin;
      done += i - begin;
      ctx.report("split", done, total);
    }
    return size;
  };
  std::vector<written_fold> written;
  for (std::size_t fold = 0; fold < folds.size(); ++fold) {
    std::string const path = make_fold_folder(folder, fold);
    std::array<sha256, 3> sums;
    auto const open = [&](char const* name, sha256& sum) {
      std::function<void(std::string_view)> observe;
      if (with_sha256) observe = [&sum](std::string_view bytes) { sum.update(bytes); };
      return output_file(path + name, std::move(observe));
    };
    output_file train = open("/train.txt", sums[0]);
    output_file vali = open("/vali.txt", sums[1]);
    output_file test = open("/test.txt", sums[2]);
    written_fold& sizes = written.emplace_back(written_fold{path, {}, {}, {}});
    sizes.train = write_set(folds[fold].train, train);
    sizes.vali = write_set(folds[fold].vali, vali);
    sizes.test = write_set(folds[fold].test, test);
    for (output_file* const file : {&train, &vali, &test}) file->flush();
    for (output_file* const file : {&train, &vali, &test}) file->commit();
    if (with_sha256) std::ranges::transform(sums, sizes.sha256.begin(), &sha256::hex);
  }
  return written;
}

std::string make_fold_folder(std::string const& folder, std::size_t fold) {
  std::string const path =
      (std::filesystem::path(folder) / fmt::format("Fold{}", fold + 1)).string();
  make_folders(path);
  return path;
}

}  // namespace rulerank::datasets
