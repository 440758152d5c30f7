#pragma once

#include "core/context.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/text/encoding.hpp"
#include "datasets/text_source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

// What the readers of documents share.
namespace rulerank::inline v0::datasets {

inline constexpr std::string_view blanks = " \t";
inline constexpr std::size_t documents_a_report = 256;

inline bool is_blank(std::string_view line) {
  return line.find_first_not_of(blanks) == line.npos;
}

/// What is said of an id that has not the form that is asked for; empty for one that has.
std::string fault_of_id(std::string_view id, id_form form);

/// Finds the first byte of a collection that is not UTF-8.
class encoding_check {
 public:
  /// `options` are kept by reference.
  explicit encoding_check(text_options const& options) : options_(options) {}

  /// Notes the first such byte of `text`, which begins line `line` of a file; `ahead` is what is
  /// known of the text behind it.
  void look_at(std::string const& name, std::uint64_t line, std::string_view text,
               std::string_view ahead);
  /// Throws `error` for a byte that was noted.
  void expect_utf8() const;
  /// Warns of a byte that was noted, once.
  void warn();

 private:
  std::string advice() const;
  text_options const& options_;
  bool is_over_ = false;  // no more byte is looked for
  std::string found_;     // the byte; empty: none, or it was told
  encoding_guess likely_;
  std::string name_;
  std::uint64_t line_ = 0, column_ = 0;
};

/// The ids that were taken down, and where they stand.
struct document_ids {
  explicit document_ids(text_options const& options) : encoding(options), warn(options.warn) {}

  struct place {
    std::size_t file;
    std::uint64_t line;
  };
  std::vector<std::string> files;  // their names
  std::unordered_map<std::string, place> places;
  encoding_check encoding;                       // of all files
  std::function<void(std::string const&)> warn;  // empty: none, or it has warned
};

/// Lines of a file that become documents, each with an id of its own.
class document_lines {
 public:
  /// `ids`: of the files before, too.
  document_lines(context const& ctx, std::string const& path, text_options const& options,
                 std::function<void(text_document&&)> const& take, document_ids& ids);

  bool next();
  /// Throws `error` for a byte of the lines so far that is not UTF-8.
  void expect_utf8() const { ids_.encoding.expect_utf8(); }
  std::string_view line() const { return lines_.line(); }
  std::uint64_t number() const { return lines_.number(); }
  std::string const& name() const { return name_; }

  /// Column 0: the line as a whole.
  [[noreturn]] void fail(std::uint64_t column, std::string const& found_and_expected) const {
    fail_at(number(), column, found_and_expected);
  }
  [[noreturn]] void fail_at(std::uint64_t line, std::uint64_t column,
                            std::string const& found_and_expected) const;

  /// Warns, unless it has warned of these files before.
  void warn_once(std::string const& what);

  /// Takes down the id that stands on this line, or on another.
  void claim(std::string const& id, std::uint64_t column) { claim_at(number(), id, column); }
  void claim_at(std::uint64_t line, std::string const& id, std::uint64_t column);

  /// The document whose id was claimed last.
  void give(text_document&& document);
  /// How many documents were given.
  std::size_t given() const { return given_; }

 private:
  context const& ctx_;
  std::string name_;
  line_stream lines_;
  id_form form_;
  std::function<void(text_document&&)> const& take_;
  document_ids& ids_;
  std::size_t file_;           // of `ids_`
  std::uint64_t claimed_ = 0;  // the line of the last id
  std::size_t given_ = 0;
};

}  // namespace rulerank::datasets
