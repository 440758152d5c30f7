#include "eval/svg.hpp"
#include "report/card_sheet.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

// A card as PDF 1.4, with Helvetica, which every reader has, and filled rectangles. Lengths are in
// points (1/72 inch); y grows upwards.
namespace rulerank::inline v0::report {

namespace {

/// Widths in thousandths of the font size, for characters 32 to 126 (Adobe's Helvetica.afm).
constexpr std::array<std::uint16_t, 95> helvetica_widths{
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

/// Converts to ISO 8859-1, the fonts' encoding, with `?` for other characters.
std::string latin1(std::string_view text) {
  std::string const utf8 = eval::clean_text(text);
  std::string made;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    auto const c = static_cast<unsigned char>(utf8[i]);
    if (c < 0x20) {
      made += ' ';
    } else if (c < 0x80) {
      made += utf8[i];
    } else if (c == 0xc2 || c == 0xc3) {
      auto const next = static_cast<unsigned char>(utf8[++i]);
      made += static_cast<char>(((c & 3U) << 6U) | (next & 0x3fU));
    } else if (c >= 0xc0) {
      made += '?';
    }
  }
  return made;
}

double width_of(std::string_view text, double size) {
  double width = 0;
  for (char const c : latin1(text)) {
    auto const code = static_cast<unsigned char>(c);
    width += code >= 32 && code < 127 ? helvetica_widths[code - 32U] : 556;
  }
  return width * size / 1000;
}

/// A PDF string, in parentheses.
std::string pdf_string(std::string_view text) {
  std::string made = "(";
  for (char const c : latin1(text)) {
    if (c == '(' || c == ')' || c == '\\') made += '\\';
    made += c;
  }
  return made + ")";
}

/// Writes A4 pages from top to bottom.
class pdf_pages {
 public:
  static constexpr double width = 595, height = 842, margin = 34;
  enum class font { regular = 1, bold = 2 };

  pdf_pages() { add_page(); }

  double y() const noexcept { return y_; }
  /// Moves down; starts a new page if less than `needed` is left.
  void move_down(double by, double needed = 0) {
    y_ -= by;
    if (y_ - needed < margin && y_ < height - margin) add_page();
  }
  void text(double x, double size, std::string_view words, font of = font::regular,
            double gray = 0) {
    pages_.back() += fmt::format("{} g BT /F{} {} Tf {:.2f} {:.2f} Td {} Tj ET\n", gray,
                                 static_cast<int>(of), size, x, y_, pdf_string(words));
  }
  void rectangle(double x, double y, double w, double h, double gray) {
    pages_.back() += fmt::format("{} g {:.2f} {:.2f} {:.2f} {:.2f} re f\n", gray, x, y, w, h);
  }

  /// The file's bytes.
  std::string file(std::string_view title) const {
    std::string made = "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n";
    std::vector<std::size_t> at;
    auto const add = [&](std::string const& object) {
      at.push_back(made.size());
      made += fmt::format("{} 0 obj\n{}\nendobj\n", at.size(), object);
    };
    std::string kids;
    for (std::size_t p = 0; p < pages_.size(); ++p) kids += fmt::format("{} 0 R ", 6 + 2 * p);
    add("<< /Type /Catalog /Pages 2 0 R /Lang (en) >>");
    add(
        fmt::format("<< /Type /Pages /Count {} /Kids [{}] /MediaBox [0 0 {} {}] /Resources << "
                    "/Font << /F1 3 0 R /F2 4 0 R >> >> >>",
                    pages_.size(), kids, width, height));
    for (std::string_view const name : {"Helvetica", "Helvetica-Bold"})
      add(fmt::format("<< /Type /Font /Subtype /Type1 /BaseFont /{} /Encoding /WinAnsiEncoding >>",
                      name));
    add(fmt::format("<< /Title {} >>", pdf_string(title)));
    for (std::string const& page : pages_) {
      add(fmt::format("<< /Type /Page /Parent 2 0 R /Contents {} 0 R >>", at.size() + 2));
      add(fmt::format("<< /Length {} >>\nstream\n{}endstream", page.size(), page));
    }
    std::size_t const table = made.size();
    made += fmt::format("xref\n0 {}\n0000000000 65535 f \n", at.size() + 1);
    for (std::size_t const offset : at) made += fmt::format("{:010} 00000 n \n", offset);
    return made + fmt::format(
                      "trailer\n<< /Size {} /Root 1 0 R /Info 5 0 R >>\nstartxref\n{}\n"
                      "%%EOF\n",
                      at.size() + 1, table);
  }

 private:
  void add_page() {
    pages_.emplace_back();
    y_ = height - margin;
  }

  std::vector<std::string> pages_;
  double y_ = 0;
};

constexpr double room = pdf_pages::width - 2 * pdf_pages::margin;
constexpr double small = 7.5, leading = 9, bar_height = 15;

/// Appends a paragraph, broken at blanks.
void add_words(std::string_view text, double size, pdf_pages& to) {
  std::string line;
  auto const flush = [&] {
    to.move_down(size * 1.25);
    to.text(pdf_pages::margin, size, std::exchange(line, {}));
  };
  while (!text.empty()) {
    std::size_t const end = std::min(text.find(' '), text.size());
    std::string const word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string const longer = line.empty() ? word : line + " " + word;
    if (!line.empty() && width_of(longer, size) > room) {
      flush();
      line = word;
    } else {
      line = longer;
    }
  }
  flush();
}

void add_part(card_strip const& part, bar_scale const& scale, pdf_pages& to) {
  double labels = 0, widest = 27;
  for (std::string const& label : part.labels) labels = std::max(labels, width_of(label, small));
  for (auto const& column : part.columns)
    for (std::string const& text : column) widest = std::max(widest, width_of(text, small) + 6);
  double const x = pdf_pages::margin + labels + 4;
  double const step =
      std::min(widest, (room - labels - 4) / static_cast<double>(part.columns.size()));
  to.move_down(bar_height + 2);
  double const zero = to.y() + scale.zero * bar_height;
  to.rectangle(x, zero - 0.4, step * static_cast<double>(part.columns.size()), 0.4, 0.6);
  for (std::size_t b = 0; b < part.bars.size(); ++b) {
    double const height = std::abs(part.bars[b]) * scale.unit * bar_height;
    to.rectangle(x + step * (static_cast<double>(b) + 0.2), part.bars[b] < 0 ? zero - height : zero,
                 step * 0.6, height, part.bars[b] < 0 ? 0.6 : 0.35);
  }
  for (std::size_t r = 0; r < part.labels.size(); ++r) {
    to.move_down(r == 0 ? leading - 1 : leading);
    to.text(pdf_pages::margin, small, part.labels[r], pdf_pages::font::regular, 0.35);
    for (std::size_t b = 0; b < part.columns.size(); ++b) {
      std::string const& text = part.columns[b][r];
      bool const points = part.labels[r] == "points";
      to.text(x + step * (static_cast<double>(b) + 0.5) - width_of(text, small) / 2, small, text,
              points ? pdf_pages::font::bold : pdf_pages::font::regular);
    }
  }
}

void add_whole(card_strip const& strip, bar_scale const& scale, pdf_pages& to) {
  auto const width = [](std::string_view text) { return width_of(text, small); };
  auto const parts = parts_of(strip, room - 4, 6, width);
  double const part_height = bar_height + 2 + leading * static_cast<double>(strip.labels.size());
  to.move_down(leading + 5, part_height * static_cast<double>(parts.size()));
  constexpr double size = 9, bold = 1.1;  // bold letters are at most about a tenth wider
  to.text(pdf_pages::margin, size, strip.title, pdf_pages::font::bold);
  to.text(pdf_pages::margin + bold * width_of(strip.title, size) + 6, small, strip.about,
          pdf_pages::font::regular, 0.35);
  for (card_strip const& part : parts) add_part(part, scale, to);
}

}  // namespace

std::string sheet_pdf(card_sheet const& of, std::string const& title) {
  pdf_pages pages;
  pages.move_down(13);
  pages.text(pdf_pages::margin, 13, title, pdf_pages::font::bold);
  pages.move_down(2);
  for (std::string const& line : of.head) add_words(line, 8, pages);
  for (card_strip const& one : of.features) add_whole(one, scale_of(of.features), pages);
  for (card_strip const& one : of.totals) add_whole(one, scale_of(of.totals), pages);
  pages.move_down(6, leading * static_cast<double>(of.foot.size()));
  for (std::string const& line : of.foot) add_words(line, small, pages);
  return pages.file(title);
}

}  // namespace rulerank::report
