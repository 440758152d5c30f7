#include "core/output_file.hpp"
#include "core/process_group_testing.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/discretizer/discretizer_json.hpp"
#include "datasets/discretizer/discretizer_parts.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

namespace rulerank::inline v0::datasets::part_test {
namespace {

/// Returns the parts of a file that `processes` processes read, in order.
std::vector<std::optional<dataset>> parts_of(std::string const& path, int processes,
                                             read_options const& options = {}) {
  std::vector<std::optional<dataset>> parts(static_cast<std::size_t>(processes));
  testing_tools::run_processes(processes, [&](process_group const& group) {
    context ctx;
    ctx.threads = 1;
    ctx.processes = &group;
    parts[static_cast<std::size_t>(group.rank())] = read_dataset_part(ctx, path, options);
  });
  return parts;
}

/// Shows all attributes of the documents, one document per line, with qids.
std::vector<std::string> told(dataset const& data) {
  std::vector<std::string> all;
  for (query_group const& query : data.queries)
    for (std::size_t d = query.begin; d < query.end; ++d) {
      std::string text = fmt::format("{} {} {} {} {}", query.qid, data.labels[d],
                                     data.line_numbers[d], data.lines[d], data.docid(d));
      if (!data.fractional_labels.empty()) text += fmt::format(" {}", data.fractional_labels[d]);
      for (feature_value const& entry : data.document(d))
        text += fmt::format(" {}:{}", entry.feature, entry.value);
      all.push_back(std::move(text));
    }
  return all;
}

/// Queries of 1 to 7 documents, separated by empty lines and comments.
std::string letor(std::size_t queries, std::string_view feature = "") {
  std::string text = "# the first line\n";
  for (std::size_t q = 0; q < queries; ++q) {
    for (std::size_t d = 0; d <= (q * 5) % 7; ++d)
      text += fmt::format("{} qid:{} {}1:{} {}{}:.5 # docid = {}-{}\n", d % 3, 100 - q, feature, d,
                          feature, 2 + q, q, d);
    if (q % 4 == 1) text += "\n# between\n";
  }
  return text;
}

struct Part : ::testing::Test {
  std::string file(std::string const& name, std::string const& text) const {
    write_file(folder / name, text);
    return folder / name;
  }
  /// Makes a gzip file.
  std::string archive(std::string const& name, std::string const& text) const {
    std::string const path = folder / name;
    gzFile const out = gzopen(path.c_str(), "wb");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
    return path;
  }
  void expect_as_whole(std::string const& path, read_options const& options = {}) const {
    dataset const whole = read_dataset({}, path, options);
    for (int const processes : {1, 2, 3, 5, 16}) {
      std::vector<std::string> all;
      std::size_t queries = 0;
      for (auto const& part : parts_of(path, processes, options)) {
        ASSERT_TRUE(part) << path << ' ' << processes;
        EXPECT_EQ(part->names, whole.names);
        EXPECT_EQ(part->name, whole.name);
        for (std::string& one : told(*part)) all.push_back(std::move(one));
        queries += part->queries.size();
      }
      EXPECT_EQ(all, told(whole)) << path << ' ' << processes;
      EXPECT_EQ(queries, whole.queries.size());
    }
  }
  void expect_nothing(std::string const& path, read_options const& options = {}) const {
    for (int const processes : {2, 5})
      for (auto const& part : parts_of(path, processes, options)) EXPECT_FALSE(part) << path;
  }

  testing_tools::temporary_folder folder;
};

TEST_F(Part, TogetherTheyAreTheFile) {
  for (std::string const& text :
       {letor(40), letor(3), letor(17, "bm"), "\xef\xbb\xbf" + letor(9), "1 qid:7 1:2\n" + letor(5),
        std::string("1 qid:1 1:1\r\n0 qid:1 1:2\r\n2 qid:b 1:3"), std::string("1 qid:1 1:1")}) {
    expect_as_whole(file("plain", text));
    expect_as_whole(archive("packed.gz", text));
  }
}

/// Queries of 1 to 7 documents; features with few values and with many, some missing or unlisted,
/// one that only a single query lists.
std::string with_values(std::size_t queries) {
  random_engine engine(5);
  std::string text;
  for (std::size_t q = 0; q < queries; ++q)
    for (std::size_t d = 0; d <= (q * 5) % 7; ++d) {
      text += fmt::format("{} qid:{} 1:{} 2:{}", d % 3, q, uniform_below(engine, 5),
                          uniform_unit(engine) - 0.5);
      if (d % 3 != 0) text += fmt::format(" 4:{}", uniform_below(engine, 2) == 0 ? "-0" : "NULL");
      if (d % 2 != 0) text += fmt::format(" 6:{}", uniform_unit(engine));
      if (q == queries / 2) text += fmt::format(" 7:{}", d);
      text += '\n';
    }
  return text;
}

struct cut_and_binned {
  discretizer cuts;
  binned_dataset items;
};

void expect_same(cut_and_binned const& found, cut_and_binned const& expected) {
  EXPECT_EQ(to_json(found.cuts), to_json(expected.cuts));
  EXPECT_EQ(found.items.documents, expected.items.documents);
  EXPECT_EQ(found.items.features, expected.items.features);
  EXPECT_EQ(found.items.names, expected.items.names);
  EXPECT_EQ(found.items.item_begin, expected.items.item_begin);
  EXPECT_EQ(found.items.has_missing_item, expected.items.has_missing_item);
  EXPECT_EQ(found.items.stride, expected.items.stride);
  EXPECT_EQ(found.items.codes, expected.items.codes);
  EXPECT_EQ(found.items.labels, expected.items.labels);
  EXPECT_EQ(found.items.max_label, expected.items.max_label);
}

/// Expects that processes that read a file in parts compute the cuts and items of the whole file.
void expect_cut_as_whole(std::string const& path, discretizer_options const& options) {
  dataset const whole = read_dataset({}, path);
  cut_and_binned expected;
  expected.cuts = fit_discretizer({}, whole, options);
  expected.items = apply_discretizer({}, whole, expected.cuts);
  for (int const processes : {1, 2, 3, 16}) {
    std::vector<cut_and_binned> found(static_cast<std::size_t>(processes));
    testing_tools::run_processes(processes, [&](process_group const& group) {
      context ctx;
      ctx.threads = 1 + group.rank() % 2;  // only the first process's number is used
      ctx.processes = &group;
      auto const part = read_dataset_part(ctx, path);
      cut_and_binned& mine = found[static_cast<std::size_t>(group.rank())];
      mine.cuts = fit_discretizer_on_parts(ctx, *part, options);
      mine.items = join_parts(group, apply_discretizer(ctx, *part, mine.cuts));
    });
    for (cut_and_binned const& one : found) expect_same(one, expected);
  }
}

TEST_F(Part, CutsAndItemsAreThoseOfTheFile) {
  std::string const path = file("values", with_values(40));
  for (binning const method : {binning::tube, binning::width, binning::frequency})
    for (int const bins : {0, 3, 10})
      for (normalization const norm : {normalization::none, normalization::query_zscore})
        expect_cut_as_whole(path, {.method = method, .bins = bins, .norm = norm});
  for (missing_values const missing :
       {missing_values::item, missing_values::none, missing_values::zero})
    for (unlisted_values const unlisted : {unlisted_values::zero, unlisted_values::missing})
      expect_cut_as_whole(path, {.missing = missing, .unlisted = unlisted});
  expect_cut_as_whole(file("named", letor(17, "bm")), {});
  expect_cut_as_whole(file("one", "1 qid:1 1:1\n0 qid:1 1:2\n"), {});  // all documents in a part
}

/// A process that counts its exchanges and the bytes of the largest one.
class counting_process final : public process_group {
 public:
  explicit counting_process(process_group const& group) : group_(group) {}
  int rank() const noexcept override { return group_.rank(); }
  int size() const noexcept override { return group_.size(); }
  std::vector<std::string> gather(std::string_view mine) const override {
    auto all = group_.gather(mine);
    std::size_t bytes = 0;
    for (std::string const& one : all) bytes += one.size();
    ++exchanges;
    largest = std::max(largest, bytes);
    return all;
  }
  std::vector<std::string> deal(std::size_t tasks, task_fn const& task,
                                keep_fn const& keep) const override {
    return group_.deal(tasks, task, keep);
  }

  mutable std::size_t exchanges = 0;
  mutable std::size_t largest = 0;

 private:
  process_group const& group_;
};

/// Makes documents with distinct values, ten per query.
std::string with_features(int documents, int features) {
  random_engine engine(7);
  std::string text;
  for (int d = 0; d < documents; ++d) {
    text += fmt::format("{} qid:{}", d % 3, d / 10);
    for (int f = 1; f <= features; ++f)
      text += fmt::format(" {}:{}", f, uniform_below(engine, 1000000000));
    text += '\n';
  }
  return text;
}

TEST_F(Part, CountsOfManyFeaturesAreToldTogether) {
  // Exchanges of counts; other exchanges send features, documents, threads and cuts.
  struct shape {
    int documents = 0, features = 0;
    std::size_t exchanges = 0;
  };
  for (shape const& of : {shape{40, 1000, 1}, shape{20000, 100, 2}}) {
    std::string const path = file("many", with_features(of.documents, of.features));
    dataset const data = read_dataset({}, path);
    discretizer const cuts = fit_discretizer({}, data, {});
    binned_dataset const whole = apply_discretizer({}, data, cuts);
    testing_tools::run_processes(3, [&](process_group const& group) {
      counting_process const counting(group);
      context ctx;
      ctx.threads = 1;
      ctx.processes = &counting;
      auto const part = read_dataset_part(ctx, path);
      counting.exchanges = counting.largest = 0;
      discretizer const fitted = fit_discretizer_on_parts(ctx, *part, {});
      EXPECT_EQ(to_json(fitted), to_json(cuts));
      EXPECT_EQ(counting.exchanges, 4 + of.exchanges);
      auto const items = apply_discretizer(ctx, *part, fitted);
      counting.exchanges = 0;
      EXPECT_EQ(join_parts(counting, items).codes, whole.codes);
      EXPECT_EQ(counting.exchanges, 2);  // one is for labels
      EXPECT_LE(counting.largest, bytes_together);
    });
  }
}

TEST_F(Part, BinsOutOfRangeAreRefused) {
  std::string const path = file("values", with_values(4));
  EXPECT_THROW(testing_tools::run_processes(2,
                                            [&](process_group const& group) {
                                              context ctx;
                                              ctx.processes = &group;
                                              auto const part = read_dataset_part(ctx, path);
                                              fit_discretizer_on_parts(ctx, *part, {.bins = 1});
                                            }),
               usage_error);
}

TEST_F(Part, LabelsAreFilledInWhereAnotherPartHasFractions) {
  read_options options;
  options.fractional_labels = true;
  expect_as_whole(file("plain", letor(12) + "0.5 qid:x 1:1\n"), options);
}

TEST_F(Part, AProcessReadsNoMoreThanItsPart) {
  std::string const path = file("plain", letor(300));
  auto const parts = parts_of(path, 4);
  std::size_t const whole = read_dataset({}, path).entries.capacity();
  for (auto const& part : parts) EXPECT_LT(part->entries.capacity(), whole / 2);
}

TEST_F(Part, NothingWhereAFileMustBeReadWhole) {
  expect_nothing(file("a.csv", "label,qid,a\n1,1,2\n0,2,3\n"));
  expect_nothing(file("no_qid", "1 1:1\n0 1:2\n1 1:3\n"));
  expect_nothing(file("empty", ""));
  expect_nothing(file("comments", "# a\n# b\n# c\n"));
  read_options regroup;
  regroup.regroup = true;
  expect_nothing(file("apart", letor(9)), regroup);
}

/// Returns a text with some of its lines repeated, moved, truncated or without their first word.
std::string with_changes(std::vector<std::string> lines, random_engine& engine) {
  for (std::size_t changes = uniform_below(engine, 4); changes > 0; --changes) {
    std::size_t const at = uniform_below(engine, lines.size());
    std::string& line = lines[at];
    switch (uniform_below(engine, 5)) {
      case 0:
        lines.push_back(line);
        break;
      case 1:
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), line);
        break;
      case 2:
        line.resize(uniform_below(engine, line.size() + 1));
        break;
      case 3:
        line.erase(0, line.find(' '));
        break;
      default:
        std::swap(line, lines[uniform_below(engine, lines.size())]);
    }
  }
  std::string text;
  for (std::string const& line : lines) text += line + "\n";
  return text;
}

TEST_F(Part, OnlyTextThatIsRefusedIsParsedTwice) {
  std::vector<std::string> lines;
  std::istringstream text_of_lines(letor(12));
  for (std::string line; std::getline(text_of_lines, line);) lines.push_back(line);
  random_engine engine(3);
  std::size_t refused = 0, in_parts = 0;
  for (int text = 0; text < 300; ++text) {
    std::string const path = file("changed", with_changes(lines, engine));
    bool is_whole = true;
    try {
      read_dataset({}, path);
    } catch (error const&) {
      is_whole = false;
    }
    for (auto const& part : parts_of(path, 3)) EXPECT_EQ(part.has_value(), is_whole) << text;
    ++(is_whole ? in_parts : refused);
  }
  EXPECT_GT(refused, 50);
  EXPECT_GT(in_parts, 50);
}

TEST_F(Part, NothingWhereThereIsAFault) {
  std::string const good = letor(20);
  for (std::string const& text :
       {good + "1 qid:x 1:y\n", "1 qid:x 1:y\n" + good, good + "1 qid:100 1:1\n", good + "1 1:1\n",
        good + "1 qid:x name:1\n", "1 qid:x name:1\n" + good}) {
    expect_nothing(file("plain", text));
    expect_nothing(archive("packed.gz", text));
  }
  std::string const path = archive("cut.gz", good);
  std::string const bytes = read_file(path, "an archive");
  expect_nothing(file("cut.gz", bytes.substr(0, bytes.size() / 2)));
}

}  // namespace
}  // namespace rulerank::datasets::part_test
