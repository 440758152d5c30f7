#include "eval/table.hpp"

#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/named_values.hpp"
#include "eval/report_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::eval {

namespace {

constexpr named_values<table_format, 5> formats{{{"table", table_format::table},
                                                 {"tsv", table_format::tsv},
                                                 {"json", table_format::json},
                                                 {"markdown", table_format::markdown},
                                                 {"latex", table_format::latex}}};

/// A cell for programs: exact.
std::string exact(cell const& c) {
  return std::visit([](auto const& value) { return fmt::format("{}", value); }, c);
}

/// Replaces characters by the result of `substitute` (empty: keeps the character).
template <class Substitute>
std::string escape(std::string_view text, Substitute&& substitute) {
  std::string result;
  for (char c : text) {
    std::string_view const other = substitute(c);
    if (other.empty())
      result += c;
    else
      result += other;
  }
  return result;
}

std::string escape_tsv(std::string_view text) {
  return escape(text, [](char c) -> std::string_view {
    return c == '\t' || c == '\n' || c == '\r' ? " " : "";
  });
}

/// Escapes a name for CommonMark with tables and strikethrough.
std::string escape_markdown(std::string_view text) {
  constexpr std::string_view special = "\\`*_[]!&~|";
  std::string result;
  for (char const c : text) {
    if (c == '\n' || c == '\r') {
      result += ' ';
    } else if (c == '<') {
      result += "&lt;";
    } else {
      if (special.find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

/// Separates adjacent characters of which TeX makes ligatures: dashes and quotes.
std::string apart(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    bool const doubled = (c == '-' || c == '`' || c == '\'' || c == ',') && next == c;
    result += c;
    if (doubled || ((c == '?' || c == '!') && next == '`')) result += "{}";
  }
  return result;
}

std::string escape_latex(std::string_view text) {
  std::string const escaped = escape(text, [](char c) -> std::string_view {
    switch (c) {
      case '&':
        return "\\&";
      case '%':
        return "\\%";
      case '$':
        return "\\$";
      case '#':
        return "\\#";
      case '_':
        return "\\_";
      case '{':
        return "\\{";
      case '}':
        return "\\}";
      case '~':
        return "\\textasciitilde{}";
      case '^':
        return "\\textasciicircum{}";
      case '\\':
        return "\\textbackslash{}";
      case '<':
        return "\\textless{}";
      case '>':
        return "\\textgreater{}";
      default:
        return "";
    }
  });
  return apart(escaped);
}

std::string render_text(table const& t) {
  std::vector<std::size_t> width;
  for (column const& c : t.columns) width.push_back(c.name.size());
  std::vector<std::vector<std::string>> rows;
  for (auto const& row : t.rows) {
    rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      rows.back().push_back(shown(row[i], t.columns[i]));
      width[i] = std::max(width[i], rows.back().back().size());
    }
  }
  std::string text = t.title.empty() ? "" : t.title + "\n";
  auto const add_line = [&](auto const& cell_of) {
    std::string line;
    for (std::size_t i = 0; i < t.columns.size(); ++i) {
      if (i > 0) line += "  ";
      line += t.columns[i].shown == column::style::text
                  ? fmt::format("{:<{}}", cell_of(i), width[i])
                  : fmt::format("{:>{}}", cell_of(i), width[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line;
    text += '\n';
  };
  add_line([&](std::size_t i) { return t.columns[i].name; });
  for (auto const& row : rows) add_line([&](std::size_t i) { return row[i]; });
  return text;
}

std::string render_tsv(table const& t) {
  std::string text = t.title.empty() ? "" : fmt::format("# {}\n", escape_tsv(t.title));
  auto const add_line = [&](auto const& cell_of) {
    for (std::size_t i = 0; i < t.columns.size(); ++i) {
      if (i > 0) text += '\t';
      text += escape_tsv(cell_of(i));
    }
    text += '\n';
  };
  add_line([&](std::size_t i) { return t.columns[i].name; });
  for (auto const& row : t.rows) add_line([&](std::size_t i) { return exact(row[i]); });
  return text;
}

std::string render_markdown(table const& t) {
  std::string text = t.title.empty() ? "" : escape_markdown(t.title) + "\n\n";
  auto const add_line = [&](auto const& cell_of) {
    text += '|';
    for (std::size_t i = 0; i < t.columns.size(); ++i) text += fmt::format(" {} |", cell_of(i));
    text += '\n';
  };
  add_line([&](std::size_t i) { return escape_markdown(t.columns[i].name); });
  add_line(
      [&](std::size_t i) { return t.columns[i].shown == column::style::text ? ":--" : "--:"; });
  for (auto const& row : t.rows)
    add_line([&](std::size_t i) { return escape_markdown(shown(row[i], t.columns[i])); });
  return text;
}

std::string render_latex(table const& t) {
  std::string text = t.title.empty() ? "" : fmt::format("% {}\n", escape_tsv(t.title));
  text += "\\begin{tabular}{";
  for (column const& c : t.columns) text += c.shown == column::style::text ? 'l' : 'r';
  text += "}\n\\hline\n";
  auto const add_line = [&](auto const& cell_of) {
    for (std::size_t i = 0; i < t.columns.size(); ++i) {
      if (i > 0) text += " & ";
      text += escape_latex(cell_of(i));
    }
    text += " \\\\\n";
  };
  add_line([&](std::size_t i) { return t.columns[i].name; });
  text += "\\hline\n";
  for (auto const& row : t.rows)
    add_line([&](std::size_t i) { return shown(row[i], t.columns[i]); });
  text += "\\hline\n\\end{tabular}\n";
  return text;
}

}  // namespace

table_format table_format_from(std::string_view word) {
  return value_named<table_format>(formats, word, "format: found");
}

std::string shown(cell const& c, column const& in) {
  if (auto const* text = std::get_if<std::string>(&c)) return *text;
  if (auto const* whole = std::get_if<std::int64_t>(&c)) return fmt::format("{}", *whole);
  double const value = std::get<double>(c);
  if (in.shown != column::style::fixed) return fmt::format("{:.3g}", value);
  std::string text = fmt::format("{:.{}f}", value, in.digits);
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string render(table const& t, table_format format) {
  switch (format) {
    case table_format::table:
      return render_text(t);
    case table_format::tsv:
      return render_tsv(t);
    case table_format::json:
      return json_text_of(to_json(t));
    case table_format::markdown:
      return render_markdown(t);
    case table_format::latex:
      return render_latex(t);
  }
  return {};
}

nlohmann::ordered_json to_json(table const& t) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (auto const& row : t.rows) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
      std::visit([&](auto const& value) { object[t.columns[i].name] = value; }, row[i]);
    json.push_back(std::move(object));
  }
  return json;
}

}  // namespace rulerank::eval
