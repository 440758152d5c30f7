#pragma once

#include "apps/shared/session/session.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/options_json.hpp"

#include <string_view>

#include <nlohmann/json.hpp>

namespace rulerank::inline v0::apps {

/// Notes in the manifest whether a model's scores are portable, and says so after `subject` where
/// they, or its features, are not.
inline void note_portability(session& owner, l2r::portability const& of,
                             std::string_view subject = {}) {
  nlohmann::ordered_json const notes = l2r::to_json(of);
  for (auto const& [key, value] : notes.items()) owner.note(key, value);
  if (!of.portable || of.normalized_features > 0) owner.say(std::string(subject) + of.words);
}

}  // namespace rulerank::apps
