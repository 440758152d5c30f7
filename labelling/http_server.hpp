#pragma once

#include "core/context.hpp"
#include "labelling/label_service.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace rulerank::inline v0::labelling {

/// Where a server listens.
struct listen_address {
  std::string host = "127.0.0.1";  ///< an IP address
  std::uint16_t port = 8420;       ///< 0: any that is free
};

/// `127.0.0.1:8420`, `[::1]:8420`, `localhost:8420`. Throws `usage_error` for anything else.
listen_address listen_address_from(std::string const& text);
/// Whether nobody on another machine reaches it.
bool is_loopback(listen_address const& address);
/// What a browser's Host may be for it, in small letters.
std::vector<std::string> hosts_of(listen_address const& address);

/// Serves HTTP/1.1 until `done()` holds after a response was sent. Then it accepts no connection
/// and reads no request, and ends when the responses to earlier requests were sent, or after 5 s. A
/// response to HEAD has no body. A connection is closed when its request is not there within 30 s,
/// has a head of more than 8 KiB or a body of more than `most_body`. At most 64 are open, fewer
/// where the process has few file descriptors (16 stay free): another one takes the place of that
/// which has waited longest for its client, so that clients who send or take nothing do not keep
/// others out. `handle` is
/// called in threads of the server's own, at most two at once, so that one slow answer does not
/// hold the others; `run` returns when they have ended. Throws `output_error` where it cannot
/// listen, `interrupted` within a second of a stop request (if `handle` heeds it, too), and what
/// `handle` throws.
class http_server {
 public:
  /// Listens from now on.
  explicit http_server(listen_address const& address);
  ~http_server();
  http_server(http_server const&) = delete;
  http_server& operator=(http_server const&) = delete;

  /// With the port that it has.
  listen_address const& address() const noexcept;
  void run(context const& ctx, std::function<http_response(http_request const&)> const& handle,
           std::function<bool()> const& done);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rulerank::labelling
