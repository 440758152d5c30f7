#include "datasets/trec.hpp"

#include "core/error.hpp"
#include "datasets/delimited/documents.hpp"
#include "datasets/delimited/layout.hpp"
#include "datasets/delimited/records.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/number.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/judgments/lines.hpp"
#include "datasets/svmlight/fields.hpp"
#include "datasets/text/document_members.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <list>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::string_view comment_mark = "#";
constexpr std::string_view id_blanks = " \t\r\n\v\f";

// Titles of columns of judgments as results of `plain_name`; the first one present is used. Titles
// of ids are `query_id_titles` and `document_id_titles`, or the other ones here.
constexpr std::string_view other_query_titles[] = {"query", "querytext", "topic"};
constexpr std::string_view other_document_titles[] = {"document", "doc"};
constexpr std::string_view label_titles[] = {
    "score", "rating", "label", "grade", "relevance", "judgment", "rel", "relevancy", "escilabel"};

bool is_query_title(std::string_view title) {
  return is_one_of(title, query_id_titles) || is_one_of(title, other_query_titles);
}

bool is_document_title(std::string_view title) {
  return is_one_of(title, document_id_titles) || is_one_of(title, other_document_titles);
}

/// Returns whether a line of words names the columns of judgments.
bool is_header(std::vector<field> const& fields) {
  std::size_t const n = fields.size();
  return (n == 3 || n == 4) && is_query_title(fields[0].text) &&
         is_document_title(fields[n - 2].text) && is_one_of(fields[n - 1].text, label_titles);
}

/// Returns the end of an error message for a line that may be intended as a comment.
std::string_view comment_hint(std::string_view first_word) {
  return first_word.starts_with(comment_mark) ? "; a comment begins with # and a blank" : "";
}

/// Returns the first line of a text that is neither empty nor a comment.
std::string_view first_line(std::string_view text) {
  remove_byte_order_mark(text);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.substr(0, text.find('\n'));
}

/// Throws if a text begins with JSON.
void expect_no_json(std::string_view text, std::string const& name, std::string_view expected) {
  std::string_view const line = first_line(text);
  if (line.starts_with('{') || line.starts_with('['))
    throw error({name, 1, 1}, fmt::format("found JSON, expected {}", expected));
}

/// Calls `work(fields, line)` for each line that is neither empty nor a comment; returns whether
/// there was one.
template <class Work>
bool for_each_record(std::string_view text, Work&& work) {
  bool any = false;
  std::vector<field> fields;
  for_each_line(text, [&](std::string_view line, std::uint64_t number) {
    split_fields(line, fields);
    if (fields.empty() || fields[0].text == comment_mark) return;
    any = true;
    work(fields, number);
  });
  return any;
}

/// Throws if an id stands for a missing value, as in the exports of R and pandas.
void expect_present(std::string const& file, std::uint64_t line, field const& id) {
  if (is_missing_word(id.text))
    throw error({file, line, id.column}, missing_id_fault("id", id.text));
}

/// Throws, too, if an id between blanks is in quotes.
void expect_plain_id(std::string const& file, std::uint64_t line, field const& id) {
  if (id.text.size() > 1 && id.text.front() == '"' && id.text.back() == '"') {
    std::string_view const inside = id.text.substr(1, id.text.size() - 2);
    if (is_query_title(inside) || is_document_title(inside))
      throw error({file, line, id.column},
                  fmt::format("found a header with {}, expected no header and no quotes (in R: "
                              "quote = FALSE, row.names = FALSE, col.names = FALSE)",
                              id.text));
    throw error({file, line, id.column},
                fmt::format("found the id {} in quotes, expected it without quotes (in R: quote = "
                            "FALSE)",
                            id.text));
  }
  expect_present(file, line, id);
}

/// Queries in the order of their first lines, with the docnos of each so far.
template <class Query>
class query_table {
 public:
  explicit query_table(std::vector<Query>& queries) : queries_(queries) {}

  /// Returns the query of a line; throws if it already has the docno.
  Query& add(std::string const& file, std::uint64_t line, field const& qid, field const& docno) {
    if (queries_.empty() || queries_[last_].qid != qid.text) {
      auto const [at, is_new] = index_.try_emplace(std::string(qid.text), queries_.size());
      if (is_new) {
        queries_.push_back({std::string(qid.text), {}, line});
        seen_.emplace_back();
      }
      last_ = at->second;
    }
    if (!seen_[last_].insert(docno.text).second)
      throw error({file, line, docno.column},
                  fmt::format("found document '{}' of query '{}' again, expected it once",
                              docno.text, qid.text));
    return queries_[last_];
  }

 private:
  std::vector<Query>& queries_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::unordered_set<std::string_view>> seen_;  // views into the file's text
  std::size_t last_ = 0;
};

}  // namespace

namespace {

/// Reads an integer, which may have a decimal point (3.0); returns false otherwise.
bool read_grade(std::string_view text, std::int32_t& label) {
  std::string_view const digits = text.substr(text.starts_with('+') ? 1 : 0);
  auto const [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), label);
  if (status == std::errc{} && end == digits.data() + digits.size()) return true;
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  double value = 0;
  if (read_number(text, value) != number_kind::finite || value != std::trunc(value) ||
      std::abs(value) > most)
    return false;
  label = static_cast<std::int32_t>(value);
  return true;
}

/// Returns whether a label or a rank begins with a letter, as in a header.
bool seems_title(field const& word) {
  return !word.text.empty() && std::isalpha(static_cast<unsigned char>(word.text.front())) != 0;
}

/// Throws an error about a label that is no integer.
[[noreturn]] void fail_label(std::string const& name, judgment_fields const& found) {
  double value = 0;
  number_kind const kind = read_number(found.label.text, value);
  bool const is_fraction = kind == number_kind::finite && value != std::trunc(value);
  using limits = std::numeric_limits<std::int32_t>;
  if (kind == number_kind::too_large || (kind == number_kind::finite && !is_fraction))
    throw error({name, found.label_line, found.label.column},
                fmt::format("found '{}', expected a label of {} to {}", found.label.text,
                            limits::min(), limits::max()));
  throw error(
      {name, found.label_line, found.label.column},
      fmt::format("found '{}', expected a whole number as label{}{}{}{}", found.label.text,
                  found.columns,
                  is_fraction ? "; `rulerank evaluate --test` reads fractional labels" : "",
                  !seems_title(found.label) ? ""
                  : found.in_table ? "; `rulerank judgments --label-names` makes numbers of words"
                  : found.line == 1 && seems_title(found.qid)
                      ? "; a header names columns such as qid, docid and rating"
                      : "",
                  comment_hint(found.qid.text)));
}

/// Returns a first line `sep=;`; its size includes a byte order mark before it.
separator_line first_separator(std::string_view text) {
  std::string_view unmarked = text;
  remove_byte_order_mark(unmarked);
  separator_line told = separator_of(unmarked);
  if (told.size > 0) told.size += text.size() - unmarked.size();
  return told;
}

/// Returns the columns that a header names between one of these delimiters.
judgment_columns columns_of(std::string_view header, std::string_view delimiters) {
  for (char const delimiter : delimiters) {
    record head;
    try {
      record_reader(delimiter).read(header, head);
    } catch (line_fault const&) {
      continue;
    }
    std::vector<std::string> names;
    for (cell const& one : head.cells) names.push_back(plain_name(one.str()));
    auto const find = [&](std::span<std::string_view const> known) {
      for (std::string_view const name : known)
        if (auto const at = std::find(names.begin(), names.end(), name); at != names.end())
          return static_cast<std::size_t>(at - names.begin());
      return names.size();
    };
    judgment_columns found;
    found.delimiter = delimiter;
    found.qid = find(query_id_titles);
    if (found.qid == names.size()) found.qid = find(other_query_titles);
    found.docno = find(document_id_titles);
    if (found.docno == names.size()) found.docno = find(other_document_titles);
    found.label = find(label_titles);
    if (std::max({found.qid, found.docno, found.label}) == names.size()) continue;
    for (std::size_t c = 0; c < names.size(); ++c)
      if (c != found.label && is_one_of(names[c], label_titles)) found.other_label = c;
    auto const holds_texts = [&](std::size_t c) {
      return names[c] == "query" || names[c] == "querytext";
    };
    found.texts = holds_texts(found.qid);
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (c == found.qid || c == found.docno || c == found.label) continue;
      if (holds_texts(c) && !found.texts && !found.query_text)
        found.query_text = c;
      else
        found.others.push_back(head.cells[c].str());
    }
    return found;
  }
  return {};
}

/// Reads the judgments after a header. Cells are those of `records`, and valid as long.
std::size_t for_each_table_judgment(std::string_view text, std::string const& name,
                                    judgment_columns const& columns, std::list<std::string>& kept,
                                    std::function<void(judgment_fields const&)> const& take) {
  record_reader const reader(columns.delimiter);
  record now;
  std::size_t const told = first_separator(text).size;
  text.remove_prefix(told);
  std::uint64_t line = told > 0 ? 2 : 1;
  std::size_t expected = 0, without_label = 0;
  for (; !text.empty(); line += now.feeds, text.remove_prefix(now.size)) {
    auto const fail = [&](std::size_t offset, std::string const& what) {
      line_place const place = place_in(text, offset);
      throw error({name, line + place.line, place.column}, what);
    };
    try {
      reader.read(text, now);
    } catch (line_fault const& fault) {
      fail(fault.offset, fault.found_and_expected);
    }
    if (now.text.find_first_not_of(" \t\r") == now.text.npos) continue;
    if (expected == 0) {  // the header
      expected = now.cells.size();
      if (columns.other_label)
        fail(now.cells[*columns.other_label].offset,
             fmt::format("found the columns {} and {}, expected one column of labels",
                         printable(now.cells[columns.label].str()),
                         printable(now.cells[*columns.other_label].str())));
      continue;
    }
    if (now.cells.size() != expected)
      fail(now.cells.size() > expected ? now.cells[expected].offset : now.text.size(),
           fmt::format("found {}, expected {} as in the header", counted(now.cells.size(), "cell"),
                       expected));
    if (now.cells[columns.label].text.empty()) {
      ++without_label;
      continue;
    }
    auto const field_of = [&](std::size_t c, std::uint64_t& at) {
      cell const& one = now.cells[c];
      line_place const place = place_in(text, one.offset);
      at = line + place.line;
      if (one.text.empty()) fail(one.offset, "found an empty cell, expected an id");
      return field{one.has_quotes ? std::string_view(kept.emplace_back(one.str())) : one.text,
                   place.column};
    };
    judgment_fields found;
    found.qid = field_of(columns.qid, found.line);
    found.docno = field_of(columns.docno, found.line);
    if (!columns.texts) expect_present(name, found.line, found.qid);
    expect_present(name, found.line, found.docno);
    found.label = field_of(columns.label, found.label_line);
    found.in_table = true;
    if (columns.query_text) {
      cell const& one = now.cells[*columns.query_text];
      found.query_text = one.has_quotes ? std::string_view(kept.emplace_back(one.str())) : one.text;
    }
    take(found);
  }
  return without_label;
}

}  // namespace

judgment_columns judgment_columns_of(std::string_view text) {
  separator_line const told = first_separator(text);
  std::string_view const header = first_line(text.substr(told.size));
  if (header.empty()) return {};
  return columns_of(header, told.size > 0 ? std::string_view(&told.delimiter, 1) : "\t,;");
}

std::size_t for_each_judgment(std::string_view text, std::string const& name,
                              judgment_columns const& columns, std::list<std::string>& kept,
                              std::function<void(judgment_fields const&)> const& take) {
  if (columns.delimiter != 0) return for_each_table_judgment(text, name, columns, kept, take);
  expect_no_json(text, name,
                 "lines of qid, iteration, docno and label, or a table; `rulerank judgments` reads "
                 "JSON of RRE and OpenSearch");
  std::size_t expected = 0;  // number of columns of every line
  for_each_record(text, [&](std::vector<field> const& f, std::uint64_t line) {
    bool const first = expected == 0;
    if (first) expected = f.size() == 3 ? 3 : 4;
    if (first && is_header(f)) return;
    if (f.size() != expected)
      throw error({name, line, f[std::min(expected, f.size() - 1)].column},
                  fmt::format("found {}, expected {}{}{}", counted(f.size(), "column"),
                              expected == 4 ? "4 (qid, iteration, docno, label)"
                                            : "3 as on the first line (qid, docno, label)",
                              first || f[0].text.find_first_of(",;") != std::string_view::npos
                                  ? ", or the header of a table with a query, a document and a "
                                    "rating"
                                  : "",
                              comment_hint(f[0].text)));
    if (expected == 4 && !comment_hint(f[0].text).empty() &&
        f[1].text.find_first_of("0123456789") == f[1].text.npos)
      throw error({name, line, f[1].column},
                  fmt::format("found the iteration '{}' of query '{}', expected a number or Q0{}",
                              f[1].text, f[0].text, comment_hint(f[0].text)));
    expect_plain_id(name, line, f[0]);
    expect_plain_id(name, line, f[expected - 2]);
    take({f[0], f[expected - 2], f[expected - 1], line, line,
          expected == 3 ? ", the third of 3 columns or the fourth of 4" : ""});
  });
  return 0;
}

qrels read_qrels(context const& ctx, std::string const& path,
                 std::function<void(std::string const&)> const& warn) {
  auto const text = open_text(ctx, path);
  qrels result;
  result.name = display_name(path);
  query_table<judged_query> table(result.queries);
  std::list<std::string> kept;  // cells with quotes, and ids from texts
  std::string_view text_id;     // the first of these
  for_each_judgment(text->bytes(), result.name, judgment_columns_of(text->bytes()), kept,
                    [&](judgment_fields const& found) {
                      std::int32_t label = 0;
                      if (!read_grade(found.label.text, label)) fail_label(result.name, found);
                      field qid = found.qid;
                      if (has_blank(qid.text)) qid.text = kept.emplace_back(id_of_text(qid.text));
                      if (text_id.empty() && qid.text != found.qid.text) text_id = qid.text;
                      table.add(result.name, found.line, qid, found.docno)
                          .documents.push_back({std::string(found.docno.text), label, found.line});
                    });
  expect_unchanged(*text, result.name);
  if (result.queries.empty())
    throw error({result.name, 1, 1}, "found no judgments, expected a line for each judgment");
  if (warn && !text_id.empty()) warn(text_id_note(result.name, text_id));
  for (judged_query& query : result.queries)
    std::sort(query.documents.begin(), query.documents.end(),
              [](judgment const& a, judgment const& b) { return a.docno < b.docno; });
  return result;
}

namespace {

bool is_number(std::string_view text) {
  double value = 0;
  return read_number(text, value) == number_kind::finite;
}
bool is_whole_number(std::string_view text) {
  double value = 0;
  return read_number(text, value) == number_kind::finite && value == std::trunc(value);
}

/// Throws if the first line of a run is a header, or belongs to a table.
void expect_no_header(std::vector<field> const& f, std::string const& name, std::uint64_t line) {
  bool const is_table = f.size() < 3 && f[0].text.find_first_of(",;") != std::string_view::npos;
  bool const has_titles = f.size() >= 3 && is_query_title(f[0].text) &&
                          seems_title(f.size() == 3 ? f[2] : f[f.size() > 4 ? 4 : 3]);
  if (is_table || has_titles)
    throw error({name, line, 1},
                fmt::format("found {}, expected lines of a run: 6 words between blanks (qid, Q0, "
                            "docno, rank, score, tag) and no header",
                            is_table ? "a table" : "a header"));
}

/// Throws if the words of a line are not those of a run: a space in an id or a tag shifts the
/// columns.
void expect_run_words(std::vector<field> const& f, std::string const& name, std::uint64_t line) {
  std::size_t const n = f.size();
  if (n == 6 && f[3].text.find_first_not_of("0123456789") == f[3].text.npos) return;
  bool const is_moved = n > 6 && is_number(f[n - 3].text) && is_number(f[n - 2].text);
  if (is_whole_number(f[3].text) && !is_moved) return;
  if (n == 6)
    throw error({name, line, f[3].column},
                fmt::format("found '{}' as rank, expected a whole number; the columns are qid, Q0, "
                            "docno, rank, score, tag{}{}",
                            f[3].text, is_number(f[3].text) ? "" : ", without blanks in ids",
                            comment_hint(f[0].text)));
  throw error({name, line, f[3].column},
              fmt::format("found '{}' as rank in a line of {}, expected 6 words (qid, Q0, docno, "
                          "rank, score, tag) without blanks in ids{}",
                          f[3].text, counted(n, "word"), comment_hint(f[0].text)));
}

/// Returns the rank in a line of MS MARCO's run format, qid, docno and rank.
std::uint32_t read_rank(std::string const& name, std::uint64_t line, field const& f) {
  std::uint32_t rank = 0;
  char const* const last = f.text.data() + f.text.size();
  auto const [end, status] = std::from_chars(f.text.data(), last, rank);
  if (status != std::errc{} || end != last || rank == 0)
    throw error(
        {name, line, f.column},
        fmt::format(
            "found '{}', expected a rank of 1 or more as the third of 3 columns (qid, docno, rank)",
            f.text));
  return rank;
}

/// Throws if the third column of a run with three columns is no rank: each query must have every
/// rank once, beginning with the first.
void expect_ranks(run const& read) {
  for (run_query const& query : read.queries) {
    std::vector<double> ranks;
    for (run_entry const& document : query.documents) ranks.push_back(-document.score);
    std::sort(ranks.begin(), ranks.end());
    auto const again = std::adjacent_find(ranks.begin(), ranks.end());
    if (again != ranks.end() || ranks.front() != 1)
      throw error({read.name, query.line, 0},
                  fmt::format("found {} {} in query '{}', expected the ranks 1, 2, ... as the "
                              "third of 3 columns (qid, docno, rank)",
                              again != ranks.end() ? "twice the rank" : "as first rank",
                              again != ranks.end() ? *again : ranks.front(), query.qid));
  }
}

}  // namespace

run read_run(context const& ctx, std::string const& path) {
  auto const text = open_text(ctx, path);
  run result;
  result.name = display_name(path);
  query_table<run_query> table(result.queries);
  std::string_view tag;
  expect_no_json(text->bytes(), result.name, "lines of a run: qid, Q0, docno, rank, score and tag");
  std::size_t columns = 0;  // number of columns of the first line: 3 or any other
  bool const any = for_each_record(text->bytes(), [&](std::vector<field> const& f,
                                                      std::uint64_t line) {
    if (columns == 0) expect_no_header(f, result.name, line);
    if (columns == 0) columns = f.size();
    if (columns == 3 ? f.size() != 3 : f.size() < 6)
      throw error({result.name, line, f.back().column},
                  fmt::format("found {}, expected {}{}", counted(f.size(), "column"),
                              columns == 3 ? "3 as on the first line (qid, docno, rank)"
                                           : "6 (qid, Q0, docno, rank, score, tag)",
                              comment_hint(f[0].text)));
    for (std::size_t const id : {std::size_t{0}, std::size_t{columns == 3 ? 1U : 2U}})
      expect_plain_id(result.name, line, f[id]);
    if (columns == 3) {
      double const rank = read_rank(result.name, line, f[2]);
      table.add(result.name, line, f[0], f[1]).documents.push_back({std::string(f[1].text), -rank});
      return;
    }
    expect_run_words(f, result.name, line);
    double score = 0;
    if (read_number(f[4].text, score) != number_kind::finite)
      throw error({result.name, line, f[4].column},
                  fmt::format("found '{}', expected a finite number as score", f[4].text));
    table.add(result.name, line, f[0], f[2]).documents.push_back({std::string(f[2].text), score});
    tag = f[5].text;
  });
  expect_unchanged(*text, result.name);
  if (!any)
    throw error({result.name, 1, 1}, "found no documents, expected a line for each document");
  if (columns == 3) expect_ranks(result);
  result.tag = tag;
  return result;
}

run_ids distinct_ids(dataset const& data, std::function<void(std::string const&)> const& warn) {
  std::unordered_set<std::string> seen;
  for (query_group const& query : data.queries) {
    seen.clear();
    for (std::size_t d = query.begin; d < query.end; ++d) {
      std::string const docid = data.docid(d);
      if (seen.insert(docid).second) continue;
      error const what(
          {data.name, place_of(data, d).line},
          fmt::format(
              "found docid '{}' of query '{}' again, so the run names documents by query and line",
              docid, query.qid));
      if (warn) warn(what.what());
      return run_ids::line;
    }
  }
  return run_ids::docid;
}

bool has_blank(std::string_view text) {
  return text.find_first_of(id_blanks) != text.npos;
}

std::string missing_id_fault(std::string_view what, std::string_view id) {
  return fmt::format("found the {} {}, which stands for a missing value, expected another {}", what,
                     id, what);
}

std::string id_of_text(std::string_view text) {
  std::string id;
  for (char const c : text)
    id += id_blanks.find(c) == id_blanks.npos ? std::string(1, c) : fmt::format("%{:02X}", c);
  return id;
}

std::string text_id_note(std::string_view file, std::string_view id) {
  return fmt::format("{}: wrote %20 for each blank in ids of queries, such as {}", file, id);
}

bool is_run_column(std::string_view text) {
  return !text.empty() && text != comment_mark && !has_blank(text);
}

std::string run_line(std::string_view qid, std::string_view docno, std::size_t rank, double score,
                     std::string_view tag) {
  return fmt::format("{} Q0 {} {} {} {}\n", qid, docno, rank, score, tag);
}

void write_run(dataset const& data, std::span<double const> scores, std::string_view tag,
               output_file& out, run_form const& form) {
  write_run(
      data, scores, tag, [&](std::string_view text) { out.write(text); }, form);
}

void write_run(dataset const& data, std::span<double const> scores, std::string_view tag,
               std::function<void(std::string_view)> const& write, run_form const& form) {
  if (scores.size() != data.size())
    throw usage_error(fmt::format("{} for {}", counted(scores.size(), "score"),
                                  counted(data.size(), "document")));
  std::vector<std::size_t> order;
  std::unordered_set<std::string> seen;
  for (query_group const& query : data.queries) {
    order.resize(query.size());
    std::iota(order.begin(), order.end(), query.begin);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    seen.clear();
    std::string text;
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::string const docid =
          form.ids == run_ids::docid ? data.docid(order[i]) : data.line_id(order[i]);
      if (!seen.insert(docid).second)
        throw error({data.name, place_of(data, order[i]).line, 0},
                    fmt::format("found docid '{}' twice in query '{}', expected it once in a run",
                                docid, query.qid));
      double const score =
          form.distinct_scores ? static_cast<double>(order.size() - i) : scores[order[i]];
      text += run_line(query.qid, docid, i + 1, score, tag);
    }
    write(text);
  }
}

}  // namespace rulerank::datasets
