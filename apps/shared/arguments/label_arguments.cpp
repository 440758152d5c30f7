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
    throw usage_error("--oracle: the path is empty, expected file:P");
  if (oracle != "file" && oracle != "ask" && !oracle.starts_with(oracle_file_prefix))
    throw usage_error(fmt::format("--oracle: found '{}', expected file, ask or file:P", oracle));
  if (oracle == "ask") {
    if (resume.empty())
      throw usage_error("--oracle ask without --resume, expected a file that keeps the answers");
    if (!pending.empty())
      throw usage_error("--pending beside --oracle ask, expected --oracle file or file:P");
    if (train == "-")
      throw usage_error(
          "--oracle ask reads answers from standard input, expected --train in a file");
  } else if (batch != 0 && pending.empty()) {
    throw usage_error("--batch is the length of --pending, and there is none");
  } else if (!view.names.empty()) {
    throw usage_error("--names is for --oracle ask, and nobody is asked");
  }
  view.check();
  if (!view.show.empty() && oracle != "ask" && pending.empty())
    throw usage_error("--show is for --oracle ask and --pending, and there is neither");
  if (oracle == "ask" && batch != 0)
    throw usage_error("--batch beside --oracle ask, expected --oracle file or file:P");
  if (oracle == "file" && !resume.empty())
    throw usage_error("--resume keeps answers, expected --oracle ask or file:P beside it");
}

}  // namespace rulerank::apps
