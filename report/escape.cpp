#include "report/escape.hpp"

#include "eval/svg.hpp"

#include <openssl/evp.h>

namespace rulerank::inline v0::report {

std::string clean(std::string_view text) {
  return eval::clean_text(text);
}

std::string escape_html(std::string_view text) {
  return eval::clean_xml(text);
}

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<unsigned char const*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return text;
}

}  // namespace rulerank::report
