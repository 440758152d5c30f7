#include "datasets/text/encoding.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unicode/ucnv.h>
#include <unicode/ucsdet.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>

namespace rulerank::inline v0::datasets {

namespace {

using converter_owner = std::unique_ptr<UConverter, decltype(&ucnv_close)>;

/// Returns null if ICU has no converter with this name.
converter_owner open_converter(std::string const& name) {
  UErrorCode status = U_ZERO_ERROR;
  // ICU would take an empty name for the system's encoding.
  converter_owner converter(name.empty() ? nullptr : ucnv_open(name.c_str(), &status), ucnv_close);
  if (converter != nullptr)
    ucnv_setToUCallBack(converter.get(), UCNV_TO_U_CALLBACK_STOP, nullptr, nullptr, nullptr,
                        &status);
  if (U_FAILURE(status)) converter.reset();
  return converter;
}

class encoding_decoder final : public decompressor {
 public:
  encoding_decoder(std::string name, converter_owner converter)
      : name_(std::move(name)), converter_(std::move(converter)) {}

  void feed(std::string_view bytes, sink const& out) override { convert(bytes, false, out); }
  void finish(sink const& out) override { convert({}, true, out); }

 private:
  void convert(std::string_view bytes, bool is_end, sink const& out) {
    char const* next = bytes.data();
    char const* const end = next + bytes.size();
    std::u16string text;
    UErrorCode status = U_BUFFER_OVERFLOW_ERROR;
    while (status == U_BUFFER_OVERFLOW_ERROR) {
      status = U_ZERO_ERROR;
      char16_t units[4096];
      char16_t* written = units;
      ucnv_toUnicode(converter_.get(), &written, std::end(units), &next, end, nullptr, is_end,
                     &status);
      text.append(units, written);
    }
    std::string utf8;
    icu::UnicodeString(false, text.data(), static_cast<std::int32_t>(text.size()))
        .toUTF8String(utf8);
    if (!utf8.empty()) out(utf8);
    if (U_FAILURE(status)) fail(status);
  }

  [[noreturn]] void fail(UErrorCode status) const {
    if (status == U_TRUNCATED_CHAR_FOUND)
      throw archive_fault(fmt::format("the {} text ends inside a character", name_));
    unsigned char bytes[32];  // more than a character needs
    std::int8_t count = sizeof(bytes);
    UErrorCode none = U_ZERO_ERROR;
    ucnv_getInvalidChars(converter_.get(), reinterpret_cast<char*>(bytes), &count, &none);
    auto const shown = std::span(bytes).first(static_cast<std::size_t>(count));
    throw archive_fault(fmt::format("found the {} {:02X}, expected a character of {}",
                                    count == 1 ? "byte" : "bytes", fmt::join(shown, " "), name_));
  }

  std::string name_;
  converter_owner converter_;
};

/// Returns whether all bytes are valid in this encoding; the last character may be incomplete.
bool converts(std::string const& name, std::string_view text) {
  auto converter = open_converter(name);
  if (converter == nullptr) return false;
  try {
    encoding_decoder(name, std::move(converter)).feed(text, [](std::string_view) {});
  } catch (archive_fault const&) {
    return false;
  }
  return true;
}

/// Returns whether more non-ASCII characters are valid UTF-8 than bytes are invalid.
bool is_mostly_utf8(std::string_view text) {
  std::size_t good = 0, bad = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const begin = at;
    UChar32 c = 0;
    U8_NEXT(text.data(), at, text.size(), c);
    bad += c < 0;
    good += c >= 0 && at > begin + 1;
  }
  return good > bad;
}

}  // namespace

std::vector<std::string> encoding_names() {
  std::vector<std::string> names;
  for (std::int32_t c = 0; c < ucnv_countAvailable(); ++c) {
    UErrorCode status = U_ZERO_ERROR;
    char const* const converter = ucnv_getAvailableName(c);
    std::uint16_t const aliases = ucnv_countAliases(converter, &status);
    for (std::uint16_t a = 0; a < aliases; ++a)
      names.emplace_back(ucnv_getAlias(converter, a, &status));
  }
  return names;
}

std::unique_ptr<decompressor> make_encoding_decoder(std::string const& name) {
  auto converter = open_converter(name);
  if (converter == nullptr)
    throw usage_error(fmt::format(
        "found the encoding '{}', expected one such as windows-1252, Shift_JIS or GB18030", name));
  return std::make_unique<encoding_decoder>(name, std::move(converter));
}

void expect_encoding(std::string const& name) {
  make_encoding_decoder(name);
}

std::size_t first_not_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t eight = 0;
    if (at + sizeof(eight) <= text.size()) {
      std::memcpy(&eight, text.data() + at, sizeof(eight));
      if ((eight & 0x8080808080808080U) == 0) {
        at += sizeof(eight);
        continue;
      }
    }
    std::size_t const begin = at;
    UChar32 c = 0;
    U8_NEXT(text.data(), at, text.size(), c);
    if (c < 0) return begin;
  }
  return text.npos;
}

encoding_guess likely_encoding(std::string_view text) {
  constexpr std::size_t enough = 1 << 16, most_names = 4;
  constexpr std::ptrdiff_t certain_bytes = 20;
  constexpr std::int32_t surely = 100;
  text = text.substr(0, enough);
  if (is_mostly_utf8(text)) return {};
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<UCharsetDetector, decltype(&ucsdet_close)> const detector(ucsdet_open(&status),
                                                                            ucsdet_close);
  ucsdet_setText(detector.get(), text.data(), static_cast<std::int32_t>(text.size()), &status);
  std::int32_t count = 0;
  UCharsetMatch const** const matches = ucsdet_detectAll(detector.get(), &count, &status);
  if (U_FAILURE(status)) return {};
  encoding_guess guess;
  std::vector<std::int32_t> confidence;
  for (std::int32_t m = 0; m < count && guess.names.size() < most_names; ++m) {
    std::string const name = ucsdet_getName(matches[m], &status);
    bool const is_of_text = !name.starts_with("UTF-") && !name.starts_with("IBM");
    if (U_FAILURE(status) || !is_of_text || !converts(name, text)) continue;
    guess.names.push_back(name);
    confidence.push_back(ucsdet_getConfidence(matches[m], &status));
  }
  auto const foreign = std::ranges::count_if(text, [](char c) { return c < 0; });
  guess.is_certain = foreign >= certain_bytes && !guess.names.empty() &&
                     (guess.names.size() == 1 || confidence[0] >= surely ||
                      5 * confidence[0] >= 7 * confidence[1]);
  return guess;
}

std::string encoding_guess::text() const {
  if (is_certain) return "probably " + names.front();
  std::string all = "perhaps " + names.front();
  for (std::size_t i = 1; i < names.size(); ++i)
    all += (i + 1 == names.size() ? " or " : ", ") + names[i];
  return all;
}

namespace {

/// Returns an error about the first byte that is not UTF-8; its file name is empty.
std::optional<error> first_foreign_byte(std::string_view text, std::string const& name) {
  std::size_t const at = first_not_utf8(text);
  if (at == text.npos) return std::nullopt;
  std::string_view const before = text.substr(0, at);
  std::size_t const begin = before.rfind('\n') + 1;
  encoding_guess const guess = likely_encoding(text.substr(begin));
  return error(
      {name, static_cast<std::uint64_t>(std::ranges::count(before, '\n')) + 1, at - begin + 1},
      fmt::format("found the byte {:02X}, expected UTF-8{}; iconv -f {} -t UTF-8 converts the file",
                  static_cast<unsigned char>(text[at]),
                  guess.names.empty() ? "" : ", but the text is " + guess.text(),
                  guess.is_certain ? guess.names.front() : "NAME"));
}

}  // namespace

std::string encoding_note(std::string_view text) {
  auto const found = first_foreign_byte(text, "");
  if (!found) return {};
  return fmt::format(":{}:{}: {}", found->where().line, found->where().column, found->what());
}

void expect_utf8(std::string_view text, std::string const& name) {
  if (auto const found = first_foreign_byte(text, name)) throw *found;
}

}  // namespace rulerank::datasets
