#include "datasets/split.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/random.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <span>

#include <fmt/format.h>

namespace rulerank::datasets {

namespace {

void check_folds(std::size_t folds) {
  if (folds < 3)
    throw usage_error(
        fmt::format("{} folds, expected at least 3: train, validation and test differ", folds));
}

}  // namespace

fold_parts letor_rotation(std::size_t fold, std::size_t folds) {
  check_folds(folds);
  fold_parts parts;
  for (std::size_t i = 0; i + 2 < folds; ++i) parts.train.push_back((fold + i) % folds);
  parts.vali = (fold + folds - 2) % folds;
  parts.test = (fold + folds - 1) % folds;
  return parts;
}

std::vector<std::vector<std::size_t>> split_queries(context const& ctx, dataset const& data,
                                                    split_options const& options) {
  check_folds(options.folds);
  std::size_t const queries = data.queries.size();
  if (queries < options.folds)
    throw error({data.name, 1, 1}, fmt::format("found {} queries, expected at least {}, one a fold",
                                               queries, options.folds));
  std::vector<std::size_t> order(queries);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (options.shuffle) {
    random_engine engine(ctx.seed);
    shuffle(std::span(order), engine);
  }
  // The first parts get one more where the numbers do not divide.
  std::vector<std::vector<std::size_t>> parts(options.folds);
  auto next = order.begin();
  for (std::size_t p = 0; p < options.folds; ++p) {
    auto const size = static_cast<std::ptrdiff_t>(queries / options.folds +
                                                  (p < queries % options.folds ? 1 : 0));
    parts[p].assign(next, next + size);
    std::sort(parts[p].begin(), parts[p].end());
    next += size;
  }
  return parts;
}

std::vector<written_fold> write_split(context const& ctx, dataset const& data,
                                      split_options const& options, std::string const& folder) {
  auto const parts = split_queries(ctx, data, options);
  std::uint64_t const total = data.size() * options.folds;
  std::uint64_t done = 0;
  std::vector<std::size_t> documents;
  auto const write_part = [&](std::size_t part, output_file& out, part_size& size) {
    for (std::size_t const q : parts[part]) {
      documents.resize(data.queries[q].size());
      std::iota(documents.begin(), documents.end(), data.queries[q].begin);
      write_lines(data, documents, out);
      done += documents.size();
      size.documents += documents.size();
      ctx.report("split", done, total);
    }
    size.queries += parts[part].size();
  };
  std::vector<written_fold> written;
  for (std::size_t fold = 0; fold < options.folds; ++fold) {
    fold_parts const roles = letor_rotation(fold, options.folds);
    std::string const place = make_fold_folder(folder, fold);
    output_file train(place + "/train.txt"), vali(place + "/vali.txt"), test(place + "/test.txt");
    written_fold& sizes = written.emplace_back(written_fold{place, {}, {}, {}});
    for (std::size_t const part : roles.train) write_part(part, train, sizes.train);
    write_part(roles.vali, vali, sizes.vali);
    write_part(roles.test, test, sizes.test);
    train.commit();
    vali.commit();
    test.commit();
  }
  return written;
}

std::string make_fold_folder(std::string const& folder, std::size_t fold) {
  std::filesystem::path const place =
      std::filesystem::path(folder) / fmt::format("Fold{}", fold + 1);
  std::error_code status;
  std::filesystem::create_directories(place, status);
  if (status)
    throw output_error(fmt::format("{}: cannot be made: {}", place.string(), status.message()));
  return place.string();
}

}  // namespace rulerank::datasets
