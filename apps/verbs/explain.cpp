#include "apps/shared/arguments/portability.hpp"
#include "apps/shared/arguments/scorer_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "l2r/explain/explanation.hpp"
#include "report/models.hpp"

#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

/// How the command line names a document of the query.
struct chosen_document {
  std::optional<std::string> docid;
  std::optional<std::uint64_t> rank;
};

struct explain_arguments {
  scorer_arguments scorer;
  std::string test;
  std::string qid;
  bool all = false;
  chosen_document document, against;
  bool by_feature = false;
  std::optional<std::uint64_t> top;
  std::string names;
  std::string format = "text";
  std::string out = "-";
};

bool is_given(chosen_document const& of) {
  return of.docid || of.rank;
}

/// The documents of a query as a separate data set.
datasets::dataset query_of(datasets::dataset const& data, datasets::query_group const& query) {
  std::vector<std::size_t> documents(query.size());
  std::iota(documents.begin(), documents.end(), query.begin);
  return datasets::subset(data, documents);
}

datasets::dataset query_of(datasets::dataset const& data, std::string const& qid) {
  for (datasets::query_group const& query : data.queries)
    if (query.qid == qid) return query_of(data, query);
  throw usage_error(fmt::format("--qid: found '{}', expected a query of {}", qid, data.name));
}

/// The document that `how` names; `order`: the ranking.
report::query_document find(datasets::dataset const& query, std::vector<std::size_t> const& order,
                            chosen_document const& how, std::string_view by_docid,
                            std::string_view by_rank) {
  std::size_t const rank = how.rank.value_or(1);
  if (!how.docid) {
    if (rank == 0 || rank > order.size())
      throw usage_error(fmt::format("{}: found {}, expected 1 to {}, the documents of query {}",
                                    by_rank, rank, order.size(), query.queries.front().qid));
    return {query, order[rank - 1]};
  }
  std::optional<std::size_t> found;
  for (std::size_t d = 0; d < query.size(); ++d) {
    if (query.line_id(d) == *how.docid)
      return {query, d};  // takes precedence over another
                          // document's docid
    if (query.docid(d) != *how.docid) continue;
    if (found)
      throw usage_error(fmt::format("{}: found two documents '{}', expected {} or {}", by_docid,
                                    *how.docid, query.line_id(*found), query.line_id(d)));
    found = d;
  }
  if (!found)
    throw usage_error(fmt::format("{}: found '{}', expected a document of query {}", by_docid,
                                  *how.docid, query.queries.front().qid));
  return {query, *found};
}

/// Throws for invalid options before anything is read.
void check(session& owner, explain_arguments const& arguments) {
  if (!arguments.all && arguments.qid.empty())
    throw usage_error("--qid is required, or --all for all documents of all queries");
  arguments.scorer.check(owner, {{"--test", arguments.test}, {"--names", arguments.names}});
  owner.outputs({{"--out", arguments.out}}, {}, "--out");
}

/// Writes blocks or JSON in the requested format.
class explanation_output {
 public:
  explanation_output(session& owner, explain_arguments const& arguments)
      : out_(arguments.out),
        json_(arguments.format == "json" || owner.run.json),
        form_(arguments.format == "markdown" ? eval::table_format::markdown
                                             : eval::table_format::table),
        top_(arguments.top.value_or(arguments.all ? 5 : 20)) {}

  std::size_t top() const { return top_; }
  bool is_json() const { return json_; }
  void write(std::string_view text) { out_.write(text); }
  void commit() { out_.commit(); }

  void explanation(report::query_document const& document, l2r::model_explanation const& why,
                   l2r::explainer const& explainer, std::span<report::member_words const> words) {
    write(json_ ? json_text_of(report::explanation_json(document, why, words))
                : report::to_text(
                      report::explanation(document, why, explainer.effects(why), words, top_),
                      form_));
  }
  void explanation(report::query_document const& first, report::query_document const& second,
                   l2r::model_comparison const& why, l2r::score_effects const& of_first,
                   l2r::score_effects const& of_second,
                   std::span<report::member_words const> words) {
    write(json_ ? json_text_of(report::explanation_json(first, second, why, words))
                : report::to_text(
                      report::explanation(first, second, why, of_first, of_second, words, top_),
                      form_));
  }
  template <class... Of>
  void effects(Of const&... of) {
    write(json_ ? json_text_of(report::effects_json(of...))
                : report::to_text(report::effects(of..., top_), form_));
  }

 private:
  output_file out_;
  bool json_;
  eval::table_format form_;
  std::size_t top_;
};

using all_words = std::vector<report::member_words>;

all_words words_of(l2r::explainer const& explainer, l2r::scorer const& scorer,
                   datasets::feature_names const& names) {
  all_words words;
  for (std::size_t k = 0; k < scorer.fitted().members.size(); ++k)
    words.push_back(report::words_of(scorer.fitted(), k, explainer.ranges(k), names));
  return words;
}

/// Writes explanations of the scores of the given documents.
void write_explanation(session& owner, explain_arguments const& arguments,
                       l2r::explainer const& explainer, datasets::dataset const& query,
                       all_words const& words, explanation_output& out) {
  auto const& order = explainer.order();
  report::query_document const document =
      find(query, order, arguments.document, "--docid", "--rank");
  if (!is_given(arguments.against)) {
    if (arguments.by_feature)
      return out.effects(document, explainer.effects(owner.ctx(), document.d), words);
    return out.explanation(document, explainer.explain(owner.ctx(), document.d, out.top()),
                           explainer, words);
  }
  report::query_document const other =
      find(query, order, arguments.against, "--against", "--against-rank");
  if (other.d == document.d)
    throw usage_error(
        fmt::format("--against: found document {} itself, expected a different document",
                    query.docid(document.d)));
  l2r::score_effects const first = explainer.effects(owner.ctx(), document.d);
  l2r::score_effects const second = explainer.effects(owner.ctx(), other.d);
  if (arguments.by_feature) return out.effects(document, other, first, second, words);
  out.explanation(document, other, explainer.compare(owner.ctx(), document.d, other.d, out.top()),
                  first, second, words);
}

/// Writes explanations of the scores of all documents, by query.
void write_queries(session& owner, datasets::dataset const& test, l2r::scorer const& scorer,
                   datasets::feature_names const& names, explanation_output& out) {
  if (out.is_json()) out.write("[\n");
  for (std::size_t q = 0; q < test.queries.size(); ++q) {
    owner.ctx().report("explain", q, test.queries.size());
    datasets::dataset const query = query_of(test, test.queries[q]);
    l2r::explainer const explainer(owner.ctx(), scorer, query);
    if (q > 0) out.write(out.is_json() ? ",\n" : "\n");
    out.effects(query, explainer.effects(owner.ctx()), words_of(explainer, scorer, names));
  }
  if (out.is_json()) out.write("]\n");
}

void explain(session& owner, explain_arguments const& arguments) {
  check(owner, arguments);
  std::vector<ranker_recipe> const recipes = arguments.scorer.recipes(owner);
  // An output that cannot be written fails before the work.
  explanation_output out(owner, arguments);
  datasets::feature_names names;
  if (!arguments.names.empty())
    names = datasets::read_feature_names(owner.ctx(), owner.input(arguments.names));
  l2r::scorer const scorer =
      make_scorer(owner, arguments.scorer.fit_or_read(owner, recipes), arguments.scorer.ranker, 1);
  datasets::dataset test;
  {
    auto const timer = owner.stage("read");
    test = arguments.scorer.reading.read(owner, arguments.test, arguments.scorer.first_test(),
                                         reading_arguments::labels::any);
    if (!arguments.qid.empty()) test = query_of(test, arguments.qid);
  }
  warn_of_lacking_features(owner, test, scorer.fitted());
  note_portability(owner, l2r::portability_of(scorer.fitted()));
  test = datasets::renumbered(std::move(test), l2r::names_of(scorer.fitted()));
  auto const timer = owner.stage("explain");
  if (arguments.qid.empty()) {
    write_queries(owner, test, scorer, names, out);
  } else {
    l2r::explainer const explainer(owner.ctx(), scorer, test);
    all_words const words = words_of(explainer, scorer, names);
    if (arguments.all)
      out.effects(test, explainer.effects(owner.ctx()), words);
    else
      write_explanation(owner, arguments, explainer, test, words, out);
  }
  out.commit();
}

}  // namespace

void add_explain(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<explain_arguments>(
      program, owner, "explain",
      "Show the rules, points or weights that make up a document's score",
      "rulerank explain --model fold1.model --test Fold1/test.txt --qid 18219 --rank 1 "
      "--against-rank 2 --names features.tsv\n"
      "  shows why the first document of query 18219 ranks above the second",
      explain);
  a.scorer.add_inputs_to(verb);
  path_option(verb, "--test,TEST", a.test, "Documents that were ranked")
      ->required()
      ->group(input_group);
  path_option(verb, "--names", a.names, "Names of features: lines of a number and a name")
      ->group(input_group);
  {
    help_group const group(verb, "Document");
    value_option(verb, "--qid Q", a.qid, "Query of the document; required without --all");
    CLI::Option* const all = verb.add_flag(
        "--all", a.all, "Explain all documents of the query, or of all queries, one on each line");
    CLI::Option* const docid = value_option(verb, "--docid D", a.document.docid,
                                            "Document to explain, by docid or QID-LINE")
                                   ->default_str("the first of the ranking");
    number_option(verb, "--rank", a.document.rank, "Document to explain, by rank from 1")
        ->excludes(docid)
        ->excludes(all);
    docid->excludes(all);
    CLI::Option* const against =
        value_option(verb, "--against D", a.against.docid,
                     "Second document: show why one ranks above the other");
    number_option(verb, "--against-rank", a.against.rank, "Second document, by rank from 1")
        ->excludes(against)
        ->excludes(all);
    against->excludes(all);
  }
  {
    help_group const group(verb, output_group);
    verb.add_flag("--by-feature", a.by_feature,
                  "Print a line for each feature, in units of the score");
    number_option(verb, "--top", a.top, "Most rules to list each way, most items and features")
        ->default_str("20, with --all 5");
    format_option(verb, word_option(verb, "--format", a.format, {"text", "markdown", "json"},
                                    "Format of the output"));
    path_option(verb, "--out", a.out, "Output file; - is standard output");
  }
  a.scorer.add_to(verb);
  usual_options(verb, {"--model", "--train", "--test", "--qid", "--docid", "--rank", "--against",
                       "--against-rank", "--all", "--names", "--format", "--out"});
}

}  // namespace rulerank::apps
