#include "apps/shared/device_rule.hpp"
#include "apps/shared/neighbour_output.hpp"
#include "apps/shared/options.hpp"
#include "apps/shared/over_ranks.hpp"
#include "apps/shared/text_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/even_shares.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "core/process_group.hpp"
#include "datasets/text_source.hpp"
#include "knn/metric/gpu_search.hpp"
#include "knn/metric/schedule.hpp"
#include "knn/metric/search.hpp"
#include "mpi/collection_split.hpp"
#include "mpi/index_parts.hpp"
#include "mpi/split.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace rulerank::apps {
namespace {

constexpr std::size_t checked_triples = 100000;
/// So many have their neighbours in memory together, more where those are few: dense search and
/// schedules take many at once in less time.
constexpr std::size_t fewest_together = 256;
constexpr std::size_t most_together = 4096;
constexpr std::size_t neighbours_on_the_cpu = std::size_t{1} << 22;
/// Of a thread; fewer vectors at a time would each take longer to compare with all.
constexpr std::size_t least_metric_share = 32;
/// On GPUs so many, and neighbours of all together.
constexpr std::size_t queries_together_on_gpus = std::size_t{1} << 16;
constexpr std::size_t neighbours_together = std::size_t{1} << 25;
/// Memory of objects and their index, for a byte of the objects' file
/// (bench/results/2026-11-25-cluster-memory).
constexpr double objects_bytes_a_byte = 20;

struct search_metric_arguments : neighbour_paths {
  std::string collection;
  std::string queries;
  std::string index;
  std::string metric = "l2";
  std::string index_type = "auto";
  std::string letters = "code-points";
  std::string schedule = "auto";
  std::size_t split = 1;
  std::string engine = "auto";
  std::size_t bucket = 0;
  double alpha = knn::metric_index_options().alpha;
  std::optional<double> radius;
  std::size_t k = 30;
  bool check_metric = false;
  over_ranks_argument over_ranks;
};

/// The type of index that is made, `automatic` where it is not said.
knn::metric_index_type type_of(search_metric_arguments const& arguments) {
  auto const type = knn::metric_index_type_from(arguments.index_type);
  if (type != knn::metric_index_type::automatic) return type;
  return knn::index_type_of(knn::metric_engine_from(arguments.engine));
}

/// Throws `usage_error` for options that the type of index does not read, and for values and
/// engines that are not for it: before anything is read or made.
void check_index_options(search_metric_arguments const& arguments, CLI::App const& verb) {
  if (!(arguments.alpha > 0 && arguments.alpha <= 1))
    throw usage_error(
        fmt::format("--alpha: found {}, expected a number above 0 and at most 1", arguments.alpha));
  auto const type = type_of(arguments);
  auto const searched = knn::index_type_of(knn::metric_engine_from(arguments.engine));
  if (!arguments.collection.empty() && searched != knn::metric_index_type::automatic &&
      searched != type)
    throw usage_error(fmt::format("--engine {} of an index of type {}, expected --index-type {}",
                                  arguments.engine, knn::name_of(type), knn::name_of(searched)));
  auto const refuse = [&](std::string const& name, bool is_read, auto const& reads) {
    if (is_read || verb.count(name) == 0) return;
    std::vector<std::string_view> types;
    for (auto const& entry : knn::metric_index_types())
      if (reads(entry.which)) types.push_back(entry.name);
    throw usage_error(fmt::format("{} of an index of type {}, expected --index-type {}", name,
                                  knn::name_of(type), fmt::join(types, ", ")));
  };
  refuse("--bucket", type == knn::metric_index_type::automatic || knn::has_bucket(type),
         knn::has_bucket);
  refuse("--alpha", knn::has_alpha(type), knn::has_alpha);
}

/// Throws `usage_error` where the name of a file of words says that it has vectors.
void expect_words(std::string_view option, std::string const& path) {
  if (auto const format = datasets::vectors_format_of_name(path))
    throw usage_error(
        fmt::format("{}: found {}, vectors ({}) by its name, expected words, one a line", option,
                    path, datasets::name_of(*format)));
}

void check_usage(search_metric_arguments const& arguments, CLI::App const& verb) {
  auto const refuse = [&](std::vector<std::string> const& names, std::string_view beside) {
    for (std::string const& name : names)
      if (verb.count(name) > 0) throw usage_error(fmt::format("{} {}", name, beside));
  };
  if (arguments.collection.empty() && arguments.index.empty())
    throw usage_error("no objects, expected --collection or --index");
  if (arguments.queries.empty() && !arguments.check_metric &&
      (arguments.collection.empty() || arguments.index.empty()))
    throw usage_error(
        "nothing to do, expected --queries, --check-metric, or --collection and --index");
  if (arguments.collection.empty())
    refuse({"--metric", "--index-type", "--letters", "--bucket", "--alpha", "--split"},
           "beside --index without --collection: the index has been made");
  if (!arguments.index.empty()) refuse({"--split"}, "beside --index, which keeps one index");
  if (arguments.split > 1)
    refuse({"--schedule"}, "beside --split, whose parts each do all queries");
  if (arguments.queries.empty())
    refuse({"--k", "--radius", "--out", "--run", "--tag", "--schedule", "--split", "--engine"},
           "without --queries");
  if (arguments.radius) refuse({"--k"}, "beside --radius");
  if (arguments.metric != "edit") refuse({"--letters"}, "without --metric edit");
  check_index_options(arguments, verb);
  if (arguments.metric == "edit") {
    expect_words("--collection", arguments.collection);
    expect_words("--queries", arguments.queries);
  }
  if (arguments.index == "-")
    throw usage_error("--index: found -, expected a file, which is mapped and not read");
}

/// Names inputs and outputs before any is read or written.
void name_files(session& owner, search_metric_arguments const& arguments, std::string const& part) {
  std::vector<session::named_input> const inputs{{"--collection", arguments.collection},
                                                 {"--queries", arguments.queries}};
  owner.inputs(inputs);
  std::vector<session::named_output> outputs;
  if (!arguments.queries.empty()) outputs = {{"--out", arguments.out}, {"--run", arguments.run}};
  if (!arguments.collection.empty()) {
    outputs.push_back({"--index", arguments.index});
    outputs.push_back({"--index", part});
  }
  owner.outputs(outputs);
  for (session::named_input const& input : inputs) owner.input(input.path);
  expect_outside(owner, inputs, outputs);
  if (arguments.collection.empty()) owner.index(arguments.index);
}

/// The objects of the collection: one of the two.
struct objects_read {
  std::shared_ptr<knn::vector_space const> vectors;
  std::shared_ptr<knn::word_space const> words;
  datasets::vectors asked_vectors{};  ///< the queries as they were read
  std::vector<std::string> asked_words{};

  std::shared_ptr<knn::metric_space const> space() const {
    if (words) return words;
    return vectors;
  }
  std::string_view metric() const { return knn::name_of(which()); }
  knn::metric_distance which() const {
    return words ? knn::metric_distance::edit : vectors->which();
  }
  std::unique_ptr<knn::metric_queries> queries(session& owner, std::string const& path) {
    if (words) {
      expect_words("--queries", path);
      asked_words = knn::read_words(owner.ctx(), path);
      return words->queries(asked_words);
    }
    asked_vectors = read_searched_vectors(owner.ctx(), path);
    return vectors->queries(owner.ctx(), asked_vectors);
  }
};

/// The objects of one of so many parts of the collection.
objects_read read_objects(session& owner, search_metric_arguments const& arguments,
                          std::size_t part = 0, std::size_t parts = 1) {
  auto const timer = owner.stage("read");
  auto const which = knn::metric_distance_from(arguments.metric);
  if (which != knn::metric_distance::edit)
    return {std::make_shared<knn::vector_space>(
                owner.ctx(),
                read_searched_part(owner.ctx(), arguments.collection, part, parts).rows, which),
            nullptr,
            {},
            {}};
  auto const unit = arguments.letters == "bytes" ? knn::letters::bytes : knn::letters::code_points;
  return {nullptr,
          std::make_shared<knn::word_space>(
              knn::read_words_part(owner.ctx(), arguments.collection, part, parts), unit),
          {},
          {}};
}

/// Whether --device auto may take GPUs: for a comparison with all objects that it would do on the
/// CPU too, or does on GPUs in place of an index of vectors. An index that is kept is the same on
/// every machine, and one of a type that was asked for is searched as that.
bool may_choose_gpus(search_metric_arguments const& arguments, objects_read const& objects,
                     knn::metric_index_type type) {
  if (arguments.split > 1 || arguments.schedule != "auto") return false;
  if (!knn::is_on_gpus(objects.which(), type)) return false;
  return type == knn::metric_index_type::brute ||
         (type == knn::metric_index_type::automatic &&
          (objects.words != nullptr || arguments.index.empty()));
}

search_work work_of(search_metric_arguments const& arguments, objects_read const& objects,
                    std::size_t queries) {
  auto const count = static_cast<double>(objects.space()->size());
  auto const asked = static_cast<double>(queries);
  if (objects.words)
    return word_search_work(count, asked,
                            arguments.radius.value_or(std::numeric_limits<double>::infinity()));
  return metric_search_work(count, static_cast<double>(objects.vectors->rows().dimensions()), asked,
                            objects.which() == knn::metric_distance::l2);
}

/// Starts the GPUs where they are asked for or worth it, and says whether they do the search.
/// `type`: of the index, automatic where the engine may choose it.
bool choose_gpus(session& owner, search_metric_arguments const& arguments,
                 objects_read const& objects, std::size_t queries, knn::metric_index_type type) {
  if (arguments.queries.empty()) return false;
  auto const engine = knn::metric_engine_from(arguments.engine);
  if (engine != knn::metric_engine::automatic) {
    runs_on const where = places_of(knn::metric_engines(), engine);
    owner.choose_device(where, 0);
    owner.expect_device_for(arguments.engine, where);
    choose_engine(knn::metric_engines(), engine, owner.ctx());
  } else if (may_choose_gpus(arguments, objects, type)) {
    search_work const work = work_of(arguments, objects, queries);
    owner.choose_device(places_of(knn::metric_engines(), engine), work.thread_s, work.gpu_s);
  }
  if (!knn::is_on_gpus(objects.which(), type))
    owner.expect_device_for(
        fmt::format("index, of type {} under {},", knn::name_of(type), objects.metric()),
        runs_on::cpu);
  if (owner.ctx().devices.empty()) return false;
  if (arguments.split > 1) throw usage_error("--split on GPUs, which share out queries alone");
  if (arguments.schedule != "auto")
    throw usage_error("--schedule on GPUs, expected --engine, which says how they search");
  return true;
}

/// The index's own way, which is that of shared with threads that are there already.
template <class Search>
auto without_schedule(Search const& search, knn::schedule_work& work) {
  knn::metric_work done;
  auto found = search(done);
  work.evaluations.resize(1);
  work.evaluations[0] += done.evaluations;
  return found;
}

/// One index, or one for each part of the collection.
class searched_index {
 public:
  explicit searched_index(knn::metric_index whole) : whole_(std::move(whole)) {}
  explicit searched_index(knn::split_metric_index split) : split_(std::move(split)) {}

  /// Null where there is one for each part.
  knn::metric_index const* whole() const { return whole_ ? &*whole_ : nullptr; }
  std::size_t size() const { return whole_ ? whole_->size() : split_->size(); }
  knn::metric_index_type type() const { return whole_ ? whole_->type() : split_->type(); }
  std::uint64_t build_evaluations() const {
    return whole_ ? whole_->build_evaluations() : split_->build_evaluations();
  }
  knn::neighbours search(context const& ctx, knn::metric_queries const& queries, std::size_t k,
                         knn::schedule_options const& options, knn::schedule_work& work) const {
    if (split_) return split_->search(ctx, queries, k, &work);
    if (options.schedule == knn::metric_schedule::automatic)
      return without_schedule(
          [&](knn::metric_work& done) { return whole_->search(ctx, queries, k, &done); }, work);
    return knn::search_scheduled(ctx, *whole_, queries, k, options, &work);
  }
  knn::rows_in_range search_range(context const& ctx, knn::metric_queries const& queries,
                                  double radius, knn::schedule_options const& options,
                                  knn::schedule_work& work) const {
    if (split_) return split_->search_range(ctx, queries, radius, &work);
    if (options.schedule == knn::metric_schedule::automatic)
      return without_schedule(
          [&](knn::metric_work& done) { return whole_->search_range(ctx, queries, radius, &done); },
          work);
    return knn::search_range_scheduled(ctx, *whole_, queries, radius, options, &work);
  }

 private:
  std::optional<knn::metric_index> whole_;
  std::optional<knn::split_metric_index> split_;
};

/// How an index is made for so many queries. What `auto` takes is put into the summary, and said.
knn::metric_index_options index_options(session& owner, search_metric_arguments const& arguments,
                                        objects_read const& objects, std::size_t queries,
                                        bool on_gpus, nlohmann::ordered_json& summary) {
  knn::metric_index_options options{.type = knn::metric_index_type_from(arguments.index_type),
                                    .bucket = arguments.bucket,
                                    .alpha = arguments.alpha,
                                    .queries = queries};
  if (options.type == knn::metric_index_type::automatic && on_gpus)
    options.type = knn::index_type_of(knn::metric_engine_from(arguments.engine));
  if (options.type != knn::metric_index_type::automatic) return options;
  bool const together = arguments.split == 1 && arguments.schedule == "auto";
  auto const choice =
      on_gpus ? knn::metric_index_choice{knn::metric_index_type::brute,
                                         "GPUs compare all objects sooner than they exclude some"}
              : knn::choose_metric_index(*objects.space(), queries, together);
  options.type = choice.type;
  summary["reason"] = choice.reason;
  owner.say(fmt::format("index type {}: {}", knn::name_of(choice.type), choice.reason));
  return options;
}

searched_index prepare(session& owner, search_metric_arguments const& arguments,
                       objects_read& objects, std::unique_ptr<knn::metric_queries>& queries,
                       nlohmann::ordered_json& summary) {
  auto const read_queries = [&] {
    if (!arguments.queries.empty()) queries = objects.queries(owner, arguments.queries);
  };
  if (arguments.collection.empty()) {
    auto const timer = owner.stage("open");
    auto opened = knn::metric_index::open(owner.ctx(), arguments.index);
    objects = {opened.vectors, opened.words, {}, {}};
    read_queries();
    choose_gpus(owner, arguments, objects, queries ? queries->size() : 0, opened.index.type());
    return searched_index(std::move(opened.index));
  }
  objects = read_objects(owner, arguments);
  read_queries();
  std::size_t const asked = queries ? queries->size() : 0;
  bool const on_gpus = choose_gpus(owner, arguments, objects, asked,
                                   knn::metric_index_type_from(arguments.index_type));
  // An index that is kept is for many.
  bool const is_kept = !arguments.index.empty() || !queries;
  auto const options =
      index_options(owner, arguments, objects,
                    is_kept ? std::numeric_limits<std::size_t>::max() : asked, on_gpus, summary);
  auto const timer = owner.stage("index");
  if (arguments.split > 1)
    return searched_index(
        knn::split_metric_index(owner.ctx(), objects.space(), options, arguments.split));
  knn::metric_index index(owner.ctx(), objects.space(), options);
  if (!arguments.index.empty()) index.save(owner.ctx(), arguments.index);
  return searched_index(std::move(index));
}

/// Throws `error` naming the objects whose distances are no metric's.
void check(session& owner, objects_read const& objects, std::string const& path) {
  auto const timer = owner.stage("check");
  if (auto const breach = knn::check_metric(owner.ctx(), *objects.space(), checked_triples))
    throw error({datasets::display_name(path), 0, 0},
                fmt::format("found distances that are no metric's: {}", breach->what));
  owner.say(fmt::format("{} found no distance that breaks the triangle inequality",
                        counted(checked_triples, "random triple")));
}

/// Some of the queries.
class batch final : public knn::metric_queries {
 public:
  batch(knn::metric_queries const& all, std::size_t first, std::size_t count)
      : all_(all), first_(first), count_(count) {}
  std::size_t size() const noexcept override { return count_; }
  std::unique_ptr<knn::distances_from> from(std::size_t query) const override {
    return all_.from(first_ + query);
  }
  std::optional<datasets::vectors> as_vectors(std::size_t first, std::size_t count) const override {
    return all_.as_vectors(first_ + first, count);
  }

 private:
  knn::metric_queries const& all_;
  std::size_t first_, count_;
};

/// How many queries are searched together where one has so many neighbours.
std::size_t queries_together(std::size_t neighbours_of_a_query) {
  return std::clamp(neighbours_on_the_cpu / (neighbours_of_a_query + 1), fewest_together,
                    most_together);
}
/// The same after some queries that found so many on this rank; all ranks say the same.
std::size_t queries_together(mpi::communicator const& ranks, std::size_t found,
                             std::size_t queries) {
  return queries_together(mpi::sum(ranks, std::uint64_t{found}) / queries);
}

/// Makes the work of one rank that of all. The threads of a rank that searched for nothing count.
void add_up(session& owner, knn::schedule_options const& options, knn::schedule_work& work) {
  mpi::communicator const& ranks = owner.ranks();
  if (work.evaluations.empty() && options.schedule != knn::metric_schedule::automatic)
    work.evaluations.resize(static_cast<std::size_t>(owner.ctx().thread_count()));
  work.evaluations = join(ranks, work.evaluations);
  for (std::uint64_t* const count : {&work.supersteps, &work.messages})
    *count = mpi::sum(ranks, *count);
}

/// How queries are searched for, `count` of them from `begin` on.
struct metric_searches {
  std::function<knn::neighbours(std::size_t begin, std::size_t count)> nearest;
  std::function<knn::rows_in_range(std::size_t begin, std::size_t count)> within;
  /// Whether a rank does it for the queries that it is dealt; else all ranks do it together.
  bool are_dealt = false;
};

/// Searches batch after batch, and writes.
void search_batches(session& owner, search_metric_arguments const& arguments,
                    metric_searches const& by, std::size_t k, std::size_t queries,
                    neighbour_files& out) {
  auto const timer = owner.stage("search");
  mpi::communicator const& ranks = owner.ranks();
  std::size_t const least =
      least_metric_share * static_cast<std::size_t>(owner.ctx().thread_count());
  std::size_t const in_turn = by.are_dealt ? static_cast<std::size_t>(ranks.size()) : 1;
  std::size_t together = arguments.radius ? fewest_together : queries_together(k);
  for (std::size_t first = 0, count = 0; first < queries; first += count) {
    count = std::min(together * in_turn, queries - first);
    std::size_t in_range = 0;  // that this rank has found
    if (by.are_dealt) {
      deal_queries(owner, count, least, out, [&](share some) {
        std::size_t const begin = first + some.begin;
        dealt_neighbours dealt;
        if (arguments.radius) {
          auto const found = by.within(begin, some.size());
          in_range += found.row.size();
          out.add(dealt.lines, begin, found);
        } else {
          auto const found = by.nearest(begin, some.size());
          for (std::size_t q = 0; q < some.size(); ++q)
            out.add(dealt.lines, std::to_string(begin + q), q, found);
        }
        return dealt;
      });
    } else if (arguments.radius) {
      auto const found = by.within(first, count);
      in_range = found.row.size();
      out.write(first, found);
    } else {
      auto const found = by.nearest(first, count);
      for (std::size_t q = 0; q < count; ++q) out.write(std::to_string(first + q), q, found);
    }
    if (arguments.radius) together = queries_together(ranks, in_range, count);
    owner.ctx().report("search", first + count, queries);
  }
}

knn::schedule_work search_whole(session& owner, search_metric_arguments const& arguments,
                                searched_index const& index, knn::metric_queries const& all,
                                neighbour_files& out) {
  knn::schedule_work work;
  knn::schedule_options const options{knn::metric_schedule_from(arguments.schedule)};
  std::size_t const k = std::min(arguments.k, std::max<std::size_t>(index.size(), 1));
  metric_searches const by{[&](std::size_t begin, std::size_t count) {
                             return index.search(owner.ctx(), batch(all, begin, count), k, options,
                                                 work);
                           },
                           [&](std::size_t begin, std::size_t count) {
                             return index.search_range(owner.ctx(), batch(all, begin, count),
                                                       *arguments.radius, options, work);
                           },
                           has_processes(owner.ctx())};
  search_batches(owner, arguments, by, k, all.size(), out);
  add_up(owner, options, work);
  return work;
}

/// What the threads did, or the parts of a split collection, where that was asked for.
void describe(knn::schedule_work const& work, search_metric_arguments const& arguments,
              nlohmann::ordered_json& summary) {
  summary["evaluations"] = work.evaluations_of_all();
  bool const is_split = arguments.split > 1;
  if (is_split) {
    summary["split"] = arguments.split;
  } else {
    auto const schedule = knn::metric_schedule_from(arguments.schedule);
    summary["schedule"] = knn::name_of(
        schedule == knn::metric_schedule::automatic ? knn::metric_schedule::shared : schedule);
    if (schedule == knn::metric_schedule::automatic) return;
    summary["supersteps"] = work.supersteps;
    summary["messages"] = work.messages;
  }
  summary[is_split ? "evaluations_of_parts" : "evaluations_of_threads"] = work.evaluations;
  summary["efficiency"] = work.efficiency();
}

/// The same on GPUs; the queries are those that were read.
knn::metric_gpu_work search_on_gpus(session& owner, search_metric_arguments const& arguments,
                                    knn::metric_gpu_index const& index, objects_read const& objects,
                                    std::size_t queries, neighbour_files& out) {
  owner.expect_one_process("search metric on GPUs");
  auto const timer = owner.stage("search");
  knn::metric_gpu_work work;
  std::size_t const k = std::min(arguments.k, std::max<std::size_t>(index.size(), 1));
  std::size_t const together =
      std::clamp<std::size_t>(neighbours_together / k, 1, queries_together_on_gpus);
  auto const search_some = [&](std::size_t first, auto const& some) {
    if (arguments.radius) {
      out.write(first, index.search_range(owner.ctx(), some, *arguments.radius, &work));
      return;
    }
    auto const found = index.search(owner.ctx(), some, k, &work);
    for (std::size_t q = 0; q < found.queries; ++q) out.write(std::to_string(first + q), q, found);
  };
  for (std::size_t first = 0; first < queries; first += together) {
    std::size_t const count = std::min(together, queries - first);
    if (objects.words) {
      auto const begin = objects.asked_words.begin() + static_cast<std::ptrdiff_t>(first);
      search_some(first,
                  std::vector<std::string>(begin, begin + static_cast<std::ptrdiff_t>(count)));
    } else {
      search_some(first, objects.asked_vectors.rows(first, count));
    }
    owner.ctx().report("search", first + count, queries);
  }
  return work;
}

/// Searches where the context says, and describes how.
void search_all(session& owner, search_metric_arguments const& arguments,
                searched_index const& index, objects_read const& objects,
                knn::metric_queries const& queries, neighbour_files& out,
                nlohmann::ordered_json& summary) {
  if (owner.ctx().devices.empty()) {
    summary["engine"] = knn::name_of(knn::metric_engine::index);
    describe(search_whole(owner, arguments, index, queries, out), arguments, summary);
    return;
  }
  std::optional<knn::metric_gpu_index> gpu;
  {
    auto const timer = owner.stage("copy");
    gpu.emplace(owner.ctx(), *index.whole(),
                knn::metric_gpu_options{knn::metric_engine_from(arguments.engine)});
  }
  auto const work = search_on_gpus(owner, arguments, *gpu, objects, queries.size(), out);
  summary["engine"] = knn::name_of(gpu->engine());
  summary["evaluations"] = work.evaluations;
  summary["pending"] = work.pending;
  summary["launches"] = work.launches;
  summary["gpus"] = work.devices;
  // None searches where there are no queries or no objects.
  if (work.devices > 0 && work.devices < owner.ctx().devices.size())
    owner.say(fmt::format("{} of {} searched: the queries of a call are too few for more",
                          work.devices, counted(owner.ctx().devices.size(), "GPU")));
}

/// Some of the objects, and their index.
struct metric_part {
  std::size_t first = 0;  ///< the number of the first one in the collection
  objects_read objects;
  searched_index index;
  std::unique_ptr<knn::metric_queries> queries;
};

/// Objects in parts.
struct searched_parts {
  std::vector<metric_part> parts;  ///< of this rank
  std::size_t objects = 0;         ///< of all ranks
  bool is_split = false;           ///< other ranks have the other parts
};

/// The queries of each part's space; how many there are.
std::size_t read_queries(session& owner, std::string const& path, searched_parts& searched) {
  if (searched.parts.empty()) return 0;
  metric_part& first = searched.parts.front();
  first.queries = first.objects.queries(owner, path);
  for (std::size_t p = 1; p < searched.parts.size(); ++p) {
    metric_part& part = searched.parts[p];
    part.queries = part.objects.words
                       ? part.objects.words->queries(first.objects.asked_words)
                       : part.objects.vectors->queries(owner.ctx(), first.objects.asked_vectors);
  }
  return first.queries->size();
}

searched_parts open_parts(session& owner, search_metric_arguments const& arguments, bool is_split) {
  auto const timer = owner.stage("open");
  mpi::communicator const& ranks = owner.ranks();
  auto const all = mpi::read_index_parts(arguments.index, "metric");
  searched_parts opened;
  opened.objects = all.items;
  opened.is_split = is_split;
  for (mpi::index_part const& part :
       is_split ? mpi::parts_of(all, ranks.rank(), ranks.size()) : mpi::parts_of(all, 0, 1)) {
    mpi::expect_part(part);
    auto one = knn::metric_index::open(owner.ctx(), part.path);
    mpi::expect_items(part, one.index.size());
    opened.parts.push_back(
        {part.first, {one.vectors, one.words, {}, {}}, searched_index(std::move(one.index)), {}});
  }
  return opened;
}

/// This rank's part of the collection, which is kept where that is asked for.
searched_parts index_part(session& owner, search_metric_arguments const& arguments,
                          std::string const& part_path, nlohmann::ordered_json& summary) {
  mpi::communicator const& ranks = owner.ranks();
  auto const rank = static_cast<std::size_t>(ranks.rank());
  auto objects = read_objects(owner, arguments, rank, static_cast<std::size_t>(ranks.size()));
  searched_parts made;
  made.is_split = true;
  auto const sizes = gather_values(ranks, objects.space()->size());
  made.objects = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  if (made.objects >= knn::no_neighbour)
    throw usage_error(fmt::format("{}: found {}, expected fewer than {}", arguments.collection,
                                  counted(made.objects, "object"), knn::no_neighbour));
  std::size_t const first = std::accumulate(
      sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(rank), std::size_t{0});
  auto const options = index_options(owner, arguments, objects,
                                     std::numeric_limits<std::size_t>::max(), false, summary);
  auto const timer = owner.stage("index");
  knn::metric_index index(owner.ctx(), objects.space(), options);
  if (!arguments.index.empty()) {
    index.save(owner.ctx(), part_path);
    mpi::write_index_parts(ranks, arguments.index, "metric", index.size());
  }
  made.parts.push_back({first, std::move(objects), searched_index(std::move(index)), {}});
  return made;
}

/// As `search_whole`, in parts.
knn::schedule_work search_parts(session& owner, search_metric_arguments const& arguments,
                                searched_parts const& searched, std::size_t queries,
                                neighbour_files& out) {
  mpi::communicator const& ranks = owner.ranks();
  knn::schedule_work work;
  knn::schedule_options const options{knn::metric_schedule_from(arguments.schedule)};
  std::size_t const k = std::min(arguments.k, std::max<std::size_t>(searched.objects, 1));
  auto const nearest = [&](std::size_t begin, std::size_t count) {
    std::vector<knn::part_neighbours> found;
    for (metric_part const& part : searched.parts) {
      std::size_t const most = std::clamp<std::size_t>(part.index.size(), 1, k);
      knn::part_neighbours& one = found.emplace_back(knn::part_neighbours{
          part.index.search(owner.ctx(), batch(*part.queries, begin, count), most, options, work),
          knn::value_order::smaller_is_nearer,
          {},
          {}});
      mpi::renumber(one, static_cast<std::uint32_t>(part.first));
    }
    return found;
  };
  auto const within = [&](std::size_t begin, std::size_t count) {
    std::vector<knn::part_rows_in_range> found;
    for (metric_part const& part : searched.parts) {
      knn::part_rows_in_range& one = found.emplace_back(knn::part_rows_in_range{
          part.index.search_range(owner.ctx(), batch(*part.queries, begin, count),
                                  *arguments.radius, options, work),
          knn::value_order::smaller_is_nearer,
          {}});
      mpi::renumber(one, static_cast<std::uint32_t>(part.first));
    }
    return found;
  };
  metric_searches const by{
      [&](std::size_t begin, std::size_t count) {
        auto const mine = nearest(begin, count);
        return searched.is_split ? mpi::merge(ranks, mine, count, k) : mpi::merge(mine, count, k);
      },
      [&](std::size_t begin, std::size_t count) {
        auto const mine = within(begin, count);
        return searched.is_split ? mpi::merge(ranks, mine, count) : mpi::merge(mine, count);
      },
      has_processes(owner.ctx()) && !searched.is_split};
  search_batches(owner, arguments, by, k, queries, out);
  add_up(owner, options, work);
  return work;
}

/// Says what was searched, and ends the outputs.
void finish(session& owner, search_metric_arguments const& arguments, std::size_t queries,
            std::size_t objects, neighbour_files& out) {
  out.flush();
  owner.meet();
  out.commit();
  if (arguments.out != "-")
    owner.say(fmt::format("searched {} in {}, neighbours in {}",
                          counted(queries, "query", "queries"), counted(objects, "object"),
                          arguments.out));
}

void print(session& owner, nlohmann::ordered_json& summary) {
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  if (!owner.prints_json()) return;
  summary["seconds"] = owner.timings();
  write_file("-", json_text_of(summary));
}

/// All of the verb, where the collection is in parts.
void search_in_parts(session& owner, search_metric_arguments const& arguments,
                     std::string const& part_path, bool is_split,
                     std::optional<neighbour_files>& out) {
  if (arguments.check_metric)
    throw usage_error("--check-metric of a collection in parts, of which no rank has all objects");
  if (knn::metric_engine_from(arguments.engine) != knn::metric_engine::automatic &&
      arguments.engine != knn::name_of(knn::metric_engine::index))
    throw usage_error(fmt::format("--engine {} of a collection in parts, expected {}",
                                  arguments.engine, knn::name_of(knn::metric_engine::index)));
  if (!owner.ctx().devices.empty())
    throw usage_error("--device of a collection in parts, expected cpu");
  nlohmann::ordered_json summary = nlohmann::ordered_json::object();
  searched_parts searched = arguments.collection.empty()
                                ? open_parts(owner, arguments, is_split)
                                : index_part(owner, arguments, part_path, summary);
  summary["objects"] = searched.objects;
  std::uint64_t evaluations = 0;
  for (metric_part const& part : searched.parts) evaluations += part.index.build_evaluations();
  if (!searched.parts.empty()) {
    metric_part const& first = searched.parts.front();
    summary["metric"] = first.objects.metric();
    summary["index_type"] = knn::name_of(first.index.type());
  }
  summary["build_evaluations"] = mpi::sum(owner.ranks(), is_split ? evaluations : 0);
  if (!is_split) summary["build_evaluations"] = evaluations;
  if (out) {
    std::size_t queries = read_queries(owner, arguments.queries, searched);
    // A rank without parts takes the number of queries from the first.
    if (is_split) queries = gather_values(owner.ranks(), queries).front();
    summary["queries"] = queries;
    if (arguments.radius)
      summary["radius"] = *arguments.radius;
    else
      summary["k"] = std::min(arguments.k, searched.objects);
    summary["engine"] = knn::name_of(knn::metric_engine::index);
    describe(search_parts(owner, arguments, searched, queries, *out), arguments, summary);
    finish(owner, arguments, queries, searched.objects, *out);
  }
  print(owner, summary);
}

void search_metric(session& owner, search_metric_arguments const& arguments, CLI::App const& verb) {
  check_usage(arguments, verb);
  if (arguments.split > 1) owner.expect_one_process("--split");
  std::string const part_path = part_written(owner, arguments.collection, arguments.index);
  name_files(owner, arguments, part_path);
  std::optional<neighbour_files> out;
  if (!arguments.queries.empty())
    out.emplace(owner.destination(arguments.out), owner.destination(arguments.run), arguments.tag);
  searched_paths const paths{arguments.collection, arguments.index, objects_bytes_a_byte, {}};
  bool const is_split = splits_collection(owner, arguments.over_ranks, paths);
  if (is_split || opens_parts(paths))
    return search_in_parts(owner, arguments, part_path, is_split, out);
  nlohmann::ordered_json summary = nlohmann::ordered_json::object();
  objects_read objects;
  std::unique_ptr<knn::metric_queries> queries;
  auto const index = prepare(owner, arguments, objects, queries, summary);
  summary["objects"] = index.size();
  summary["metric"] = objects.metric();
  summary["index_type"] = knn::name_of(index.type());
  summary["build_evaluations"] = index.build_evaluations();
  if (arguments.check_metric) {
    check(owner, objects, arguments.collection.empty() ? arguments.index : arguments.collection);
    summary["checked_triples"] = checked_triples;
  }
  if (out) {
    summary["queries"] = queries->size();
    if (arguments.radius)
      summary["radius"] = *arguments.radius;
    else
      summary["k"] = std::min(arguments.k, index.size());
    search_all(owner, arguments, index, objects, *queries, *out, summary);
    finish(owner, arguments, queries->size(), index.size(), *out);
  }
  print(owner, summary);
}

}  // namespace

void add_search_metric(CLI::App& search, session& owner) {
  auto const arguments = std::make_shared<search_metric_arguments>();
  CLI::App* const verb = add_verb(
      search, owner, "metric", "The nearest objects of a metric space, exactly",
      "rulerank search metric --collection words.txt --queries asked.txt --metric edit --radius 2",
      [arguments, &owner, &search] {
        search_metric(owner, *arguments, *search.get_subcommand("metric"));
      });
  runs_over_ranks(*verb);
  path_option(*verb, "--collection", arguments->collection,
              "Vectors: .npy, .fvecs, .bvecs, .fbin, .u8bin, .i8bin or idx; with --metric edit "
              "words, one a line")
      ->type_name("FILE");
  path_option(*verb, "--index", arguments->index,
              "With --collection: where the index is kept; without: the index to search")
      ->type_name("FILE");
  path_option(*verb, "--queries", arguments->queries, "Queries, in a form of the objects")
      ->type_name("FILE");
  expect_read(*verb,
              verb->add_option("--metric", arguments->metric,
                               "l1, l2, linf, angular (the angle between vectors) or edit "
                               "(Levenshtein's distance of words)")
                  ->capture_default_str(),
              [](std::string const& name) { knn::metric_distance_from(name); },
              {"l1", "l2", "linf", "angular", "edit"});
  number_option(*verb, "--k", arguments->k, "Neighbours of a query", {1, std::size_t{1} << 40});
  number_option(*verb, "--radius", arguments->radius, "Instead of k: all objects within a distance",
                {.least = 0});
  std::vector<std::string> types{"auto"};
  for (auto const& entry : knn::metric_index_types()) types.emplace_back(entry.name);
  word_option(
      *verb, "--index-type", arguments->index_type, types,
      fmt::format("How objects are excluded without their distance: {}", fmt::join(types, ", ")));
  number_option(*verb, "--bucket", arguments->bucket,
                "Objects of a cluster (lc), of a leaf or node (trees); 0: what suits the type",
                {0, std::size_t{1} << 31});
  number_option(*verb, "--alpha", arguments->alpha,
                "sss, sss-tree: pivots are at least so much of the largest distance apart");
  word_option(*verb, "--letters", arguments->letters, {"code-points", "bytes"},
              "What the letters of words are: code-points of UTF-8, or bytes");
  std::vector<std::string> schedules{"auto"};
  for (auto const& entry : knn::metric_schedules()) schedules.emplace_back(entry.name);
  word_option(*verb, "--schedule", arguments->schedule, schedules,
              fmt::format("How queries are given to threads, with the same answers: {}; auto: {}",
                          fmt::join(schedules.begin() + 1, schedules.end(), ", "),
                          knn::name_of(knn::metric_schedule::shared)));
  number_option(*verb, "--split", arguments->split,
                "So many indexes, each of a part of the collection, which all do every query",
                {1, std::size_t{1} << 16});
  arguments->over_ranks.add_to(*verb);
  engine_option(*verb, "--engine", arguments->engine, knn::metric_engines(),
                "How queries are done; auto: index, on GPUs what suits the index type");
  verb->add_flag("--check-metric", arguments->check_metric,
                 fmt::format("Look among {} random triples of objects for a distance that breaks "
                             "the triangle inequality",
                             checked_triples));
  arguments->add_outputs_to(*verb, "Lines of query, rank, object, distance");
}

}  // namespace rulerank::apps
