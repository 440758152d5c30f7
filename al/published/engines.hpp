#pragma once

namespace rulerank::inline v0::al {

/// Adds the engines of the source work, SSARP, PSSARP and PRSS, to `engines()`. Called before the
/// module's other functions; further calls add nothing.
void add_published_engines();

}  // namespace rulerank::al
