#include "datasets/judgments/read.hpp"

#include "core/error.hpp"
#include "datasets/input/lines.hpp"
#include "datasets/input/number.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/judgments/judgments.hpp"
#include "datasets/judgments/lines.hpp"
#include "datasets/text/encoding.hpp"

#include <algorithm>
#include <cctype>
#include <list>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

bool begins_json(std::string_view text) {
  remove_byte_order_mark(text);
  std::size_t const begin = text.find_first_not_of(" \t\r\n");
  return begin != text.npos && (text[begin] == '{' || text[begin] == '[');
}

/// Returns the format of a file by the members of its first object.
judgment_form form_of_members(json_view value) {
  if (value.find("judgmentRatings") || stored_judgments(value)) return judgment_form::srw;
  for (std::string_view const name : {"topics", "query_groups", "queries"})
    if (value.find(name)) return judgment_form::rre;
  if (value.find("hits") || value.find("responses")) return judgment_form::ltr_log;
  if (value.find("response")) return judgment_form::solr_log;
  value.fail(
      "an object with judgmentRatings (srw), topics or queries (rre), hits or responses "
      "(ltr-log), or response (solr-log)");
}

/// Reads a grade: a number or, with names, the index of a name. Throws `error` otherwise.
double grade_of(judgment_fields const& found, std::string const& file,
                std::span<std::string const> names) {
  double grade = 0;
  auto const name = std::ranges::find(names, found.label.text);
  if (name != names.end()) return static_cast<double>(name - names.begin());
  if (names.empty() && read_number(found.label.text, grade) == number_kind::finite) return grade;
  bool const is_word =
      found.in_table && std::isalpha(static_cast<unsigned char>(found.label.text.front())) != 0;
  throw error(
      {file, found.label_line, found.label.column},
      fmt::format("found '{}', expected {}{}{}", found.label.text,
                  names.empty() ? "a number as grade"
                                : fmt::format("one of the label names {}", fmt::join(names, ", ")),
                  found.columns,
                  names.empty() && is_word ? "; --label-names makes numbers of words" : ""));
}

/// Reads lines and tables of judgments.
void read_lines(std::string_view text, judgment_form form, judgments_read& to,
                judgment_notes& notes, std::span<std::string const> label_names) {
  std::size_t const file = to.judgments.files.size() - 1;
  std::string const& name = to.judgments.files.back();
  judgment_columns const columns =
      form == judgment_form::csv ? judgment_columns_of(text) : judgment_columns{};
  if (form == judgment_form::csv && columns.delimiter == 0)
    throw error({name, 1, 1},
                "found no header, expected columns for a query, a document and a grade, such as "
                "query,docid,rating");
  for (std::string const& title : columns.others) notes.left_out.insert("the column " + title);
  std::list<std::string> kept;
  notes.without_grade +=
      for_each_judgment(text, name, columns, kept, [&](judgment_fields const& found) {
        double const grade = grade_of(found, name, label_names);
        ++notes.found;
        to.judgments.add(
            {std::string(found.qid.text), columns.texts},
            {std::string(found.docno.text), grade, {file, found.line, found.docno.column}});
        if (found.query_text.empty() ||
            (!to.texts.empty() && to.texts.back().id == found.qid.text &&
             to.texts.back().text == found.query_text))
          return;
        to.texts.push_back({std::string(found.qid.text),
                            std::string(found.query_text),
                            {name, found.line, found.qid.column}});
      });
}

}  // namespace

judgment_form read_judgments(context const& ctx, std::string const& path,
                             std::optional<judgment_form> form, std::string const& id_field,
                             judgments_read& to,
                             std::function<void(std::string const&)> const& warn,
                             std::span<std::string const> label_names) {
  auto const source = open_text(ctx, path);
  std::string_view const text = source->bytes();
  std::string const name = display_name(path);
  to.judgments.files.push_back(name);
  to.log.files.push_back(name);
  if (std::string const note = encoding_note(text); warn && !note.empty()) warn(name + note);
  bool const is_json = begins_json(text);
  if (!form && !is_json)
    form = judgment_columns_of(text).delimiter != 0 ? judgment_form::csv : judgment_form::qrels;
  judgment_notes notes;
  if (form == judgment_form::qrels || form == judgment_form::csv) {
    read_lines(text, *form, to, notes, label_names);
  } else {
    std::vector<json_view> values;
    json_text json(text, name);
    for_each_json_value(json, "judgments or a feature log",
                        [&](json_view value) { values.push_back(value); });
    if (!form) form = form_of_members(values.front());
    if (form == judgment_form::ltr_log || form == judgment_form::solr_log) {
      read_log(values, *form, path, id_field, to.log, notes);
    } else {
      if (values.size() > 1)
        values[1].fail("the end of the file, because one object holds all judgments");
      read_json_judgments(values.front(), *form, to.judgments, notes);
    }
  }
  expect_unchanged(*source, name);
  if (notes.found == 0) throw error({name, 1, 1}, "found no judgments, expected at least one");
  if (warn && !notes.left_out.empty())
    warn(fmt::format("{}: left out {}", name, fmt::join(notes.left_out, ", ")));
  if (warn && notes.without_grade > 0)
    warn(fmt::format("{}: left out {} without a grade", name,
                     counted(notes.without_grade, "entry", "entries")));
  if (warn && notes.without_judgments > 0)
    warn(fmt::format("{}: left out {} without judgments", name,
                     counted(notes.without_judgments, "query", "queries")));
  return *form;
}

}  // namespace rulerank::datasets
