// Metric search on GPUs: the experiments of Barrientos 2011, chapter 4, in shape.
//
//   metric_gpu_bench words=FILE [objects=51589] [queries=40000]       one a line
//   metric_gpu_bench vectors=FILE [objects=96000] [queries=24000]     .fvecs, .npy, ...; rows in
//   order
//   ... [metric=l2] [radii=1,2,3] [share=.01,.1,1] [k=8,16,32] [engines=brute,lc,...] [bucket=0]
//       [alpha=.4,.5,.66] [batches=5,30,100,200,0] [gpus=1] [threads=0] [rounds=5]
//       [part=search|matrix|both] [write=FOLDER]
//
// Drawn objects of the file are queries and the others the database, `objects` of them at most; of
// words radii are given, of vectors the share of the database in percent that an average query
// finds. Every answer is held against brute force on the CPU before it is timed, ids and distances.
// One JSON line an engine, index and kind of search (figures 4.1 to 4.9: evaluations, kernel and
// whole time, beside the index of the same type on one thread of the CPU and on `threads`), and one
// for each size of batch (figure 4.10; 0: all queries). part=matrix: the edit distances of all
// pairs, on the device and with the matrix to the host, with a sample held against the CPU;
// write= keeps words and queries as files for the peer (bench/edit_peer_gpu.py).

#include "core/context.hpp"
#include "core/devices.hpp"
#include "core/machine.hpp"
#include "core/random.hpp"
#include "datasets/vectors.hpp"
#include "knn/metric/edit_matrix.hpp"
#include "knn/metric/gpu_search.hpp"
#include "knn/metric/search.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;
using std::size_t;

struct settings {
  std::map<std::string, std::string> values{
      {"metric", "l2"}, {"radii", "1,2,3"},     {"share", ".01,.1,1"},
      {"k", "8,16,32"}, {"alpha", ".4,.5,.66"}, {"batches", "5,30,100,200,0"},
      {"gpus", "1"},    {"threads", "0"},       {"rounds", "5"},
      {"part", "both"}, {"bucket", "0"}};

  std::string const& operator[](std::string const& name) { return values[name]; }
  size_t number(std::string const& name, size_t otherwise = 0) {
    return values[name].empty() ? otherwise : std::stoul(values[name]);
  }
  std::vector<std::string> list(std::string const& name) {
    std::vector<std::string> parts;
    std::string rest = values[name];
    while (!rest.empty()) {
      size_t const end = std::min(rest.find(','), rest.size());
      parts.push_back(rest.substr(0, end));
      rest.erase(0, end + 1);
    }
    return parts;
  }
};

struct task {
  std::string data, metric;
  std::shared_ptr<knn::metric_space const> space;
  std::unique_ptr<knn::metric_queries> queries;
  std::vector<std::string> words;
  datasets::vectors vectors;
  size_t size() const { return queries->size(); }
};

/// The numbers of the queries, and of the objects.
std::pair<std::vector<size_t>, std::vector<size_t>> drawn(size_t all, size_t objects,
                                                          size_t queries) {
  std::vector<size_t> order(all);
  std::iota(order.begin(), order.end(), size_t{0});
  random_engine chance(1);
  shuffle(std::span(order), chance);
  queries = std::min(queries, all / 2);
  objects = std::min(objects, all - queries);
  auto const end = order.begin() + static_cast<std::ptrdiff_t>(queries);
  std::vector<size_t> asked(order.begin(), end);
  std::vector<size_t> database(end, end + static_cast<std::ptrdiff_t>(objects));
  std::sort(database.begin(), database.end());
  return {asked, database};
}

void write_lines(std::string const& path, std::vector<std::string> const& lines) {
  std::ofstream out(path);
  for (auto const& line : lines) out << line << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

task words_of(context const& ctx, settings& chosen) {
  auto const words = knn::read_words(ctx, chosen["words"]);
  auto const [asked, database] =
      drawn(words.size(), chosen.number("objects", 51589), chosen.number("queries", 40000));
  task given{chosen["words"], "edit", nullptr, nullptr, {}, {}};
  std::vector<std::string> objects;
  for (size_t const i : database) objects.push_back(words[i]);
  for (size_t const i : asked) given.words.push_back(words[i]);
  if (!chosen["write"].empty()) {
    write_lines(chosen["write"] + "/words.txt", objects);
    write_lines(chosen["write"] + "/queries.txt", given.words);
  }
  auto const space = std::make_shared<knn::word_space const>(std::move(objects));
  given.queries = space->queries(given.words);
  given.space = space;
  return given;
}

task vectors_of(context const& ctx, settings& chosen) {
  auto const all = datasets::converted(ctx, datasets::read_vectors(ctx, chosen["vectors"]),
                                       datasets::element::float32);
  auto const [asked, database] =
      drawn(all.size(), chosen.number("objects", 96000), chosen.number("queries", 24000));
  auto const rows_at = [&](std::vector<size_t> const& numbers) {
    std::vector<float> values;
    for (size_t const i : numbers) {
      auto const row = all.row<float>(i);
      values.insert(values.end(), row.begin(), row.end());
    }
    return datasets::vectors(std::move(values), all.dimensions());
  };
  task given{chosen["vectors"], chosen["metric"], nullptr, nullptr, {}, rows_at(asked)};
  auto const space = std::make_shared<knn::vector_space const>(
      ctx, rows_at(database), knn::metric_distance_from(chosen["metric"]));
  given.queries = space->queries(ctx, given.vectors);
  given.space = space;
  return given;
}

/// Within which an average query finds so many percent of the database.
double radius_of(task const& given, double percent) {
  std::vector<double> sample;
  for (size_t q = 0; q < std::min<size_t>(given.size(), 200); ++q) {
    auto const origin = given.queries->from(q);
    for (size_t i = q % 7; i < given.space->size(); i += 7)
      sample.push_back(origin->to(static_cast<std::uint32_t>(i)));
  }
  auto const at = sample.begin() + static_cast<std::ptrdiff_t>(
                                       static_cast<double>(sample.size() - 1) * percent / 100);
  std::nth_element(sample.begin(), at, sample.end());
  return *at;
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

answer ask(context const& ctx, knn::metric_index const& index, task const& given, kind const& what,
           knn::metric_work& work) {
  if (what.k > 0) {
    auto found = index.search(ctx, *given.queries, what.k, &work);
    return {std::move(found.id), std::move(found.value)};
  }
  auto found = index.search_range(ctx, *given.queries, what.radius, &work);
  return {std::move(found.row), std::move(found.value)};
}
/// The queries in batches of so many; 0: all at once.
answer ask(context const& ctx, knn::metric_gpu_index const& index, task const& given,
           kind const& what, size_t batch, knn::metric_gpu_work& work) {
  answer all;
  batch = batch == 0 ? given.size() : batch;
  auto const take = [&](auto const& some) {
    if (what.k > 0) {
      auto const found = index.search(ctx, some, what.k, &work);
      all.ids.insert(all.ids.end(), found.id.begin(), found.id.end());
      all.values.insert(all.values.end(), found.value.begin(), found.value.end());
    } else {
      auto const found = index.search_range(ctx, some, what.radius, &work);
      all.ids.insert(all.ids.end(), found.row.begin(), found.row.end());
      all.values.insert(all.values.end(), found.value.begin(), found.value.end());
    }
  };
  for (size_t first = 0; first < given.size(); first += batch) {
    size_t const count = std::min(batch, given.size() - first);
    if (given.words.empty()) {
      take(given.vectors.rows(first, count));
    } else {
      auto const begin = given.words.begin() + static_cast<std::ptrdiff_t>(first);
      take(std::vector<std::string>(begin, begin + static_cast<std::ptrdiff_t>(count)));
    }
  }
  return all;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
template <class Run>
double median_seconds(size_t rounds, Run const& run) {
  std::vector<double> times;
  for (size_t r = 0; r < rounds; ++r) {
    auto const start = std::chrono::steady_clock::now();
    run();
    times.push_back(seconds_since(start));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// What the CPU takes for the same index, with one thread and with all.
struct cpu_times {
  double serial_s = 0;
  double threads_s = 0;
  double evaluations = 0;
};
cpu_times time_cpu(context const& ctx, knn::metric_index const& index, task const& given,
                   kind const& what, answer const& expected) {
  cpu_times times;
  context serial = ctx;
  serial.threads = 1;
  knn::metric_work work;
  times.threads_s = median_seconds(1, [&] {
    if (!(ask(ctx, index, given, what, work) == expected))
      throw std::logic_error("an index found other objects than brute force");
  });
  knn::metric_work again;
  times.serial_s = median_seconds(1, [&] { ask(serial, index, given, what, again); });
  times.evaluations = static_cast<double>(work.evaluations) / static_cast<double>(given.size());
  return times;
}

struct index_choice {
  knn::metric_engine engine;
  double alpha;
};
std::vector<index_choice> choices_of(settings& chosen) {
  std::vector<std::string> names = chosen.list("engines");
  if (names.empty())
    for (auto const& entry : knn::metric_engines())
      if (includes(entry.where, runs_on::gpus)) names.emplace_back(entry.name);
  std::vector<index_choice> choices;
  for (auto const& name : names) {
    auto const engine = knn::metric_engine_from(name);
    bool const has_pivots = knn::index_type_of(engine) == knn::metric_index_type::sss;
    for (auto const& alpha : has_pivots ? chosen.list("alpha") : std::vector<std::string>{".4"})
      choices.push_back({engine, std::stod(alpha)});
  }
  return choices;
}

void measure_searches(context const& ctx, settings& chosen, task const& given) {
  std::vector<kind> kinds;
  for (auto const& k : chosen.list("k")) kinds.push_back({std::stoul(k), 0, 0});
  for (auto const& one : chosen.list(given.words.empty() ? "share" : "radii"))
    kinds.push_back(given.words.empty() ? kind{0, radius_of(given, std::stod(one)), std::stod(one)}
                                        : kind{0, std::stod(one), 0});
  knn::metric_index const brute(ctx, given.space, {knn::metric_index_type::brute});
  std::vector<answer> expected;
  knn::metric_work of_brute;
  for (kind const& what : kinds) expected.push_back(ask(ctx, brute, given, what, of_brute));
  for (index_choice const& choice : choices_of(chosen)) {
    knn::metric_index const index(ctx, given.space,
                                  {.type = knn::index_type_of(choice.engine),
                                   .bucket = chosen.number("bucket"),
                                   .alpha = choice.alpha});
    auto const start = std::chrono::steady_clock::now();
    knn::metric_gpu_index const gpu(ctx, index, {choice.engine});
    double const copy_s = seconds_since(start);
    for (size_t i = 0; i < kinds.size(); ++i) {
      cpu_times const cpu = time_cpu(ctx, index, given, kinds[i], expected[i]);
      for (auto const& batch : chosen.list("batches")) {
        size_t const together = std::stoul(batch);
        knn::metric_gpu_work work;
        if (!(ask(ctx, gpu, given, kinds[i], together, work) == expected[i]))
          throw std::logic_error(std::string(name_of(choice.engine)) +
                                 " found other objects than brute force");
        // Once more: the radii have been learnt, and memory has been taken.
        work = {};
        ask(ctx, gpu, given, kinds[i], together, work);
        knn::metric_gpu_work ignored;
        double const whole_s = median_seconds(
            chosen.number("rounds"), [&] { ask(ctx, gpu, given, kinds[i], together, ignored); });
        auto const queries = static_cast<double>(given.size());
        fmt::print(
            "{{\"data\": \"{}\", \"metric\": \"{}\", \"objects\": {}, \"queries\": {}, \"gpus\": "
            "{}, "
            "\"engine\": \"{}\", \"alpha\": {}, {}, \"batch\": {}, \"found\": {:.4g}, "
            "\"evaluations\": {:.6g}, \"pending\": {}, \"kernel_s\": {:.6g}, \"whole_s\": {:.6g}, "
            "\"queries_per_s\": {:.6g}, \"copy_s\": {:.4g}, \"cpu_evaluations\": {:.6g}, "
            "\"cpu_serial_s\": {:.5g}, \"cpu_threads\": {}, \"cpu_threads_s\": {:.5g}}}\n",
            given.data.substr(given.data.rfind('/') + 1), given.metric, given.space->size(),
            given.size(), ctx.devices.size(), name_of(choice.engine), choice.alpha, kinds[i].name(),
            together, static_cast<double>(expected[i].ids.size()) / queries,
            static_cast<double>(work.evaluations) / queries, work.pending, work.kernel_s, whole_s,
            queries / whole_s, copy_s, cpu.evaluations, cpu.serial_s, ctx.thread_count(),
            cpu.threads_s);
        std::cout.flush();
      }
    }
  }
}

void measure_matrix(context const& ctx, settings& chosen, task const& given) {
  knn::metric_index const index(ctx, given.space, {knn::metric_index_type::brute});
  auto const layout = knn::lay_out(index, knn::metric_engine::pairs);
  auto const queries = knn::queries_of(layout, given.words);
  size_t const objects = layout.objects;
  // A matrix of all pairs need not fit the host: some thousand queries go there.
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
  std::sort(kernel.begin(), kernel.end());
  std::sort(host.begin(), host.end());
  double const kernel_s = kernel[kernel.size() / 2];
  double const host_s = host[host.size() / 2];
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
  settings chosen;
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    size_t const equals = argument.find('=');
    if (equals == argument.npos) throw std::invalid_argument("expected NAME=VALUE: " + argument);
    chosen.values[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
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
