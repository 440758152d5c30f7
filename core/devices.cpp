#include "core/devices.hpp"

#include "core/version.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace rulerank::inline v0 {

namespace {

constexpr int least_major = 8;  // required by the kernels' bit products

}  // namespace

#if RULERANK_HAS_CUDA
device_list list_cuda_devices();  // devices_cuda.cu
device_list list_devices() {
  device_list list = list_cuda_devices();
  std::erase_if(list.devices, [&](device const& one) {
    bool const lacks = !has_code_for(cuda_architectures, one.major, one.minor);
    if (lacks) list.without_code.push_back(one);
    return lacks;
  });
  if (list.devices.empty() && !list.without_code.empty())
    list.why_none = why_without_code(list.without_code.front());
  return list;
}
#else
device_list list_devices() {
  return {{}, {}, "built without CUDA"};
}
std::optional<device_memory_use> memory_use_of(int) {
  return {};
}
#endif

bool has_code_for(std::string_view architectures, int major, int minor) {
  constexpr std::string_view machine_code_only = "-real", ptx_only = "-virtual";
  int const capability = 10 * major + minor;
  while (!architectures.empty()) {
    std::string_view word = architectures.substr(0, architectures.find(';'));
    architectures.remove_prefix(std::min(word.size() + 1, architectures.size()));
    bool const has_ptx = !word.ends_with(machine_code_only);
    bool const has_machine_code = !word.ends_with(ptx_only);
    word = word.substr(0, word.find('-'));
    int compiled = 0;
    auto const [end, status] = std::from_chars(word.data(), word.data() + word.size(), compiled);
    if (status != std::errc{}) return true;
    if (end != word.data() + word.size()) {  // 90a, 120f: only this device or its family
      if (compiled == capability) return true;
      continue;
    }
    if (has_machine_code && compiled / 10 == major && compiled <= capability) return true;
    if (has_ptx && compiled <= capability) return true;
  }
  return false;
}

std::string why_without_code(device const& one) {
  std::string const what =
      fmt::format("{} (compute capability {}.{})", one.name, one.major, one.minor);
  if (one.major < least_major)
    return fmt::format("{} is too old: the kernels need compute capability {}.0 or later", what,
                       least_major);
  return fmt::format(
      "this program has no code for {}: it was compiled for {}; build it with "
      "-DCMAKE_CUDA_ARCHITECTURES={}{}",
      what, cuda_architectures, one.major, one.minor);
}

}  // namespace rulerank
