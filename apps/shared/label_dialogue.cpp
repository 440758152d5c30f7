#include "apps/shared/label_dialogue.hpp"

#include "apps/shared/console.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rulerank::apps {

namespace {

constexpr std::string_view help =
    "  0, 1, ...   the document's label\n"
    "  s, skip     leave this document out: the next one takes its place\n"
    "  u, undo     take the last answer back\n"
    "  a, all      show all features of the document\n"
    "  e, estimate what more labels would bring, as far as can be guessed\n"
    "  f, finish   end, with what has been chosen so far as the result\n"
    "  q, quit     leave; the same line goes on here later\n";

/// Documents that an estimate looks ahead.
constexpr std::size_t next_documents = 10;

std::string trimmed(std::string const& text) {
  std::size_t const begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

template <class... Values>
void show_line(fmt::format_string<Values...> form, Values&&... values) {
  write_to_standard_error(fmt::format(form, std::forward<Values>(values)...));
}

/// A listed value of a document as text; none where it is not listed.
std::optional<std::string> value_of(datasets::dataset const& data, std::size_t document,
                                    std::uint32_t feature) {
  auto const entries = data.document(document);
  auto const entry =
      std::ranges::lower_bound(entries, feature, {}, &datasets::feature_value::feature);
  if (entry == entries.end() || entry->feature != feature) return {};
  return fmt::format("{:.6g}", entry->value);
}

}  // namespace

std::string describe(al::outlook const& ahead, std::size_t answers) {
  if (ahead.documents == 0)
    return fmt::format("{} so far; no further document is wanted", counted(ahead.rules, "rule"));
  if (answers < enough_answers)
    return fmt::format("{} so far; what more documents bring can be guessed after {} answers",
                       counted(ahead.rules, "rule"), enough_answers);
  return fmt::format(
      "{} so far; with guessed labels about {} more by the next {}, about {} by {} up to the end",
      counted(ahead.rules, "rule"), ahead.next_rules, counted(ahead.next, "document"),
      ahead.documents_rules, counted(ahead.documents, "document"));
}

label_dialogue::label_dialogue(sources what, datasets::answer_journal& journal, std::istream& in)
    : what_(std::move(what)), journal_(journal), in_(in) {}

std::string label_dialogue::title(std::size_t document) const {
  auto const& queries = what_.train.queries;
  auto const query =
      std::partition_point(queries.begin(), queries.end(),
                           [&](datasets::query_group const& q) { return q.end <= document; });
  return fmt::format("docid {}, query {}", printable(what_.train.docid(document)),
                     printable(query->qid));
}

void label_dialogue::show_features(std::size_t document,
                                   std::span<std::size_t const> columns) const {
  for (std::size_t const column : columns) {
    std::uint32_t const feature = what_.binned.features[column];
    std::string shown = value_of(what_.train, document, feature).value_or("not listed");
    // An unlisted 0 may become another value, and a listed value one that is not listed: 0.
    if (what_.norm != datasets::normalization::none)
      shown += " -> " + value_of(what_.normalized, document, feature).value_or("0");
    std::size_t const code = what_.binned.code(column, document);
    datasets::item_range const none{feature};
    datasets::item_range const& range =
        code == datasets::no_item ? none : what_.ranges[what_.binned.item_begin[column] + code];
    show_line("    {:<14} {}\n", shown, printable(datasets::words_of(range, what_.names)));
  }
}

void label_dialogue::show_all_features(std::size_t document) const {
  std::vector<std::size_t> columns(what_.binned.feature_count());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  show_features(document, columns);
}

void label_dialogue::show(request const& now) const {
  show_line("\nAnswer {}: {}\n", journal_.answers().size() + 1, title(now.document));
  if (std::string const comment = printable(what_.train.comment(now.document)); !comment.empty())
    show_line("  {}\n", comment);
  show_line("  {}, by\n", now.why);
  if (what_.norm != datasets::normalization::none)
    show_line("    (value -> normalized within its query by {}, as the ranges are)\n",
              datasets::name_of(what_.norm));
  show_features(now.document, now.columns);
  if (!now.neighbours.empty()) write_to_standard_error("  nearest labelled documents\n");
  for (al::neighbour const& n : now.neighbours)
    show_line("    label {}: {}, {} of {} alike  {}\n", now.label_of(n.document), title(n.document),
              n.shared_items, counted(what_.binned.feature_count(), "feature"),
              printable(what_.train.comment(n.document)));
}

al::reply label_dialogue::operator()(al::question const& now, al::labelling const& work) {
  request shown;
  shown.document = now.document;
  shown.why = work.whole_queries()
                  ? fmt::format("one of {} to be labelled of query {}",
                                counted(work.wanted().size(), "document"), now.iteration + 1)
              : now.iteration == 0
                  ? fmt::format("the most representative document of partition {}", now.partition)
                  : fmt::format("the document with the fewest rules ({}) of partition {}",
                                now.rules, now.partition);
  auto const columns = work.features(now.partition);
  shown.columns.assign(columns.begin(), columns.end());
  shown.neighbours = work.nearest_labelled(now.document, what_.neighbours);
  shown.label_of = [&](std::size_t d) { return work.label_of(d); };
  shown.estimate = [&] { return describe(work.look_ahead(next_documents), work.answers().size()); };
  return (*this)(shown);
}

al::reply label_dialogue::operator()(request const& now, std::size_t kept) {
  using kind = al::reply::kind;
  show(now);
  for (;;) {
    show_line("label 0 to {} (s skip, u undo, a all, e estimate, f finish, q quit, ?): ",
              what_.max_label);
    std::string line;
    if (!std::getline(in_, line)) return {kind::quit};
    std::string const word = trimmed(line);
    if (word.empty()) continue;
    std::int32_t label = -1;
    auto const [end, status] = std::from_chars(word.data(), word.data() + word.size(), label);
    if (status == std::errc{} && end == word.data() + word.size() && label >= 0 &&
        label <= what_.max_label) {
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
      write_to_standard_error("there is no answer to take back\n");
    } else if (word == "a" || word == "all") {
      show_all_features(now.document);
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
