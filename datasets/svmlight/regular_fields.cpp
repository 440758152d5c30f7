#include "datasets/svmlight/regular_fields.hpp"

#include "datasets/input/fields.hpp"
#include "datasets/input/number.hpp"
#include "datasets/svmlight/digits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::ptrdiff_t margin = 64;  // bytes that are read without checking for the end

constexpr double powers_of_ten[] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                                    1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};
constexpr std::uint64_t integer_powers_of_ten[] = {1,      10,      100,      1000,     10000,
                                                   100000, 1000000, 10000000, 100000000};

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool ends_token(char c) {
  return is_blank(c) || c == '\n' || c == '\r' || c == '#';
}

char const* skip_blanks(char const* at, char const* end) {
  while (at < end && is_blank(*at)) ++at;
  return at;
}

char const* token_end(char const* at, char const* end) {
  while (at < end && !ends_token(*at)) ++at;
  return at;
}

/// Reads a decimal without an exponent whose digits form an integer of at most 2^53, so that one
/// division by a power of ten (exact up to 10^22) rounds correctly. Returns null for other forms.
inline char const* read_short_decimal(char const* at, double& value) {
  bool const negative = *at == '-';
  at += negative;
  std::uint64_t word = load_characters(at);
  unsigned const whole = leading_digits(word);
  if (whole == 0 || whole == 8) return nullptr;
  std::uint64_t mantissa = digits_value(word, whole);
  at += whole;
  double magnitude = 0;
  if (*at == '.') {
    ++at;
    word = load_characters(at);
    unsigned decimals = leading_digits(word);
    if (decimals == 0) return nullptr;
    mantissa = mantissa * integer_powers_of_ten[decimals] + digits_value(word, decimals);
    at += decimals;
    if (decimals == 8) {
      word = load_characters(at);
      unsigned const more = leading_digits(word);
      if (more > 0) {
        if (more == 8 && leading_digits(load_characters(at + 8)) > 0) return nullptr;
        // 7 + 8 + 8 digits could overflow; 3 + 8 + 8 cannot.
        if (whole > 3) return nullptr;
        mantissa = mantissa * integer_powers_of_ten[more] + digits_value(word, more);
        if (mantissa > (std::uint64_t{1} << 53)) return nullptr;
        decimals += more;
        at += more;
      }
    }
    magnitude = static_cast<double>(mantissa) / powers_of_ten[decimals];
  } else {
    magnitude = static_cast<double>(mantissa);
  }
  if (!ends_token(*at)) return nullptr;
  value = negative ? -magnitude : magnitude;
  return at;
}

inline char const* read_value(char const* at, char const* end, double& value) {
  if (char const* const after = read_short_decimal(at, value)) return after;
  if (std::memcmp(at, "NULL", 4) == 0 && ends_token(at[4])) {
    value = std::numeric_limits<double>::quiet_NaN();
    return at + 4;
  }
  char const* const after = token_end(at, end);
  number_kind const kind = read_number({at, static_cast<std::size_t>(after - at)}, value);
  return kind == number_kind::finite || kind == number_kind::missing ? after : nullptr;
}

/// Reads a feature number of at most ten digits.
inline char const* read_feature_number(char const* at, std::uint64_t& feature) {
  std::uint64_t const word = load_characters(at);
  unsigned const digits = leading_digits(word);
  if (digits == 0) return nullptr;
  feature = digits_value(word, digits);
  at += digits;
  if (digits == 8) {
    std::uint64_t const rest = load_characters(at);
    unsigned const more = leading_digits(rest);
    if (more > 2) return nullptr;
    if (more > 0) feature = feature * integer_powers_of_ten[more] + digits_value(rest, more);
    at += more;
    if (feature > max_feature) return nullptr;
  }
  return *at == ':' ? at + 1 : nullptr;
}

char const* read_label(char const* at, char const* end, line_rules const& rules,
                       std::int32_t& label) {
  if (rules.optional_labels && std::memcmp(at, "qid:", 4) == 0) {
    label = unlabelled;
    return at;
  }
  if (*at >= '0' && *at <= '9' && is_blank(at[1])) {
    label = *at - '0';
    return at + 1;
  }
  char const* const after = token_end(at, end);
  double value = 0;
  if (read_number({at, static_cast<std::size_t>(after - at)}, value) != number_kind::finite ||
      value != std::floor(value) || std::abs(value) > std::numeric_limits<std::int32_t>::max())
    return nullptr;
  label = static_cast<std::int32_t>(value);
  if (rules.unlabelled && label == *rules.unlabelled)
    label = unlabelled;
  else if (label < 0)
    return nullptr;
  return after;
}

char const* read_qid(char const* at, char const* end, std::string_view& qid) {
  char const* after = at;
  while (after<end&& static_cast<unsigned char>(*after)> ' ' && *after != '#') ++after;
  if (after == at || after == end || !ends_token(*after)) return nullptr;
  qid = {at, static_cast<std::size_t>(after - at)};
  return is_missing_word(qid) ? nullptr : after;
}

/// Returns false if a feature occurs twice.
bool sort_features(feature_value* begin, feature_value* end) {
  std::sort(begin, end,
            [](feature_value const& a, feature_value const& b) { return a.feature < b.feature; });
  return std::adjacent_find(begin, end, [](feature_value const& a, feature_value const& b) {
           return a.feature == b.feature;
         }) == end;
}

}  // namespace

char const* read_regular_line(char const* at, char const* end, line_rules const& rules,
                              regular_document& document, feature_value*& entries) {
  if constexpr (std::endian::native != std::endian::little) return nullptr;
  char const* const begin = at;
  feature_value* entry = entries;
  at = skip_blanks(at, end);
  if (end - at < margin) return nullptr;
  document.is_document = !ends_token(*at);
  if (document.is_document) {
    at = read_label(at, end, rules, document.label);
    if (at == nullptr) return nullptr;
    at = skip_blanks(at, end);
    if (end - at < margin) return nullptr;
    document.qid_offset = static_cast<std::size_t>(at - begin);
    document.has_qid = std::memcmp(at, "qid:", 4) == 0;
    if (document.has_qid) {
      at = read_qid(at + 4, end, document.qid);
      if (at == nullptr) return nullptr;
      at = skip_blanks(at, end);
    }
    document.features_offset = static_cast<std::size_t>(at - begin);
    std::uint64_t const smallest = rules.zero_based ? 0 : 1;
    std::uint64_t next = smallest;
    bool ascending = true;
    while (end - at >= margin && !ends_token(*at)) {
      std::uint64_t feature = 0;
      at = read_feature_number(at, feature);
      if (at == nullptr || feature < smallest) return nullptr;
      ascending = ascending && feature >= next;
      next = feature + 1;
      entry->feature = static_cast<std::uint32_t>(feature);
      at = read_value(at, end, entry->value);
      if (at == nullptr) return nullptr;
      ++entry;
      at = skip_blanks(at, end);
    }
    if (end - at < margin) return nullptr;
    if (!ascending && !sort_features(entries, entry)) return nullptr;
  }
  auto const* feed = static_cast<char const*>(
      *at == '\n' ? at : std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
  if (feed == nullptr) return nullptr;
  char const* const line_end = feed > begin && feed[-1] == '\r' ? feed - 1 : feed;
  if (at < line_end) {  // a comment; any text without these two bytes
    auto const size = static_cast<std::size_t>(line_end - at);
    if (std::memchr(at, '\0', size) != nullptr || std::memchr(at, '\r', size) != nullptr)
      return nullptr;
  }
  document.length = static_cast<std::size_t>(line_end - begin);
  document.comment_offset =
      at < line_end ? static_cast<std::size_t>(at + 1 - begin) : document.length;
  entries = entry;
  return feed + 1;
}

}  // namespace rulerank::datasets
