#include "apps/shared/session/device_rule.hpp"

#include <cmath>
#include <filesystem>
#include <system_error>

namespace rulerank::inline v0::apps {

namespace {

/// CUDA's start takes 0.32 s a command; what the CPU does in this time and a little more is not
/// worth it.
constexpr double worth_s = 0.5;

/// Work a second of a thread, at which the choice is right: documents x features of sampling; words
/// of 64 training documents x itemsets x documents of ranking; documents x terms of search.
constexpr double sampling_rate = 3.2e7;
constexpr double ranking_rate = 3.5e10;
constexpr double search_rate = 5e10;
/// Rows x dimensions x queries of dense vectors, in batches of 128 queries; one query takes longer,
/// and so does copying the rows to a GPU for it.
constexpr double dense_rate = 4e10;
/// Pairs of a query and a word that a search gets through, which passes most over: for some
/// nearest, within 2 and more, and within less (bench/results/2026-11-23-metric-gpu,
/// -edit-distance).
constexpr double nearest_word_rate = 1e9;
constexpr double word_rate = 1.8e9;
constexpr double near_word_rate = 7.5e9;
/// Rows x dimensions x queries of vectors under a metric: in an index that excludes two thirds of
/// the objects (lc for the 10 nearest, bench/results/2026-11-23-metric), and under l2 by dense
/// search (the 10 nearest, bench/results/2026-11-23-metric-dense).
constexpr double metric_rate = 7e9;
constexpr double l2_rate = 2.1e10;

/// The same of one H200, from queries to answers on the host (bench/results/2026-11-23-metric-gpu):
/// the slowest there, of k nearest words for 32, of ranges within 3, of vectors that return .1 %.
constexpr double gpu_nearest_word_rate = 3e10;
constexpr double gpu_word_rate = 7e9;
constexpr double gpu_metric_rate = 4e11;

/// Of gzip and zstd, about: LETOR's files give 4.5 to 4.8 bytes for one.
constexpr double unpacked_a_byte = 4;

}  // namespace

double sampling_seconds(double documents, double features) {
  return documents * features / sampling_rate;
}

double ranking_seconds(double training, double tests, double features, std::uint32_t rule_size) {
  double itemsets = 0, of_size = 1;  // the sum of C(features, k) for k < rule_size
  for (std::uint32_t k = 1; k < rule_size && k <= features; ++k) {
    of_size *= (features - k + 1) / k;
    itemsets += of_size;
  }
  return tests * itemsets * std::ceil(training / 64) / ranking_rate;
}

double search_seconds(double documents, double terms) {
  return documents * terms / search_rate;
}

double dense_search_seconds(double rows, double dimensions, double queries) {
  return rows * dimensions * queries / dense_rate;
}

search_work word_search_work(double words, double queries, double radius) {
  double const pairs = words * queries;
  if (std::isinf(radius)) return {pairs / nearest_word_rate, pairs / gpu_nearest_word_rate};
  return {pairs / (radius < 2 ? near_word_rate : word_rate), pairs / gpu_word_rate};
}

search_work metric_search_work(double rows, double dimensions, double queries, bool l2) {
  double const values = rows * dimensions * queries;
  return {values / (l2 ? l2_rate : metric_rate), values / gpu_metric_rate};
}

bool worth_gpus(double thread_seconds, int threads, double gpu_seconds) {
  return thread_seconds / threads > worth_s + gpu_seconds;
}

bool has_gpu() {
  std::error_code none;
  return std::filesystem::exists("/dev/nvidiactl", none) ||
         std::filesystem::exists("/dev/dxg", none);  // of Windows, below Linux
}

double bytes_ahead(std::string const& path) {
  constexpr double unknown = 1e8;
  std::error_code none;
  if (path == "-" || !std::filesystem::is_regular_file(path, none)) return unknown;
  auto const bytes = std::filesystem::file_size(path, none);
  if (none) return unknown;
  bool const packed = path.ends_with(".gz") || path.ends_with(".zst");
  return static_cast<double>(bytes) * (packed ? unpacked_a_byte : 1);
}

}  // namespace rulerank::apps
