#include "apps/text_arguments.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

namespace rulerank::apps {

namespace {

datasets::text_format format_from(std::string const& option, std::string const& name) {
  using enum datasets::text_format;
  for (auto const& [known, format] : {std::pair{"auto", automatic},
                                      {"tsv", tsv},
                                      {"jsonl", jsonl},
                                      {"folder", folder},
                                      {"cranfield", cranfield}})
    if (name == known) return format;
  throw usage_error(
      fmt::format("{}: found '{}', expected auto, tsv, jsonl, folder or cranfield", option, name));
}

}  // namespace

void text_arguments::add_reading_to(CLI::App& verb, std::string const& name_of_format) {
  format_option = name_of_format;
  verb.add_option(format_option, format, "auto, tsv, jsonl, folder or cranfield")
      ->capture_default_str();
  verb.add_flag("--labels", index.reading.labels, "tsv: lines are id, label, text");
  verb.add_flag("--number-by-position", index.reading.number_by_position,
                "cranfield: ids are 1, 2, ... instead of the .I numbers");
}

void text_arguments::add_index_to(CLI::App& verb) {
  std::string const group = "Terms and weights";
  verb.add_option("--stop-words", index.analyzer.stop_words,
                  "smart, none, or file:PATH with one word a line")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--stemmer", index.analyzer.stemmer, "english, porter, german, ... or none")
      ->capture_default_str()
      ->group(group);
  verb.add_flag("--no-fold", no_fold, "Keep case and accents")->group(group);
  verb.add_flag("--no-numbers", no_numbers, "Drop words without a letter")->group(group);
  verb.add_option("--min-length", index.analyzer.min_length, "Drop words of fewer characters")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--max-length", index.analyzer.max_length, "Drop words of more characters")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--min-documents", index.min_documents, "Drop terms of fewer documents")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--max-share", index.max_share, "Drop terms of a larger share of the documents")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--weights", weights, "tf-idf, bm25 or none (counts)")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--k1", index.weighting.k1, "bm25: how soon more of a term counts no more")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--b", index.weighting.b, "bm25: how much a document's length matters")
      ->capture_default_str()
      ->group(group);
}

knn::text_index_options text_arguments::options() const {
  knn::text_index_options chosen = index;
  chosen.format = format_from(format_option, format);
  try {
    chosen.weighting.how = knn::weighting_from(weights);
  } catch (usage_error const& e) {
    throw usage_error(fmt::format("--weights: {}", e.what()));
  }
  chosen.analyzer.fold = !no_fold;
  chosen.analyzer.keep_numbers = !no_numbers;
  return chosen;
}

std::vector<std::string> text_arguments::index_options() {
  return {"--stop-words", "--stemmer",       "--no-fold",   "--no-numbers", "--min-length",
          "--max-length", "--min-documents", "--max-share", "--weights",    "--k1",
          "--b"};
}

}  // namespace rulerank::apps
