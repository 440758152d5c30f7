// Fuzz target (core/fuzzing.cpp): for any bytes, every division of a CSV text into chunks and a
// stream of it give the same documents or the same error; written documents are read back
// unchanged.

#include "core/fuzzing.hpp"
#include "core/output_file.hpp"
#include "datasets/delimited/read.hpp"
#include "datasets/fuzzing.hpp"
#include "datasets/input/decompress.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace {

using namespace rulerank;
using namespace rulerank::fuzzing;
using namespace rulerank::datasets;
using namespace rulerank::datasets::fuzzing;

/// `warned`: whether something was skipped, which a stream does not support.
outcome parse(std::string const& text, read_options const& options, int threads,
              std::size_t chunk_bytes, bool& warned) {
  context ctx;
  ctx.threads = threads;
  return outcome_of([&] {
    return parse_delimited_chunks(
        ctx, make_text(text), "f.csv", ',', options, [&](std::string const&) { warned = true; },
        chunk_bytes);
  });
}

/// After writing and reading, only lines and line numbers may differ.
void require_written(dataset const& data, read_options const& options) {
  static std::string const path =
      (std::filesystem::temp_directory_path() / fmt::format("delimited_fuzz.{}.csv", ::getpid()))
          .string();
  output_file out(path);
  write_dataset(data, out);
  out.commit();
  read_options again = options;
  again.unlabelled = unlabelled;
  again.group_file.clear();
  dataset read = read_dataset(context(), path, again);
  std::filesystem::remove(path);
  read.lines = data.lines;
  read.line_numbers = data.line_numbers;
  require_same(data, read);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  if (size < 2) return 0;
  read_options options;
  options.zero_based = (bytes[0] & 1) != 0;
  options.regroup = (bytes[0] & 2) != 0;
  if ((bytes[0] & 4) != 0) options.unlabelled = -1;
  options.fractional_labels = (bytes[0] & 8) != 0;
  options.optional_labels = (bytes[0] & 16) != 0;
  std::string const text(reinterpret_cast<char const*>(bytes) + 2, size - 2);
  // A stream and a file would be decompressed.
  if (make_decompressor(std::string_view(text).substr(0, magic_size)) != nullptr) return 0;
  bool warned = false;
  outcome const whole = parse(text, options, 1, text.size() + 1, warned);
  outcome const chunks = parse(text, options, 1, 1 + bytes[1], warned);
  require(whole.said == chunks.said, "the cuts of the text change the error");
  require_same(whole.data, chunks.data);
  if (!options.regroup && !warned)
    require_stream(whole, text, [&](int descriptor, auto const& take_query) {
      stream_dataset(context(), descriptor, "f.csv", options, take_query);
    });
  if (whole.said.empty() && bytes[1] % 16 == 0) require_written(whole.data, options);
  return 0;
}

std::vector<std::string> rulerank::fuzzing::seeds() {
  std::vector<std::string> seeds{
      "label,qid,a\n1,q,0.5\n0,q,\n2,r,NULL\n",
      "docid,\"b\",label,qid\r\n\"x\"\"y\",1e-5,2,1\r\n\r\n,nan,0,1\r\n",
      "\xef\xbb\xbfqid,1,02\nq,1,2\n",
      "label,qid,\"a\nb\",c\n 1 , q,\"2\",\"\"\n1,\"q\n\",3,4\n",
      "label,a\n0.5,1\n-1,2\n",
      "label,qid\n1,q\n1,r\n1,q\n1,\"q\"x\n",
  };
  for (std::string& seed : seeds) seed.insert(0, std::string("\0\x20", 2));
  return seeds;
}
