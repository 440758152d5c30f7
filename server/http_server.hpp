#pragma once

#include "core/context.hpp"
#include "server/http.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::server {

/// The address that a server listens on.
struct listen_address {
  std::string host = "127.0.0.1";  ///< an IP address
  std::uint16_t port = 8420;       ///< 0: any free port
};

/// Parses `127.0.0.1:8420`, `[::1]:8420`, `localhost:8420`. Throws `usage_error` for anything else.
listen_address listen_address_from(std::string const& text);
/// Whether the address is reachable only from this machine.
bool is_loopback(listen_address const& address);
/// The Host fields, in lower case, that browsers may send for the address. `has_tls`: of a server
/// with TLS.
std::vector<std::string> hosts_of(listen_address const& address, bool has_tls = false);

/// Paths of PEM files for TLS; an empty certificate: no TLS.
struct tls_files {
  std::string certificate;   ///< the server's, with its chain
  std::string key;           ///< of the certificate
  std::string client_roots;  ///< authorities of client certificates; empty: clients need none
};

/// A request and the response that was sent.
struct http_exchange {
  std::string remote{}, method{}, target{};
  int status = 0;
  std::size_t request_bytes = 0, response_bytes = 0;  ///< of the bodies
  double wait_s = 0;                                  ///< from the end of the request to a worker
  double total_s = 0;  ///< from the end of the request's head to the end of the response
};

/// The server's current load. Any thread may read it.
struct http_load {
  std::atomic<std::size_t> connections{0};  ///< open
  std::atomic<std::size_t> queued{0};       ///< requests that wait for a worker
  std::atomic<std::size_t> body_bytes{0};   ///< announced by the requests in progress
};

struct http_options {
  std::size_t workers = 2;     ///< threads that call `handle`
  std::size_t io_threads = 1;  ///< threads that read requests and write responses
  std::size_t most_connections = 64;
  std::size_t most_body = 4096;  ///< bytes of a request's body
  /// Bytes of the bodies of all requests in progress; a request that would exceed it gets 503. A
  /// body of unknown length counts as `most_body`.
  std::size_t most_body_bytes = std::numeric_limits<std::size_t>::max();
  /// Requests that may wait for a worker; a further one gets 503 at once.
  std::size_t most_queued = std::numeric_limits<std::size_t>::max();
  /// A request that has waited longer for a worker gets 503.
  std::chrono::milliseconds most_wait = std::chrono::hours{1};
  header_fields fields{};  ///< of every response
  tls_files tls{};
  /// Called with the head of a request that has a body before memory is reserved for the body. A
  /// response refuses the request. May be empty. All I/O threads call it at once: must not block.
  std::function<std::optional<http_response>(http_request const& head)> refuse_head{};
  /// Makes the response to a request that does not reach `handle`; empty: the reason as text. All
  /// threads of the server call it at once.
  std::function<http_response(int status, std::string_view why)> refuse{};
  /// Called after each response. May be empty. All I/O threads call it at once: must not block.
  std::function<void(http_exchange const&)> log{};
  /// On request, `run` ends as after `done()`.
  std::stop_token drain{};
};

/// Serves HTTP/1.1 until `done()`, which I/O threads call, holds after a response was sent, or
/// `options.drain` is requested.
/// It then accepts no further connection and closes those without a request. It ends when the
/// requests that have begun were answered, or after 5 s. A response to HEAD has no body. Closes a
/// connection whose request does not arrive within 30 s, has a head of more than 8 KiB, or a body
/// of more than `most_body`. Fewer than `most_connections` are open if the process has few file
/// descriptors (16 stay free). A further connection replaces the one that has waited longest
/// for its client among those of one I/O thread, so idle clients cannot block others. Responses 503
/// have the field Retry-After. The server's own threads call `handle`, at most `workers` at once;
/// `run` returns after they end. Throws `output_error` if it cannot listen, `error` for TLS files,
/// `interrupted` within a second of a stop request (if `handle` also reacts to it), and what
/// `handle` throws.
class http_server {
 public:
  /// Starts to listen.
  explicit http_server(listen_address const& address, http_options options = {});
  ~http_server();
  http_server(http_server const&) = delete;
  http_server& operator=(http_server const&) = delete;

  /// The address with the actual port.
  listen_address const& address() const noexcept;
  http_load const& load() const noexcept;
  /// `handle` may move the body out of the request.
  void run(
      context const& ctx, std::function<http_response(http_request&)> const& handle,
      std::function<bool()> const& done = [] { return false; });

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rulerank::server
