#include "apps/shared/arguments/view_arguments.hpp"

#include "apps/shared/arguments/text_arguments.hpp"
#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "core/named_values.hpp"
#include "datasets/item_words.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void view_arguments::add_to(CLI::App& verb) {
  help_group const group(verb, "What labellers see");
  path_option(verb, "--show DOCS", show,
              "Texts of the documents, in a format that search text reads");
  path_option(verb, "--topics TOPICS", topics, "Texts of the queries; their ids are the qids");
  word_option(verb, "--show-format NAME", format, text_formats(false),
              "Format of --show and --topics: " +
                  list_of_names(text_formats(false), name_list::alternatives));
  verb.add_flag("--labels", labels, "tsv: lines of documents and queries are id, label and text");
  add_fields_to(verb, text_fields, query_fields, id_field, encoding);
  // For an optional bool, CLI11 would count occurrences, and so set it even if the flag is not
  // given.
  verb.add_flag_function(
      "--number-by-position", [this](std::int64_t given) { number_by_position = given > 0; },
      "cranfield: ids are the positions 1, 2, ...; with =false the numbers after .I (default: as "
      "in the pool)");
  verb.add_flag("--other-texts", other_texts,
                "Accept texts that are not those that the pool was made from");
  add_stemmer_to(verb, stemmer, "Language of the words, for marking the query's words");
  path_option(verb, "--names", names, "Names of features: lines of a number and a name");
  number_option(verb, "--max-label", max_label, "Largest label that labellers can give",
                {0, 1'000'000});
  number_option(verb, "--neighbours", neighbours,
                "Number of nearest labelled documents to show with a document");
}

std::vector<std::string> parse_label_names(std::string const& text) {
  std::vector<std::string> names = split_list(text);
  if (std::ranges::any_of(names, &std::string::empty))
    throw usage_error("--label-names: found an empty name, expected names between commas");
  if (std::set<std::string>(names.begin(), names.end()).size() <
      std::max<std::size_t>(2, names.size()))
    throw usage_error(
        fmt::format("--label-names: found '{}', expected two or more different names", text));
  return names;
}

std::vector<std::string> page_arguments::names() const {
  if (label_names.empty()) return {};
  std::vector<std::string> names = parse_label_names(label_names);
  for (std::size_t label = 0; label < names.size(); ++label)
    if (names[label].find_first_not_of("0123456789") == std::string::npos &&
        names[label] != std::to_string(label))
      throw usage_error(
          fmt::format("--label-names: found '{}' as name of the label {}, expected a "
                      "word or the label itself",
                      names[label], label));
  return names;
}

void page_arguments::add_to(CLI::App& verb) {
  help_group const group(verb, "What labellers see");
  value_option(verb, "--label-names NAME,...", label_names,
               "Names of the labels 0, 1, ... up to the largest one, such as 'not "
               "relevant,relevant'")
      ->excludes(verb.get_option("--max-label"));
  path_option(verb, "--guidelines FILE", guidelines,
              "Text for the labellers, such as the meaning of each label");
}

void view_arguments::check() const {
  if (show.empty() != topics.empty())
    throw usage_error(show.empty() ? "--topics needs --show, the texts of the documents"
                                   : "--show needs --topics, the texts of the queries");
  if (!show.empty()) return;
  for (auto const& [name, given] :
       {std::pair("--labels", labels), std::pair("--number-by-position", bool(number_by_position)),
        std::pair("--other-texts", other_texts)})
    if (given) throw usage_error(fmt::format("{} needs --show and --topics", name));
}

std::vector<session::named_input> view_arguments::files() const {
  return {{"--show", show}, {"--topics", topics}, {"--names", names}};
}

pool_views make_views(session& owner, view_arguments const& arguments, label_pool const& pool) {
  pool_views made;
  if (!arguments.show.empty()) {
    auto const timer = owner.stage("texts");
    labelling::text_sources sources;
    sources.documents = owner.input(arguments.show);
    sources.topics = owner.input(arguments.topics);
    sources.format = value_named<datasets::text_format>(text_formats(false), arguments.format);
    sources.words.stemmer = arguments.stemmer;
    sources.labels = arguments.labels;
    sources.text_fields = arguments.text_fields;
    sources.query_fields = arguments.query_fields;
    sources.id_field = arguments.id_field;
    sources.encoding = arguments.encoding;
    sources.number_by_position = arguments.number_by_position;
    sources.other_texts = arguments.other_texts;
    made.texts = std::make_unique<labelling::document_texts>(owner.ctx(), pool.train, sources);
    for (auto const& [by_position, path] :
         {std::pair(made.texts->queries_found_by_position(), arguments.topics),
          std::pair(made.texts->documents_found_by_position(), arguments.show)})
      if (by_position)
        owner.say(fmt::format("{}: numbered by position, because {} is", path, pool.train.name));
    if (std::size_t const missing = made.texts->documents_missing(); missing > 0)
      owner.warn(fmt::format("{} of {} of {} not in {}", missing,
                             counted(pool.train.size(), "document"),
                             pool.train.name + (missing == 1 ? " is" : " are"), arguments.show));
    if (std::size_t const missing = made.texts->queries_missing(); missing > 0)
      owner.warn(fmt::format("{} of {} of {} not in {}", missing,
                             counted(pool.train.queries.size(), "query", "queries"),
                             pool.train.name + (missing == 1 ? " is" : " are"), arguments.topics));
  }
  labelling::question_views::sources what{.pool = pool.train,
                                          .binned = pool.binned,
                                          .cuts = pool.cuts,
                                          .names = pool.cuts.names,
                                          .texts = made.texts.get(),
                                          .neighbours = arguments.neighbours};
  if (!arguments.names.empty())
    what.names = datasets::read_feature_names(owner.ctx(), owner.input(arguments.names));
  made.views = std::make_unique<labelling::question_views>(owner.ctx(), std::move(what));
  return made;
}

}  // namespace rulerank::apps
