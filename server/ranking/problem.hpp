#pragma once

#include "server/http.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rulerank::inline v0::server {

/// Appends a JSON string, quoted and escaped. Bytes that are not UTF-8 stay.
void append_json_string(std::string_view text, std::string& to);

/// The place of a fault in a request's JSON.
struct fault_place {
  std::string pointer{};                  ///< JSON pointer (RFC 6901)
  std::optional<std::size_t> document{};  ///< index in its query, from 0
  std::string feature{};
};

/// A request that cannot be answered, as a problem of RFC 9457.
class problem : public std::runtime_error {
 public:
  problem(int status, std::string const& detail, fault_place place = {})
      : std::runtime_error(detail), status_(status), place_(std::move(place)) {}
  int status() const noexcept { return status_; }
  fault_place const& place() const noexcept { return place_; }

 private:
  int status_;
  fault_place place_;
};

/// The response to a request with a problem. Its member `error` repeats the detail, because the
/// Open Inference Protocol expects it.
http_response problem_response(problem const& what);

}  // namespace rulerank::server
