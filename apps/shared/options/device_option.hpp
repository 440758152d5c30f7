#pragma once

#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// The CUDA devices that a --device other than auto names. Throws `usage_error` for a malformed
/// value, `device_error` for missing devices.
std::vector<int> devices_named(std::string const& option);

/// For example `cpu`, `cuda:0` or `cuda:0,1`.
std::string name_of_devices(std::vector<int> const& ordinals);

}  // namespace rulerank::apps
