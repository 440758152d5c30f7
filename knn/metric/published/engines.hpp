#pragma once

namespace rulerank::inline v0::knn {

/// Adds the published engines, those of Barrientos 2011 for GPUs, to `metric_engines()`. To be
/// called before the module's other functions; further calls have no effect.
void add_published_metric_engines();

}  // namespace rulerank::knn
