#include "labelling/label_sources.hpp"

#include "al/answers.hpp"
#include "core/error.hpp"
#include "core/json_fields.hpp"
#include "datasets/delimited/label_cells.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/trec.hpp"
#include "labelling/judge/program_judge.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace rulerank::inline v0::labelling {

namespace {

/// Columns of a table with several labellers.
struct source_columns {
  std::size_t qid = 0, docid = 0, label = 0, labeller = 0;
  std::size_t most() const { return std::max({qid, docid, label, labeller}); }
};

/// The columns that a header names, or nothing without the column labeller.
std::optional<source_columns> columns_of(std::vector<datasets::label_cell> const& header,
                                         std::string const& path) {
  auto const at = [&](std::string_view name) {
    auto const found = std::ranges::find(header, name, &datasets::label_cell::text);
    return found == header.end() ? std::nullopt
                                 : std::optional<std::size_t>(found - header.begin());
  };
  auto const labeller = at("labeller");
  if (!labeller) return {};
  source_columns columns{.labeller = *labeller};
  for (auto const& [name, column] :
       {std::pair("qid", &columns.qid), std::pair("docid", &columns.docid),
        std::pair("label", &columns.label)}) {
    auto const found = at(name);
    if (!found)
      throw error({path, header[0].line, 1},
                  fmt::format("found the column labeller and no column {}, expected qid, docid, "
                              "label and labeller",
                              name));
    *column = *found;
  }
  return columns;
}

/// A label, or nothing for an empty cell, `skip` and labels below 0.
std::optional<std::int32_t> label_of(datasets::label_cell const& cell, std::string const& path) {
  if (cell.text.empty() || cell.text == al::left_out_word) return {};
  std::int32_t label = 0;
  char const* const end = cell.text.data() + cell.text.size();
  auto const [read, status] = std::from_chars(cell.text.data(), end, label);
  if (status != std::errc{} || read != end)
    throw error({path, cell.line, cell.column},
                fmt::format("found '{}', expected a label, which is an integer, or {}", cell.text,
                            al::left_out_word));
  return label < 0 ? std::nullopt : std::optional(label);
}

}  // namespace

void label_sources::add(std::string const& source, std::string const& qid, std::string const& docid,
                        std::int32_t label) {
  auto const [s, new_source] = source_at_.emplace(source, sources_.size());
  if (new_source) sources_.push_back(source);
  auto const [q, new_query] = query_at_.emplace(qid, qids_.size());
  if (new_query) qids_.push_back(qid);
  auto const [u, new_unit] = unit_at_.emplace(std::pair(qid, docid), units_.size());
  if (new_unit) {
    units_.emplace_back(qid, docid);
    query_of_.push_back(q->second);
  }
  labels_[{u->second, s->second}] = label;
}

void label_sources::read_journal(std::string_view text, std::string const& path,
                                 std::string const& name) {
  if (pool_ == nullptr)
    throw usage_error(fmt::format(
        "{} names documents by their line: --pool POOL is the file of these lines", path));
  for (al::answer const& a : al::journal_answers(text, path, *pool_)) {
    if (!a.label) continue;
    auto const& query =
        *std::ranges::upper_bound(pool_->queries, a.document, {}, &datasets::query_group::end);
    add(a.labeller.empty() ? name : a.labeller, query.qid, pool_->docid(a.document), *a.label);
  }
}

void label_sources::read_record(std::string_view text, std::string const& path,
                                std::string const& name, bool replace) {
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\n', at), text.size());
    auto const line =
        parse_ordered_json(text.substr(at, end - at), path, "an answer of a program", ++number);
    at = end + 1;
    if (number == 1) continue;
    read_json({path, number, 1}, "not an answer of a program", [&] {
      if (line.contains("failed") || line.at("label").is_null()) return;
      add(replace ? name : line.at("source").get<std::string>(), line.at("qid"), line.at("docid"),
          line.at("label").get<std::int32_t>());
    });
  }
}

/// False if the text is no table with a column labeller.
bool label_sources::read_table(std::string_view text, std::string const& path) {
  datasets::label_records records(text);
  if (!records.next() || records.cells().empty()) return false;
  auto const columns = columns_of(records.cells(), path);
  if (!columns) return false;
  while (records.next()) {
    auto const& cells = records.cells();
    if (std::ranges::all_of(cells, &std::string::empty, &datasets::label_cell::text)) continue;
    if (cells.size() <= columns->most())
      throw error({path, cells[0].line, 1},
                  fmt::format("found {}, expected {} or more", counted(cells.size(), "field"),
                              columns->most() + 1));
    auto const text_at = [&](std::size_t column) {
      return std::string(datasets::unguarded_id(cells[column].text));
    };
    if (auto const label = label_of(cells[columns->label], path))
      add(text_at(columns->labeller), text_at(columns->qid), text_at(columns->docid), *label);
  }
  return true;
}

void label_sources::read(context const& ctx, std::string const& path, std::string const& name,
                         bool replace) {
  {
    auto const source = datasets::open_text(ctx, path);
    std::string_view const text = source->bytes();
    std::string const shown = datasets::display_name(path);
    if (text.starts_with(al::journal_mark)) return read_journal(text, shown, name);
    if (text.starts_with(judge_record_mark)) return read_record(text, shown, name, replace);
    if (read_table(text, shown)) return;
  }
  for (datasets::judged_query const& query : datasets::read_qrels(ctx, path).queries)
    for (datasets::judgment const& document : query.documents)
      if (document.label >= 0) add(name, query.qid, document.docno, document.label);
}

eval::ratings label_sources::ratings() const {
  eval::ratings made{sources_, query_of_, qids_, {}};
  for (auto const& [at, label] : labels_) made.all.push_back({at.first, at.second, label});
  return made;
}

}  // namespace rulerank::labelling
