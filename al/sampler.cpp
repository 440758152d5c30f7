#include "al/sampler.hpp"

#include "al/measured_sampling.hpp"
#include "al/selection.hpp"
#include "core/error.hpp"

#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::al {

namespace {

/// The labels of the data set, or of an oracle, called one at a time and reported as progress.
class labels_at_once final : public label_source {
 public:
  labels_at_once(sampling_setup const& setup, oracle const& label_of)
      : setup_(setup), label_of_(label_of), whole_queries_(!setup.options.query_begin.empty()) {}

  bool knows_all() const override { return true; }
  bool left_out(std::size_t) const override { return false; }
  std::optional<std::int32_t> label(std::size_t document) override {
    std::lock_guard const lock(mutex_);
    setup_.ctx.report("documents chosen", ++chosen_, 0);
    std::int32_t const known = setup_.data.labels[document];
    bool const asked = label_of_ && (!whole_queries_ || known == datasets::unlabelled);
    std::int32_t const label = asked ? label_of_(document) : known;
    if (label < 0)
      throw usage_error(
          fmt::format("the chosen document {} has no label, expected a label", document));
    return label;
  }

 private:
  sampling_setup const& setup_;
  oracle const& label_of_;
  bool whole_queries_;
  std::mutex mutex_;
  std::uint64_t chosen_ = 0;
};

}  // namespace

sample reduce(context const& ctx, datasets::binned_dataset const& data,
              sampler_options const& options, oracle const& label_of) {
  return reduce_to_iterations(ctx, data, options, 0, label_of);
}

sample reduce_to_iterations(context const& ctx, datasets::binned_dataset const& data,
                            sampler_options const& options, std::size_t iterations,
                            oracle const& label_of) {
  engine_info const& which = choose_engine(engines(), options.engine, ctx);
  bool const whole_queries = !options.query_begin.empty();
  if (whole_queries && iterations != 0)
    throw usage_error(
        "found a fixed number of iterations together with whole queries, expected one of them");
  if (whole_queries && !includes(which.where, runs_on::cpu))
    throw usage_error(
        fmt::format("engine {} runs on GPUs alone, expected an engine for the CPU because whole "
                    "queries are chosen",
                    which.name));
  sampling_setup setup(ctx, data, options);
  setup.fixed_iterations = iterations;
  setup.labels_known = !label_of;
  sampling_engine const how =
      registered_engines().maker_of(which.which)(!whole_queries && !ctx.devices.empty());
  if (setup.labels_known && !whole_queries && has_processes(ctx)) share_out(setup, how);
  shared_partitions parts;
  if (whole_queries) parts = std::make_shared<std::vector<partition> const>(make_partitions(setup));
  auto const chosen = make_selection(setup, how, std::move(parts));
  labels_at_once labels(setup, label_of);
  chosen->advance(labels);
  sample result = chosen->take();
  result.engine = which.which;
  return result;
}

}  // namespace rulerank::al
