#pragma once

#include "knn/fusion.hpp"

#include <string>

namespace CLI {
class App;
}

namespace rulerank::inline v0::apps {

/// How runs are fused: the method, the normalization of scores, the k of rrf, the weights of the
/// runs.
struct fusion_arguments {
  knn::fusion_options chosen;
  std::string method{knn::name_of(knn::fusion_method::rrf)};
  std::string norm{knn::name_of(knn::score_norm::min_max)};

  /// Also adds --rrf-k and --run-weights. `method_option`, `norm_option`: the options' names in
  /// this verb.
  void add_to(CLI::App& verb, std::string const& method_option, std::string const& norm_option);
  /// Throws `usage_error` for options that the method does not use.
  knn::fusion_options options(CLI::App const& verb) const;

 private:
  std::string method_option_, norm_option_;
};

}  // namespace rulerank::apps
