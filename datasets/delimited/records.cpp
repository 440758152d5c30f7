#include "datasets/delimited/records.hpp"

#include "core/parallel.hpp"
#include "datasets/input/lines.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight/fields.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr char quote = '"';

bool is_blank_of_cell(char c) {
  return c == ' ' || c == '\t';
}

/// Returns whether a line ends at `at`: at the end of the text, LF or CRLF (also CR at the end of
/// the text).
bool is_line_end(std::string_view text, std::size_t at) {
  if (at == text.size() || text[at] == '\n') return true;
  return text[at] == '\r' && (at + 1 == text.size() || text[at + 1] == '\n');
}

}  // namespace

std::string cell::str() const {
  std::string plain(text);
  for (std::size_t at = 0; has_quotes && (at = plain.find(quote, at)) != plain.npos; ++at)
    plain.erase(at, 1);
  return plain;
}

record_reader::record_reader(char delimiter) : delimiter_(delimiter) {
  for (char const c : {delimiter, quote, '\n', '\r', '\0'})
    ends_[static_cast<unsigned char>(c)] = true;
}

void record_reader::read(std::string_view text, record& out) const {
  out.cells.clear();
  out.feeds = 0;
  std::string_view rest = text;
  remove_byte_order_mark(rest);
  std::size_t at = text.size() - rest.size();
  for (;;) {
    at = at < text.size() && text[at] == quote ? read_quoted(text, at, out)
                                               : read_plain(text, at, out);
    if (is_line_end(text, at)) break;
    ++at;  // the delimiter
  }
  out.text = text.substr(0, at);
  out.size = std::min(text.find('\n', at), text.size() - 1) + 1;
  if (text[out.size - 1] == '\n') ++out.feeds;
}

std::size_t record_reader::read_quoted(std::string_view text, std::size_t begin,
                                       record& out) const {
  cell now{{}, begin + 1, false};
  std::size_t at = begin + 1;
  for (;;) {
    at = text.find(quote, at);
    if (at == text.npos)
      throw line_fault{begin, "found a quote that is not closed, expected a second quote"};
    if (at + 1 == text.size() || text[at + 1] != quote) break;
    now.has_quotes = true;
    at += 2;
  }
  now.text = text.substr(begin + 1, at - begin - 1);
  if (std::size_t const nul = now.text.find('\0'); nul != now.text.npos)
    throw line_fault{begin + 1 + nul, "found a NUL byte, expected text"};
  out.feeds += static_cast<std::size_t>(std::count(now.text.begin(), now.text.end(), '\n'));
  out.cells.push_back(now);
  ++at;
  if (!is_line_end(text, at) && text[at] != delimiter_)
    throw line_fault{
        at,
        fmt::format(
            "found {} after a quote, expected {} or the line's end (write a quote in a cell twice)",
            rulerank::quoted(text.substr(at, 1)),
            delimiter_ == '\t'  ? "a tab"
            : delimiter_ == ',' ? "a comma"
                                : "a semicolon")};
  return at;
}

std::size_t record_reader::read_plain(std::string_view text, std::size_t begin, record& out) const {
  std::size_t at = begin;
  while (at < text.size() && !ends_[static_cast<unsigned char>(text[at])]) ++at;
  if (!is_line_end(text, at) && text[at] != delimiter_) {
    if (text[at] == quote)
      throw line_fault{
          at, "found a quote inside a cell, expected the cell in quotes and this quote twice"};
    throw line_fault{at, text[at] == '\r' ? inner_return_fault : "found a NUL byte, expected text"};
  }
  std::size_t first = begin;
  std::size_t last = at;
  while (first < last && is_blank_of_cell(text[first])) ++first;
  while (first < last && is_blank_of_cell(text[last - 1])) --last;
  out.cells.push_back({text.substr(first, last - first), first, false});
  return at;
}

// After an even number of quotes, a line feed ends a record, if the text has no fault.
std::vector<std::size_t> cut_at_records(context const& ctx, std::string_view text,
                                        std::size_t bytes) {
  std::size_t const blocks = text.size() / bytes + 1;
  std::vector<std::size_t> quotes(blocks);
  parallel_for(ctx, blocks, 1, [&](std::size_t first, std::size_t last, int) {
    for (std::size_t b = first; b < last; ++b) {
      std::string_view const block = text.substr(b * bytes, bytes);
      quotes[b] = static_cast<std::size_t>(std::count(block.begin(), block.end(), quote));
    }
  });
  std::vector<std::size_t> cuts{0};
  bool in_quotes = false;
  for (std::size_t b = 1; b < blocks; ++b) {
    in_quotes = in_quotes != (quotes[b - 1] % 2 == 1);
    if (b * bytes < cuts.back()) continue;
    bool inside = in_quotes;
    for (std::size_t at = b * bytes; at < text.size(); ++at) {
      if (text[at] == quote) inside = !inside;
      if (text[at] != '\n' || inside) continue;
      cuts.push_back(at + 1);
      break;
    }
  }
  if (cuts.back() != text.size()) cuts.push_back(text.size());
  return cuts;
}

std::size_t record_ends::last(std::string_view text) {
  std::size_t end = 0;
  for (; seen_ < text.size(); ++seen_) {
    if (text[seen_] == quote) in_quotes_ = !in_quotes_;
    if (text[seen_] == '\n' && !in_quotes_) end = seen_ + 1;
  }
  return end;
}

std::size_t record_ends::first(std::string_view text) {
  for (; seen_ < text.size(); ++seen_) {
    if (text[seen_] == quote) in_quotes_ = !in_quotes_;
    if (text[seen_] == '\n' && !in_quotes_) return seen_ + 1;
  }
  return 0;
}

namespace {

void append_quoted(std::string_view text, std::string& to) {
  to += quote;
  for (char const c : text) to.append(c == quote ? 2 : 1, c);
  to += quote;
}

}  // namespace

void append_cell(std::string_view text, char delimiter, std::string& to) {
  bool const needs_quotes =
      text.find_first_of("\"\r\n") != text.npos || text.find(delimiter) != text.npos ||
      (!text.empty() && (is_blank_of_cell(text.front()) || is_blank_of_cell(text.back())));
  if (needs_quotes)
    append_quoted(text, to);
  else
    to += text;
}

void append_title(std::string_view text, char delimiter, std::string& to) {
  if (delimiter == ',')
    append_quoted(text, to);
  else
    append_cell(text, delimiter, to);
}

}  // namespace rulerank::datasets
