// Metric search on GPUs: the experiments of Barrientos 2011, chapter 4, in shape.
//
//   metric_gpu_bench words=FILE [objects=51589] [queries=40000]       one a line
//   metric_gpu_bench vectors=FILE [objects=96000] [queries=24000]     SISAP's text
//   ... [metric=l2] [radii=1,2,3] [share=.01,.1,1] [k=8,16,32] [engines=brute-sort,lc-growing,...]
//   [bucket=0]
//       [alpha=.4,.5,.66] [batches=5,30,100,200,0] [batch_rounds=40] [cpu=8000] [serial=1000]
//       [gpus=1] [threads=0] [rounds=5] [part=search|matrix|both] [write=FOLDER]
//
// Objects and queries are sampled at random (bench/engines/metric_objects.hpp). Words have radii;
// vectors have the percentage of the database that an average query finds. All results are compared
// with brute force on the CPU, ids and distances, before they are timed. One JSON line per engine,
// index and kind of search (figures 4.1 to 4.9: evaluations, kernel and whole time, compared with
// the index of the same type on one thread of the CPU, for the first `serial` queries, and on
// `threads`, for the first `cpu`), and one per batch size (figure 4.10; 0: all queries; otherwise
// the first `batch_rounds` batches). part=matrix: the edit distances of all pairs, on the device
// and with the matrix to the host, with a sample held against the CPU; write= keeps words and
// queries as files for the peer (bench/peers/edit_peer_gpu.py).

#include "bench/engines/metric_objects.hpp"
#include "bench/engines/settings.hpp"
#include "core/context.hpp"
#include "core/devices.hpp"
#include "core/machine.hpp"
#include "core/stopwatch.hpp"
#include "datasets/vectors.hpp"
#include "knn/metric/gpu/edit_matrix.hpp"
#include "knn/metric/published/engines.hpp"
#include "knn/metric/search.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;
using std::size_t;

struct task {
  std::string data, metric;
  std::shared_ptr<knn::metric_space const> space = nullptr;
  std::unique_ptr<knn::metric_queries> queries = nullptr;
  std::unique_ptr<knn::metric_queries> of_threads = nullptr;  // the first queries
  std::unique_ptr<knn::metric_queries> of_one_thread = nullptr;
  std::vector<std::string> words = {};
  datasets::vectors vectors = {};
  size_t size() const { return queries->size(); }
};

void write_lines(std::string const& path, std::vector<std::string> const& lines) {
  std::ofstream out(path);
  for (auto const& line : lines) out << line << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

task words_of(context const& ctx, bench::settings const& chosen) {
  auto drawn =
      bench::draw_words(knn::read_words(ctx, chosen["words"]), chosen.number("objects", 51589),
                        chosen.number("queries", 40000), 1);
  task given{.data = chosen["words"], .metric = "edit", .words = drawn.queries};
  if (!chosen["write"].empty()) {
    write_lines(chosen["write"] + "/words.txt", drawn.database);
    write_lines(chosen["write"] + "/queries.txt", given.words);
  }
  auto const space = std::make_shared<knn::word_space const>(std::move(drawn.database));
  given.queries = space->queries(given.words);
  auto const first = [&](std::string const& setting) {
    auto const count = std::min(chosen.number(setting), given.words.size());
    return space->queries(
        {given.words.begin(), given.words.begin() + static_cast<std::ptrdiff_t>(count)});
  };
  given.of_threads = first("cpu");
  given.of_one_thread = first("serial");
  given.space = space;
  return given;
}

task vectors_of(context const& ctx, bench::settings const& chosen) {
  auto drawn = bench::draw_vectors(chosen["vectors"], chosen.number("objects", 96000),
                                   chosen.number("queries", 24000), 1);
  task given{.data = chosen["vectors"], .metric = chosen["metric"], .vectors = drawn.queries};
  auto const space = std::make_shared<knn::vector_space const>(
      ctx, std::move(drawn.database), knn::metric_distance_from(chosen["metric"]));
  given.queries = space->queries(ctx, given.vectors);
  auto const first = [&](std::string const& setting) {
    return space->queries(
        ctx, given.vectors.rows(0, std::min(chosen.number(setting), given.vectors.size())));
  };
  given.of_threads = first("cpu");
  given.of_one_thread = first("serial");
  given.space = space;
  return given;
}

struct kind {
  size_t k = 0;
  double radius = 0;
  double percent = 0;
  std::string name() const {
    if (k > 0) return fmt::format("\"k\": {}", k);
    return percent > 0 ? fmt::format("\"percent\": {}, \"radius\": {}", percent, radius)
                       : fmt::format("\"radius\": {}", radius);
  }
};
struct answer {
  std::vector<std::uint32_t> ids;
  std::vector<double> values;
  bool operator==(answer const&) const = default;
};

answer ask(context const& ctx, knn::metric_index const& index, knn::metric_queries const& queries,
           kind const& what, knn::metric_work& work) {
  if (what.k > 0) {
    auto found = index.search(ctx, queries, what.k, &work);
    return {std::move(found.id), std::move(found.value)};
  }
  auto found = index.search_range(ctx, queries, what.radius, &work);
  return {std::move(found.row), std::move(found.value)};
}
using query_batches = std::vector<std::unique_ptr<knn::metric_queries>>;

/// Divides the first `queries` queries into batches.
query_batches batches_of(context const& ctx, task const& given, size_t queries, size_t batch) {
  query_batches batches;
  for (size_t first = 0; first < queries; first += batch) {
    size_t const count = std::min(batch, queries - first);
    if (auto const* const space = dynamic_cast<knn::word_space const*>(given.space.get())) {
      auto const begin = given.words.begin() + static_cast<std::ptrdiff_t>(first);
      batches.push_back(space->queries({begin, begin + static_cast<std::ptrdiff_t>(count)}));
    } else {
      batches.push_back(dynamic_cast<knn::vector_space const&>(*given.space)
                            .queries(ctx, given.vectors.rows(first, count)));
    }
  }
  return batches;
}

answer ask(context const& ctx, knn::metric_gpu_index const& index, query_batches const& batches,
           kind const& what, knn::metric_gpu_work& work) {
  answer all;
  // The first result is moved: if it is the only one, nothing is copied.
  auto const append = [](auto& to, auto& more) {
    if (to.empty())
      to = std::move(more);
    else
      to.insert(to.end(), more.begin(), more.end());
  };
  for (auto const& some : batches) {
    if (what.k > 0) {
      auto found = index.search(ctx, *some, what.k, &work);
      append(all.ids, found.id);
      append(all.values, found.value);
    } else {
      auto found = index.search_range(ctx, *some, what.radius, &work);
      append(all.ids, found.row);
      append(all.values, found.value);
    }
  }
  return all;
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// Returns whether the results of some queries equal those of the first of all.
bool are_first(answer const& some, answer const& all) {
  return some.ids.size() <= all.ids.size() &&
         std::equal(some.ids.begin(), some.ids.end(), all.ids.begin()) &&
         std::equal(some.values.begin(), some.values.end(), all.values.begin());
}

/// The times of the CPU for an index and a kind of search.
struct cpu_times {
  double serial_queries_per_s = 0;
  double threads_queries_per_s = 0;
  double evaluations = 0;
};
cpu_times time_cpu(context const& ctx, knn::metric_index const& index, task const& given,
                   kind const& what, answer const& expected) {
  cpu_times times;
  knn::metric_work work;
  auto const rate = [&](context const& on, knn::metric_queries const& queries) {
    stopwatch const watch;
    auto const found = ask(on, index, queries, what, work);
    double const seconds = watch.seconds();
    if (!are_first(found, expected))
      throw std::logic_error("an index found other objects than brute force");
    return static_cast<double>(queries.size()) / seconds;
  };
  times.threads_queries_per_s = rate(ctx, *given.of_threads);
  times.evaluations =
      static_cast<double>(work.evaluations) / static_cast<double>(given.of_threads->size());
  context one = ctx;
  one.threads = 1;
  times.serial_queries_per_s = rate(one, *given.of_one_thread);
  return times;
}

/// An index, and the engines that search it.
struct index_choice {
  knn::metric_index_type type;
  double alpha;
  std::vector<knn::metric_engine> engines;
};
std::vector<index_choice> choices_of(bench::settings const& chosen) {
  std::vector<std::string> names = chosen.list("engines");
  if (names.empty())
    for (auto const& entry : knn::metric_engines())
      if (includes(entry.where, runs_on::gpus)) names.emplace_back(entry.name);
  std::map<knn::metric_index_type, std::vector<knn::metric_engine>> of_type;
  for (auto const& name : names) {
    auto const engine = knn::metric_engine_from(name);
    of_type[knn::index_type_of(engine)].push_back(engine);
  }
  std::vector<index_choice> choices;
  for (auto const& [type, engines] : of_type) {
    bool const has_pivots = type == knn::metric_index_type::sss;
    for (auto const& alpha : has_pivots ? chosen.list("alpha") : std::vector<std::string>{".4"})
      choices.push_back({type, std::stod(alpha), engines});
  }
  return choices;
}

struct measured_kind {
  kind what;
  answer expected;
};

/// One row per batch size.
void measure_engine(context const& ctx, bench::settings const& chosen, task const& given,
                    knn::metric_gpu_index const& gpu, std::string const& head,
                    measured_kind const& of, cpu_times const& cpu) {
  for (auto const& batch : chosen.list("batches")) {
    size_t const size = std::stoul(batch) == 0 ? given.size() : std::stoul(batch);
    size_t const queries =
        size == given.size() ? size : std::min(given.size(), size * chosen.number("batch_rounds"));
    knn::metric_gpu_work work;
    query_batches const batches = batches_of(ctx, given, queries, size);
    auto const found = ask(ctx, gpu, batches, of.what, work);
    if (!are_first(found, of.expected) ||
        (queries == given.size() && found.ids.size() != of.expected.ids.size()))
      throw std::logic_error(head + ": found other objects than brute force");
    // The radii are already computed, and memory is allocated.
    std::vector<double> whole, kernels;
    for (size_t r = 0; r < chosen.number("rounds"); ++r) {
      work = {};
      stopwatch const watch;
      ask(ctx, gpu, batches, of.what, work);
      whole.push_back(watch.seconds());
      kernels.push_back(work.kernel_s);
    }
    double const whole_s = median(whole);
    auto const asked = static_cast<double>(queries);
    fmt::print(
        "{{{}, {}, \"queries\": {}, \"batch\": {}, \"found\": {:.4g}, \"evaluations\": {:.6g}, "
        "\"pending\": {}, \"launches\": {}, \"gpus_used\": {}, \"kernel_s\": {:.6g}, \"whole_s\": "
        "{:.6g}, "
        "\"whole_least_s\": {:.6g}, \"queries_per_s\": {:.6g}, "
        "\"cpu_evaluations\": {:.6g}, \"cpu_serial_queries_per_s\": {:.6g}, \"cpu_threads\": {}, "
        "\"cpu_threads_queries_per_s\": {:.6g}}}\n",
        head, of.what.name(), queries, size, static_cast<double>(found.ids.size()) / asked,
        static_cast<double>(work.evaluations) / asked, count_of(work.counts, "pending"),
        work.launches, work.devices, median(kernels), whole_s,
        *std::min_element(whole.begin(), whole.end()), asked / whole_s, cpu.evaluations,
        cpu.serial_queries_per_s, ctx.thread_count(), cpu.threads_queries_per_s);
    std::cout.flush();
  }
}

void measure_searches(context const& ctx, bench::settings const& chosen, task const& given) {
  std::vector<kind> kinds;
  for (auto const& k : chosen.list("k")) kinds.push_back({std::stoul(k), 0, 0});
  for (auto const& one : chosen.list(given.words.empty() ? "share" : "radii"))
    kinds.push_back(given.words.empty()
                        ? kind{0, bench::radius_of(*given.space, std::stod(one)), std::stod(one)}
                        : kind{0, std::stod(one), 0});
  knn::metric_index const brute(ctx, given.space, {knn::metric_index_type::brute});
  std::vector<measured_kind> all;
  knn::metric_work of_brute;
  for (kind const& what : kinds)
    all.push_back({what, ask(ctx, brute, *given.queries, what, of_brute)});
  for (index_choice const& choice : choices_of(chosen)) {
    knn::metric_index const index(
        ctx, given.space,
        {.type = choice.type, .bucket = chosen.number("bucket"), .alpha = choice.alpha});
    std::vector<cpu_times> cpu;
    for (auto const& of : all) cpu.push_back(time_cpu(ctx, index, given, of.what, of.expected));
    for (auto const engine : choice.engines) {
      stopwatch const copying;
      knn::metric_gpu_index const gpu(ctx, index, {engine});
      auto const head = fmt::format(
          "\"data\": \"{}\", \"metric\": \"{}\", \"objects\": {}, \"gpus\": {}, \"engine\": "
          "\"{}\", \"alpha\": {}, \"copy_s\": {:.4g}",
          given.data.substr(given.data.rfind('/') + 1), given.metric, given.space->size(),
          ctx.devices.size(), name_of(engine), choice.alpha, copying.seconds());
      for (size_t i = 0; i < all.size(); ++i)
        measure_engine(ctx, chosen, given, gpu, head, all[i], cpu[i]);
    }
  }
}

void measure_matrix(context const& ctx, bench::settings const& chosen, task const& given) {
  knn::metric_index const index(ctx, given.space, {knn::metric_index_type::brute});
  auto const layout = knn::lay_out_all(index, knn::word_places::by_length);
  auto const queries = knn::queries_of(layout, given.words);
  size_t const objects = layout.objects;
  // A matrix of all pairs may not fit the host: the matrix of some thousand queries is copied.
  auto const some = knn::queries_of(
      layout,
      {given.words.begin(),
       given.words.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(given.size(), 4000))});
  std::vector<std::uint8_t> matrix;
  knn::edit_matrix(ctx, layout, some, &matrix);
  for (size_t q = 0; q < some.count; q += 97) {
    auto const origin = given.queries->from(q);
    for (size_t place = 0; place < objects; ++place)
      if (matrix[q * objects + place] != origin->to(layout.ids[place]))
        throw std::logic_error("the matrix has another distance than the CPU");
  }
  std::vector<double> kernel, host;
  for (size_t r = 0; r < chosen.number("rounds"); ++r) {
    kernel.push_back(knn::edit_matrix(ctx, layout, queries, nullptr).kernel_s);
    host.push_back(knn::edit_matrix(ctx, layout, some, &matrix).whole_s);
  }
  double const kernel_s = median(kernel);
  double const host_s = median(host);
  auto const pairs = [&](size_t n) {
    return static_cast<double>(n) * static_cast<double>(objects);
  };
  fmt::print(
      "{{\"data\": \"{}\", \"part\": \"matrix\", \"objects\": {}, \"queries\": {}, \"kernel_s\": "
      "{:.6g}, \"pairs_per_s\": {:.4g}, \"queries_to_host\": {}, \"to_host_s\": {:.6g}, "
      "\"pairs_per_s_to_host\": {:.4g}}}\n",
      given.data.substr(given.data.rfind('/') + 1), objects, queries.count, kernel_s,
      pairs(queries.count) / kernel_s, some.count, host_s, pairs(some.count) / host_s);
}

}  // namespace

int main(int argc, char** argv) try {
  knn::add_published_metric_engines();
  bench::settings chosen(
      {{"words", ""},          {"vectors", ""},        {"objects", ""},
       {"queries", ""},        {"engines", ""},        {"write", ""},
       {"metric", "l2"},       {"radii", "1,2,3"},     {"share", ".01,.1,1"},
       {"k", "8,16,32"},       {"alpha", ".4,.5,.66"}, {"batches", "5,30,100,200,0"},
       {"batch_rounds", "40"}, {"cpu", "8000"},        {"serial", "1000"},
       {"gpus", "1"},          {"threads", "0"},       {"rounds", "5"},
       {"part", "both"},       {"bucket", "0"}});
  chosen.read(argc, argv);
  context ctx;
  ctx.threads = std::stoi(chosen["threads"]);
  auto const list = list_devices();
  if (list.devices.size() < chosen.number("gpus"))
    throw std::runtime_error(list.devices.empty() ? list.why_none : "fewer GPUs than gpus=");
  for (size_t i = 0; i < chosen.number("gpus"); ++i) ctx.devices.push_back(list.devices[i].ordinal);
  auto const here = this_machine();
  fmt::print(stderr, "commit {}, {}, {} cores, {}\n", commit(), here.cpu, here.cores,
             list.devices.front().name);
  bool const has_words = !chosen["words"].empty();
  task const given = has_words ? words_of(ctx, chosen) : vectors_of(ctx, chosen);
  if (chosen["part"] != "matrix") measure_searches(ctx, chosen, given);
  if (chosen["part"] != "search" && has_words) measure_matrix(ctx, chosen, given);
  return 0;
} catch (std::exception const& e) {
  fmt::print(stderr, "metric_gpu_bench: {}\n", e.what());
  return 1;
}
