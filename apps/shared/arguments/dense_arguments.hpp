#pragma once

#include "apps/shared/arguments/fusion_arguments.hpp"
#include "apps/shared/session/session.hpp"
#include "features/pair_pool.hpp"

#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// --vectors --topic-vectors --candidates-from --dense-metric --fusion --fusion-norm --rrf-k
/// --run-weights.
struct dense_arguments {
  std::string vectors;
  std::string topic_vectors;
  std::string from;  ///< empty: both if there are vectors, else text
  std::string metric = "cosine";
  fusion_arguments fusion;

  void add_to(CLI::App& verb);
  /// Throws `usage_error` for options that require each other.
  void check(CLI::App const& verb) const;
  bool given() const { return !vectors.empty(); }
  bool by_text() const { return from != "dense"; }
  bool by_vectors() const { return given() && from != "text"; }
  std::vector<session::named_input> inputs() const;
  /// The search that finds the candidates.
  features::candidate_source source() const;
  /// The similarity's name as a feature.
  std::string feature() const;
};

}  // namespace rulerank::apps
