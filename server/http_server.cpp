#include "server/http_server.hpp"

#include "core/error.hpp"
#include "core/stopwatch.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <exception>
#include <iterator>
#include <list>
#include <locale>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

namespace rulerank::inline v0::server {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::seconds most_silence{30};
constexpr std::chrono::milliseconds stop_interval{50};
constexpr std::uint32_t most_head = 8192;
constexpr std::size_t read_bytes = 65536;          // the most that Beast reads at once
constexpr std::chrono::seconds last_responses{5};  // time for clients to receive their responses at
                                                   // the end
constexpr std::chrono::seconds linger{1};  // time for a client to close a connection that ended
constexpr std::chrono::milliseconds descriptor_wait{50};
constexpr rlim_t spare_descriptors = 16;  // for files that `handle` opens

class connection;

/// State shared by the I/O threads of one run. Functions and `options` are constant.
struct serving {
  std::function<http_response(http_request&)> handle;
  std::function<bool()> done;
  http_options const& options;
  http_load& load;
  asio::io_context& main;  ///< of the thread that accepts connections and watches the time
  std::unique_ptr<asio::thread_pool> pool;
  asio::ssl::context* tls = nullptr;
  std::function<void()> end;  ///< called once when the run is to end, on the thread of `main`
  std::atomic<bool> ending = false;
  std::exception_ptr failure{};  ///< of the thread of `main`

  void begin_to_end() {
    if (!ending.exchange(true)) asio::post(main, end);
  }
  void fail(std::exception_ptr const& with) {
    asio::post(main, [this, with] {
      failure = with;
      main.stop();
    });
  }
  http_response refused(int status, std::string_view why) const {
    return options.refuse ? options.refuse(status, why)
                          : http_response{status, "text/plain", std::string(why) + "\n"};
  }
};

/// An I/O thread and its connections. Only the thread of `io` uses the members.
struct io_lane {
  explicit io_lane(serving& of) : run(of) {}

  serving& run;
  io_lane* next = nullptr;           ///< in a ring of all lanes
  std::size_t responses = 0;         ///< being computed or sent
  bool closing = false;              ///< no further connection comes
  std::list<connection*> waiting{};  ///< connections waiting for their client, longest first
  asio::io_context io{1};            ///< last, because it destroys the connections

  /// Called after a response was sent or failed.
  void response_ended() {
    --responses;
    if (run.done()) run.begin_to_end();
    stop_if_ended();
  }
  void stop_if_ended();
  /// Serves a new connection. If there are too many, it replaces the one that has waited longest,
  /// here or else in one of the next `others` lanes.
  void admit(tcp::socket socket, std::size_t others);
  void drop_longest();
  /// Closes connections without a request.
  void close();
};

/// Adds to a count that must not exceed `most`; returns whether it does not.
bool add_up_to(std::atomic<std::size_t>& count, std::size_t add, std::size_t most) {
  std::size_t now = count;
  while (now <= most && add <= most - now)
    if (count.compare_exchange_weak(now, now + add)) return true;
  return false;
}

/// The limit on open connections, given the descriptor opened last.
std::size_t connections_beside(int descriptor, std::size_t most_connections) {
  rlimit most{};
  if (::getrlimit(RLIMIT_NOFILE, &most) != 0) return most_connections;
  rlim_t const others = static_cast<rlim_t>(descriptor) + 1 + spare_descriptors;
  return std::clamp<std::size_t>(most.rlim_cur - std::min(others, most.rlim_cur), 1,
                                 most_connections);
}

/// A program that this process starts would keep the connections that this process closes open, so
/// their clients would wait for ever. The library sets no such flag.
void keep_from_children(int descriptor) {
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

std::string in_small_letters(boost::beast::string_view text) {
  return boost::algorithm::to_lower_copy(std::string(text), std::locale::classic());
}

http_request request_of(http::request<http::string_body>&& message, std::string const& remote) {
  http_request request{std::string(message.method_string()),
                       std::string(message.target()),
                       {},
                       std::move(message.body()),
                       remote};
  for (auto const& field : message) {
    std::string name = in_small_letters(field.name_string());
    std::string value =
        name == "host" ? in_small_letters(field.value()) : std::string(field.value());
    if (auto const [at, added] = request.fields.emplace(std::move(name), std::move(value)); !added)
      at->second.clear();
  }
  return request;
}

/// A client's connection; serves requests in sequence.
class connection {
 public:
  /// `lane`: outlives the connection, which `load.connections` counts already.
  connection(io_lane& lane, std::string remote)
      : lane_(lane), shared_(lane.run), remote_(std::move(remote)) {}
  virtual ~connection() { leave(); }
  connection(connection const&) = delete;
  connection& operator=(connection const&) = delete;

  /// Closes this connection, which waits for its client.
  virtual void drop() = 0;
  /// Whether a request has begun to arrive, or its response is not yet sent.
  virtual bool is_busy() = 0;

 protected:
  void begin_to_wait() { place_ = lane_.waiting.insert(lane_.waiting.end(), this); }
  void end_to_wait() {
    if (place_) lane_.waiting.erase(*place_);
    place_.reset();
  }
  bool reserve(std::size_t bytes) {
    if (!add_up_to(shared_.load.body_bytes, bytes, shared_.options.most_body_bytes)) return false;
    reserved_ += bytes;
    return true;
  }
  void release() { shared_.load.body_bytes -= std::exchange(reserved_, 0); }
  void leave() {
    end_to_wait();
    release();
    if (std::exchange(is_open_, false)) --shared_.load.connections;
  }
  bool is_open() const noexcept { return is_open_; }

  io_lane& lane_;
  serving& shared_;
  std::string remote_;

 private:
  bool is_open_ = true;
  std::size_t reserved_ = 0;
  std::optional<std::list<connection*>::iterator> place_;  ///< position among the waiting
};

void io_lane::stop_if_ended() {
  if (closing && responses == 0 && std::ranges::none_of(waiting, &connection::is_busy)) io.stop();
}

void io_lane::drop_longest() {
  if (!waiting.empty()) waiting.front()->drop();
}

void io_lane::close() {
  closing = true;
  auto const now = waiting;  // `drop` changes the list
  for (connection* const one : now)
    if (!one->is_busy()) one->drop();
  stop_if_ended();
}

/// `Stream` is a TCP stream, or TLS over one.
template <class Stream>
class stream_connection final : public connection,
                                public std::enable_shared_from_this<stream_connection<Stream>> {
 public:
  static constexpr bool is_tls = !std::is_same_v<Stream, beast::tcp_stream>;

  stream_connection(tcp::socket socket, io_lane& lane, std::string remote) requires(!is_tls)
      : connection(lane, std::move(remote)), stream_(std::move(socket)) {}
  stream_connection(tcp::socket socket, io_lane& lane, std::string remote) requires is_tls
      : connection(lane, std::move(remote)),
        stream_(std::move(socket), *shared_.tls) {}

  void start() {
    if constexpr (is_tls) {
      lowest().expires_after(most_silence);
      begin_to_wait();
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](error_code error) {
                                self->end_to_wait();
                                if (!error && self->is_open()) self->read();
                              });
    } else {
      read();
    }
  }
  void drop() override {
    leave();
    lowest().close();
  }
  bool is_busy() override {
    if (!is_reading_) return is_writing_;
    error_code ignored;
    return parser_->got_some() || buffer_.size() > 0 || lowest().socket().available(ignored) > 0;
  }

 private:
  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }

  void read() {
    parser_.emplace();
    parser_->header_limit(most_head);
    parser_->body_limit(shared_.options.most_body);
    lowest().expires_after(most_silence);
    is_reading_ = true;
    begin_to_wait();
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](error_code error, std::size_t) {
                              if (self->is_open()) self->read_body(error);
                            });
  }

  void read_body(error_code error) {
    since_head_ = {};
    is_head_ = !error && parser_->get().method() == http::verb::head;
    exchange_ = {.remote = remote_};
    if (!error) {
      exchange_.method = std::string(parser_->get().method_string());
      exchange_.target = std::string(parser_->get().target());
      // The parser takes a body in another encoding for the next request.
      if (parser_->get().count(http::field::transfer_encoding) > 0 && !parser_->chunked())
        error = http::error::bad_transfer_encoding;
    }
    if (error || parser_->is_done()) return answer(error);
    if (auto const& refuse_head = shared_.options.refuse_head)
      if (auto refusal = refuse_head(request_of(
              http::request<http::string_body>(http::request_header<>(parser_->get().base())),
              remote_)))
        return refuse_body(std::move(*refusal));
    std::size_t const most = shared_.options.most_body;
    std::size_t const length = parser_->content_length().value_or(most);
    // A short body, which came with the head, is read, so that its connection can stay open.
    if (shared_.load.queued >= shared_.options.most_queued && length > buffer_.size())
      return refuse_body(shared_.refused(503, "found a full queue of requests"));
    if (!reserve(length))
      return refuse_body(shared_.refused(503, "found too many requests in progress"));
    // Each read fills the free capacity of the buffer, which is 512 bytes at first.
    buffer_.reserve(std::min(length, read_bytes));
    auto const then = [self = this->shared_from_this()](error_code failure, std::size_t) {
      if (self->is_open()) self->answer(failure);
    };
    if (!beast::iequals(parser_->get()[http::field::expect], "100-continue"))
      return http::async_read(stream_, buffer_, *parser_, then);
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(go_on),
                      [self = this->shared_from_this(), then](error_code failure, std::size_t) {
                        if (failure || !self->is_open()) return;
                        http::async_read(self->stream_, self->buffer_, *self->parser_, then);
                      });
  }

  /// Refuses a request without reading its body, and closes the connection.
  void refuse_body(http_response reply) {
    is_reading_ = false;
    end_to_wait();
    ++lane_.responses;
    write(std::move(reply), false);
  }

  void answer(error_code error) {
    is_reading_ = false;
    end_to_wait();
    bool const is_http =
        error.category() == http::make_error_code(http::error::bad_method).category();
    if (error && (!is_http || error == http::error::end_of_stream)) {
      leave();
      return lane_.stop_if_ended();
    }
    ++lane_.responses;
    bool const long_body = error == http::error::body_limit;
    if (long_body || error == http::error::header_limit)
      return write(shared_.refused(long_body ? 413 : 431, "the request is too large"), false);
    if (error) return write(shared_.refused(400, "this is not an HTTP request"), false);
    bool const keep = parser_->get().keep_alive();
    if (!add_up_to(shared_.load.queued, 1, shared_.options.most_queued))
      return write(shared_.refused(503, "found a full queue of requests"), keep);
    asio::post(*shared_.pool, [self = this->shared_from_this(), keep, waited = stopwatch(),
                               request = request_of(parser_->release(), remote_)]() mutable {
      serving& shared = self->shared_;
      --shared.load.queued;
      self->exchange_.request_bytes = request.body.size();
      self->exchange_.wait_s = waited.seconds();
      http_response reply;
      std::exception_ptr failure;
      if (std::chrono::duration<double>(self->exchange_.wait_s) > shared.options.most_wait) {
        reply = shared.refused(503, "the request waited too long");
      } else {
        try {
          reply = shared.handle(request);
        } catch (...) {
          failure = std::current_exception();
        }
      }
      if (failure) shared.fail(failure);
      // Continues, and destroys the connection, on the connection's I/O thread.
      asio::io_context& io = self->lane_.io;
      asio::post(io, [self = std::move(self), keep, reply = std::move(reply), failure]() mutable {
        if (!failure) self->write(std::move(reply), keep);
      });
    });
  }

  void write(http_response reply, bool keep) {
    keep = keep && !shared_.ending;
    exchange_.status = reply.status;
    exchange_.response_bytes = reply.body.size();
    response_ = {};
    response_.version(11);
    response_.result(static_cast<unsigned>(reply.status));
    for (auto const& [name, value] : shared_.options.fields) response_.set(name, value);
    for (auto const& [name, value] : reply.fields) response_.set(name, value);
    if (reply.status == 503) response_.set(http::field::retry_after, "1");
    if (!reply.content_type.empty()) response_.set(http::field::content_type, reply.content_type);
    response_.keep_alive(keep);
    response_.body() = std::move(reply.body);
    response_.prepare_payload();
    if (is_head_) response_.body().clear();
    lowest().expires_after(most_silence);
    is_writing_ = true;
    begin_to_wait();
    http::async_write(stream_, response_,
                      [self = this->shared_from_this(), keep](error_code error, std::size_t) {
                        self->is_writing_ = false;
                        self->end_to_wait();
                        self->ended();
                        if (error || !self->is_open()) return;
                        if (!keep || self->shared_.ending) return self->close();
                        self->read();
                      });
  }

  /// After a response was sent or failed.
  void ended() {
    release();
    buffer_.shrink_to_fit();  // an idle connection keeps no memory for bodies
    exchange_.total_s = since_head_.seconds();
    if (shared_.options.log) shared_.options.log(exchange_);
    response_ = {};
    lane_.response_ended();
  }

  /// Ends the sending, and reads what the client still sends: closing with unread bytes would
  /// destroy the response on its way.
  void close() {
    begin_to_wait();
    lowest().expires_after(linger);
    auto const then = [self = this->shared_from_this()](error_code) {
      error_code ignored;
      self->lowest().socket().shutdown(tcp::socket::shutdown_send, ignored);
      self->discard();
    };
    if constexpr (is_tls)
      stream_.async_shutdown(then);
    else
      then({});
  }
  void discard() {
    buffer_.clear();
    lowest().async_read_some(buffer_.prepare(most_head),
                             [self = this->shared_from_this()](error_code error, std::size_t) {
                               if (!error && self->is_open()) return self->discard();
                               self->leave();
                             });
  }

  Stream stream_;
  bool is_reading_ = false;
  bool is_writing_ = false;
  bool is_head_ = false;
  stopwatch since_head_;
  beast::flat_buffer buffer_{most_head + shared_.options.most_body};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  http_exchange exchange_;
};

/// Throws `error` naming a file that OpenSSL cannot use.
asio::ssl::context tls_context(tls_files const& files) {
  asio::ssl::context tls(asio::ssl::context::tls_server);
  tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                  asio::ssl::context::no_tlsv1_1);
  auto const expect = [](error_code failure, std::string const& path, std::string_view what) {
    if (failure)
      throw error({path, 0, 0}, fmt::format("found {}, expected {}", failure.message(), what));
  };
  error_code failure;
  tls.use_certificate_chain_file(files.certificate, failure);
  expect(failure, files.certificate, "a certificate in PEM form");
  tls.use_private_key_file(files.key, asio::ssl::context::pem, failure);
  expect(failure, files.key, "the private key of the certificate in PEM form");
  if (files.client_roots.empty()) return tls;
  tls.load_verify_file(files.client_roots, failure);
  expect(failure, files.client_roots, "certificates of authorities in PEM form");
  tls.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert, failure);
  // OpenSSL refuses to resume sessions of clients with certificates unless they have a context.
  static constexpr unsigned char sessions[] = "rulerank";
  ::SSL_CTX_set_session_id_context(tls.native_handle(), sessions, sizeof sessions - 1);
  return tls;
}

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

std::vector<std::string> hosts_of(listen_address const& address, bool has_tls) {
  bool const is_v6 = address.host.find(':') != address.host.npos;
  std::vector<std::string> hosts{is_v6 ? fmt::format("[{}]:{}", address.host, address.port)
                                       : fmt::format("{}:{}", address.host, address.port)};
  if (is_loopback(address)) hosts.push_back(fmt::format("localhost:{}", address.port));
  // Browsers omit the default port.
  constexpr std::uint16_t http_port = 80, https_port = 443;
  if (address.port == (has_tls ? https_port : http_port))
    for (std::size_t i = 0, n = hosts.size(); i < n; ++i)
      hosts.push_back(hosts[i].substr(0, hosts[i].rfind(':')));
  return hosts;
}

namespace {

/// Moves a connection to the thread of a lane.
void hand_over(io_lane& lane, tcp::socket socket, std::size_t others) {
  error_code ignored;
  auto const protocol = socket.local_endpoint(ignored).protocol();
  tcp::socket moved(lane.io, protocol, socket.release());
  asio::post(lane.io, [&lane, others, moved = std::move(moved)]() mutable {
    lane.admit(std::move(moved), others);
  });
}

void io_lane::admit(tcp::socket socket, std::size_t others) {
  error_code ignored;
  std::size_t const most = run.options.most_connections;
  while (!add_up_to(run.load.connections, 1, most)) {  // another lane may take the place first
    if (run.ending) return;
    if (waiting.empty() && others > 0) return hand_over(*next, std::move(socket), others - 1);
    if (waiting.empty()) return;
    drop_longest();
  }
  socket.set_option(tcp::no_delay(true), ignored);
  tcp::endpoint const from = socket.remote_endpoint(ignored);
  std::string remote = from.address().to_string(ignored);
  auto const go = [&]<class Stream>(std::type_identity<Stream>) {
    std::make_shared<stream_connection<Stream>>(std::move(socket), *this, std::move(remote))
        ->start();
  };
  if (run.tls)
    go(std::type_identity<beast::ssl_stream<beast::tcp_stream>>());
  else
    go(std::type_identity<beast::tcp_stream>());
}

/// The I/O threads of a run. Each new connection goes to the next thread, round robin.
class io_lanes {
 public:
  io_lanes(serving& run, std::size_t count) : run_(run), running_(count) {
    for (std::size_t i = 0; i < count; ++i) lanes_.emplace_back(run);
    for (auto at = lanes_.begin(); at != lanes_.end(); ++at)
      at->next = &*(std::next(at) == lanes_.end() ? lanes_.begin() : std::next(at));
    for (io_lane& lane : lanes_) threads_.emplace_back([this, &lane] { work(lane); });
  }
  /// Queued requests are discarded; pending handlers and their connections are destroyed with the
  /// lanes.
  ~io_lanes() {
    for (io_lane& lane : lanes_) lane.io.stop();
    for (std::thread& thread : threads_) thread.join();
    run_.pool.reset();  // its threads use the lanes
  }
  io_lanes(io_lanes const&) = delete;
  io_lanes& operator=(io_lanes const&) = delete;

  /// Gives a connection to the next lane in turn.
  void take(tcp::socket socket) {
    if (next_ == lanes_.end()) next_ = lanes_.begin();
    hand_over(*next_++, std::move(socket), lanes_.size() - 1);
  }
  /// Calls a function of each lane on its thread.
  void each(void (io_lane::*call)()) {
    for (io_lane& lane : lanes_) asio::post(lane.io, [&lane, call] { (lane.*call)(); });
  }

 private:
  /// Until the lane stops. The last one ends the run.
  void work(io_lane& lane) {
    auto const stay = asio::make_work_guard(lane.io);
    try {
      lane.io.run();
    } catch (...) {
      return run_.fail(std::current_exception());
    }
    if (--running_ == 0) run_.main.stop();
  }

  serving& run_;
  std::list<io_lane> lanes_;
  std::list<io_lane>::iterator next_ = lanes_.end();
  std::atomic<std::size_t> running_;
  std::vector<std::thread> threads_;
};

}  // namespace

struct http_server::state {
  listen_address address;
  http_options options;
  http_load load;
  std::optional<asio::ssl::context> tls;
  asio::io_context main{1};
  tcp::acceptor acceptor{main};
  asio::steady_timer timer{main};
  asio::steady_timer pause{main};

  void accept(serving& run, io_lanes& lanes) {
    acceptor.async_accept([&, this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (error) return accept_later(run, lanes);
      keep_from_children(socket.native_handle());
      lanes.take(std::move(socket));
      accept(run, lanes);
    });
  }

  /// If no descriptor is free, the connection stays in the system's queue, which would report it
  /// again at once: waits before accepting.
  void accept_later(serving& run, io_lanes& lanes) {
    lanes.each(&io_lane::drop_longest);
    pause.expires_after(descriptor_wait);
    pause.async_wait([&, this](error_code error) {
      if (!error) accept(run, lanes);
    });
  }

  /// Accepts the connections that the system has queued and no others. Waits for requests that have
  /// begun, but not for clients that neither send nor read.
  void end(io_lanes& lanes) {
    error_code error;
    acceptor.cancel(error);
    acceptor.non_blocking(true, error);
    for (std::size_t i = 0; i < options.most_connections; ++i) {
      tcp::socket socket = acceptor.accept(error);
      if (error) break;
      keep_from_children(socket.native_handle());
      lanes.take(std::move(socket));
    }
    acceptor.close(error);
    lanes.each(&io_lane::close);
    pause.expires_after(last_responses);
    pause.async_wait([this](error_code failure) {
      if (!failure) main.stop();
    });
  }

  void watch(context const& ctx, serving& run) {
    timer.expires_after(stop_interval);
    timer.async_wait([&, this](error_code error) {
      if (error) return;
      try {
        ctx.check_stop();
      } catch (...) {
        return run.fail(std::current_exception());
      }
      if (options.drain.stop_requested()) run.begin_to_end();
      watch(ctx, run);
    });
  }
};

http_server::http_server(listen_address const& address, http_options options)
    : state_(std::make_unique<state>()) {
  if (!options.tls.certificate.empty()) state_->tls = tls_context(options.tls);
  state_->options = std::move(options);
  tcp::endpoint const at(asio::ip::make_address(address.host), address.port);
  error_code error;
  state_->acceptor.open(at.protocol(), error);
  if (!error) keep_from_children(state_->acceptor.native_handle());
  if (!error) state_->acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) state_->acceptor.bind(at, error);
  if (!error) state_->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    throw output_error(
        fmt::format("cannot listen on {}:{}: {}, expected an address of this machine that is free",
                    address.host, address.port, error.message()));
  state_->options.most_connections =
      connections_beside(state_->acceptor.native_handle(), state_->options.most_connections);
  state_->address = {address.host, state_->acceptor.local_endpoint().port()};
}

http_server::~http_server() = default;

listen_address const& http_server::address() const noexcept {
  return state_->address;
}

http_load const& http_server::load() const noexcept {
  return state_->load;
}

void http_server::run(context const& ctx, std::function<http_response(http_request&)> const& handle,
                      std::function<bool()> const& done) {
  serving run{handle,
              done,
              state_->options,
              state_->load,
              state_->main,
              std::make_unique<asio::thread_pool>(state_->options.workers),
              state_->tls ? &*state_->tls : nullptr,
              {}};
  {
    io_lanes lanes(run, state_->options.io_threads);
    run.end = [&] { state_->end(lanes); };
    state_->accept(run, lanes);
    state_->watch(ctx, run);
    state_->main.run();
  }
  error_code ignored;
  state_->acceptor.close(ignored);
  state_->timer.cancel();
  state_->pause.cancel();
  if (run.failure) std::rethrow_exception(run.failure);
}

}  // namespace rulerank::server
