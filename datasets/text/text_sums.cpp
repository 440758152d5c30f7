#include "datasets/text/text_sums.hpp"

#include "datasets/input/text_source.hpp"
#include "datasets/svmlight/comments.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::size_t digits = 8;

/// FNV-1a of words separated by single spaces.
class sum_of_words {
 public:
  void add(std::string_view text) {
    for (char const c : text) {
      if (is_comment_blank(c) || c == '\n') {
        within_ = false;
        continue;
      }
      if (!within_ && any_) add(' ');
      within_ = any_ = true;
      add(c);
    }
    within_ = false;
  }
  std::uint32_t sum() const { return static_cast<std::uint32_t>(hash_ ^ (hash_ >> 32)); }

 private:
  void add(char c) { hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U; }
  std::uint64_t hash_ = 0xcbf29ce484222325U;
  bool within_ = false, any_ = false;
};

std::optional<std::uint32_t> number_from(std::string_view hexadecimal) {
  std::uint32_t number = 0;
  char const* const last = hexadecimal.data() + hexadecimal.size();
  auto const [end, status] = std::from_chars(hexadecimal.data(), last, number, 16);
  if (status != std::errc{} || end != last) return std::nullopt;
  return number;
}

}  // namespace

std::uint32_t sum_of_text(std::span<text_field const> fields) {
  std::vector<text_field const*> ordered;
  for (text_field const& field : fields) ordered.push_back(&field);
  std::ranges::stable_sort(ordered, {}, [](text_field const* field) {
    return std::pair(field->name != "title", std::string_view(field->name));
  });
  sum_of_words words;
  for (text_field const* field : ordered) words.add(field->text);
  return words.sum();
}

std::uint32_t sum_of_text(std::string_view text) {
  sum_of_words words;
  words.add(text);
  return words.sum();
}

std::string comment_of(text_sums const& sums) {
  return fmt::format("{} = {:08x}-{:08x}", text_sums_key, sums.topic, sums.document);
}

std::optional<text_sums> text_sums_of(std::string_view comment) {
  std::string_view const value = value_of(comment, text_sums_key);
  if (value.size() != 2 * digits + 1 || value[digits] != '-') return std::nullopt;
  auto const topic = number_from(value.substr(0, digits));
  auto const document = number_from(value.substr(digits + 1));
  if (!topic || !document) return std::nullopt;
  return text_sums{*topic, *document};
}

std::string fault_of_text_sums(std::string_view comment) {
  std::string_view const value = value_of(comment, text_sums_key);
  bool const is_fault = value.data() != nullptr && !text_sums_of(comment);
  return is_fault ? unreadable_text_sums(value) : std::string();
}

std::string unreadable_text_sums(std::string_view found) {
  return fmt::format("{} {}, expected {} = TOPIC-DOCUMENT, eight hexadecimal digits each",
                     text_sums_key, rulerank::quoted(found), text_sums_key);
}

std::string without_text_sums(std::string_view comment) {
  if (!text_sums_of(comment)) return std::string(comment);
  std::string_view const value = value_of(comment, text_sums_key);
  auto const end = static_cast<std::size_t>(value.data() + value.size() - comment.data());
  std::size_t begin = comment.rfind(text_sums_key, end - value.size());
  if (begin > 0 && comment[begin - 1] == '#') --begin;
  std::string_view const before = trimmed_comment(comment.substr(0, begin));
  std::string_view const behind = trimmed_comment(comment.substr(end));
  return fmt::format("{}{}{}", before, before.empty() || behind.empty() ? "" : " ", behind);
}

}  // namespace rulerank::datasets
