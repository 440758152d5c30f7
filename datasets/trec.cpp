#include "datasets/trec.hpp"

#include "core/error.hpp"
#include "datasets/fields.hpp"
#include "datasets/number.hpp"
#include "datasets/text_source.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::string_view comment_mark = "#";

/// The first line of BEIR's judgments.
bool is_header(std::vector<field> const& fields) {
  constexpr std::string_view names[] = {"query-id", "corpus-id", "score"};
  return std::equal(fields.begin(), fields.end(), std::begin(names), std::end(names),
                    [](field const& f, std::string_view name) { return f.text == name; });
}

/// Calls `work(fields, line)` for each line that says something; returns whether there was one.
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

/// Queries in the order of their first lines, each with the docnos seen.
template <class Query>
class query_table {
 public:
  explicit query_table(std::vector<Query>& queries) : queries_(queries) {}

  /// The query of a line; throws when it has the docno already.
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

qrels read_qrels(context const& ctx, std::string const& path) {
  auto const text = open_text(ctx, path);
  qrels result;
  result.name = display_name(path);
  query_table<judged_query> table(result.queries);
  std::size_t columns = 0;  // of every line
  for_each_record(text->bytes(), [&](std::vector<field> const& f, std::uint64_t line) {
    bool const first = columns == 0;
    if (first) columns = f.size() == 3 ? 3 : 4;
    if (first && is_header(f)) return;
    if (f.size() != columns)
      throw error({result.name, line, f[std::min(columns, f.size() - 1)].column},
                  fmt::format("found {}, expected {}", counted(f.size(), "column"),
                              columns == 4 ? "4: qid, iteration, docno, label"
                                           : "3 as before: qid, docno, label"));
    field const& docno = f[columns - 2];
    field const& grade = f[columns - 1];
    std::int32_t label = 0;
    std::string_view const digits = grade.text.substr(grade.text.starts_with('+') ? 1 : 0);
    auto const [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), label);
    if (status != std::errc{} || end != digits.data() + digits.size())
      throw error({result.name, line, grade.column},
                  fmt::format("found '{}', expected a whole number as label{}", grade.text,
                              columns == 3 ? ", the third of 3 columns or the fourth of 4" : ""));
    table.add(result.name, line, f[0], docno)
        .documents.push_back({std::string(docno.text), label, line});
  });
  expect_unchanged(*text, result.name);
  if (result.queries.empty())
    throw error({result.name, 1, 1}, "found no judgments, expected a line for each");
  for (judged_query& query : result.queries)
    std::sort(query.documents.begin(), query.documents.end(),
              [](judgment const& a, judgment const& b) { return a.docno < b.docno; });
  return result;
}

run read_run(context const& ctx, std::string const& path) {
  auto const text = open_text(ctx, path);
  run result;
  result.name = display_name(path);
  query_table<run_query> table(result.queries);
  std::string_view tag;
  bool const any = for_each_record(text->bytes(), [&](std::vector<field> const& f,
                                                      std::uint64_t line) {
    if (f.size() < 6)
      throw error({result.name, line, f.back().column},
                  fmt::format("found {}, expected 6: qid, Q0, docno, rank, score, tag",
                              counted(f.size(), "column")));
    double score = 0;
    if (read_number(f[4].text, score) != number_kind::finite)
      throw error({result.name, line, f[4].column},
                  fmt::format("found '{}', expected a finite number as score", f[4].text));
    table.add(result.name, line, f[0], f[2]).documents.push_back({std::string(f[2].text), score});
    tag = f[5].text;
  });
  expect_unchanged(*text, result.name);
  if (!any) throw error({result.name, 1, 1}, "found no documents, expected a line for each");
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
      error const what({data.name, place_of(data, d).line},
                       fmt::format("found docid '{}' of query '{}' again, the run names documents "
                                   "by query and line instead",
                                   docid, query.qid));
      if (warn) warn(what.what());
      return run_ids::line;
    }
  }
  return run_ids::docid;
}

bool is_run_column(std::string_view text) {
  return !text.empty() && text != comment_mark && text.find_first_of(" \t\r\n\v\f") == text.npos;
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
