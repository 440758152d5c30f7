// Compares every engine with every other on real sets: the same documents in the same order, and
// equal scores, bit for bit.
//
//   grid_bench [SETS [FOLDS [METHODS [SIZES [WORKERS [ENGINES]]]]]]     lists a,b,c; - for all
//
// ENGINES is all, gpus or gpus-each; the latter two omit the published engines on the CPU, which
// take most of the time. Needs $RULERANK_TEST_DATA. One TSV row per case on standard output, in a
// fixed order. A sampling row has |U| and the number of rules that lost their validity; without any
// of these, the case would prove nothing. A ranking row has the smallest and largest score. If
// there are GPUs, their engines run in every row, too, on 1, 2 and 4 GPUs in turn, or with
// gpus-each on each of these numbers. Exits with 1 if engines differ.

#include "al/published/engines.hpp"
#include "al/sampler.hpp"
#include "bench/engines/word_list.hpp"
#include "core/devices.hpp"
#include "core/random.hpp"
#include "datasets/feature_order.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/published/engines.hpp"
#include "l2r/rules/engine_knobs.hpp"
#include "l2r/rules/ranker.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;

/// The work of a worker: a binning of a fold, for one rule size, and the kind of comparison.
enum class kind { sampling, ranking_reduced, ranking_full };

struct cell {
  kind what = kind::sampling;
  std::string set;
  int fold = 1;
  std::string method;
  rules::rule_size rule_size = 3;
  std::vector<std::vector<int>> devices;  ///< the GPUs, if any, of one run or of several
  bool published_on_cpu = true;
};

/// Returns 1, 2, 4 ... of the GPUs: all of these numbers, or one of them in turn.
std::vector<std::vector<int>> devices_of_cell(std::size_t number, bool each) {
  auto const all = list_devices().devices;
  std::vector<std::vector<int>> devices;
  std::size_t numbers = 0;
  for (std::size_t size = 1; size <= all.size(); size *= 2) ++numbers;
  for (std::size_t n = 0; n < numbers; ++n) {
    if (!each && n != number % numbers) continue;
    std::vector<int>& some = devices.emplace_back();
    for (std::size_t i = 0; i < std::size_t{1} << n; ++i)
      some.push_back(all[(number / numbers + i) % all.size()].ordinal);
  }
  return devices;
}

/// A reduction on several GPUs needs them exclusively, because its kernels wait for all of them.
class turn_on_devices {
 public:
  explicit turn_on_devices(bool alone) {
    std::lock_guard const next(door_);  // no later thread may overtake a waiting exclusive one
    if (alone)
      alone_ = std::unique_lock(devices_);
    else
      shared_ = std::shared_lock(devices_);
  }

 private:
  static inline std::mutex door_;
  static inline std::shared_mutex devices_;
  std::unique_lock<std::shared_mutex> alone_;
  std::shared_lock<std::shared_mutex> shared_;
};

bool same(al::sample const& a, al::sample const& b) {
  return a.documents == b.documents &&
         std::equal(a.choices.begin(), a.choices.end(), b.choices.begin(), b.choices.end(),
                    [](al::choice const& x, al::choice const& y) {
                      return x.document == y.document && x.partition == y.partition &&
                             x.iteration == y.iteration && x.rules == y.rules;
                    });
}

/// Returns the number of rules that lost their validity; only `delta` counts them.
std::uint64_t rules_lost(al::sample const& of) {
  std::uint64_t lost = 0;
  for (auto const& p : of.partitions) lost += p.rules_lost;
  return lost;
}

struct outcome {
  std::string rows;
  int differences = 0;
};

void sampling_rows(cell const& c, datasets::binned_dataset const& train,
                   std::vector<std::size_t> const& order, outcome& out) {
  for (rules::thresholds const& t : {rules::thresholds{1, 0.001}, rules::thresholds{1, 0.2},
                                     rules::thresholds{1, 0.5}, rules::thresholds{2, 0.01}}) {
    al::sampler_options options;
    options.rule_size = c.rule_size;
    options.thresholds = t;
    options.feature_order = order;
    auto run = [&](al::engine which, int threads, std::vector<int> const& devices = {}) {
      context ctx;
      ctx.threads = threads;
      ctx.devices = devices;
      options.engine = which;
      return al::reduce(ctx, train, options);
    };
    al::sample const ours = run(al::engine::delta, 1);
    std::string told;
    auto hold = [&](std::string_view name, al::sample const& other) {
      bool const equal = same(ours, other) && (other.engine != al::engine::delta ||
                                               rules_lost(ours) == rules_lost(other));
      out.differences += !equal;
      told += fmt::format("{}{} {}", told.empty() ? "" : ", ", name, equal ? "same" : "DIFFERS");
    };
    if (c.published_on_cpu) {
      hold("ssarp", run(al::engine::ssarp, 1));
      hold("pssarp", run(al::engine::pssarp, 2));
    }
    for (auto const* which : {"delta", "prss"})
      for (auto const& devices : c.devices) {
        turn_on_devices const turn(devices.size() > 1);
        hold(fmt::format("{}@{}", which, devices.size()), run(al::engine_from(which), 1, devices));
      }
    out.rows += fmt::format("reduce\t{}\t{}\t{}\t{}\t{}\t{}\t-\t-\t{}\t{}\t{}\t{}\n", c.set, c.fold,
                            c.method, c.rule_size, t.min_support, t.min_confidence, train.documents,
                            ours.documents.size(), rules_lost(ours), told);
  }
}

void ranking_rows(cell const& c, std::string_view which, datasets::binned_dataset const& train,
                  datasets::binned_dataset const& test, outcome& out) {
  struct weighting {
    double weight, smoothing;
  };
  for (rules::thresholds const& t :
       {rules::thresholds{1, 0.001}, rules::thresholds{2, 0.01}, rules::thresholds{5, 0.2}}) {
    for (weighting const w :
         {weighting{0, 0}, weighting{-0.25, 0}, weighting{0, 5}, weighting{-0.25, 5}}) {
      l2r::ranker_options options;
      options.scoring = {c.rule_size, t, w.weight, w.smoothing};
      options.execution.settings[l2r::cache_bytes_setting] = std::size_t{1} << 30;
      l2r::engine_knobs knobs;
      auto run = [&](l2r::engine engine, int threads, std::vector<int> const& devices = {}) {
        context ctx;
        ctx.threads = threads;
        ctx.devices = devices;
        options.execution.engine = engine;
        return l2r::ranker_access::with(ctx, train, options, knobs).score(ctx, test).scores;
      };
      auto const ours = run(l2r::engine::project, 2);
      std::string told;
      auto hold = [&](std::string_view name, std::vector<double> const& other) {
        bool const equal = ours.size() == other.size() &&
                           std::memcmp(ours.data(), other.data(), 8 * ours.size()) == 0;
        out.differences += !equal;
        told +=
            fmt::format("{}{} {}", told.empty() ? "" : ", ", name, equal ? "same bits" : "DIFFERS");
      };
      auto hold_on_gpus = [&](std::string_view name, l2r::engine engine) {
        for (auto const& devices : c.devices) {
          turn_on_devices const turn(false);
          hold(fmt::format("{}@{}", name, devices.size()), run(engine, 1, devices));
        }
      };
      if (c.published_on_cpu) hold("lrar", run(l2r::engine::lrar, 1));
      knobs.shared_from = 0;
      hold_on_gpus("tensor by item", l2r::engine::tensor);
      knobs.shared_from = std::size_t{1} << 40;
      hold_on_gpus("tensor by document", l2r::engine::tensor);
      // Small enough to fill up.
      options.execution.settings[l2r::cache_bytes_setting] = std::size_t{64} << 20;
      for (auto const* name : {"plrar", "profl-t", "profl"})
        hold_on_gpus(name, l2r::engine_from(name));
      auto const [low, high] = std::minmax_element(ours.begin(), ours.end());
      out.rows +=
          fmt::format("rank {}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.6f}\t{:.6f}\t{}\n", which,
                      c.set, c.fold, c.method, c.rule_size, t.min_support, t.min_confidence,
                      w.weight, w.smoothing, train.documents, *low, *high, told);
    }
  }
}

outcome run(cell const& c, std::string const& root) {
  context ctx;
  ctx.threads = 1;
  std::string const folder = fmt::format("{}/letor/{}/Fold{}/", root, c.set, c.fold);
  datasets::discretizer_options how;
  how.method = datasets::binning_from(c.method);
  auto const text = datasets::read_svmlight(ctx, folder + "train.txt");
  auto const cuts = datasets::fit_discretizer(ctx, text, how);
  auto const train = datasets::apply_discretizer(ctx, text, cuts);
  auto const test =
      datasets::apply_discretizer(ctx, datasets::read_svmlight(ctx, folder + "test.txt"), cuts);
  auto const order = datasets::order_features(ctx, train, datasets::feature_order::chi2);
  outcome out;
  if (c.what == kind::sampling) sampling_rows(c, train, order, out);
  if (c.what == kind::ranking_reduced) {
    al::sampler_options options;
    options.rule_size = c.rule_size;
    options.feature_order = order;
    auto const chosen = al::reduce(ctx, train, options).documents;
    ranking_rows(c, "reduced", datasets::subset(train, chosen), test, out);
  }
  if (c.what != kind::ranking_full) return out;
  // All training documents, including itemsets in more than 1 / theta_min documents. At size 4, the
  // published engine takes minutes per row, so it ranks 200 random documents with a fixed seed.
  auto some = test;
  if (c.rule_size > 3 && test.documents > 200) {
    std::vector<std::size_t> all(test.documents);
    for (std::size_t d = 0; d < all.size(); ++d) all[d] = d;
    random_engine engine(1);
    shuffle(std::span(all), engine);
    some = datasets::subset(test, std::span(all).first(200));
  }
  ranking_rows(c, "full", train, some, out);
  return out;
}

/// Returns the cells that the arguments request.
std::vector<cell> cells_of(int argc, char** argv, std::string const& engines) {
  std::vector<cell> cells;
  for (auto const& set : word_list(argc, argv, 1, "OHSUMED,MQ2008,MQ2008-agg"))
    for (auto const& fold : word_list(argc, argv, 2, "1,2,3,4,5"))
      for (auto const& method : word_list(argc, argv, 3, "tube,width,frequency"))
        for (auto const& size : word_list(argc, argv, 4, "2,3,4"))
          for (kind const what : {kind::sampling, kind::ranking_reduced, kind::ranking_full})
            // Every kind at every size runs on each number of devices, in several binnings.
            cells.push_back(
                {what, set, std::stoi(fold), method,
                 static_cast<rules::rule_size>(std::stoul(size)),
                 devices_of_cell(cells.size() / 9 + std::stoul(fold), engines == "gpus-each"),
                 engines == "all"});
  return cells;
}

}  // namespace

// Long because a run reads from top to bottom: options, data, checks, times.
int main(int argc, char** argv) {
  rulerank::al::add_published_engines();
  rulerank::l2r::add_published_engines();
  char const* const root = std::getenv("RULERANK_TEST_DATA");
  if (root == nullptr) {
    fmt::print(stderr, "grid_bench: needs $RULERANK_TEST_DATA\n");
    return 2;
  }
  std::string const engines = word_list(argc, argv, 6, "all").front();
  if (engines != "all" && engines != "gpus" && engines != "gpus-each") {
    fmt::print(stderr, "grid_bench: found engines '{}', expected all, gpus or gpus-each\n",
               engines);
    return 2;
  }
  std::vector<cell> const cells = cells_of(argc, argv, engines);
  auto const workers = static_cast<std::size_t>(
      argc > 5 ? std::stoi(argv[5]) : static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::promise<outcome>> done(cells.size());
  std::atomic<std::size_t> next{0};
  // The longest first, because they end last.
  std::vector<std::size_t> order(cells.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cells[a].rule_size > cells[b].rule_size;
  });
  std::vector<std::jthread> pool;
  for (std::size_t w = 0; w < std::max<std::size_t>(workers, 1); ++w)
    pool.emplace_back([&] {
      for (std::size_t i = next++; i < cells.size(); i = next++) {
        try {
          done[order[i]].set_value(run(cells[order[i]], root));
        } catch (...) {
          done[order[i]].set_exception(std::current_exception());
        }
      }
    });
  fmt::print(
      "what\tset\tfold\tmethod\trule_size\tmin_support\tmin_confidence\tsupport_weight\tsmoothing"
      "\ttraining\t|U| or lowest score\trules lost or highest score\tresult\n");
  int differences = 0;
  for (auto& promise : done) {
    try {
      outcome const out = promise.get_future().get();
      fmt::print("{}", out.rows);
      differences += out.differences;
    } catch (std::exception const& e) {
      fmt::print("error\t{}\n", e.what());
      ++differences;
    }
    std::fflush(stdout);
  }
  fmt::print(stderr, "grid_bench: {} cells, {} differences\n", cells.size() / 3, differences);
  return differences == 0 ? 0 : 1;
}
