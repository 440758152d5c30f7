#pragma once

#include "core/named_values.hpp"
#include "datasets/text/documents.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

// A table of all input formats: the source of the program's lists of names and of the tables of
// docs/reference/forms.md. Threads: any thread may call these functions at any time.
namespace rulerank::inline v0::datasets {

/// A format of an input. Texts for people are Markdown for a table cell. The tests pass `sample`
/// and `wrong` to the reader.
struct file_form {
  /// documents, judgments, runs, scores, features, transactions, vectors, words; any: a format that
  /// all text inputs reject.
  std::string_view input;
  std::string_view name;  ///< unique per input; begins with the value of the option
  std::string_view recognized_by;
  std::string_view read;
  std::string_view options{};  ///< options that select the format or refine it
  std::string_view refused;
  std::string_view sample;   ///< bytes of a file in the format
  std::string_view content;  ///< the content of the sample, as forms_test.cpp prints it
  std::string_view wrong;    ///< bytes of a file that the reader of the format rejects
  std::string_view message;  ///< the beginning of its error message, after the file's name
};

/// Lists all formats, grouped by input.
std::span<file_form const> file_forms();
/// Returns the first words of the names of an input's formats, in order, without duplicates.
std::vector<std::string> names_of_forms(std::string_view input);

/// The formats of documents by name; the last one is never detected automatically.
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
