#include "apps/shared/arguments/label_arguments.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

constexpr std::string_view oracle_file_prefix = "file:";
constexpr std::string_view oracle_command_prefix = "command:";

std::string after(std::string_view prefix, std::string const& oracle) {
  return oracle.starts_with(prefix) ? oracle.substr(prefix.size()) : std::string();
}

}  // namespace

void label_arguments::add_to(CLI::App& verb) {
  help_group const group(verb, "Labels");
  offer_words(verb,
              value_option(verb, "--oracle file|ask|file:P|command:CMD", oracle,
                           "Source of the chosen documents' labels: the training file (file), a "
                           "person at the terminal (ask), a table of labels (file:P), or a program "
                           "(command:CMD)"),
              {"file", "ask", "file:", "command:"});
  path_option(verb, "--pending OUT.csv|tsv", pending,
              "Write the documents that need labels to this table (.csv: separated by commas, "
              "otherwise by tabs) and end with exit code 5");
  number_option(
      verb, "--batch", batch,
      "Number of documents in --pending, or that command:CMD gets at once: the next ones, "
      "partly guessed; 0: only those that are chosen whatever the labels are");
  path_option(
      verb, "--resume STATE", resume,
      "File that keeps every answer; the next run continues from it. --oracle ask needs it");
  judge.add_to(verb)->default_str("OUT.judged");
  view.add_to(verb);
}

CLI::Option* judge_arguments::add_to(CLI::App& verb) {
  help_group const group(verb, judge_group);
  auto* const kept =
      path_option(verb, "--judged RECORD", record,
                  "File that keeps every answer of command:CMD; no question is asked twice");
  number_option(verb, "--judge-seconds", seconds,
                "Seconds without an answer after which the program is restarted", {0.001, 1e6});
  number_option(verb, "--judge-calls", calls,
                "Largest number of questions in the record; 0: no limit");
  number_option(verb, "--judge-cost", cost,
                "Largest sum of costs in the record, in the unit of the answers; 0: no limit",
                {0, 1e12});
  return kept;
}

void judge_arguments::expect(bool by_program) const {
  for (auto const& [name, given] :
       {std::pair("--judged", !record.empty()), std::pair("--judge-calls", calls > 0),
        std::pair("--judge-cost", cost > 0)})
    if (given && !by_program) throw usage_error(fmt::format("{} needs --oracle command:CMD", name));
}

labelling::judge_options judge_arguments::options(std::string const& command,
                                                  std::int32_t max_label) const {
  labelling::judge_options made;
  made.command = command;
  made.record = record;
  made.seconds = seconds;
  made.most_calls = calls;
  made.most_cost = cost;
  made.max_label = max_label;
  return made;
}

std::string label_arguments::labels_file() const {
  return after(oracle_file_prefix, oracle);
}

std::string label_arguments::command() const {
  return after(oracle_command_prefix, oracle);
}

bool label_arguments::asks() const {
  return oracle != "file" || !pending.empty();
}

void label_arguments::check(std::string const& train) const {
  if (oracle == oracle_file_prefix)
    throw usage_error("--oracle: found an empty path, expected file:P");
  if (oracle == oracle_command_prefix)
    throw usage_error("--oracle: found an empty command, expected command:CMD");
  bool const by_program = !command().empty();
  if (oracle != "file" && oracle != "ask" && !oracle.starts_with(oracle_file_prefix) && !by_program)
    throw usage_error(
        fmt::format("--oracle: found '{}', expected file, ask, file:P or command:CMD", oracle));
  judge.expect(by_program);
  if (oracle == "ask") {
    if (resume.empty())
      throw usage_error("--oracle ask needs --resume FILE, which keeps the answers");
    if (!pending.empty())
      throw usage_error(
          "--pending cannot be combined with --oracle ask, expected --oracle file or file:P");
    if (train == "-")
      throw usage_error(
          "--oracle ask reads answers from standard input, expected a file for --train");
  } else if (batch != 0 && pending.empty() && !by_program) {
    throw usage_error("--batch needs --pending, whose length it sets, or --oracle command:CMD");
  } else if (!view.names.empty() && !by_program) {
    throw usage_error("--names needs --oracle ask or command:CMD");
  }
  view.check();
  if (!view.show.empty() && oracle != "ask" && pending.empty() && !by_program)
    throw usage_error("--show needs --oracle ask, --oracle command:CMD or --pending");
  if (oracle == "ask" && batch != 0)
    throw usage_error(
        "--batch cannot be combined with --oracle ask, expected --oracle file or file:P");
  if (oracle == "file" && !resume.empty())
    throw usage_error("--resume needs --oracle ask or file:P, whose answers it keeps");
}

}  // namespace rulerank::apps
