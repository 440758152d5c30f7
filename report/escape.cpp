#include "report/escape.hpp"

#include "eval/svg.hpp"

#include <cstddef>

#include <openssl/evp.h>

namespace rulerank::inline v0::report {

std::string clean(std::string_view text) {
  return eval::clean_text(text);
}

std::string escape_html(std::string_view text) {
  return eval::clean_xml(text);
}

std::string escaped(std::string const& text, eval::table_format format) {
  if (format == eval::table_format::markdown) {
    std::string const shown = eval::render({.title = text}, format);
    return shown.substr(0, shown.find('\n'));
  }
  std::string const shown = eval::render({.columns = {{text}}}, format);
  constexpr std::string_view before = "\\hline\n", after = " \\\\\n";
  std::size_t const begin = shown.find(before) + before.size();
  return shown.substr(begin, shown.find(after, begin) - begin);
}

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<unsigned char const*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return text;
}

}  // namespace rulerank::report
