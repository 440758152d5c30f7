#include "server/ranking/problem.hpp"

#include "core/append_format.hpp"

#include <ostream>  // which status.hpp of Boost 1.81 lacks

#include <boost/beast/http/status.hpp>

namespace rulerank::inline v0::server {

void append_json_string(std::string_view text, std::string& to) {
  to += '"';
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const c = static_cast<unsigned char>(text[i]);
    if (c >= ' ' && c != '"' && c != '\\') continue;
    to.append(text, begin, i - begin);
    begin = i + 1;
    if (c == '"' || c == '\\')
      to.append({'\\', static_cast<char>(c)});
    else
      append_format(to, "\\u{:04x}", unsigned{c});
  }
  to.append(text, begin);
  to += '"';
}

http_response problem_response(problem const& what) {
  auto const reason =
      boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(what.status()));
  std::string body = R"({"type":"about:blank","title":)";
  append_json_string({reason.data(), reason.size()}, body);
  append_format(body, R"(,"status":{},"detail":)", what.status());
  append_json_string(what.what(), body);
  body += R"(,"error":)";
  append_json_string(what.what(), body);
  if (!what.place().pointer.empty()) {
    body += R"(,"pointer":)";
    append_json_string(what.place().pointer, body);
  }
  if (what.place().document) append_format(body, R"(,"document":{})", *what.place().document);
  if (!what.place().feature.empty()) {
    body += R"(,"feature":)";
    append_json_string(what.place().feature, body);
  }
  http_response reply{what.status(), "application/problem+json", body + "}\n"};
  if (what.status() == 401) reply.fields = {{"WWW-Authenticate", "Bearer"}};
  return reply;
}

}  // namespace rulerank::server
