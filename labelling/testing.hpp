#pragma once
// A small pool with texts, for the module's tests.

#include "core/random.hpp"
#include "datasets/svmlight.hpp"
#include "labelling/document_texts.hpp"
#include "labelling/question_view.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace rulerank::inline v0::labelling {

/// 40 documents of 4 queries, 6 features, labels 0 to 2 held only in `labels`. The text of document
/// D3 contains markup and terminal control sequences, which must be escaped; D39 has no text.
class pool_test : public testing::Test {
 protected:
  pool_test() {
    std::filesystem::create_directories(folder);
    random_engine engine(7);
    std::string lines, documents, topics;
    for (int d = 0; d < 40; ++d) {
      labels.push_back(static_cast<std::int32_t>(uniform_below(engine, 3)));
      lines += fmt::format("-1 qid:q{}", d / 10);
      for (int f = 1; f <= 6; ++f) lines += fmt::format(" {}:{}", f, uniform_below(engine, 4) * 10);
      lines += fmt::format(" #docid = D{}\n", d);
      if (d < 39)
        documents += fmt::format(
            R"({{"id": "D{}", "title": "Wing {}", "text": "{}flow over wings of shape {}"}})"
            "\n",
            d, d, d == 3 ? R"(<script>alert(1)<\/script> \u001b[31m \u202e)" : "", d);
    }
    for (int q = 0; q < 4; ++q) topics += fmt::format("q{}\tthe winged shapes {}\n", q, q);
    write("documents.jsonl", documents);
    write("topics.tsv", topics);
    datasets::svmlight_options options;
    options.unlabelled = -1;
    pool = datasets::parse_svmlight(ctx, lines, "pool", options);
    cuts = datasets::fit_discretizer(ctx, pool, {});
    binned = datasets::apply_discretizer(ctx, pool, cuts);
  }
  ~pool_test() override { std::filesystem::remove_all(folder); }

  std::string write(std::string const& name, std::string const& text) const {
    std::ofstream(folder + "/" + name, std::ios::binary) << text;
    return folder + "/" + name;
  }
  document_texts texts() const {
    return {ctx, pool, {folder + "/documents.jsonl", folder + "/topics.tsv", {}, {}}};
  }
  static al::sampler_options options() {
    al::sampler_options how;
    how.rule_size = 3;
    how.partitions = 2;
    return how;
  }

  context const ctx;
  std::string const folder =
      (std::filesystem::temp_directory_path() / fmt::format("rulerank-annotation-{}", ::getpid()))
          .string();
  std::vector<std::int32_t> labels;
  datasets::dataset pool;
  datasets::discretizer cuts;
  datasets::binned_dataset binned;
};

}  // namespace rulerank::labelling
