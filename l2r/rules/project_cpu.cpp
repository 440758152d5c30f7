#include "core/parallel.hpp"
#include "l2r/rules/engine.hpp"
#include "l2r/rules/project_batch.hpp"
#include "l2r/rules/project_walk.hpp"
#include "l2r/rules/ranking_seconds.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>

// The engine `project` on the CPU (docs/reference/definitions.md, Ranking, `project`).
//
// The itemsets of a batch's test documents form one tree, traversed item by item. A node is a
// prefix of items, with the training documents that hold it (a bit row) and the test documents that
// hold it (a group). The contribution of a node's prefix and each later item is computed once and
// added to every test document of the group that has the item. Bit rows are compressed to the
// training documents of the prefix if that pays off. For one test document, the tree is that
// document's itemsets. Features are ordered so that rarer items come first.
namespace rulerank::inline v0::l2r {

namespace {

using namespace project_cpu;

/// Part of the tree's first level: the node of item `j` of feature `feature`, or every parts-th
/// feature of that node; for itemsets of two items, all items of the feature.
struct work_item {
  std::size_t feature = 0;
  item_number j = 0;
  std::size_t part = 0;
  std::size_t parts = 1;
  double cost = 0;
};

/// The work items of a batch: costly ones first, none too large to balance the threads.
template <class Entry>
std::vector<work_item> work_of(batch<Entry> const& documents, std::size_t size,
                               std::size_t threads) {
  test_group<Entry> const group = documents.group();
  std::vector<work_item> work;
  double total = 0;
  for (std::size_t g = 0; g + 1 < group.features; ++g) {
    auto const later = static_cast<double>(group.features - g - 1);
    auto const item_count = static_cast<double>(group.item_count - group.feature_begin[g + 1]);
    if (size == 2) {
      work.push_back({g, 0, 0, 1, later});
      continue;
    }
    for (item_number j = group.feature_begin[g]; j < group.feature_begin[g + 1]; ++j) {
      auto const holders = static_cast<double>(documents.holders(j).size());
      double const distinct = std::min(item_count, holders * later);
      double const cost = holders * later * later + 4 * distinct * distinct;
      total += cost;
      work.push_back({g, j, 0, 1, cost});
    }
  }
  if (size > 2 && threads > 1) {
    double const limit = total / (8.0 * static_cast<double>(threads));
    for (std::size_t p = work.size(); p-- > 0;) {
      work_item const whole = work[p];
      std::size_t const most = group.features - whole.feature - 1;
      std::size_t const parts = std::min(most, static_cast<std::size_t>(whole.cost / limit) + 1);
      for (std::size_t part = 0; part < parts; ++part) {
        work_item const share{whole.feature, whole.j, part, parts,
                              whole.cost / static_cast<double>(parts)};
        if (part == 0)
          work[p] = share;
        else
          work.push_back(share);
      }
    }
  }
  std::stable_sort(work.begin(), work.end(),
                   [](work_item const& a, work_item const& b) { return a.cost > b.cost; });
  return work;
}

/// Progress over a batch of documents, reported by any thread; silent after a cancellation. For few
/// documents it counts thousandths.
class work_progress {
 public:
  /// `before` of `of_all` documents are done; `now` are being scored.
  work_progress(context const& ctx, std::vector<work_item> const& work, std::size_t threads,
                std::size_t before, std::size_t now, std::size_t of_all)
      : ctx_(ctx), begun_(threads), unit_(of_all < 1000 ? 1000 : 1) {
    for (work_item const& one : work) all_ += one.cost;
    before_ = static_cast<double>(before * unit_);
    now_ = static_cast<double>(now * unit_);
    total_ = of_all * unit_;
  }
  /// Reports a thread's completed fraction of a work item; skips it while another thread reports.
  void reach(std::size_t thread, work_item const& of, double share) {
    if (std::unique_lock const lock(reporting_, std::try_to_lock); lock) {
      begun_[thread] = share * of.cost;
      report();
    }
  }
  void end(std::size_t thread, work_item const& of) {
    std::lock_guard const lock(reporting_);
    begun_[thread] = 0;
    ended_ += of.cost;
    report();
  }

 private:
  void report() {
    if (told_to_stop_) return;
    told_to_stop_ = true;  // unless the report below returns
    double const done = std::accumulate(begun_.begin(), begun_.end(), ended_) / all_;
    ctx_.report("rank", static_cast<std::uint64_t>(before_ + now_ * std::min(done, 1.0)), total_);
    told_to_stop_ = false;
  }

  context const& ctx_;
  std::mutex reporting_;       // guards the members below
  std::vector<double> begun_;  // [threads]
  double ended_ = 0, all_ = 1e-9, before_ = 0, now_ = 0;
  std::size_t unit_ = 1, total_ = 0;
  bool told_to_stop_ = false;
};

template <class Sum>
class project final : public scoring_engine {
 public:
  explicit project(prepared_training const& training) : training_(training) {}

  void score(context const& all, known_items const& test, scored& result) override {
    std::size_t const least = training_.knobs.microseconds_a_thread;
    context const ctx = least == 0 ? all : with_useful_threads(all, microseconds(test), least);
    std::size_t const columns = std::max<std::size_t>(test.feature_count(), 1);
    std::size_t const at_once = std::clamp<std::size_t>(largest_batch / columns, 64, 65536);
    for (std::size_t begin = 0; begin < test.documents(); begin += at_once) {
      std::size_t const end = std::min(test.documents(), begin + at_once);
      item_numbering const plan(ctx, training_, test, begin, end);
      std::span<double> const scores{result.scores.data() + begin, end - begin};
      if (plan.item_count() <= std::numeric_limits<std::uint16_t>::max() &&
          !training_.knobs.wide_sums)
        walk(ctx, batch<std::uint16_t>(ctx, plan, training_, test, begin, end), begin,
             test.documents(), scores);
      else
        walk(ctx, batch<std::uint32_t>(ctx, plan, training_, test, begin, end), begin,
             test.documents(), scores);
    }
  }

 private:
  using sums = score_sums<Sum>;
  /// Estimated time of one thread for the documents: at least 1 ns per itemset of a document, the
  /// time for 35 words of training documents.
  std::size_t microseconds(known_items const& test) const {
    double const training = std::max(64.0 * 35, static_cast<double>(training_.index.documents()));
    double const seconds =
        ranking_seconds(training, static_cast<double>(test.documents()),
                        static_cast<double>(test.feature_count()), training_.options.rule_size);
    return static_cast<std::size_t>(std::min(1e6 * seconds, 1e12));
  }

  static constexpr std::size_t largest_batch = std::size_t{1} << 24;  // entries of its rows

  /// `before` of `of_all` documents are done.
  template <class Entry>
  void walk(context const& ctx, batch<Entry> const& documents, std::size_t before,
            std::size_t of_all, std::span<double> scores) const {
    test_group<Entry> const group = documents.group();
    bit_columns const bits = documents.bits();
    std::size_t const size = std::min(training_.table.max_itemset_size(), group.features);
    auto const threads = static_cast<std::size_t>(ctx.thread_count());
    std::vector<walker<Sum, Entry>> walkers(threads, walker<Sum, Entry>(ctx, training_));
    std::vector<std::vector<sums>> totals(threads);  // [threads] allocated when the thread gets
                                                     // work

    std::vector<sums> cells(group.item_count + std::size_t{1});
    aligned_vector<std::uint32_t> support(bits.stride);
    if (size > 0)
      walkers[0].count(bits, documents.ones.data(),
                       static_cast<std::uint32_t>(training_.index.documents()), 0, group.item_count,
                       support.data(), cells.data());
    if (size > 1) {
      std::vector<work_item> const work = work_of(documents, size, threads);
      work_progress progress(ctx, work, threads, before, documents.documents, of_all);
      parallel_for(ctx, work.size(), 1, [&](std::size_t p, std::size_t, int thread) {
        auto const t = static_cast<std::size_t>(thread);
        totals[t].resize(documents.documents);
        work_item const& now = work[p];
        walkers[t].now = {};
        walkers[t].tell = [&progress, &now, t](double share) { progress.reach(t, now, share); };
        if (size == 2)
          walkers[t].pairs(bits, documents.ones.data(), support.data(), group, now.feature, 0,
                           totals[t].data());
        else
          walkers[t].child(bits, documents.ones.data(), support[now.j], group, now.feature, now.j,
                           documents.holders(now.j), size - 1, 0, now.part, now.parts,
                           totals[t].data());
        progress.end(t, now);
      });
    }
    parallel_for(ctx, documents.documents, 1024, [&](std::size_t from, std::size_t to, int) {
      for (std::size_t d = from; d < to; ++d) {
        sums total = sum_of_cells(sums{}, cells.data(), group.row(d), group.features);
        for (auto const& of_thread : totals)
          if (!of_thread.empty()) total += of_thread[d];
        scores[d] = score_of(total, training_.table.mean_label());
      }
    });
  }

  prepared_training const& training_;
};

}  // namespace

std::unique_ptr<scoring_engine> make_project(context const&, prepared_training const& training) {
  if (training.table.is_wide()) return std::make_unique<project<wide_sum>>(training);
  return std::make_unique<project<std::uint64_t>>(training);
}

}  // namespace rulerank::l2r
