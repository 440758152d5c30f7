#include "apps/shared/search/search_driver.hpp"

#include "apps/shared/arguments/text_arguments.hpp"
#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "knn/item_filter.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void search_arguments::add_sources_to(CLI::App& verb, std::string const& forms,
                                      std::string const& of_queries, std::string const& type) {
  runs_over_ranks(verb);
  {
    help_group const group(verb, input_group);
    path_option(verb, "--collection", collection, forms)->type_name(type);
    path_option(verb, "--queries", queries, of_queries)->type_name(type);
    path_option(verb, "--index", index,
                "With --collection: index file to write; without: index file to search");
  }
  help_group const group(verb, "Search");
  number_option(verb, "--k", request.k, "Number of neighbours of a query",
                {1, std::size_t{1} << 40});
  verb.add_flag("--leave-out-self", leave_out_self,
                "Exclude the item whose id is the query's, if the collection is its own queries");
}

void search_arguments::add_filter_to(CLI::App& verb, std::string const& items) {
  path_option(verb, "--filter", filter, items)->group("Search");
}

void search_arguments::add_outputs_to(CLI::App& verb, std::string const& lines) {
  help_group const group(verb, output_group);
  path_option(verb, "--out", out, lines);
  path_option(verb, "--run", run, "Output file of the neighbours as a TREC run");
  value_option(verb, "--tag WORD", tag, "Last column of the run");
}

void search_arguments::add_votes_to(CLI::App& verb) {
  value_option(verb, "--votes majority|similarity", votes,
               "Classify the queries by their neighbours' labels: one vote each, or votes weighted "
               "by similarity")
      ->group("Classes");
}

void search_arguments::add_classes_to(CLI::App& verb) {
  path_option(verb, "--classes", classes,
              "Output file of the classes: lines of query, label and predicted class")
      ->group("Classes");
}

knn::search_request search_arguments::wanted() const {
  knn::search_request more = request;
  if (leave_out_self) ++more.k;
  return more;
}

void refuse_options(CLI::App const& verb, std::vector<std::string> const& names,
                    std::string_view beside) {
  for (std::string const& name : names)
    if (verb.count(name) > 0) throw usage_error(fmt::format("{} {}", name, beside));
}

void search_arguments::expect_source(std::string_view items) const {
  if (collection.empty() && index.empty())
    throw usage_error(fmt::format("found no {}, expected --collection or --index", items));
}

void search_arguments::expect_work(std::string_view otherwise) const {
  if (queries.empty() && (index.empty() || collection.empty()))
    throw usage_error(fmt::format("nothing to do, expected --queries, or {}",
                                  index.empty()
                                      ? "--index to write the index to"
                                      : fmt::format("--collection to index{}", otherwise)));
}

void search_arguments::check_index(CLI::App const& verb, std::vector<std::string> const& names,
                                   std::string_view what) const {
  if (index == "-") throw usage_error("--index: found standard input (-), expected a file");
  if (!collection.empty()) return;
  refuse_options(verb, names,
                 fmt::format("cannot be combined with --index without --collection, because the "
                             "index {}",
                             what));
}

void search_arguments::check_outputs(CLI::App const& verb) const {
  if (run.empty()) refuse_options(verb, {"--tag"}, "needs --run, whose last column it sets");
  if (leave_out_self && !votes.empty())
    throw usage_error(
        "--leave-out-self cannot be combined with --votes, which counts all neighbours");
}

search_run::search_run(session& owner, search_arguments const& arguments,
                       std::vector<session::named_input> const& inputs,
                       std::vector<session::named_output> const& outputs)
    : owner_(owner), arguments_(arguments) {
  std::string const part = part_written(owner, arguments.collection, arguments.index);
  std::vector<session::named_input> all_inputs{{"--collection", arguments.collection},
                                               {"--queries", arguments.queries},
                                               {"--filter", arguments.filter}};
  all_inputs.insert(all_inputs.end(), inputs.begin(), inputs.end());
  owner.inputs(all_inputs);
  std::vector<session::named_output> all_outputs;
  if (!arguments.queries.empty()) {
    all_outputs = {{"--out", arguments.out}};
    all_outputs.insert(all_outputs.end(), outputs.begin(), outputs.end());
    all_outputs.push_back({"--run", arguments.run});
    all_outputs.push_back({"--classes", arguments.classes});
  }
  if (!arguments.collection.empty()) {
    all_outputs.push_back({"--index", arguments.index});
    all_outputs.push_back({"--index", part});
  }
  owner.outputs(all_outputs, {}, "--out");
  for (session::named_input const& input : all_inputs) owner.input(input.path);
  expect_outside(owner, all_inputs, all_outputs);
  if (arguments.collection.empty()) owner.index(arguments.index);
}

search_run::parts search_run::find_parts(double memory_a_byte, bool searches_parts,
                                         std::string_view expected,
                                         std::string const& whole_for) const {
  searched_paths const paths{arguments_.collection, arguments_.index, memory_a_byte, whole_for};
  parts const found{splits_collection(owner_, arguments_.over_ranks, paths), opens_parts(paths)};
  if (found && !searches_parts)
    throw usage_error(fmt::format("--engine {} cannot search a collection in parts, expected {}",
                                  arguments_.engine, expected));
  return found;
}

void search_run::read_filter(knn::item_collection const& items, std::string_view item,
                             bool has_numbers) {
  if (!arguments_.filter.empty())
    filter_ = knn::read_filter(owner_.ctx(), arguments_.filter, items, item, has_numbers);
}

neighbour_files search_run::open_output() const {
  neighbour_files output(owner_, arguments_.out, arguments_.run, arguments_.tag);
  leave_out_self(output);
  return output;
}

void search_run::leave_out_self(neighbour_files& output) const {
  if (!arguments_.leave_out_self) return;
  output.leave_out_self(arguments_.request.radius ? std::numeric_limits<std::size_t>::max()
                                                  : arguments_.request.k);
}

void search_run::search(knn::searched_collection& collection, neighbour_files& output,
                        context const* other) const {
  context const& ctx = other != nullptr ? *other : owner_.ctx();
  if (filter_) collection.keep_only(*filter_);
  knn::search_in_batches(
      ctx, collection, arguments_.wanted(), collection.limits(ctx), output,
      [&](std::size_t tasks, process_group::task_fn const& task,
          process_group::keep_fn const& keep) { return owner_.deal(tasks, task, keep); });
}

void search_run::finish(neighbour_files& output, std::size_t queries, std::size_t items,
                        std::string_view item, std::function<void()> const& summarize) {
  output.flush();
  owner_.meet();
  output.commit();
  summarize();
  if (arguments_.out != "-")
    owner_.say(fmt::format("searched {} in {}; wrote the neighbours to {}",
                           counted(queries, "query", "queries"), counted(items, item),
                           arguments_.out));
  if (auto const most = output.fewer_than(arguments_.request.k);
      most && queries > 0 && !arguments_.request.radius)
    owner_.say(fmt::format("every query has fewer than --k results: at most {}", *most));
  if (output.votes() == nullptr) return;
  auto const quality = output.votes()->quality();
  if (quality.queries == 0) return;
  summary["accuracy"] = quality.accuracy;
  summary["micro_f1"] = quality.micro_f1;
  summary["macro_f1"] = quality.macro_f1;
  owner_.say(fmt::format("accuracy {:.4f}, macro-F1 {:.4f} over {}", quality.accuracy,
                         quality.macro_f1, counted(quality.queries, "query", "queries")));
}

void search_run::add_request(std::size_t items) {
  if (arguments_.request.radius)
    summary["radius"] = *arguments_.request.radius;
  else
    summary["k"] = std::min(arguments_.request.k, items);
}

void search_run::print() {
  for (auto const& [key, value] : summary.items()) owner_.note(key, value);
  if (!owner_.prints_json()) return;
  summary["seconds"] = owner_.timings();
  write_file("-", json_text_of(summary));
}

}  // namespace rulerank::apps
