#include "datasets/text/documents.hpp"

#include "core/error.hpp"
#include "datasets/delimited/label_cells.hpp"
#include "datasets/delimited/layout.hpp"
#include "datasets/forms.hpp"
#include "datasets/input/lines.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight/comments.hpp"
#include "datasets/svmlight/fields.hpp"
#include "datasets/text/document_lines.hpp"
#include "datasets/text/document_members.hpp"
#include "datasets/text/trec_documents.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr char const* no_texts = "found no documents, expected at least one";

void read_tsv(document_lines& lines, text_options const& options) {
  bool const is_first = !options.lines || options.lines->begin == 0;
  bool const labels = options.labels;
  bool is_warned = false;
  char const* const form = labels ? "id<TAB>label<TAB>text" : "id<TAB>text";
  if (is_first && seems_header(lines.line()))
    lines.fail(1, fmt::format("found the header {}, expected {}; remove it, or name its columns "
                              "with --id-field and --text-fields",
                              rulerank::quoted(lines.line()), form));
  do {
    std::string_view rest = lines.line();
    if (rest.empty()) continue;
    std::size_t const back = inner_return(rest);
    if (back != rest.npos && rest.find('\t', back) != rest.npos)
      lines.fail(back + 1, inner_return_fault);
    std::uint64_t column = 1;
    auto const up_to_tab = [&]() {
      std::size_t const tab = rest.find('\t');
      if (tab == rest.npos)
        lines.fail(
            column + rest.size(),
            fmt::format("found no tab after {}, expected {}{}", rulerank::quoted(rest), form,
                        is_first && lines.given() == 0 && rest.find_first_of(",;") != rest.npos
                            ? "; --id-field and --text-fields read a table with a header"
                            : ""));
      std::string const field(rest.substr(0, tab));
      rest.remove_prefix(tab + 1);
      column += tab + 1;
      return field;
    };
    text_document document;
    std::string const cell = up_to_tab();
    document.id = without_quotes(cell);
    if (document.id.empty()) lines.fail(1, fmt::format("found an empty id, expected {}", form));
    lines.claim(document.id, 1);
    bool const has_quotes = document.id != cell;
    if (!is_warned && options.warn && (has_quotes || document.id.find(' ') != std::string::npos)) {
      options.warn(
          has_quotes
              ? fmt::format("{}:{}: left out the quotes of the id {}", lines.name(), lines.number(),
                            document.id)
              : fmt::format("{}:{}: the id {} has a blank; expected {}, or a table with a header",
                            lines.name(), lines.number(), rulerank::quoted(document.id), form));
      is_warned = true;
    }
    if (labels) document.label = up_to_tab();
    if (rest.find('\t') != rest.npos)
      lines.warn_once(
          fmt::format("{}:{}: the text has a tab; read all columns after the id as text",
                      lines.name(), lines.number()));
    document.fields.push_back({"", std::string(rest)});
    lines.give(std::move(document));
  } while (lines.next());
}

/// Returns the letter of a line that begins a section or, with `I`, a document; 0 for a line of
/// text.
char section_of(std::string_view line) {
  if (line.size() < 2 || line[0] != '.' || line[1] < 'A' || line[1] > 'Z') return 0;
  bool const more = line[1] == 'I' && line.size() > 2 && is_blank(line.substr(2, 1));
  return more || is_blank(line.substr(2)) ? line[1] : '\0';
}

std::string field_name(char section) {
  switch (section) {
    case 'T':
      return "title";
    case 'A':
      return "author";
    case 'B':
      return "bibliography";
    case 'W':
      return "text";
    default:
      return {section};
  }
}

/// Returns whether a section has cross-references, notes on the entry, or category codes.
bool is_no_text(char section) {
  return section == 'X' || section == 'N' || section == 'C';
}

void read_cranfield(document_lines& lines, bool number_by_position) {
  text_document document;
  std::uint64_t position = 0;  // number of the document, from 1; 0: before the first
  bool at_begin = false;       // of a field
  char within = 0;             // the section; 0 before the first of a document
  do {
    std::string_view const line = lines.line();
    char const section = section_of(line);
    if (section == 'I') {
      if (position > 0) lines.give(std::exchange(document, {}));
      std::size_t const begin = std::min(line.find_first_not_of(blanks, 2), line.size());
      std::string_view const number = line.substr(begin, line.find_last_not_of(blanks) - begin + 1);
      if (begin == line.size() || number.find_first_not_of("0123456789") != number.npos)
        lines.fail(begin + 1,
                   fmt::format("found {} after .I, expected a number",
                               begin == line.size() ? "nothing" : rulerank::quoted(number)));
      document.position = ++position;
      document.id = number_by_position ? std::to_string(position) : std::string(number);
      lines.claim(document.id, begin + 1);
      within = 0;
    } else if (is_blank(line) && within == 0) {
      continue;
    } else if (position == 0) {
      lines.fail(1, fmt::format("found {} before the first document, expected .I and a number",
                                rulerank::quoted(line)));
    } else if (section != 0) {
      within = section;
      at_begin = true;
      if (!is_no_text(within)) document.fields.push_back({field_name(within), ""});
    } else if (within == 0) {
      lines.fail(1, fmt::format("found {} right after .I, expected a section such as .T or .W",
                                rulerank::quoted(line)));
    } else if (!is_no_text(within)) {
      std::string& text = document.fields.back().text;
      if (!std::exchange(at_begin, false)) text += '\n';
      text += line;
    }
  } while (lines.next());
  if (position == 0) throw error({lines.name(), 1, 1}, no_texts);
  lines.give(std::move(document));
}

/// Returns whether an entry is or links to a regular file; false for broken and circular links.
bool is_file(std::filesystem::directory_entry const& entry) {
  std::error_code none;
  auto const status = entry.status(none);
  if (none && none != std::errc::too_many_symbolic_link_levels &&
      status.type() != std::filesystem::file_type::not_found)
    throw std::filesystem::filesystem_error("", entry.path(), none);
  return std::filesystem::is_regular_file(status);
}

/// Paths within a folder, in byte order: of regular files, and of entries that are neither files
/// nor folders.
struct folder_entries {
  std::vector<std::string> files, others;
};

folder_entries entries_below(context const& ctx, std::filesystem::path const& folder) {
  folder_entries found;
  std::vector<std::filesystem::path> folders{folder};
  while (!folders.empty()) {
    std::filesystem::path const at = std::move(folders.back());
    folders.pop_back();
    // Not a recursive iterator, whose exceptions name the folder above the faulty one.
    try {
      for (auto const& entry : std::filesystem::directory_iterator(at)) {
        ctx.check_stop();
        bool const file = is_file(entry);
        if (!file && std::filesystem::is_directory(entry.symlink_status()))
          folders.push_back(entry.path());
        else
          (file ? found.files : found.others)
              .push_back(entry.path().native().substr(folder.native().size()));
      }
    } catch (std::filesystem::filesystem_error const& e) {
      throw error({(e.path1().empty() ? at : e.path1()).string(), 0, 0},
                  "cannot be read: " + e.code().message());
    }
  }
  std::sort(found.files.begin(), found.files.end());
  std::sort(found.others.begin(), found.others.end());
  return found;
}

/// Returns the files of a folder; `options.warn` reports other entries.
std::vector<std::string> files_below(context const& ctx, std::string const& path,
                                     std::filesystem::path const& folder,
                                     text_options const& options) {
  auto [files, others] = entries_below(ctx, folder);
  if (!others.empty() && options.warn)
    options.warn(fmt::format(
        "{}: left out {} of {}, which {} (links to folders, broken links, pipes); the first is {}",
        path, others.size(), counted(files.size() + others.size(), "entry", "entries"),
        others.size() == 1 ? "is not a regular file" : "are not regular files",
        rulerank::quoted(others.front())));
  if (files.empty()) throw error({path, 0, 0}, "found no files in the folder, expected documents");
  return std::move(files);
}

void read_folder(context const& ctx, std::string const& path, text_options const& options,
                 std::function<void(text_document&&)> const& take) {
  std::filesystem::path const folder = std::filesystem::path(path) / "";
  auto const files = files_below(ctx, path, folder, options);
  encoding_check encoding(options);
  for (std::size_t f = 0; f < files.size(); ++f) {
    if (f % documents_a_report == 0) ctx.report("read files", f, files.size());
    if (std::string const fault = fault_of_id(files[f], options.ids); !fault.empty())
      throw error({(folder / files[f]).string(), 0, 0}, fault);
    text_document document;
    document.id = files[f];
    document.label = std::filesystem::path(files[f]).parent_path().filename().native();
    document.fields.push_back(
        {"", std::string(open_text(ctx, folder / files[f], options.encoding)->bytes())});
    encoding.look_at((folder / files[f]).string(), 1, document.fields.front().text, {});
    encoding.warn();
    take(std::move(document));
  }
}

void read_vectors(document_lines& lines, bool number_by_position) {
  line_rules rules;
  rules.zero_based = true;
  rules.any_label = true;
  rules.missing_values = false;
  rules.largest = largest_value;
  line_document row;
  std::uint64_t position = 0;
  do {
    std::string_view const line = lines.line();
    try {
      if (!read_line(line, rules, row)) continue;
    } catch (line_fault const& fault) {
      lines.fail(fault.offset + 1, fault.found_and_expected);
    }
    ++position;
    text_document document;
    document.position = position;
    document.label = fmt::format("{}", row.label_value + 0.0);  // -0 is 0
    std::string_view comment = line.substr(std::min(line.find('#'), line.size()));
    comment.remove_prefix(std::min(comment.find_first_not_of(" \t#"), comment.size()));
    std::string_view const id = number_by_position ? std::string_view{} : docid_of(comment);
    document.id = !id.empty()          ? std::string(id)
                  : number_by_position ? std::to_string(position)
                                       : std::to_string(lines.number());
    lines.claim(document.id,
                id.empty() ? 1 : static_cast<std::uint64_t>(id.data() - line.data()) + 1);
    for (feature_value const& entry : row.entries)
      if (entry.value != 0) document.vector.push_back(entry);
    lines.give(std::move(document));
  } while (lines.next());
  if (position == 0) throw error({lines.name(), 1, 1}, no_texts);
}

/// Reads every file of the folder.
void read_trec_folder(context const& ctx, std::string const& path, text_options const& options,
                      std::function<void(text_document&&)> const& take) {
  std::filesystem::path const folder = std::filesystem::path(path) / "";
  auto const files = files_below(ctx, path, folder, options);
  document_ids ids(options);
  trec_fields fields{options.text_fields};
  std::size_t count = 0;
  std::function<void(text_document &&)> const without_line = [&](text_document&& document) {
    document.line = 0;
    take(std::move(document));
  };
  for (std::string const& file : files) {
    document_lines lines(ctx, (folder / file).string(), options, without_line, ids);
    if (lines.next()) count += read_trec(lines, fields);
  }
  if (count == 0)
    throw error({path, 0, 0}, "found no documents in the folder, expected at least one");
  fields.expect_found(path);
}

/// Throws `error` for a folder in BEIR's format, whose files are the documents, queries and
/// judgments, not single documents.
void expect_no_beir(std::string const& path) {
  for (char const* const corpus : {"corpus.jsonl", "corpus.jsonl.gz", "corpus.jsonl.zst"}) {
    std::error_code none;
    if (std::filesystem::is_regular_file(std::filesystem::path(path) / corpus, none))
      throw error({path, 0, 0}, fmt::format("found a folder in BEIR's form, expected one of its "
                                            "files: {} for its documents, or queries.jsonl",
                                            (std::filesystem::path(path) / corpus).string()));
  }
}

/// Returns whether the first nonempty file of a folder, in byte order, begins like TREC's
/// documents.
bool is_trec_folder(context const& ctx, std::string const& path, std::string const& encoding) {
  std::filesystem::path const folder = std::filesystem::path(path) / "";
  for (std::string const& name : entries_below(ctx, folder).files) {
    auto const file = open_text(ctx, folder / name, encoding);
    std::string_view text = file->bytes();
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.empty()) return begins_trec(text.substr(0, text.find('\n')));
  }
  return false;
}

void check_options(text_format format, text_options const& options) {
  using enum text_format;
  if (options.lines && format != tsv && format != jsonl)
    throw usage_error("only the formats tsv and jsonl can be read in part");
  if (options.labels && format != tsv && format != automatic)
    throw usage_error("only the format tsv has labels between tabs");
  if (options.number_by_position && format != cranfield && format != svmlight &&
      format != automatic)
    throw usage_error("only the formats cranfield and svmlight can be numbered by position");
}

/// Throws `error` for options that name an id or texts where the format has no such names.
void expect_names(text_format format, text_options const& options, std::string const& file) {
  using enum text_format;
  if (format == automatic || format == table || format == jsonl || format == json) return;
  if (!options.id_field.empty())
    throw error({file, 0, 0},
                fmt::format("found the form {}, expected JSON or a table with {} "
                            "for --id-field",
                            name_in(text_format_names, format), printable(options.id_field)));
  if (!options.text_fields.empty() && format != trec)
    throw error({file, 0, 0},
                fmt::format("found the form {}, expected JSON, trec or a table with {} for "
                            "--text-fields or --query-fields",
                            name_in(text_format_names, format),
                            printable(fmt::format("{}", fmt::join(options.text_fields, ", ")))));
}

}  // namespace

text_format format_of_first_line(std::string_view line, text_options const& options) {
  if (section_of(line) != 0) return text_format::cranfield;
  if (begins_trec(line)) return text_format::trec;
  if (header_delimiter(line, options) != 0 || separator_of(line).size > 0)
    return text_format::table;
  std::string_view rest = line;
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  bool const has_tab = rest.find('\t') != rest.npos;
  return rest.starts_with('{')               ? text_format::jsonl
         : rest.starts_with('[') && !has_tab ? text_format::json
                                             : text_format::tsv;
}

std::optional<documents_part> documents_of_process(context const& ctx, std::string const& path,
                                                   text_format format, text_options const& options,
                                                   process_group const& group) {
  std::error_code ignored;
  if (!options.encoding.empty() || path == "-" || !std::filesystem::is_regular_file(path, ignored))
    return std::nullopt;
  if (format == text_format::automatic) {
    line_stream lines(text_stream::open(ctx, path));
    do {
      if (!lines.next()) return std::nullopt;
    } while (lines.line().empty());
    format = format_of_first_line(lines.line(), options);
  }
  if (format != text_format::tsv && format != text_format::jsonl) return std::nullopt;
  auto const lines = lines_of_process(path, group);
  if (!lines) return std::nullopt;
  return documents_part{format, *lines};
}

void read_documents(context const& ctx, std::string const& path, text_format format,
                    std::function<void(text_document&&)> const& take, text_options const& options) {
  check_options(format, options);
  std::error_code ignored;
  if (format == text_format::automatic && path != "-" &&
      std::filesystem::is_directory(path, ignored)) {
    expect_no_beir(path);
    format = is_trec_folder(ctx, path, options.encoding) ? text_format::trec : text_format::folder;
  }
  expect_names(format, options, path);
  if (format == text_format::folder) return read_folder(ctx, path, options, take);
  if (format == text_format::trec && path != "-" && std::filesystem::is_directory(path, ignored))
    return read_trec_folder(ctx, path, options, take);

  document_ids ids(options);
  document_lines lines(ctx, path, options, take, ids);
  do {
    if (lines.next()) continue;
    if (options.lines) return;
    throw error({lines.name(), 1, 1}, no_texts);
  } while (lines.line().empty());
  bool const may_be_table = format == text_format::automatic || format == text_format::table;
  if (may_be_table && separator_of(lines.line()).size > 0 && !lines.next())
    throw error({lines.name(), 1, 1}, no_texts);
  if (format == text_format::automatic) format = format_of_first_line(lines.line(), options);
  expect_names(format, options, lines.name());
  if (format == text_format::tsv) return read_tsv(lines, options);
  if (format == text_format::jsonl) return read_jsonl(lines, options, options.lines.has_value());
  if (format == text_format::json) return read_json_array(lines, options);
  if (format == text_format::table) {
    if (header_delimiter(lines.line(), options) == 0)
      lines.fail(1, fmt::format("found no header with {} and {}, expected one such as id,text; "
                                "--id-field and --text-fields set other columns",
                                options.id_field.empty() ? "an id" : options.id_field,
                                options.text_fields.empty()
                                    ? std::string("text")
                                    : fmt::format("{}", fmt::join(options.text_fields, ", "))));
    return read_table(lines, options);
  }
  if (format == text_format::trec) {
    trec_fields fields{options.text_fields};
    if (read_trec(lines, fields) == 0) throw error({lines.name(), 1, 1}, no_texts);
    return fields.expect_found(lines.name());
  }
  if (format == text_format::svmlight) return read_vectors(lines, options.number_by_position);
  read_cranfield(lines, options.number_by_position);
}

}  // namespace rulerank::datasets
