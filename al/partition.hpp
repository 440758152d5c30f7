#pragma once

#include "al/sampler.hpp"
#include "core/aligned.hpp"
#include "core/even_ranges.hpp"
#include "core/memory_gate.hpp"
#include "core/process_group.hpp"
#include "datasets/discretizer.hpp"
#include "rules/itemset.hpp"
#include "rules/thresholds.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

// A partition (a subset of the features) as all engines see it, and the loop that they share.
namespace rulerank::inline v0::al {

/// Documents are sorted in tie order: by ascending doc_occurs, then descending index or a given
/// order. Hence the document with the smallest key is the first with the fewest rules. Documents
/// without an item in the partition are left out. Items are numbered within the partition.
struct partition {
  std::vector<std::uint32_t> documents;   ///< [positions] document number in the data set
  std::size_t stride = 0;                 ///< bytes of a column, a multiple of 64
  aligned_vector<std::uint8_t> codes;     ///< [features x stride], padding holds `no_item`
  std::vector<std::uint32_t> item_begin;  ///< [features + 1]
  std::size_t first = 0;                  ///< position of the most representative document
  /// The positions whose rules this process counts: all, or a range between multiples of 64 if
  /// processes split a partition's documents.
  index_range counted;

  std::size_t size() const noexcept { return documents.size(); }
  std::size_t features() const noexcept { return item_begin.size() - 1; }
  std::size_t items() const noexcept { return item_begin.back(); }
  std::uint8_t const* column(std::size_t f) const { return codes.data() + f * stride; }
  /// Writes the items of the document at a position, ascending.
  void items_of(std::size_t position, std::vector<rules::item>& out) const;
};

/// The features of each partition: `order` is dealt round robin.
std::vector<std::vector<std::size_t>> deal_features(std::span<std::size_t const> order,
                                                    std::size_t partitions);

/// `ties`: all documents in tie order; empty: larger index first.
partition make_partition(datasets::binned_dataset const& data,
                         std::span<std::size_t const> features,
                         std::span<std::uint32_t const> ties = {});

/// doc_occurs of the document at each position.
std::vector<std::uint64_t> doc_occurs(partition const& part);

/// The position of the most representative document among those not `dropped` [positions]; at least
/// one must not be.
std::size_t most_representative(partition const& part, std::vector<bool> const& dropped);

/// An engine's state for a partition during sampling. Smallest keys are over the positions that it
/// counts; if there are none, the number of rules is larger than any.
class rule_counter {
 public:
  virtual ~rule_counter() = default;
  /// Adds the document at a position to the sample.
  virtual void add(context const& ctx, std::size_t position, std::int32_t label) = 0;
  /// The smallest key over all documents: the fewest rules, and the first position with that
  /// number.
  struct smallest {
    std::uint64_t rules = 0;
    std::size_t position = 0;
  };
  virtual smallest fewest() const = 0;
  /// As above, over the documents not yet added; there must be one.
  virtual smallest fewest_unchosen() const = 0;
  /// The number of valid rules of the document at a position that is not dropped. GPU engines throw
  /// `usage_error`.
  virtual std::uint64_t rules(std::size_t position) const;
  virtual std::uint64_t rules_lost() const { return 0; }
  /// The number of valid rules over the sample; only `delta` counts them.
  virtual std::uint64_t rules_in_sample() const { return 0; }
  /// Excludes a document that is not in the sample from the smallest keys, as long as another
  /// remains. GPU engines throw `usage_error`.
  virtual void drop(std::size_t position);
};

/// A counter of all positions from one that counts a share of them on each process; the processes
/// agree on the smallest keys. All processes must make the same calls.
std::unique_ptr<rule_counter> make_agreed(
    process_group const& group,
    std::unique_ptr<rule_counter> counter);  // shared_loops.cpp

/// The loop of Algorithm 3: chooses the most representative document, then repeatedly the one with
/// the fewest rules, until that one was already chosen. It can be interrupted and resumed.
class partition_run {
 public:
  /// Keeps references to the arguments. `stop_rule` false: minimizes over documents not yet chosen.
  partition_run(partition const& part, rule_counter& counter, bool stop_rule)
      : part_(part),
        counter_(counter),
        stop_rule_(stop_rule),
        in_sample_(part.size()),
        dropped_(part.size()),
        next_{0, part.first} {
    report_.features = part.features();
    report_.documents = part.size();
    done_ = part.size() == 0;
  }

  /// Whether the stop rule or the lack of documents has ended the loop.
  bool done() const noexcept { return done_; }
  /// The position and number of rules of the next choice, unless the loop is done.
  std::size_t next() const noexcept { return next_.position; }
  std::uint64_t next_rules() const noexcept { return next_.rules; }

  /// Advances until `iterations` documents are chosen in total (0: no limit) or the loop is done.
  /// `chosen(position, iteration, rules)` must return the label.
  template <class Chosen>
  void advance(context const& ctx, std::size_t iterations, Chosen&& chosen) {
    while (!done_ && (iterations == 0 || report_.iterations < iterations)) {
      ctx.check_stop();
      std::int32_t const label = chosen(next_.position, report_.iterations, next_.rules);
      in_sample_[next_.position] = true;
      ++report_.iterations;
      counter_.add(ctx, next_.position, label);
      next_ = counter_.fewest();
      settle();
    }
    report_.rules_lost = counter_.rules_lost();
  }

  /// Excludes the next choice from the smallest keys. Call only if the loop is not done, and for
  /// CPU engines.
  void drop_next() {
    dropped_[next_.position] = true;
    ++dropped_count_;
    counter_.drop(next_.position);
    if (report_.iterations != 0) {
      next_ = counter_.fewest();
      settle();
    } else if (dropped_count_ == part_.size()) {
      done_ = true;
    } else {
      next_ = {0, most_representative(part_, dropped_)};
    }
  }

  partition_report const& report() const noexcept { return report_; }

 private:
  /// Ends the loop if the smallest key, `next_`, requires it.
  void settle() {
    bool const stops = in_sample_[next_.position];
    if (stops && report_.stopped_after == 0) report_.stopped_after = report_.iterations;
    done_ = (stops && stop_rule_) || report_.iterations + dropped_count_ == part_.size();
    if (stops && !done_) next_ = counter_.fewest_unchosen();
  }

  partition const& part_;
  rule_counter& counter_;
  bool stop_rule_;
  bool done_ = false;
  std::vector<bool> in_sample_;
  std::vector<bool> dropped_;
  std::size_t dropped_count_ = 0;
  rule_counter::smallest next_;
  partition_report report_;
};

/// `max_items`: the largest itemset, rule_size - 1.
std::unique_ptr<rule_counter> make_delta(partition const& part, std::size_t max_items,
                                         rules::validity const& valid,
                                         memory_gate& memory);  // delta_cpu.cpp

}  // namespace rulerank::al
