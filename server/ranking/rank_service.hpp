#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "server/http_server.hpp"
#include "server/ranking/metrics.hpp"
#include "server/ranking/model_store.hpp"
#include "server/ranking/rank_request.hpp"

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::server {

/// The candidates of a query as text.
struct found_documents {
  datasets::dataset pairs;
  std::vector<std::string> titles;  ///< [pairs]
};

/// The requests that `rulerank serve` answers, without sockets (docs/reference/verbs/serve.md lists
/// them). Several threads may call `handle` at once.
class rank_service {
 public:
  struct options {
    /// Where scores are computed; each request uses one CPU thread.
    context ctx{};
    std::string token{};  ///< of the field Authorization: Bearer; empty: none
    /// Hosts that requests may name, in lower case; empty: any. Keeps foreign pages from reading
    /// responses by DNS rebinding.
    std::vector<std::string> hosts{};
    /// Finds documents for a query; empty: no search. Several threads call it at once. Throws
    /// `error` if it finds none.
    std::function<found_documents(context const&, std::string const&)> search{};
    request_limits limits{};
  };
  /// Keeps references to `models`.
  rank_service(options how, model_store& models);

  /// `load`: of the server, for /metrics. Throws only `std::bad_alloc`.
  http_response handle(http_request& request, http_load const& load);
  /// The response to a request that must not send its body: 401, 403, 404, 405 or 421.
  std::optional<http_response> refusal_of(http_request const& head);
  /// Counts an exchange; called after each response.
  void count(http_exchange const& exchange);
  /// After this call /v2/health/ready responds with 503.
  void begin_to_drain() { draining_ = true; }

 private:
  struct route;
  static std::span<route const> routes();
  http_response respond(http_request& request, http_load const& load);
  void expect_allowed(http_request const& request, bool is_open) const;

  std::vector<double> score(served_model const& model, datasets::dataset const& documents);
  rank_request parse(http_request& request);
  http_response rank(http_request& request);
  http_response explain(http_request& request);
  http_response search(http_request& request);
  /// `words`: a name and, if the path has one, a version. Throws `problem` if another version is
  /// loaded.
  model_pointer model_of(std::span<std::string_view const> words) const;
  http_response infer(http_request& request, model_pointer const& model);
  http_response metadata(served_model const& model) const;
  http_response index() const;
  http_response page(std::string_view path) const;

  options how_;
  model_store& models_;
  metrics metrics_;
  std::atomic<bool> draining_{false};
};

}  // namespace rulerank::server
