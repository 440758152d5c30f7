#include "knn/sparse/search.hpp"

#include "apps/shared/text_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/text_source.hpp"
#include "datasets/trec.hpp"
#include "knn/classification.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace rulerank::apps {
namespace {

struct search_text_arguments {
  std::string collection;
  std::string queries;
  std::string index;
  std::string out = "-";
  std::string run;
  std::string tag = "rulerank";
  std::string metric = "cosine";
  std::string engine = "auto";
  std::string votes;
  std::string classes;
  std::size_t k = 30;
  std::size_t group = 1;
  std::string balance = "inter";
  text_arguments text;
};

/// A column of a TREC run.
std::string const& one_word(std::string const& word, std::string const& what) {
  if (!datasets::is_run_column(word))
    throw usage_error(fmt::format("--run: found {} {}, expected one word, a column of the run{}",
                                  what, datasets::quoted(word),
                                  word == "#" ? ": # begins a comment" : ""));
  return word;
}

/// A column of a line with tabs.
std::string const& one_cell(std::string const& text, char const* option, std::string const& what) {
  if (text.find_first_of("\t\r\n") != text.npos)
    throw usage_error(fmt::format("{}: found {} {}, expected no tab and no line break in a column",
                                  option, what, datasets::quoted(text)));
  return text;
}

/// Neighbours as they are found, query by query, as TSV and as a TREC run.
class answers {
 public:
  answers(search_text_arguments const& arguments, knn::similarity metric)
      : neighbours_(arguments.out), tag_(arguments.tag), metric_(metric) {
    if (!arguments.run.empty()) {
      one_word(tag_, "the tag");
      run_.emplace(arguments.run);
    }
  }

  void write(std::string const& query, std::size_t q, knn::neighbours const& found,
             knn::string_table const& ids) {
    if (run_) one_word(query, "a query's id");
    for (std::size_t i = 0; i < found.k; ++i) {
      std::string const id(ids[found.id[q * found.k + i]]);
      double const score = found.value[q * found.k + i];
      neighbours_.write(fmt::format("{}\t{}\t{}\t{}\n", one_cell(query, "--out", "a query's id"),
                                    i + 1, one_cell(id, "--out", "a document's id"), score));
      if (run_)
        run_->write(datasets::run_line(query, one_word(id, "a document's id"), i + 1,
                                       run_score(metric_, score), tag_));
    }
  }
  void flush() {
    neighbours_.flush();
    if (run_) run_->flush();
  }
  void commit() {
    neighbours_.commit();
    if (run_) run_->commit();
  }

 private:
  output_file neighbours_;
  std::optional<output_file> run_;
  std::string tag_;
  knn::similarity metric_;
};

/// The classes of documents and queries, and what the neighbours' votes say.
class class_votes {
 public:
  explicit class_votes(search_text_arguments const& arguments)
      : how_(knn::voting_from(arguments.votes)) {
    if (!arguments.classes.empty()) out_.emplace(arguments.classes);
  }
  /// The documents' classes.
  void learn(knn::text_index const& index) {
    for (std::size_t d = 0; d < index.ids().size(); ++d)
      of_document_.push_back(number(std::string(index.label(d))));
    if (names_.empty())
      throw usage_error(
          "--votes: found no document with a label, expected --labels, or labels in JSON or by "
          "folders");
  }
  void add(std::vector<datasets::text_document> const& queries, knn::neighbours const& found) {
    auto const given = knn::classify(found, of_document_, how_);
    for (std::size_t q = 0; q < given.size(); ++q) {
      truth_.push_back(number(queries[q].label));
      given_.push_back(given[q]);
      std::string const voted = given[q] == knn::no_class ? "" : names_[given[q]];
      if (out_)
        out_->write(fmt::format("{}\t{}\t{}\n", one_cell(queries[q].id, "--classes", "an id"),
                                one_cell(queries[q].label, "--classes", "a label"),
                                one_cell(voted, "--classes", "a class")));
    }
  }
  void flush() {
    if (out_) out_->flush();
  }
  void commit() {
    if (out_) out_->commit();
  }
  /// Over the queries that have a label.
  knn::classification_quality quality() const { return knn::quality_of(truth_, given_); }

 private:
  std::uint32_t number(std::string const& label) {
    if (label.empty()) return knn::no_class;
    auto const [found, is_new] =
        number_of_.emplace(label, static_cast<std::uint32_t>(number_of_.size()));
    if (is_new) names_.push_back(label);
    return found->second;
  }
  knn::voting how_;
  std::map<std::string, std::uint32_t> number_of_;
  std::vector<std::string> names_;
  std::vector<std::uint32_t> of_document_, truth_, given_;
  std::optional<output_file> out_;
};

knn::text_index prepare(session& owner, search_text_arguments const& arguments) {
  if (arguments.collection.empty()) {
    auto const timer = owner.stage("open");
    return knn::text_index::open(owner.ctx(), arguments.index);
  }
  auto const timer = owner.stage("index");
  knn::text_index_options const options = arguments.text.options(owner);
  auto const tell = [&](knn::text_index_timings const& timings) {
    owner.took("read", timings.read_s);
    owner.took("weigh", timings.weigh_s);
  };
  if (arguments.index.empty()) {
    auto index = knn::text_index::build(owner.ctx(), arguments.collection, options);
    tell(index.timings());
    return index;
  }
  {
    output_file file(arguments.index);
    tell(knn::text_index::build(owner.ctx(), arguments.collection, options, file));
    file.commit();
  }
  return knn::text_index::open(owner.ctx(), arguments.index);
}

/// Throws `error` for a query that tf-idf gives a weight beyond what the search takes.
void expect_weights(knn::sparse_rows const& rows,
                    std::vector<datasets::text_document> const& queries, std::string const& path) {
  for (std::size_t q = 0; q < rows.size(); ++q)
    for (double const weight : rows[q].weight)
      if (std::abs(weight) > knn::largest_weight)
        throw error(
            {datasets::display_name(path), 0, 0},
            fmt::format("found a value of query {} that tf-idf makes {}, expected at most {}",
                        datasets::quoted(queries[q].id), weight, knn::largest_weight));
}

/// The form of the queries: what is asked for, if the index has such terms.
datasets::text_format format_of_queries(knn::text_index const& index, datasets::text_format asked) {
  using enum datasets::text_format;
  if (knn::holds_vectors(index.options())) {
    if (asked != svmlight && asked != automatic)
      throw usage_error("--format: the index holds vectors, expected svmlight");
    return svmlight;
  }
  if (asked == svmlight)
    throw usage_error("--format: found 'svmlight', and the index holds documents of words");
  return asked;
}

void check_usage(search_text_arguments const& arguments, CLI::App const& verb) {
  if (arguments.collection.empty() && arguments.index.empty())
    throw usage_error("no documents, expected --collection or --index");
  if (arguments.queries.empty() && arguments.index.empty())
    throw usage_error("nothing to do, expected --queries, or --index to write the index to");
  if (arguments.queries.empty() && arguments.collection.empty())
    throw usage_error("nothing to do, expected --queries, or --collection to index");
  if (arguments.collection.empty())
    for (std::string const& name : text_arguments::index_options())
      if (verb.count(name) > 0)
        throw usage_error(
            fmt::format("{} beside --index without --collection: the index has been made", name));
  if (arguments.text.format == "svmlight")
    for (std::string const& name : text_arguments::word_options())
      if (verb.count(name) > 0)
        throw usage_error(fmt::format("{} beside --format svmlight: there are no words", name));
  if (arguments.text.weights != "bm25")
    for (char const* const name : {"--k1", "--b"})
      if (verb.count(name) > 0)
        throw usage_error(fmt::format("{} beside --weights {}, expected --weights bm25", name,
                                      arguments.text.weights));
  if (arguments.queries.empty())
    for (char const* const name : {"--out", "--run", "--tag", "--votes", "--classes", "--k",
                                   "--metric", "--engine", "--group", "--balance"})
      if (verb.count(name) > 0) throw usage_error(fmt::format("{} without --queries", name));
  if (arguments.engine != "fish")
    for (char const* const name : {"--group", "--balance"})
      if (verb.count(name) > 0)
        throw usage_error(
            fmt::format("{} beside --engine {}, expected --engine fish", name, arguments.engine));
  if (!arguments.classes.empty() && arguments.votes.empty())
    throw usage_error("--classes without --votes");
  if (arguments.index == "-")
    throw usage_error("--index: found -, expected a file, which is mapped and not read");
}

/// Names inputs and outputs before any is read or written.
void name_files(session& owner, search_text_arguments const& arguments) {
  std::vector<session::named_input> inputs{{"--collection", arguments.collection},
                                           {"--queries", arguments.queries}};
  if (auto const list = arguments.text.stop_list()) inputs.push_back(*list);
  owner.inputs(inputs);
  std::vector<session::named_output> outputs;
  if (!arguments.queries.empty())
    outputs = {
        {"--out", arguments.out}, {"--run", arguments.run}, {"--classes", arguments.classes}};
  if (!arguments.collection.empty()) outputs.push_back({"--index", arguments.index});
  owner.outputs(outputs);
  for (session::named_input const& input : inputs) owner.input(input.path);
  expect_outside(owner, inputs, outputs);
  if (arguments.collection.empty()) owner.input(arguments.index);
}

void search_text(session& owner, search_text_arguments const& arguments, CLI::App const& verb) {
  check_usage(arguments, verb);
  name_files(owner, arguments);
  auto const reading = arguments.text.options(owner);
  knn::sparse_search_options options;
  options.k = arguments.k;
  options.metric = knn::sparse_similarity_from(arguments.metric);
  options.engine = knn::sparse_engine_from(arguments.engine);
  options.group = arguments.group;
  options.balance = knn::load_balance_from(arguments.balance);
  std::optional<answers> out;
  std::optional<class_votes> votes;
  if (!arguments.queries.empty()) out.emplace(arguments, options.metric);
  if (!arguments.votes.empty()) votes.emplace(arguments);
  knn::text_index const index = prepare(owner, arguments);
  warn_without_terms(owner, index);
  nlohmann::ordered_json summary{{"documents", index.ids().size()},
                                 {"terms", index.terms().size()},
                                 {"postings", index.index().postings()}};
  if (out) {
    std::optional<knn::sparse_searcher> searcher;
    {
      auto const timer = owner.stage("prepare");
      searcher.emplace(owner.ctx(), index.index(), options);
    }
    auto const& engine = *find_engine(knn::sparse_engines(), searcher->engine());
    owner.expect_device_for(engine.name, name_of(engine.where));
    if (votes) votes->learn(index);
    datasets::text_format const format = format_of_queries(index, reading.format);
    std::vector<datasets::text_document> queries;
    std::size_t answered = 0;
    auto const answer = [&] {
      knn::sparse_matrix const rows = index.queries(owner.ctx(), queries);
      expect_weights(rows, queries, arguments.queries);
      knn::neighbours const found = [&] {
        auto const timer = owner.stage("nearest");
        return searcher->search(owner.ctx(), rows);
      }();
      for (std::size_t q = 0; q < queries.size(); ++q)
        out->write(queries[q].id, q, found, index.ids());
      if (votes) votes->add(queries, found);
      answered += queries.size();
      owner.ctx().report("search", answered, 0);
      queries.clear();
    };
    {
      // As many queries as have neighbours for some 400 MB.
      std::size_t const k = std::min(options.k, index.ids().size());
      std::size_t const together = std::clamp<std::size_t>((std::size_t{1} << 25) / k, 1, 4096);
      auto const timer = owner.stage("search");
      datasets::read_documents(
          owner.ctx(), arguments.queries, format,
          [&](datasets::text_document&& query) {
            queries.push_back(std::move(query));
            if (queries.size() == together) answer();
          },
          reading.reading);
      answer();
    }
    out->flush();
    if (votes) votes->flush();
    out->commit();
    if (votes) votes->commit();
    summary["queries"] = answered;
    summary["k"] = std::min(arguments.k, index.ids().size());
    summary["engine"] = knn::name_of(searcher->engine());
    if (auto const quality = votes ? votes->quality() : knn::classification_quality{};
        quality.queries > 0) {
      summary["accuracy"] = quality.accuracy;
      summary["micro_f1"] = quality.micro_f1;
      summary["macro_f1"] = quality.macro_f1;
      owner.say(fmt::format("accuracy {:.4f}, macro-F1 {:.4f} over {} queries", quality.accuracy,
                            quality.macro_f1, quality.queries));
    }
  }
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  if (owner.prints_json()) {
    summary["seconds"] = owner.timings();
    output_file to("-");
    to.write(summary.dump(2) + "\n");
    to.commit();
  }
}

void add_text(CLI::App& search, session& owner) {
  auto const arguments = std::make_shared<search_text_arguments>();
  CLI::App* const verb =
      add_verb(search, owner, "text", "The nearest documents of text queries, exactly",
               "rulerank search text --collection docs.tsv --queries topics.tsv --k 100 --run "
               "candidates.trec",
               [arguments, &owner, &search] {
                 search_text(owner, *arguments, *search.get_subcommand("text"));
               });
  verb->add_option("--collection", arguments->collection,
                   "Documents: TSV, JSON lines, a folder, SMART's form, or with --format svmlight "
                   "vectors; - is standard input")
      ->type_name("FILE|FOLDER|-");
  verb->add_option("--index", arguments->index,
                   "With --collection: where the index is kept; without: the index to search")
      ->type_name("FILE");
  verb->add_option("--queries", arguments->queries, "Queries, in a form of documents")
      ->type_name("FILE|FOLDER|-");
  verb->add_option("--k", arguments->k, "Neighbours of a query")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40).description(""))
      ->capture_default_str();
  verb->add_option("--metric", arguments->metric, "cosine, ip (inner product) or l2")
      ->capture_default_str();
  verb->add_option("--engine", arguments->engine, "auto or one of: rulerank engines")
      ->capture_default_str();
  verb->add_option("--group", arguments->group, "fish: queries of a launch")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31).description(""))
      ->capture_default_str();
  verb->add_option("--balance", arguments->balance,
                   "fish: postings dealt to threads evenly (inter), or a term to a block (intra)")
      ->capture_default_str();
  verb->add_option("--out", arguments->out,
                   "Lines of query, rank, document, similarity or distance")
      ->type_name("FILE")
      ->capture_default_str();
  verb->add_option("--run", arguments->run, "The same as a TREC run")->type_name("FILE");
  verb->add_option("--tag", arguments->tag, "Last column of the run")->capture_default_str();
  verb->add_option("--votes", arguments->votes,
                   "Classify the queries by their neighbours' labels: majority or similarity");
  verb->add_option("--classes", arguments->classes, "Lines of query, label, class voted for")
      ->type_name("FILE");
  arguments->text.vectors = true;
  arguments->text.add_reading_to(*verb);
  arguments->text.add_index_to(*verb);
}

}  // namespace

void add_search(CLI::App& program, session& owner) {
  CLI::App* const search = program.add_subcommand("search", "Find the nearest neighbours, exactly");
  search->require_subcommand(1);
  add_text(*search, owner);
}

}  // namespace rulerank::apps
