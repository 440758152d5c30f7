#include "knn/unicode.hpp"

#include <stdexcept>

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

namespace rulerank::inline v0::knn {

namespace {

void check(UErrorCode status) {
  if (U_FAILURE(status)) throw std::runtime_error(std::string("ICU: ") + u_errorName(status));
}

void normalize(icu::Normalizer2 const* (*form)(UErrorCode&), std::string_view utf8,
               std::string& out) {
  UErrorCode status = U_ZERO_ERROR;
  icu::Normalizer2 const* const normalizer = form(status);
  check(status);
  out.clear();
  icu::StringByteSink<std::string> sink(&out);
  normalizer->normalizeUTF8(0, {utf8.data(), static_cast<std::int32_t>(utf8.size())}, sink, nullptr,
                            status);
  check(status);
}

bool is_accent(UChar32 c) {
  auto const combining_class = u_getCombiningClass(c);
  return combining_class == 1 || (combining_class >= 10 && combining_class <= 36) ||
         combining_class >= 200;
}

/// Returns the code point at `at`, and moves `at` after it.
UChar32 next_code_point(std::string_view utf8, std::size_t& at) {
  UChar32 c = 0;
  U8_NEXT_UNSAFE(utf8.data(), at, c);
  return c;
}

}  // namespace

std::string_view well_formed(std::string_view bytes, std::string& buffer) {
  buffer.clear();
  std::size_t good = 0;  // the bytes before it are in the buffer
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t const begin = at;
    UChar32 c = 0;
    U8_NEXT(bytes.data(), at, bytes.size(), c);
    if (c >= 0) continue;
    auto const latin = static_cast<unsigned char>(bytes[begin]);
    buffer += bytes.substr(good, begin - good);
    buffer += static_cast<char>(0xc0 | latin >> 6);
    buffer += static_cast<char>(0x80 | (latin & 0x3f));
    good = at = begin + 1;
  }
  if (good == 0) return bytes;
  return buffer += bytes.substr(good);
}

std::size_t count_code_points(std::string_view utf8) noexcept {
  std::size_t count = 0;
  for (char const byte : utf8) count += U8_IS_TRAIL(byte) ? 0 : 1;
  return count;
}

void fold_case(std::string_view utf8, std::string& out) {
  normalize(icu::Normalizer2::getNFKCCasefoldInstance, utf8, out);
  constexpr std::string_view apostrophe = "\u2019";
  for (auto at = out.find(apostrophe); at != out.npos; at = out.find(apostrophe, at)) {
    out[at] = '\'';
    out.erase(at + 1, apostrophe.size() - 1);
  }
}

void compose(std::string_view utf8, std::string& out) {
  normalize(icu::Normalizer2::getNFCInstance, utf8, out);
}

void remove_accents(std::string& utf8) {
  std::string apart;
  normalize(icu::Normalizer2::getNFDInstance, utf8, apart);
  std::string kept;
  for (std::size_t at = 0; at < apart.size();) {
    std::size_t const begin = at;
    if (!is_accent(next_code_point(apart, at))) kept.append(apart, begin, at - begin);
  }
  normalize(icu::Normalizer2::getNFCInstance, kept, utf8);
}

word_breaker::word_breaker() {
  UErrorCode status = U_ZERO_ERROR;
  boundaries_.reset(icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), status));
  check(status);
}

word_breaker::~word_breaker() {
  utext_close(&text_);
}

void word_breaker::begin(std::string_view utf8) {
  UErrorCode status = U_ZERO_ERROR;
  utext_openUTF8(&text_, utf8.data(), static_cast<std::int64_t>(utf8.size()), &status);
  boundaries_->setText(&text_, status);
  check(status);
  boundaries_->first();
}

bool word_breaker::next(std::string_view utf8, std::string_view& word, bool& has_letter) {
  for (;;) {
    auto const begin = static_cast<std::size_t>(boundaries_->current());
    auto const end = boundaries_->next();
    if (end == icu::BreakIterator::DONE) return false;
    if (boundaries_->getRuleStatus() < UBRK_WORD_NONE_LIMIT) continue;
    word = utf8.substr(begin, static_cast<std::size_t>(end) - begin);
    bool has_number = has_letter = false;
    for (std::size_t at = 0; at < word.size();) {
      UChar32 const c = next_code_point(word, at);
      has_letter = has_letter || u_isUAlphabetic(c);
      has_number = has_number || (U_GET_GC_MASK(c) & U_GC_N_MASK) != 0;
    }
    if (has_letter || has_number) return true;
  }
}

bool word_breaker::is_whole(std::string_view utf8) {
  begin(utf8);
  return boundaries_->next() == static_cast<std::int32_t>(utf8.size());
}

}  // namespace rulerank::knn
