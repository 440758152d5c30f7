#include "knn/sparse/search.hpp"

#include "apps/shared/corrections.hpp"
#include "apps/shared/device_rule.hpp"
#include "apps/shared/neighbour_output.hpp"
#include "apps/shared/over_ranks.hpp"
#include "apps/shared/text_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/even_shares.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "core/process_group.hpp"
#include "datasets/text_source.hpp"
#include "mpi/agreement.hpp"
#include "mpi/collection_split.hpp"
#include "mpi/index_parts.hpp"
#include "mpi/split.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace rulerank::apps {
namespace {

struct search_text_arguments : neighbour_paths {
  std::string collection;
  std::string queries;
  std::string index;
  std::string metric = "auto";
  std::string engine = "auto";
  std::string votes;
  std::string classes;
  std::size_t k = 30;
  bool pad = false;
  bool correct = false;
  std::size_t group = 1;
  std::string balance = "inter";
  text_arguments text;
  over_ranks_argument over_ranks;
};

/// Memory of an index that is made, for a byte of text (bench/results/2026-11-25-cluster-memory).
constexpr double index_bytes_a_byte = 12;

/// The documents that are searched: all of them in one index, or in parts.
struct searched_documents {
  std::vector<knn::text_index> parts;  ///< of this rank
  std::size_t documents = 0;           ///< of all ranks
  std::size_t postings = 0;            ///< likewise
  bool is_split = false;               ///< other ranks have the other parts

  bool is_whole() const { return !is_split && parts.size() == 1; }

  /// Where the document is here: what `use` makes of its part and its number there.
  template <class Use>
  std::optional<std::string> with(std::uint32_t document, Use const& use) const {
    for (knn::text_index const& part : parts) {
      std::uint64_t const first = part.first_document();
      if (document >= first && document - first < part.ids().size())
        return std::string(use(part, static_cast<std::size_t>(document - first)));
    }
    return std::nullopt;
  }
  std::optional<std::string> id_of(std::uint32_t document) const {
    return with(document, [](knn::text_index const& of, std::size_t d) { return of.ids()[d]; });
  }
};

/// The labels of all documents, by their numbers. All ranks call it together.
std::vector<std::string> labels_of(mpi::communicator const& ranks,
                                   searched_documents const& searched) {
  std::vector<std::pair<std::uint64_t, std::string>> all;
  for (knn::text_index const& part : searched.parts)
    for (std::size_t d = 0; d < part.ids().size(); ++d)
      all.emplace_back(part.first_document() + d, part.label(d));
  if (searched.is_split) all = join(ranks, all);
  std::vector<std::string> labels(searched.documents);
  for (auto& [document, label] : all) labels[document] = std::move(label);
  return labels;
}

/// The parts of an index that were made over ranks: this rank's, or all.
searched_documents open_parts(session& owner, std::string const& path, bool is_split) {
  auto const timer = owner.stage("open");
  mpi::communicator const& ranks = owner.ranks();
  auto const all = mpi::read_index_parts(path, "text");
  searched_documents opened;
  opened.documents = all.items;
  opened.is_split = is_split;
  for (mpi::index_part const& part :
       is_split ? mpi::parts_of(all, ranks.rank(), ranks.size()) : mpi::parts_of(all, 0, 1)) {
    mpi::expect_part(part);
    opened.parts.push_back(knn::text_index::open_part(owner.ctx(), part.path));
    mpi::expect_items(part, opened.parts.back().ids().size());
    opened.postings += opened.parts.back().index().postings();
  }
  if (is_split) opened.postings = mpi::sum(ranks, opened.postings);
  return opened;
}

knn::text_index build(session& owner, search_text_arguments const& arguments);

/// This rank's part of the collection, which is kept where that is asked for.
searched_documents build_part(session& owner, search_text_arguments const& arguments,
                              std::string const& part_path) {
  mpi::communicator const& ranks = owner.ranks();
  searched_documents built;
  built.is_split = true;
  knn::text_index_options options = arguments.text.options(owner);
  options.dictionary = arguments.correct;
  if (arguments.index.empty()) {
    auto const timer = owner.stage("index");
    built.parts.push_back(
        knn::text_index::build_part(owner.ctx(), arguments.collection, options, ranks));
    built.documents = built.parts[0].statistics().documents;
    built.postings = mpi::sum(ranks, built.parts[0].index().postings());
    return built;
  }
  {
    auto const timer = owner.stage("index");
    output_file file(part_path);
    knn::text_index::build_part(owner.ctx(), arguments.collection, options, ranks, file);
    owner.meet();
    file.commit();
  }
  std::size_t const items = knn::text_index::open_part(owner.ctx(), part_path).ids().size();
  mpi::write_index_parts(ranks, arguments.index, "text", items);
  return open_parts(owner, arguments.index, true);
}

searched_documents prepare(session& owner, search_text_arguments const& arguments,
                           std::string const& part_path) {
  searched_paths paths{arguments.collection, arguments.index, index_bytes_a_byte, {}};
  if (arguments.text.format == "svmlight") paths.whole_for = "--collection-format svmlight";
  bool const is_split = splits_collection(owner, arguments.over_ranks, paths);
  bool const are_parts = opens_parts(paths);
  if ((is_split || are_parts) && arguments.engine != "auto" && arguments.engine != "tiles" &&
      arguments.engine != "mt")
    throw usage_error(fmt::format("--engine {} of a collection in parts, expected tiles or mt",
                                  arguments.engine));
  if (are_parts) return open_parts(owner, arguments.index, is_split);
  if (is_split) return build_part(owner, arguments, part_path);
  searched_documents whole;
  whole.parts.push_back(build(owner, arguments));
  whole.documents = whole.parts[0].ids().size();
  whole.postings = whole.parts[0].index().postings();
  return whole;
}

/// The index of all documents, or the one that was kept.
knn::text_index build(session& owner, search_text_arguments const& arguments) {
  if (arguments.collection.empty()) {
    auto const timer = owner.stage("open");
    // Whoever maps the same file needs no checksum that another one has compared.
    context const& ctx = owner.ctx();
    return knn::text_index::open(
        mpi::find_one_file(owner.ranks(), arguments.index) ? ctx : without_processes(ctx),
        arguments.index);
  }
  auto const timer = owner.stage("index");
  knn::text_index_options options = arguments.text.options(owner);
  options.dictionary = arguments.correct;
  auto const note_times = [&](knn::text_index_timings const& timings) {
    owner.took("read", timings.read_s);
    owner.took("weigh", timings.weigh_s);
  };
  if (arguments.index.empty()) {
    auto index = knn::text_index::build(owner.ctx(), arguments.collection, options);
    note_times(index.timings());
    return index;
  }
  {
    output_file file(arguments.index);
    note_times(knn::text_index::build(owner.ctx(), arguments.collection, options, file));
    file.commit();
  }
  return knn::text_index::open(without_processes(owner.ctx()), arguments.index);
}

/// What corrects the queries, or none. Throws `error` for an index file without a dictionary.
std::optional<knn::spelling_corrector> corrector_of(session& owner,
                                                    search_text_arguments const& arguments,
                                                    knn::text_index const& index) {
  if (!arguments.correct) return std::nullopt;
  if (!index.dictionary()) {
    if (knn::holds_vectors(index.options()))
      throw usage_error("--correct: the index holds vectors, and there are no words");
    throw error({arguments.index, 1, 1},
                fmt::format("found an index without the words that --correct needs, expected one "
                            "made by `rulerank search text --collection DOCS --index {} --correct`",
                            arguments.index));
  }
  auto const timer = owner.stage("dictionary");
  return std::make_optional<knn::spelling_corrector>(owner.ctx(), index);
}

/// Throws `error` for a query that tf-idf gives a weight beyond what the search takes.
void expect_weights(knn::sparse_rows const& rows, std::span<datasets::text_document const> queries,
                    std::string const& path) {
  for (std::size_t q = 0; q < rows.size(); ++q)
    for (double const weight : rows[q].weight)
      if (std::abs(weight) > knn::largest_weight)
        throw error(
            {datasets::display_name(path), 0, 0},
            fmt::format("found a value of query {} that tf-idf makes {}, expected at most {}",
                        rulerank::quoted(queries[q].id), weight, knn::largest_weight));
}

/// The form of the queries: what is asked for, if the index has such terms.
datasets::text_format format_of_queries(knn::text_index const& index, datasets::text_format asked) {
  using enum datasets::text_format;
  if (knn::holds_vectors(index.options())) {
    if (asked != svmlight && asked != automatic)
      throw usage_error("--collection-format: the index holds vectors, expected svmlight");
    return svmlight;
  }
  if (asked == svmlight)
    throw usage_error(
        "--collection-format: found 'svmlight', and the index holds documents of words");
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
        throw usage_error(
            fmt::format("{} beside --collection-format svmlight: there are no words", name));
  arguments.text.check_weights(verb);
  if (arguments.text.weights != "bm25")
    for (char const* const name : {"--k1", "--b"})
      if (verb.count(name) > 0) throw usage_error(fmt::format("{} without --weights bm25", name));
  if (arguments.queries.empty())
    for (char const* const name :
         {"--out", "--run", "--tag", "--votes", "--classes", "--k", "--pad", "--metric", "--engine",
          "--launch-queries", "--balance"})
      if (verb.count(name) > 0) throw usage_error(fmt::format("{} without --queries", name));
  if (arguments.engine != "fish")
    for (char const* const name : {"--launch-queries", "--balance"})
      if (verb.count(name) > 0)
        throw usage_error(
            fmt::format("{} beside --engine {}, expected --engine fish", name, arguments.engine));
  if (!arguments.classes.empty() && arguments.votes.empty())
    throw usage_error("--classes without --votes");
  if (arguments.index == "-")
    throw usage_error("--index: found -, expected a file, which is mapped and not read");
}

/// Names inputs and outputs before any is read or written.
void name_files(session& owner, search_text_arguments const& arguments, std::string const& part) {
  std::vector<session::named_input> inputs{{"--collection", arguments.collection},
                                           {"--queries", arguments.queries}};
  if (auto const list = arguments.text.stop_list()) inputs.push_back(*list);
  owner.inputs(inputs);
  std::vector<session::named_output> outputs;
  if (!arguments.queries.empty())
    outputs = {
        {"--out", arguments.out}, {"--run", arguments.run}, {"--classes", arguments.classes}};
  if (!arguments.collection.empty()) {
    outputs.push_back({"--index", arguments.index});
    outputs.push_back({"--index", part});
  }
  owner.outputs(outputs);
  for (session::named_input const& input : inputs) owner.input(input.path);
  expect_outside(owner, inputs, outputs);
  if (arguments.collection.empty()) owner.index(arguments.index);
}

/// What one call writes, query by query.
struct search_output {
  neighbour_files neighbours;
  std::optional<class_votes> votes;

  search_output(session const& owner, search_text_arguments const& arguments)
      : neighbours(owner.destination(arguments.out), owner.destination(arguments.run),
                   arguments.tag) {
    if (!arguments.votes.empty())
      votes.emplace(arguments.votes, owner.destination(arguments.classes));
  }
  void commit(session const& owner) {
    neighbours.flush();
    if (votes) votes->flush();
    owner.meet();
    neighbours.commit();
    if (votes) votes->commit();
  }
};

using searchers = std::vector<knn::sparse_searcher>;  // of the parts, in their order

/// The neighbours of queries, and what each of them is called.
struct found_documents {
  knn::neighbours neighbours;
  std::vector<std::string> names;  ///< [neighbours.id]; empty: the one index has them
};

using queries_view = std::span<datasets::text_document const>;

/// Searches for batches of queries, and writes their neighbours.
class batch_search {
 public:
  batch_search(session& owner, search_text_arguments const& arguments,
               searched_documents const& searched, searchers const& with, search_output& out)
      : owner_(owner), arguments_(arguments), searched_(searched), with_(with), out_(out) {}

  /// How many queries at a time have neighbours for some 400 MB, or lines for that, which ranks
  /// that are dealt queries tell the first one.
  std::size_t together() const {
    std::size_t const neighbours = std::size_t{1} << (deals() ? 21 : 25);
    return std::clamp<std::size_t>(neighbours / k(), 1, 4096);
  }

  /// All ranks call it together, with the same queries.
  void answer(queries_view queries) {
    auto timer = std::make_optional<session::stage_timer>(owner_, "nearest");
    knn::neighbours found;
    if (deals()) {
      found = deal(queries);
    } else {
      found_documents of_all = searched_.is_split ? find_together(queries) : find(queries);
      timer.reset();
      for (std::size_t q = 0; q < queries.size(); ++q)
        out_.neighbours.write(queries[q].id, q, of_all.neighbours, names_in(of_all, q));
      found = std::move(of_all.neighbours);
    }
    if (out_.votes) out_.votes->add(queries, found);
  }

 private:
  std::size_t k() const { return std::min(arguments_.k, searched_.documents); }
  /// Whether each of several ranks has all documents.
  bool deals() const { return has_processes(owner_.ctx()) && !searched_.is_split; }

  knn::sparse_matrix weights_of(queries_view queries) const {
    knn::sparse_matrix rows = searched_.parts.front().queries(owner_.ctx(), queries);
    expect_weights(rows, queries, arguments_.queries);
    return rows;
  }

  std::vector<knn::part_neighbours> find_in_parts(queries_view queries) const {
    std::vector<knn::part_neighbours> found;
    if (with_.empty()) return found;  // a rank without parts has no terms either
    knn::sparse_matrix const rows = weights_of(queries);
    for (std::size_t p = 0; p < with_.size(); ++p) {
      found.push_back(with_[p].search_part(owner_.ctx(), rows));
      mpi::renumber(found.back(), static_cast<std::uint32_t>(searched_.parts[p].first_document()));
    }
    return found;
  }

  /// Of documents all of which this rank has.
  found_documents find(queries_view queries) const {
    if (searched_.is_whole()) return {with_[0].search(owner_.ctx(), weights_of(queries)), {}};
    found_documents found{mpi::merge(find_in_parts(queries), queries.size(), k()), {}};
    for (std::uint32_t const document : found.neighbours.id)
      found.names.push_back(document == knn::no_neighbour ? std::string()
                                                          : *searched_.id_of(document));
    return found;
  }

  /// Of documents that the ranks have parts of.
  found_documents find_together(queries_view queries) const {
    mpi::communicator const& ranks = owner_.ranks();
    found_documents found{mpi::merge(ranks, find_in_parts(queries), queries.size(), k()), {}};
    found.names = mpi::names_of(ranks, found.neighbours.id,
                                [&](std::uint32_t document) { return searched_.id_of(document); });
    return found;
  }

  /// What the neighbours of the q-th query are called, in their order.
  std::vector<std::string> names_in(found_documents const& found, std::size_t q) const {
    std::vector<std::string> names;
    std::size_t const first = q * found.neighbours.k;
    for (std::size_t i = 0; i < found.neighbours.count_of(q); ++i)
      names.emplace_back(found.names.empty()
                             ? searched_.parts.front().ids()[found.neighbours.id[first + i]]
                             : std::string_view(found.names[first + i]));
    return names;
  }

  /// Deals the queries to the ranks; what votes need of all of them.
  knn::neighbours deal(queries_view queries) {
    // A search takes many queries of a thread through a tile together.
    std::size_t const least = 64 * static_cast<std::size_t>(owner_.ctx().thread_count());
    return deal_queries(owner_, queries.size(), least, out_.neighbours, [&](share some) {
      return answer_some(queries.subspan(some.begin, some.size()));
    });
  }

  dealt_neighbours answer_some(queries_view queries) const {
    dealt_neighbours some;
    found_documents found = find(queries);
    for (std::size_t q = 0; q < queries.size(); ++q)
      out_.neighbours.add(some.lines, queries[q].id, q, found.neighbours, names_in(found, q));
    if (out_.votes) some.found = std::move(found.neighbours);
    return some;
  }

  session& owner_;
  search_text_arguments const& arguments_;
  searched_documents const& searched_;
  searchers const& with_;
  search_output& out_;
};

/// Reads the queries, searches batch after batch and writes; the number of queries.
std::size_t search_queries(session& owner, search_text_arguments const& arguments,
                           searched_documents const& searched, searchers const& with,
                           datasets::text_format asked, datasets::text_options const& reading,
                           search_output& out, correction_report& corrections) {
  // A rank without parts reads the queries too, to know how many there are.
  knn::text_index const* const index = searched.parts.empty() ? nullptr : &searched.parts.front();
  datasets::text_format const format = index == nullptr ? asked : format_of_queries(*index, asked);
  std::vector<datasets::text_document> queries;
  std::size_t done = 0;
  auto const corrector = index == nullptr ? std::optional<knn::spelling_corrector>()
                                          : corrector_of(owner, arguments, *index);
  batch_search batches(owner, arguments, searched, with, out);
  auto const search = [&] {
    if (corrector) {
      auto const timer = owner.stage("correct");
      corrections.correct(owner, *corrector, queries);
    }
    batches.answer(queries);
    done += queries.size();
    owner.ctx().report("search", done, 0);
    queries.clear();
  };
  std::size_t const together = batches.together();
  auto const timer = owner.stage("search");
  datasets::read_documents(
      owner.ctx(), arguments.queries, format,
      [&](datasets::text_document&& query) {
        queries.push_back(std::move(query));
        if (queries.size() == together) search();
      },
      reading);
  search();
  return done;
}

knn::sparse_search_options search_options_of(search_text_arguments const& arguments) {
  knn::sparse_search_options options;
  options.k = arguments.k;
  options.pad = arguments.pad;
  options.metric = text_arguments::metric_from(arguments.metric, knn::similarity::cosine);
  options.engine = knn::sparse_engine_from(arguments.engine);
  options.group = arguments.group;
  options.balance = knn::load_balance_from(arguments.balance);
  return options;
}

void search_text(session& owner, search_text_arguments const& arguments, CLI::App const& verb) {
  check_usage(arguments, verb);
  std::string const part_path = part_written(owner, arguments.collection, arguments.index);
  name_files(owner, arguments, part_path);
  auto const reading = arguments.text.options(owner);
  knn::sparse_search_options options = search_options_of(arguments);
  std::optional<search_output> out;
  if (!arguments.queries.empty()) out.emplace(owner, arguments);
  searched_documents const searched = prepare(owner, arguments, part_path);
  nlohmann::ordered_json summary{{"documents", searched.documents}};
  // A rank that has no part has no say: the first one has the first.
  if (!searched.parts.empty()) {
    knn::text_index const& first = searched.parts.front();
    options.metric = text_arguments::metric_from(arguments.metric, first.options().metric);
    warn_without_terms(owner, first);
    summary["terms"] = first.terms().size();
  }
  summary["postings"] = searched.postings;
  if (out) {
    searchers with;
    {
      auto const timer = owner.stage("prepare");
      owner.choose_device(places_of(knn::sparse_engines(), options.engine),
                          search_seconds(static_cast<double>(searched.documents),
                                         bytes_ahead(arguments.queries) / bytes_a_term));
      for (knn::text_index const& part : searched.parts)
        with.emplace_back(owner.ctx(), part.index(), options);
    }
    for (knn::sparse_searcher const& one : with) {
      auto const& engine = *find_engine(knn::sparse_engines(), one.engine());
      owner.expect_device_for(engine.name, engine.where);
    }
    if (out->votes) out->votes->learn(labels_of(owner.ranks(), searched));
    correction_report corrections;
    summary["queries"] = search_queries(owner, arguments, searched, with, reading.format,
                                        reading.reading, *out, corrections);
    out->commit(owner);
    if (arguments.correct) {
      corrections.finish(owner);
      summary["corrections"] = corrections.list();
    }
    summary["k"] = std::min(arguments.k, searched.documents);
    summary["metric"] = knn::name_of(options.metric);
    if (!with.empty()) summary["engine"] = knn::name_of(with.front().engine());
    if (arguments.out != "-")
      owner.say(fmt::format("searched {} in {}, neighbours in {}",
                            counted(summary["queries"].get<std::size_t>(), "query", "queries"),
                            counted(searched.documents, "document"), arguments.out));
    if (out->votes) note_quality(owner, *out->votes, summary);
  }
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  if (owner.prints_json()) {
    summary["seconds"] = owner.timings();
    write_file("-", json_text_of(summary));
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
  runs_over_ranks(*verb);
  path_option(
      *verb, "--collection", arguments->collection,
      "Documents: TSV, JSON lines, TREC's or SMART's form, a folder, or with --collection-format "
      "svmlight vectors; - is standard input")
      ->type_name("FILE|FOLDER|-");
  path_option(*verb, "--index", arguments->index,
              "With --collection: where the index is kept; without: the index to search")
      ->type_name("FILE");
  path_option(*verb, "--queries", arguments->queries, "Queries, in a form of documents")
      ->type_name("FILE|FOLDER|-");
  number_option(*verb, "--k", arguments->k, "Neighbours of a query", {1, std::size_t{1} << 40});
  verb->add_flag("--pad", arguments->pad,
                 "Fill up to k with documents that share no term with the query");
  verb->add_flag("--correct", arguments->correct,
                 fmt::format("{}; beside --index the index keeps the words", correct_help));
  verb->add_option("--metric", arguments->metric,
                   "cosine, ip (inner product) or l2; auto: ip for bm25 and --weighting's norm n, "
                   "else cosine")
      ->capture_default_str();
  engine_option(*verb, "--engine", arguments->engine, knn::sparse_engines());
  arguments->over_ranks.add_to(*verb);
  renamed_option(*verb, "--group",
                 number_option(*verb, "--launch-queries", arguments->group,
                               "fish: queries of a launch", {1, std::size_t{1} << 31}));
  verb->add_option("--balance", arguments->balance,
                   "fish: postings dealt to threads evenly (inter), or a term to a block (intra)")
      ->capture_default_str();
  arguments->add_outputs_to(*verb, "Lines of query, rank, document, similarity or distance");
  verb->add_option("--votes", arguments->votes,
                   "Classify the queries by their neighbours' labels: majority or similarity");
  path_option(*verb, "--classes", arguments->classes, "Lines of query, label, class voted for")
      ->type_name("FILE");
  arguments->text.vectors = true;
  arguments->text.add_reading_to(*verb);
  renamed_option(*verb, "--format", verb->get_option("--collection-format"));
  arguments->text.add_index_to(*verb);
}

}  // namespace

void add_search(CLI::App& program, session& owner) {
  CLI::App* const search = program.add_subcommand("search", "Find the nearest neighbours, exactly");
  search->require_subcommand(1);
  add_text(*search, owner);
  add_search_dense(*search, owner);
  add_search_metric(*search, owner);
}

}  // namespace rulerank::apps
