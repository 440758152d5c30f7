#include "datasets/svmlight/documents.hpp"

#include "datasets/svmlight/comments.hpp"
#include "datasets/svmlight/regular_fields.hpp"

#include <algorithm>

namespace rulerank::datasets {

void parsed_documents::clear() {
  labels.clear();
  row_end.clear();
  entries.clear();
  lines.clear();
  comments.clear();
  ids.clear();
  line_numbers.clear();
  runs.clear();
  line_count = 0;
  fault.reset();
}

void parse_documents(std::string_view text, line_rules const& rules, parsed_documents& out) {
  out.clear();
  out.entries.resize(text.size() / 4 + 2);  // an entry and the blank after it are 4 bytes or more
  feature_value* entry = out.entries.data();
  auto const note_run = [&out](std::optional<std::string_view> qid, std::size_t qid_offset) {
    if (out.runs.empty() || out.runs.back().qid != qid)
      out.runs.push_back({qid, out.labels.size(), {out.line_count, qid_offset + 1}});
  };
  auto const keep = [&](std::int32_t label, std::string_view line, std::size_t comment_offset) {
    std::size_t const d = out.labels.size();
    out.labels.push_back(label);
    std::string_view const comment = trimmed_comment(line.substr(comment_offset));
    append_optional(out.comments, d, comment);
    append_optional(out.ids, d, docid_of(comment));
    out.row_end.push_back(static_cast<std::size_t>(entry - out.entries.data()));
    out.lines.push_back(line);
    out.line_numbers.push_back(out.line_count);
  };

  regular_document regular{};
  line_document careful;
  char const* const end = text.data() + text.size();
  for (char const* at = text.data(); at < end; ++out.line_count) {
    if (char const* const next = read_regular_line(at, end, rules, regular, entry)) {
      if (regular.is_document) {
        std::optional<std::string_view> qid;
        if (regular.has_qid) qid = regular.qid;
        note_run(qid, regular.qid_offset);
        keep(regular.label, {at, regular.length}, regular.comment_offset);
      }
      at = next;
      continue;
    }
    std::string_view const rest(at, static_cast<std::size_t>(end - at));
    std::string_view line = rest.substr(0, rest.find('\n'));
    at += std::min(line.size() + 1, rest.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    try {
      if (!read_line(line, rules, careful)) continue;
      note_run(careful.qid, careful.qid_offset);
      entry = std::copy(careful.entries.begin(), careful.entries.end(), entry);
      keep(careful.label, line, careful.comment_offset);
    } catch (line_fault const& fault) {
      if (fault.offset > careful.qid_offset) note_run(careful.qid, careful.qid_offset);
      out.fault = text_fault{{out.line_count, fault.offset + 1}, fault.found_and_expected};
      break;
    }
  }
  out.entries.resize(static_cast<std::size_t>(entry - out.entries.data()));
}

}  // namespace rulerank::datasets
