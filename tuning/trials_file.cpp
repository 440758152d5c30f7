#include "core/output_file.hpp"
#include "core/process_group.hpp"
#include "datasets/input/text_source.hpp"
#include "tuning/tuner.hpp"

#include <chrono>
#include <filesystem>
#include <utility>

namespace rulerank::inline v0::tuning {

trials_file::trials_file(tuner& t, std::string path, std::string fingerprint)
    : tuner_(t), path_(std::move(path)), fingerprint_(std::move(fingerprint)) {
  std::error_code status;
  if (path_.empty() || !std::filesystem::exists(path_, status)) return;
  found_ =
      tuner_.restore(datasets::read_file(path_, "trials that tune wrote"), fingerprint_, path_);
}

void trials_file::write() const {
  if (!path_.empty()) write_file(path_, tuner_.state(fingerprint_));
}

search_result trials_file::search(context const& ctx, std::size_t measure,
                                  search_options const& options,
                                  std::vector<candidate> const& defaults,
                                  std::vector<candidate> const& others) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds apart(5);
  clock::time_point written = clock::now() - apart;  // the first trial is written at once
  if (has_processes(ctx) && !std::exchange(told_, true)) {
    // All processes run the same search, so they must start with the same values.
    std::string const state = from_first(*ctx.processes, [&] { return tuner_.state({}); });
    if (!ctx.processes->is_first())
      found_ = tuner_.restore(state, {}, "the first process's trials");
  }
  search_result result;
  try {
    result = tuner_.search(ctx, measure, options, [&] {
      if (clock::now() - written < apart) return;
      write();
      written = clock::now();
    });
    tuner_.compare(ctx, measure, defaults, result);
    if (!others.empty()) tuner_.judge_beside(ctx, measure, others, result);
  } catch (...) {
    write();
    throw;
  }
  write();
  return result;
}

}  // namespace rulerank::tuning
