#include "datasets/svmlight_lines.hpp"

#include <algorithm>

namespace rulerank::datasets {

void parsed_lines::clear() {
  labels.clear();
  row_end.clear();
  entries.clear();
  lines.clear();
  line_numbers.clear();
  runs.clear();
  line_count = 0;
  fault.reset();
}

void parse_lines(std::string_view text, line_rules const& rules, parsed_lines& out) {
  out.clear();
  line_document document;
  auto const note_run = [&] {
    line_place const place{out.line_count, document.qid_offset + 1};
    if (out.runs.empty() || out.runs.back().qid != document.qid)
      out.runs.push_back({document.qid, out.labels.size(), place});
  };
  for (std::size_t at = 0; at < text.size(); ++out.line_count) {
    std::size_t const feed = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, feed - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    try {
      if (read_line(line, rules, document)) {
        note_run();
        out.labels.push_back(document.label);
        out.entries.insert(out.entries.end(), document.entries.begin(), document.entries.end());
        out.row_end.push_back(out.entries.size());
        out.lines.push_back(line);
        out.line_numbers.push_back(out.line_count);
      }
    } catch (line_fault const& fault) {
      if (fault.offset > document.qid_offset) note_run();
      out.fault = {{out.line_count, fault.offset + 1}, fault.found_and_expected};
      return;
    }
    at = feed + 1;
  }
}

}  // namespace rulerank::datasets
