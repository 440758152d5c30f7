#include "datasets/svmlight/documents.hpp"

#include "datasets/svmlight/comments.hpp"
#include "datasets/svmlight/regular_fields.hpp"

#include <algorithm>

namespace rulerank::inline v0::datasets {

void parsed_documents::clear() {
  labels.clear();
  label_values.clear();
  row_end.clear();
  entries.clear();
  lines.clear();
  comments.clear();
  ids.clear();
  line_numbers.clear();
  runs.clear();
  blanks.clear();
  made.clear();
  text_id = {};
  names.clear();
  first_feature = {};
  numbers.clear();
  line_count = 0;
  fault.reset();
}

void parsed_documents::add(document_label const& label, std::size_t entry_end,
                           std::string_view line, std::string_view comment, std::string_view id,
                           line_rules const& rules) {
  std::size_t const d = labels.size();
  labels.push_back(label.label);
  if (rules.fractional_labels) label_values.push_back(label.value);
  append_optional(comments, d, comment);
  append_optional(ids, d, id);
  row_end.push_back(entry_end);
  lines.push_back(line);
  line_numbers.push_back(line_count);
}

bool parsed_documents::begins_run(std::optional<std::string_view> qid) const {
  bool const behind_blank = !blanks.empty() && blanks.back().documents == labels.size();
  return runs.empty() || runs.back().qid != qid || behind_blank;
}

void parsed_documents::note_run(std::optional<std::string_view> qid, line_place place) {
  if (begins_run(qid)) runs.push_back({qid, labels.size(), place});
}

void parsed_documents::note_blank() {
  if (blanks.empty() || blanks.back().documents != labels.size())
    blanks.push_back({labels.size(), line_count});
}

void parsed_documents::expect_form(feature_form before) {
  feature_form const found = names.form;
  if (found == feature_form::unknown || before == feature_form::unknown || found == before) return;
  auto const comes_first = [](line_place a, line_place b) {
    return a.line < b.line || (a.line == b.line && a.column < b.column);
  };
  if (fault && comes_first(fault->place, first_feature)) return;
  fault = text_fault{first_feature, other_form(found)};
  auto const documents = static_cast<std::size_t>(
      std::lower_bound(line_numbers.begin(), line_numbers.end(), first_feature.line) -
      line_numbers.begin());
  labels.resize(documents);
  label_values.resize(std::min(documents, label_values.size()));
  row_end.resize(documents);
  entries.resize(documents == 0 ? 0 : row_end.back());
  lines.resize(documents);
  comments.resize(std::min(documents, comments.size()));
  ids.resize(std::min(documents, ids.size()));
  line_numbers.resize(documents);
  std::erase_if(runs, [&](qid_run const& run) { return !comes_first(run.place, first_feature); });
  std::erase_if(blanks, [&](blank_line b) { return b.line > first_feature.line; });
}

void drop_integral_labels(dataset& data) {
  if (std::equal(data.labels.begin(), data.labels.end(), data.fractional_labels.begin(),
                 data.fractional_labels.end()))
    data.fractional_labels.clear();
}

namespace {

bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == line.npos;
}

}  // namespace

// Long because regular lines and other lines advance the same position, which separate functions
// would have to take and return for each line.
void parse_documents(std::string_view text, line_rules const& rules, parsed_documents& out) {
  out.clear();
  // An entry and its space have 4 bytes, or 3 if the text changes while it is read.
  out.entries.resize(text.size() / 3 + 2);
  feature_value* entry = out.entries.data();
  line_rules named = rules;
  named.names = &out.names;
  feature_form const& form = out.names.form;
  auto const entry_end = [&] { return static_cast<std::size_t>(entry - out.entries.data()); };

  regular_document regular{};
  line_document careful;
  char const* const end = text.data() + text.size();
  for (char const* at = text.data(); at < end; ++out.line_count) {
    feature_value* const first_entry = entry;
    // Regular lines have numbered features.
    char const* const next =
        form == feature_form::names ? nullptr : read_regular_line(at, end, rules, regular, entry);
    if (next != nullptr) {
      if (regular.is_document) {
        std::optional<std::string_view> qid;
        if (regular.has_qid) qid = regular.qid;
        out.note_run(qid, {out.line_count, regular.qid_offset + 1});
        if (form == feature_form::unknown && entry != first_entry) {
          out.names.form = feature_form::numbers;
          out.first_feature = {out.line_count, regular.features_offset + 1};
        }
        std::string_view const line(at, regular.length);
        std::string_view const comment = trimmed_comment(line.substr(regular.comment_offset));
        out.add({regular.label, static_cast<double>(regular.label)}, entry_end(), line, comment,
                docid_of(comment), rules);
      } else if (is_blank_line({at, next})) {
        out.note_blank();
      }
      at = next;
      continue;
    }
    std::string_view const rest(at, static_cast<std::size_t>(end - at));
    std::string_view line = rest.substr(0, rest.find('\n'));
    at += std::min(line.size() + 1, rest.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    feature_form const before = form;
    auto const note_form = [&] {
      if (before != form) out.first_feature = {out.line_count, careful.features_offset + 1};
    };
    try {
      if (!read_line(line, named, careful)) {
        if (is_blank_line(line)) out.note_blank();
        continue;
      }
      note_form();
      out.note_run(careful.qid, {out.line_count, careful.qid_offset + 1});
      entry = std::copy(careful.entries.begin(), careful.entries.end(), entry);
      std::string_view const comment = trimmed_comment(line.substr(careful.comment_offset));
      out.add({careful.label, careful.label_value}, entry_end(), line, comment, docid_of(comment),
              rules);
    } catch (line_fault const& fault) {
      note_form();
      if (fault.offset > careful.qid_offset)
        out.note_run(careful.qid, {out.line_count, careful.qid_offset + 1});
      out.fault = text_fault{{out.line_count, fault.offset + 1}, fault.found_and_expected};
      break;
    }
  }
  out.entries.resize(entry_end());
}

}  // namespace rulerank::datasets
