#pragma once

namespace rulerank::inline v0::l2r {

/// Adds the published engines LRAR, PLRAR and PROFL (Freitas 2017) to `engines()`. Must be called
/// before the module's other functions; repeated calls add nothing.
void add_published_engines();

}  // namespace rulerank::l2r
