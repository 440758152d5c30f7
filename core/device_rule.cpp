#include "core/device_rule.hpp"

#include <filesystem>
#include <system_error>

namespace rulerank::inline v0 {

bool worth_gpus(double thread_seconds, int threads, double gpu_seconds) {
  // CUDA takes 0.32 s to start in each command. Work that takes the CPU little more than that is
  // not worth it.
  constexpr double worth_s = 0.5;
  return thread_seconds / threads > worth_s + gpu_seconds;
}

bool has_gpu() {
  std::error_code none;
  return std::filesystem::exists("/dev/nvidiactl", none) ||
         std::filesystem::exists("/dev/dxg", none);  // Windows Subsystem for Linux
}

}  // namespace rulerank
