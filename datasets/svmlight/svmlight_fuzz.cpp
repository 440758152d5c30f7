// Fuzz target (core/fuzzing.cpp): for any bytes, the reader returns the result of the plain reader,
// or names the line that the plain reader rejects, for every division of the text into chunks and
// for a stream.

#include "core/error.hpp"
#include "core/fuzzing.hpp"
#include "datasets/fuzzing.hpp"
#include "datasets/input/decompress.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/svmlight/read.hpp"
#include "datasets/svmlight/svmlight_reference.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

using namespace rulerank;
using namespace rulerank::fuzzing;
using namespace rulerank::datasets;
using namespace rulerank::datasets::fuzzing;

outcome parse(std::string const& text, svmlight_options const& options, int threads,
              std::size_t chunk_bytes) {
  context ctx;
  ctx.threads = threads;
  return outcome_of(
      [&] { return parse_svmlight_chunks(ctx, make_text(text), "f", options, {}, chunk_bytes); });
}

void require_reference(outcome const& got, std::string const& text,
                       svmlight_options const& options) {
  reference::outcome const expected = reference::read(text, options);
  require(got.line == expected.bad_line, "another line is at fault");
  if (expected.bad_line != 0) return;
  require(got.said.empty(), "an error without a fault");
  if (options.regroup) return;
  require(got.data.size() == expected.documents.size(), "another number of documents");
  for (std::size_t d = 0; d < got.data.size(); ++d) {
    reference::document const& e = expected.documents[d];
    auto const entries = got.data.document(d);
    require(got.data.labels[d] == e.label && got.data.line_numbers[d] == e.line_number &&
                got.data.lines[d] == e.line && entries.size() == e.features.size(),
            "another document");
    std::size_t i = 0;
    for (auto const& [feature, value] : e.features) {
      require(entries[i].feature == feature &&
                  (entries[i].value == value ||
                   (entries[i].value != entries[i].value && value != value)),
              "another entry");
      ++i;
    }
    got.data.docid(d);
  }
}

/// An archive must be read or rejected.
void read_archive(std::string const& bytes) {
  int ends[2];
  if (bytes.size() > 4096 || ::pipe(ends) != 0) return;
  require(::write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "no room in the pipe");
  ::close(ends[1]);
  try {
    text_stream stream(context(), ends[0], "f");
    std::size_t size = 0;
    for (std::string_view part = stream.next(); !part.empty() && size < (1 << 24);
         part = stream.next())
      size += part.size();
  } catch (error const&) {
  }
  ::close(ends[0]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  if (size < 2) return 0;
  svmlight_options options;
  options.zero_based = (bytes[0] & 1) != 0;
  options.regroup = (bytes[0] & 2) != 0;
  if ((bytes[0] & 4) != 0) options.unlabelled = -1;
  std::string const text(reinterpret_cast<char const*>(bytes) + 2, size - 2);
  if (make_decompressor(std::string_view(text).substr(0, magic_size)) != nullptr) {
    read_archive(text);
    return 0;
  }
  outcome const whole = parse(text, options, 1, text.size() + 1);
  outcome const chunks = parse(text, options, 1, 1 + bytes[1]);
  require(whole.said == chunks.said, "the cuts of the text change the error");
  require_same(whole.data, chunks.data);
  require_reference(whole, text, options);
  // With space after the text, its last lines also take the fast path.
  outcome const roomy = parse(text + "\n" + std::string(100, ' '), options, 1, text.size() + 200);
  require(whole.said == roomy.said, "room behind the text changes the error");
  require_same(whole.data, roomy.data);
  if (!options.regroup)
    require_stream(whole, text, [&](int descriptor, auto const& take_query) {
      stream_svmlight(context(), descriptor, "f", options, take_query);
    });
  return 0;
}

std::vector<std::string> rulerank::fuzzing::seeds() {
  std::vector<std::string> seeds{
      "1 qid:1 1:0.5 2:1\n0 qid:1 1:2\n1 qid:2 3:-0.25 # x\n",
      "2 qid:10 1:0.471076 2:1.000000 46:0 #docid = GX008-86-4444840 inc = 1 prob = 0.08\r\n",
      "\n# c\n +2.0 qid:a\t3:NULL 1:nan 2:1e-5 #\n",
      "1 1:.5 2:5. 2147483647:12345678.12345678\n0\n",
      "1 qid:1 1:0.12345678901234567890 12345678:1e400\n",
      "0 qid:1 0:1 5:1 3:2 5:1\n-1 qid:1\n",
      "1 qid:1 1:1e308 2:4.9e-324 3:1e-400 4:-inf\n",
      "\357\273\2771 qid:1\n1 qid:2\n1 qid:1 1:x\n",
      "1 qid:1 bm25:0.5 page_rank:NULL\n0 qid:1 page_rank:1 # x\n1 qid:2 3:1\n",
      "3 qid:1 1:999.9999999999999999 2:9007199254740993 3:0x1\n",
      // "1 qid:1 1:1" in gzip, and stored in zstd.
      std::string("\037\213\010\000\000\000\000\000\002\003\063\124\050\314\114\261\062\124\060"
                  "\264\062\344\002\000\365\124\070\212\014\000\000\000",
                  32),
      std::string(
          "\050\265\057\375\040\014\141\000\000\061\040\161\151\144\072\061\040\061\072\061\012",
          21),
  };
  for (std::string& seed : seeds) seed.insert(0, std::string("\0\x20", 2));
  return seeds;
}
