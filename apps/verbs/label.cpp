#include "al/answers.hpp"
#include "al/labelling.hpp"
#include "apps/shared/arguments/label_arguments.hpp"
#include "apps/shared/arguments/view_arguments.hpp"
#include "apps/shared/labelling/labelled_sampling.hpp"
#include "apps/shared/labelling/reduction.hpp"
#include "apps/shared/options/options.hpp"
#include "apps/shared/session/console.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/text/encoding.hpp"
#include "eval/agreement.hpp"
#include "labelling/judge/program_judge.hpp"
#include "labelling/label_service.hpp"
#include "labelling/label_team.hpp"
#include "server/http_server.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

struct label_verb_arguments : reduction_arguments {
  view_arguments view;
  std::string resume;
  std::string listen = "127.0.0.1:8420";
  std::vector<std::string> hosts;
  std::size_t answers = 1;
  std::string oracle;
  judge_arguments judge;
  page_arguments page;
};

/// The number of names determines the number of labels.
std::vector<std::string> take_label_names(label_verb_arguments& arguments) {
  std::vector<std::string> names = arguments.page.names();
  if (names.empty()) return names;
  arguments.view.max_label = static_cast<std::int32_t>(names.size()) - 1;
  for (std::string& name : names) name = printable(name);
  return names;
}

constexpr std::string_view command_prefix = "command:";

/// The command of --oracle, or empty.
std::string command_of(label_verb_arguments const& arguments) {
  if (arguments.oracle.empty()) return {};
  if (!arguments.oracle.starts_with(command_prefix) ||
      arguments.oracle.size() == command_prefix.size())
    throw usage_error(fmt::format("--oracle: found '{}', expected command:CMD", arguments.oracle));
  return arguments.oracle.substr(command_prefix.size());
}

/// Default paths for the answers and the result, next to the pool.
void name_files(session& owner, label_verb_arguments& arguments) {
  if (arguments.train == "-" && (arguments.out.empty() || arguments.resume.empty()))
    throw usage_error("--pool - needs --out and --resume, because standard input has no name");
  if (arguments.out.empty()) arguments.out = arguments.train + ".labelled";
  if (arguments.resume.empty()) arguments.resume = arguments.train + ".answers";
  if (!arguments.oracle.empty() && arguments.judge.record.empty())
    arguments.judge.record =
        arguments.train == "-" ? arguments.out + ".judged" : arguments.train + ".judged";
  auto inputs = arguments.inputs("--pool");
  for (session::named_input const& shown : arguments.view.files()) inputs.push_back(shown);
  inputs.push_back({"--guidelines", arguments.page.guidelines});
  arguments.reading.check_inputs(owner, inputs);
  auto outputs = arguments.outputs();
  outputs.push_back({"--resume", arguments.resume});
  outputs.push_back({"--judged", arguments.judge.record});
  owner.outputs(outputs);
}

/// Asks a program about documents that people have answered, in a thread of its own.
class second_reader {
 public:
  /// Keeps references to all arguments but `options`.
  second_reader(session& owner, labelling::judge_options const& options,
                labelling::label_team& team, labelling::question_views& views,
                labelling::label_service const& service)
      : owner_(owner),
        ctx_(owner.ctx()),
        max_label_(options.max_label),
        judge_(options),
        team_(team),
        views_(views),
        service_(service),
        thread_([this](std::stop_token const& end) { run(end); }) {}

  /// Reads what people have answered so far, and ends. Throws what the thread threw.
  void finish() {
    thread_.request_stop();
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run(std::stop_token const& end) {
    constexpr std::chrono::milliseconds between_reads{200};
    try {
      for (bool last = false; !last; std::this_thread::sleep_for(between_reads)) {
        last = end.stop_requested();
        while (read()) ctx_.check_stop();
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  /// Asks about at most this many documents at once; false if there is none.
  bool read() {
    constexpr std::size_t most_documents = 10;
    std::vector<std::size_t> documents;
    std::vector<nlohmann::ordered_json> requests;
    service_.exclusively([&] {
      for (std::size_t const d : team_.without_opinion())
        if (documents.size() < most_documents && !without_answer_.contains(d)) {
          documents.push_back(d);
          requests.push_back(labelling::judge_request(views_, d, max_label_));
        }
    });
    if (documents.empty()) return false;
    auto const verdicts = judge_.judge(ctx_, requests);
    service_.exclusively([&] {
      for (std::size_t i = 0; i < documents.size(); ++i)
        if (verdicts[i])
          team_.add_opinion(documents[i], verdicts[i]->label);
        else
          without_answer_.insert(documents[i]);
    });
    if (!without_answer_.empty() && !warned_) {
      warned_ = true;
      owner_.warn(fmt::format("the program gave no label to a document: {}", judge_.problem()));
    }
    return true;
  }

  session& owner_;
  context const& ctx_;
  std::int32_t max_label_;
  labelling::program_judge judge_;
  labelling::label_team& team_;
  labelling::question_views& views_;
  labelling::label_service const& service_;
  std::set<std::size_t> without_answer_;
  bool warned_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;  // last: uses the others
};

/// How people's labels and the program's agree; null without both.
nlohmann::ordered_json agreement_with_program(labelling::label_team const& team) {
  eval::ratings given{{"people", "program"}, {}, {"all"}, {}};
  for (al::answer const& a : team.work().answers()) {
    auto const opinion = team.answer_of(labelling::program_labeller, a.document);
    if (!a.label || !opinion || !opinion->label) continue;
    given.all.push_back({given.query_of.size(), 0, *a.label});
    given.all.push_back({given.query_of.size(), 1, *opinion->label});
    given.query_of.push_back(0);
  }
  auto const pairs = eval::pairs_of(given);
  if (pairs.empty()) return nullptr;
  return {{"documents", pairs[0].units},
          {"equal", pairs[0].share},
          {"kappa", pairs[0].kappa ? nlohmann::ordered_json(*pairs[0].kappa) : nullptr}};
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
  for (std::string const& host : arguments.hosts)
    how.hosts.push_back(server::host_in_small_letters(host));
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
  std::optional<second_reader> reader;
  if (std::string const command = command_of(arguments); !command.empty())
    reader.emplace(owner, arguments.judge.options(command, arguments.view.max_label), team, views,
                   service);
  http.run(
      owner.ctx(), [&](server::http_request const& r) { return service.handle(r); },
      [&] { return service.finished(); });
  if (reader) reader->finish();
}

void label(session& owner, label_verb_arguments& arguments) {
  arguments.sampler.check();
  arguments.view.check();
  std::vector<std::string> label_names = take_label_names(arguments);
  server::listen_address_from(arguments.listen);
  arguments.judge.expect(!command_of(arguments).empty());
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
  if (auto const agreement = agreement_with_program(team); !agreement.is_null()) {
    summary["labelling"]["program"] = agreement;
    owner.say(fmt::format("the program gives {:.1f} % of {} the label of people{}",
                          100 * agreement["equal"].get<double>(),
                          counted(agreement["documents"].get<std::size_t>(), "document"),
                          agreement["kappa"].is_null()
                              ? ""
                              : fmt::format(" (kappa {:.2f})", agreement["kappa"].get<double>())));
  }
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
                 "Other names of the page in browsers' addresses, such as the name of a proxy")
        ->default_str("");
    number_option(verb, "--answers", a.answers,
                  "Number of labellers that answer each document, 1 to 100", {1, 100});
  }
  {
    help_group const group(verb, judge_group);
    value_option(
        verb, "--oracle command:CMD", a.oracle,
        "Program that labels each document after a person has; its labels do not count, but "
        "show where both differ");
  }
  a.judge.add_to(verb)->default_str("POOL.judged");
  a.view.add_to(verb);
  a.page.add_to(verb);
  a.add_sampling_to(verb);
  a.add_reading_to(verb);
  usual_options(verb, {"--pool", "--show", "--topics", "--out", "--max-documents", "--max-label",
                       "--label-names", "--guidelines", "--listen"});
}

}  // namespace rulerank::apps
