#include "apps/shared/session/manifest.hpp"

#include "apps/shared/options/device_option.hpp"
#include "bitmaps/bit_kernels.hpp"
#include "core/error.hpp"
#include "core/machine.hpp"
#include "core/sha256.hpp"
#include "core/version.hpp"

#include <filesystem>
#include <fstream>

#include <sys/resource.h>

namespace rulerank::inline v0::apps {

namespace {

/// A pipe or standard input cannot be read again: only files on disk have a checksum.
nlohmann::ordered_json input_entry(std::string const& path, file_state const& read,
                                   std::map<std::string, std::string> const& known) {
  nlohmann::ordered_json entry{{"path", path}, {"sha256", nullptr}};
  std::error_code gone;
  if (path != "-" && std::filesystem::is_regular_file(path, gone))
    entry["sha256"] = known.contains(path) ? known.at(path) : sha256_of_file(path);
  if (path != "-" && file_state_of(path) != read)
    throw error({path, 0, 0}, "was changed since it was read, expected the same file to the end");
  return entry;
}

}  // namespace

nlohmann::ordered_json manifest_of(std::vector<std::string> const& command, context const& ctx,
                                   std::map<std::string, file_state> const& inputs,
                                   std::map<std::string, std::string> const& known) {
  machine const here = this_machine();
  nlohmann::ordered_json json;
  json["command"] = command;
  json["version"] = version;
  json["commit"] = commit();
  json["compiler"] = compiler;
  json["build_type"] = build_type;
  json["machine"] = {{"cpu", here.cpu},
                     {"cores", here.cores},
                     {"memory_bytes", here.memory},
                     {"instruction_set", bitmaps::instruction_set()}};
  json["device"] = name_of_devices(ctx.devices);
  json["threads"] = ctx.thread_count();
  json["seed"] = ctx.seed;
  json["inputs"] = nlohmann::ordered_json::array();
  for (auto const& [path, state] : inputs)
    json["inputs"].push_back(input_entry(path, state, known));
  return json;
}

std::uint64_t peak_memory_bytes() {
  // getrusage includes the memory of the process before exec, such as that of a Python that started
  // this program.
  std::ifstream status("/proc/self/status");
  std::uint64_t kilobytes = 0;
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace rulerank::apps
