#pragma once
// Shared by the fuzz targets of data sets.

#include "core/context.hpp"
#include "core/error.hpp"
#include "core/fuzzing.hpp"
#include "datasets/dataset.hpp"
#include "datasets/svmlight.hpp"

#include <bit>
#include <cstdint>
#include <functional>
#include <string>

#include <unistd.h>

namespace rulerank::inline v0::datasets::fuzzing {

using rulerank::fuzzing::require;

/// The result of reading: documents, or a message and its line.
struct outcome {
  dataset data;
  std::string said;
  std::uint64_t line = 0;
};

inline outcome outcome_of(std::function<dataset()> const& read) {
  outcome result;
  try {
    result.data = read();
  } catch (error const& e) {
    result.said = e.what();
    result.line = e.where().line;
  }
  return result;
}

inline bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

inline void require_same(dataset const& a, dataset const& b) {
  require(a.labels == b.labels && a.names == b.names && a.ids == b.ids && a.row == b.row &&
              a.lines == b.lines && a.line_numbers == b.line_numbers &&
              a.queries.size() == b.queries.size(),
          "the cuts of the text change the result");
  for (std::size_t q = 0; q < a.queries.size(); ++q)
    require(a.queries[q].qid == b.queries[q].qid && a.queries[q].begin == b.queries[q].begin &&
                a.queries[q].end == b.queries[q].end,
            "the cuts of the text change the queries");
  for (std::size_t i = 0; i < a.entries.size(); ++i)
    require(a.entries[i].feature == b.entries[i].feature &&
                same_bits(a.entries[i].value, b.entries[i].value),
            "the cuts of the text change the entries");
}

/// Reads a stream query by query.
using stream_reader =
    std::function<void(int descriptor, std::function<void(dataset const&)> const& take_query)>;
/// Reads the text through a pipe, whose capacity suffices for a fuzzer's inputs.
inline void require_stream(outcome const& got, std::string const& text,
                           stream_reader const& stream) {
  if (text.size() > 4096) return;
  int ends[2];
  require(::pipe(ends) == 0, "no pipe");
  require(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()),
          "no room in the pipe");
  ::close(ends[1]);
  std::string said;
  std::size_t documents = 0;
  try {
    stream(ends[0], [&](dataset const& query) {
      for (std::size_t d = 0; d < query.size(); ++d, ++documents) {
        if (!got.said.empty()) continue;
        require(documents < got.data.size() && query.lines[d] == got.data.lines[documents] &&
                    query.labels[d] == got.data.labels[documents] &&
                    query.line_numbers[d] == got.data.line_numbers[documents],
                "the stream gives another document");
      }
    });
    require(documents == got.data.size(), "the stream gives another number of documents");
  } catch (error const& e) {
    said = e.what();
  }
  ::close(ends[0]);
  // Only a stream ends queries at empty lines.
  if (said.find(", expected its lines together (the blank line ") != said.npos) return;
  require(said == got.said, "the stream says something else");
}

}  // namespace rulerank::datasets::fuzzing
