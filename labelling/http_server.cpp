#include "labelling/http_server.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <list>
#include <locale>
#include <memory>
#include <optional>
#include <utility>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

namespace rulerank::inline v0::labelling {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::seconds most_silence{30};
constexpr std::chrono::milliseconds stop_interval{50};
constexpr std::uint32_t most_head = 8192;
constexpr std::chrono::seconds last_responses{5};  // time for clients to receive their responses at
                                                   // the end
constexpr std::chrono::milliseconds descriptor_wait{50};
constexpr std::size_t most_connections = 64;
constexpr rlim_t spare_descriptors = 16;  // for files that `handle` opens
constexpr std::size_t workers = 2;

class connection;

/// State shared by the connections of one run. Only the thread of `io` uses it, except for
/// `handle`.
struct serving {
  std::function<http_response(http_request const&)> handle;
  std::function<bool()> done;
  asio::io_context& io;
  asio::thread_pool& pool;
  std::function<void()> end;    ///< called once when `done` holds
  std::size_t connections = 0;  ///< open connections
  std::size_t responses = 0;    ///< being computed or sent
  bool ending = false;
  std::list<connection*> waiting{};  ///< connections waiting for their client, longest first
  std::exception_ptr failure{};

  /// Called after a response was sent or failed.
  void response_ended() {
    --responses;
    if (!ending && done()) {
      ending = true;
      end();
    }
    if (ending && responses == 0) io.stop();
  }
};

/// The limit on open connections, given the descriptor opened last.
std::size_t connections_beside(int descriptor) {
  rlimit most{};
  if (::getrlimit(RLIMIT_NOFILE, &most) != 0) return most_connections;
  rlim_t const others = static_cast<rlim_t>(descriptor) + 1 + spare_descriptors;
  return std::clamp<std::size_t>(most.rlim_cur - std::min(others, most.rlim_cur), 1,
                                 most_connections);
}

std::string in_small_letters(boost::beast::string_view text) {
  return boost::algorithm::to_lower_copy(std::string(text), std::locale::classic());
}

http_request request_of(http::request<http::string_body> const& message) {
  http_request request{
      std::string(message.method_string()), std::string(message.target()), {}, message.body()};
  for (auto const& field : message) {
    std::string name = in_small_letters(field.name_string());
    std::string value =
        name == "host" ? in_small_letters(field.value()) : std::string(field.value());
    // Ignores fields that occur repeatedly: choosing one would be a guess.
    if (auto const [at, added] = request.fields.emplace(std::move(name), std::move(value)); !added)
      at->second.clear();
  }
  return request;
}

/// One browser's connection; serves requests in sequence.
class connection : public std::enable_shared_from_this<connection> {
 public:
  connection(tcp::socket socket, std::shared_ptr<serving> shared)
      : stream_(std::move(socket)), shared_(std::move(shared)) {
    ++shared_->connections;
  }
  ~connection() { leave(); }
  connection(connection const&) = delete;
  connection& operator=(connection const&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(most_head);
    parser_->body_limit(most_body);
    stream_.expires_after(most_silence);
    begin_to_wait();
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code error, std::size_t) {
                       self->end_to_wait();
                       if (self->is_open_) self->answer(error);
                     });
  }
  /// Closes this idle connection to admit another.
  void drop() {
    leave();
    stream_.close();
  }

 private:
  void begin_to_wait() { place_ = shared_->waiting.insert(shared_->waiting.end(), this); }
  void end_to_wait() {
    if (place_) shared_->waiting.erase(*place_);
    place_.reset();
  }
  void leave() {
    end_to_wait();
    if (std::exchange(is_open_, false)) --shared_->connections;
  }

  void answer(error_code error) {
    if (shared_->ending) return close();
    bool const is_http =
        error.category() == http::make_error_code(http::error::bad_method).category();
    if (error && (!is_http || error == http::error::end_of_stream)) return;
    ++shared_->responses;
    bool const long_body = error == http::error::body_limit;
    if (long_body || error == http::error::header_limit)
      return write({long_body ? 413 : 431, "text/plain", "the request is too large\n"}, false);
    if (error) return write({400, "text/plain", "this is not an HTTP request\n"}, false);
    bool const keep = parser_->get().keep_alive();
    asio::post(shared_->pool, [self = shared_from_this(), keep,
                               request = request_of(parser_->get())]() mutable {
      serving& shared = *self->shared_;
      http_response reply;
      std::exception_ptr failure;
      try {
        reply = shared.handle(request);
      } catch (...) {
        failure = std::current_exception();
      }
      // Continues, and destroys the connection, on the thread of `io`.
      asio::post(shared.io, [self = std::move(self), keep, reply = std::move(reply), failure] {
        if (!failure) return self->write(reply, keep);
        self->shared_->failure = failure;
        self->shared_->io.stop();
      });
    });
  }

  void write(http_response const& reply, bool keep) {
    response_ = {};
    response_.version(11);
    response_.result(static_cast<unsigned>(reply.status));
    for (auto const& [name, value] : security_fields()) response_.set(name, value);
    response_.set(http::field::content_type, reply.content_type);
    if (!reply.allow.empty()) response_.set(http::field::allow, reply.allow);
    response_.keep_alive(keep);
    response_.body() = reply.body;
    response_.prepare_payload();
    if (parser_->get().method() == http::verb::head) response_.body().clear();
    stream_.expires_after(most_silence);
    begin_to_wait();
    http::async_write(stream_, response_,
                      [self = shared_from_this(), keep](error_code error, std::size_t) {
                        self->end_to_wait();
                        self->shared_->response_ended();
                        if (error || !keep || !self->is_open_ || self->shared_->ending)
                          return self->close();
                        self->read();
                      });
  }

  void close() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  beast::tcp_stream stream_;
  std::shared_ptr<serving> shared_;
  bool is_open_ = true;
  std::optional<std::list<connection*>::iterator> place_;  ///< position among the waiting
                                                           ///< connections
  beast::flat_buffer buffer_{most_head + most_body};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
};

}  // namespace

listen_address listen_address_from(std::string const& text) {
  std::size_t const colon = std::min(text.rfind(':'), text.size());
  listen_address found;
  found.host = text.substr(0, colon);
  if (found.host.starts_with('[') && found.host.ends_with(']'))
    found.host = found.host.substr(1, found.host.size() - 2);
  if (found.host == "localhost") found.host = "127.0.0.1";
  char const* const end = text.data() + text.size();
  auto const [at, status] =
      std::from_chars(std::min(text.data() + colon + 1, end), end, found.port);
  error_code error;
  asio::ip::make_address(found.host, error);
  if (status != std::errc{} || at != end || error)
    throw usage_error(
        fmt::format("--listen: found '{}', expected ADDRESS:PORT, such as 127.0.0.1:8420", text));
  return found;
}

bool is_loopback(listen_address const& address) {
  return asio::ip::make_address(address.host).is_loopback();
}

std::vector<std::string> hosts_of(listen_address const& address) {
  bool const is_v6 = address.host.find(':') != address.host.npos;
  std::vector<std::string> hosts{is_v6 ? fmt::format("[{}]:{}", address.host, address.port)
                                       : fmt::format("{}:{}", address.host, address.port)};
  if (is_loopback(address)) hosts.push_back(fmt::format("localhost:{}", address.port));
  // Browsers omit the default port of http.
  constexpr std::uint16_t http_port = 80;
  if (address.port == http_port)
    for (std::size_t i = 0, n = hosts.size(); i < n; ++i)
      hosts.push_back(hosts[i].substr(0, hosts[i].rfind(':')));
  return hosts;
}

struct http_server::state {
  listen_address address;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer timer{io};
  asio::steady_timer pause{io};
  std::size_t most = most_connections;

  void accept(std::shared_ptr<serving> const& shared) {
    acceptor.async_accept([this, shared](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || shared->ending) return;
      if (error) return accept_later(shared);
      if (shared->connections >= most && !shared->waiting.empty()) shared->waiting.front()->drop();
      if (shared->connections < most)
        std::make_shared<connection>(std::move(socket), shared)->read();
      accept(shared);
    });
  }

  /// If no descriptor is free, the connection stays in the system's queue, which would report it
  /// again at once: waits before accepting.
  void accept_later(std::shared_ptr<serving> const& shared) {
    if (!shared->waiting.empty()) shared->waiting.front()->drop();
    pause.expires_after(descriptor_wait);
    pause.async_wait([this, shared](error_code error) {
      if (!error) accept(shared);
    });
  }

  /// Waits for responses to earlier requests, but not for clients that do not read them.
  void end() {
    error_code ignored;
    acceptor.close(ignored);
    pause.expires_after(last_responses);
    pause.async_wait([this](error_code error) {
      if (!error) io.stop();
    });
  }

  void watch(context const& ctx, std::shared_ptr<serving> const& shared) {
    timer.expires_after(stop_interval);
    timer.async_wait([this, &ctx, shared](error_code error) {
      if (error) return;
      try {
        ctx.check_stop();
      } catch (...) {
        shared->failure = std::current_exception();
        return io.stop();
      }
      watch(ctx, shared);
    });
  }
};

http_server::http_server(listen_address const& address) : state_(std::make_unique<state>()) {
  tcp::endpoint const at(asio::ip::make_address(address.host), address.port);
  error_code error;
  state_->acceptor.open(at.protocol(), error);
  if (!error) state_->acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) state_->acceptor.bind(at, error);
  if (!error) state_->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    throw output_error(
        fmt::format("cannot listen on {}:{}: {}, expected an address of this machine that is free",
                    address.host, address.port, error.message()));
  state_->most = connections_beside(state_->acceptor.native_handle());
  state_->address = {address.host, state_->acceptor.local_endpoint().port()};
}

http_server::~http_server() = default;

listen_address const& http_server::address() const noexcept {
  return state_->address;
}

void http_server::run(context const& ctx,
                      std::function<http_response(http_request const&)> const& handle,
                      std::function<bool()> const& done) {
  asio::thread_pool pool(workers);
  auto const shared =
      std::make_shared<serving>(serving{handle, done, state_->io, pool, [this] { state_->end(); }});
  state_->accept(shared);
  state_->watch(ctx, shared);
  state_->io.run();
  pool.stop();  // queued tasks are discarded
  pool.join();
  // Pending handlers and their connections are destroyed with the run.
  error_code ignored;
  state_->acceptor.close(ignored);
  state_->timer.cancel();
  state_->pause.cancel();
  if (shared->failure) std::rethrow_exception(shared->failure);
}

}  // namespace rulerank::labelling
