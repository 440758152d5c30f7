#include "datasets/delimited/documents.hpp"

#include "core/error.hpp"
#include "datasets/delimited/label_cells.hpp"
#include "datasets/delimited/records.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/text/text_sums.hpp"
#include "datasets/trec.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

/// Returns whether a text begins like a date: three numbers separated by points, hyphens or
/// slashes.
bool begins_date(std::string_view text) {
  text = text.substr(0, text.find_first_not_of("0123456789./-"));
  std::size_t const first = text.find_first_of("./-");
  if (first == 0 || first == text.npos) return false;
  std::size_t const second = text.find(text[first], first + 1);
  return second != text.npos && second > first + 1 && second + 1 < text.size();
}

/// Reads records into the documents of a chunk.
class document_records {
 public:
  document_records(delimited_layout const& layout, line_rules const& rules, parsed_documents& out)
      : layout_(layout), rules_(rules), out_(out) {}

  /// Throws `line_fault` with an offset from the beginning of the record.
  void take(record const& r) {
    if (r.cells.size() == 1 && r.cells[0].text.empty() && r.cells[0].offset == r.text.size())
      return out_.note_blank();
    entries_.resize(layout_.features);
    label_ = {unlabelled, unlabelled};
    qid_.reset();
    id_ = {};
    comment_ = {};
    std::size_t const columns = layout_.columns.size();
    for (std::size_t c = 0; c < std::min(columns, r.cells.size()); ++c) take_cell(r, c);
    if (r.cells.size() != columns)
      throw line_fault{r.cells.size() > columns ? r.cells[columns].offset : r.text.size(),
                       fmt::format("found {}, expected {} as in the header",
                                   counted(r.cells.size(), "cell"), columns)};
    if (!layout_.has_qid) note_run(r, 0);
    out_.entries.insert(out_.entries.end(), entries_.begin(), entries_.end());
    out_.add(label_, out_.entries.size(), r.text, comment_, id_, rules_);
  }

 private:
  void note_run(record const& r, std::size_t offset) {
    if (!out_.begins_run(qid_)) return;
    line_place place = place_in(r.text, offset);
    place.line += out_.line_count;
    out_.note_run(qid_, place);
  }

  void take_cell(record const& r, std::size_t c) {
    cell const& now = r.cells[c];
    column_role const& role = layout_.columns[c];
    using enum column_role::kind;
    std::string fault;
    switch (role.what) {
      case label:
        fault = read_label_of(now);
        break;
      case qid:
        if (!has_blank(now.text)) fault = check_id(now, "qid", layout_.qid_is_text);
        if (!fault.empty()) break;
        qid_ = without_blanks(text_of(now));
        note_run(r, now.offset);
        break;
      case docid:
        if (now.text.empty()) break;
        fault = check_id(now, "docid", false);
        id_ = text_of(now);
        break;
      case text_sums:
        if (now.text.empty()) break;
        comment_ = text_of(now);
        if (!text_sums_of(comment_)) fault = unreadable_text_sums(comment_);
        break;
      case passed_over:
        break;
      case feature: {
        double value = std::numeric_limits<double>::quiet_NaN();
        if (!now.text.empty()) fault = read_value(now.text, layout_.titles[c], rules_, value);
        if (!fault.empty() && rules_.missing_values && read_word_value(now.text, value))
          fault.clear();
        if (!fault.empty() && begins_date(now.text))
          fault = fmt::format(
              "value {} of feature {} looks like a date, expected a number{}",
              rulerank::quoted(now.text), layout_.titles[c],
              rules_.options_are_arguments ? "" : ", or --skip-columns " + layout_.titles[c]);
        entries_[role.rank] = {role.feature, value};
      }
    }
    if (!fault.empty()) throw line_fault{now.offset, fault};
  }

  std::string read_label_of(cell const& now) {
    if (same_word(now.text, "true") || same_word(now.text, "false"))
      return fmt::format("label {} is not a number, expected 1 for TRUE and 0 for FALSE",
                         rulerank::quoted(now.text));
    if (!now.text.empty() && !is_missing_word(now.text))
      return read_label(now.text, rules_, label_);
    if (rules_.optional_labels || rules_.unlabelled) return {};
    return fmt::format(
        "found no label, expected {} of 0 or more{}",
        rules_.fractional_labels ? "a number" : "an integer",
        unlabelled_hint(rules_, "if an empty cell or NA means that the document has no label"));
  }

  static std::string check_id(cell const& now, char const* what, bool is_text) {
    if (now.text.empty()) return fmt::format("found no {}, expected one", what);
    if (!is_text && is_missing_word(now.text)) return missing_id_fault(what, now.text);
    if (is_run_column(now.text)) return {};
    return fmt::format("found {} {}, expected one word", what, rulerank::quoted(now.text));
  }

  /// Returns the cell's text as a view that remains valid.
  std::string_view text_of(cell const& now) {
    return unguarded_id(now.has_quotes ? std::string_view(out_.made.emplace_back(now.str()))
                                       : now.text);
  }

  std::string_view without_blanks(std::string_view id) {
    if (!has_blank(id)) return id;
    std::string_view const made = out_.made.emplace_back(id_of_text(id));
    if (out_.text_id.empty()) out_.text_id = made;
    return made;
  }

  delimited_layout const& layout_;
  line_rules const& rules_;
  parsed_documents& out_;
  std::vector<feature_value> entries_;
  document_label label_;
  std::optional<std::string_view> qid_;
  std::string_view id_;
  std::string_view comment_;
};

}  // namespace

line_place place_in(std::string_view text, std::size_t offset) {
  std::string_view const before = text.substr(0, offset);
  std::size_t const feed = before.rfind('\n');
  return {static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')),
          feed == before.npos ? offset + 1 : offset - feed};
}

void parse_records(std::string_view text, delimited_layout const& layout, line_rules const& rules,
                   parsed_documents& out) {
  out.clear();
  record_reader const reader(layout.delimiter);
  document_records documents(layout, rules, out);
  record now;
  while (!text.empty()) {
    try {
      reader.read(text, now);
      documents.take(now);
    } catch (line_fault const& fault) {
      line_place place = place_in(text, fault.offset);
      place.line += out.line_count;
      out.fault = text_fault{place, fault.found_and_expected};
      return;
    }
    out.line_count += now.feeds;
    text.remove_prefix(now.size);
  }
}

}  // namespace rulerank::datasets
