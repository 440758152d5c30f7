#include "al/answers.hpp"

#include "core/append_file.hpp"
#include "core/error.hpp"
#include "datasets/delimited/label_cells.hpp"
#include "datasets/delimited/records.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/text/text_sums.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <iterator>
#include <unordered_map>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace rulerank::inline v0::al {

namespace {

constexpr std::string_view undo_word = "undo";
constexpr char const* no_journal =
    "found no journal of answers, expected a journal, or the name of a new file";

constexpr std::string_view header_of_one = "line\tdocid\tanswer";
constexpr std::string_view header_without_times = "line\tdocid\tanswer\tlabeller";
constexpr std::string_view header_without_notes = "line\tdocid\tanswer\tlabeller\ttime";
constexpr std::string_view header_of_several = "line\tdocid\tanswer\tlabeller\ttime\tnote";

std::string now_in_utc() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value = 0;
  auto const [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || text.starts_with('-')) return {};
  return value;
}

std::string const& qid_of(datasets::dataset const& pool, std::size_t document) {
  return std::ranges::upper_bound(pool.queries, document, {}, &datasets::query_group::end)->qid;
}

/// Reads rows about the documents of a pool.
class row_reader {
 public:
  row_reader(std::string const& name, datasets::dataset const& pool)
      : name_(name), pool_(pool), places_(datasets::input_places(pool)), document_at_(pool.size()) {
    for (std::size_t d = 0; d < places_.size(); ++d) document_at_[places_[d]] = d;
  }

  [[noreturn]] void fail(std::uint64_t line, std::uint64_t column, std::string const& what) const {
    throw error({name_, line, column}, what);
  }

  std::size_t document(datasets::label_cell const& c) const {
    auto const place = whole_number<std::size_t>(c.text);
    if (!place || *place >= pool_.size())
      fail(c.line, c.column,
           fmt::format("found line '{}', expected 0 to {}, a document of {}", c.text,
                       pool_.size() - 1, pool_.name));
    return document_at_[*place];
  }

  void check_docid(datasets::label_cell const& c, std::size_t document) const {
    check_id("docid", c, pool_.docid(document), document);
  }
  void check_qid(datasets::label_cell const& c, std::size_t document) const {
    check_id("qid", c, qid_of(pool_, document), document);
  }

  std::optional<std::int32_t> label(datasets::label_cell const& c) const {
    // Spreadsheets capitalize the first letter of a cell.
    if (datasets::same_word(c.text, left_out_word)) return {};
    auto const label = whole_number<std::int32_t>(c.text);
    if (!label)
      fail(c.line, c.column,
           fmt::format("found '{}', expected a label, an integer of 0 or more, or {}", c.text,
                       left_out_word));
    return label;
  }

  /// Replaces characters that would break a field or a line.
  static std::string clean(std::string_view text) {
    std::string plain(text);
    std::replace_if(
        plain.begin(), plain.end(), [](char c) { return c == '\t' || c == '\r' || c == '\n'; },
        ' ');
    return plain;
  }

 private:
  /// Accepts an id as it is, or as a spreadsheet or an older version of the table has it: without
  /// the apostrophe, without its own quotes, or on one line.
  void check_id(std::string_view kind, datasets::label_cell const& c, std::string_view id,
                std::size_t document) const {
    std::string const expected = datasets::without_controls(id);
    std::string const on_one_line = clean(expected);
    for (std::string const& same : {expected, on_one_line, datasets::without_quotes(on_one_line)})
      if (c.text == same || datasets::unguarded(c.text) == same) return;
    fail(c.line, c.column,
         fmt::format("found {} '{}', expected '{}', as document {} (from 0) of {} has", kind,
                     c.text, on_one_line, places_[document], pool_.name));
  }

  std::string const& name_;
  datasets::dataset const& pool_;
  std::vector<std::size_t> places_;
  std::vector<std::size_t> document_at_;  // document number by line
};

std::string word_of(std::optional<std::int32_t> label) {
  return label ? fmt::format("{}", *label) : std::string(left_out_word);
}

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view expected_header =
    "a header with line and label, between tabs, commas or semicolons";

/// The columns in the header of a table of labels.
struct label_columns {
  std::size_t count = 0;
  std::optional<std::size_t> line, docid, qid, label;
};

label_columns read_header(row_reader const& rows, std::vector<datasets::label_cell> const& cells) {
  label_columns found;
  found.count = cells.size();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    auto* const at = cells[i].text == "line"    ? &found.line
                     : cells[i].text == "docid" ? &found.docid
                     : cells[i].text == "qid"   ? &found.qid
                     : cells[i].text == "label" ? &found.label
                                                : nullptr;
    if (at == nullptr) continue;
    if (*at)
      rows.fail(cells[i].line, cells[i].column,
                fmt::format("found column '{}' twice, expected each column once", cells[i].text));
    *at = i;
  }
  if (!found.line || !found.label)
    rows.fail(cells[0].line, 1,
              fmt::format("found no column '{}', expected {}", found.line ? "label" : "line",
                          expected_header));
  return found;
}

}  // namespace

std::size_t left_out_of(std::span<answer const> answers) {
  return static_cast<std::size_t>(
      std::ranges::count_if(answers, [](answer const& a) { return !a.label; }));
}

std::vector<answer> read_labels(context const& ctx, std::string const& path,
                                datasets::dataset const& pool) {
  auto const source = datasets::open_text(ctx, path);
  std::string const name = datasets::display_name(path);
  row_reader const rows(name, pool);
  datasets::label_records records(source->bytes());
  std::vector<answer> answers;
  std::unordered_map<std::size_t, std::size_t> seen;  // document -> index of its answer
  label_columns columns;
  while (records.next()) {
    auto const& cells = records.cells();
    if (std::all_of(cells.begin(), cells.end(),
                    [](datasets::label_cell const& c) { return c.text.empty(); }))
      continue;
    if (columns.count == 0) {
      columns = read_header(rows, cells);
      continue;
    }
    // Spreadsheets drop or add empty fields at the end of a row.
    std::size_t used = cells.size();
    while (used > 0 && cells[used - 1].text.empty()) --used;
    if (used <= *columns.line || used > columns.count)
      rows.fail(cells[0].line, 1,
                fmt::format("found {}, expected {} as in the header", counted(used, "field"),
                            columns.count));
    std::size_t const document = rows.document(cells[*columns.line]);
    if (columns.docid && *columns.docid < cells.size())
      rows.check_docid(cells[*columns.docid], document);
    if (columns.qid && *columns.qid < cells.size()) rows.check_qid(cells[*columns.qid], document);
    if (*columns.label >= cells.size() || cells[*columns.label].text.empty()) continue;
    datasets::label_cell const& said = cells[*columns.label];
    answer const read{document, rows.label(said), said.line};
    auto const [known, added] = seen.emplace(document, answers.size());
    if (added)
      answers.push_back(read);
    else if (!(answers[known->second] == read))
      rows.fail(said.line, said.column,
                fmt::format("found '{}', but line {} answers '{}' for this document; expected one "
                            "answer for each document",
                            said.text, answers[known->second].line,
                            word_of(answers[known->second].label)));
  }
  if (columns.count == 0)
    rows.fail(1, 1, fmt::format("found nothing, expected {}", expected_header));
  return answers;
}

std::string labels_to_fill(datasets::dataset const& pool, std::span<std::size_t const> documents,
                           label_form const& form) {
  std::string text(form.delimiter == '\t' ? "" : byte_order_mark);
  char const between = form.delimiter;
  auto const add_row = [&](std::vector<std::string> const& cells, auto const& append) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += between;
      append(cells[i], between, text);
    }
    text += '\n';
  };
  std::vector<std::string> titles{"line", "docid", "qid", "label"};
  titles.insert(titles.end(), form.titles.begin(), form.titles.end());
  titles.emplace_back("comment");
  add_row(titles, datasets::append_title);
  auto const places = datasets::input_places(pool);
  for (std::size_t const d : documents) {
    std::vector<std::string> cells{
        fmt::format("{}", places[d]),
        datasets::guarded_id(datasets::without_controls(pool.docid(d))),
        datasets::guarded_id(datasets::without_controls(qid_of(pool, d))), ""};
    if (form.cells_of)
      for (std::string const& more : form.cells_of(d)) cells.push_back(datasets::guarded(more));
    cells.push_back(datasets::guarded(datasets::without_text_sums(pool.comment(d))));
    add_row(cells, datasets::append_cell);
  }
  return text;
}

namespace {

struct journal_content {
  std::vector<answer> answers;
  std::size_t columns = 3;

  labellers who() const { return columns == 3 ? labellers::one : labellers::several; }
};

/// The form that a header names.
std::optional<journal_content> form_of(std::string_view header) {
  for (std::string_view const known :
       {header_of_one, header_without_times, header_without_notes, header_of_several})
    if (header == known)
      return journal_content{{}, static_cast<std::size_t>(std::ranges::count(known, '\t')) + 1};
  return {};
}

/// Reads the rows of a journal. `identity` and `who` are those of the run; empty: any.
journal_content read_journal(std::string_view text, std::string const& path,
                             datasets::dataset const& pool,
                             std::optional<std::string_view> identity,
                             std::optional<labellers> who) {
  row_reader const rows(path, pool);
  journal_content content;
  std::vector<answer>& answers = content.answers;
  datasets::for_each_line(text, [&](std::string_view line, std::uint64_t number) {
    if (number == 1) {
      std::size_t const end = journal_mark.size() + 2;  // of the version
      if (!line.starts_with(journal_mark) || line.size() < end || line[end - 1] != ' ' ||
          (line[end - 2] != '1' && line[end - 2] != '2'))
        rows.fail(1, 1, no_journal);
      if (identity && line.substr(end) != *identity)
        rows.fail(1, end + 1,
                  "found answers for a different pool or different options; expected the same "
                  "documents, cuts, partitions, feature order, rule size, support, confidence, "
                  "--ties, --seed and --whole-queries");
      return;
    }
    if (number == 2) {
      auto form = form_of(line);
      if (!form || (who && form->who() != *who))
        rows.fail(2, 1,
                  fmt::format(
                      "found a different header, expected {}",
                      who == labellers::one
                          ? "line, docid and answer (the answers of one labeller)"
                          : "line, docid, answer and labeller (the answers of several labellers)"));
      content = std::move(*form);
      return;
    }
    auto const cells = datasets::split_cells(line, number);
    bool const alone = content.who() == labellers::one;
    if (cells.size() != content.columns)
      rows.fail(number, 1,
                fmt::format("found {}, expected {}, as in line 2", counted(cells.size(), "field"),
                            content.columns));
    std::size_t const document = rows.document(cells[0]);
    rows.check_docid(cells[1], document);
    std::string const labeller = !alone ? cells[3].text : std::string();
    auto const before = std::ranges::find_if(
        answers, [&](answer const& a) { return a.document == document && a.labeller == labeller; });
    if (cells[2].text == undo_word) {
      if (before == answers.end() || (alone && before + 1 != answers.end()))
        rows.fail(number, cells[0].column,
                  "found a line that undoes an earlier answer, expected it to undo the last one");
      answers.erase(before);
      return;
    }
    if (!alone && before != answers.end()) answers.erase(before);
    auto const cell = [&](std::size_t c) { return c < cells.size() ? cells[c].text : ""; };
    answers.push_back({document, rows.label(cells[2]), number, labeller, cell(4), cell(5)});
  });
  return content;
}

}  // namespace

std::vector<answer> journal_answers(std::string_view text, std::string const& path,
                                    datasets::dataset const& pool) {
  return read_journal(text.substr(0, text.find_last_of('\n') + 1), path, pool, {}, {}).answers;
}

answer_journal::answer_journal(std::string path, std::string_view identity,
                               datasets::dataset const& pool, labellers who)
    : file_(std::make_unique<append_file>(std::move(path), "answers")),
      pool_(pool),
      who_(who),
      places_(datasets::input_places(pool)) {
  std::string const text = file_->read();
  // Text after the last line feed is incomplete: the process ended while writing it.
  std::size_t const whole = text.find_last_of('\n') + 1;
  bool const alone = who == labellers::one;
  std::string const head = fmt::format("{}{} {}\n{}\n", journal_mark, alone ? 1 : 2, identity,
                                       alone ? header_of_one : header_of_several);
  if (text.size() < head.size() && head.starts_with(text)) {
    file_->cut(0);
    file_->append(head);
    file_->sync_folder();
    columns_ = form_of(alone ? header_of_one : header_of_several)->columns;
    return;
  }
  if (whole == 0) throw error({file_->path(), 1, 1}, no_journal);
  journal_content content =
      read_journal(std::string_view(text).substr(0, whole), file_->path(), pool_, identity, who_);
  answers_ = std::move(content.answers);
  columns_ = content.columns;
  if (whole != text.size()) file_->cut(whole);
}

answer_journal::~answer_journal() = default;

std::string answer_journal::row(std::size_t document, std::string_view said,
                                std::string_view labeller, std::string_view note) const {
  std::string text =
      fmt::format("{}\t{}\t{}", places_[document], row_reader::clean(pool_.docid(document)), said);
  if (columns_ > 3) text += fmt::format("\t{}", labeller);
  if (columns_ > 4) text += '\t' + now_in_utc();
  if (columns_ > 5) text += fmt::format("\t{}", note);
  return text + '\n';
}

void answer_journal::add(std::size_t document, std::optional<std::int32_t> label,
                         std::string labeller, std::string note) {
  if (!note.empty() && columns_ < 6)
    throw usage_error(fmt::format("{} was begun without notes, expected an answer without a note",
                                  file_->path()));
  file_->append(row(document, word_of(label), labeller, note));
  if (who_ == labellers::several)
    std::erase_if(answers_, [&](answer const& a) {
      return a.document == document && a.labeller == labeller;
    });
  answers_.push_back({document, label, 0, std::move(labeller), {}, std::move(note)});
}

void answer_journal::undo(std::string_view labeller) {
  auto const last = std::find_if(answers_.rbegin(), answers_.rend(), [&](answer const& a) {
    return who_ == labellers::one || a.labeller == labeller;
  });
  file_->append(row(last->document, undo_word, last->labeller));
  answers_.erase(std::next(last).base());
}

}  // namespace rulerank::al
