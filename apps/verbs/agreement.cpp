#include "eval/agreement.hpp"

#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/evaluation/evaluated_systems.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/named_values.hpp"
#include "eval/table.hpp"
#include "labelling/label_sources.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

constexpr named_values<eval::consensus_method, 3> consensus_methods{
    {{"dawid-skene", eval::consensus_method::dawid_skene},
     {"ordinal", eval::consensus_method::ordinal},
     {"majority", eval::consensus_method::majority}}};

struct agreement_arguments {
  std::vector<std::string> labels;
  std::string pool, out;
  std::string consensus = "dawid-skene";
  bool per_query = false;
  reading_arguments reading;
};

nlohmann::ordered_json number_or_null(std::optional<double> const& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

eval::cell number_or_dash(std::optional<double> const& value) {
  return value ? eval::cell(*value) : eval::cell("-");
}

struct shown_value {
  std::string name;
  eval::agreement_value of;
};

std::vector<shown_value> values_of(eval::agreement_summary const& all) {
  return {{"equal", all.share},
          {"Fleiss' kappa", all.fleiss},
          {"alpha nominal", all.alpha_nominal},
          {"alpha ordinal", all.alpha_ordinal}};
}

/// The ratings of each query, as a set of its own.
std::vector<eval::ratings> parts_of(eval::ratings const& given) {
  std::vector<eval::ratings> parts(given.qids.size());
  std::vector<std::size_t> number(given.query_of.size());  // of the unit in its query
  for (std::size_t u = 0; u < number.size(); ++u) {
    std::vector<std::size_t>& units = parts[given.query_of[u]].query_of;
    number[u] = units.size();
    units.push_back(0);
  }
  for (eval::rating const& r : given.all)
    parts[given.query_of[r.unit]].all.push_back({number[r.unit], r.source, r.label});
  return parts;
}

eval::table confusion_table(eval::ratings const& given, eval::pair_agreement const& pair) {
  eval::table t;
  t.title = fmt::format("labels of {} in rows, of {} in columns", given.sources[pair.first],
                        given.sources[pair.second]);
  t.columns = {{"label"}};
  for (std::int32_t const label : pair.labels)
    t.columns.push_back({fmt::format("{}", label), eval::column::style::fixed, 0});
  for (std::size_t a = 0; a < pair.labels.size(); ++a) {
    std::vector<eval::cell> row{fmt::format("{}", pair.labels[a])};
    for (std::size_t b = 0; b < pair.labels.size(); ++b)
      row.emplace_back(pair.counts[a * pair.labels.size() + b]);
    t.rows.push_back(std::move(row));
  }
  return t;
}

/// Agreement by query, ascending: the queries to look at first come first.
std::vector<std::pair<std::string, eval::agreement_value>> by_query(eval::ratings const& given) {
  std::vector<std::pair<std::string, eval::agreement_value>> rows;
  std::vector<eval::ratings> const parts = parts_of(given);
  for (std::size_t q = 0; q < parts.size(); ++q)
    if (auto const share = eval::equal_share(parts[q]))
      rows.push_back({given.qids[q], {share, {}, {}}});
  std::ranges::stable_sort(rows, {}, [](auto const& row) { return *row.second.value; });
  return rows;
}

std::string text_report(eval::ratings const& given, eval::agreement_summary const& all,
                        std::vector<eval::pair_agreement> const& pairs, bool per_query) {
  using style = eval::column::style;
  eval::table t;
  t.title = fmt::format("{} with two labels or more, of {}; 95 % bootstrap intervals",
                        counted(all.units, "document"), counted(given.sources.size(), "source"));
  t.columns = {{"measure"}, {"value", style::fixed}, {"low", style::fixed}, {"high", style::fixed}};
  for (auto const& [name, of] : values_of(all))
    t.rows.push_back(
        {name, number_or_dash(of.value), number_or_dash(of.low), number_or_dash(of.high)});
  std::string text = eval::render(t, eval::table_format::table);
  t = {};
  t.title = "pairs of sources";
  t.columns = {{"first"},
               {"second"},
               {"documents", style::fixed, 0},
               {"equal", style::fixed},
               {"Cohen's kappa", style::fixed},
               {"weighted kappa", style::fixed}};
  for (eval::pair_agreement const& pair : pairs)
    t.rows.push_back({given.sources[pair.first], given.sources[pair.second], pair.units, pair.share,
                      number_or_dash(pair.kappa), number_or_dash(pair.weighted_kappa)});
  text += "\n" + eval::render(t, eval::table_format::table);
  for (eval::pair_agreement const& pair : pairs)
    text += "\n" + eval::render(confusion_table(given, pair), eval::table_format::table);
  if (!per_query) return text;
  t = {};
  t.title = "share of equal labels by query";
  t.columns = {{"query"}, {"equal", style::fixed}};
  for (auto const& [qid, share] : by_query(given)) t.rows.push_back({qid, *share.value});
  return text + "\n" + eval::render(t, eval::table_format::table);
}

nlohmann::ordered_json json_report(eval::ratings const& given, eval::agreement_summary const& all,
                                   std::vector<eval::pair_agreement> const& pairs, bool per_query) {
  nlohmann::ordered_json json{{"sources", given.sources}, {"documents", all.units}};
  for (auto const& [key, of] :
       {std::pair("equal", all.share), std::pair("fleiss_kappa", all.fleiss),
        std::pair("alpha_nominal", all.alpha_nominal),
        std::pair("alpha_ordinal", all.alpha_ordinal)})
    json[key] = {{"value", number_or_null(of.value)},
                 {"low", number_or_null(of.low)},
                 {"high", number_or_null(of.high)}};
  json["labels"] = given.labels();
  json["pairs"] = nlohmann::ordered_json::array();
  for (eval::pair_agreement const& pair : pairs)
    json["pairs"].push_back({{"first", given.sources[pair.first]},
                             {"second", given.sources[pair.second]},
                             {"documents", pair.units},
                             {"equal", pair.share},
                             {"cohen_kappa", number_or_null(pair.kappa)},
                             {"weighted_kappa", number_or_null(pair.weighted_kappa)},
                             {"counts", pair.counts}});
  if (per_query)
    for (auto const& [qid, share] : by_query(given)) json["queries"][qid] = *share.value;
  return json;
}

/// The table of the combined labels: qid, docid, label, probability, number of sources.
std::string combined_labels(eval::ratings const& given, labelling::label_sources const& read,
                            eval::consensus const& combined) {
  std::vector<std::size_t> sources(read.units().size());
  for (eval::rating const& r : given.all) ++sources[r.unit];
  std::string text = "qid\tdocid\tlabel\tprobability\tsources\n";
  for (std::size_t u = 0; u < sources.size(); ++u)
    text += fmt::format("{}\t{}\t{}\t{:.6f}\t{}\n", read.units()[u].first, read.units()[u].second,
                        *combined.label_of(u), combined.probability_of(u), sources[u]);
  return text;
}

void name_files(session& owner, agreement_arguments const& arguments) {
  std::vector<session::named_input> inputs{{"--pool", arguments.pool}};
  for (std::string const& argument : arguments.labels)
    inputs.push_back({"--labels", named(argument).second});
  arguments.reading.check_inputs(owner, inputs);
  owner.outputs({{"--out", arguments.out}});
}

void agree(session& owner, agreement_arguments const& arguments) {
  name_files(owner, arguments);
  std::optional<datasets::dataset> pool;
  if (!arguments.pool.empty()) pool = arguments.reading.read(owner, arguments.pool);
  labelling::label_sources read(pool ? &*pool : nullptr);
  {
    auto const timer = owner.stage("read");
    for (std::string const& argument : arguments.labels) {
      auto const [name, path] = named(argument);
      read.read(owner.ctx(), owner.input(path), name, argument != path);
    }
  }
  eval::ratings const given = read.ratings();
  if (given.sources.size() < 2)
    throw usage_error(fmt::format("found labels of {}, expected two or more",
                                  counted(given.sources.size(), "source")));
  auto const timer = owner.stage("compare");
  auto const all = eval::summarize(owner.ctx(), given);
  auto const pairs = eval::pairs_of(given);
  if (pairs.empty()) owner.warn("no document has labels of two sources");
  auto const how = value_named<eval::consensus_method>(consensus_methods, arguments.consensus);
  if (!arguments.out.empty()) {
    write_file(arguments.out, combined_labels(given, read, eval::combine(given, how)));
    if (arguments.out == "-") return;
  }
  auto const json = json_report(given, all, pairs, arguments.per_query);
  owner.note("agreement", json);
  write_file("-", owner.run.json ? json_text_of(json)
                                 : text_report(given, all, pairs, arguments.per_query));
}

}  // namespace

void add_agreement(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<agreement_arguments>(
      program, owner, "agreement", "Measure how well labellers agree, and combine their labels",
      "rulerank agreement people=qrels.txt model=chosen.txt.judged --out combined.tsv\n"
      "  compares the labels of people and of a program, and writes one label for each document",
      agree);
  a.reading.unlabelled = datasets::unlabelled;
  {
    help_group const group(verb, input_group);
    path_option(verb, "--labels,LABELS", a.labels,
                "Labels of sources, [NAME=]FILE: judgments, tables with a column labeller, files "
                "of --resume, records of --judged")
        ->required();
    path_option(verb, "--pool POOL", a.pool,
                "Documents that files of --resume name by their line (SVMlight, CSV or TSV)");
  }
  {
    help_group const group(verb, output_group);
    path_option(verb, "--out", a.out,
                "Table of one label for each document, with its probability; - is standard output");
    word_option(verb, "--consensus", a.consensus, consensus_methods,
                "How labels become one: a confusion matrix for each source (dawid-skene), for each "
                "threshold of the label (ordinal), or the most frequent label (majority)");
    verb.add_flag("--per-query", a.per_query, "Print the agreement of each query, least first");
  }
  a.reading.add_to(verb);
  usual_options(verb, {"--labels", "--pool", "--out", "--consensus", "--per-query"});
}

}  // namespace rulerank::apps
