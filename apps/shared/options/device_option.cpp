#include "apps/shared/options/device_option.hpp"

#include "apps/shared/session/session.hpp"
#include "core/devices.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rulerank::inline v0::apps {

std::string name_of_devices(std::vector<int> const& ordinals) {
  return ordinals.empty() ? "cpu" : fmt::format("cuda:{}", fmt::join(ordinals, ","));
}

std::vector<int> devices_named(std::string const& option) {
  if (option == "cpu") return {};
  if (option != "cuda" && !option.starts_with("cuda:"))
    throw usage_error(
        fmt::format("--device: found '{}', expected auto, cpu, cuda or cuda:0,1,...", option));
  std::vector<int> ordinals;
  if (option.starts_with("cuda:"))
    for (std::string const& word : split_list(option.substr(5))) {
      int ordinal = -1;
      auto const [end, status] = std::from_chars(word.data(), word.data() + word.size(), ordinal);
      if (status != std::errc{} || end != word.data() + word.size() || ordinal < 0)
        throw usage_error(
            fmt::format("--device {}: found '{}', expected the number of a device", option, word));
      if (std::find(ordinals.begin(), ordinals.end(), ordinal) != ordinals.end())
        throw usage_error(fmt::format(
            "--device {}: found device {} twice, expected each device once", option, ordinal));
      ordinals.push_back(ordinal);
    }
  device_list const list = list_devices();
  if (list.devices.empty())
    throw device_error(fmt::format("--device {}: found no CUDA device: {}; use --device cpu",
                                   option, list.why_none));
  for (device const& one : list.without_code)
    if (std::ranges::find(ordinals, one.ordinal) != ordinals.end())
      throw device_error(fmt::format("--device {}: {}", option, why_without_code(one)));
  for (int const ordinal : ordinals)
    if (std::none_of(list.devices.begin(), list.devices.end(),
                     [&](device const& d) { return d.ordinal == ordinal; }))
      throw device_error(fmt::format(
          "--device {}: found no CUDA device {}; `rulerank devices` lists them", option, ordinal));
  if (ordinals.empty())
    for (device const& d : list.devices) ordinals.push_back(d.ordinal);
  return ordinals;
}

}  // namespace rulerank::apps
