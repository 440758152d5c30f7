// Fuzz target (core/fuzzing.cpp): the readers of label tables and answer journals accept any bytes
// or report where they are invalid. The first byte selects the reader.

#include "al/answers.hpp"
#include "core/error.hpp"
#include "core/fuzzing.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace rulerank;
using namespace rulerank::al;
using namespace rulerank::datasets;
using namespace rulerank::fuzzing;

dataset const& pool() {
  static dataset const documents = [] {
    svmlight_options options;
    options.unlabelled = -1;
    return parse_svmlight(context{},
                          "-1 qid:1 1:1 # docid = a\n0 qid:1 1:2 # docid = \"b\" and more\n"
                          "-1 qid:2 1:3\n",
                          "pool", options);
  }();
  return documents;
}

void check_answers(std::span<answer const> answers, bool distinct) {
  std::set<std::size_t> seen;
  for (answer const& a : answers) {
    require(a.document < pool().size(), "an answer is about no document");
    require(!a.label || *a.label >= 0, "a label is negative");
    require(seen.insert(a.document).second || !distinct, "a document has two answers");
  }
}

/// A reopened journal has the answers read before and those added.
void check_journal(std::string const& path) {
  std::vector<answer> kept;
  {
    answer_journal journal(path, "id", pool());
    kept.assign(journal.answers().begin(), journal.answers().end());
    check_answers(kept, false);
    journal.add(0, {});
    journal.undo();
    journal.add(1, 3);
    kept.push_back({1, 3});
  }
  answer_journal const again(path, "id", pool());
  require(std::ranges::equal(again.answers(), kept), "answers do not come back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  if (size == 0) return 0;
  memory_file const file({reinterpret_cast<char const*>(bytes) + 1, size - 1});
  try {
    if (bytes[0] % 2 == 0)
      check_answers(read_labels({}, file.path(), pool()), true);
    else
      check_journal(file.path());
  } catch (error const& e) {
    require(!e.where().file.empty(), "an error names no file");
    require(e.where().line > 0, "an error names no line");
  }
  return 0;
}

std::vector<std::string> rulerank::fuzzing::seeds() {
  std::string const table(1, '\0');
  return {
      table + "line\tdocid\tqid\tlabel\tcomment\n0\ta\t1\t2\tdocid = a\r\n2\t2-2\t2\tskip\n",
      table + "\"label\"\tline\n\t1\n\"0\"\t\"1\"\n\t\n",
      "\1# rulerank answers 1 id\nline\tdocid\tanswer\n0\ta\t1\n0\ta\tundo\n0\ta\tskip\n2\t2-",
  };
}
