#include "server/http.hpp"

#include <algorithm>

namespace rulerank::inline v0::server {

std::string_view http_request::field(std::string const& name) const {
  auto const found = fields.find(name);
  return found == fields.end() ? std::string_view{} : found->second;
}

std::string_view http_request::path() const {
  return std::string_view(target).substr(0, std::min(target.find('?'), target.size()));
}

header_fields const& page_fields() {
  static header_fields const fields{
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
       "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cache-Control", "no-store"}};
  return fields;
}

bool is_same_origin(http_request const& request) {
  auto const origin = request.fields.find("origin");
  if (origin == request.fields.end()) return true;
  std::string const host(request.field("host"));
  // A proxy in front may use TLS while this port serves only http.
  return origin->second == "http://" + host || origin->second == "https://" + host;
}

std::string host_in_small_letters(std::string host) {
  for (char& c : host)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return host;
}

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    different |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return different == 0;
}

}  // namespace rulerank::server
