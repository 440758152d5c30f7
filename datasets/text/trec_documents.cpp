#include "datasets/text/trec_documents.hpp"

#include "core/error.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/text/entities.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

// TREC's documents are not XML: tags may be unclosed, attributes unquoted, and a bare < is text.
// This reader distinguishes tags from text, and only uses the sections with the id and text.
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

/// `<NAME` or `</NAME`, and where the tag ends; comments and declarations have no name.
struct tag {
  std::string name;  // in capitals
  bool closes = false;
  std::size_t end = 0;           // after the >; 0: no tag begins here
  bool is_open_comment = false;  // it lacks --> and ends with the text
};

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' ||
         c == ':';
}

/// HTML elements whose attributes may be without values, or malformed.
bool is_html(std::string_view name) {
  constexpr std::string_view names[] = {
      "A",      "APPLET", "AREA",  "B",      "BODY",     "BR",     "BUTTON", "CENTER", "DIR",
      "DIV",    "DL",     "FONT",  "FORM",   "FRAME",    "H1",     "H2",     "H3",     "H4",
      "BIG",    "CITE",   "CODE",  "EM",     "MARK",     "SMALL",  "STRONG", "SUB",    "SUP",
      "H5",     "H6",     "HR",    "HTML",   "I",        "IFRAME", "IMG",    "INPUT",  "LI",
      "LINK",   "MENU",   "META",  "OBJECT", "OL",       "OPTION", "P",      "PRE",    "SCRIPT",
      "SELECT", "SPAN",   "STYLE", "TABLE",  "TEXTAREA", "TD",     "TH",     "TR",     "UL"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Reads the attribute at `at` in the text of a tag after its name; returns whether it has a value,
/// and moves `at` after it.
bool next_attribute(std::string_view inside, std::size_t& at, std::string_view& name,
                    std::string_view& value) {
  auto const pass_blanks = [&] {
    while (at < inside.size() && is_blank_character(inside[at])) ++at;
  };
  std::size_t const begin = at;
  while (at < inside.size() && is_name_character(inside[at])) ++at;
  name = inside.substr(begin, at - begin);
  pass_blanks();
  if (name.empty() || at == inside.size() || inside[at] != '=') return false;
  ++at;
  pass_blanks();
  char const quote = at < inside.size() ? inside[at] : '\0';
  bool const is_quoted = quote == '"' || quote == '\'';
  if (is_quoted) ++at;
  std::size_t const first = at;
  while (at < inside.size() && (is_quoted ? inside[at] != quote : !is_blank_character(inside[at])))
    ++at;
  value = inside.substr(first, at - first);
  if (is_quoted && at < inside.size()) ++at;
  pass_blanks();
  return true;
}

/// Returns whether the text of a tag after its name consists of attributes with values.
bool are_attributes(std::string_view inside) {
  std::string_view name, value;
  if (inside.ends_with('/')) inside.remove_suffix(1);
  inside = trimmed(inside);
  for (std::size_t at = 0; at < inside.size();)
    if (!next_attribute(inside, at, name, value)) return false;
  return true;
}

/// Returns whether a < begins a declaration of XML or HTML rather than text: `<!beta gamma>` is
/// text.
bool is_declaration(std::string_view rest) {
  constexpr std::size_t longest = 9;
  std::string const begin = upper(rest.substr(0, longest));
  constexpr std::string_view known[] = {"?",        "![",      "!DOCTYPE", "!ELEMENT",
                                        "!ATTLIST", "!ENTITY", "!NOTATION"};
  return std::any_of(std::begin(known), std::end(known),
                     [&](std::string_view one) { return begin.starts_with(one); });
}

/// A bare < is text: `x<y and z>0` is no tag.
tag tag_at(std::string_view text, std::size_t at) {
  std::string_view const rest = text.substr(at + 1);
  if (rest.starts_with("!--")) {
    std::size_t const end = text.find("-->", at + 4);
    return {{}, false, end == text.npos ? text.size() : end + 3, end == text.npos};
  }
  bool const declares = is_declaration(rest);
  bool const closes = rest.starts_with('/');
  std::size_t const begin = at + (closes ? 2 : 1);
  if (!declares && (begin >= text.size() || !is_letter(text[begin]))) return {};
  // Scans a text with many < and no > only once, not again from each <.
  std::size_t const length = text.substr(begin, longest_tag).find_first_of("<>");
  if (length == text.npos || text[begin + length] == '<') return {};
  std::size_t const end = begin + length;
  if (declares) return {{}, false, end + 1};
  std::size_t last = begin;
  while (is_name_character(text[last])) ++last;
  std::string name = upper(text.substr(begin, last - begin));
  std::string_view const inside = text.substr(last, end - last);
  bool const is_bare = inside.empty() || inside == "/";
  if (!is_bare &&
      (!is_blank_character(inside.front()) || (!is_html(name) && !are_attributes(inside))))
    return {};
  return {std::move(name), closes, end + 1};
}

/// Returns the value of an attribute of the tag that begins a text, its name in lower case; empty
/// if there is none.
std::string_view attribute_of(std::string_view text, tag const& of, std::string_view wanted) {
  std::string_view inside = text.substr(0, of.end - 1);
  inside.remove_prefix(1 + of.name.size());
  if (inside.ends_with('/')) inside.remove_suffix(1);
  inside = trimmed(inside);
  std::string_view name, value;
  for (std::size_t at = 0; at < inside.size() && next_attribute(inside, at, name, value);)
    if (same_word(name, wanted)) return value;
  return {};
}

/// Appends the entity that begins at `at`, or only the &; returns its end.
std::size_t append_entity(std::string_view text, std::size_t at, std::string& to) {
  constexpr std::size_t longest = 12;
  std::string_view const rest = text.substr(at + 1, longest);
  std::size_t const end = rest.find(';');
  std::string_view const name = rest.substr(0, std::min(end, rest.size()));
  std::string_view const word = name.substr(name.starts_with('#') ? 1 : 0);
  bool const is_entity =
      end != rest.npos && !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0;
      });
  if (!is_entity) {
    to += '&';
    return at + 1;
  }
  std::uint32_t const character = character_of(name);
  if (character == 0)
    to += ' ';
  else
    append_utf8(to, character);
  return at + end + 2;
}

/// A document or a topic: the text between its opening and closing tag.
struct trec_element {
  std::string text;
  std::uint64_t first_line = 0;    // of `text`
  std::string name{};              // of its tag, in capitals
  std::string id{};                // attribute of its tag; empty: none
  std::uint64_t first_column = 1;  // of `text`

  std::uint64_t line_of(std::size_t offset) const {
    return first_line +
           static_cast<std::uint64_t>(
               std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
  }
  std::uint64_t column_of(std::size_t offset) const {
    std::size_t const line = offset == 0 ? text.npos : text.rfind('\n', offset - 1);
    return line == text.npos ? first_column + offset : offset - line;
  }
};

/// Returns where `</NAME>` begins in a text, in any case, or npos.
std::size_t find_end(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find("</"); at != text.npos; at = text.find("</", at + 1))
    if (tag const found = tag_at(text, at); found.end > 0 && found.name == name) return at;
  return text.npos;
}

constexpr std::string_view cdata_begin = "<![CDATA[", cdata_end = "]]>";

/// Calls on_tag(tag, offset), and appends the text between tags to the result of text_at(), or
/// drops it if that is null.
template <class OnTag, class TextAt>
void scan(std::string_view text, OnTag&& on_tag, TextAt&& text_at) {
  for (std::size_t at = 0; at < text.size();) {
    std::string* const to = text_at();
    if (text.substr(at).starts_with(cdata_begin)) {
      std::size_t const begin = at + cdata_begin.size();
      std::size_t const end = std::min(text.find(cdata_end, begin), text.size());
      if (to != nullptr) to->append(text, begin, end - begin);
      at = std::min(end + cdata_end.size(), text.size());
      continue;
    }
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

/// Warns of an unterminated construct at an offset of an element, once for all files.
void warn_of_open(document_lines& lines, trec_element const& of, std::size_t offset,
                  std::string_view begin, std::string_view end) {
  lines.warn_once(
      fmt::format("{}:{}: found {} without its end, expected {}; left out the rest of the document",
                  lines.name(), of.line_of(offset), begin, end));
}

/// Returns the id in the attributes of a tag.
std::string id_in(std::string_view text, tag const& of) {
  for (std::string_view const name : {"number", "id", "num", "qid", "topic_id", "docno", "q"})
    if (std::string_view const id = trimmed(attribute_of(text, of, name)); !id.empty())
      return std::string(id);
  return {};
}

[[noreturn]] void fail_within(document_lines const& lines, trec_element const& of,
                              std::size_t offset) {
  lines.fail_at(of.line_of(offset), of.column_of(offset),
                fmt::format("found <{0}> within the <{0}> of line {1}, expected </{0}> first",
                            of.name, of.first_line));
}

/// Throws for an element that begins within another one, whose closing tag is probably missing. In
/// the text of a document, <DOC> without an id may be a word.
void expect_closed(document_lines const& lines, trec_element const& of, tag const& t,
                   std::size_t offset) {
  if (t.name != of.name) return;
  bool const has_id = !id_in(std::string_view(of.text).substr(offset), t).empty();
  if (has_id || of.name != "DOC") fail_within(lines, of, offset);
}

/// Returns the name of a section in capitals and in full, without the language that begins CLEF's
/// names: `EN-desc` is DESCRIPTION.
std::string section_name(std::string_view tag_name) {
  std::string name = upper(tag_name);
  if (std::size_t const dash = name.find('-'); dash == 1 || dash == 2) name.erase(0, dash + 1);
  return name == "DESC" ? "DESCRIPTION" : name == "NARR" ? "NARRATIVE" : name;
}

/// Returns the requested name of a section, or null.
std::string const* requested_name(trec_fields const& fields, std::string_view tag_name) {
  auto const at = std::ranges::find(fields.names, section_name(tag_name), section_name);
  return at == fields.names.end() ? nullptr : &*at;
}

/// Records an element that was found, for the message about a name that is not.
void note_element(trec_fields& fields, std::string const& tag_name) {
  if (!fields.names.empty() && (!is_html(tag_name) || requested_name(fields, tag_name) != nullptr))
    fields.found.insert(tag_name);
}

/// Returns the part that begins with a tag; requested names replace the usual ones.
part part_of(std::string_view name, trec_fields const& fields) {
  part const usual = part_of(name);
  if (fields.names.empty() || usual == part::id) return usual;
  if (requested_name(fields, name) != nullptr) return part::text;
  return usual == part::unwanted ? usual : part::none;
}

/// Throws for a second <DOCNO>, at `offset`. `inner`: of the first <DOC> within the document, or
/// npos.
[[noreturn]] void fail_again(document_lines const& lines, trec_element const& of,
                             std::size_t offset, std::size_t inner) {
  if (inner != of.text.npos) fail_within(lines, of, inner);
  lines.fail_at(of.line_of(offset), 1, "found <DOCNO> again, expected it once in a document");
}

/// Returns the id in a document; throws `error` if there is none. `at`: of its tag, or npos.
std::string_view expect_docno(document_lines const& lines, trec_element const& of,
                              std::string_view id, std::size_t at) {
  id = trimmed(id);
  if (at == of.text.npos)
    lines.fail_at(of.first_line, 1, "found a document without <DOCNO>, expected its id in <DOCNO>");
  if (id.empty())
    lines.fail_at(of.line_of(at), 1, "found an empty <DOCNO>, expected the document's id");
  return id;
}

void give_document(document_lines& lines, trec_element const& of, trec_fields& fields) {
  text_document document;
  std::string id, rest;
  std::size_t id_at = of.text.npos;
  std::size_t again_at = of.text.npos;  // of the first <DOC> in it
  bool has_text = false;
  part within = part::none;
  std::string section, skipped;  // their names
  std::size_t skipped_at = 0;
  auto const on_tag = [&](tag const& t, std::size_t offset) {
    if (t.is_open_comment) warn_of_open(lines, of, offset, "<!--", "-->");
    if (t.closes) {
      if (t.name == skipped) skipped.clear();
      if (t.name == section) {
        within = part::none;
        section.clear();
      }
      return;
    }
    if (skipped.empty()) expect_closed(lines, of, t, offset);
    if (t.name == of.name && again_at == of.text.npos) again_at = offset;
    part const begins = part_of(t.name, fields);
    if (begins != part::id) note_element(fields, t.name);
    if (begins != part::none && within == part::id)
      lines.fail_at(of.line_of(offset), 1,
                    fmt::format("found <{}> within <DOCNO>, expected </DOCNO> first", t.name));
    if (begins == part::id && id_at != of.text.npos) fail_again(lines, of, offset, again_at);
    if (begins == part::unwanted && skipped.empty()) {
      skipped = t.name;
      skipped_at = offset;
    }
    if (begins == part::unwanted || begins == part::none || within != part::none) return;
    within = begins;
    section = t.name;
    if (within == part::id) id_at = offset;
    if (within == part::title) document.fields.push_back({"title", ""});
    std::string const* const named = requested_name(fields, t.name);
    if (within == part::text) document.fields.push_back({named != nullptr ? *named : "text", ""});
    has_text = has_text || within == part::text;
  };
  scan(of.text, on_tag, [&]() -> std::string* {
    if (!skipped.empty()) return nullptr;
    if (within == part::none) return &rest;
    return within == part::id ? &id : &document.fields.back().text;
  });
  if (!skipped.empty())
    warn_of_open(lines, of, skipped_at, '<' + skipped + '>', "</" + skipped + '>');
  if (within == part::id)
    lines.fail_at(of.line_of(id_at), 1, "found <DOCNO> without its end, expected </DOCNO>");
  if (id_at == of.text.npos && !of.id.empty()) {
    id = of.id;
    id_at = 0;
  }
  document.id = expect_docno(lines, of, id, id_at);
  if (!has_text && fields.names.empty()) document.fields.push_back({"text", std::move(rest)});
  lines.claim_at(of.line_of(id_at), document.id, 1);
  lines.give(std::move(document));
}

/// Trims a text and removes the name before it in TREC's topics.
std::string_view without_name(std::string_view text, std::string_view name) {
  text = trimmed(text);
  if (upper(text.substr(0, name.size())) == name) text.remove_prefix(name.size());
  return trimmed(text);
}

/// The sections of a topic. A section ends at its closing tag; between them other tags are markup.
/// Without a closing tag, it ends at the next tag that is not HTML.
class topic_sections {
 public:
  topic_sections(document_lines& lines, trec_element const& of, trec_fields& fields)
      : lines_(lines), of_(of), fields_(fields) {}

  void on_tag(tag const& t, std::size_t offset) {
    if (t.is_open_comment) warn_of_open(lines_, of_, offset, "<!--", "-->");
    if (t.name.empty()) return;
    if (!t.closes) expect_closed(lines_, of_, t, offset);
    expect_no_stray_words(offset);
    if (!t.closes) return open(t, offset);
    if (now_ == nullptr || is_closed_ || !is_html(t.name)) {
      if (is_closed_ && t.name != name_) return;
      now_ = t.name == name_ ? &stray_ : nullptr;
      is_closed_ = false;
    }
  }
  std::string* text() { return now_; }
  /// The topic; `of.id` has priority over the section with its number.
  text_document finish();

 private:
  struct section {
    std::string text;
    std::size_t at = std::string::npos;  // of its tag in the element
  };

  /// The section of a tag.
  section* section_of(std::string_view tag_name) {
    std::string const name = section_name(tag_name);
    std::pair<std::string_view, section*> const known[] = {
        {"NUM", &number_},     {"NUMBER", &number_}, {"IDENTIFIER", &number_},
        {"QID", &number_},     {"ID", &number_},     {"QUERY", &query_},
        {"TITLE", &title_},    {"TEXT", &words_},    {"DESCRIPTION", &description_},
        {"CONTENT", &content_}};
    auto const* const at = std::find_if(std::begin(known), std::end(known),
                                        [&](auto const& one) { return one.first == name; });
    if (at != std::end(known)) return at->second;
    return requested_name(fields_, name) == nullptr ? nullptr : &others_[name];
  }

  void open(tag const& t, std::size_t offset) {
    section* const begins = section_of(t.name);
    if (begins != &number_) note_element(fields_, t.name);
    if (begins == nullptr) {
      if (!is_closed_ && !is_html(t.name)) now_ = nullptr;
      return;
    }
    if (is_closed_ && !trimmed(*now_).empty())
      fail(offset, fmt::format("found <{0}> within <{1}>, expected </{1}> first", t.name, name_));
    if (begins == &title_) expect_one_language(t, offset);
    if (begins->at != std::string::npos)
      fail(offset, fmt::format("found <{}> again (first on line {}), expected it once in a topic",
                               t.name, of_.line_of(begins->at)));
    begins->at = offset;
    now_ = &begins->text;
    name_ = t.name;
    is_closed_ =
        find_end(std::string_view(of_.text).substr(offset), t.name) != std::string_view::npos;
  }

  void expect_one_language(tag const& t, std::size_t offset) {
    if (!title_name_.empty() && title_name_ != t.name)
      fail(offset, fmt::format("found <{}> and <{}>, expected a title in one language", t.name,
                               title_name_));
    title_name_ = t.name;
  }

  /// Words between two sections belong to none of them.
  void expect_no_stray_words(std::size_t offset) const {
    std::string_view const words = trimmed(stray_);
    if (!words.empty())
      fail(offset, fmt::format("found {} after </{}>, expected it before, or in a section such as "
                               "<desc>",
                               rulerank::quoted(words), name_));
  }

  [[noreturn]] void fail(std::size_t offset, std::string const& what) const {
    lines_.fail_at(of_.line_of(offset), of_.column_of(offset), what);
  }

  void add_usual_text(text_document& topic) const;
  void add_requested_text(text_document& topic);
  void add(text_document& topic, std::string_view text, std::string_view name,
           std::string_view heading) const;

  document_lines& lines_;
  trec_element const& of_;
  trec_fields& fields_;
  section number_, query_, title_, content_, words_, description_;
  std::map<std::string, section> others_;  // requested, by `section_name`
  std::string bare_, stray_, title_name_;
  std::string* now_ = &bare_;  // null: text that is not used
  std::string name_;           // of the last section
  bool is_closed_ = false;     // `now_` ends at its closing tag
};

/// Adds a text, unless it is empty, without the heading before it.
void topic_sections::add(text_document& topic, std::string_view text, std::string_view name,
                         std::string_view heading) const {
  std::string_view const words = without_name(text, heading);
  if (words.empty()) return;
  if (words.starts_with('#'))
    lines_.fail_at(of_.first_line, 1,
                   fmt::format("found {} in a topic, expected words without operators",
                               rulerank::quoted(words.substr(0, words.find_first_of("( \n")))));
  topic.fields.push_back({std::string(name), std::string(words)});
}

/// Adds the first text that is not empty.
void topic_sections::add_usual_text(text_document& topic) const {
  for (auto const& [text, name, heading] :
       {std::tuple(&query_.text, "query", "QUERY:"), std::tuple(&title_.text, "title", "TOPIC:"),
        std::tuple(&content_.text, "content", ""), std::tuple(&words_.text, "title", "TOPIC:"),
        std::tuple(&bare_, "text", ""),
        std::tuple(&description_.text, "description", "DESCRIPTION:")})
    if (topic.fields.empty()) add(topic, *text, name, heading);
  if (topic.fields.empty())
    lines_.fail_at(of_.first_line, 1,
                   "found a topic without text, expected <title>, <query> or <desc>");
}

/// Adds the requested sections, in the order of their names.
void topic_sections::add_requested_text(text_document& topic) {
  for (std::string const& name : fields_.names) {
    section const* const one = section_of(name);
    if (one == nullptr || one == &number_) continue;
    std::string const full = section_name(name);
    add(topic, one->text, name, (full == "TITLE" ? "TOPIC" : full) + ':');
  }
  if (topic.fields.empty())
    lines_.fail_at(of_.first_line, 1,
                   fmt::format("found a topic without text in <{}>, expected a section such as {}",
                               printable(fmt::format("{}", fmt::join(fields_.names, ">, <"))),
                               fmt::join(fields_.found, ", ")));
}

text_document topic_sections::finish() {
  expect_no_stray_words(of_.text.size());
  std::size_t const number_at = number_.at;
  if (number_at == std::string::npos && of_.id.empty())
    lines_.fail_at(of_.first_line, 1, "found a topic without <num>, expected its number in <num>");
  std::string_view id = of_.id.empty() ? without_name(number_.text, "NUMBER:") : of_.id;
  // TREC's `Number: 051` is 51 in qrels; other collections have ids such as 0101 in both.
  bool const has_heading = of_.id.empty() && id.size() < trimmed(number_.text).size();
  if (has_heading && id.find_first_not_of("0123456789") == id.npos)
    while (id.size() > 1 && id.front() == '0') id.remove_prefix(1);
  if (id.empty()) fail(number_at, "found an empty <num>, expected the topic's number");
  text_document topic;
  topic.id = id;
  fields_.names.empty() ? add_usual_text(topic) : add_requested_text(topic);
  lines_.claim_at(number_at == std::string::npos ? of_.first_line : of_.line_of(number_at),
                  topic.id, 1);
  return topic;
}

void give_topic(document_lines& lines, trec_element const& of, trec_fields& fields) {
  topic_sections sections(lines, of, fields);
  scan(
      of.text, [&](tag const& t, std::size_t offset) { sections.on_tag(t, offset); },
      [&] { return sections.text(); });
  lines.give(sections.finish());
}

/// Returns whether an element with this name is a document or a topic; `query` is used in Indri's
/// parameters.
bool is_element(std::string_view name) {
  constexpr std::string_view names[] = {"DOC", "TOP", "TOPIC", "INEX_TOPIC", "QUERY"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Returns the word after the < at the beginning of a text, in capitals.
std::string name_after_mark(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && is_name_character(text[end])) ++end;
  return upper(text.substr(1, end - 1));
}

/// The column of a part of a text in its line.
std::uint64_t column_in(std::string_view whole, std::string_view part) {
  std::string_view const before =
      whole.substr(0, static_cast<std::size_t>(part.data() - whole.data()));
  return before.size() - (before.rfind('\n') + 1) + 1;
}

/// Appends the lines of an element up to its closing tag, of which it returns the place in `rest`.
std::size_t take_lines(document_lines& lines, trec_element& to, std::string_view& rest) {
  for (;;) {
    std::size_t const end = find_end(rest, to.name);
    to.text += rest.substr(0, end);
    if (end != rest.npos) return end;
    to.text += '\n';
    if (!lines.next())
      lines.fail_at(to.first_line, 1,
                    fmt::format("found a <{0}> without its end, expected </{0}>", to.name));
    rest = lines.line();
  }
}

}  // namespace

bool begins_trec(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('<')) return false;
  tag const first = tag_at(line, 0);
  if (first.end == 0)
    return line.starts_with("<?") || line.starts_with("<!") || is_element(name_after_mark(line));
  if (first.closes) return false;
  // An id may look like a tag: <dbpedia:Berlin>.
  return is_element(first.name) || line.find('\t') == line.npos;
}

void trec_fields::expect_found(std::string const& path) const {
  for (std::string const& name : names)
    if (std::ranges::find(found, section_name(name), section_name) == found.end())
      throw error({path, 0, 0},
                  fmt::format("found no <{}>, expected --text-fields or --query-fields of these: "
                              "{}",
                              printable(name), fmt::join(found, ", ")));
}

std::size_t read_trec(document_lines& lines, trec_fields& fields) {
  std::size_t count = 0;
  std::string joined;  // lines of a tag that spans several
  std::string_view rest = lines.line();
  std::uint64_t begin = lines.number();
  auto const go_on = [&](bool keep) {
    joined = keep ? std::string(rest) + '\n' : std::string();
    bool const has_more = lines.next();
    if (!has_more) rest = joined;  // the line is no longer valid
    if (!has_more) return false;
    if (!keep) begin = lines.number();
    rest = keep ? std::string_view(joined += lines.line()) : lines.line();
    return true;
  };
  for (;;) {
    rest = trimmed(rest);
    if (rest.empty()) {
      if (!go_on(false)) return count;
      continue;
    }
    if (!rest.starts_with('<'))
      lines.fail_at(begin, 1,
                    fmt::format("found {} between documents, expected <DOC> or <top>",
                                rulerank::quoted(rest)));
    bool const is_comment = rest.starts_with("<!--");
    bool const has_subset = rest.starts_with("<!DOCTYPE") && rest.find('[') != rest.npos;
    std::string_view const ends = is_comment ? "-->" : has_subset ? "]>" : ">";
    std::size_t const mark = rest.find(ends);
    if (mark == rest.npos) {
      if (go_on(true)) continue;
      lines.fail_at(begin, 1,
                    fmt::format("found {} without its end, expected {}",
                                rulerank::quoted(rest.substr(0, 12)), ends));
    }
    tag const first = tag_at(rest, 0);
    if (first.end == 0 && is_element(name_after_mark(rest)))
      lines.fail_at(
          begin, column_in(joined.empty() ? lines.line() : joined, rest),
          fmt::format("found {}, expected a tag such as <DOC> or <topic number=\"1\">",
                      rulerank::quoted(rest.substr(0, std::min(mark + 1, rest.find('\n'))))));
    if (first.end == 0 || first.closes || !is_element(first.name)) {
      rest.remove_prefix(mark + ends.size());
      continue;
    }
    trec_element one{{}, begin, first.name, id_in(rest, first)};
    rest.remove_prefix(first.end);
    one.first_column = column_in(joined.empty() ? lines.line() : joined, rest);
    std::uint64_t const last = lines.number();
    std::size_t const end = take_lines(lines, one, rest);
    rest.remove_prefix(end + tag_at(rest.substr(end), 0).end);
    if (lines.number() != last) joined.clear();
    begin = lines.number();
    first.name == "DOC" ? give_document(lines, one, fields) : give_topic(lines, one, fields);
    ++count;
  }
}

}  // namespace rulerank::datasets
