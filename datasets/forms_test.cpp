#include "datasets/forms.hpp"

#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/testing.hpp"
#include "datasets/judgments/judgments.hpp"
#include "datasets/scores.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/text/document_members.hpp"
#include "datasets/transactions.hpp"
#include "datasets/trec.hpp"
#include "datasets/vectors.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::forms_test {

namespace {

using names = std::vector<std::string>;
using testing_tools::message_of;
using testing_tools::says;

std::string shown_documents(std::string const& path, text_format format) {
  names shown;
  read_documents({}, path, format, [&](text_document&& d) {
    std::string& one = shown.emplace_back(d.id);
    for (text_field const& field : d.fields) one += fmt::format(" {}={}", field.name, field.text);
    for (feature_value const& v : d.vector) one += fmt::format(" {}:{}", v.feature, v.value);
  });
  return fmt::format("{}", fmt::join(shown, "; "));
}

/// Shows judgments, or the documents of a feature log.
std::string shown_judgments(std::string const& path, std::optional<judgment_form> form) {
  judgments_read read;
  read_judgments({}, path, form, "id", read, {});
  names shown;
  for (graded_query const& query : read.judgments.queries())
    for (graded_document const& d : query.documents)
      shown.push_back(fmt::format("{} {} {}", query.key.name, d.id, d.grade));
  for (logged_query const& query : read.log.queries())
    for (logged_document const& d : query.documents) {
      std::string& one = shown.emplace_back(query.key.name + " " + d.id);
      for (feature_value const& v : d.features)
        one += fmt::format(" {}:{}", read.log.features[v.feature].first, v.value);
    }
  return fmt::format("{}", fmt::join(shown, "; "));
}

std::string shown_qrels(std::string const& path) {
  names shown;
  for (judged_query const& query : read_qrels({}, path).queries)
    for (judgment const& d : query.documents)
      shown.push_back(fmt::format("{} {} {}", query.qid, d.docno, d.label));
  return fmt::format("{}", fmt::join(shown, "; "));
}

std::string shown_run(std::string const& path) {
  names shown;
  for (run_query const& query : read_run({}, path).queries)
    for (run_entry const& d : query.documents)
      shown.push_back(fmt::format("{} {} {}", query.qid, d.docno, d.score));
  return fmt::format("{}", fmt::join(shown, "; "));
}

std::string shown_scores(std::string const& path) {
  score_list const read = read_scores({}, path);
  names shown;
  for (std::size_t i = 0; i < read.values.size(); ++i)
    shown.push_back(read.qids.empty()
                        ? fmt::format("{}", read.values[i])
                        : fmt::format("{} {} {}", read.qids[i], read.index[i], read.values[i]));
  return fmt::format("{}", fmt::join(shown, "; "));
}

std::string shown_features(std::string const& path) {
  dataset const read = read_dataset({}, path);
  names shown;
  for (query_group const& query : read.queries)
    for (std::size_t d = query.begin; d < query.end; ++d) {
      std::string& one =
          shown.emplace_back(fmt::format("{} {} {}", query.qid, read.docid(d), read.labels[d]));
      for (feature_value const& v : read.document(d))
        one += fmt::format(" {}:{}", v.feature, v.value);
    }
  return fmt::format("{}", fmt::join(shown, "; "));
}

std::string shown_transactions(std::string const& path, std::string_view form) {
  transactions const read =
      form == "fimi" ? read_fimi({}, path) : read_baskets({}, path, {.pairs = form == "pairs"});
  names shown;
  for (std::size_t t = 0; t < read.size(); ++t) {
    names items;
    for (std::uint32_t const item : read.transaction(t)) items.push_back(read.names[item]);
    shown.push_back(fmt::format("{}", fmt::join(items, ",")));
  }
  return fmt::format("{}", fmt::join(shown, "; "));
}

std::string shown_vectors(std::string const& path, vectors_format format) {
  vectors const read = read_vectors({}, path, {.format = format});
  return read.visit([&](auto values) {
    names shown;
    for (std::size_t row = 0; row < read.size(); ++row) {
      std::vector<double> numbers;
      for (auto const value : values.subspan(row * read.dimensions(), read.dimensions()))
        numbers.push_back(static_cast<double>(static_cast<float>(value)));
      shown.push_back(fmt::format("{}", fmt::join(numbers, " ")));
    }
    return fmt::format("{}", fmt::join(shown, "; "));
  });
}

vectors_format vectors_format_named(std::string_view name) {
  for (auto const& one : vectors_formats())
    if (one.name == name) return one.which;
  throw usage_error(fmt::format("found the form {}", name));
}

/// Returns the content of a file as text, as read for this input. `named`: the reader gets the name
/// of the format; otherwise it detects it. Readers without named formats detect it in both cases.
std::string shown(file_form const& form, std::string const& path, bool named) {
  std::string_view const name = form.name.substr(0, form.name.find(' '));
  if (form.input == "documents")
    return shown_documents(path, named || name == "svmlight"
                                     ? value_named<text_format>(text_format_names, name)
                                     : text_format::automatic);
  if (form.input == "judgments" && (named || path.ends_with(".json")))
    return shown_judgments(
        path,
        named ? std::optional(value_named<judgment_form>(judgment_inputs, name)) : std::nullopt);
  if (form.input == "judgments") return shown_qrels(path);
  if (form.input == "runs") return shown_run(path);
  if (form.input == "scores") return shown_scores(path);
  if (form.input == "features" || form.input == "any") return shown_features(path);
  if (form.input == "transactions") return shown_transactions(path, name);
  return shown_vectors(path, named ? vectors_format_named(name) : vectors_format::automatic);
}

bool is_folder(file_form const& form) {
  return form.input == "documents" && form.name == "folder";
}

/// Returns the path of a file of these bytes, or of a folder with it. Its name implies the format
/// of vectors, and that judgments are JSON.
std::string written(testing_tools::temporary_folder const& folder, file_form const& form,
                    std::string_view bytes, std::string const& name) {
  std::string const end = form.input == "vectors" ? std::string(form.name)
                          : form.input == "judgments" && bytes.starts_with('{') ? "json"
                                                                                : "txt";
  std::string path = fmt::format("{}/{}.{}", folder.path().string(), name, end);
  if (is_folder(form)) std::filesystem::create_directory(path);
  write_file(is_folder(form) ? path + (bytes.empty() ? "/corpus.jsonl" : "/file") : path, bytes);
  return path;
}

/// Returns whether a test of another module covers the format.
bool is_read_elsewhere(file_form const& form) {
  return form.input == "words";
}

TEST(file_forms, samples_are_recognized_and_read) {
  for (file_form const& form : file_forms()) {
    if (is_read_elsewhere(form) || form.input == "any") continue;
    SCOPED_TRACE(fmt::format("{}, {}", form.input, form.name));
    testing_tools::temporary_folder const folder;
    std::string const path = written(folder, form, form.sample, "sample");
    EXPECT_EQ(message_of([&] { EXPECT_EQ(shown(form, path, false), form.content); }), "OK");
    EXPECT_EQ(message_of([&] { EXPECT_EQ(shown(form, path, true), form.content); }), "OK");
    if (form.input == "documents" && !is_folder(form) && form.name != "svmlight") {
      text_format const found =
          format_of_first_line(form.sample.substr(0, form.sample.find('\n')), {});
      EXPECT_EQ(name_in(text_format_names, found), form.name.substr(0, form.name.find(' ')));
    }
  }
}

TEST(file_forms, wrong_files_are_refused) {
  for (file_form const& form : file_forms()) {
    if (is_read_elsewhere(form)) continue;
    testing_tools::temporary_folder const folder;
    std::string const path = written(folder, form, form.wrong, "wrong");
    std::string const said = message_of([&] { shown(form, path, false); });
    EXPECT_PRED2(says, said, fmt::format("{}{}...", path, form.message))
        << form.input << ", " << form.name;
  }
}

TEST(file_forms, are_all_that_options_name) {
  auto const names_in = [](auto const& table) {
    names all;
    for (auto const& one : table)
      if (one.name != "auto") all.emplace_back(one.name);
    return std::set(all.begin(), all.end());
  };
  auto const listed = [](std::string_view input) {
    names const all = names_of_forms(input);
    return std::set(all.begin(), all.end());
  };
  EXPECT_EQ(listed("documents"), names_in(text_format_names));
  EXPECT_EQ(listed("judgments"), names_in(judgment_inputs));
  EXPECT_EQ(listed("vectors"), names_in(vectors_formats()));
  EXPECT_EQ(names_of_forms("transactions"), (names{"fimi", "baskets", "pairs"}));
}

TEST(file_forms, have_names_of_their_own_and_no_empty_cells) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (file_form const& form : file_forms()) {
    EXPECT_TRUE(seen.emplace(form.input, form.name).second) << form.name;
    for (std::string_view const text : {form.name, form.recognized_by, form.read, form.refused,
                                        form.sample, form.content, form.message})
      EXPECT_FALSE(text.empty()) << form.input << ", " << form.name;
    EXPECT_GT(form.message.size(), 8U) << form.input << ", " << form.name;
  }
}

}  // namespace
}  // namespace rulerank::datasets::forms_test
