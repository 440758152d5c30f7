// Search in metric spaces: every type of index, on files of real objects.
//
//   metric_bench words=FILE [letters=bytes]      one a line, under the edit distance
//   metric_bench vectors=FILE                    SISAP's text: "dimensions rows ...", then the rows
//   ... [metric=l1|l2|linf|angular] [dimensions=all] [queries=200] [share=.1,1] [radii=]
//       [k=1,10,30] [threads=1] [rounds=3] [types=brute,lc,...] [objects=0] [within=0]
//
// Only the first `dimensions` of vectors are used. Queries are random objects of the file, which
// are removed from the database; with objects=N, N objects and the queries are sampled as in the
// other metric benchmarks (bench/engines/metric_objects.hpp). A radius is given (radii=), or is the
// distance that a percentage of the pairs in a random sample does not exceed (share=). Each query's
// results are compared with brute force, ids and distances, before the timing; rounds=0 times
// nothing. One JSON line per index and kind of search: the mean number of distance evaluations per
// query and its standard error, the median time per query, that of brute force, and the time to
// make the index. With within=1, for the k nearest also the mean number of evaluations within the
// distance of the k-th, which no order of search avoids.

#include "bench/engines/metric_objects.hpp"
#include "bench/engines/settings.hpp"
#include "core/context.hpp"
#include "core/machine.hpp"
#include "core/random.hpp"
#include "core/stopwatch.hpp"
#include "knn/metric/search.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;
using std::size_t;

struct task {
  std::string data, metric;
  size_t dimensions = 0;  // of vectors
  std::shared_ptr<knn::metric_space const> space;
  std::unique_ptr<knn::metric_queries> queries;
};

/// Selects random objects as queries.
std::vector<bool> drawn(size_t objects, size_t queries) {
  std::vector<size_t> order(objects);
  std::iota(order.begin(), order.end(), size_t{0});
  random_engine chance(1);
  shuffle(std::span(order), chance);
  std::vector<bool> is_query(objects);
  for (size_t i = 0; i < std::min(queries, objects / 2); ++i) is_query[order[i]] = true;
  return is_query;
}

task words_of(context const& ctx, bench::settings const& chosen) {
  auto words = knn::read_words(ctx, chosen["words"]);
  auto const letters =
      chosen["letters"] == "bytes" ? knn::letters::bytes : knn::letters::code_points;
  if (chosen.number("objects") > 0) {
    auto all =
        bench::draw_words(std::move(words), chosen.number("objects"), chosen.number("queries"), 1);
    auto const space = std::make_shared<knn::word_space>(std::move(all.database), letters);
    return {chosen["words"], "edit", 0, space, space->queries(all.queries)};
  }
  auto const is_query = drawn(words.size(), std::stoul(chosen["queries"]));
  std::vector<std::string> database;
  std::vector<std::string> asked;
  for (size_t i = 0; i < words.size(); ++i) (is_query[i] ? asked : database).push_back(words[i]);
  auto const space = std::make_shared<knn::word_space>(std::move(database), letters);
  return {chosen["words"], "edit", 0, space, space->queries(asked)};
}

task vectors_of(context const& ctx, bench::settings const& chosen) {
  if (chosen.number("objects") > 0) {
    auto all = bench::draw_vectors(chosen["vectors"], chosen.number("objects"),
                                   chosen.number("queries"), 1);
    size_t const all_dimensions = all.database.dimensions();
    auto const drawn_space = std::make_shared<knn::vector_space>(
        ctx, std::move(all.database), knn::metric_distance_from(chosen["metric"]));
    return {chosen["vectors"], chosen["metric"], all_dimensions, drawn_space,
            drawn_space->queries(ctx, all.queries)};
  }
  auto const rows = bench::read_sisap(chosen["vectors"]);
  auto const is_query = drawn(rows.size(), std::stoul(chosen["queries"]));
  size_t const dimensions = chosen["dimensions"] == "all"
                                ? rows.dimensions()
                                : std::min(std::stoul(chosen["dimensions"]), rows.dimensions());
  std::vector<float> database;
  std::vector<float> asked;
  for (size_t i = 0; i < rows.size(); ++i) {
    auto& to = is_query[i] ? asked : database;
    auto const row = rows.row<float>(i).first(dimensions);
    to.insert(to.end(), row.begin(), row.end());
  }
  auto const space =
      std::make_shared<knn::vector_space>(ctx, datasets::vectors(std::move(database), dimensions),
                                          knn::metric_distance_from(chosen["metric"]));
  return {chosen["vectors"], chosen["metric"], dimensions, space,
          space->queries(ctx, datasets::vectors(std::move(asked), dimensions))};
}

/// One kind of search: k nearest, or all within a radius.
struct kind {
  size_t k = 0;
  double radius = 0;
  double percent = 0;
};
std::string of(kind const& what) {
  if (what.k > 0) return fmt::format("\"k\": {}", what.k);
  return (what.percent > 0 ? fmt::format("\"percent\": {}, ", what.percent) : "") +
         fmt::format("\"radius\": {}", what.radius);
}

std::ptrdiff_t offset(size_t at) {
  return static_cast<std::ptrdiff_t>(at);
}

struct answer {
  std::vector<std::uint32_t> ids;
  std::vector<double> values;
  std::uint64_t evaluations = 0;
};
/// One of several queries.
class one_query final : public knn::metric_queries {
 public:
  one_query(knn::metric_queries const& all, size_t at) : all_(all), at_(at) {}
  size_t size() const noexcept override { return 1; }
  std::unique_ptr<knn::distances_from> from(size_t) const override { return all_.from(at_); }
  std::optional<datasets::vectors> as_vectors(size_t, size_t) const override {
    return all_.as_vectors(at_, 1);
  }

 private:
  knn::metric_queries const& all_;
  size_t at_;
};

answer ask(context const& ctx, knn::metric_index const& index, knn::metric_queries const& queries,
           kind const& what) {
  knn::metric_work work;
  if (what.k > 0) {
    auto found = index.search(ctx, queries, what.k, &work);
    return {std::move(found.id), std::move(found.value), work.evaluations};
  }
  auto found = index.search_range(ctx, queries, what.radius, &work);
  return {std::move(found.row), std::move(found.value), work.evaluations};
}

struct counted {
  double mean = 0;
  double error = 0;   // the standard error of the mean
  double within = 0;  // the mean of searches within the distance of the k-th
};
/// Counts a query's distance evaluations, one query after the other.
/// @throws std::logic_error if the results differ from the expected ones.
counted count_evaluations(context const& ctx, knn::metric_index const& index,
                          knn::metric_queries const& queries, kind const& what,
                          answer const& expected, bool within) {
  double sum = 0;
  double of_within = 0;
  double squares = 0;
  size_t at = 0;
  for (size_t q = 0; q < queries.size(); ++q) {
    auto const found = ask(ctx, index, one_query(queries, q), what);
    size_t const end = at + found.ids.size();
    if (end > expected.ids.size() ||
        !std::equal(found.ids.begin(), found.ids.end(), expected.ids.begin() + offset(at)) ||
        !std::equal(found.values.begin(), found.values.end(), expected.values.begin() + offset(at)))
      throw std::logic_error(fmt::format("other objects than brute found, query {}", q));
    at = end;
    auto const evaluations = static_cast<double>(found.evaluations);
    sum += evaluations;
    squares += evaluations * evaluations;
    if (within && what.k > 0)
      of_within += static_cast<double>(
          ask(ctx, index, one_query(queries, q), {0, found.values.back(), 0}).evaluations);
  }
  if (at != expected.ids.size()) throw std::logic_error("fewer objects than brute found");
  auto const count = static_cast<double>(queries.size());
  double const mean = sum / count;
  double const variance = count > 1 ? std::max(0., squares - sum * mean) / (count - 1) : 0;
  return {mean, std::sqrt(variance / count), of_within / count};
}

double median_ms(context const& ctx, knn::metric_index const& index, task const& given,
                 kind const& what, size_t rounds) {
  std::vector<double> times;
  for (size_t r = 0; r < rounds; ++r) {
    stopwatch const watch;
    ask(ctx, index, *given.queries, what);
    times.push_back(watch.seconds() * 1e3 / static_cast<double>(given.queries->size()));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void measure(context const& ctx, bench::settings const& chosen, task const& given) {
  std::vector<kind> kinds;
  for (auto const& k : chosen.list("k")) kinds.push_back({std::stoul(k), 0, 0});
  for (auto const& percent : chosen.list("share"))
    kinds.push_back({0, bench::radius_of(*given.space, std::stod(percent)), std::stod(percent)});
  for (auto const& radius : chosen.list("radii")) kinds.push_back({0, std::stod(radius), 0});
  size_t const rounds = std::stoul(chosen["rounds"]);
  knn::metric_index const brute(ctx, given.space, {knn::metric_index_type::brute});
  std::vector<answer> expected;
  std::vector<double> brute_ms;
  for (kind const& what : kinds) {
    expected.push_back(ask(ctx, brute, *given.queries, what));
    brute_ms.push_back(rounds > 0 ? median_ms(ctx, brute, given, what, rounds) : 0);
  }
  auto types = chosen.list("types");
  if (types.empty())
    for (auto const& entry : knn::metric_index_types()) types.emplace_back(entry.name);
  for (auto const& type : types) {
    stopwatch const watch;
    knn::metric_index const index(ctx, given.space, {knn::metric_index_type_from(type)});
    double const build_s = watch.seconds();
    for (size_t i = 0; i < kinds.size(); ++i) {
      kind const& what = kinds[i];
      bool const within = chosen.number("within") > 0 && what.k > 0;
      auto const work = count_evaluations(ctx, index, *given.queries, what, expected[i], within);
      auto const queries = static_cast<double>(given.queries->size());
      std::string const at_kth = within ? fmt::format("\"within_kth\": {:.6g}, ", work.within) : "";
      std::string const times =
          rounds == 0 ? ""
                      : fmt::format("\"query_ms\": {:.4g}, \"brute_ms\": {:.4g}, ",
                                    median_ms(ctx, index, given, what, rounds), brute_ms[i]);
      fmt::print(
          "{{\"data\": \"{}\", \"metric\": \"{}\", \"dimensions\": {}, \"objects\": {}, "
          "\"queries\": {}, \"threads\": "
          "{}, \"index\": \"{}\", {}, \"found\": {:.4g}, \"evaluations\": {:.6g}, "
          "\"evaluations_error\": "
          "{:.4g}, {}{}\"build_s\": {:.4g}, \"build_evaluations\": {}}}\n",
          given.data.substr(given.data.rfind('/') + 1), given.metric, given.dimensions,
          given.space->size(), given.queries->size(), ctx.thread_count(), type, of(what),
          static_cast<double>(expected[i].ids.size()) / queries, work.mean, work.error, at_kth,
          times, build_s, index.build_evaluations());
      std::cout.flush();
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  bench::settings chosen({{"words", ""},
                          {"vectors", ""},
                          {"types", ""},
                          {"letters", "code-points"},
                          {"metric", "l2"},
                          {"dimensions", "all"},
                          {"queries", "200"},
                          {"share", ".01,.1,1"},
                          {"radii", ""},
                          {"k", "1,10,30"},
                          {"threads", "1"},
                          {"rounds", "3"},
                          {"within", "0"},
                          {"objects", "0"}});
  chosen.read(argc, argv);
  context ctx;
  ctx.threads = std::stoi(chosen["threads"]);
  auto const here = this_machine();
  fmt::print(stderr, "commit {}, {}, {} cores\n", commit(), here.cpu, here.cores);
  measure(ctx, chosen, chosen["vectors"].empty() ? words_of(ctx, chosen) : vectors_of(ctx, chosen));
  return 0;
} catch (std::exception const& e) {
  fmt::print(stderr, "metric_bench: {}\n", e.what());
  return 1;
}
