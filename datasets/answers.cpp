#include "datasets/answers.hpp"

#include "core/error.hpp"
#include "datasets/fields.hpp"
#include "datasets/text_source.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <unordered_map>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rulerank::datasets {

namespace {

constexpr std::string_view journal_mark = "# rulerank answers 1 ";
constexpr std::string_view journal_header = "line\tdocid\tanswer\n";
constexpr std::string_view undo_word = "undo";
constexpr char const* no_journal =
    "this is no journal of answers, expected one, or a file that is not there";

struct cell {
  std::string text;
  std::uint64_t column = 1;
};

/// The fields between tabs, without the double quotes around one; CR at the end is dropped.
std::vector<cell> split_cells(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<cell> cells;
  for (std::size_t begin = 0;;) {
    std::size_t const end = std::min(line.find('\t', begin), line.size());
    std::string_view text = line.substr(begin, end - begin);
    std::string plain;
    if (text.size() > 1 && text.front() == '"' && text.back() == '"') {
      text = text.substr(1, text.size() - 2);
      for (std::size_t i = 0; i < text.size(); ++i) {
        plain += text[i];
        if (text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') ++i;
      }
    } else {
      while (text.starts_with(' ')) text.remove_prefix(1);
      while (text.ends_with(' ')) text.remove_suffix(1);
      plain = text;
    }
    cells.push_back({std::move(plain), begin + 1});
    if (end == line.size()) return cells;
    begin = end + 1;
  }
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value = 0;
  auto const [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || text.starts_with('-')) return {};
  return value;
}

/// Rows about the documents of a pool.
class row_reader {
 public:
  row_reader(std::string const& name, dataset const& pool)
      : name_(name), pool_(pool), places_(input_places(pool)), document_at_(pool.size()) {
    for (std::size_t d = 0; d < places_.size(); ++d) document_at_[places_[d]] = d;
  }

  [[noreturn]] void fail(std::uint64_t line, std::uint64_t column, std::string const& what) const {
    throw error({name_, line, column}, what);
  }

  std::size_t document(std::uint64_t number, cell const& c) const {
    auto const place = whole_number<std::size_t>(c.text);
    if (!place || *place >= pool_.size())
      fail(number, c.column,
           fmt::format("found line '{}', expected 0 to {}, a document of {}", c.text,
                       pool_.size() - 1, pool_.name));
    return document_at_[*place];
  }

  void check_docid(std::uint64_t number, cell const& c, std::size_t document) const {
    // A docid may have quotes of its own, which split_cells takes for a spreadsheet's.
    std::string const expected = clean(pool_.docid(document));
    if (c.text != expected && c.text != split_cells(expected).front().text)
      fail(number, c.column,
           fmt::format("found docid '{}', expected '{}', which line {} of {} has", c.text, expected,
                       places_[document], pool_.name));
  }

  std::optional<std::int32_t> label(std::uint64_t number, cell const& c) const {
    if (c.text == left_out_word) return {};
    auto const label = whole_number<std::int32_t>(c.text);
    if (!label)
      fail(number, c.column,
           fmt::format("found '{}', expected a label, an integer of 0 or more, or {}", c.text,
                       left_out_word));
    return label;
  }

  /// On one line and in one field.
  static std::string clean(std::string_view text) {
    std::string plain(text);
    std::replace_if(
        plain.begin(), plain.end(), [](char c) { return c == '\t' || c == '\r' || c == '\n'; },
        ' ');
    return plain;
  }

 private:
  std::string const& name_;
  dataset const& pool_;
  std::vector<std::size_t> places_;
  std::vector<std::size_t> document_at_;  // by place
};

std::string word_of(std::optional<std::int32_t> label) {
  return label ? fmt::format("{}", *label) : std::string(left_out_word);
}

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

std::vector<answer> read_labels(context const& ctx, std::string const& path, dataset const& pool) {
  auto const source = open_text(ctx, path);
  std::string const name = display_name(path);
  std::string_view text = source->bytes();
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  row_reader const rows(name, pool);
  std::vector<answer> answers;
  std::unordered_map<std::size_t, std::size_t> seen;  // document -> answer
  std::optional<std::size_t> line_at, docid_at, label_at;
  std::size_t columns = 0;
  for_each_line(text, [&](std::string_view line, std::uint64_t number) {
    auto const cells = split_cells(line);
    if (cells.size() == 1 && cells[0].text.empty()) return;
    if (columns == 0) {
      columns = cells.size();
      for (std::size_t i = 0; i < cells.size(); ++i) {
        auto* const at = cells[i].text == "line"    ? &line_at
                         : cells[i].text == "docid" ? &docid_at
                         : cells[i].text == "label" ? &label_at
                                                    : nullptr;
        if (at == nullptr) continue;
        if (*at)
          rows.fail(number, cells[i].column,
                    fmt::format("column '{}' is there twice, expected it once", cells[i].text));
        *at = i;
      }
      if (!line_at || !label_at)
        rows.fail(number, 1,
                  fmt::format("found no column '{}', expected a header with line and label, "
                              "separated by tabs",
                              line_at ? "label" : "line"));
      return;
    }
    // Spreadsheets leave empty fields at the end of a row out, or add some.
    if (cells.size() <= *line_at)
      rows.fail(number, 1,
                fmt::format("found {}, expected {}", counted(cells.size(), "field"), columns));
    if (std::all_of(cells.begin(), cells.end(), [](cell const& c) { return c.text.empty(); }))
      return;
    std::size_t const document = rows.document(number, cells[*line_at]);
    if (docid_at && *docid_at < cells.size()) rows.check_docid(number, cells[*docid_at], document);
    if (*label_at >= cells.size() || cells[*label_at].text.empty()) return;
    answer const read{document, rows.label(number, cells[*label_at]), number};
    auto const [known, added] = seen.emplace(document, answers.size());
    if (added)
      answers.push_back(read);
    else if (!(answers[known->second] == read))
      rows.fail(number, cells[*label_at].column,
                fmt::format("found '{}', but line {} says '{}' of the same document, expected one "
                            "answer",
                            cells[*label_at].text, answers[known->second].line,
                            word_of(answers[known->second].label)));
  });
  if (columns == 0)
    rows.fail(1, 1, "found nothing, expected a header with line and label, separated by tabs");
  return answers;
}

std::string labels_to_fill(dataset const& pool, std::span<std::size_t const> documents) {
  std::string text = "line\tdocid\tqid\tlabel\tcomment\n";
  auto const places = input_places(pool);
  for (std::size_t const d : documents) {
    auto const query = std::partition_point(pool.queries.begin(), pool.queries.end(),
                                            [d](query_group const& q) { return q.end <= d; });
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t\t{}\n", places[d],
                   row_reader::clean(pool.docid(d)), row_reader::clean(query->qid),
                   row_reader::clean(pool.comment(d)));
  }
  return text;
}

namespace {

[[noreturn]] void fail_to_write(std::string const& path) {
  throw output_error(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

std::string read_all(int descriptor, std::string const& path) {
  std::string text;
  char piece[1 << 16];
  for (;;) {
    ssize_t const count = ::read(descriptor, piece, sizeof piece);
    if (count == 0) return text;
    if (count < 0 && errno != EINTR)
      throw error({path, 0, 0}, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (count > 0) text.append(piece, static_cast<std::size_t>(count));
  }
}

/// The entry of a new file is on the disk too.
void sync_folder(std::string const& path) {
  std::filesystem::path const parent = std::filesystem::path(path).parent_path();
  int const folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

}  // namespace

answer_journal::answer_journal(std::string path, std::string_view identity, dataset const& pool)
    : path_(std::move(path)), pool_(pool), places_(input_places(pool)) {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_to_write(path_);
  try {
    struct stat found {};
    if (::fstat(descriptor_, &found) != 0) fail_to_write(path_);
    if (!S_ISREG(found.st_mode))
      throw output_error(fmt::format("{}: cannot keep answers: it is no file on a disk", path_));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
      throw output_error(fmt::format("{}: another process is writing to it", path_));
    std::string const text = read_all(descriptor_, path_);
    // What has no line feed at its end was not answered: the process ended while it was written.
    std::size_t const whole = text.find_last_of('\n') + 1;
    std::string const head = fmt::format("{}{}\n{}", journal_mark, identity, journal_header);
    if (text.size() < head.size() && head.starts_with(text)) {
      if (::ftruncate(descriptor_, 0) != 0) fail_to_write(path_);
      append(head);
      sync_folder(path_);
      return;
    }
    if (whole == 0) throw error({path_, 1, 1}, no_journal);
    read(std::string_view(text).substr(0, whole), identity);
    if (whole != text.size() && ::ftruncate(descriptor_, static_cast<off_t>(whole)) != 0)
      fail_to_write(path_);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

answer_journal::~answer_journal() {
  ::close(descriptor_);
}

void answer_journal::read(std::string_view text, std::string_view identity) {
  row_reader const rows(path_, pool_);
  for_each_line(text, [&](std::string_view line, std::uint64_t number) {
    if (number == 1) {
      if (!line.starts_with(journal_mark)) rows.fail(1, 1, no_journal);
      if (line.substr(journal_mark.size()) != identity)
        rows.fail(
            1, journal_mark.size() + 1,
            "these answers were given with another pool or other options, expected the same "
            "documents, cuts, partitions, feature order, rule size, support and confidence, and "
            "--whole-queries or not");
      return;
    }
    if (number == 2) {
      if (line != journal_header.substr(0, journal_header.size() - 1))
        rows.fail(2, 1, "found another header, expected line, docid and answer");
      return;
    }
    auto const cells = split_cells(line);
    if (cells.size() != 3)
      rows.fail(
          number, 1,
          fmt::format("found {}, expected line, docid and answer", counted(cells.size(), "field")));
    std::size_t const document = rows.document(number, cells[0]);
    rows.check_docid(number, cells[1], document);
    if (cells[2].text == undo_word) {
      if (answers_.empty() || answers_.back().document != document)
        rows.fail(number, cells[0].column,
                  "this undoes an answer that is not the last one, expected the last one");
      answers_.pop_back();
      return;
    }
    answers_.push_back({document, rows.label(number, cells[2]), number});
  });
}

std::string answer_journal::row(std::size_t document, std::string_view said) const {
  return fmt::format("{}\t{}\t{}\n", places_[document], row_reader::clean(pool_.docid(document)),
                     said);
}

void answer_journal::append(std::string_view text) {
  // Half a row that a full disk left is cut off, so that a later one does not follow it.
  off_t const end = ::lseek(descriptor_, 0, SEEK_END);
  std::string_view left = text;
  while (!left.empty()) {
    ssize_t const count = ::write(descriptor_, left.data(), left.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      int const why = errno;
      if (::ftruncate(descriptor_, end) != 0) {
        // An unfinished row at the end is told from a whole one when the file is read.
      }
      errno = why;
      fail_to_write(path_);
    }
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(descriptor_) != 0) fail_to_write(path_);
}

void answer_journal::add(std::size_t document, std::optional<std::int32_t> label) {
  append(row(document, word_of(label)));
  answers_.push_back({document, label});
}

void answer_journal::undo() {
  append(row(answers_.back().document, undo_word));
  answers_.pop_back();
}

}  // namespace rulerank::datasets
