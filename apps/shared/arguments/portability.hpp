#pragma once

#include "apps/shared/session/session.hpp"
#include "l2r/export/export.hpp"

#include <string>

namespace rulerank::inline v0::apps {

/// Notes in the manifest whether a model's scores are portable, and says so where they are not.
inline void note_portability(session& owner, l2r::model const& model) {
  bool const portable = l2r::is_portable(model);
  owner.note("portable", portable);
  if (!portable) owner.say(std::string(l2r::portability_words(false)));
}

}  // namespace rulerank::apps
