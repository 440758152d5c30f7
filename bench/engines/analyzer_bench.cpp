// The analyzer of text: bytes of text per second of CPU time on one thread, compared with the plain
// analyzer, which uses ICU for every word.
//
//   analyzer_bench PATH [BENCHMARK OPTIONS]     the documents of a file or a folder, after a check
//                                               that both find the same terms

#include "datasets/text/documents.hpp"
#include "knn/text/analyzer.hpp"
#include "knn/text/analyzer_reference.hpp"

#include <cstdio>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

using namespace rulerank;
using namespace rulerank::knn;

struct collection {
  std::vector<std::string> texts;
  std::size_t bytes = 0;
};

collection read_collection(std::string const& path) {
  collection result;
  datasets::read_documents(context{}, path, datasets::text_format::automatic,
                           [&](datasets::text_document&& document) {
                             for (auto& [name, text] : document.fields) {
                               result.bytes += text.size();
                               result.texts.push_back(std::move(text));
                             }
                           });
  return result;
}

template <class Analyzer>
void analyze(benchmark::State& state, collection const& documents,
             analyzer_options const& options) {
  Analyzer a(options);
  std::size_t terms = 0;
  for (auto _ : state) {
    terms = 0;
    for (std::string const& text : documents.texts)
      a.analyze(text, [&](std::string_view) { ++terms; });
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * documents.bytes));
  state.counters["terms"] = static_cast<double>(terms);
}

bool agree(collection const& documents, analyzer_options const& options) {
  analyzer fast(options);
  plain_analyzer plain(options);
  std::vector<std::string> a;
  std::vector<std::string> b;
  for (std::string const& text : documents.texts) {
    a.clear();
    b.clear();
    fast.analyze(text, [&](std::string_view term) { a.emplace_back(term); });
    plain.analyze(text, [&](std::string_view term) { b.emplace_back(term); });
    if (a != b) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: analyzer_bench PATH [BENCHMARK OPTIONS]\n", stderr);
    return 2;
  }
  collection const documents = read_collection(argv[1]);
  analyzer_options const usual;
  analyzer_options const bare{.stop_words = "none", .stemmer = "none"};
  if (!agree(documents, usual) || !agree(documents, bare)) {
    std::fputs("analyzer_bench: the terms are not those of the plain analyzer\n", stderr);
    return 1;
  }
  auto const add = [&](std::string const& name, analyzer_options const& options, auto const& work) {
    benchmark::RegisterBenchmark(name.c_str(), [&documents, options,
                                                work](benchmark::State& state) {
      work(state, documents, options);
    })->Unit(benchmark::kMillisecond);
  };
  add("analyzer/smart,english", usual, analyze<analyzer>);
  add("plain/smart,english", usual, analyze<plain_analyzer>);
  add("analyzer/none,none", bare, analyze<analyzer>);
  add("plain/none,none", bare, analyze<plain_analyzer>);
  argv[1] = argv[0];
  int count = argc - 1;
  char** rest = argv + 1;
  benchmark::Initialize(&count, rest);
  if (benchmark::ReportUnrecognizedArguments(count, rest)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
