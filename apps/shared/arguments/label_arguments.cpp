#include "apps/shared/arguments/label_arguments.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"

#include <string_view>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

constexpr std::string_view oracle_file_prefix = "file:";

}  // namespace

void label_arguments::add_to(CLI::App& verb) {
  help_group const group(verb, "Labels");
  offer_words(verb,
              value_option(verb, "--oracle file|ask|file:P", oracle,
                           "Source of the chosen documents' labels: the training file (file), a "
                           "person at the terminal (ask), or a table of labels (file:P)"),
              {"file", "ask", "file:"});
  path_option(verb, "--pending OUT.csv|tsv", pending,
              "Write the documents that need labels to this table (.csv: separated by commas, "
              "otherwise by tabs) and end with exit code 5");
  number_option(verb, "--batch", batch,
                "Number of documents in --pending: the next ones, partly guessed; 0: only those "
                "that are chosen whatever the labels are");
  path_option(
      verb, "--resume STATE", resume,
      "File that keeps every answer; the next run continues from it. --oracle ask needs it");
  view.add_to(verb);
}

std::string label_arguments::labels_file() const {
  return oracle.starts_with(oracle_file_prefix) ? oracle.substr(oracle_file_prefix.size())
                                                : std::string();
}

bool label_arguments::asks() const {
  return oracle != "file" || !pending.empty();
}

void label_arguments::check(std::string const& train) const {
  if (oracle == oracle_file_prefix)
    throw usage_error("--oracle: found an empty path, expected file:P");
  if (oracle != "file" && oracle != "ask" && !oracle.starts_with(oracle_file_prefix))
    throw usage_error(fmt::format("--oracle: found '{}', expected file, ask or file:P", oracle));
  if (oracle == "ask") {
    if (resume.empty())
      throw usage_error("--oracle ask needs --resume FILE, which keeps the answers");
    if (!pending.empty())
      throw usage_error(
          "--pending cannot be combined with --oracle ask, expected --oracle file or file:P");
    if (train == "-")
      throw usage_error(
          "--oracle ask reads answers from standard input, expected a file for --train");
  } else if (batch != 0 && pending.empty()) {
    throw usage_error("--batch needs --pending, whose length it sets");
  } else if (!view.names.empty()) {
    throw usage_error("--names needs --oracle ask");
  }
  view.check();
  if (!view.show.empty() && oracle != "ask" && pending.empty())
    throw usage_error("--show needs --oracle ask or --pending");
  if (oracle == "ask" && batch != 0)
    throw usage_error(
        "--batch cannot be combined with --oracle ask, expected --oracle file or file:P");
  if (oracle == "file" && !resume.empty())
    throw usage_error("--resume needs --oracle ask or file:P, whose answers it keeps");
}

}  // namespace rulerank::apps
