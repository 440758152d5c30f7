// https://www.w3.org/TR/html401/sgml/entities.html
#include "datasets/text/entities.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <unordered_map>
#include <utility>

namespace rulerank::inline v0::datasets {

namespace {

/// Names of consecutive characters.
struct entity_range {
  std::uint32_t first;
  std::string_view names;  // separated by spaces
};

constexpr entity_range entity_ranges[] = {
    {34, "quot"},
    {38, "amp apos"},
    {60, "lt"},
    {62, "gt"},
    {160,
     "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn "
     "sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave "
     "Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc "
     "Iuml "
     "ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute "
     "THORN "
     "szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave "
     "iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute "
     "ucirc uuml yacute thorn yuml Amacr amacr Abreve abreve Aogon aogon Cacute cacute"},
    {268, "Ccaron ccaron Dcaron dcaron Dstrok dstrok Emacr emacr"},
    {280, "Eogon eogon Ecaron ecaron"},
    {286, "Gbreve gbreve"},
    {298, "Imacr imacr"},
    {304, "Idot inodot"},
    {313, "Lacute lacute"},
    {317, "Lcaron lcaron"},
    {321, "Lstrok lstrok Nacute nacute"},
    {327, "Ncaron ncaron"},
    {336, "Odblac odblac OElig oelig Racute racute"},
    {344, "Rcaron rcaron Sacute sacute"},
    {350, "Scedil scedil Scaron scaron Tcedil tcedil Tcaron tcaron"},
    {362, "Umacr umacr"},
    {366, "Uring uring Udblac udblac"},
    {376, "Yuml Zacute zacute Zdot zdot Zcaron zcaron"},
    {402, "fnof"},
    {710, "circ"},
    {732, "tilde"},
    {913,
     "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho"},
    {931, "Sigma Tau Upsilon Phi Chi Psi Omega"},
    {945,
     "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
     "sigmaf sigma tau upsilon phi chi psi omega"},
    {977, "thetasym upsih"},
    {982, "piv"},
    {8194, "ensp emsp"},
    {8201, "thinsp"},
    {8204, "zwnj zwj lrm rlm"},
    {8211, "ndash mdash"},
    {8216, "lsquo rsquo sbquo"},
    {8220, "ldquo rdquo bdquo"},
    {8224, "dagger Dagger bull"},
    {8230, "hellip"},
    {8240, "permil"},
    {8242, "prime Prime"},
    {8249, "lsaquo rsaquo"},
    {8364, "euro"},
    {8482, "trade"},
    {8592, "larr uarr rarr darr harr"},
    {8722, "minus"},
    {8734, "infin"},
    {8776, "asymp"},
    {8800, "ne equiv"},
    {8804, "le ge"},
};

std::unordered_map<std::string_view, std::uint32_t> entity_table() {
  std::unordered_map<std::string_view, std::uint32_t> table{
      {"AMP", '&'}, {"LT", '<'}, {"GT", '>'}, {"QUOT", '"'}};
  for (auto const& [first, all] : entity_ranges) {
    std::uint32_t character = first;
    for (std::string_view names = all; !names.empty(); ++character) {
      std::size_t const end = std::min(names.find(' '), names.size());
      table.emplace(names.substr(0, end), character);
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }
  return table;
}

constexpr std::array<std::uint32_t, 32> windows_1252{
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

}  // namespace

std::uint32_t character_of(std::string_view reference) {
  if (!reference.starts_with('#')) {
    static auto const table = entity_table();
    auto const at = table.find(reference);
    return at == table.end() ? 0 : at->second;
  }
  reference.remove_prefix(1);
  bool const is_hex = reference.starts_with('x') || reference.starts_with('X');
  if (is_hex) reference.remove_prefix(1);
  std::uint32_t number = 0;
  char const* const last = reference.data() + reference.size();
  auto const [end, status] = std::from_chars(reference.data(), last, number, is_hex ? 16 : 10);
  if (status != std::errc() || end != last || number >= 0x110000 ||
      (number >= 0xD800 && number <= 0xDFFF))
    return 0;
  return number >= 128 && number < 160 ? windows_1252[number - 128] : number;
}

void append_utf8(std::string& to, std::uint32_t c) {
  auto const byte = [&](std::uint32_t b) { to += static_cast<char>(b); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) {
    byte(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      byte(0xE0 | c >> 12);
    } else {
      byte(0xF0 | c >> 18);
      byte(0x80 | (c >> 12 & 0x3F));
    }
    byte(0x80 | (c >> 6 & 0x3F));
  }
  byte(0x80 | (c & 0x3F));
}

}  // namespace rulerank::datasets
