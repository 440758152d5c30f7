// Reads a text with several processes, each of which reads consecutive queries. Shares of the bytes
// can end anywhere. A process's part therefore begins after the query that is in progress at the
// start of its share, and ends at the first query of the next part.
#include "core/error.hpp"
#include "core/even_ranges.hpp"
#include "core/process_group.hpp"
#include "datasets/delimited/layout.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/lines.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/svmlight/fields.hpp"
#include "datasets/svmlight/names.hpp"
#include "datasets/svmlight/read.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rulerank::inline v0::datasets {

namespace {

/// Thrown for input that cannot be read in parts.
struct not_in_parts {};

/// Finds the beginnings of queries.
class query_finder {
 public:
  query_finder(std::string_view text, read_options const& options) : text_(text) {
    rules_ = rules_of(options);
    rules_.names = &names_;
  }

  /// Returns where the first query at or after `at` begins; `at` is the beginning of a line.
  /// Returns the end of the text if there is none, and 0 if no document precedes `at`. Throws
  /// `not_in_parts` if a line there is faulty or has no qid.
  std::size_t from(std::size_t at) {
    std::string_view before;
    for (std::size_t line = at; before.empty();) {
      if (line == 0) return 0;  // no document before
      std::size_t const end = line - 1;
      line = end == 0 ? 0 : text_.rfind('\n', end - 1) + 1;  // npos + 1 is 0
      before = qid_of(text_.substr(line, end - line));
    }
    while (at < text_.size()) {
      std::size_t const end = std::min(text_.find('\n', at), text_.size());
      std::string_view const here = qid_of(text_.substr(at, end - at));
      if (!here.empty() && here != before) break;
      at = std::min(end + 1, text_.size());
    }
    return at;
  }

 private:
  /// Returns an empty text if the line has no document.
  std::string_view qid_of(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    names_.clear();
    try {
      if (!read_line(line, rules_, document_)) return {};
    } catch (line_fault const&) {
      throw not_in_parts();
    }
    if (!document_.qid) throw not_in_parts();
    return *document_.qid;
  }

  std::string_view text_;
  chunk_names names_;
  line_rules rules_;
  line_document document_;
};

std::uint64_t feeds_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Returns the text after its byte order mark. Throws `not_in_parts` for delimited text.
std::string_view lines_of(std::string_view text, std::string const& name,
                          read_options const& options) {
  remove_byte_order_mark(text);
  if (delimiter_of(name, text.substr(0, text.find('\n')), options) != 0) throw not_in_parts();
  return text;
}

/// Reads a process's part of a plain file, and nothing else of it.
text_lines part_of_plain(context const& ctx, std::string const& path, line_range const& range,
                         read_options const& options) {
  text_lines part;
  part.text = open_text(ctx, path);
  std::string_view const text = part.text->bytes();
  if (range.end > text.size()) throw not_in_parts();  // the file has changed
  std::string_view const lines = lines_of(text, display_name(path), options);
  std::size_t const mark = text.size() - lines.size();
  query_finder queries(lines, options);
  auto const query_from = [&](std::size_t at) {
    if (at == 0) return mark;
    return at == text.size() ? at : mark + queries.from(at - mark);
  };
  std::size_t const begin = query_from(range.begin);
  std::size_t const end = query_from(range.end);
  if (begin > range.begin)
    part.lines_before =
        range.lines_before + feeds_in(text.substr(range.begin, begin - range.begin));
  else if (begin == range.begin)
    part.lines_before = range.lines_before;
  part.bytes = text.substr(begin, std::max(begin, end) - begin);
  return part;
}

/// The beginnings of the parts of all processes, followed by the end of the text, and the number of
/// lines before each.
struct text_cuts {
  std::vector<std::size_t> begin;
  std::vector<std::uint64_t> lines_before;
  static auto members_of(auto& cuts) { return std::tie(cuts.begin, cuts.lines_before); }
};

text_cuts cuts_of(std::string_view text, std::size_t parts, read_options const& options) {
  query_finder queries(text, options);
  text_cuts cuts;
  std::uint64_t lines = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    std::size_t const line = line_from(text, even_range(text.size(), parts, p).begin);
    std::size_t const before = p == 0 ? 0 : cuts.begin.back();
    std::size_t const begin = line == text.size() ? line : std::max(before, queries.from(line));
    lines += feeds_in(text.substr(before, begin - before));
    cuts.begin.push_back(begin);
    cuts.lines_before.push_back(lines);
  }
  cuts.begin.push_back(text.size());
  return cuts;
}

/// Returns a process's part of a text that only the first process reads.
text_lines part_dealt(context const& ctx, process_group const& group, std::string const& path,
                      read_options const& options) {
  std::shared_ptr<text_source const> whole;
  std::string_view text;
  text_cuts const cuts = value_from_first(group, [&] {
    try {
      whole = open_text(ctx, path);
      text = lines_of(whole->bytes(), display_name(path), options);
      return cuts_of(text, static_cast<std::size_t>(group.size()), options);
    } catch (not_in_parts const&) {
    } catch (error const&) {  // a fault of the archive, which the reader of the whole text reports
    }
    return text_cuts();
  });
  if (cuts.begin.empty()) throw not_in_parts();
  std::string mine = dealt_by_first(group, [&](int rank) {
    auto const r = static_cast<std::size_t>(rank);
    return std::string(text.substr(cuts.begin[r], cuts.begin[r + 1] - cuts.begin[r]));
  });
  auto const lines_before = cuts.lines_before[static_cast<std::size_t>(group.rank())];
  text_lines part{make_text(std::move(mine)), {}, lines_before};
  part.bytes = part.text->bytes();
  return part;
}

/// Facts about a process's part, from which all processes decide whether the parts equal the whole
/// text.
struct part_facts {
  bool is_read = true;
  bool has_fractions = false;
  feature_form form = feature_form::unknown;
  std::vector<std::string> names;  // names of its features
  std::vector<std::string> qids;
  static auto members_of(auto& facts) {
    return std::tie(facts.is_read, facts.has_fractions, facts.form, facts.names, facts.qids);
  }
};

part_facts facts_of(dataset const& part) {
  part_facts facts;
  facts.has_fractions = !part.fractional_labels.empty();
  if (!part.names.empty())
    facts.form = feature_form::names;
  else if (!part.entries.empty())
    facts.form = feature_form::numbers;
  for (auto const& [number, name] : part.names) facts.names.push_back(name);
  for (query_group const& query : part.queries) facts.qids.push_back(query.qid);
  return facts;
}

/// Returns whether the parts together are the text: it has documents and no fault, each query is in
/// one part, and features have one form.
bool are_whole(std::vector<part_facts> const& parts) {
  std::unordered_set<std::string_view> qids;
  feature_form form = feature_form::unknown;
  for (part_facts const& part : parts) {
    if (!part.is_read) return false;
    for (std::string const& qid : part.qids)
      if (!qids.insert(qid).second) return false;
    if (part.form == feature_form::unknown) continue;
    if (form != feature_form::unknown && form != part.form) return false;
    form = part.form;
  }
  return !qids.empty();
}

/// Numbers named features and completes labels, as one process does that reads all parts.
dataset as_in_whole(dataset part, std::vector<part_facts> const& parts) {
  std::set<std::string> sorted;
  for (part_facts const& one : parts) sorted.insert(one.names.begin(), one.names.end());
  feature_names names;
  for (std::string const& name : sorted)
    names.emplace(static_cast<std::uint32_t>(names.size() + 1), name);
  if (!part.names.empty()) part = renumbered(std::move(part), names);
  part.names = std::move(names);
  if (part.fractional_labels.empty() &&
      std::ranges::count(parts, true, &part_facts::has_fractions) > 0)
    part.fractional_labels.assign(part.labels.begin(), part.labels.end());
  return part;
}

}  // namespace

std::optional<dataset> read_dataset_part(context const& ctx, std::string const& path,
                                         read_options const& options) {
  if (options.regroup || !options.group_file.empty()) return std::nullopt;
  process_group const& group = *ctx.processes;
  context const alone = without_processes(ctx);
  dataset data;
  data.name = display_name(path);
  part_facts mine;
  auto const plain = lines_of_process(path, group);
  try {
    text_lines part = plain ? part_of_plain(alone, path, *plain, options)
                            : part_dealt(alone, group, path, options);
    if (!part.bytes.empty())
      data = parse_lines(alone, std::move(part), data.name, options, {}, default_chunk_bytes);
    mine = facts_of(data);
  } catch (not_in_parts const&) {
    mine.is_read = false;
  } catch (error const&) {
    mine.is_read = false;
  }
  auto const all = gather_values(group, mine);
  // `read_dataset` parses the text again to find its first fault, which may involve several parts,
  // such as a query in two of them.
  if (!are_whole(all)) return std::nullopt;
  return as_in_whole(std::move(data), all);
}

}  // namespace rulerank::datasets
