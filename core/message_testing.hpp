#pragma once
// Compares messages of errors in tests of readers; not installed.

#include "core/error.hpp"

#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace rulerank::inline v0::testing_tools {

/// Returns the message of the `Error` that the work throws, or "OK" if it throws nothing. Other
/// exceptions propagate.
template <class Error = error, class Work>
std::string message_of(Work&& work) {
  try {
    work();
  } catch (Error const& e) {
    return e.what();
  }
  return "OK";
}

/// Returns the message of the error about the file at that path, without the path, which must begin
/// it; "OK" if the work throws nothing.
template <class Work>
std::string complaint_of(std::string const& path, Work&& work) {
  std::string const message = message_of(work);
  if (message == "OK") return message;
  EXPECT_TRUE(message.starts_with(path)) << message;
  return message.substr(path.size());
}

/// Returns whether a message is the expected one; `...` at its beginning or end represents any
/// text.
inline bool says(std::string_view message, std::string_view expected) {
  constexpr std::string_view any = "...";
  bool const any_begin = expected.starts_with(any);
  if (any_begin) expected.remove_prefix(any.size());
  bool const any_end = expected.ends_with(any);
  if (any_end) expected.remove_suffix(any.size());
  if (any_begin && any_end) return message.find(expected) != message.npos;
  if (any_begin) return message.ends_with(expected);
  return any_end ? message.starts_with(expected) : message == expected;
}

/// An input of a reader and the message about it, as `says` compares them.
struct input_and_message {
  std::string input;
  std::string message;
};

/// Expects for each input the message that `message_about(input)` returns.
template <class MessageAbout>
void expect_messages(std::span<input_and_message const> rows, MessageAbout&& message_about) {
  for (input_and_message const& row : rows)
    EXPECT_PRED2(says, message_about(row.input), row.message)
        << "input: " << testing::PrintToString(row.input);
}

}  // namespace rulerank::testing_tools
