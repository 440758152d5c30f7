#include "server/http_server.hpp"

#include "core/error.hpp"
#include "core/own_time_testing.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rulerank::inline v0::server::http_server_test {
namespace {

std::atomic<std::size_t> received{0};  // calls of recv and recvmsg

}  // namespace
}  // namespace rulerank::server::http_server_test

// In place of the system's, which the HTTP library calls: they count.
extern "C" ssize_t recvmsg(int socket, msghdr* message, int flags) {
  ++rulerank::server::http_server_test::received;
  return ::syscall(SYS_recvmsg, socket, message, flags);
}
extern "C" ssize_t recv(int socket, void* to, std::size_t bytes, int flags) {
  ++rulerank::server::http_server_test::received;
  return ::syscall(SYS_recvfrom, socket, to, bytes, flags, nullptr, nullptr);
}

namespace rulerank::inline v0::server::http_server_test {
namespace {

namespace asio = boost::asio;

constexpr std::size_t most_body = 4096;

/// A connection to a server.
class client {
 public:
  explicit client(http_server const& to) {
    socket_.connect({asio::ip::make_address("127.0.0.1"), to.address().port});
  }
  /// Returns the bytes that the server sends until it closes the connection.
  std::string response_to(std::string const& bytes, bool half_close = false) {
    boost::system::error_code error;
    asio::write(socket_, asio::buffer(bytes), error);
    if (half_close) socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
    std::string reply;
    asio::read(socket_, asio::dynamic_buffer(reply), error);
    return reply;
  }

 private:
  asio::io_context io_;
  asio::ip::tcp::socket socket_{io_};
};

/// An echo server in its own thread, until the test ends. The parameter: its I/O threads.
class running_server : public testing::TestWithParam<std::size_t> {
 protected:
  running_server() {
    ctx.stop = stop.get_token();
    thread = std::thread([this] {
      try {
        http.run(
            ctx,
            [this](http_request& r) {
              if (r.target == "/throw") throw interrupted();
              if (r.target == "/end") ended = true;
              if (r.target == "/wait" || r.target == "/end") {
                begun.set_value();
                released.wait_for(std::chrono::minutes(10));
              }
              return http_response{200, "text/plain", r.method + " " + r.target + " " + r.body};
            },
            [this] { return ended.load(); });
        result.set_value("ended");
      } catch (interrupted const&) {
        result.set_value("interrupted");
      }
    });
  }
  ~running_server() override {
    stop.request_stop();
    thread.join();
  }

  std::string send(std::string const& bytes, bool half_close = false) {
    return client(http).response_to(bytes, half_close);
  }
  static std::string post(std::string const& body, std::string const& target = "/x") {
    return fmt::format(
        "POST {} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}", target,
        body.size(), body);
  }

  http_server http{{"127.0.0.1", 0},
                   {.io_threads = GetParam(), .most_body = most_body, .fields = page_fields()}};
  std::stop_source stop;
  context ctx;
  std::atomic<bool> ended = false;
  std::promise<std::string> result;
  std::promise<void> begun, release;
  std::future<void> released = release.get_future();
  std::thread thread;
};

INSTANTIATE_TEST_SUITE_P(io_threads, running_server, testing::Values(1, 3));

TEST_P(running_server, answers_with_the_fields_of_a_careful_one) {
  std::string const reply = send(post("body"));
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 200 OK\r\n")) << reply;
  EXPECT_TRUE(reply.ends_with("POST /x body"));
  for (auto const& [name, value] : page_fields())
    EXPECT_NE(reply.find(name + ": " + value + "\r\n"), reply.npos) << name;
}

TEST_P(running_server, keeps_a_connection_open) {
  std::string const two = send(
      "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n"
      "Connection: close\r\n\r\n");
  EXPECT_NE(two.find("GET /1 "), two.npos);
  EXPECT_NE(two.find("GET /2 "), two.npos);
}

TEST_P(running_server, refuses_what_is_too_large_or_no_request) {
  EXPECT_TRUE(send(post(std::string(most_body + 1, 'x'))).starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(send("GET / HTTP/1.1\r\nx: " + std::string(9000, 'y') + "\r\n\r\n")
                  .starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(send("\x16\x03\x01 this is TLS or worse\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_EQ(send("GET / HT", true).find("200"), std::string::npos);
  EXPECT_EQ(send("", true), "");
  EXPECT_TRUE(send(post("still there")).ends_with("still there"));
}

TEST_P(running_server, stops_at_once_whoever_is_connected) {
  asio::io_context io;
  std::vector<asio::ip::tcp::socket> silent;
  for (int i = 0; i < 100; ++i) {
    silent.emplace_back(io);
    silent.back().connect({asio::ip::make_address("127.0.0.1"), http.address().port});
  }
  testing_tools::own_time const took;
  stop.request_stop();
  EXPECT_EQ(result.get_future().get(), "interrupted");
  EXPECT_LT(took.seconds(), 0.5);
}

/// Opens more connections than are served at once; some send half a request, some do not read.
TEST_P(running_server, connections_that_wait_do_not_keep_others_out) {
  asio::io_context io;
  std::vector<asio::ip::tcp::socket> held;
  std::string const half = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc";
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
  for (int i = 0; i < 300; ++i) {
    held.emplace_back(io);
    held.back().connect({asio::ip::make_address("127.0.0.1"), http.address().port});
    boost::system::error_code error;
    if (i % 3 == 1) asio::write(held.back(), asio::buffer(half), error);
    if (i % 30 == 2) held.back().write_some(asio::buffer(many), error);
    if (i % 20 != 0) continue;
    testing_tools::own_time const took;
    EXPECT_TRUE(send(post("served")).ends_with("served")) << i;
    EXPECT_LT(took.seconds(), 5) << i;
  }
}

TEST_P(running_server, a_slow_answer_does_not_hold_the_others) {
  auto slow = std::async(std::launch::async, [&] { return send(post("slow", "/wait")); });
  begun.get_future().wait();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(send(post("fast")).ends_with("fast"));
  EXPECT_EQ(slow.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  release.set_value();
  EXPECT_TRUE(slow.get().ends_with("slow"));
}

TEST_P(running_server, throws_what_a_request_throws) {
  EXPECT_EQ(send(post("", "/throw")), "");
  EXPECT_EQ(result.get_future().get(), "interrupted");
}

TEST_P(running_server, ends_behind_the_response_that_ends_it) {
  ended = true;
  EXPECT_TRUE(send(post("last")).ends_with("last"));
  EXPECT_EQ(result.get_future().get(), "ended");
}

TEST_P(running_server, sends_the_response_that_ends_it_though_another_is_sent_first) {
  auto last = std::async(std::launch::async, [&] { return send(post("last", "/end")); });
  begun.get_future().wait();
  EXPECT_TRUE(send(post("before")).ends_with("before"));
  release.set_value();
  EXPECT_TRUE(last.get().ends_with("last"));
  EXPECT_EQ(result.get_future().get(), "ended");
}

TEST_P(running_server, answers_head_without_a_body) {
  std::string const reply =
      send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\nHEAD /y HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(reply.find("HEAD /"), reply.npos) << reply;
  EXPECT_NE(reply.find("Content-Length: 8\r\n"), reply.npos) << reply;
  EXPECT_TRUE(reply.ends_with("\r\n\r\n")) << reply;
}

TEST_P(running_server, does_not_take_the_place_of_another) {
  EXPECT_THROW(http_server{http.address()}, output_error);
}

constexpr char short_request[] = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

TEST(http_servers, throw_what_a_callback_throws) {
  for (std::size_t const io_threads : {1, 3}) {
    http_server http({"127.0.0.1", 0}, {.io_threads = io_threads, .log = [](http_exchange const&) {
                                          throw std::runtime_error("log");
                                        }});
    auto sent = std::async(std::launch::async, [&] { client(http).response_to(short_request); });
    EXPECT_THROW(http.run({}, [](http_request&) { return http_response{}; }), std::runtime_error);
    sent.get();
  }
}

TEST(http_servers, replace_an_idle_connection_of_another_thread) {
  std::stop_source stop;
  context ctx;
  ctx.stop = stop.get_token();
  http_server http({"127.0.0.1", 0}, {.io_threads = 5, .most_connections = 2});
  auto ended = std::async(std::launch::async, [&] {
    http.run(ctx, [](http_request&) { return http_response{200, "text/plain", "served"}; });
  });
  client const first(http), second(http);  // of two threads
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(client(http).response_to(short_request).ends_with("served")) << i;
  stop.request_stop();
  EXPECT_THROW(ended.get(), interrupted);
}

TEST(http_servers, read_a_long_body_in_long_pieces) {
  constexpr std::size_t bytes = std::size_t{4} << 20;
  std::atomic<bool> done = false;
  http_server http({"127.0.0.1", 0}, {.most_body = bytes});
  auto ended = std::async(std::launch::async, [&] {
    http.run(
        {},
        [&](http_request& r) {
          done = true;
          return http_response{200, "text/plain", std::to_string(r.body.size())};
        },
        [&] { return done.load(); });
  });
  std::size_t const before = received;
  std::string const reply = client(http).response_to(
      fmt::format("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                  bytes, std::string(bytes, 'x')));
  ended.get();
  EXPECT_TRUE(reply.ends_with(std::to_string(bytes))) << reply;
  EXPECT_GT(received - before, 0U);
  EXPECT_LT(received - before, bytes / 4096);
}

TEST(listen_addresses, are_read) {
  EXPECT_EQ(listen_address_from("127.0.0.1:80").port, 80);
  EXPECT_EQ(listen_address_from("localhost:0").host, "127.0.0.1");
  EXPECT_EQ(listen_address_from("[::1]:8420").host, "::1");
  for (std::string const bad : {"", ":", "8420", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
                                "127.0.0.1:70000", "example.com:80", "127.0.0.1:80 ", "1.2.3:80"})
    EXPECT_THROW(listen_address_from(bad), usage_error) << bad;
  EXPECT_TRUE(is_loopback({"127.0.0.1", 1}));
  EXPECT_FALSE(is_loopback({"0.0.0.0", 1}));
  EXPECT_EQ(hosts_of({"::1", 5}), (std::vector<std::string>{"[::1]:5", "localhost:5"}));
  EXPECT_EQ(hosts_of({"::1", 80}),
            (std::vector<std::string>{"[::1]:80", "localhost:80", "[::1]", "localhost"}));
  EXPECT_EQ(hosts_of({"127.0.0.1", 443}, true),
            (std::vector<std::string>{"127.0.0.1:443", "localhost:443", "127.0.0.1", "localhost"}));
  EXPECT_EQ(hosts_of({"127.0.0.1", 80}, true).size(), 2U);
  EXPECT_EQ(hosts_of({"127.0.0.1", 443}).size(), 2U);
  EXPECT_EQ(hosts_of({"10.0.0.1", 5}), (std::vector<std::string>{"10.0.0.1:5"}));
}

}  // namespace
}  // namespace rulerank::server::http_server_test
