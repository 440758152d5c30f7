#pragma once

#include "datasets/text_source.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace rulerank::datasets {

/// A text line by line as it comes: no more of it is in memory than a line and a piece of the
/// stream. Lines end with LF or CRLF, the last may end with the text; UTF-8's byte order mark in
/// front is passed over.
class line_stream {
 public:
  explicit line_stream(text_stream stream);

  /// Goes to the next line, the first at the first call; false when there is none. Throws as
  /// `text_stream::next`.
  bool next();
  /// The line without its end, valid until the next call of `next`.
  std::string_view line() const noexcept { return line_; }
  /// Its number, from 1.
  std::uint64_t number() const noexcept { return number_; }
  /// Bytes of the text up to its end.
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  text_stream stream_;
  std::string_view piece_;  // what of the stream's last piece is still to be read
  std::string begun_;       // a line that began in the pieces before
  std::string_view line_;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace rulerank::datasets
