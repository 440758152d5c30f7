#include "apps/shared/labelling/label_dialogue.hpp"

#include "apps/shared/session/console.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace rulerank::inline v0::apps {

namespace {

constexpr std::string_view help =
    "  0, 1, ...   label the document\n  s, skip     leave this document out; another one takes "
    "its place\n  u, undo     take back the last answer\n  t, text     show the whole text (with "
    "--show)\n  a, all      show all features of the document\n  e, estimate estimate how many "
    "more labels are needed\n  f, finish   end here; the documents chosen so far are the result\n  "
    "q, quit     stop; the same command continues here later\n";

std::string trimmed(std::string const& text) {
  std::size_t const begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

template <class... Values>
void show_line(fmt::format_string<Values...> form, Values&&... values) {
  write_to_standard_error(fmt::format(form, std::forward<Values>(values)...));
}

/// Maximum number of columns of a line of text.
constexpr std::size_t line_width = 96;

/// Delimiters of a marked word until lines are broken; texts contain no control characters.
constexpr char mark_begin = '\1';
constexpr char mark_end = '\2';

/// Lines of at most `line_width` characters, broken at blanks and at the text's line ends.
std::vector<std::string> lines_of_words(std::string_view text) {
  std::vector<std::string> lines(1);
  std::size_t width = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t const end = std::min(text.find_first_of(" \n", begin), text.size());
    std::string_view const word = text.substr(begin, end - begin);
    auto const letters = static_cast<std::size_t>(std::ranges::count_if(word, [](char c) {
      return c != mark_begin && c != mark_end && (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    }));
    if (width > 0 && width + 1 + letters > line_width) {
      lines.emplace_back();
      width = 0;
    }
    if (width > 0) lines.back() += ' ';
    width += letters + (width > 0 ? 1 : 0);
    lines.back() += word;
    if (end < text.size() && text[end] == '\n') {
      lines.emplace_back();
      width = 0;
    }
    begin = end + 1;
  }
  return lines;
}

/// Replaces the delimiters by the terminal's styles; a mark that spans lines is closed and
/// reopened.
std::string with_marks(std::string_view line, bool& inside, bool styled) {
  std::string_view const on = styled ? "\033[1m" : "*", off = styled ? "\033[0m" : "*";
  std::string shown(inside ? on : "");
  for (char const c : line) {
    if (c == mark_begin || c == mark_end) {
      inside = c == mark_begin;
      shown += inside ? on : off;
    } else {
      shown += c;
    }
  }
  if (inside) shown += off;
  return shown;
}

/// A document's ids on one line.
std::string title_of(std::string const& docid, std::string const& qid) {
  return fmt::format("docid {}, query {}", printable(docid), printable(qid));
}

void show_features(std::vector<labelling::feature_view> const& features) {
  for (labelling::feature_view const& f : features)
    show_line("    {:<14} {}\n", f.value, printable(f.range));
}

}  // namespace

label_dialogue::label_dialogue(labelling::question_views const& views, std::int32_t max_label,
                               al::answer_journal& journal, std::istream& in)
    : views_(views),
      max_label_(max_label),
      journal_(journal),
      in_(in),
      styled_(::isatty(STDERR_FILENO) == 1) {}

/// Texts are made printable, piece by piece, before styles are added.
void label_dialogue::show_text(labelling::marked_text const& text) const {
  std::string whole;
  for (labelling::text_piece const& piece : text) {
    std::string shown;
    for (std::size_t begin = 0; begin <= piece.text.size();) {
      std::size_t const end = std::min(piece.text.find_first_of("\n\t", begin), piece.text.size());
      shown += printable(std::string_view(piece.text).substr(begin, end - begin));
      if (end < piece.text.size()) shown += piece.text[end] == '\n' ? '\n' : ' ';
      begin = end + 1;
    }
    whole += piece.marked ? mark_begin + shown + mark_end : shown;
  }
  bool inside = false;
  for (std::string const& line : lines_of_words(whole))
    show_line("  {}\n", with_marks(line, inside, styled_));
}

void label_dialogue::show(labelling::question_view const& view) const {
  show_line("\nAnswer {}: {}\n", journal_.answers().size() + 1, title_of(view.docid, view.qid));
  if (!view.query.empty()) show_text({{"query: " + view.query, false}});
  if (!view.title.empty()) show_text(view.title);
  if (!view.passage.empty()) show_text(view.passage);
  if (std::string const comment = printable(view.comment); !comment.empty())
    show_line("  {}\n", comment);
  show_line("  {}, by\n", view.why);
  show_features(view.features);
  if (!view.brings.empty())
    show_line("  {}{}\n", view.brings[0], view.brings.size() > 1 ? ":" : "");
  for (std::size_t i = 1; i < view.brings.size(); ++i)
    show_line("    {}\n", printable(view.brings[i]));
  if (!view.neighbours.empty()) write_to_standard_error("  nearest labelled documents\n");
  for (labelling::neighbour_view const& n : view.neighbours) {
    show_line("    label {}: {}, {} of {} equal  {}\n", n.label, title_of(n.docid, n.qid), n.shared,
              counted(view.feature_count, "feature"), printable(n.comment));
    if (!n.query.empty()) show_line("      query: {}\n", printable(n.query));
    if (!n.title.empty()) show_line("      {}\n", printable(n.title));
  }
}

al::reply label_dialogue::operator()(al::question const& now, al::labelling const& work) {
  request shown;
  static_cast<labelling::view_request&>(shown) = views_.request(now, work);
  shown.estimate = [&] { return labelling::describe(work.look_ahead(labelling::next_documents)); };
  if (!estimated_ && work.minority_labels() >= labelling::enough_minority_labels) {
    estimated_ = true;
    show_line("\n{}\n", shown.estimate());
  }
  return (*this)(shown);
}

al::reply label_dialogue::operator()(request const& now, std::size_t kept) {
  using kind = al::reply::kind;
  labelling::question_view const view = views_.view(now);
  show(view);
  for (;;) {
    show_line("label 0 to {} (s skip, u undo, {}a all, e estimate, f finish, q quit, ?): ",
              max_label_, views_.has_texts() ? "t text, " : "");
    std::string line;
    if (!std::getline(in_, line)) return {kind::quit};
    std::string const word = trimmed(line);
    if (word.empty()) continue;
    std::int32_t label = -1;
    auto const [end, status] = std::from_chars(word.data(), word.data() + word.size(), label);
    if (status == std::errc{} && end == word.data() + word.size() && label >= 0 &&
        label <= max_label_) {
      journal_.add(now.document, label);
      return {kind::label, label};
    }
    if (word == "s" || word == "skip") {
      journal_.add(now.document, {});
      return {kind::leave_out};
    }
    if (word == "u" || word == "undo") {
      if (journal_.answers().size() > kept) {
        journal_.undo();
        return {kind::undo};
      }
      write_to_standard_error("there is no answer to undo\n");
    } else if (word == "a" || word == "all") {
      show_features(views_.all_features(now.document));
    } else if ((word == "t" || word == "text") && views_.has_texts()) {
      show_text(view.whole);
    } else if (word == "e" || word == "estimate") {
      show_line("{}\n", now.estimate());
    } else if (word == "f" || word == "finish") {
      finish_ = true;
      return {kind::quit};
    } else if (word == "q" || word == "quit") {
      return {kind::quit};
    } else {
      if (word != "?" && word != "h" && word != "help")
        show_line("found '{}', expected one of\n", printable(word));
      write_to_standard_error(help);
    }
  }
}

}  // namespace rulerank::apps
