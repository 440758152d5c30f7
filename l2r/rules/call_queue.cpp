#include "l2r/rules/call_queue.hpp"

#include "core/aligned.hpp"

#include <algorithm>
#include <utility>

namespace rulerank::inline v0::l2r {

void call_queue::score(context const& ctx, known_items const& documents, scored& result) {
  call mine{ctx, documents, result};
  std::unique_lock lock(mutex_);
  waiting_.push_back(&mine);
  while (!mine.is_done) {
    if (is_busy_) {
      changed_.wait(lock);
      continue;
    }
    is_busy_ = true;
    std::list<call*> const calls = take();
    lock.unlock();
    score_now(calls);
    lock.lock();
    for (call* const one : calls) one->is_done = true;
    is_busy_ = false;
    changed_.notify_all();
  }
  if (mine.failure) std::rethrow_exception(mine.failure);
}

std::size_t call_queue::waiting() const {
  std::lock_guard const lock(mutex_);
  return waiting_.size();
}

std::list<call_queue::call*> call_queue::take() {
  std::list<call*> taken;
  std::size_t documents = 0;
  do {
    documents += waiting_.front()->documents.documents();
    taken.splice(taken.end(), waiting_, waiting_.begin());
  } while (!waiting_.empty() && documents < most_joined_ &&
           waiting_.front()->documents.documents() <= most_joined_ - documents);
  return taken;
}

void call_queue::score_now(std::list<call*> const& calls) {
  try {
    if (calls.size() == 1)
      engine_.score(calls.front()->ctx, calls.front()->documents, calls.front()->result);
    else
      score_joined(calls);
  } catch (...) {
    for (call* const one : calls) one->failure = std::current_exception();
  }
}

void call_queue::score_joined(std::list<call*> const& calls) {
  datasets::binned_dataset all;
  for (call const* const one : calls) all.documents += one->documents.documents();
  all.stride = round_up(all.documents, alignment);
  all.features = training_.features;
  all.item_begin = training_.item_begin;
  all.has_missing_item = training_.has_missing_item;
  all.codes.assign(all.feature_count() * all.stride, datasets::no_item);
  std::size_t begin = 0;
  for (call const* const one : calls) {
    std::size_t const documents = one->documents.documents();
    for (std::size_t f = 0; f < all.feature_count(); ++f)
      if (std::uint8_t const* const codes = one->documents.codes(f))
        std::copy_n(codes, documents, all.codes.data() + f * all.stride + begin);
    begin += documents;
  }
  context ctx = calls.front()->ctx;
  ctx.stop = {};
  ctx.progress = {};
  scored joined;
  joined.scores.resize(all.documents);
  engine_.score(ctx, known_items(training_, all), joined);
  auto from = joined.scores.cbegin();
  for (call* const one : calls) {
    auto const end = from + static_cast<std::ptrdiff_t>(one->documents.documents());
    one->result.scores.assign(from, end);
    one->result.joined_calls = calls.size();
    one->result.timings.device_s = joined.timings.device_s;
    from = end;
  }
}

}  // namespace rulerank::l2r
