#include "core/crc32.hpp"
#include "core/error.hpp"
#include "l2r/export/additive.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

// A workbook of Office Open XML (ECMA-376): a sheet of documents with formulas, and a sheet with
// the card that they read.
namespace rulerank::inline v0::l2r {

namespace {

/// A ZIP archive of stored files (PKWARE's APPNOTE.TXT, 4.3).
class zip_archive {
 public:
  void add(std::string_view name, std::string_view bytes) {
    std::uint32_t const begin = size32(bytes_.size());
    std::string entry;
    put(entry, 20, 2);            // version needed
    put(entry, 0, 2);             // flags
    put(entry, 0, 2);             // stored
    put(entry, 0, 2);             // time
    put(entry, (1 << 5) | 1, 2);  // 1 January 1980
    put(entry, crc32_of(std::as_bytes(std::span(bytes))), 4);
    put(entry, size32(bytes.size()), 4);
    put(entry, size32(bytes.size()), 4);
    put(entry, size32(name.size()), 2);
    put(entry, 0, 2);  // extra field
    put(bytes_, 0x04034b50, 4);
    bytes_.append(entry).append(name).append(bytes);
    put(directory_, 0x02014b50, 4);
    put(directory_, 20, 2);  // version made by
    directory_ += entry;
    put(directory_, 0, 10);  // comment, disk, attributes
    put(directory_, begin, 4);
    directory_ += name;
    ++files_;
  }
  std::string finished() const {
    std::string all = bytes_ + directory_;
    put(all, 0x06054b50, 4);
    put(all, 0, 4);  // disks
    put(all, files_, 2);
    put(all, files_, 2);
    put(all, size32(directory_.size()), 4);
    put(all, size32(bytes_.size()), 4);
    put(all, 0, 2);  // comment
    return all;
  }

 private:
  static std::uint32_t size32(std::size_t size) {
    if (size >= 0xffffffff) throw usage_error("found a workbook of 4 GiB, expected less");
    return static_cast<std::uint32_t>(size);
  }
  static void put(std::string& to, std::uint32_t value, int bytes) {
    for (int byte = 0; byte < bytes; ++byte)
      to += static_cast<char>(byte < 4 ? value >> (8 * byte) : 0);
  }

  std::string bytes_, directory_;
  std::uint32_t files_ = 0;
};

constexpr std::size_t document_rows = 100;
constexpr std::size_t most_features = 8000;  // a sheet has 16384 columns
/// What Excel takes as the least number.
constexpr double least_number = -9.99e307;

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (char const c : text) switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += c;
    }
  return escaped;
}

/// The letters of a column, which counts from 0.
std::string column_letters(std::size_t column) {
  std::string letters;
  for (std::size_t rest = column + 1; rest > 0; rest = (rest - 1) / 26)
    letters.insert(letters.begin(), static_cast<char>('A' + (rest - 1) % 26));
  return letters;
}

/// One sheet, cell by cell, row by row.
class sheet_writer {
 public:
  void next_row() {
    if (row_ > 0) cells_ += "</row>\n";
    cells_ += fmt::format("<row r=\"{}\">", ++row_);
  }
  void text(std::size_t column, std::string_view of) {
    put(column, " t=\"inlineStr\"",
        fmt::format("<is><t xml:space=\"preserve\">{}</t></is>", xml_text(of)));
  }
  void number(std::size_t column, double of) { put(column, "", fmt::format("<v>{}</v>", of)); }
  void formula(std::size_t column, std::string_view of) {
    put(column, "", fmt::format("<f>{}</f>", xml_text(of)));
  }
  std::size_t row() const { return row_; }
  std::string finished() const {
    return std::string(xml_head) +
           "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">"
           "<sheetData>\n" +
           cells_ + "</row>\n</sheetData></worksheet>\n";
  }
  static constexpr std::string_view xml_head =
      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";

 private:
  void put(std::size_t column, std::string_view attributes, std::string_view content) {
    cells_ +=
        fmt::format("<c r=\"{}{}\"{}>{}</c>", column_letters(column), row_, attributes, content);
  }

  std::string cells_;
  std::size_t row_ = 0;
};

/// The rows of the sheet `card` that have a feature's bins; the row of missing values follows.
struct bin_rows {
  std::size_t first = 0, last = 0;
};

std::string card_sheet(additive_form const& form, export_options const& options,
                       std::vector<bin_rows>& rows) {
  sheet_writer to;
  to.next_row();
  bool const described = has_descriptions(form);
  for (std::size_t column = 0;
       std::string_view const title : {"feature", "from", "points", "unit", "origin"})
    if (column < 3 || described) to.text(column++, title);
  auto const describe = [&](additive_feature const& one) {
    if (!described) return;
    to.text(3, one.about.unit);
    to.text(4, one.about.origin);
  };
  for (additive_feature const& one : form.features) {
    rows.push_back({to.row() + 1, to.row() + one.points.size()});
    for (std::size_t bin = 0; bin < one.points.size(); ++bin) {
      to.next_row();
      to.text(0, one.name);
      to.number(1, bin == 0 ? least_number : one.cuts[bin - 1]);
      to.number(2, one.points[bin]);
      describe(one);
    }
    to.next_row();
    to.text(0, one.name);
    to.text(1, "missing");
    to.number(2, one.missing);
    describe(one);
  }
  to.next_row();
  for (std::string const& line : head_lines(form, options)) {
    to.next_row();
    to.text(0, line);
  }
  to.next_row();
  to.text(0, fmt::format("An empty cell is a missing value. The value of a feature that a document "
                         "does not list is {}.",
                         form.absent_is_missing ? "an empty cell" : "0"));
  return to.finished();
}

std::string documents_sheet(additive_form const& form, std::vector<bin_rows> const& rows) {
  std::size_t const features = form.features.size();
  sheet_writer to;
  to.next_row();
  for (std::size_t f = 0; f < features; ++f) to.text(f, form.features[f].name);
  for (std::size_t f = 0; f < features; ++f)
    to.text(features + f, "points of " + form.features[f].name);
  to.text(2 * features, "score");
  std::string const first = column_letters(features), last = column_letters(2 * features - 1);
  for (std::size_t d = 0; d < document_rows; ++d) {
    to.next_row();
    std::string const is_empty =
        fmt::format("COUNTA($A{0}:${1}{0})=0", to.row(), column_letters(features - 1));
    for (std::size_t f = 0; f < features; ++f)
      to.formula(features + f,
                 fmt::format("IF({0},\"\",IF(ISNUMBER({1}{2}),LOOKUP({1}{2},card!$B${3}:$B${4},"
                             "card!$C${3}:$C${4}),card!$C${5}))",
                             is_empty, column_letters(f), to.row(), rows[f].first, rows[f].last,
                             rows[f].last + 1));
    to.formula(2 * features, fmt::format("IF({},\"\",SUM({}{}:{}{}))", is_empty, first, to.row(),
                                         last, to.row()));
  }
  return to.finished();
}

}  // namespace

std::string write_xlsx(additive_form const& form, export_options const& options) {
  if (form.features.size() > most_features)
    throw usage_error(fmt::format("found {} features, expected at most {} in a sheet",
                                  form.features.size(), most_features));
  std::vector<bin_rows> rows;
  std::string const card = card_sheet(form, options, rows);
  std::string const head(sheet_writer::xml_head);
  constexpr std::string_view relations =
      "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  auto const related = [&](std::string_view inside) {
    return head + fmt::format(
                      "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/"
                      "relationships\">{}</Relationships>\n",
                      inside);
  };
  constexpr std::string_view main_type =
      "application/vnd.openxmlformats-officedocument.spreadsheetml";
  zip_archive archive;
  archive.add("[Content_Types].xml",
              head + fmt::format("<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/"
                                 "content-types\">"
                                 "<Default Extension=\"rels\" ContentType=\"application/vnd."
                                 "openxmlformats-package.relationships+xml\"/>"
                                 "<Override PartName=\"/xl/workbook.xml\" "
                                 "ContentType=\"{0}.sheet.main+xml\"/>"
                                 "<Override PartName=\"/xl/worksheets/sheet1.xml\" "
                                 "ContentType=\"{0}.worksheet+xml\"/>"
                                 "<Override PartName=\"/xl/worksheets/sheet2.xml\" "
                                 "ContentType=\"{0}.worksheet+xml\"/></Types>\n",
                                 main_type));
  archive.add("_rels/.rels",
              related(fmt::format("<Relationship Id=\"rId1\" Type=\"{}/officeDocument\" "
                                  "Target=\"xl/workbook.xml\"/>",
                                  relations)));
  archive.add("xl/workbook.xml",
              head + fmt::format("<workbook xmlns=\"http://schemas.openxmlformats.org/"
                                 "spreadsheetml/2006/main\" xmlns:r=\"{}\"><sheets>"
                                 "<sheet name=\"documents\" sheetId=\"1\" r:id=\"rId1\"/>"
                                 "<sheet name=\"card\" sheetId=\"2\" r:id=\"rId2\"/></sheets>"
                                 "<calcPr fullCalcOnLoad=\"1\"/></workbook>\n",
                                 relations));
  archive.add("xl/_rels/workbook.xml.rels",
              related(fmt::format("<Relationship Id=\"rId1\" Type=\"{0}/worksheet\" "
                                  "Target=\"worksheets/sheet1.xml\"/>"
                                  "<Relationship Id=\"rId2\" Type=\"{0}/worksheet\" "
                                  "Target=\"worksheets/sheet2.xml\"/>",
                                  relations)));
  archive.add("xl/worksheets/sheet1.xml", documents_sheet(form, rows));
  archive.add("xl/worksheets/sheet2.xml", card);
  return archive.finished();
}

}  // namespace rulerank::l2r
