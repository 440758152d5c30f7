#pragma once
// Decides from the size of the work whether it is worth a GPU, with the same rule on every machine.
// The constants were fitted once to measurements (bench/results/auto); nothing is calibrated at run
// time. The modules estimate their work: al/sampling_seconds.hpp, l2r/rules/ranking_seconds.hpp,
// knn/search_seconds.hpp.
//
// Threads: any thread may call these functions at any time.

namespace rulerank::inline v0 {

/// Returns whether GPUs save more time than CUDA takes to start. `thread_seconds`: the time of the
/// work on one CPU thread. `threads`: at least 1. `gpu_seconds`: the time of the work on a GPU; 0
/// if it is negligible.
bool worth_gpus(double thread_seconds, int threads, double gpu_seconds = 0);

/// Returns whether the machine has a GPU. Looks at the driver's device files and does not start
/// CUDA.
bool has_gpu();

}  // namespace rulerank
