#include "report/escape.hpp"

#include <cstdint>

#include <nlohmann/json.hpp>

namespace rulerank::report {

std::string clean(std::string_view text) {
  using json = nlohmann::json;
  bool plain = true;
  for (char const c : text) plain = plain && static_cast<unsigned char>(c) < 0x80;
  std::string valid(text);
  if (!plain)
    valid = json::parse(json(valid).dump(-1, ' ', false, json::error_handler_t::replace))
                .get<std::string>();
  std::string result;
  for (char const c : valid) {
    auto const byte = static_cast<unsigned char>(c);
    bool const control = (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
    result += control ? std::string("\xEF\xBF\xBD") : std::string(1, c);
  }
  return result;
}

std::string escape_html(std::string_view text) {
  std::string result;
  for (char const c : clean(text)) switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  return result;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      result += i + k <= bytes.size() ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return result;
}

}  // namespace rulerank::report
