#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Requests and responses of HTTP, without sockets.
namespace rulerank::inline v0::server {

struct http_request {
  std::string method;
  std::string target;
  /// Names in lower case. A field that occurs repeatedly is empty, because choosing one value would
  /// be a guess. The value of `host` is in lower case.
  std::map<std::string, std::string> fields;
  std::string body;
  std::string remote{};  ///< address of the client

  /// The value of a field; empty if the request lacks it.
  std::string_view field(std::string const& name) const;
  /// The target without the query (`?...`).
  std::string_view path() const;
};

using header_fields = std::vector<std::pair<std::string, std::string>>;

struct http_response {
  int status = 200;
  std::string content_type;
  std::string body;
  header_fields fields{};  ///< besides type and length
};

/// Header fields of pages: forbid caching, framing and requests to other sites.
header_fields const& page_fields();

/// Whether the field Origin, which browsers send with a POST, is absent or this host's.
bool is_same_origin(http_request const& request);

/// A host as http_request has it: ASCII letters in lower case.
std::string host_in_small_letters(std::string host);

/// Compares in a time that does not depend on where the strings differ.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace rulerank::server
