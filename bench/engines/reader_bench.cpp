// The SVMlight/LETOR reader: bytes of text per second. With one thread, of CPU time, which is
// independent of other processes; with two threads, of wall time.
//
//   reader_bench                      times generated texts, after a check of what was read
//   reader_bench --file=F             times the reading of a file (mapped, so from the page cache)
//   reader_bench --write=F            writes the text "letor46" to F, for reader_peer.py

#include "core/context.hpp"
#include "core/output_file.hpp"
#include "core/random.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

namespace {

using namespace rulerank;
using namespace rulerank::datasets;

/// A text and its expected content.
struct sample_text {
  std::shared_ptr<text_source const> text;
  std::vector<std::int32_t> labels;
  std::vector<feature_value> entries;
  std::size_t queries = 0;
};

enum class style {
  letor,     // normalized values with six decimals: MQ2008, OHSUMED
  mslr,      // counts and raw scores
  full,      // shortest round-trip decimals, up to 17 digits
  missing,   // integers and NULL
  unsorted,  // letor, features in descending order
};

std::string value_text(style form, random_engine& engine) {
  double const unit = uniform_unit(engine);
  switch (form) {
    case style::letor:
    case style::unsorted:
      return unit < 0.2 ? "0.000000" : unit < 0.3 ? "1.000000" : fmt::format("{:.6f}", unit);
    case style::mslr:
      return unit < 0.4   ? fmt::format("{}", uniform_below(engine, 30))
             : unit < 0.5 ? fmt::format("{}", uniform_below(engine, 100000))
                          : fmt::format("{}{:.6f}", unit < 0.6 ? "-" : "", unit * 40);
    case style::full:
      return fmt::format("{}", unit);
    case style::missing:
      return unit < 0.4 ? "NULL" : fmt::format("{}", uniform_below(engine, 400));
  }
  return {};
}

sample_text make_sample(style form, std::uint32_t features, std::size_t bytes) {
  random_engine engine(1);
  sample_text sample;
  std::string text;
  text.reserve(bytes + 8192);
  std::size_t left = 0;
  while (text.size() < bytes) {
    if (left == 0) {
      ++sample.queries;
      left = 1 + uniform_below(engine, 40);
    }
    --left;
    auto const label = static_cast<std::int32_t>(uniform_below(engine, 5));
    sample.labels.push_back(label);
    text += fmt::format("{} qid:{}", label, 10000 + sample.queries);
    std::size_t const first = sample.entries.size();
    for (std::uint32_t i = 1; i <= features; ++i) {
      std::uint32_t const feature = form == style::unsorted ? features + 1 - i : i;
      std::string const value = value_text(form, engine);
      text += fmt::format(" {}:{}", feature, value);
      sample.entries.push_back({feature, value == "NULL" ? std::stod("nan") : std::stod(value)});
    }
    if (form == style::unsorted)
      std::reverse(sample.entries.begin() + static_cast<std::ptrdiff_t>(first),
                   sample.entries.end());
    text += fmt::format(" #docid = GX{:03}-{:02}-{:07} inc = 1 prob = {:.6f}\n",
                        uniform_below(engine, 300), uniform_below(engine, 99),
                        uniform_below(engine, 9999999), uniform_unit(engine));
  }
  sample.text = make_text(std::move(text));
  return sample;
}

bool agrees(dataset const& data, sample_text const& sample) {
  auto const same = [](feature_value const& a, feature_value const& b) {
    return a.feature == b.feature &&
           (a.value == b.value || (a.value != a.value && b.value != b.value));
  };
  return data.labels == sample.labels && data.queries.size() == sample.queries &&
         std::equal(data.entries.begin(), data.entries.end(), sample.entries.begin(),
                    sample.entries.end(), same);
}

constexpr std::size_t sample_bytes = std::size_t{64} << 20;

void read_sample(benchmark::State& state, style form, std::uint32_t features) {
  sample_text const sample = make_sample(form, features, sample_bytes);
  context ctx;
  ctx.threads = static_cast<int>(state.range(0));
  if (!agrees(parse_svmlight(ctx, sample.text, "sample"), sample)) {
    state.SkipWithError("what was read is not what was written");
    return;
  }
  for (auto _ : state) {
    dataset const data = parse_svmlight(ctx, sample.text, "sample");
    benchmark::DoNotOptimize(data.entries.data());
  }
  state.SetBytesProcessed(
      static_cast<std::int64_t>(state.iterations() * sample.text->bytes().size()));
  state.counters["entries"] = static_cast<double>(sample.entries.size());
}

void reads_file(benchmark::State& state, std::string const& path) {
  context ctx;
  ctx.threads = static_cast<int>(state.range(0));
  std::size_t bytes = 0;
  dataset data;
  for (auto _ : state) {
    data = dataset();
    data = read_svmlight(ctx, path);
    bytes += data.text->bytes().size();
  }
  double sum = 0;
  for (feature_value const& entry : data.entries) sum += entry.value;
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.counters["documents"] = static_cast<double>(data.size());
  state.counters["queries"] = static_cast<double>(data.queries.size());
  state.counters["entries"] = static_cast<double>(data.entries.size());
  state.counters["sum"] = sum;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    if (argument.starts_with("--write=")) {
      write_file(argument.substr(8), make_sample(style::letor, 46, sample_bytes).text->bytes());
      return 0;
    }
    if (argument.starts_with("--file=")) {
      std::string const path = argument.substr(7);
      benchmark::RegisterBenchmark("read_file", reads_file, path)
          ->Arg(1)
          ->ArgName("threads")
          ->Unit(benchmark::kMillisecond);
      argv[i] = argv[argc - 1];
      int count = argc - 1;
      benchmark::Initialize(&count, argv);
      benchmark::RunSpecifiedBenchmarks();
      return 0;
    }
  }
  struct {
    char const* name;
    style form;
    std::uint32_t features;
  } const samples[] = {{"letor46", style::letor, 46},
                       {"mslr136", style::mslr, 136},
                       {"full46", style::full, 46},
                       {"missing25", style::missing, 25},
                       {"unsorted46", style::unsorted, 46}};
  for (auto const& sample : samples) {
    auto const add = [&](int threads) {
      return benchmark::RegisterBenchmark(sample.name, read_sample, sample.form, sample.features)
          ->Arg(threads)
          ->ArgName("threads")
          ->Unit(benchmark::kMillisecond);
    };
    add(1);
    add(2)->UseRealTime();
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
