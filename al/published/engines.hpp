#pragma once

namespace rulerank::inline v0::al {

/// Adds the published engines SSARP, PSSARP and PRSS (Freitas 2017) to `engines()`. Must be called
/// before the module's other functions; repeated calls add nothing.
void add_published_engines();

}  // namespace rulerank::al
