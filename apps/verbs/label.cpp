#include "al/answers.hpp"
#include "al/labelling.hpp"
#include "apps/shared/arguments/view_arguments.hpp"
#include "apps/shared/labelling/labelled_sampling.hpp"
#include "apps/shared/labelling/reduction.hpp"
#include "apps/shared/options/options.hpp"
#include "apps/shared/session/console.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "datasets/text/encoding.hpp"
#include "datasets/text_source.hpp"
#include "labelling/label_service.hpp"
#include "labelling/label_team.hpp"
#include "server/http_server.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

struct label_verb_arguments : reduction_arguments {
  view_arguments view;
  std::string resume;
  std::string listen = "127.0.0.1:8420";
  std::vector<std::string> hosts;
  std::size_t answers = 1;
  page_arguments page;
};

/// The number of names determines the number of labels.
std::vector<std::string> take_label_names(label_verb_arguments& arguments) {
  if (arguments.page.label_names.empty()) return {};
  std::vector<std::string> names = parse_label_names(arguments.page.label_names);
  arguments.view.max_label = static_cast<std::int32_t>(names.size()) - 1;
  for (std::string& name : names) name = printable(name);
  return names;
}

/// Default paths for the answers and the result, next to the pool.
void name_files(session& owner, label_verb_arguments& arguments) {
  if (arguments.train == "-" && (arguments.out.empty() || arguments.resume.empty()))
    throw usage_error("--pool - needs --out and --resume, because standard input has no name");
  if (arguments.out.empty()) arguments.out = arguments.train + ".labelled";
  if (arguments.resume.empty()) arguments.resume = arguments.train + ".answers";
  auto inputs = arguments.inputs("--pool");
  for (session::named_input const& shown : arguments.view.files()) inputs.push_back(shown);
  inputs.push_back({"--guidelines", arguments.page.guidelines});
  arguments.reading.check_inputs(owner, inputs);
  auto outputs = arguments.outputs();
  outputs.push_back({"--resume", arguments.resume});
  owner.outputs(outputs);
}

/// Reads text for the page and makes it displayable.
std::string read_guidelines(std::string const& path) {
  constexpr std::size_t most_bytes = 65'536;
  std::string const text = datasets::read_file(path, "text for labellers");
  if (text.size() > most_bytes)
    throw error({path, 1, 1},
                fmt::format("found {} bytes, expected at most {}", text.size(), most_bytes));
  datasets::expect_utf8(text, path);
  std::string shown;
  for (std::string const& line : split_list(text, '\n')) shown += printable(line) + "\n";
  return shown;
}

/// Serves until a labeller ends it. Prints the address even with --quiet: labelling requires it.
void serve(session& owner, label_verb_arguments const& arguments, labelling::label_team& team,
           labelling::question_views& views, std::size_t documents,
           std::vector<std::string> label_names) {
  auto const timer = owner.stage("label");
  server::http_server http(server::listen_address_from(arguments.listen),
                           {.most_body = labelling::most_body, .fields = server::page_fields()});
  labelling::label_service::options how;
  how.token = labelling::new_token();
  how.hosts = server::hosts_of(http.address());
  how.hosts.insert(how.hosts.end(), arguments.hosts.begin(), arguments.hosts.end());
  how.max_label = arguments.view.max_label;
  how.label_names = std::move(label_names);
  if (!arguments.page.guidelines.empty())
    how.guidelines = read_guidelines(owner.input(arguments.page.guidelines));
  if (std::size_t const goal = arguments.sampler.max_documents; goal > 0)
    how.goal = std::min(goal, documents);
  how.documents = documents;
  how.out = arguments.out;
  labelling::label_service service(
      how, team, views, [&work = team.work()](std::vector<al::answer> answers) {
        return work.look_ahead(labelling::next_documents, std::move(answers));
      });
  if (!server::is_loopback(http.address()))
    owner.warn(
        "other machines can reach this address, and others can read what goes over the network");
  write_to_standard_error(
      fmt::format("rulerank: label at http://{}/#{}\n", how.hosts.front(), how.token));
  http.run(
      owner.ctx(), [&](server::http_request const& r) { return service.handle(r); },
      [&] { return service.finished(); });
}

void label(session& owner, label_verb_arguments& arguments) {
  arguments.sampler.check();
  arguments.view.check();
  std::vector<std::string> label_names = take_label_names(arguments);
  server::listen_address_from(arguments.listen);
  name_files(owner, arguments);
  reduction_outputs out(owner, arguments);
  reduction_pool const pool = read_pool(owner, arguments);
  if (std::ranges::find(pool.train.labels, datasets::unlabelled) == pool.train.labels.end())
    throw usage_error(
        fmt::format("all documents of {} have labels, expected some without; --unlabelled sets the "
                    "label that means none",
                    pool.train.name));
  al::sampler_options const options = arguments.options(owner, pool);
  warn_of_order(owner, arguments, pool);
  expect_cpu(owner, options.engine, "where labels are asked for");
  pool_views const shown = make_views(owner, arguments.view, pool.view());
  al::labelling work(owner.ctx(), pool.binned, options);
  al::answer_journal journal(arguments.resume, work.identity(), pool.train, al::labellers::several);
  labelling::label_team team(work, journal, arguments.resume, arguments.answers);
  if (std::size_t const answers = journal.answers().size(); answers > 0)
    owner.say(fmt::format("{} of {} are in {}", counted(answers, "answer"),
                          counted(team.labellers().size(), "labeller"), arguments.resume));
  if (!work.finished())
    serve(owner, arguments, team, *shown.views, pool.train.size(), std::move(label_names));

  auto const answers = work.answers();
  std::size_t const skipped = al::left_out_of(answers);
  al::sample const sample = work.take();
  auto summary = summary_of(pool.view(), arguments, sample);
  summary["labelling"] = {{"answers", journal.answers().size()},
                          {"left_out", skipped},
                          {"labellers", team.labellers()},
                          {"disputes", team.disputes().size()}};
  owner.note("sample", summary);
  auto const timer = owner.stage("write");
  std::vector<std::int32_t> labels;
  for (std::size_t d = 0; d < pool.train.size(); ++d) labels.push_back(work.label_of(d));
  out.write(owner, pool, sample.documents, labels, choices_table(owner, pool, options, sample));
  say_what_was_chosen(owner, arguments, pool.view(), sample);
  say_what_was_skipped(owner, answers.size(), skipped);
  if (owner.prints_json()) write_file("-", json_text_of(summary));
}

}  // namespace

void add_label(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<label_verb_arguments>(
      program, owner, "label", "Choose documents as reduce does and label them in a browser",
      "rulerank label --pool pool.txt --show docs.jsonl --topics topics.tsv\n"
      "  prints the address of the page; a second run continues an interrupted one",
      label);
  a.reading.unlabelled = datasets::unlabelled;
  a.sampler.ties = "seeded";
  path_option(verb, "--pool,POOL POOL", a.train,
              "Documents to choose from (SVMlight, CSV or TSV); label -1 means not labelled")
      ->required()
      ->group(input_group);
  {
    help_group const group(verb, output_group);
    path_option(verb, "--out", a.out, "Output file of the chosen lines with their labels")
        ->default_str("POOL.labelled");
    path_option(verb, "--resume STATE", a.resume,
                "File that keeps every answer; the next run continues from it")
        ->default_str("POOL.answers");
  }
  {
    help_group const group(verb, "Server");
    value_option(verb, "--listen ADDRESS:PORT", a.listen,
                 "Address and port of the page; port 0: any free port");
    value_option(verb, "--host NAME[:PORT]", a.hosts,
                 "Other names of the page in browsers' addresses, for example behind a proxy")
        ->default_str("");
    number_option(verb, "--answers", a.answers,
                  "Number of labellers that answer each document, 1 to 100", {1, 100});
  }
  a.view.add_to(verb);
  a.page.add_to(verb);
  a.add_sampling_to(verb);
  a.add_reading_to(verb);
  usual_options(verb, {"--pool", "--show", "--topics", "--out", "--max-documents", "--max-label",
                       "--label-names", "--guidelines", "--listen"});
}

}  // namespace rulerank::apps
