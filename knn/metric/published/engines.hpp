#pragma once

namespace rulerank::inline v0::knn {

/// Adds the published engines, those of Barrientos 2011 for GPUs, to `metric_engines()`. To be
/// called before the module's other functions; further calls have no effect.
///
/// The engines of types lc and sss report the queries whose first radius contained too few objects
/// in `metric_gpu_work::counts` (`pending`). The evaluations of lc-shrinking vary between runs.
void add_published_metric_engines();

}  // namespace rulerank::knn
