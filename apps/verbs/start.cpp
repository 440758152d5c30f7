// One command from documents and queries to a decision. Each step is a verb: its command line is
// shown, and the step is skipped if its results exist.
#include "apps/shared/arguments/text_arguments.hpp"
#include "apps/shared/arguments/view_arguments.hpp"
#include "apps/shared/options/options.hpp"
#include "apps/shared/session/verb_process.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/named_values.hpp"
#include "core/output_file.hpp"
#include "core/random.hpp"
#include "core/sha256.hpp"
#include "datasets/input/text_source.hpp"
#include "features/pair_pool.hpp"
#include "l2r/model/model.hpp"
#include "server/http_server.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::apps {
namespace {

constexpr std::size_t fewest_queries = 4;
/// Number of judged documents per query: the top of the two rankings, which includes the first five
/// of both.
constexpr std::size_t judged_documents = 10;
constexpr char const* measure = "NDCG@5";
constexpr std::string_view utf8_mark = "\xef\xbb\xbf";

struct start_arguments {
  std::string documents, queries;
  std::string dir = "ranking";
  std::size_t labels = 50;
  std::size_t judged_queries = 10;
  std::size_t candidates = 20;
  std::int32_t max_label = 4;
  page_arguments page;
  std::string listen = "127.0.0.1:8420";
  std::string format = "auto", stemmer = "english";
  std::vector<std::string> text_fields, query_fields;
  std::string id_field, encoding;
};

struct step {
  std::string what;                ///< description
  std::vector<std::string> files;  ///< in the folder; the step is done if all exist
  std::vector<std::string> line;   ///< the verb and its options
};

std::string path_in(start_arguments const& a, std::string const& name) {
  return (std::filesystem::path(a.dir) / name).string();
}

bool is_done(start_arguments const& a, std::vector<std::string> const& files) {
  return std::ranges::all_of(
      files, [&](std::string const& name) { return std::filesystem::exists(path_in(a, name)); });
}

/// Calls visit(option, key, value) for each option that a folder stores under this key.
template <class Arguments, class Visit>
void for_each_kept(Arguments& a, Visit const& visit) {
  visit("--collection", "documents", a.documents);
  visit("--topics", "queries", a.queries);
  visit("--labels", "labels", a.labels);
  visit("--judged-queries", "judged_queries", a.judged_queries);
  visit("--candidates", "candidates", a.candidates);
  visit("--max-label", "max_label", a.max_label);
  visit("--label-names", "label_names", a.page.label_names);
  visit("--guidelines", "guidelines", a.page.guidelines);
  visit("--collection-format", "format", a.format);
  visit("--stemmer", "stemmer", a.stemmer);
  visit("--text-fields", "text_fields", a.text_fields);
  visit("--query-fields", "query_fields", a.query_fields);
  visit("--id-field", "id_field", a.id_field);
  visit("--encoding", "encoding", a.encoding);
}

nlohmann::ordered_json settings_of(start_arguments a) {
  for (std::string* const path : {&a.documents, &a.queries, &a.page.guidelines})
    if (!path->empty()) *path = std::filesystem::absolute(*path).lexically_normal().string();
  nlohmann::ordered_json settings;
  for_each_kept(a, [&](char const*, char const* key, auto const& value) { settings[key] = value; });
  return settings;
}

/// The path itself, or all files of the folder in byte order. Throws `error` if there is none.
std::vector<std::filesystem::path> files_at(std::string const& path) {
  if (!std::filesystem::exists(path))
    throw error({path, 1, 1}, "found no file or folder of this name, expected texts");
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// The size and modification time of a file, or of all files of a folder.
nlohmann::ordered_json state_of(std::string const& path) {
  std::vector<std::filesystem::path> const files = files_at(path);
  std::uintmax_t bytes = 0;
  auto changed = std::filesystem::last_write_time(path);
  for (std::filesystem::path const& file : files) {
    bytes += std::filesystem::file_size(file);
    changed = std::max(changed, std::filesystem::last_write_time(file));
  }
  return {bytes, changed.time_since_epoch().count()};
}

/// The SHA-256 of a file, or of the names and checksums of a folder's files.
std::string checksum_of(context const& ctx, std::string const& path) {
  sha256 all;
  for (std::filesystem::path const& file : files_at(path)) {
    ctx.check_stop();
    all.update(fmt::format("{} {}\n", sha256_of_file(file.string()),
                           file.lexically_relative(path).string()));
  }
  return all.hex();
}

/// The state of texts with their checksum as third value.
nlohmann::ordered_json kept_state_of(context const& ctx, std::string const& path) {
  nlohmann::ordered_json state = state_of(path);
  state.push_back(checksum_of(ctx, path));
  return state;
}

/// Whether texts have this size, and this time or this checksum. Folders of earlier versions have
/// no checksum.
bool are_unchanged(context const& ctx, nlohmann::ordered_json const& kept,
                   std::string const& path) {
  nlohmann::ordered_json const now = state_of(path);
  if (!kept.is_array() || kept.size() < now.size() || kept[0] != now[0]) return false;
  return kept[1] == now[1] || (kept.size() == 3 && kept[2] == checksum_of(ctx, path));
}

constexpr char const* expected_settings = "what rulerank start wrote";

/// Restores the options that the folder was begun with; given options must be equal, except the
/// guidelines. Throws `error` for texts that changed since.
void take_kept(context const& ctx, start_arguments& a, CLI::App const& verb,
               std::string const& path) {
  nlohmann::ordered_json const given = settings_of(a);
  nlohmann::ordered_json kept =
      parse_ordered_json(datasets::read_file(path, expected_settings), path, expected_settings);
  nlohmann::ordered_json states;
  std::string const guidelines = a.page.guidelines;
  try {
    kept.emplace("encoding", "");  // absent in folders of earlier versions
    for_each_kept(a,
                  [&](char const*, char const* key, auto& value) { kept.at(key).get_to(value); });
    states = {kept.at("documents_state"), kept.at("queries_state")};
  } catch (nlohmann::json::exception const&) {
    throw error({path, 1, 1}, fmt::format("found different JSON, expected {}", expected_settings));
  }
  if (!guidelines.empty()) a.page.guidelines = guidelines;
  for_each_kept(a, [&](char const* option, char const* key, auto const&) {
    if (key != std::string_view("guidelines") && verb.count(option) > 0 &&
        given.at(key) != kept.at(key))
      throw usage_error(fmt::format(
          "{} {}: {} was started with {}, expected the same value, or a different --dir", option,
          json_line_of(given.at(key)), a.dir, json_line_of(kept.at(key))));
  });
  std::string const* const texts[] = {&a.documents, &a.queries};
  for (std::size_t t = 0; t < 2; ++t)
    if (!are_unchanged(ctx, states[t], *texts[t]))
      throw error({*texts[t], 1, 1},
                  fmt::format("found texts that changed since {} was started, expected the same "
                              "texts; start again with a different --dir",
                              a.dir));
}

std::size_t words_of(datasets::text_document const& document) {
  auto const is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  std::size_t words = 0;
  for (datasets::text_field const& field : document.fields)
    for (std::size_t i = 0; i < field.text.size(); ++i)
      words += !is_blank(field.text[i]) && (i == 0 || is_blank(field.text[i - 1]));
  return words;
}

/// Warns if DOCS and QUERIES are probably swapped: the queries have more bytes, and half of them
/// are longer than the longest document.
void warn_of_swapped(session& owner, start_arguments const& a, datasets::text_options reading,
                     features::pool_topics const& topics) {
  std::vector<std::size_t> lengths;
  for (auto const& topic : topics.texts) lengths.push_back(words_of(topic));
  auto const middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::ranges::nth_element(lengths, middle);
  std::size_t longest = 0;
  reading.warn = {};  // omissions are reported when documents become features
  try {
    datasets::read_documents(
        owner.ctx(), a.documents, value_named<datasets::text_format>(text_formats(false), a.format),
        [&](datasets::text_document&& one) { longest = std::max(longest, words_of(one)); },
        reading);
  } catch (error const&) {
    return;  // the first step reads them and reports the error
  }
  if (*middle > longest)
    owner.warn(
        fmt::format("half of the queries ({}) have {} words or more, and no document ({}) has more "
                    "than {}; check the order: rulerank start DOCS QUERIES",
                    a.queries, *middle, a.documents, longest));
}

/// The text of a query on one line.
std::string line_of(datasets::text_document const& query) {
  std::string line = query.id + "\t";
  for (datasets::text_field const& field : query.fields) {
    if (line.back() != '\t') line += ' ';
    for (char const c : field.text) line += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return line + "\n";
}

/// Begins the folder: splits the queries by --seed into those with documents to label and those to
/// judge, and stores the options.
void begin_folder(session& owner, start_arguments const& a, std::string const& path) {
  if (a.documents.empty())
    throw usage_error(fmt::format(
        "found no {}, expected documents and queries: rulerank start DOCS QUERIES", path));
  if (a.queries.empty())
    throw usage_error("QUERIES is missing, expected rulerank start DOCS QUERIES");
  nlohmann::ordered_json settings = settings_of(a);
  settings["documents_state"] = kept_state_of(owner.ctx(), owner.input(a.documents));
  settings["queries_state"] = kept_state_of(owner.ctx(), owner.input(a.queries));
  datasets::text_options reading;
  reading.text_fields = a.text_fields;
  reading.query_fields = a.query_fields;
  reading.id_field = a.id_field;
  reading.encoding = a.encoding;
  reading.warn = [&owner](std::string const& message) { owner.warn(message); };
  features::pool_topics const topics = features::read_topics(owner.ctx(), a.queries, reading);
  std::size_t const count = topics.texts.size();
  if (count < fewest_queries)
    throw error({a.queries, 1, 1}, fmt::format("found {}, expected {} or more",
                                               counted(count, "query", "queries"), fewest_queries));
  if (settings["queries_state"][0] > settings["documents_state"][0])
    warn_of_swapped(owner, a, reading, topics);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  random_engine engine(owner.run.seed);
  shuffle(std::span(order), engine);
  std::size_t const judged = std::min(a.judged_queries, count / 2);
  if (judged < a.judged_queries)
    owner.say(fmt::format("{} of {} will be judged (half of them)", judged,
                          counted(count, "query", "queries")));
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(judged));
  std::sort(order.begin() + static_cast<std::ptrdiff_t>(judged), order.end());
  // The mark declares these queries as UTF-8, whatever the documents' encoding.
  std::string judge(a.encoding.empty() ? "" : utf8_mark), learn = judge;
  for (std::size_t i = 0; i < count; ++i)
    (i < judged ? judge : learn) += line_of(topics.texts[order[i]]);
  write_file(path_in(a, "learn-queries.tsv"), learn);
  write_file(path_in(a, "judge-queries.tsv"), judge);
  write_file(path, json_text_of(settings));
}

class step_lines {
 public:
  explicit step_lines(start_arguments const& a) : a_(a) {}

  std::vector<std::string> features(char const* queries, char const* out) const {
    return with_reading({"features", "--collection", shown(a_.documents), "--topics", in(queries),
                         "--out", in(out)},
                        "--collection-format");
  }
  std::vector<std::string> label(char const* pool, char const* queries, char const* answers,
                                 char const* out) const {
    std::vector<std::string> line{
        "label",    "--pool",    in(pool), "--show", shown(a_.documents), "--topics", in(queries),
        "--resume", in(answers), "--out",  in(out),  "--listen",          a_.listen};
    if (a_.page.label_names.empty())
      line.insert(line.end(), {"--max-label", std::to_string(a_.max_label)});
    else
      line.insert(line.end(), {"--label-names", a_.page.label_names});
    if (!a_.page.guidelines.empty())
      line.insert(line.end(), {"--guidelines", shown(a_.page.guidelines)});
    return with_reading(std::move(line), "--show-format");
  }
  std::vector<std::string> query() const {
    return with_reading({"rank", "--model", in("ranking.model"), "--query", "TEXT", "--collection",
                         shown(a_.documents)},
                        "--collection-format");
  }
  /// A path in the folder.
  std::string in(char const* name) const { return path_in(a_, name); }

 private:
  static std::string shown(std::string const& path) {
    return std::filesystem::proximate(path).string();
  }
  std::vector<std::string> with_reading(std::vector<std::string> line, char const* format) const {
    auto const add = [&](char const* option, std::string const& value) {
      line.insert(line.end(), {option, value});
    };
    if (a_.format != "auto") add(format, a_.format);
    if (a_.stemmer != "english") add("--stemmer", a_.stemmer);
    if (!a_.text_fields.empty())
      add("--text-fields", fmt::format("{}", fmt::join(a_.text_fields, ",")));
    if (!a_.id_field.empty()) add("--id-field", a_.id_field);
    if (!a_.encoding.empty()) add("--encoding", a_.encoding);
    return line;
  }

  start_arguments const& a_;
};

std::vector<std::string> joined(std::vector<std::string> line,
                                std::vector<std::string> const& more) {
  line.insert(line.end(), more.begin(), more.end());
  return line;
}

/// The number of documents of a pool in the folder, at most `most`; `most` if the pool does not
/// exist.
std::size_t documents_in(start_arguments const& a, char const* pool, std::size_t most) {
  std::string const path = path_in(a, pool);
  if (!std::filesystem::is_regular_file(path)) return most;
  std::string const lines = datasets::read_file(path, "documents");
  return std::min(most, static_cast<std::size_t>(std::ranges::count(lines, '\n')));
}

/// The steps, as far as existing pools determine their numbers of documents.
std::vector<step> steps_of(start_arguments const& a) {
  step_lines const of(a);
  auto const in = [&](char const* name) { return of.in(name); };
  std::string const candidates = std::to_string(a.candidates);
  // Folders of earlier versions have a pool without a table.
  bool const has_table = !is_done(a, {"pool.txt"}) || is_done(a, {"features.tsv"});
  std::size_t const labels = documents_in(a, "pool.txt", a.labels);
  std::size_t const judgments =
      documents_in(a, "to-judge.txt", judged_documents * a.judged_queries);
  return {
      {"compute the features of the documents that may be labelled",
       {"pool.txt"},
       joined(of.features("learn-queries.tsv", "pool.txt"),
              {"--candidates", candidates, "--feature-table-out", in("features.tsv")})},
      {fmt::format("label {} documents in a browser", labels),
       {"labelled.txt"},
       joined(of.label("pool.txt", "learn-queries.tsv", "labels.tsv", "labelled.txt"),
              {"--max-documents", std::to_string(labels), "--norm", "query-minmax"})},
      {"fit a card of points",
       {"ranking.model"},
       joined({"fit", "--train", in("labelled.txt"), "--pool", in("pool.txt"), "--unlabelled", "-1",
               "--model", in("ranking.model")},
              has_table ? std::vector<std::string>{"--feature-table", in("features.tsv")}
                        : std::vector<std::string>())},
      {"write the card as a page",
       {"card.html"},
       {"inspect", in("ranking.model"), "--format", "html", "--out", in("card.html")}},
      {"compute the features of the queries to judge",
       {"candidates.run", "judge-pool.txt"},
       joined(of.features("judge-queries.tsv", "judge-pool.txt"),
              {"--candidates", candidates, "--candidates-out", in("candidates.run")})},
      {"rank their documents by the card",
       {"card.scores", "card.run"},
       {"rank", "--model", in("ranking.model"), "--test", in("judge-pool.txt"), "--out",
        in("card.scores"), "--run", in("card.run")}},
      {"find the documents that the search or the card ranks first",
       {"to-judge.run"},
       {"fuse", "--run", in("card.run"), in("candidates.run"), "--method", "combmax", "--norm",
        "borda", "--depth", std::to_string(judged_documents), "--out", in("to-judge.run")}},
      {"compute their features",
       {"to-judge.txt"},
       joined(of.features("judge-queries.tsv", "to-judge.txt"), {"--run", in("to-judge.run")})},
      {"judge these documents in a browser",
       {"judged.txt"},
       joined(of.label("to-judge.txt", "judge-queries.tsv", "judgments.tsv", "judged.txt"),
              {"--whole-queries", "--max-documents", std::to_string(judgments)})},
      {"rank the judged documents",
       {"judged.scores"},
       {"rank", "--model", in("ranking.model"), "--test", in("judged.txt"), "--out",
        in("judged.scores")}},
      {"compare the card with BM25",
       {"evaluation.json"},
       {"evaluate", "--test", in("judged.txt"), "--feature", "BM25_of_document", "--scores",
        "card=" + in("judged.scores"), "--metrics", measure, "--profile", "trec", "--compare",
        "paired-t", "--format", "json", "--out", in("evaluation.json")}},
  };
}

/// The common options of the command line.
std::vector<std::string> common_options(run_options const& run) {
  std::vector<std::string> words;
  if (run.device != "auto") words.insert(words.end(), {"--device", run.device});
  if (run.threads != 0) words.insert(words.end(), {"--threads", std::to_string(run.threads)});
  if (run.seed != 1) words.insert(words.end(), {"--seed", std::to_string(run.seed)});
  if (run.quiet) words.emplace_back("--quiet");
  return words;
}

/// Whether the verb succeeded; otherwise the program ends with its exit code.
bool run_step(session& owner, std::vector<std::string> line) {
  line = joined(std::move(line), common_options(owner.run));
  owner.say("$ " + shell_line(line));
  int const code = run_verb(owner.ctx(), line, owner.run.json);
  if (code == 0) owner.ctx().check_stop();
  owner.exit_with(code);
  return code == 0;
}

struct decision {
  std::size_t queries = 0;
  double card = 0, bm25 = 0, p = 1;

  char const* word() const {
    if (p >= .05) return "undecided";
    return card > bm25 ? "deploy" : "keep BM25";
  }
};

decision read_decision(std::string const& path) {
  constexpr char const* expected = "what rulerank evaluate wrote";
  nlohmann::json const report = parse_json(datasets::read_file(path, expected), path, expected);
  decision made;
  try {
    for (nlohmann::json const& system : report.at("systems")) {
      double const average = system.at("averages").at(measure).get<double>();
      (system.at("name") == "card" ? made.card : made.bm25) = average;
    }
    nlohmann::json const& compared = report.at("comparison").at("results").at(0);
    compared.at("queries").get_to(made.queries);
    nlohmann::json const& p = compared.at("paired-t").at("p");
    if (p.is_number()) p.get_to(made.p);
  } catch (nlohmann::json::exception const& fault) {
    throw error({path, 1, 1}, fmt::format("found {}, expected {}", fault.what(), expected));
  }
  return made;
}

std::string first_judged_query(start_arguments const& a) {
  std::string const queries = datasets::read_file(path_in(a, "judge-queries.tsv"), "queries");
  std::size_t const begin = queries.starts_with(utf8_mark) ? utf8_mark.size() : 0;
  return queries.substr(begin, queries.find('\t') - begin);
}

void say_decision(session& owner, start_arguments const& a, decision const& made) {
  l2r::portability const portability =
      l2r::portability_of(l2r::read_model(path_in(a, "ranking.model")));
  if (owner.run.json) {
    write_file("-", json_text_of(nlohmann::ordered_json{{"folder", a.dir},
                                                        {"model", path_in(a, "ranking.model")},
                                                        {"measure", measure},
                                                        {"queries", made.queries},
                                                        {"card", made.card},
                                                        {"bm25", made.bm25},
                                                        {"p", made.p},
                                                        {"decision", made.word()},
                                                        {"portability", portability.words}}));
    return;
  }
  std::string text =
      fmt::format("{} over {}: card {:.4f}, BM25 {:.4f}, p = {:.3f} (paired t)\n", measure,
                  counted(made.queries, "query", "queries"), made.card, made.bm25, made.p);
  if (made.card == 0 && made.bm25 == 0)
    text += "Undecided: no judged document is relevant.\n";
  else if (made.p >= .05)
    text +=
        "Undecided: the difference is not significant. To judge more queries, start again with a "
        "larger --judged-queries and a different --dir.\n";
  else if (made.card > made.bm25)
    text += "Deploy: the card ranks better than BM25.\n";
  else
    text += "Keep BM25: it ranks better than the card.\n";
  std::string const model = path_in(a, "ranking.model");
  text += fmt::format("The card is {}.\n", portability.words);
  text += fmt::format("The card on one page: {}\n", path_in(a, "card.html"));
  text += fmt::format("To see why a document ranks where it does: {}\n",
                      shell_line({"explain", "--model", model, "--test", path_in(a, "judged.txt"),
                                  "--qid", first_judged_query(a), "--rank", "1", "--by-feature"}));
  text += fmt::format("To rank documents for any query: {}\n", shell_line(step_lines(a).query()));
  write_file("-", text);
}

void start(session& owner, start_arguments& a, CLI::App const& verb) {
  a.page.names();  // throws for unusable ones before the first step
  server::listen_address const address = server::listen_address_from(a.listen);
  folder_lock const lock = owner.hold(a.dir);
  std::string const settings = path_in(a, "start.json");
  // Until its pool exists, a folder may be begun again with other texts or options.
  bool const is_begun = std::filesystem::exists(settings) &&
                        (std::filesystem::exists(path_in(a, "pool.txt")) || a.documents.empty());
  if (is_begun)
    take_kept(owner.ctx(), a, verb, settings);
  else
    begin_folder(owner, a, settings);
  // An address in use would make a later step fail.
  if (!is_done(a, {"labelled.txt", "judged.txt"})) server::http_server const probe(address);
  std::size_t const count = steps_of(a).size();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<step> const steps = steps_of(a);
    if (is_done(a, steps[i].files)) continue;
    owner.say(fmt::format("step {} of {}: {}", i + 1, count, steps[i].what));
    if (!run_step(owner, steps[i].line)) {
      owner.say(fmt::format("step {} of {} is not finished; {} continues here", i + 1, count,
                            shell_line({"start", "--dir", a.dir})));
      return;
    }
  }
  say_decision(owner, a, read_decision(path_in(a, "evaluation.json")));
}

}  // namespace

void add_start(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<start_arguments>(
      program, owner, "start", "Label, fit, judge and compare: from documents to a decision",
      "rulerank start docs.jsonl queries.tsv --dir ranking\n"
      "rulerank start --dir ranking\n"
      "  continues an interrupted run",
      start);
  {
    help_group const group(verb, input_group);
    path_option(verb, "--collection,DOCS FILE|FOLDER", a.documents,
                "Documents: JSON lines, TSV, CSV, TREC's or SMART's form, or a folder");
    path_option(verb, "--topics,QUERIES FILE|FOLDER", a.queries,
                "Queries, 4 or more, in the same formats");
  }
  path_option(verb, "--dir D", a.dir, "Folder for the pool, the labels, the model and the results")
      ->group(output_group);
  {
    help_group const group(verb, "Labels");
    number_option(verb, "--labels N", a.labels,
                  "Number of documents to label before the card is fitted", {1, 100'000});
    number_option(verb, "--judged-queries N", a.judged_queries,
                  "Number of queries to hold out, 2 or more, half of all at most; their first 10 "
                  "documents are judged",
                  {2, 10'000});
    number_option(verb, "--candidates N", a.candidates, "Most documents of a query, 2 or more",
                  {2});
    number_option(verb, "--max-label N", a.max_label, "Largest label, 1 to 1000", {1, 1'000});
  }
  a.page.add_to(verb);
  value_option(verb, "--listen ADDRESS:PORT", a.listen,
               "Address and port of the label page; port 0: any free port")
      ->group("What labellers see");
  help_group const group(verb, input_format_group);
  word_option(verb, "--collection-format NAME", a.format, text_formats(false),
              "Format of documents and queries: " +
                  list_of_names(text_formats(false), name_list::alternatives));
  add_fields_to(verb, a.text_fields, a.query_fields, a.id_field, a.encoding);
  add_stemmer_to(verb, a.stemmer, stemmer_help);
  usual_options(verb, {"--collection", "--topics", "--dir", "--labels", "--judged-queries",
                       "--max-label", "--label-names", "--listen", "--stemmer"});
}

}  // namespace rulerank::apps
