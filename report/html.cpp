#include "core/json_text.hpp"
#include "report/document.hpp"
#include "report/escape.hpp"
#include "report/page.hpp"
#include "report/paper_tables.hpp"

#include <cmath>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <openssl/sha.h>

// Documents as one page. Its content security policy allows only its own style and scripts, by
// checksum: whatever a text contains, nothing is requested and nothing else runs.
namespace rulerank::inline v0::report {

namespace {

using json = nlohmann::ordered_json;

/// A source expression of a content security policy, for these bytes.
std::string policy_hash(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<unsigned char const*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return "'sha256-" + base64(digest) + "'";
}

/// A4 in the print style: 698 px between margins of half an inch, 7 px per digit.
constexpr paper_line a4{.room = 99, .between = 1.5, .least_names = 10, .most_names = 18};

/// JSON for a script element: without `<`, which could end the element.
std::string script_data(json const& data) {
  std::string result;
  for (char const c : json_line_of(data))
    result += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return result;
}

/// The data from which the script redraws a chart.
json data_of(chart const& of) {
  auto const axis_data = [](axis const& a) {
    json axis{{"label", clean(a.label)}, {"log", a.logarithmic}, {"covers", json::array()}};
    if (a.covers.low <= a.covers.high) axis["covers"] = {a.covers.low, a.covers.high};
    return axis;
  };
  json data{{"title", clean(of.title)},
            {"x", axis_data(of.x)},
            {"y", axis_data(of.y)},
            {"series", json::array()}};
  for (chart_series const& one : of.series) {
    json series{{"name", clean(one.name)},
                {"line", one.line},
                {"marks", one.marks},
                {"points", json::array()}};
    for (chart_point const& p : one.points) {
      if (!std::isfinite(p.x) || !std::isfinite(p.y)) continue;  // figures omit these
      // Six digits exceed a screen's resolution.
      auto const short_number = [](double x) {
        return parse_ordered_json(fmt::format("{:.6g}", x), "a chart", "a number");
      };
      json point{short_number(p.x), short_number(p.y)};
      if (!p.name.empty() || eval::has_interval(p)) point.push_back(clean(p.name));
      if (eval::has_interval(p)) {
        point.push_back(short_number(p.interval.low));
        point.push_back(short_number(p.interval.high));
      }
      series["points"].push_back(std::move(point));
    }
    data["series"].push_back(std::move(series));
  }
  return data;
}

class html_writer {
 public:
  explicit html_writer(bool with_script) : with_script_(with_script) {}

  /// Consecutive charts are placed side by side if they fit.
  void write(blocks const& all) {
    auto const is_chart = [&](std::size_t i) {
      return i < all.size() && std::holds_alternative<chart>(all[i].of) &&
             std::get<chart>(all[i].of).kind == chart_kind::xy;
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      bool const opens = is_chart(i) && is_chart(i + 1) && !(i > 0 && is_chart(i - 1));
      if (opens) body += "<div class=\"charts\">";
      std::visit([this](auto const& of) { add(of); }, all[i].of);
      if (is_chart(i) && !is_chart(i + 1) && i > 0 && is_chart(i - 1)) body += "</div>\n";
    }
  }

  std::string body, contents;
  json charts = json::array(), parts = json::array();

 private:
  void add(heading const& of) {
    ++headings_;
    body +=
        fmt::format("<h{0} id=\"h{1}\">{2}</h{0}>\n", of.level, headings_, escape_html(of.text));
    if (of.level == 2)
      contents +=
          fmt::format("<li><a href=\"#h{}\">{}</a></li>\n", headings_, escape_html(of.text));
  }
  void add(paragraph const& of) { body += fmt::format("<p>{}</p>\n", escape_html(of.text)); }

  /// A table wider than paper is also split into parts, which are printed instead.
  void add(eval::table const& of) {
    std::vector<eval::table> const printed = parts_on_paper(of, a4);
    body += fmt::format("<div class=\"scroll{}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">",
                        printed.size() > 1 ? " wide" : "",
                        escape_html(of.title.empty() ? "table" : of.title));
    add_table(of);
    body += "</div>\n";
    if (printed.size() < 2) return;
    body += "<div class=\"paper\">\n";
    for (eval::table const& part : printed) {
      add_table(part);
      body += '\n';
    }
    body += "</div>\n";
  }

  void add_table(eval::table const& of) {
    body += of.key.empty() ? "<table>\n"
                           : fmt::format("<table data-key=\"{}\">\n", escape_html(of.key));
    if (!of.title.empty()) body += fmt::format("<caption>{}</caption>\n", escape_html(of.title));
    body += "<thead><tr>";
    for (eval::column const& c : of.columns)
      body += fmt::format("<th scope=\"col\"{}>{}</th>", side(c), escape_html(c.name));
    body += "</tr></thead>\n<tbody>\n";
    for (auto const& row : of.rows) {
      body += "<tr>";
      for (std::size_t i = 0; i < row.size(); ++i)
        body += fmt::format("<td{}>{}</td>", side(of.columns[i]),
                            escape_html(eval::shown(row[i], of.columns[i])));
      body += "</tr>\n";
    }
    body += "</tbody></table>";
  }
  static std::string_view side(eval::column const& c) {
    return c.shown == eval::column::style::text ? "" : " class=\"n\"";
  }

  void add(chart const& of) {
    if (!eval::has_points(of)) return;
    body += "<figure";
    if (with_script_ && of.kind == chart_kind::xy) {
      body += fmt::format(" data-chart=\"{}\"", charts.size());
      charts.push_back(data_of(of));
    }
    body += fmt::format("><figcaption>{}</figcaption>{}</figure>\n", escape_html(of.title),
                        eval::page_elements(of));
  }

  void add(interactive const& of) {
    if (!with_script_) return;
    body +=
        fmt::format("<section class=\"part\" data-part=\"{}\" hidden></section>\n", parts.size());
    parts.push_back(parse_ordered_json(of.data, "a part", "a part of a page"));
  }

  void add(details const& of) {
    body += fmt::format("<details{}><summary>{}</summary>\n", of.open ? " open" : "",
                        escape_html(of.summary));
    write(of.inside);
    body += "</details>\n";
  }

  bool with_script_;
  std::size_t headings_ = 0;
};

}  // namespace

bool has_interactive_pages() {
  return !d3_js.empty();
}

namespace {

/// A page up to its body. `scripts`: the policy's script sources.
std::string page_head(std::string_view title, std::string_view css, std::string const& scripts) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; {}style-src {}; "
      "base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head><body>\n",
      scripts, policy_hash(css), escape_html(title), css);
}

}  // namespace

std::string page_of(std::string_view title, std::string_view css, std::string_view body) {
  return fmt::format("{}{}</body></html>\n", page_head(title, css, {}), body);
}

std::string to_html(document const& of) {
  html_writer writer(has_interactive_pages());
  writer.write(of.blocks);
  bool const scripted = !writer.charts.empty() || !writer.parts.empty();
  std::string const scripts =
      fmt::format("script-src {}{}; ", policy_hash(sort_js),
                  scripted ? " " + policy_hash(d3_js) + " " + policy_hash(page_js) : "");
  std::string html = page_head(of.title, page_css, scripts);
  html += fmt::format(
      "<a class=\"skip\" href=\"#main\">To the results</a>\n<h1>{}</h1>\n"
      "<nav aria-label=\"Contents\"><ul>\n{}</ul></nav>\n<main id=\"main\">\n",
      escape_html(of.title), writer.contents);
  html += writer.body + "</main>\n";
  if (scripted) {
    html += fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n",
                        script_data({{"charts", writer.charts}, {"parts", writer.parts}}));
    html += fmt::format("<script>{}</script>\n<script>{}</script>\n", d3_js, page_js);
  }
  return html + fmt::format("<script>{}</script>\n</body></html>\n", sort_js);
}

}  // namespace rulerank::report
