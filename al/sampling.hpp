#pragma once

#include "al/device_delta.hpp"
#include "al/partition.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <vector>

namespace rulerank::al {

/// The features of each partition (columns of `data`), after the options are checked against the
/// data: throws `usage_error` as `reduce` does.
std::vector<std::vector<std::size_t>> features_of_partitions(datasets::binned_dataset const& data,
                                                             sampler_options const& options);

/// The partitions of one data set on their way to a sample. Which documents it chooses, and in
/// which order each partition does, depends on neither the threads nor how far a call goes.
class sampling {
 public:
  /// `features`: those of each partition. What is referred to outlives it; the options are checked
  /// and name an engine.
  sampling(context const& ctx, datasets::binned_dataset const& data, sampler_options const& options,
           oracle const& label_of, std::vector<std::vector<std::size_t>> features);

  /// Every partition goes on until it has chosen `iterations` documents (0: no limit) or is done.
  /// The published engines take the partitions one after the other; ours side by side, or one
  /// alone with all threads.
  void advance(std::size_t iterations);

  /// From the start, in (iteration, partition) order, up to the choice that would be one document
  /// more than `budget`: no label is asked for that the sample does not keep.
  void advance_within(std::size_t budget);

  sample take() const;

 private:
  struct work {
    work(sampling const& owner, std::size_t q);
    partition part;
    std::unique_ptr<rule_counter> counter;
    partition_run run;
  };
  struct lane {
    std::unique_ptr<work> going;  // empty before the first choice and when it is finished
    bool finished = false;
    std::vector<choice> choices;
    partition_report report;
  };

  work const& start(std::size_t q);
  /// Starts partition q where it has not; whether it is done, and the document it chooses next.
  bool done(std::size_t q);
  std::size_t next_document(std::size_t q);
  void choose_on_devices(std::size_t iterations, std::optional<std::size_t> one);
  void advance_one(context const& ctx, std::size_t q, std::size_t iterations);
  std::int32_t ask(std::size_t document);
  bool finished() const;
  std::unordered_set<std::size_t> documents() const;

  context const& ctx_;
  datasets::binned_dataset const& data_;
  sampler_options const& options_;
  oracle const& label_of_;
  engine engine_;
  rules::validity valid_;
  std::vector<std::vector<std::size_t>> features_;
  std::vector<lane> lanes_;
  std::unique_ptr<sampler_on_devices> on_devices_;  // instead of the lanes' own work
  std::mutex mutex_;                                // for the oracle and the progress
  std::size_t chosen_in_all_ = 0;
};

}  // namespace rulerank::al
