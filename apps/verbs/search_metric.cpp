#include "apps/shared/options/options.hpp"
#include "apps/shared/search/search_driver.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "datasets/input/text_source.hpp"
#include "knn/metric/metric_collection.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

constexpr std::size_t checked_triples = 100000;
/// Bytes of memory for objects and their index, per byte of the objects' file
/// (bench/results/mpi/tables.md).
constexpr double objects_bytes_a_byte = 20;

struct search_metric_arguments : search_arguments {
  std::string index_type = "auto";
  std::string letters = "code-points";
  std::string schedule = "auto";
  std::size_t split = 1;
  std::size_t bucket = 0;
  double alpha = knn::metric_index_options().alpha;
  bool check_metric = false;
};

/// A stored index is meant for many queries.
constexpr std::size_t many = std::numeric_limits<std::size_t>::max();

/// The type of index to make; `automatic` if not given.
knn::metric_index_type type_of(search_metric_arguments const& arguments) {
  auto const type = knn::metric_index_type_from(arguments.index_type);
  if (type != knn::metric_index_type::automatic) return type;
  return knn::index_type_of(knn::metric_engine_from(arguments.engine));
}

/// Throws `usage_error` for options that the type of index does not use, and for unsuitable values
/// and engines, before anything is read or made.
void check_index_options(search_metric_arguments const& arguments, CLI::App const& verb) {
  if (!(arguments.alpha > 0 && arguments.alpha <= 1))
    throw usage_error(
        fmt::format("--alpha: found {}, expected a number above 0 and at most 1", arguments.alpha));
  auto const type = type_of(arguments);
  auto const searched = knn::index_type_of(knn::metric_engine_from(arguments.engine));
  if (!arguments.collection.empty() && searched != knn::metric_index_type::automatic &&
      searched != type)
    throw usage_error(
        fmt::format("--engine {} cannot search an index of type {}, expected --index-type {}",
                    arguments.engine, knn::name_of(type), knn::name_of(searched)));
  auto const refuse = [&](std::string const& name, bool is_read, auto const& reads) {
    if (is_read || verb.count(name) == 0) return;
    std::vector<std::string_view> types;
    for (auto const& entry : knn::metric_index_types())
      if (reads(entry.which)) types.push_back(entry.name);
    throw usage_error(
        fmt::format("{} has no effect on an index of type {}, expected --index-type {}", name,
                    knn::name_of(type), fmt::join(types, ", ")));
  };
  refuse("--bucket", type == knn::metric_index_type::automatic || knn::has_bucket(type),
         knn::has_bucket);
  refuse("--alpha", knn::has_alpha(type), knn::has_alpha);
}

/// Throws `usage_error` if the name of a file of words has an extension of vectors.
void expect_words(std::string_view option, std::string const& path) {
  if (auto const format = datasets::vectors_format_of_name(path))
    throw usage_error(
        fmt::format("{}: found {}, whose name says vectors ({}); expected words, one on each line",
                    option, path, datasets::name_of(*format)));
}

void check_usage(search_metric_arguments const& arguments, CLI::App const& verb) {
  arguments.expect_source("objects");
  if (arguments.queries.empty() && !arguments.check_metric &&
      (arguments.collection.empty() || arguments.index.empty()))
    throw usage_error(
        "nothing to do, expected --queries, --check-metric, or --collection and --index");
  arguments.check_index(verb,
                        {"--metric", "--index-type", "--letters", "--bucket", "--alpha", "--split"},
                        "exists already");
  if (!arguments.index.empty())
    refuse_options(verb, {"--split"}, "cannot be combined with --index, which keeps one index");
  if (arguments.split > 1)
    refuse_options(verb, {"--schedule"},
                   "cannot be combined with --split, whose parts each search all queries");
  if (arguments.queries.empty())
    refuse_options(verb,
                   {"--k", "--leave-out-self", "--radius", "--filter", "--out", "--run", "--tag",
                    "--schedule", "--split", "--engine"},
                   "needs --queries");
  arguments.check_outputs(verb);
  if (arguments.request.radius) refuse_options(verb, {"--k"}, "cannot be combined with --radius");
  if (arguments.metric != "edit") refuse_options(verb, {"--letters"}, "needs --metric edit");
  check_index_options(arguments, verb);
  if (arguments.metric == "edit") {
    expect_words("--collection", arguments.collection);
    expect_words("--queries", arguments.queries);
  }
}

/// How to search the collection.
knn::metric_search_plan plan_of(search_metric_arguments const& arguments) {
  return {.index = {.type = knn::metric_index_type_from(arguments.index_type),
                    .bucket = arguments.bucket,
                    .alpha = arguments.alpha},
          .engine = knn::metric_engine_from(arguments.engine),
          .schedule = knn::metric_schedule_from(arguments.schedule),
          .split = arguments.split,
          .is_kept = !arguments.index.empty(),
          .radius = arguments.request.radius};
}

/// One call of the verb.
class metric_search {
 public:
  metric_search(session& owner, search_metric_arguments const& arguments)
      : owner_(owner),
        arguments_(arguments),
        plan_(plan_of(arguments)),
        run_(owner, expect_one_process(owner, arguments), {}) {}

  void run() {
    std::optional<neighbour_files> out;
    if (!arguments_.queries.empty()) out.emplace(run_.open_output());
    using enum knn::metric_engine;
    auto const parts =
        run_.find_parts(objects_bytes_a_byte, plan_.engine == automatic || plan_.engine == index,
                        knn::name_of(index));
    if (parts && arguments_.check_metric)
      throw usage_error(
          "--check-metric cannot check a collection in parts, because no rank has all objects");
    if (parts && !owner_.ctx().devices.empty())
      throw usage_error("a collection in parts needs --device cpu");
    knn::metric_collection objects = prepare(parts);
    auto& summary = run_.summary;
    summary["objects"] = objects.size();
    if (objects.has_parts()) {
      summary["metric"] = knn::name_of(objects.first_objects().which());
      summary["index_type"] = knn::name_of(objects.first_type());
    }
    summary["build_evaluations"] = parts.is_split ? sum(owner_.ranks(), objects.build_evaluations())
                                                  : objects.build_evaluations();
    if (arguments_.check_metric) check(objects.first_objects());
    if (out) search(objects, *out);
    run_.print();
  }

 private:
  /// Throws, before files are registered, for options that need a single process.
  static search_metric_arguments const& expect_one_process(
      session& owner, search_metric_arguments const& arguments) {
    if (arguments.split > 1) owner.expect_one_process("--split");
    return arguments;
  }

  knn::metric_part read_objects(bool is_split) {
    auto const timer = owner_.stage("read");
    return knn::read_metric_part(owner_.ctx(), arguments_.collection,
                                 knn::metric_distance_from(arguments_.metric),
                                 knn::letters_from(arguments_.letters), is_split,
                                 [this](std::string const& what) { owner_.warn(what); });
  }
  knn::metric_asked read_queries(knn::metric_objects const& among) const {
    if (among.words) expect_words("--queries", arguments_.queries);
    return knn::read_metric_queries(owner_.ctx(), among, arguments_.queries,
                                    [this](std::string const& what) { owner_.warn(what); });
  }

  /// Opens the existing index, or makes one of the objects and stores it if requested. With a
  /// collection in parts, each rank has some objects and searches on the CPU.
  knn::metric_collection prepare(search_run::parts parts) {
    context const& ctx = owner_.ctx();
    if (arguments_.collection.empty()) {
      auto const timer = owner_.stage("open");
      auto opened = knn::metric_collection::open(ctx, arguments_.index, parts.is_split);
      if (parts) return opened;
      if (!arguments_.queries.empty()) asked_ = read_queries(opened.first_objects());
      choose_gpus(opened.first_objects(), opened.first_type());
      return opened;
    }
    auto [objects, first, all] = read_objects(parts.is_split);
    if (!parts && !arguments_.queries.empty()) asked_ = read_queries(objects);
    bool const on_gpus = !parts && choose_gpus(objects, plan_.index.type);
    bool const is_kept = plan_.is_kept || !asked_;
    auto const options = index_options(objects, is_kept ? many : knn::size_of(*asked_), on_gpus);
    auto const timer = owner_.stage("index");
    auto made = parts
                    ? knn::metric_collection::of_part(ctx, std::move(objects), options, first, all)
                    : knn::metric_collection(ctx, std::move(objects), options, arguments_.split);
    if (!arguments_.index.empty()) made.save(ctx, arguments_.index);
    return made;
  }

  /// Starts the GPUs if requested or worthwhile, and returns whether they do the search. `type`: of
  /// the index; `automatic` if the engine may choose.
  bool choose_gpus(knn::metric_objects const& objects, knn::metric_index_type type) {
    if (arguments_.queries.empty()) return false;
    if (plan_.engine != knn::metric_engine::automatic) {
      runs_on const where = places_of(knn::metric_engines(), plan_.engine);
      owner_.choose_device(where, 0);
      owner_.expect_device_for(arguments_.engine, where);
      choose_engine(knn::metric_engines(), plan_.engine, owner_.ctx());
    } else if (knn::may_choose_gpus(plan_, objects, type)) {
      auto const work = knn::search_seconds_of(plan_, objects, asked_ ? knn::size_of(*asked_) : 0);
      owner_.choose_device(places_of(knn::metric_engines(), plan_.engine), work.thread_s,
                           work.gpu_s);
    }
    if (!knn::is_on_gpus(objects.which(), type))
      owner_.expect_device_for(fmt::format("index, of type {} under {},", knn::name_of(type),
                                           knn::name_of(objects.which())),
                               runs_on::cpu);
    if (owner_.ctx().devices.empty()) return false;
    if (arguments_.split > 1)
      throw usage_error("--split cannot run on GPUs, expected --device cpu");
    if (arguments_.schedule != "auto")
      throw usage_error("--schedule cannot run on GPUs, where --engine sets how to search");
    return true;
  }

  /// How to make an index for this many queries. Reports and records the choice for `auto`.
  knn::metric_index_options index_options(knn::metric_objects const& objects, std::size_t queries,
                                          bool on_gpus) {
    plan_.index.queries = queries;
    auto const choice = knn::choose_index(plan_, objects, on_gpus);
    if (!choice.reason.empty()) {
      run_.summary["reason"] = choice.reason;
      owner_.say(fmt::format("index type {}: {}", knn::name_of(choice.type), choice.reason));
    }
    knn::metric_index_options options = plan_.index;
    options.type = choice.type;
    return options;
  }

  /// Throws `error` naming objects whose distances violate the metric axioms.
  void check(knn::metric_objects const& objects) {
    auto const timer = owner_.stage("check");
    std::string const& path =
        arguments_.collection.empty() ? arguments_.index : arguments_.collection;
    if (auto const breach = knn::check_metric(owner_.ctx(), *objects.space(), checked_triples))
      throw error({datasets::display_name(path), 0, 0},
                  fmt::format("found distances that are not a metric: {}", breach->what));
    owner_.say(fmt::format("{} had no distance that violates the triangle inequality",
                           counted(checked_triples, "random triple")));
    run_.summary["checked_triples"] = checked_triples;
  }

  void search(knn::metric_collection& objects, neighbour_files& out) {
    auto& summary = run_.summary;
    bool const on_gpus = !owner_.ctx().devices.empty();
    if (!asked_ && objects.has_parts()) asked_ = read_queries(objects.first_objects());
    knn::metric_collection_work work;
    if (on_gpus) {
      owner_.expect_one_process("search metric on GPUs");
      auto const timer = owner_.stage("copy");
      objects.copy_to_gpus(owner_.ctx(), plan_.engine);
    }
    knn::metric_search asked(owner_.ctx(), objects, asked_, {plan_.schedule}, &work);
    run_.read_filter(objects, "an object", true);
    std::size_t const queries = asked.queries();
    summary["queries"] = queries;
    run_.add_request(objects.size());
    {
      auto const timer = owner_.stage("search");
      run_.search(asked, out);
    }
    if (on_gpus)
      describe_gpus(objects, work.of_gpus);
    else
      describe_threads(knn::work_of_all(owner_.ctx(), work.of_threads, plan_.schedule));
    run_.finish(out, queries, objects.size(), "object");
  }

  /// Adds the threads' work to the summary or, with --split, that of the parts.
  void describe_threads(knn::schedule_work const& work) {
    auto& summary = run_.summary;
    bool const is_split = arguments_.split > 1;
    summary["engine"] = knn::name_of(knn::metric_engine::index);
    summary["evaluations"] = work.evaluations_of_all();
    if (is_split) {
      summary["split"] = arguments_.split;
    } else {
      bool const is_automatic = plan_.schedule == knn::metric_schedule::automatic;
      summary["schedule"] =
          knn::name_of(is_automatic ? knn::metric_schedule::shared : plan_.schedule);
      if (is_automatic) return;
      summary["supersteps"] = work.supersteps;
      summary["messages"] = work.messages;
    }
    summary[is_split ? "evaluations_of_parts" : "evaluations_of_threads"] = work.evaluations;
    summary["efficiency"] = work.efficiency();
  }

  void describe_gpus(knn::metric_collection const& objects, knn::metric_gpu_work const& work) {
    auto& summary = run_.summary;
    summary["engine"] = knn::name_of(objects.on_gpus()->engine());
    summary["evaluations"] = work.evaluations;
    summary["pending"] = count_of(work.counts, "pending");
    summary["launches"] = work.launches;
    summary["gpus"] = work.devices;
    // No GPU searches if there are no queries or no objects.
    if (work.devices > 0 && work.devices < owner_.ctx().devices.size())
      owner_.say(fmt::format("used {} of {}, because a call has too few queries for more",
                             work.devices, counted(owner_.ctx().devices.size(), "GPU")));
  }

  session& owner_;
  search_metric_arguments const& arguments_;
  knn::metric_search_plan plan_;
  search_run run_;
  std::optional<knn::metric_asked> asked_;
};

/// The options of the search itself and of its index.
void add_search_options(CLI::App& verb, search_metric_arguments& arguments) {
  {
    help_group const group(verb, "Search");
    expect_read(verb,
                value_option(verb, "--metric NAME", arguments.metric,
                             "Metric: l1, l2, linf, angular (angle between vectors) or edit "
                             "(Levenshtein distance of words)"),
                [](std::string const& name) { knn::metric_distance_from(name); },
                {"l1", "l2", "linf", "angular", "edit"});
    number_option(verb, "--radius", arguments.request.radius,
                  "Instead of --k: find all objects within this distance", {.least = 0});
    arguments.add_filter_to(verb,
                            "Numbers of the objects that may be found, from 0, one on each line");
    word_option(verb, "--letters", arguments.letters, {"code-points", "bytes"},
                "edit: letters of words are UTF-8 code points, or bytes");
    verb.add_flag("--check-metric", arguments.check_metric,
                  fmt::format("Test the triangle inequality on {} random triples of objects",
                              checked_triples));
  }
  help_group const group(verb, "Index");
  auto const types = words_with_auto(knn::metric_index_types());
  word_option(verb, "--index-type NAME", arguments.index_type, types,
              fmt::format("Index that excludes objects without computing their distance: {}",
                          fmt::join(types, ", ")));
  number_option(
      verb, "--bucket", arguments.bucket,
      "Number of objects in a cluster (lc), or in a leaf or node (trees); 0: chosen by the type",
      {0, std::size_t{1} << 31});
  number_option(verb, "--alpha", arguments.alpha,
                "sss, sss-tree: smallest distance between pivots, as a share of the largest "
                "distance");
  number_option(verb, "--split", arguments.split,
                "Number of indexes, each of a share of the collection; all search every query",
                {1, std::size_t{1} << 16});
}

}  // namespace

void add_search_metric(CLI::App& search, session& owner) {
  auto [verb, arguments] = add_verb<search_metric_arguments>(
      search, owner, "metric", "Find the nearest objects of a metric space, exactly",
      "rulerank search metric --collection words.txt --queries queries.txt --metric edit "
      "--radius 2\n"
      "  finds all words with at most two letters inserted, deleted or replaced",
      run_search<metric_search, search_metric_arguments>);
  arguments.add_sources_to(
      verb,
      "Objects: vectors (.npy, .fvecs, .bvecs, .fbin, .u8bin, .i8bin or idx), or with --metric "
      "edit words, one on each line",
      "Queries, in the same formats", "FILE");
  add_search_options(verb, arguments);
  auto const schedules = words_with_auto(knn::metric_schedules());
  word_option(
      verb, "--schedule NAME", arguments.schedule, schedules,
      fmt::format("Distribution of the queries over threads, with equal results: {}; auto: {}",
                  fmt::join(schedules.begin() + 1, schedules.end(), ", "),
                  knn::name_of(knn::metric_schedule::shared)))
      ->group(machine_group);
  arguments.over_ranks.add_to(verb);
  auto const* const engine =
      engine_option(verb, "--engine", arguments.engine, knn::metric_engines(),
                    "Engine (auto: index, on GPUs the one that suits the index type)");
  for (auto const& [before, now] : {std::pair("brute", "brute-sort"), std::pair("lc", "lc-growing"),
                                    std::pair("sss", "sss-objects")})
    renamed_value(verb, engine, before, "0.1.0", now);
  arguments.add_outputs_to(verb, "Output file: lines of query, rank, object, distance");
  usual_options(verb, {"--collection", "--queries", "--metric", "--k", "--radius", "--index",
                       "--index-type", "--out", "--run"});
}

}  // namespace rulerank::apps
