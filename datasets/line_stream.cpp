#include "datasets/line_stream.hpp"

#include "datasets/svmlight_parser.hpp"

#include <utility>

namespace rulerank::datasets {

line_stream::line_stream(text_stream stream) : stream_(std::move(stream)) {}

bool line_stream::next() {
  begun_.clear();
  std::size_t feed = piece_.find('\n');
  while (feed == piece_.npos) {
    begun_ += piece_;
    piece_ = stream_.next();
    if (piece_.empty()) break;
    feed = piece_.find('\n');
  }
  if (feed == piece_.npos && begun_.empty()) return false;
  line_ = piece_.substr(0, feed);
  if (!begun_.empty()) line_ = begun_ += line_;
  piece_.remove_prefix(feed == piece_.npos ? piece_.size() : feed + 1);
  bytes_ += line_.size() + (feed == piece_.npos ? 0 : 1);
  if (number_++ == 0) remove_byte_order_mark(line_);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  return true;
}

}  // namespace rulerank::datasets
