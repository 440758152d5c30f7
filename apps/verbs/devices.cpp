#include "core/devices.hpp"

#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void add_devices(CLI::App& program, session& owner) {
  CLI::App* const verb = add_verb(
      program, owner, "devices", "List the devices that engines can run on",
      "rulerank devices --json", [&owner] {
        owner.outputs({{"the list", "-"}});
        device_list const list = list_devices();
        output_file out("-");
        if (owner.run.json) {
          nlohmann::ordered_json json;
          json["cpu_threads"] = owner.ctx().thread_count();
          json["cuda"] = nlohmann::ordered_json::array();
          for (device const& d : list.devices)
            json["cuda"].push_back({{"ordinal", d.ordinal},
                                    {"name", d.name},
                                    {"compute_capability", fmt::format("{}.{}", d.major, d.minor)},
                                    {"memory_bytes", d.memory},
                                    {"multiprocessors", d.multiprocessors}});
          json["without_code"] = nlohmann::ordered_json::array();
          for (device const& d : list.without_code)
            json["without_code"].push_back(
                {{"ordinal", d.ordinal}, {"name", d.name}, {"why", why_without_code(d)}});
          json["why_no_cuda"] = list.why_none;
          out.write(json_text_of(json));
        } else {
          out.write(fmt::format(
              "cpu      {}\n",
              counted(static_cast<std::uint64_t>(owner.ctx().thread_count()), "thread")));
          for (device const& d : list.devices)
            out.write(fmt::format("cuda:{}   {}, compute capability {}.{}, {:.1f} GiB, {} SMs\n",
                                  d.ordinal, d.name, d.major, d.minor,
                                  static_cast<double>(d.memory) / (1 << 30), d.multiprocessors));
          for (device const& d : list.without_code)
            out.write(fmt::format("cuda:{}   {}\n", d.ordinal, why_without_code(d)));
          if (list.devices.empty() && list.without_code.empty())
            out.write(fmt::format("cuda     0 devices ({})\n", list.why_none));
        }
        out.commit();
      });
  usual_options(*verb, {"--json"});
}

}  // namespace rulerank::apps
