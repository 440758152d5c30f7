#pragma once

#include "apps/shared/search/neighbour_output.hpp"
#include "apps/shared/search/over_ranks.hpp"
#include "apps/shared/session/session.hpp"
#include "core/engine_registry.hpp"
#include "knn/searched_collection.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Shared by `search text`, `search dense` and `search metric`.
namespace rulerank::inline v0::apps {

/// The options of every search.
struct search_arguments {
  std::string collection, index, queries;
  knn::search_request request;
  std::string metric = "l2", engine = "auto";
  std::string filter, out = "-", run, tag = "rulerank";
  std::string votes, classes;  ///< of text and dense rows
  bool leave_out_self = false;
  over_ranks_argument over_ranks;

  /// Adds --collection, --index, --queries, --k and --leave-out-self. `forms`, `queries`: help on
  /// the collection and the queries. `type`: the paths' type, such as FILE.
  void add_sources_to(CLI::App& verb, std::string const& forms, std::string const& queries,
                      std::string const& type);
  /// Adds --filter. `items`: what it lists, for the help.
  void add_filter_to(CLI::App& verb, std::string const& items);
  /// Adds --out, --run and --tag. `lines`: the content of --out, for the help.
  void add_outputs_to(CLI::App& verb, std::string const& lines);
  void add_votes_to(CLI::App& verb);
  void add_classes_to(CLI::App& verb);

  /// Throw `usage_error` without a collection and an index, and without queries and an index to
  /// make. `items`, `otherwise`: for the message.
  void expect_source(std::string_view items) const;
  void expect_work(std::string_view otherwise) const;
  /// Throws `usage_error` if --index is standard input, and for given options that do not apply to
  /// an existing index. `what`: the predicate of the reason, such as "exists already".
  void check_index(CLI::App const& verb, std::vector<std::string> const& names,
                   std::string_view what) const;
  /// Throws `usage_error` for conflicting outputs.
  void check_outputs(CLI::App const& verb) const;
  /// The request of the search: --leave-out-self adds one neighbour to --k.
  knn::search_request wanted() const;
};

/// Throws `usage_error` for given options with these names. `beside`: what they conflict with.
void refuse_options(CLI::App const& verb, std::vector<std::string> const& names,
                    std::string_view beside);

/// The body of a verb: checks the arguments, then runs its `Search`.
template <class Search, class Arguments>
void run_search(session& owner, Arguments& arguments, CLI::App const& verb) {
  check_usage(arguments, verb);
  Search(owner, arguments).run();
}

/// One call of a search. The constructor registers all files before any is read or written.
class search_run {
 public:
  /// `inputs`, `outputs`: those besides --collection and --queries, --out, --run and --classes.
  search_run(session& owner, search_arguments const& arguments,
             std::vector<session::named_input> const& inputs,
             std::vector<session::named_output> const& outputs = {});

  /// Whether this process holds only a part of the collection (splits_collection), and whether
  /// --index names parts.
  struct parts {
    bool is_split = false, are_made = false;
    explicit operator bool() const { return is_split || are_made; }
  };
  /// `memory_a_byte`: bytes of memory that the search needs per byte of the collection.
  /// `whole_for`: an option that prevents splitting the collection; empty: none. Throws
  /// `usage_error` for parts if the engine does not search them; `expected`: the engines that do.
  parts find_parts(double memory_a_byte, bool searches_parts, std::string_view expected,
                   std::string const& whole_for = {}) const;

  /// Reads --filter, which restricts the search. `item`: a noun such as "a row". Items have ids or,
  /// with `has_numbers`, numbers. All processes must call it together.
  void read_filter(knn::item_collection const& items, std::string_view item, bool has_numbers);
  /// Throws `usage_error` if the device was requested and the engine does not run on it.
  void expect_device_for(auto const& engines, auto which) const {
    auto const& engine = *find_engine(engines, which);
    owner_.expect_device_for(engine.name, engine.where);
  }
  /// Opens the output of the lines.
  neighbour_files open_output() const;
  /// Makes an output omit the query's own item, with --leave-out-self.
  void leave_out_self(neighbour_files& output) const;
  /// Searches with the session's context, or another.
  void search(knn::searched_collection& collection, neighbour_files& output,
              context const* ctx = nullptr) const;
  /// Commits the outputs, then reports how many queries were searched in how many `items`, such as
  /// "row". `summarize`: called in between.
  void finish(
      neighbour_files& output, std::size_t queries, std::size_t items, std::string_view item,
      std::function<void()> const& summarize = [] {});
  /// Adds the radius or the k of a collection of `items` to the summary.
  void add_request(std::size_t items);
  /// Adds the summary to the manifest, and prints it with --json.
  void print();

  nlohmann::ordered_json summary = nlohmann::ordered_json::object();

 private:
  session& owner_;
  search_arguments const& arguments_;
  std::optional<std::vector<std::uint64_t>> filter_;
};

}  // namespace rulerank::apps
