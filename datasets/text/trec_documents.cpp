#include "datasets/text/trec_documents.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

// TREC's documents are not XML: tags are not always closed, attributes have no quotes, a bare < is
// text. Tags are told from text, and of the sections only those matter that hold the id and text.
namespace rulerank::inline v0::datasets {

namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_blank_character(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank_character(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank_character(text.back())) text.remove_suffix(1);
  return text;
}

constexpr std::size_t longest_tag = 4096;

/// `<NAME`, `</NAME`, and where its text ends; a comment and a declaration have no name.
struct tag {
  std::string name;  // in capitals
  bool closes = false;
  std::size_t end = 0;  // behind the >; 0: no tag begins here
};

tag tag_at(std::string_view text, std::size_t at) {
  std::string_view const rest = text.substr(at + 1);
  if (rest.starts_with("!--")) {
    std::size_t const end = text.find("-->", at + 4);
    return {{}, false, end == text.npos ? text.size() : end + 3};
  }
  bool const declares = rest.starts_with('!') || rest.starts_with('?');
  bool const closes = rest.starts_with('/');
  std::size_t const begin = at + (closes ? 2 : 1);
  if (!declares && (begin >= text.size() || !is_letter(text[begin]))) return {};
  // Text with many a < and no > is looked through once, not again from each of them.
  std::size_t const length = text.substr(begin, longest_tag).find('>');
  if (length == text.npos) return {};
  std::size_t const end = begin + length;
  std::size_t last = begin;
  while (std::isalnum(static_cast<unsigned char>(text[last])) != 0) ++last;
  return {upper(text.substr(begin, last - begin)), closes, end + 1};
}

/// Appends a character as UTF-8.
void append(std::string& to, std::uint32_t c) {
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

/// Appends the entity that begins at `at`, or the & alone; returns where it ends.
std::size_t append_entity(std::string_view text, std::size_t at, std::string& to) {
  constexpr std::size_t longest = 12;
  constexpr std::pair<std::string_view, char> known[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  std::string_view const rest = text.substr(at + 1, longest);
  std::size_t const end = rest.find(';');
  std::string_view const name = rest.substr(0, std::min(end, rest.size()));
  bool const is_number = name.size() > 1 && name[0] == '#';
  std::string_view const word = name.substr(is_number ? 1 : 0);
  bool const is_entity =
      end != rest.npos && !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
        return is_number ? c >= '0' && c <= '9' : std::isalnum(static_cast<unsigned char>(c)) != 0;
      });
  if (!is_entity) {
    to += '&';
    return at + 1;
  }
  std::uint64_t number = 0;
  if (is_number)
    for (char const c : word) number = number * 10 + static_cast<std::uint64_t>(c - '0');
  auto const* const one = std::find_if(std::begin(known), std::end(known),
                                       [&](auto const& k) { return k.first == name; });
  if (one != std::end(known))
    to += one->second;
  else if (number > 0 && number < 0x110000 && (number < 0xD800 || number > 0xDFFF))
    append(to, static_cast<std::uint32_t>(number));
  else
    to += ' ';
  return at + end + 2;
}

/// A document or a topic: its text between the tags that begin and end it.
struct trec_element {
  std::string text;
  std::uint64_t first_line = 0;  // of `text`

  std::uint64_t line_of(std::size_t offset) const {
    return first_line +
           static_cast<std::uint64_t>(
               std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
  }
};

/// Calls on_tag(tag, offset) and has the text between tags appended to what text_at() returns, or
/// dropped where that is null.
template <class OnTag, class TextAt>
void scan(std::string_view text, OnTag&& on_tag, TextAt&& text_at) {
  for (std::size_t at = 0; at < text.size();) {
    std::string* const to = text_at();
    if (text[at] == '<') {
      if (tag const found = tag_at(text, at); found.end > 0) {
        if (to != nullptr) *to += ' ';
        on_tag(found, at);
        at = found.end;
        continue;
      }
    }
    std::string unwanted;
    if (text[at] == '&') {
      at = append_entity(text, at, to == nullptr ? unwanted : *to);
      continue;
    }
    std::size_t const next = std::min(text.find_first_of("<&", at + 1), text.size());
    if (to != nullptr) to->append(text, at, next - at);
    at = next;
  }
}

enum class part { none, id, title, text, unwanted };

part part_of(std::string_view name) {
  constexpr std::pair<std::string_view, part> known[] = {
      {"DOCNO", part::id},        {"HEADLINE", part::title},  {"HEAD", part::title},
      {"HL", part::title},        {"TITLE", part::title},     {"TTL", part::title},
      {"TI", part::title},        {"TEXT", part::text},       {"LP", part::text},
      {"LEADPARA", part::text},   {"DOCID", part::unwanted},  {"DOCOLDNO", part::unwanted},
      {"DOCHDR", part::unwanted}, {"SCRIPT", part::unwanted}, {"STYLE", part::unwanted}};
  auto const* const at = std::find_if(std::begin(known), std::end(known),
                                      [&](auto const& one) { return one.first == name; });
  return at == std::end(known) ? part::none : at->second;
}

void give_document(document_lines& lines, trec_element const& of) {
  text_document document;
  std::string id, rest;
  std::size_t id_at = of.text.npos;
  bool has_text = false;
  part within = part::none;
  std::string section, skipped;  // their names
  auto const on_tag = [&](tag const& t, std::size_t offset) {
    if (t.closes) {
      if (t.name == skipped) skipped.clear();
      if (t.name == section) {
        within = part::none;
        section.clear();
      }
      return;
    }
    part const begins = part_of(t.name);
    if (begins == part::unwanted && skipped.empty()) skipped = t.name;
    if (begins == part::unwanted || begins == part::none || within != part::none) return;
    within = begins;
    section = t.name;
    if (within == part::id) id_at = std::min(id_at, offset);
    if (within == part::title) document.fields.push_back({"title", ""});
    if (within == part::text) document.fields.push_back({"text", ""});
    has_text = has_text || within == part::text;
  };
  scan(of.text, on_tag, [&]() -> std::string* {
    if (!skipped.empty()) return nullptr;
    if (within == part::none) return &rest;
    return within == part::id ? &id : &document.fields.back().text;
  });
  document.id = trimmed(id);
  if (id_at == of.text.npos)
    lines.fail_at(of.first_line, 1, "found a document without <DOCNO>, expected its id there");
  if (document.id.empty())
    lines.fail_at(of.line_of(id_at), 1, "found an empty <DOCNO>, expected the document's id");
  if (!has_text) document.fields.push_back({"text", std::move(rest)});
  lines.claim_at(of.line_of(id_at), document.id, 1);
  lines.give(std::move(document));
}

/// Without blanks around it and the name that stands before it in TREC's topics.
std::string_view without_name(std::string_view text, std::string_view name) {
  text = trimmed(text);
  if (upper(text.substr(0, name.size())) == name) text.remove_prefix(name.size());
  return trimmed(text);
}

void give_topic(document_lines& lines, trec_element const& of) {
  std::string number, title, description;
  std::size_t number_at = of.text.npos;
  std::string within;
  scan(
      of.text,
      [&](tag const& t, std::size_t offset) {
        within = t.closes ? std::string() : t.name;
        if (within == "NUM") number_at = std::min(number_at, offset);
      },
      [&]() -> std::string* {
        return within == "NUM"     ? &number
               : within == "TITLE" ? &title
               : within == "DESC"  ? &description
                                   : nullptr;
      });
  if (number_at == of.text.npos)
    lines.fail_at(of.first_line, 1, "found a topic without <num>, expected its number there");
  std::string_view id = without_name(number, "NUMBER:");
  if (id.find_first_not_of("0123456789") == id.npos)
    while (id.size() > 1 && id.front() == '0') id.remove_prefix(1);
  if (id.empty())
    lines.fail_at(of.line_of(number_at), 1, "found an empty <num>, expected the topic's number");
  std::string_view const heading = without_name(title, "TOPIC:");
  std::string_view const text =
      heading.empty() ? without_name(description, "DESCRIPTION:") : heading;
  if (text.empty())
    lines.fail_at(of.first_line, 1, "found a topic without text, expected <title> or <desc>");
  text_document topic;
  topic.id = id;
  topic.fields.push_back({heading.empty() ? "description" : "title", std::string(text)});
  lines.claim_at(of.line_of(number_at), topic.id, 1);
  lines.give(std::move(topic));
}

/// Where `</NAME>` begins in a line, in any case; npos: it does not.
std::size_t find_end(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find("</"); at != line.npos; at = line.find("</", at + 1))
    if (tag const found = tag_at(line, at); found.end > 0 && found.name == name) return at;
  return line.npos;
}

}  // namespace

bool begins_trec(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('<')) return false;
  tag const first = tag_at(line, 0);
  return first.end > 0 && !first.closes && (first.name == "DOC" || first.name == "TOP");
}

std::size_t read_trec(document_lines& lines) {
  std::size_t count = 0;
  do {
    std::string_view rest = trimmed(lines.line());
    if (!begins_trec(rest)) {
      if (!rest.empty() && !rest.starts_with('<'))
        lines.fail(1, fmt::format("found {} between documents, expected <DOC> or <top>",
                                  rulerank::quoted(rest)));
      continue;
    }
    tag const first = tag_at(rest, 0);
    trec_element one{{}, lines.number()};
    rest.remove_prefix(first.end);
    std::size_t end = find_end(rest, first.name);
    for (; end == rest.npos; end = find_end(rest, first.name)) {
      one.text += rest;
      one.text += '\n';
      if (!lines.next())
        lines.fail_at(one.first_line, 1,
                      fmt::format("found a <{0}> without its end, expected </{0}>", first.name));
      rest = lines.line();
    }
    one.text += rest.substr(0, end);
    rest = trimmed(rest.substr(tag_at(rest, end).end));
    if (!rest.empty())
      lines.fail(0, fmt::format("found {} behind the end of a <{}>, expected a line feed",
                                rulerank::quoted(rest), first.name));
    first.name == "DOC" ? give_document(lines, one) : give_topic(lines, one);
    ++count;
  } while (lines.next());
  return count;
}

}  // namespace rulerank::datasets
