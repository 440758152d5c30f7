#include "core/for_each_device.hpp"
#include "core/per_device.hpp"
#include "l2r/rules/cuda_engine.cuh"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

namespace rulerank::inline v0::l2r {

namespace {

/// A batch of documents in transfer to or from a device, or being scored.
struct batch_in_flight {
  stream copies;
  event sent, computed;
  pinned_buffer<std::uint8_t> host_codes;
  device_buffer<std::uint8_t> codes;
  device_buffer<double> scores;
  pinned_buffer<double> host_scores;
  index_range documents;  // range in the call whose scores are pending; empty: free
};

/// The state of one device.
struct device_state {
  std::optional<device_training> training;
  std::unique_ptr<device_scorer> scorer;
  stream compute;  // runs the batches' kernels in sequence, because they share the scorer's memory
  batch_in_flight batches[2];
  event first_kernel, last_kernel;  // before the first and after the last kernel of a call
  device_buffer<score_sums<std::uint64_t>> sums;  // used if devices share the features
  pinned_buffer<score_sums<std::uint64_t>> host_sums;
  std::size_t capacity = 0;  // documents for which memory is allocated
};

class engine_on_devices final : public scoring_engine {
 public:
  engine_on_devices(std::span<int const> devices, prepared_training const& training,
                    make_scorer const& make)
      : devices_(devices.begin(), devices.end()), training_(training), on_device_(devices) {
    if (devices_.empty())
      throw device_error("this engine needs a GPU, and no CUDA device was found");
    threads_.run([&](std::size_t i) {
      device_state& here = on_device_.make(i);
      here.training.emplace(training);
      here.scorer = make(training, *here.training);
    });
  }

  void score(context const& ctx, known_items const& test, scored& result) override {
    if (test.documents() == 0) return;
    if (shares_features(test.documents()))
      score_by_features(ctx, test, result);
    else
      score_by_documents(ctx, test, result);
  }

 private:
  /// Whether the scorers prefer all documents on every device and every device has memory for them.
  bool shares_features(std::size_t documents) const {
    if (devices_.size() < 2 || documents > largest_batch ||
        !on_device_[0].scorer->shares_features(documents))
      return false;
    std::atomic<bool> fits{true};
    threads_.run([&](std::size_t i) {
      if (!on_device_[i].scorer->shares_features(documents) ||
          batch_size(on_device_[i], documents) < documents)
        fits = false;
    });
    return fits;
  }

  /// The devices' host threads each copy a share of the codes and add a share of the sums.
  void score_by_features(context const& ctx, known_items const& test, scored& result) {
    std::size_t const documents = test.documents();
    std::size_t const features = training_.features.size();
    std::size_t const stride = round_up(documents, alignment);
    auto const count = static_cast<std::uint32_t>(devices_.size());
    ctx.check_stop();
    shared_codes_.reserve(features * stride);
    threads_.run([&](std::size_t i) {
      index_range const mine = even_range(features, count, i);
      for (std::size_t f = mine.begin; f < mine.end; ++f)
        copy_codes(test, f, {0, documents}, shared_codes_.data() + f * stride);
    });
    threads_.run([&](std::size_t i) {
      device_state& here = on_device_[i];
      batch_in_flight& batch = here.batches[0];
      batch.copies.synchronize();  // an earlier call may have been interrupted
      make_capacity(here, documents);
      batch.codes.reserve(features * stride);
      here.sums.reserve(documents);
      here.host_sums.reserve(documents);
      check_cuda(cudaMemcpyAsync(batch.codes.data(), shared_codes_.data(), features * stride,
                                 cudaMemcpyHostToDevice, here.compute.get()));
      here.first_kernel.record(here.compute);
      here.scorer->score_part(view_of(here, batch, documents, stride),
                              {static_cast<std::uint32_t>(i), count}, here.sums.data(),
                              here.compute);
      here.last_kernel.record(here.compute);
      check_cuda(cudaMemcpyAsync(here.host_sums.data(), here.sums.data(),
                                 documents * sizeof(score_sums<std::uint64_t>),
                                 cudaMemcpyDeviceToHost, here.compute.get()));
      here.compute.synchronize();
    });
    threads_.run([&](std::size_t i) {
      index_range const mine = even_range(documents, count, i);
      for (std::size_t d = mine.begin; d < mine.end; ++d) {
        score_sums<std::uint64_t> sums;
        for (std::size_t from = 0; from < on_device_.size(); ++from)
          sums += on_device_[from].host_sums.data()[d];
        result.scores[d] = score_of(sums, training_.table.mean_label());
      }
      std::lock_guard const lock(counting_);
      result.timings.device_s =
          std::max(result.timings.device_s,
                   on_device_[i].last_kernel.seconds_since(on_device_[i].first_kernel));
    });
    ctx.report("rank", documents, documents);
  }

  void score_by_documents(context const& ctx, known_items const& test, scored& result) {
    std::atomic<std::size_t> done{0};
    threads_.run([&](std::size_t i) {
      device_state& here = on_device_[i];
      index_range const mine = even_range(test.documents(), devices_.size(), i);
      if (mine.size() == 0) return;
      std::size_t const at_once = batch_size(here, mine.size());
      make_capacity(here, at_once);
      for (batch_in_flight& batch : here.batches) {  // an earlier call may have been interrupted
        batch.copies.synchronize();
        batch.documents = {};
      }
      std::size_t next = 0;
      for (std::size_t begin = mine.begin; begin < mine.end; begin += at_once, next ^= 1) {
        ctx.check_stop();
        batch_in_flight& batch = here.batches[next];
        done += take(batch, result.scores);
        if (i == 0) ctx.report("rank", done, test.documents());
        send(here, batch, test, mine, {begin, std::min(mine.end, begin + at_once)});
      }
      done += take(here.batches[next], result.scores);
      done += take(here.batches[next ^ 1], result.scores);
    });
    threads_.run([&](std::size_t i) {
      if (even_range(test.documents(), devices_.size(), i).size() == 0) return;
      device_state& here = on_device_[i];
      std::lock_guard const lock(counting_);
      here.scorer->add_counts(result);
      result.timings.device_s =
          std::max(result.timings.device_s, here.last_kernel.seconds_since(here.first_kernel));
    });
  }

  /// Documents per batch: as many as fit the memory, because work they share is done once.
  std::size_t batch_size(device_state const& here, std::size_t documents) const {
    std::size_t const wanted = std::min(round_up(documents, alignment), largest_batch);
    if (wanted <= here.capacity) return wanted;
    std::size_t const features = std::max<std::size_t>(training_.features.size(), 1);
    std::size_t const each = 2 * (features + sizeof(double)) + here.scorer->bytes_per_document();
    std::size_t fit = here.capacity + memory_budget() / each;
    if (std::size_t const most = training_.knobs.device_bytes; most > 0)
      fit = std::min(fit, most / each);
    fit = fit / alignment * alignment;
    if (fit == 0)
      throw device_error("a batch of " + std::to_string(alignment) + " documents, " +
                         std::to_string(alignment * each) +
                         " bytes, exceeds the device's free memory");
    return std::min(wanted, fit);
  }

  static void make_capacity(device_state& here, std::size_t documents) {
    std::size_t const before = std::exchange(here.capacity, 0);  // remains if the next line throws
    here.scorer->reserve(documents);
    here.capacity = std::max(before, documents);
  }

  void send(device_state& here, batch_in_flight& batch, known_items const& test,
            index_range const& all, index_range const& documents) {
    std::size_t const features = training_.features.size();
    std::size_t const stride = round_up(documents.size(), alignment);
    batch.host_codes.reserve(features * stride);
    batch.codes.reserve(features * stride);
    batch.scores.reserve(documents.size());
    batch.host_scores.reserve(documents.size());
    for (std::size_t f = 0; f < features; ++f)
      copy_codes(test, f, documents, batch.host_codes.data() + f * stride);
    check_cuda(cudaMemcpyAsync(batch.codes.data(), batch.host_codes.data(), features * stride,
                               cudaMemcpyHostToDevice, batch.copies.get()));
    batch.sent.record(batch.copies);
    batch.sent.hold(here.compute);
    if (documents.begin == all.begin) here.first_kernel.record(here.compute);
    here.scorer->score(view_of(here, batch, documents.size(), stride), batch.scores.data(),
                       here.compute);
    if (documents.end == all.end) here.last_kernel.record(here.compute);
    batch.computed.record(here.compute);
    batch.computed.hold(batch.copies);
    check_cuda(cudaMemcpyAsync(batch.host_scores.data(), batch.scores.data(),
                               documents.size() * sizeof(double), cudaMemcpyDeviceToHost,
                               batch.copies.get()));
    batch.documents = documents;
  }

  document_view view_of(device_state const& here, batch_in_flight const& batch,
                        std::size_t documents, std::size_t stride) const {
    document_view view;
    view.documents = static_cast<std::uint32_t>(documents);
    view.features = static_cast<std::uint32_t>(training_.features.size());
    view.codes = batch.codes.data();
    view.stride = stride;
    view.rows = here.training->row_of_code();
    return view;
  }

  /// Copies the codes of feature f.
  static void copy_codes(known_items const& test, std::size_t f, index_range const& documents,
                         std::uint8_t* to) {
    std::uint8_t const* const from = test.codes(f);
    if (from == nullptr)
      std::memset(to, datasets::no_item, documents.size());
    else
      std::memcpy(to, from + documents.begin, documents.size());
  }

  /// Waits for a batch and takes its scores; returns the number of documents.
  static std::size_t take(batch_in_flight& batch, std::vector<double>& scores) {
    std::size_t const n = batch.documents.size();
    if (n == 0) return 0;
    batch.copies.synchronize();
    std::copy_n(batch.host_scores.data(), n,
                scores.begin() + static_cast<std::ptrdiff_t>(batch.documents.begin));
    batch.documents = {};
    return n;
  }

  static constexpr std::size_t largest_batch = std::size_t{1} << 18;

  std::vector<int> devices_;
  mutable device_threads threads_{devices_};
  prepared_training const& training_;
  per_device<device_state> on_device_;
  pinned_buffer<std::uint8_t> shared_codes_;  // of all documents, for all devices
  std::mutex counting_;
};

}  // namespace

std::unique_ptr<scoring_engine> on_devices(std::span<int const> devices,
                                           prepared_training const& training,
                                           make_scorer const& make) {
  return std::make_unique<engine_on_devices>(devices, training, make);
}

}  // namespace rulerank::l2r
