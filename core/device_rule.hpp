#pragma once
// When a computation is worth a GPU: a rule of the size of the work, the same on every machine. The
// constants were fitted once to measurements (bench/results/auto); nothing is calibrated
// at run time. The modules estimate their work: al/sampling_seconds.hpp,
// l2r/rules/ranking_seconds.hpp, knn/search_seconds.hpp.
//
// Threads: functions may be called from any number of threads at once.

namespace rulerank::inline v0 {

/// Whether GPUs repay CUDA's start. `thread_seconds`: that one CPU thread needs for the work, of
/// which there are `threads`, at least 1. `gpu_seconds`: that a GPU needs for it; 0 where that is
/// far less than the threads need.
bool worth_gpus(double thread_seconds, int threads, double gpu_seconds = 0);

/// Whether the machine has a GPU. Looks at the driver's device files and does not start CUDA.
bool has_gpu();

}  // namespace rulerank
