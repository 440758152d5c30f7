// Schedules of queries over metric indexes: the experiments of Barrientos 2011, chapter 3.
//
//   metric_schedule_bench words=FILE [letters=bytes]     one a line, under the edit distance
//   metric_schedule_bench vectors=FILE                   SISAP's text, under l2
//   ... [objects=51589] [queries=400] [radii=1,2,3 | share=.01,.1,1] [types=lc,...]
//       [threads=1,2,4,8] [schedules=local,...] [traffics=high,low] [supersteps=1024] [seconds=0]
//       [clocked=] [split=1] [seed=1]
//
// Objects and queries are sampled at random (bench/engines/metric_objects.hpp). A radius is given,
// or is the distance that share= percent of pairs do not exceed.
//
// Traffic is high (queries arrive twice as fast as the threads can answer them), low (5/6 of that
// capacity, as in figure 3.5's example) or figure-3.5 (the same rate, with 2, 1 and 1 queries per
// unit in turn). Time is simulated (bench/engines/metric_traffic.hpp): its unit is the mean number
// of distances of a query. With seconds=R, searches of queries that have all arrived are also
// timed, as the median of R rounds. clocked=low also measures traffic in wall time, with the last
// number of threads: its unit is the mean time of a query on one thread, measured in advance.
// Before a row is printed, its results are compared with brute force. One JSON line per row; the
// name determines its fields: "index", "counted", "seconds", "clocked", "split".

#include "bench/engines/metric_objects.hpp"
#include "bench/engines/metric_traffic.hpp"
#include "bench/engines/settings.hpp"
#include "core/context.hpp"
#include "core/machine.hpp"
#include "core/stopwatch.hpp"
#include "knn/metric/schedules/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;
using knn::metric_schedule;
using std::size_t;

struct task {
  std::string data;
  std::shared_ptr<knn::metric_space const> space;
  std::unique_ptr<knn::metric_queries> queries;
};

task words_of(context const& ctx, bench::settings const& chosen) {
  auto drawn = bench::draw_words(knn::read_words(ctx, chosen["words"]), chosen.number("objects"),
                                 chosen.number("queries"), chosen.number("seed"));
  auto const space = std::make_shared<knn::word_space>(
      std::move(drawn.database),
      chosen["letters"] == "bytes" ? knn::letters::bytes : knn::letters::code_points);
  return {"words", space, space->queries(drawn.queries)};
}

task vectors_of(context const& ctx, bench::settings const& chosen) {
  auto drawn = bench::draw_vectors(chosen["vectors"], chosen.number("objects"),
                                   chosen.number("queries"), chosen.number("seed"));
  auto const space =
      std::make_shared<knn::vector_space>(ctx, std::move(drawn.database), knn::metric_distance::l2);
  return {"vectors", space, space->queries(ctx, drawn.queries)};
}

struct range_of {
  double radius = 0;
  std::string share;  // empty: the radius was given
};

context of_threads(size_t threads) {
  context ctx;
  ctx.threads = static_cast<int>(threads);
  return ctx;
}

/// One index and radius: prints its rows.
class measurement {
 public:
  measurement(task const& given, std::string head, knn::rows_in_range const& expected)
      : given_(given), head_(std::move(head)), expected_(expected) {}

  void counted(knn::metric_index const& index, double radius, metric_schedule schedule,
               size_t threads, size_t superstep, std::string const& traffic, double mean,
               size_t seed) const {
    size_t const queries = given_.queries->size();
    bench::query_traffic const when{arrivals(traffic, threads, seed), true, mean};
    bench::traffic_work work;
    expect(bench::search_range_in_traffic(of_threads(threads), index, *given_.queries, radius,
                                          {schedule, superstep}, when, work));
    print("counted",
          fmt::format("\"schedule\": \"{}\", \"threads\": {}, \"superstep\": {}, \"traffic\": "
                      "\"{}\", \"end\": {:.6g}, \"throughput\": {:.6g}, \"response\": {:.6g}, "
                      "\"efficiency\": {:.6g}, \"unit_efficiency\": {:.6g}, \"evaluations\": "
                      "{:.6g}, \"supersteps\": {}, \"messages\": {}",
                      name_of(schedule), threads, superstep, traffic, work.end,
                      bench::throughput(work), bench::mean_response(work), work.efficiency(),
                      bench::unit_efficiency(work),
                      static_cast<double>(work.evaluations_of_all()) / static_cast<double>(queries),
                      work.supersteps, work.messages));
  }

  void seconds(knn::metric_index const& index, double radius, metric_schedule schedule,
               size_t threads, size_t superstep, size_t rounds) const {
    std::vector<double> times;
    knn::schedule_work work;
    for (size_t r = 0; r < rounds; ++r) {
      work = {};
      auto const found = knn::search_range_scheduled(of_threads(threads), index, *given_.queries,
                                                     radius, {schedule, superstep}, &work);
      expect(found);
      times.push_back(found.search_s);
    }
    std::sort(times.begin(), times.end());
    print("seconds",
          fmt::format("\"schedule\": \"{}\", \"threads\": {}, \"superstep\": {}, \"seconds\": "
                      "{:.4g}, \"efficiency\": {:.6g}, \"supersteps\": {}, \"messages\": {}, "
                      "\"critical\": {}",
                      name_of(schedule), threads, superstep, times[times.size() / 2],
                      work.efficiency(), work.supersteps, work.messages, work.critical));
  }

  /// Returns the mean seconds of a query on one thread.
  double unit_seconds(knn::metric_index const& index, double radius) const {
    auto const found = knn::search_range_scheduled(of_threads(1), index, *given_.queries, radius,
                                                   {metric_schedule::local});
    expect(found);
    return found.search_s / static_cast<double>(given_.queries->size());
  }

  /// Reports the round with the median end time.
  void clocked(knn::metric_index const& index, double radius, metric_schedule schedule,
               size_t threads, size_t superstep, std::string const& traffic, double unit_s,
               size_t rounds, size_t seed) const {
    bench::query_traffic const when{arrivals(traffic, threads, seed), false, unit_s};
    std::vector<bench::traffic_work> all(rounds);
    for (bench::traffic_work& work : all)
      expect(bench::search_range_in_traffic(of_threads(threads), index, *given_.queries, radius,
                                            {schedule, superstep}, when, work));
    auto const middle = all.begin() + static_cast<std::ptrdiff_t>(rounds / 2);
    std::nth_element(all.begin(), middle, all.end(),
                     [](auto const& a, auto const& b) { return a.end < b.end; });
    print("clocked",
          fmt::format("\"schedule\": \"{}\", \"threads\": {}, \"superstep\": {}, \"traffic\": "
                      "\"{}\", \"unit_s\": {:.4g}, \"end\": {:.6g}, \"throughput\": {:.6g}, "
                      "\"response\": {:.6g}, \"efficiency\": {:.6g}",
                      name_of(schedule), threads, superstep, traffic, unit_s, middle->end,
                      bench::throughput(*middle), bench::mean_response(*middle),
                      middle->efficiency()));
  }

  void split(knn::split_metric_index const& index, double radius, double mean,
             double seconds_of_build) const {
    knn::schedule_work work;
    auto const found =
        index.search_range(of_threads(index.parts()), *given_.queries, radius, &work);
    expect(found);
    auto const most = *std::max_element(work.evaluations.begin(), work.evaluations.end());
    print("split",
          fmt::format("\"parts\": {}, \"end\": {:.6g}, \"evaluations\": {:.6g}, \"seconds\": "
                      "{:.4g}, \"build_s\": {:.4g}",
                      index.parts(), static_cast<double>(most) / mean,
                      static_cast<double>(work.evaluations_of_all()) /
                          static_cast<double>(given_.queries->size()),
                      found.search_s, seconds_of_build));
  }

  void print(std::string const& row, std::string const& fields) const {
    fmt::print("{{{}, \"row\": \"{}\", {}}}\n", head_, row, fields);
    std::cout.flush();
  }

 private:
  std::vector<double> arrivals(std::string const& traffic, size_t threads, size_t seed) const {
    size_t const queries = given_.queries->size();
    double const a_unit =
        static_cast<double>(threads) * (traffic == "high" ? 2 : 5. / 6);  // queries
    if (traffic != "figure-3.5") return bench::random_arrivals(queries, a_unit, seed);
    auto arrival = bench::cyclic_arrivals(queries, std::vector<size_t>{2, 1, 1});
    for (double& time : arrival) time *= 4. / 3 / a_unit;
    return arrival;
  }
  void expect(knn::rows_in_range const& found) const {
    if (found.begin != expected_.begin || found.row != expected_.row ||
        found.value != expected_.value)
      throw std::logic_error("other answers than brute force: " + head_);
  }

  task const& given_;
  std::string head_;
  knn::rows_in_range const& expected_;
};

void measure_range(bench::settings const& chosen, knn::metric_index const& index,
                   std::vector<knn::split_metric_index> const& splits,
                   std::vector<double> const& split_s, measurement const& rows, double radius,
                   double mean) {
  size_t const rounds = chosen.number("seconds");
  auto const clocked = chosen.list("clocked");
  double const unit_s = clocked.empty() ? 0 : rows.unit_seconds(index, radius);
  for (auto const& count : chosen.list("threads"))
    for (auto const& name : chosen.list("schedules"))
      for (auto const& step : chosen.list("supersteps")) {
        auto const schedule = knn::metric_schedule_from(name);
        size_t const threads = std::stoul(count);
        if (rounds > 0) rows.seconds(index, radius, schedule, threads, std::stoul(step), rounds);
        if (count == chosen.list("threads").back())
          for (auto const& traffic : clocked)
            rows.clocked(index, radius, schedule, threads, std::stoul(step), traffic, unit_s,
                         std::max<size_t>(rounds, 1), chosen.number("seed"));
        if (schedule == metric_schedule::shared || schedule == metric_schedule::bulk_critical)
          continue;
        for (auto const& traffic : chosen.list("traffics"))
          rows.counted(index, radius, schedule, threads, std::stoul(step), traffic, mean,
                       chosen.number("seed"));
      }
  for (size_t i = 0; i < splits.size(); ++i) rows.split(splits[i], radius, mean, split_s[i]);
}

void measure(bench::settings const& chosen, task const& given) {
  std::vector<range_of> ranges;
  for (auto const& radius : chosen.list("radii")) ranges.push_back({std::stod(radius), ""});
  if (ranges.empty())
    for (auto const& share : chosen.list("share"))
      ranges.push_back({bench::radius_of(*given.space, std::stod(share)), share});
  auto const all = of_threads(0);
  knn::metric_index const brute(all, given.space, {knn::metric_index_type::brute});
  std::vector<knn::rows_in_range> expected;
  for (range_of const& range : ranges)
    expected.push_back(brute.search_range(all, *given.queries, range.radius));
  for (auto const& type : chosen.list("types")) {
    knn::metric_index_options const options{knn::metric_index_type_from(type)};
    stopwatch const watch;
    knn::metric_index const index(all, given.space, options);
    double const build_s = watch.seconds();
    std::vector<knn::split_metric_index> splits;
    std::vector<double> split_s;
    if (chosen.number("split") > 0)
      for (auto const& parts : chosen.list("threads")) {
        if (parts == "1") continue;
        stopwatch const split_watch;
        splits.emplace_back(all, given.space, options, std::stoul(parts));
        split_s.push_back(split_watch.seconds());
      }
    for (size_t r = 0; r < ranges.size(); ++r) {
      std::string const head = fmt::format(
          "\"data\": \"{}\", \"objects\": {}, \"queries\": {}, \"index\": \"{}\", \"radius\": "
          "{}, \"share\": \"{}\"",
          given.data, given.space->size(), given.queries->size(), type, ranges[r].radius,
          ranges[r].share);
      measurement const rows(given, head, expected[r]);
      knn::metric_work work;
      auto const found = index.search_range(all, *given.queries, ranges[r].radius, &work);
      double const mean =
          static_cast<double>(work.evaluations) / static_cast<double>(given.queries->size());
      rows.print(
          "index",
          fmt::format(
              "\"evaluations\": {:.6g}, \"found\": {:.6g}, \"build_s\": {:.4g}", mean,
              static_cast<double>(found.row.size()) / static_cast<double>(given.queries->size()),
              build_s));
      measure_range(chosen, index, splits, split_s, rows, ranges[r].radius, mean);
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  bench::settings chosen({{"words", ""},
                          {"vectors", ""},
                          {"letters", "bytes"},
                          {"objects", "51589"},
                          {"queries", "400"},
                          {"radii", ""},
                          {"share", ".01,.1,1"},
                          {"types", "lc,sss,sss-tree,egnat,m-tree"},
                          {"threads", "1,2,4,8"},
                          {"schedules", "local,bulk-local,bulk-circular,hybrid"},
                          {"traffics", "high,low"},
                          {"supersteps", "1024"},
                          {"seconds", "0"},
                          {"clocked", ""},
                          {"seed", "1"},
                          {"split", "1"}});
  chosen.read(argc, argv);
  context const ctx;
  auto const here = this_machine();
  fmt::print(stderr, "commit {}, {}, {} cores\n", commit(), here.cpu, here.cores);
  measure(chosen, chosen["vectors"].empty() ? words_of(ctx, chosen) : vectors_of(ctx, chosen));
  return 0;
} catch (std::exception const& e) {
  fmt::print(stderr, "metric_schedule_bench: {}\n", e.what());
  return 1;
}
