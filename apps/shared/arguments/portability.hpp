#pragma once

#include "apps/shared/session/session.hpp"
#include "l2r/export/export.hpp"

namespace rulerank::inline v0::apps {

/// Notes in the manifest whether a model's scores are portable, and says so where they, or its
/// features, are not.
inline void note_portability(session& owner, l2r::model const& model) {
  bool const portable = l2r::is_portable(model);
  owner.note("portable", portable);
  owner.note("features_normalized_within_queries", model.list_normalized.size());
  if (!portable || !model.list_normalized.empty()) owner.say(l2r::portability_words(model));
}

}  // namespace rulerank::apps
