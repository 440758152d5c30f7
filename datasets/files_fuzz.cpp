// libFuzzer: the readers of scores, judgments, runs, group sizes, cuts, documents, transactions,
// labels, answers and names read any bytes or say where they are wrong. The first byte picks the
// reader. svmlight_fuzz.cpp says how to build; bin/files_fuzz --seeds=DIR writes a corpus to start
// from.

#include "core/error.hpp"
#include "core/fuzzing.hpp"
#include "datasets/answers.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/documents.hpp"
#include "datasets/item_words.hpp"
#include "datasets/scores.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/transactions.hpp"
#include "datasets/trec.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace rulerank;
using namespace rulerank::fuzzing;
using namespace rulerank::datasets;

/// The bytes as a file of their own.
class memory_file {
 public:
  memory_file(std::uint8_t const* bytes, std::size_t size)
      : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    require(descriptor_ >= 0 && ::write(descriptor_, bytes, size) == static_cast<ssize_t>(size),
            "no memory file");
  }
  ~memory_file() { ::close(descriptor_); }
  memory_file(memory_file const&) = delete;
  memory_file& operator=(memory_file const&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

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

/// What is read, and what is written behind it, is there when the file is opened again.
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

// Long because it is one switch over all readers.
void read(int which, std::string const& path) {
  context const ctx;
  switch (which) {
    case 0: {
      score_list const scores = read_scores(ctx, path);
      require(!scores.values.empty(), "no score was read");
      for (double s : scores.values) require(std::isfinite(s), "a score is not finite");
      break;
    }
    case 1:
      require(!read_qrels(ctx, path).queries.empty(), "no judgment was read");
      break;
    case 2:
      require(!read_run(ctx, path).queries.empty(), "no run was read");
      break;
    case 3: {
      discretizer const cuts = read_discretizer(path);
      nlohmann::json const json = to_json(cuts);
      require(to_json(discretizer_from_json(json, path)) == json, "cuts do not come back");
      break;
    }
    case 4:
    case 7: {
      std::size_t documents = 0;
      auto const format = which == 4 ? text_format::automatic : text_format::svmlight;
      read_documents(ctx, path, format, [&](text_document&& document) {
        require(!document.id.empty(), "a document has no id");
        for (std::size_t i = 0; i < document.vector.size(); ++i)
          require(std::isfinite(document.vector[i].value) && document.vector[i].value != 0 &&
                      (i == 0 || document.vector[i - 1].feature < document.vector[i].feature),
                  "a vector is not in order");
        ++documents;
      });
      require(documents > 0, "no document was read");
      break;
    }
    case 5:
    case 6: {
      transactions const read = which == 5 ? read_fimi(ctx, path) : read_baskets(ctx, path, ',');
      require(read.size() > 0, "no transaction was read");
      for (std::uint32_t const x : read.items)
        require(x < read.names.size(), "an item has no name");
      break;
    }
    case 9:
      check_answers(read_labels(ctx, path, pool()), true);
      break;
    case 10:
      check_journal(path);
      break;
    case 11:
      for (auto const& [feature, name] : read_feature_names(ctx, path))
        require(!name.empty(), "a feature has no name");
      break;
    default: {
      svmlight_options options;
      options.group_file = path;
      parse_svmlight(ctx, "0 1:1\n1 1:2\n0 1:3\n", "text", options);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  if (size == 0) return 0;
  memory_file const file(bytes + 1, size - 1);
  try {
    read(bytes[0] % 12, file.path());
  } catch (error const& e) {
    require(!e.where().file.empty(), "an error names no file");
    require(e.where().line > 0, "an error names no line");
  }
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  write_seeds_where_asked(*argc, *argv, [] {
    std::vector<std::string> seeds{
        std::string("\0", 1) + "0.5\n-1e-3\n",
        std::string("\0", 1) + "q1\t0\t0.5\nq1\t1\t0.25\n",
        "\1q1 0 d1 1\nq1 0 d2 -1\n",
        "\2q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 0.25 tag\n",
        "\3{\"format\":\"rulerank-discretizer\",\"version\":1,\"method\":\"tube\",\"bins\":10,"
        "\"missing_values\":\"item\",\"unlisted\":\"zero\",\"norm\":\"none\",\"features\":"
        "[{\"feature\":1,\"cuts\":[0.5,1.5]},{\"feature\":2,\"cuts\":[]}]}",
        "\10"
        "2\n1\n",
        "\5"
        "1 2 2\n\n4294967295 0\r\n",
        "\6green tea, milk\n\nmilk",
        "\4"
        "1\tone\n2\ttwo\r\n",
        "\4{\"id\":1,\"label\":\"l\",\"text\":\"one\"}\n{\"id\":\"b\",\"title\":\"\"}\n",
        "\4.I 1\n.T\na title\n.W\ntext\n.I 2\n.W\n",
        "\7-1 3:0.5 0:-2 # one\n+1.5 qid:2 7:1e-3\n",
        "\11line\tdocid\tqid\tlabel\tcomment\n0\ta\t1\t2\tdocid = a\r\n2\t2-2\t2\tskip\n",
        "\11\"label\"\tline\n\t1\n\"0\"\t\"1\"\n\t\n",
        "\12# rulerank answers 1 id\nline\tdocid\tanswer\n0\ta\t1\n0\ta\tundo\n0\ta\tskip\n2\t2-",
        "\13# names\n1\tBM25 of title\n 7  inlinks\r\n",
    };
    return seeds;
  });
  return 0;
}
