#include "report/escape.hpp"

#include "core/json_text.hpp"
#include "eval/svg.hpp"

#include <nlohmann/json.hpp>
#include <openssl/evp.h>

namespace rulerank::inline v0::report {

std::string clean(std::string_view text) {
  using json = nlohmann::json;
  bool plain = true;
  for (char const c : text) plain = plain && static_cast<unsigned char>(c) < 0x80;
  std::string valid(text);
  if (!plain) valid = json::parse(json_line_of(json(valid))).get<std::string>();
  std::string result;
  for (char const c : valid) {
    auto const byte = static_cast<unsigned char>(c);
    bool const control = (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
    result += control ? std::string("\xEF\xBF\xBD") : std::string(1, c);
  }
  return result;
}

std::string escape_html(std::string_view text) {
  return eval::escape_xml(clean(text));
}

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<unsigned char const*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return text;
}

}  // namespace rulerank::report
