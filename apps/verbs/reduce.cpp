#include "apps/shared/arguments/committee_arguments.hpp"
#include "apps/shared/arguments/label_arguments.hpp"
#include "apps/shared/labelling/committee_rounds.hpp"
#include "apps/shared/labelling/labelled_sampling.hpp"
#include "apps/shared/labelling/reduction.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

struct reduce_arguments : reduction_arguments {
  label_arguments labels;
  committee_arguments rounds;
};

/// Registers the inputs and outputs before any is read or written.
void name_files(session& owner, reduce_arguments& arguments) {
  std::string& record = arguments.labels.judge.record;
  if (!arguments.labels.command().empty() && record.empty()) {
    if (arguments.out == "-")
      throw usage_error("--oracle command:CMD with --out - needs --judged FILE");
    record = arguments.out + ".judged";
  }
  std::vector<session::named_input> inputs = arguments.inputs("--train");
  inputs.push_back({"--oracle", arguments.labels.labels_file()});
  for (session::named_input const& shown : arguments.labels.view.files()) inputs.push_back(shown);
  for (session::named_input const& scores : arguments.rounds.files()) inputs.push_back(scores);
  arguments.reading.check_inputs(owner, inputs);
  auto outputs = arguments.outputs();
  outputs.push_back({"--pending", arguments.labels.pending});
  outputs.push_back({"--resume", arguments.labels.resume});
  outputs.push_back({"--judged", record});
  owner.outputs(outputs);
}

/// The documents chosen by the sampling and the rounds.
struct reduced_set {
  labelled_sample sampled;
  bool has_rounds = false;
  second_stage_result rounds;  ///< if there are rounds

  bool ready() const { return sampled.ready && (!has_rounds || rounds.ready); }
  std::vector<std::size_t> const& documents() const {
    return has_rounds ? rounds.documents : sampled.sample.documents;
  }
};

reduced_set choose(session& owner, reduce_arguments const& arguments,
                   al::sampler_options const& options, label_pool const& pool) {
  reduced_set result;
  if (arguments.labels.asks() || arguments.whole_queries) {
    result.sampled =
        sample_with_labels(owner, arguments.labels, pool, options, arguments.rounds.wanted());
  } else {
    result.sampled.sample = reduce_labelled(owner, options, pool.train, pool.binned);
    result.sampled.ready = true;
  }
  if (!result.sampled.ready || !arguments.rounds.wanted() || result.sampled.finished_early)
    return result;
  result.has_rounds = true;
  result.rounds = run_rounds(owner, {arguments.rounds, arguments.sampler, arguments.labels}, pool,
                             result.sampled);
  if (!result.sampled.labels.empty()) result.sampled.labels = result.rounds.labels;
  return result;
}

nlohmann::ordered_json summary_of(label_pool const& pool, reduce_arguments const& arguments,
                                  reduced_set const& chosen) {
  auto json = summary_of(pool, arguments, chosen.sampled.sample);
  if (!chosen.sampled.summary.is_null()) json["labelling"] = chosen.sampled.summary;
  if (chosen.has_rounds) {
    json["second_stage"] = chosen.rounds.summary;
    json["labelled"] = chosen.documents().size();
  }
  return json;
}

/// The loss in MAP of ranking by the chosen documents instead of all, on the validation sets of
/// OHSUMED, MQ2008 and MQ2008-agg with three kinds of cuts (bench/results/rule-size).
struct measured_size {
  rules::rule_size rule_size;
  double least, most;  ///< % of the training documents
  char const* map;
};
constexpr measured_size measured[] = {{2, 0.5, 0.8, "loses .0411 MAP (.0658 at worst)"},
                                      {3, 1.9, 4.2, "loses .0140 MAP (.0290 at worst)"},
                                      {4, 4.6, 14.5, "loses .0007 MAP (.0060 at worst)"},
                                      {5, 8.9, 31.2, "gains .0026 MAP (loses .0042 at worst)"}};

measured_size const* measured_of(rules::rule_size rule_size) {
  auto const at = std::ranges::find(measured, rule_size, &measured_size::rule_size);
  return at == std::end(measured) ? nullptr : at;
}

/// Reports the expected number before documents are chosen without a budget.
void say_how_many_to_expect(session& owner, rules::rule_size rule_size) {
  std::string text = fmt::format("choosing with --rule-size {} until the rules run dry", rule_size);
  if (auto const* const of = measured_of(rule_size))
    text += fmt::format(
        "; on OHSUMED and MQ2008 this chose {} to {} % of the documents, on features of few values "
        "far fewer",
        of->least, of->most);
  owner.say(text);
}

/// Reports the expected loss afterwards, if the share is within the measured range.
void say_what_to_expect(session& owner, rules::rule_size rule_size, double percent) {
  auto const* const of = measured_of(rule_size);
  if (of == nullptr) return;
  if (percent < of->least || percent > of->most) {
    owner.say(
        fmt::format("the loss of ranking by {:.2f} % of the documents was not measured for "
                    "--rule-size {}, only for {} to {} %; --max-documents N chooses N documents",
                    percent, rule_size, of->least, of->most));
    return;
  }
  std::string text = fmt::format(
      "measured on OHSUMED and MQ2008, in the order of the files: --rule-size {} chooses {} to {} "
      "% of the documents, and ranking by them {} on average against all documents",
      rule_size, of->least, of->most, of->map);
  for (measured_size const& other : measured)
    if (other.rule_size + 1 == rule_size || rule_size + 1 == other.rule_size)
      text += fmt::format("; --rule-size {}: {} to {} %, {}", other.rule_size, other.least,
                          other.most, other.map);
  owner.say(text);
}

/// Whether documents are chosen as in the measured samples: with all labels, one by one, until the
/// rules run out.
bool runs_dry(reduce_arguments const& arguments) {
  return arguments.sampler.max_documents == 0 && !arguments.labels.asks() &&
         !arguments.rounds.wanted() && !arguments.whole_queries;
}

void say_what_was_added(session& owner, reduce_arguments const& arguments,
                        datasets::dataset const& train, reduced_set const& chosen) {
  owner.say(fmt::format(
      "{} by {} added {}; now {} ({:.2f} %)",
      counted(chosen.rounds.summary["rounds"].get<std::size_t>(), "round"), arguments.rounds.select,
      chosen.rounds.picks.size(), counted(chosen.documents().size(), "document"),
      100.0 * static_cast<double>(chosen.documents().size()) / static_cast<double>(train.size())));
}

/// Whether each MPI rank reads a part of the training file, if possible: no labels are requested,
/// none are missing, and documents are chosen one by one.
bool is_read_in_parts(reduce_arguments const& arguments) {
  return !arguments.labels.asks() && !arguments.rounds.wanted() && !arguments.whole_queries &&
         !arguments.reading.unlabelled;
}

void reduce(session& owner, reduce_arguments& arguments) {
  arguments.sampler.check();
  arguments.labels.check(arguments.train);
  arguments.rounds.check();
  name_files(owner, arguments);
  if (arguments.labels.asks() || !arguments.labels.pending.empty())
    owner.expect_one_process("reduce that asks for labels");
  if (arguments.rounds.wanted()) owner.expect_one_process("reduce with a second stage");
  reduction_outputs out(owner, arguments);
  reduction_pool const read = read_pool(owner, arguments, is_read_in_parts(arguments));
  label_pool const pool = read.view();
  owner.ranks();  // compares the ranks' inputs
  if (runs_dry(arguments)) say_how_many_to_expect(owner, arguments.sampler.rule_size);
  warn_of_order(owner, arguments, read);
  al::sampler_options options = arguments.options(owner, read);
  if (arguments.rounds.wanted()) options.fill_budget = false;  // the rounds continue instead
  reduced_set const chosen = choose(owner, arguments, options, pool);
  if (!chosen.ready()) return;
  al::sample const& sample = chosen.sampled.sample;
  auto const result = summary_of(pool, arguments, chosen);
  owner.note("engine", al::name_of(sample.engine));
  owner.note("sample", result);

  owner.meet();
  auto const timer = owner.stage("write");
  out.write(owner, read, chosen.documents(), chosen.sampled.labels,
            arguments.rounds.wanted() ? ids_table(read.train, sample, chosen.rounds.picks)
                                      : choices_table(owner, read, options, sample));
  say_what_was_chosen(owner, arguments, pool, sample);
  if (auto const& labelling = chosen.sampled.summary; !labelling.is_null())
    say_what_was_skipped(owner, labelling["answers"], labelling["left_out"]);
  if (chosen.has_rounds) say_what_was_added(owner, arguments, read.train, chosen);
  if (runs_dry(arguments))
    say_what_to_expect(owner, arguments.sampler.rule_size, 100 * result["share"].get<double>());
  if (owner.prints_json()) write_file("-", json_text_of(result));
}

}  // namespace

void add_reduce(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<reduce_arguments>(
      program, owner, "reduce", "Choose the few training documents that bring new rules",
      "rulerank reduce --train Fold1/train.txt --out reduced.txt\n"
      "rulerank reduce --train pool.txt --unlabelled -1 --max-documents 100 --oracle ask --resume "
      "answers.tsv --out chosen.txt\n"
      "  asks you for the label of each chosen document",
      reduce);
  path_option(verb, "--train,TRAIN", a.train, "Documents to choose from (SVMlight, CSV or TSV)")
      ->required()
      ->group(input_group);
  path_option(verb, "--out", a.out,
              "Output file of the chosen lines, unchanged and in input order, for fit or any other "
              "learner; - is standard output")
      ->required()
      ->group(output_group);
  a.add_sampling_to(verb);
  a.labels.add_to(verb);
  a.rounds.add_to(verb);
  a.add_reading_to(verb);
  runs_over_ranks(verb);
  usual_options(verb, {"--train", "--out", "--max-documents", "--unlabelled", "--oracle",
                       "--pending", "--resume", "--judged", "--ids"});
}

}  // namespace rulerank::apps
