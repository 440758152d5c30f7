#include "apps/shared/arguments/fusion_arguments.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "core/named_values.hpp"

#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void fusion_arguments::add_to(CLI::App& verb, std::string const& method_option,
                              std::string const& norm_option) {
  method_option_ = method_option;
  norm_option_ = norm_option;
  help_group const group(verb, "Fusion");
  word_option(verb, method_option + " NAME", method, knn::fusion_method_names(),
              "Fusion by ranks: rrf, isr; by scores: combsum, combmnz, combanz, combmax, combmin, "
              "combmed");
  word_option(verb, norm_option + " NAME", norm, knn::score_norm_names(),
              "Normalization of each query's scores for a fusion by scores: " +
                  list_of_names(knn::score_norm_names()));
  number_option(verb, "--rrf-k", chosen.rrf_k, "rrf: k of the score 1 / (k + rank)", {0, 1e9});
  number_option(verb, "--run-weights X,...", chosen.weights,
                "Weight of each run, 0 or larger, in their order", {0, 1e9})
      ->delimiter(',')
      ->default_str("1 each");
}

knn::fusion_options fusion_arguments::options(CLI::App const& verb) const {
  knn::fusion_options all = chosen;
  all.method = knn::fusion_method_from(method);
  all.norm = knn::score_norm_from(norm);
  if (knn::ignores_scores(all.method) && verb.count(norm_option_) > 0)
    throw usage_error(fmt::format("{} has no effect with {} {}, which uses ranks alone",
                                  norm_option_, method_option_, method));
  if (all.method != knn::fusion_method::rrf && verb.count("--rrf-k") > 0)
    throw usage_error(
        fmt::format("--rrf-k cannot be combined with {} {}, expected rrf", method_option_, method));
  return all;
}

}  // namespace rulerank::apps
