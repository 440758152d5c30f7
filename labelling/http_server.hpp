#pragma once

#include "core/context.hpp"
#include "labelling/label_service.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace rulerank::inline v0::labelling {

/// The address that a server listens on.
struct listen_address {
  std::string host = "127.0.0.1";  ///< an IP address
  std::uint16_t port = 8420;       ///< 0: any free port
};

/// Parses `127.0.0.1:8420`, `[::1]:8420`, `localhost:8420`. Throws `usage_error` for anything else.
listen_address listen_address_from(std::string const& text);
/// Whether the address is reachable only from this machine.
bool is_loopback(listen_address const& address);
/// The Host fields, in lower case, that browsers may send for the address.
std::vector<std::string> hosts_of(listen_address const& address);

/// Serves HTTP/1.1 until `done()` holds after a response was sent. It then accepts no connection,
/// reads no request, and ends when the responses to earlier requests were sent, or after 5 s. A
/// response to HEAD has no body. Closes a connection whose request does not arrive within 30 s, has
/// a head of more than 8 KiB, or a body of more than `most_body`. At most 64 connections are open,
/// fewer if the process has few file descriptors (16 stay free). A further connection replaces the
/// one that has waited longest for its client, so idle clients cannot block others. The server's
/// own threads call `handle`, at most two at once, so that one slow response does not delay the
/// others; `run` returns after they end. Throws `output_error` if it cannot listen, `interrupted`
/// within a second of a stop request (if `handle` also reacts to it), and what `handle` throws.
class http_server {
 public:
  /// Starts to listen.
  explicit http_server(listen_address const& address);
  ~http_server();
  http_server(http_server const&) = delete;
  http_server& operator=(http_server const&) = delete;

  /// The address with the actual port.
  listen_address const& address() const noexcept;
  void run(context const& ctx, std::function<http_response(http_request const&)> const& handle,
           std::function<bool()> const& done);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rulerank::labelling
