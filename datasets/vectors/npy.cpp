// NumPy's format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. The
// header is a dictionary in Python syntax. Only the three entries that NumPy writes are read, and
// nothing is evaluated.
#include "core/error.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/vectors/layout.hpp"

#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";

struct npy_entries {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::uint64_t>> shape;
};

class header_parser {
 public:
  header_parser(std::string_view header, std::string const& name) : header_(header), name_(name) {}

  npy_entries parse() {
    npy_entries entries;
    expect('{');
    while (!take('}')) {
      parse_entry(entries);
      if (take('}')) break;
      expect(',');
    }
    pass_blanks();
    if (at_ < header_.size()) fail("nothing after the dictionary");
    return entries;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw error(
        {name_, 0, 0},
        fmt::format("found {} at byte {} of the header, expected {}",
                    at_ < header_.size() ? rulerank::quoted(header_.substr(at_)) : "the end", at_,
                    expected));
  }

  void pass_blanks() {
    at_ = std::min(header_.find_first_not_of(" \t\r\n\f", at_), header_.size());
  }
  bool take(char c) {
    pass_blanks();
    if (at_ == header_.size() || header_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}'", c));
  }
  bool take_word(std::string_view word) {
    pass_blanks();
    if (!header_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string_view parse_string(std::string_view expected) {
    char const quote = take('\'') ? '\'' : '"';
    if (quote == '"' && !take('"')) fail(expected);
    std::size_t const end = header_.find(quote, at_);
    std::string_view const text = header_.substr(at_, end - at_);
    if (end == header_.npos || text.find('\\') != text.npos) fail(expected);
    at_ = end + 1;
    return text;
  }

  std::uint64_t parse_length() {
    pass_blanks();
    std::uint64_t length = 0;
    char const* const from = header_.data() + at_;
    auto const [end, status] = std::from_chars(from, header_.data() + header_.size(), length);
    if (status != std::errc()) fail("a length of 0 to 2^64-1");
    at_ += static_cast<std::size_t>(end - from);
    take_word("L");  // written by some programs with Python 2
    return length;
  }

  std::vector<std::uint64_t> parse_shape() {
    std::vector<std::uint64_t> shape;
    expect('(');
    while (!take(')')) {
      shape.push_back(parse_length());
      if (take(')')) {
        if (shape.size() == 1) fail("a tuple, which has a comma");
        break;
      }
      expect(',');
    }
    return shape;
  }

  bool parse_truth() {
    if (take_word("True")) return true;
    if (!take_word("False")) fail("True or False");
    return false;
  }

  void parse_entry(npy_entries& entries) {
    constexpr std::string_view keys = "'descr', 'fortran_order' or 'shape', each once";
    pass_blanks();
    std::size_t const begin = at_;
    std::string_view const key = parse_string(keys);
    bool const again = (key == "descr" && entries.descr) || (key == "shape" && entries.shape) ||
                       (key == "fortran_order" && entries.fortran_order);
    if (again || (key != "descr" && key != "shape" && key != "fortran_order")) {
      at_ = begin;
      fail(keys);
    }
    expect(':');
    if (key == "fortran_order") {
      entries.fortran_order = parse_truth();
    } else if (key == "shape") {
      entries.shape = parse_shape();
    } else {
      pass_blanks();
      if (at_ < header_.size() && header_[at_] == '[')
        fail("values of one type, not of several fields");
      entries.descr = parse_string("a type, such as '<f4'");
    }
  }

  std::string_view header_;
  std::string const& name_;
  std::size_t at_ = 0;
};

[[noreturn]] void fail_file(std::string const& name, std::string const& what) {
  throw error({name, 0, 0}, what);
}

/// The header's text, and the offset after it.
struct npy_frame {
  std::string_view header;
  std::size_t end;
};

npy_frame read_frame(std::string_view bytes, std::string const& name) {
  if (bytes.starts_with("PK"))
    fail_file(name, "found an archive (.npz), expected one array, as numpy.save writes");
  if (!bytes.starts_with(npy_magic))
    fail_file(name,
              fmt::format("found {}, expected a .npy file, which begins with \"\\x93NUMPY\"",
                          bytes.empty() ? "no bytes"
                                        : rulerank::quoted(bytes.substr(0, npy_magic.size()))));
  auto const byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  std::size_t const version_end = npy_magic.size() + 2;
  if (bytes.size() < version_end)
    fail_file(name, "the file ends inside the header, expected the format's version");
  std::size_t const major = byte(npy_magic.size());
  std::size_t const minor = byte(npy_magic.size() + 1);
  if (major < 1 || major > 3 || minor != 0)
    fail_file(name,
              fmt::format("found version {}.{} of .npy, expected 1.0, 2.0 or 3.0", major, minor));
  std::size_t const begin = version_end + (major == 1 ? 2 : 4);
  if (bytes.size() < begin)
    fail_file(name, "the file ends inside the header, expected the header's length");
  std::size_t length = 0;
  for (std::size_t i = begin; i > version_end; --i) length = length << 8 | byte(i - 1);
  if (length > bytes.size() - begin)
    fail_file(name, fmt::format("found {} after the header's length, expected a header of {}",
                                counted(bytes.size() - begin, "byte"), length));
  return {bytes.substr(begin, length), begin + length};
}

constexpr std::string_view types = "<f2, <f4, <f8, |i1, |u1, <i2, <u2, <i4, <u4, <i8 or <u8";

number_form parse_descr(std::string const& descr, std::string const& name) {
  auto const refuse = [&](std::string_view found, std::string_view type_to_use = "") {
    std::string const advice =
        type_to_use.empty()
            ? ""
            : fmt::format("; numpy's array.astype('{}') converts them", type_to_use);
    fail_file(name, fmt::format("found {} ({}), expected {}{}", found, rulerank::quoted(descr),
                                types, advice));
  };
  std::string_view word = descr;
  char const order = word.empty() ? ' ' : word.front();
  word.remove_prefix(word.empty() ? 0 : 1);
  if (word == "O" || word.starts_with("O"))
    refuse("Python objects, which rulerank never unpickles");
  if (word == "V2") refuse("values without a type, which is how NumPy saves bfloat16");
  if (word == "b1") refuse("values of True and False", "|u1");
  constexpr std::array<std::string_view, 11> known{"f2", "f4", "f8", "i1", "i2", "i4",
                                                   "i8", "u1", "u2", "u4", "u8"};
  if (std::find(known.begin(), known.end(), word) == known.end())
    refuse("values of a different type");
  number_form const form{word[0], static_cast<std::size_t>(word[1] - '0')};
  bool const any_order = form.bytes == 1 && (order == '|' || order == '>');
  if (order == '>' && !any_order) refuse("big-endian values", fmt::format("<{}", word));
  if (order != '<' && !any_order) refuse("values of a different type");
  return form;
}

}  // namespace

vectors_layout npy_layout(std::string_view bytes, std::string const& name) {
  npy_frame const frame = read_frame(bytes, name);
  npy_entries const entries = header_parser(frame.header, name).parse();
  auto const expect_entry = [&](bool there, char const* key) {
    if (!there) fail_file(name, fmt::format("found no '{}' in the header, expected it once", key));
  };
  expect_entry(entries.descr.has_value(), "descr");
  expect_entry(entries.fortran_order.has_value(), "fortran_order");
  expect_entry(entries.shape.has_value(), "shape");
  number_form const form = parse_descr(*entries.descr, name);
  std::vector<std::uint64_t> const& shape = *entries.shape;
  if (shape.size() != 1 && shape.size() != 2)
    fail_file(name, fmt::format("found an array of {}, expected 2 (rows and their values)",
                                counted(shape.size(), "dimension")));
  vectors_layout layout = layout_without_gaps(form, shape[0], shape.size() == 2 ? shape[1] : 1,
                                              frame.end, bytes.size(), name);
  layout.listed = shape.size() == 1;
  layout.by_columns = *entries.fortran_order && layout.rows > 1 && layout.dimensions > 1;
  return layout;
}

}  // namespace rulerank::datasets
