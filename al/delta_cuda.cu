#include "al/delta_state.cuh"
#include "al/device_delta.hpp"
#include "core/device_memory.hpp"
#include "core/error.hpp"
#include "core/for_each_device.hpp"
#include "core/per_device.hpp"
#include "core/stream.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

// The host side of `delta` on GPUs (docs/reference/modules/al.md, "delta"): memory, launches, and
// retrieval of the kernel's choices (delta_kernel.cu).
namespace rulerank::inline v0::al {

namespace {

/// Iterations per launch; stop requests are checked between launches.
constexpr std::uint32_t iterations_per_launch = 512;
constexpr std::uint32_t fewest_documents_per_block = 2048;

/// A device's memory for one partition.
struct partition_memory {
  device_buffer<std::uint8_t> codes;
  device_buffer<std::int32_t> totals, classes, gains;
  device_buffer<std::uint32_t> chosen, supports;
  device_buffer<feature_set> sets;
  device_buffer<gain> changes;
  device_buffer<device_choice> choices;
};

/// The state of one device.
struct device_state {
  std::vector<partition_memory> partitions;
  std::vector<partition_view> views;  // of `partitions`, on the host
  device_buffer<partition_view> views_on_device;
  device_buffer<partition_state> states;
  device_buffer<delta_key> smallest;
  device_buffer<std::uint32_t> counters;  // [partitions][2] arrived, epoch
  device_buffer<std::uint32_t> min_valid;
  stream queue;
  std::uint32_t blocks = 0;  // that run concurrently
};

/// Lists the sets of at most max_items features; returns the number of their itemsets.
std::uint64_t list_sets(partition const& part, std::size_t max_items,
                        std::vector<feature_set>& sets) {
  std::uint64_t itemsets = 0;
  std::vector<std::uint32_t> chosen;
  std::function<void(std::uint32_t)> extend = [&](std::uint32_t from) {
    for (std::uint32_t f = from; f < part.features(); ++f) {
      chosen.push_back(f);
      feature_set set;
      set.begin = itemsets;
      set.size = static_cast<std::uint32_t>(chosen.size());
      std::uint64_t count = 1;
      for (std::size_t i = chosen.size(); i-- > 0;) {
        set.feature[i] = static_cast<std::uint8_t>(chosen[i]);
        set.stride[i] = static_cast<std::uint32_t>(count);
        set.mask |= std::uint64_t{1} << chosen[i];
        count *= part.item_begin[chosen[i] + 1] - part.item_begin[chosen[i]];
        if (count > std::numeric_limits<std::uint32_t>::max())
          throw device_error(
              "found more itemsets in a partition than a GPU can count; use smaller rules or fewer "
              "bins");
      }
      itemsets += count;
      sets.push_back(set);
      if (chosen.size() < max_items) extend(f + 1);
      chosen.pop_back();
    }
  };
  extend(0);
  return itemsets;
}

/// The maximum itemset size in a partition. Throws `usage_error` for sizes that the kernel does not
/// support.
std::size_t most_items_of(partition const& part, std::size_t max_items) {
  if (part.features() > most_features)
    throw usage_error("found a partition of " + std::to_string(part.features()) +
                      " features, expected at most " + std::to_string(most_features) +
                      " on a GPU; use more partitions");
  std::size_t const most = std::min(max_items, part.features());
  if (most > most_delta_items)
    throw usage_error("found itemsets of " + std::to_string(most) + " items, expected at most " +
                      std::to_string(most_delta_items) + " on a GPU; use smaller rules");
  return most;
}

/// Whether kernels of all these devices can access the first one's memory.
bool can_reach_first(std::span<int const> devices) {
  for (int const device : devices.subspan(1)) {
    int can = 0;
    check_cuda(cudaDeviceCanAccessPeer(&can, device, devices[0]));
    if (can == 0) return false;
  }
  return true;
}

/// Gives kernels of `device` access to `memory` and all other memory of `owner`. It is not revoked,
/// because other code of the process may rely on it.
void let_reach(int device, void const* memory, int owner) {
  current_device const guard(device);
  cudaPointerAttributes seen{};
  check_cuda(cudaPointerGetAttributes(&seen, memory));
  if (seen.devicePointer == nullptr) check_cuda(cudaDeviceEnablePeerAccess(owner, 0));
}

class device_delta final : public sampler_on_devices {
 public:
  device_delta(context const& ctx, std::vector<partition> parts, std::size_t max_items,
               rules::validity const& valid, bool stop_rule,
               std::vector<std::int32_t> const& labels);

  using partition_loops::advance;
  void advance(context const& ctx, std::size_t iterations, chosen_fn const& chosen) override {
    run(ctx, 0, static_cast<std::uint32_t>(parts_.size()), iterations, chosen);
  }
  void advance(context const& ctx, std::size_t q, std::size_t iterations,
               chosen_fn const& chosen) override {
    auto const one = static_cast<std::uint32_t>(q);
    run(ctx, one, one + 1, iterations, chosen);
  }
  bool done(std::size_t q) const override { return now_[q].done != 0; }
  std::size_t next_document(std::size_t q) const override {
    return parts_[q].documents[now_[q].next.position];
  }
  partition_report const& report(std::size_t q) const override { return reports_[q]; }

 private:
  using set_lists = std::vector<std::vector<feature_set>>;  // [partitions]

  void make_messages();
  partition_state first_state(partition const& part, std::vector<std::int32_t> const& labels) const;
  void prepare_device(std::size_t i, set_lists const& sets, rules::validity const& valid,
                      std::vector<std::int32_t> const& labels);
  partition_view copy_partition(std::size_t q, index_range const& mine,
                                std::vector<feature_set> const& sets,
                                std::vector<std::int32_t> const& labels, partition_memory& memory);
  void launch(std::uint32_t begin, std::uint32_t end, std::uint32_t until);
  void run(context const& ctx, std::uint32_t begin, std::uint32_t end, std::size_t iterations,
           chosen_fn const& chosen);
  void report_choices(std::uint32_t q, bool labels_next, chosen_fn const& chosen);
  void set_class(std::size_t q, std::uint32_t position, std::int32_t label);
  void more_classes();
  void read_back(std::uint32_t begin, std::uint32_t end);

  std::vector<int> devices_;
  device_threads threads_{devices_};
  std::vector<partition> parts_;
  per_device<device_state> on_device_{devices_};
  std::vector<std::uint64_t> itemsets_;  // [partitions]
  // The messages, in the first device's memory if the others can access it, else on the host.
  device_buffer<device_message> messages_with_first_;
  pinned_buffer<device_message> messages_on_host_;
  device_message* messages_ = nullptr;
  pinned_buffer<std::uint32_t> abort_;
  std::uint32_t all_valid_up_to_;
  bool stop_rule_;
  bool labels_known_;
  std::unordered_map<std::int32_t, std::int32_t> class_of_;  // by label
  std::uint32_t class_count_ = 0;                            // capacity
  std::vector<partition_report> reports_;
  std::vector<partition_state> now_;
  std::vector<std::size_t> reported_;  // [partitions] number of choices already passed to `chosen`
  std::size_t shared_bytes_ = 0;
};

device_delta::device_delta(context const& ctx, std::vector<partition> parts, std::size_t max_items,
                           rules::validity const& valid, bool stop_rule,
                           std::vector<std::int32_t> const& labels)
    : devices_(ctx.devices),
      parts_(std::move(parts)),
      all_valid_up_to_(valid.all_valid_up_to()),
      stop_rule_(stop_rule),
      labels_known_(!labels.empty()),
      reports_(parts_.size()),
      now_(parts_.size()),
      reported_(parts_.size()) {
  if (std::set<int>(devices_.begin(), devices_.end()).size() != devices_.size())
    throw usage_error("found a device twice, expected each device once");
  for (std::int32_t const label : labels)
    if (label >= 0) class_of_.emplace(label, static_cast<std::int32_t>(class_of_.size()));
  class_count_ = std::max<std::uint32_t>(8, static_cast<std::uint32_t>(class_of_.size()));
  std::uint32_t widest = 0;
  set_lists sets(parts_.size());
  for (std::size_t q = 0; q < parts_.size(); ++q) {
    partition const& part = parts_[q];
    itemsets_.push_back(list_sets(part, most_items_of(part, max_items), sets[q]));
    if (part.features() <= widest_mask)
      widest = std::max(widest, static_cast<std::uint32_t>(part.features()));
    reports_[q].features = part.features();
    reports_[q].documents = part.size();
    now_[q] = first_state(part, labels);
  }
  shared_bytes_ = (std::size_t{1} << widest) * sizeof(std::int32_t);
  abort_ = pinned_buffer<std::uint32_t>(1);
  abort_[0] = 0;
  make_messages();
  threads_.run([&](std::size_t i) { prepare_device(i, sets, valid, labels); });
}

/// A partition's initial state: its most representative document is next.
partition_state device_delta::first_state(partition const& part,
                                          std::vector<std::int32_t> const& labels) const {
  partition_state state;
  state.done = part.size() == 0 ? 1 : 0;
  if (part.size() == 0) return state;
  state.next = {.position = static_cast<std::uint32_t>(part.first), .rules = 0};
  for (std::size_t f = 0; f < part.features(); ++f)
    state.next_codes[f / 8] |= delta_key{part.column(f)[part.first]} << (f % 8 * 8);
  state.next_class = labels_known_ && labels[part.documents[part.first]] >= 0
                         ? class_of_.at(labels[part.documents[part.first]])
                         : -1;
  return state;
}

void device_delta::make_messages() {
  if (devices_.size() == 1) return;  // a single device needs no messages
  std::size_t const count = parts_.size() * 2 * devices_.size();
  if (!can_reach_first(devices_)) {
    messages_on_host_ = pinned_buffer<device_message>(count);
    std::fill_n(messages_on_host_.data(), count, device_message{});
    messages_ = messages_on_host_.data();
    return;
  }
  current_device const guard(devices_[0]);
  messages_with_first_ = device_buffer<device_message>(count);
  messages_with_first_.fill_bytes(0);
  check_cuda(cudaDeviceSynchronize());
  messages_ = messages_with_first_.data();
  for (int const device : std::span(devices_).subspan(1)) let_reach(device, messages_, devices_[0]);
}

/// Copies all partitions to the i-th device, each with that device's share of the documents.
void device_delta::prepare_device(std::size_t i, set_lists const& sets,
                                  rules::validity const& valid,
                                  std::vector<std::int32_t> const& labels) {
  std::size_t const count = parts_.size();
  device_state& here = on_device_.make(i);
  here.min_valid = device_buffer<std::uint32_t>(valid.table());
  here.smallest = device_buffer<delta_key>(2 * count);
  here.smallest.fill_bytes(0xFF);
  here.counters = device_buffer<std::uint32_t>(2 * count);
  here.counters.fill_bytes(0);
  here.partitions.resize(count);
  for (std::size_t q = 0; q < count; ++q) {
    index_range const mine = even_range(parts_[q].size(), devices_.size(), i);
    partition_view view = copy_partition(q, mine, sets[q], labels, here.partitions[q]);
    view.smallest = here.smallest.data() + 2 * q;
    view.arrived = here.counters.data() + 2 * q;
    view.epoch = here.counters.data() + 2 * q + 1;
    here.views.push_back(view);
  }
  here.views_on_device = copy_to_device(here.views);
  here.states = copy_to_device(now_);
  here.blocks = delta_blocks(shared_bytes_);
  check_cuda(cudaDeviceSynchronize());
}

/// Copies partition q with some of its documents to the current device.
partition_view device_delta::copy_partition(std::size_t q, index_range const& mine,
                                            std::vector<feature_set> const& sets,
                                            std::vector<std::int32_t> const& labels,
                                            partition_memory& memory) {
  partition const& part = parts_[q];
  partition_view view;
  view.first = static_cast<std::uint32_t>(mine.begin);
  view.documents = static_cast<std::uint32_t>(mine.size());
  view.stride = static_cast<std::uint32_t>(round_up(std::max<std::size_t>(mine.size(), 1), 64));
  view.all_documents = static_cast<std::uint32_t>(part.size());
  view.features = static_cast<std::uint32_t>(part.features());
  view.set_count = static_cast<std::uint32_t>(sets.size());
  view.class_count = class_count_;
  std::size_t const supports = itemsets_[q] * (class_count_ + std::size_t{1});
  if (supports * 4 > memory_budget())
    throw device_error("the supports of " + std::to_string(itemsets_[q]) +
                       " itemsets of a partition do not fit the device's free memory: use more "
                       "partitions or smaller rules");
  memory.codes = device_buffer<std::uint8_t>(part.features() * view.stride);
  memory.codes.fill_bytes(datasets::no_item);
  check_cuda(cudaDeviceSynchronize());
  for (std::size_t f = 0; f < part.features() && mine.size() > 0; ++f)
    check_cuda(cudaMemcpy(memory.codes.data() + f * view.stride, part.column(f) + mine.begin,
                          mine.size(), cudaMemcpyHostToDevice));
  std::vector<std::int32_t> totals(view.stride, std::numeric_limits<std::int32_t>::max());
  std::fill_n(totals.begin(), mine.size(), 0);
  memory.totals = copy_to_device(totals);
  std::vector<std::int32_t> classes(std::max<std::size_t>(mine.size(), 1), -1);
  if (labels_known_)
    for (std::size_t p = 0; p < mine.size(); ++p) {
      std::int32_t const label = labels[part.documents[mine.begin + p]];
      if (label >= 0) classes[p] = class_of_.at(label);
    }
  memory.classes = copy_to_device(classes);
  memory.chosen = device_buffer<std::uint32_t>(view.stride / 32);
  memory.chosen.fill_bytes(0);
  memory.supports = device_buffer<std::uint32_t>(supports);
  memory.supports.fill_bytes(0);
  memory.sets = copy_to_device(sets);
  bool const by_mask = view.features <= widest_mask;
  memory.gains = device_buffer<std::int32_t>(by_mask ? std::size_t{1} << view.features : 0);
  memory.changes = device_buffer<gain>(by_mask ? 0 : sets.size());
  memory.choices = device_buffer<device_choice>(std::max<std::size_t>(part.size(), 1));
  view.codes = memory.codes.data();
  view.totals = memory.totals.data();
  view.chosen = memory.chosen.data();
  view.classes = memory.classes.data();
  view.sets = memory.sets.data();
  view.supports = memory.supports.data();
  view.gains = memory.gains.data();
  view.changes = memory.changes.data();
  view.choices = memory.choices.data();
  return view;
}

/// Starts the kernel on all devices concurrently, because they wait for each other.
void device_delta::launch(std::uint32_t begin, std::uint32_t end, std::uint32_t until) {
  std::uint32_t const partitions = end - begin;
  std::size_t most_documents = 1;
  for (std::uint32_t q = begin; q < end; ++q)
    most_documents = std::max(most_documents, parts_[q].size() / devices_.size() + 1);
  abort_[0] = 0;
  threads_.run([&](std::size_t i) {
    device_state& here = on_device_[i];
    delta_arguments const arguments{
        .partitions = here.views_on_device.data(),
        .states = here.states.data(),
        .begin = begin,
        .blocks = std::clamp<std::uint32_t>(
            static_cast<std::uint32_t>(most_documents / fewest_documents_per_block), 1,
            std::max(1U, here.blocks / partitions)),
        .until = until,
        .stop_rule = stop_rule_ ? 1U : 0U,
        .valid = {.min_valid = here.min_valid.data(), .all_valid_up_to = all_valid_up_to_},
        .device = static_cast<std::uint32_t>(i),
        .devices = static_cast<std::uint32_t>(devices_.size()),
        .messages = messages_,
        .abort = abort_.data()};
    try {
      launch_delta(arguments, partitions, shared_bytes_, here.queue.get());
      here.queue.synchronize();
    } catch (...) {
      // The other devices would wait for it forever.
      *static_cast<std::uint32_t volatile*>(abort_.data()) = 1;
      throw;
    }
  });
}

void device_delta::read_back(std::uint32_t begin, std::uint32_t end) {
  current_device const guard(devices_[0]);
  check_cuda(cudaMemcpy(now_.data() + begin, on_device_[0].states.data() + begin,
                        (end - begin) * sizeof(partition_state), cudaMemcpyDeviceToHost));
}

/// Doubles the number of classes that fit.
void device_delta::more_classes() {
  std::uint32_t const before = class_count_ + 1;
  class_count_ *= 2;
  threads_.run([&](std::size_t i) {
    device_state& here = on_device_[i];
    for (std::size_t q = 0; q < parts_.size(); ++q) {
      device_buffer<std::uint32_t>& supports = here.partitions[q].supports;
      device_buffer<std::uint32_t> larger(itemsets_[q] * (class_count_ + std::size_t{1}));
      larger.fill_bytes(0);
      check_cuda(cudaMemcpy2D(larger.data(), (class_count_ + std::size_t{1}) * 4, supports.data(),
                              std::size_t{before} * 4, std::size_t{before} * 4, itemsets_[q],
                              cudaMemcpyDeviceToDevice));
      supports = std::move(larger);
      here.views[q].supports = supports.data();
      here.views[q].class_count = class_count_;
    }
    here.views_on_device = copy_to_device(here.views);
    check_cuda(cudaDeviceSynchronize());
  });
}

/// Sends the devices the label that a partition waits for.
void device_delta::set_class(std::size_t q, std::uint32_t position, std::int32_t label) {
  auto const [found, is_new] =
      class_of_.emplace(label, static_cast<std::int32_t>(class_of_.size()));
  if (is_new && class_of_.size() > class_count_) more_classes();
  now_[q].next_class = found->second;
  std::int32_t const next_class = found->second;
  threads_.run([&](std::size_t i) {
    device_state& here = on_device_[i];
    check_cuda(cudaMemcpy(here.states.data() + q, &now_[q], sizeof(partition_state),
                          cudaMemcpyHostToDevice));
    partition_view const& view = here.views[q];
    if (position >= view.first && position - view.first < view.documents)
      check_cuda(cudaMemcpy(view.classes + (position - view.first), &next_class,
                            sizeof(std::int32_t), cudaMemcpyHostToDevice));
    check_cuda(cudaStreamSynchronize(nullptr));  // the copies may be staged only
  });
}

/// Calls chosen() for a partition's choices since the last call and, if the partition waits for it
/// and `labels_next`, requests the next choice's label.
void device_delta::report_choices(std::uint32_t q, bool labels_next, chosen_fn const& chosen) {
  partition_state const& state = now_[q];
  if (reported_[q] < state.iterations) {
    std::vector<device_choice> news(state.iterations - reported_[q]);
    {
      current_device const guard(devices_[0]);
      check_cuda(cudaMemcpy(news.data(), on_device_[0].partitions[q].choices.data() + reported_[q],
                            news.size() * sizeof(device_choice), cudaMemcpyDeviceToHost));
    }
    for (device_choice const& one : news) {
      std::size_t const iteration = reported_[q]++;
      static_cast<void>(chosen(q, parts_[q].documents[one.position], iteration, one.rules));
    }
  }
  if (state.waiting != 0 && labels_next) {
    device_choice const next = state.next;
    std::size_t const iteration = reported_[q]++;
    set_class(q, next.position,
              chosen(q, parts_[q].documents[next.position], iteration, next.rules));
  }
  reports_[q].iterations = state.iterations;
  reports_[q].stopped_after = state.stopped_after;
  reports_[q].rules_lost = state.lost;
}

void device_delta::run(context const& ctx, std::uint32_t begin, std::uint32_t end,
                       std::size_t iterations, chosen_fn const& chosen) {
  auto const started = std::chrono::steady_clock::now();
  auto const left = [&](std::uint32_t q) {
    return now_[q].done == 0 && (iterations == 0 || now_[q].iterations < iterations);
  };
  // Runs as many partitions at a time as have enough concurrent blocks.
  std::uint32_t at_once = end - begin;
  for (std::size_t i = 0; i < on_device_.size(); ++i)
    at_once = std::min(at_once, on_device_[i].blocks);
  for (std::uint32_t wave = begin; wave < end; wave += at_once) {
    std::uint32_t const wave_end = std::min(end, wave + at_once);
    for (;;) {
      ctx.check_stop();
      std::uint32_t fewest = std::numeric_limits<std::uint32_t>::max();
      for (std::uint32_t q = wave; q < wave_end; ++q)
        if (left(q)) fewest = std::min(fewest, now_[q].iterations);
      if (fewest == std::numeric_limits<std::uint32_t>::max()) break;
      std::uint64_t until = std::uint64_t{fewest} + iterations_per_launch;
      if (iterations != 0) until = std::min<std::uint64_t>(until, iterations);
      launch(wave, wave_end, static_cast<std::uint32_t>(until));
      read_back(wave, wave_end);
      for (std::uint32_t q = wave; q < wave_end; ++q) report_choices(q, left(q), chosen);
    }
  }
  // Partitions run concurrently: each is assigned the total time.
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - started;
  for (partition_report& report : reports_) report.seconds += took.count();
}

}  // namespace

std::unique_ptr<sampler_on_devices> make_delta_on_devices(
    context const& ctx, std::vector<partition> parts, std::size_t max_items,
    rules::validity const& valid, bool stop_rule, std::vector<std::int32_t> const& labels) {
  return std::make_unique<device_delta>(ctx, std::move(parts), max_items, valid, stop_rule, labels);
}

}  // namespace rulerank::al
