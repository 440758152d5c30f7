#include "datasets/text/document_members.hpp"

#include "core/error.hpp"
#include "datasets/delimited/label_cells.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::array<std::string_view, 1> item_ids{"id"};
// A passage also has the id of its document, so the passage's own id has precedence.
constexpr std::array<std::string_view, 6> document_id_names{"pid",   "passageid",  "docid",
                                                            "docno", "documentid", "corpusid"};
// Names of ids if there is no other: `topic` may be the subject of a text.
constexpr std::array<std::string_view, 4> last_id_names{"productid", "number", "num", "topic"};
// The first one present is the query.
constexpr std::array<std::string_view, 3> query_names{"query", "querytext", "question"};
constexpr std::array<std::string_view, 14> document_text_names{
    "text",         "contents",          "content",  "body",    "passage",     "segment",
    "abstract",     "headline",          "headings", "doctext", "articletext", "productname",
    "producttitle", "productdescription"};
constexpr std::string_view title_name = "title";

// Further titles for columns of tables. JSON members with these names may be anything.
constexpr std::array<std::string_view, 10> other_id_titles{
    "doc", "document", "asin", "sku", "item", "itemid", "product", "productid", "key", "url"};
// Titles that are hardly ids of documents themselves.
constexpr std::array<std::string_view, 5> certain_id_titles{"num", "productid", "asin", "sku",
                                                            "itemid"};
constexpr std::array<std::string_view, 6> other_text_titles{"description", "desc",    "document",
                                                            "name",        "summary", "sentence"};
constexpr std::array<std::string_view, 5> class_titles{"label", "class", "target", "category",
                                                       "sentiment"};

bool has(std::span<std::string_view const> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string listed(std::vector<std::string> const& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i)
    list += (i == 0                  ? ""
             : i + 1 == names.size() ? " and "
                                     : ", ") +
            (names[i].empty() ? "\"\"" : printable(names[i]));
  return list;
}

/// Returns the member with the first of these names that exists, or null.
document_member const* first_of(std::vector<document_member> const& members,
                                std::span<std::string_view const> names) {
  for (std::string_view const name : names)
    for (document_member const& member : members)
      if (plain_name(member.name) == name) return &member;
  return nullptr;
}

}  // namespace

std::string plain_name(std::string_view name) {
  std::string plain;
  for (char const c : name)
    if (c != '_' && c != '-' && c != ' ')
      plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return plain;
}

bool is_one_of(std::string_view name, std::span<std::string_view const> plain_names) {
  return std::ranges::find(plain_names, plain_name(name)) != plain_names.end();
}

bool is_id_name(std::string_view name) {
  std::string const plain = plain_name(name);
  return has(item_ids, plain) || has(document_id_names, plain) || has(query_id_titles, plain);
}

bool is_table_id(std::string_view name, text_options const& options) {
  return is_id(name, options) || (options.id_field.empty() && is_last_id_name(name));
}

bool is_last_id_name(std::string_view name) {
  return has(last_id_names, plain_name(name));
}

bool is_id(std::string_view name, text_options const& options) {
  return options.id_field.empty() ? is_id_name(name) : name == options.id_field;
}

bool is_text_name(std::string_view name) {
  std::string const plain = plain_name(name);
  return plain == title_name || has(document_text_names, plain) || has(query_names, plain);
}

std::string header_title(std::string_view cell, bool is_first, text_options const& options) {
  std::string title = without_quotes(cell);
  if (is_first && title.starts_with('#') && options.id_field.empty() && options.text_fields.empty())
    title.erase(0, title.find_first_not_of("# "));
  return title;
}

bool seems_header(std::string_view line) {
  std::string_view const cell = line.substr(0, line.find('\t'));
  std::string const first = plain_name(header_title(cell, true, {}));
  std::string const last = plain_name(line.substr(line.rfind('\t') + 1));
  auto const may_be_id = [](std::string const& title) {
    return is_id_name(title) || is_last_id_name(title) || has(other_id_titles, title);
  };
  auto const may_be_text = [](std::string const& title) {
    return is_text_name(title) || has(other_text_titles, title);
  };
  return is_id_name(first) || has(certain_id_titles, first) || plain_name(cell) == "#" ||
         (may_be_id(first) && may_be_text(last)) ||
         (may_be_text(first) && (may_be_id(last) || has(class_titles, last)));
}

bool is_wanted_text(std::string_view name, text_options const& options) {
  return options.text_fields.empty()
             ? is_text_name(name)
             : std::ranges::find(options.text_fields, name) != options.text_fields.end();
}

std::string member_reader::expect_id(document_member const& id, std::uint64_t line) const {
  if (id.value.empty()) lines_.fail_at(line, 0, "found an empty id, expected text or a number");
  return id.value;
}

std::string member_reader::id_of(std::vector<document_member> const& members,
                                 std::uint64_t line) const {
  document_member const* id = nullptr;
  if (!options_.id_field.empty()) {
    auto const named = std::ranges::find(members, options_.id_field, &document_member::name);
    if (named == members.end())
      lines_.fail_at(line, 0,
                     fmt::format("found no id, expected the member {} of --id-field",
                                 printable(options_.id_field)));
    return expect_id(*named, line);
  }
  for (std::span<std::string_view const> const names :
       {std::span<std::string_view const>(item_ids), {document_id_names}, {query_id_titles}}) {
    document_member const* const one = first_of(members, names);
    if (one == nullptr) continue;
    if (id == nullptr) id = one;
    if (one->value != id->value)
      lines_.fail_at(
          line, 0,
          fmt::format(
              "found {} and {} with different ids, expected one of them; --id-field sets which",
              printable(id->name), printable(one->name)));
  }
  for (document_member const& other : members)
    if (id != nullptr && plain_name(other.name) == plain_name(id->name) && other.value != id->value)
      lines_.fail_at(
          line, 0,
          fmt::format(
              "found {} and {} with different ids, expected one of them; --id-field sets which",
              printable(id->name), printable(other.name)));
  if (id == nullptr) id = first_of(members, last_id_names);
  if (id == nullptr) lines_.fail_at(line, 0, "found no id, expected an object with id and text");
  return expect_id(*id, line);
}

std::vector<text_field> member_reader::fields_of(std::vector<document_member>& members,
                                                 std::uint64_t line) {
  document_member const* query = nullptr;
  if (options_.text_fields.empty()) {
    query = first_of(members, query_names);
    for (document_member const& other : members)
      if (query != nullptr && !other.value.empty() && is_text_name(other.name) &&
          !has(query_names, plain_name(other.name)))
        lines_.fail_at(
            line, 0,
            fmt::format("found the members {} and {}, expected the text of a query or of a "
                        "document; --text-fields {} reads one of them",
                        printable(query->name), printable(other.name), printable(query->name)));
  }
  std::vector<text_field> fields;
  std::vector<std::string> others;
  for (document_member& member : members) {
    if (is_wanted_text(member.name) && (query == nullptr || query == &member)) {
      if (!options_.text_fields.empty() && std::ranges::find(found_, member.name) == found_.end())
        found_.push_back(member.name);
      fields.push_back({member.name, std::move(member.value)});
    } else if (!is_id_name(member.name) && !is_last_id_name(member.name) && !is_id(member.name) &&
               !member.value.empty()) {
      others.push_back(member.name);
    }
  }
  if (fields.empty() && others.empty())
    lines_.fail_at(line, 0, "found no text, expected an object with id and text");
  if (fields.empty())
    lines_.fail_at(
        line, 0,
        fmt::format("found {}, but no text; expected {}", listed(others),
                    options_.text_fields.empty()
                        ? "text, contents, title or query, or other names in --text-fields"
                        : listed(options_.text_fields)));
  for (std::string& name : others)
    if (std::ranges::find(left_out_, name) == left_out_.end()) left_out_.push_back(std::move(name));
  return fields;
}

void member_reader::give(std::vector<document_member>&& members, std::uint64_t line) {
  text_document document;
  document.id = id_of(members, line);
  auto const label = std::ranges::find(members, "label", &document_member::name);
  if (label != members.end() && !is_wanted_text("label")) {
    document.label = std::move(label->value);
    members.erase(label);
  }
  document.fields = fields_of(members, line);
  lines_.claim_at(line, document.id, 0);
  lines_.give(std::move(document));
}

void member_reader::finish() const {
  if (!options_.warn) return;
  if (!left_out_.empty())
    options_.warn(fmt::format("{}: left out the {} {}; --text-fields sets the members to read",
                              lines_.name(), left_out_.size() == 1 ? "member" : "members",
                              listed(left_out_)));
  for (std::string const& name : options_.text_fields)
    if (std::ranges::find(found_, name) == found_.end())
      options_.warn(
          fmt::format("{}: found no member {} of --text-fields", lines_.name(), printable(name)));
}

}  // namespace rulerank::datasets
