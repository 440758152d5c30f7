#pragma once

#include "core/context.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/text_source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

/// The ids that were taken down, and where they stand.
struct document_ids {
  struct place {
    std::size_t file;
    std::uint64_t line;
  };
  std::vector<std::string> files;  // their names
  std::unordered_map<std::string, place> places;
};

/// Lines of a file that become documents, each with an id of its own.
class document_lines {
 public:
  /// `ids`: of the files before, too. `part`: the lines that are read, or nothing for all.
  document_lines(context const& ctx, std::string const& path, id_form form,
                 std::function<void(text_document&&)> const& take, document_ids& ids,
                 std::optional<line_range> const& part = std::nullopt);

  bool next() { return lines_.next(); }
  std::string_view line() const { return lines_.line(); }
  std::uint64_t number() const { return lines_.number(); }
  std::string const& name() const { return name_; }

  /// Column 0: the line as a whole.
  [[noreturn]] void fail(std::uint64_t column, std::string const& found_and_expected) const {
    fail_at(number(), column, found_and_expected);
  }
  [[noreturn]] void fail_at(std::uint64_t line, std::uint64_t column,
                            std::string const& found_and_expected) const;

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
