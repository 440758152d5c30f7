#include "apps/shared/arguments/view_arguments.hpp"

#include "apps/shared/arguments/text_arguments.hpp"
#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "datasets/item_words.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void view_arguments::add_to(CLI::App& verb) {
  help_group const group(verb, "What labellers see");
  path_option(verb, "--show DOCS", show,
              "The documents' texts, a collection as `search text` reads it");
  path_option(verb, "--topics TOPICS", topics, "The queries' texts, whose ids are the qids");
  word_option(verb, "--show-format", format, text_formats(false), "Form of --show");
  verb.add_flag("--labels", labels, "tsv: lines are id, label, text; topics too");
  add_fields_to(verb, text_fields, query_fields, id_field, encoding);
  // CLI11 would count into an optional bool, and so set it where the flag is not given.
  verb.add_flag_function(
      "--number-by-position", [this](std::int64_t given) { number_by_position = given > 0; },
      "cranfield: ids are 1, 2, ... instead of the .I numbers, with =false these; topics too; "
      "default: as the pool was made");
  verb.add_flag("--other-texts", other_texts,
                "Show texts though they are not those that the pool was made of");
  add_stemmer_to(verb, stemmer, "Which words are marked as the query's");
  path_option(verb, "--names", names, "Lines of a feature's number and its name");
  number_option(verb, "--max-label", max_label, "Largest label that is taken", {0, 1'000'000});
  number_option(verb, "--neighbours", neighbours, "Nearest labelled documents that are shown");
}

void page_arguments::add_to(CLI::App& verb) {
  value_option(
      verb, "--label-names NAME,...", label_names,
      "Names of the labels 0, 1, ..., such as 'not relevant,relevant'; the last is that of "
      "the largest label")
      ->excludes(verb.get_option("--max-label"));
  path_option(verb, "--guidelines FILE", guidelines,
              "Text for the labellers, such as what each label means");
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
