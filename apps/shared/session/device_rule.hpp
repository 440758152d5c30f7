#pragma once

#include <cstdint>
#include <string>

// What --device auto goes by: a rule of the size of the work, the same on every machine. Its
// constants were fitted once to measurements (bench/results/2026-11-22-auto); nothing is calibrated
// when the program runs.
namespace rulerank::inline v0::apps {

/// The seconds that one CPU thread takes, by the default engine.
double sampling_seconds(double documents, double features);
double ranking_seconds(double training, double tests, double features, std::uint32_t rule_size);
/// `terms`: of all queries together.
double search_seconds(double documents, double terms);
double dense_search_seconds(double rows, double dimensions, double queries);

/// What a search takes one CPU thread, by the index that `auto` takes, and a GPU, beside CUDA's
/// start.
struct search_work {
  double thread_s = 0;
  double gpu_s = 0;
};
/// Of words under the edit distance; the radius of a search for the nearest is infinite.
search_work word_search_work(double words, double queries, double radius);
/// Of vectors under another metric.
search_work metric_search_work(double rows, double dimensions, double queries, bool l2);

/// Whether GPUs are worth CUDA's start, beside so many threads. `gpu_seconds`: of the work on a
/// GPU, where it is not far less than that of the threads.
bool worth_gpus(double thread_seconds, int threads, double gpu_seconds = 0);

/// Whether the machine has a GPU, without starting CUDA.
bool has_gpu();

/// A word of English and what is behind it.
inline constexpr double bytes_a_term = 6;

/// The bytes of text of a file that is not read yet, about as many where it is compressed; of a
/// stream or a folder some 100 MB.
double bytes_ahead(std::string const& path);

}  // namespace rulerank::apps
