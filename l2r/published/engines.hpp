#pragma once

namespace rulerank::inline v0::l2r {

/// Adds the engines of the source work, LRAR, PLRAR and PROFL, to `engines()`. Called before the
/// module's other functions; further calls add nothing.
void add_published_engines();

}  // namespace rulerank::l2r
