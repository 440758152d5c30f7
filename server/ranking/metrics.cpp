#include "server/ranking/metrics.hpp"

#include "core/append_format.hpp"
#include "core/devices.hpp"

#include <algorithm>
#include <fstream>

#include <unistd.h>

namespace rulerank::inline v0::server {

namespace {

constexpr std::array seconds_bounds{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                    0.05,   0.1,     0.25,   0.5,   1.0,    2.5,   5.0};
constexpr std::array documents_bounds{1.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0};
constexpr std::array requests_bounds{1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0};

void append_head(std::string& text, std::string_view name, std::string_view type,
                 std::string_view help) {
  append_format(text, "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

/// `bytes`: what to report of a device's memory.
void append_device_memory(std::string& text, std::string_view name, std::string_view help,
                          std::span<int const> devices,
                          std::size_t device_memory_use::*const bytes) {
  append_head(text, name, "gauge", help);
  for (int const ordinal : devices)
    if (auto const memory = memory_use_of(ordinal))
      append_format(text, "{}{{device=\"{}\"}} {}\n", name, ordinal, (*memory).*bytes);
}

/// 0 if the system does not say.
std::size_t resident_bytes() {
  std::size_t pages = 0, resident = 0;
  if (std::ifstream file("/proc/self/statm"); !(file >> pages >> resident)) return 0;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

histogram::histogram(std::span<double const> bounds)
    : bounds_(bounds), counts_(bounds.size() + 1) {}

void histogram::add(double value) {
  auto const at = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  ++counts_[static_cast<std::size_t>(at)];
  sum_ += value;
}

void histogram::append_to(std::string& text, std::string_view name, std::string_view labels) const {
  std::uint64_t count = 0;
  std::string_view const comma = labels.empty() ? "" : ",";
  for (std::size_t b = 0; b < bounds_.size(); ++b) {
    count += counts_[b];
    append_format(text, "{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, bounds_[b], count);
  }
  count += counts_.back();
  append_format(text, "{}_bucket{{{}{}le=\"+Inf\"}} {}\n", name, labels, comma, count);
  std::string const braces = labels.empty() ? "" : "{" + std::string(labels) + "}";
  append_format(text, "{0}_sum{1} {2}\n{0}_count{1} {3}\n", name, braces, sum_, count);
}

metrics::metrics()
    : seconds_(stages.size(), histogram(seconds_bounds)),
      list_documents_(documents_bounds),
      batch_requests_(requests_bounds) {}

void metrics::add(stage of, double seconds) {
  std::lock_guard const lock(mutex_);
  seconds_[static_cast<std::size_t>(of)].add(seconds);
}

void metrics::add_list(std::size_t documents) {
  std::lock_guard const lock(mutex_);
  list_documents_.add(static_cast<double>(documents));
}

void metrics::add_batch(std::size_t joined) {
  std::lock_guard const lock(mutex_);
  batch_requests_.add(static_cast<double>(joined));
}

void metrics::add_response(std::string_view route, int status) {
  std::lock_guard const lock(mutex_);
  ++responses_[{std::string(route), status}];
}

std::string metrics::text(http_load const& load, std::vector<model_store::entry> const& models,
                          std::span<int const> devices) const {
  std::string text;
  auto const gauge = [&](std::string_view name, std::string_view help, std::size_t value) {
    append_head(text, name, "gauge", help);
    append_format(text, "{} {}\n", name, value);
  };
  gauge("rulerank_connections", "Open connections.", load.connections);
  gauge("rulerank_queued_requests", "Requests that wait for a thread.", load.queued);
  gauge("rulerank_body_bytes", "Bytes of the bodies of requests in progress.", load.body_bytes);
  gauge("process_resident_memory_bytes", "Resident memory.", resident_bytes());
  append_device_memory(text, "rulerank_device_memory_used_bytes",
                       "Memory of the GPU in use by all programs.", devices,
                       &device_memory_use::used);
  append_device_memory(text, "rulerank_device_memory_bytes", "Memory of the GPU.", devices,
                       &device_memory_use::total);
  append_head(text, "rulerank_model_info", "gauge", "Loaded models.");
  for (model_store::entry const& one : models)
    if (one.model)
      append_format(text, "rulerank_model_info{{model=\"{}\",version=\"{}\",sha256=\"{}\"}} 1\n",
                    one.name, one.model->version, one.model->sha256);
  std::lock_guard const lock(mutex_);
  append_head(text, "rulerank_responses_total", "counter", "Responses by path and status.");
  for (auto const& [key, count] : responses_)
    append_format(text, "rulerank_responses_total{{path=\"{}\",status=\"{}\"}} {}\n", key.first,
                  key.second, count);
  append_head(text, "rulerank_stage_seconds", "histogram", "Time of requests by stage.");
  for (std::size_t s = 0; s < stages.size(); ++s)
    seconds_[s].append_to(text, "rulerank_stage_seconds",
                          "stage=\"" + std::string(stages[s]) + "\"");
  append_head(text, "rulerank_list_documents", "histogram", "Documents of ranked queries.");
  list_documents_.append_to(text, "rulerank_list_documents", "");
  append_head(text, "rulerank_batch_requests", "histogram",
              "Requests that were scored together, for each request.");
  batch_requests_.append_to(text, "rulerank_batch_requests", "");
  return text;
}

}  // namespace rulerank::server
