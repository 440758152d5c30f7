#pragma once

#include "server/http_server.hpp"
#include "server/ranking/model_store.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rulerank::inline v0::server {

/// Counts of values up to each bound, as Prometheus has them.
class histogram {
 public:
  explicit histogram(std::span<double const> bounds);
  void add(double value);
  /// Appends the lines of a metric; `labels`: such as `stage="score"`, or empty.
  void append_to(std::string& text, std::string_view name, std::string_view labels) const;

 private:
  std::span<double const> bounds_;
  std::vector<std::uint64_t> counts_;  // [bounds + 1] by bucket
  double sum_ = 0;
};

/// The stages of a request, in seconds.
enum class stage : std::uint8_t { queue, parse, score, write, total };

/// Counts and times of the server since its start. Several threads may call all functions at once.
class metrics {
 public:
  metrics();
  void add(stage of, double seconds);
  void add_list(std::size_t documents);
  /// `joined`: requests that were scored together, `scored::joined_calls`.
  void add_batch(std::size_t joined);
  /// `route`: a path of the server, or `other`.
  void add_response(std::string_view route, int status);
  /// The text that Prometheus reads. `devices`: ordinals of the GPUs in use.
  std::string text(http_load const& load, std::vector<model_store::entry> const& models,
                   std::span<int const> devices) const;

 private:
  static constexpr std::array<std::string_view, 5> stages{"queue", "parse", "score", "write",
                                                          "total"};
  mutable std::mutex mutex_;        // guards all
  std::vector<histogram> seconds_;  // [stages]
  histogram list_documents_, batch_requests_;
  std::map<std::pair<std::string, int>, std::uint64_t> responses_;
};

}  // namespace rulerank::server
