#pragma once

#include "core/context.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/text/encoding.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

// Shared by the readers of documents.
namespace rulerank::inline v0::datasets {

inline constexpr std::string_view blanks = " \t";
inline constexpr std::size_t documents_a_report = 256;

inline bool is_blank(std::string_view line) {
  return line.find_first_not_of(blanks) == line.npos;
}

/// Returns the fault of an id that does not have the required form, otherwise an empty text.
std::string fault_of_id(std::string_view id, id_form form);

/// Finds the first byte of a collection that is not UTF-8.
class encoding_check {
 public:
  /// `options` must outlive it.
  explicit encoding_check(text_options const& options) : options_(options) {}

  /// Records the first such byte of `text`, which begins line `line` of a file; `ahead` is the
  /// known text after it.
  void look_at(std::string const& name, std::uint64_t line, std::string_view text,
               std::string_view ahead);
  /// Throws `error` for a recorded byte.
  void expect_utf8() const;
  /// Warns of a recorded byte, once.
  void warn();

 private:
  std::string advice() const;
  text_options const& options_;
  bool is_over_ = false;  // search no more
  std::string found_;     // the byte; empty: none, or already reported
  encoding_guess likely_;
  std::string name_;
  std::uint64_t line_ = 0, column_ = 0;
};

/// The ids of the documents so far, and their positions.
struct document_ids {
  explicit document_ids(text_options const& options) : encoding(options), warn(options.warn) {}

  struct place {
    std::size_t file;
    std::uint64_t line;
  };
  std::vector<std::string> files;  // file names
  std::unordered_map<std::string, place> places;
  encoding_check encoding;                       // for all files
  std::function<void(std::string const&)> warn;  // empty: none, or already called
};

/// Reads the lines of a file that become documents, each with a unique id.
class document_lines {
 public:
  /// `ids`: including those of earlier files.
  document_lines(context const& ctx, std::string const& path, text_options const& options,
                 std::function<void(text_document&&)> const& take, document_ids& ids);

  bool next();
  /// Throws `error` if the lines so far contain a byte that is not UTF-8.
  void expect_utf8() const { ids_.encoding.expect_utf8(); }
  std::string_view line() const { return lines_.line(); }
  std::uint64_t number() const { return lines_.number(); }
  std::string const& name() const { return name_; }

  /// Column 0: the whole line.
  [[noreturn]] void fail(std::uint64_t column, std::string const& found_and_expected) const {
    fail_at(number(), column, found_and_expected);
  }
  [[noreturn]] void fail_at(std::uint64_t line, std::uint64_t column,
                            std::string const& found_and_expected) const;

  /// Warns at most once for these files.
  void warn_once(std::string const& what);

  /// Records the id of a document on this line, or on another. Throws `error` for a duplicate.
  void claim(std::string const& id, std::uint64_t column) { claim_at(number(), id, column); }
  void claim_at(std::uint64_t line, std::string const& id, std::uint64_t column);

  /// Passes on the document whose id was claimed last.
  void give(text_document&& document);
  /// The number of documents passed on.
  std::size_t given() const { return given_; }

 private:
  context const& ctx_;
  std::string name_;
  line_stream lines_;
  id_form form_;
  std::function<void(text_document&&)> const& take_;
  document_ids& ids_;
  std::size_t file_;           // index in `ids_`
  std::uint64_t claimed_ = 0;  // the line of the last id
  std::size_t given_ = 0;
};

}  // namespace rulerank::datasets
