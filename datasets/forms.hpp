#pragma once

#include "core/named_values.hpp"
#include "datasets/text/documents.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

// The forms of input files in one table: the program's lists of names and the tables of
// docs/reference/forms.md come from it. Threads: all functions may be called from any number of
// threads.
namespace rulerank::inline v0::datasets {

/// A form of an input. Texts for people are Markdown for a cell of a table. The tests give `sample`
/// and `wrong` to the reader.
struct file_form {
  std::string_view input;  ///< documents, judgments, runs, scores, features, transactions, vectors,
                           ///< words; any: a form that all text inputs refuse
  std::string_view name;   ///< unique in the input; begins with the name that an option takes
  std::string_view recognized_by;
  std::string_view read;
  std::string_view options{};  ///< those that name the form or say more about it
  std::string_view refused;
  std::string_view sample;   ///< bytes of a file of the form
  std::string_view content;  ///< what the sample holds, as forms_test.cpp shows it
  std::string_view wrong;    ///< bytes of a file that the reader of the form refuses
  std::string_view message;  ///< begins what it says of them, behind the file's name
};

/// All of them, an input's one behind the other.
std::span<file_form const> file_forms();
/// The first words of the names of an input's forms, each once, in their order.
std::vector<std::string> names_of_forms(std::string_view input);

/// The forms of documents by their names; the last is not recognized.
inline constexpr named_values<text_format, 9> text_format_names{
    {{"auto", text_format::automatic},
     {"tsv", text_format::tsv},
     {"table", text_format::table},
     {"jsonl", text_format::jsonl},
     {"json", text_format::json},
     {"folder", text_format::folder},
     {"cranfield", text_format::cranfield},
     {"trec", text_format::trec},
     {"svmlight", text_format::svmlight}}};

}  // namespace rulerank::datasets
