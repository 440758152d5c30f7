#include "apps/shared/arguments/text_arguments.hpp"

#include "apps/shared/options/options.hpp"
#include "apps/shared/options/suggestions.hpp"
#include "datasets/forms.hpp"
#include "datasets/text/encoding.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

void expect_outside(session::named_input const& input, session::named_output const& output) {
  std::error_code none;
  if (output.path.empty() || output.path == "-" || !std::filesystem::is_directory(input.path, none))
    return;
  auto const folder = std::filesystem::weakly_canonical(input.path);
  auto const file = std::filesystem::weakly_canonical(output.path);
  if (std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end())
    throw usage_error(fmt::format("{} {} is inside {} {}, expected a different folder", output.name,
                                  output.path, input.option, input.path));
}

}  // namespace

std::span<named_value<datasets::text_format> const> text_formats(bool vectors) {
  return std::span(datasets::text_format_names)
      .first(datasets::text_format_names.size() - (vectors ? 0 : 1));
}

void add_fields_to(CLI::App& verb, std::vector<std::string>& text_fields,
                   std::vector<std::string>& query_fields, std::string& id_field,
                   std::string& encoding) {
  value_option(verb, "--text-fields A,B,...", text_fields,
               "JSON members, table columns or TREC elements with the text of a document")
      ->delimiter(',')
      ->default_str("known names");
  value_option(verb, "--query-fields A,B,...", query_fields,
               "JSON members, table columns or TREC elements with the text of a query or topic")
      ->delimiter(',')
      ->default_str("known names");
  value_option(verb, "--id-field NAME", id_field,
               "JSON member or table column with the id of a document")
      ->default_str("a known name");
  auto* const option = value_option(verb, "--encoding NAME", encoding,
                                    "Encoding of texts without a byte order mark, such as "
                                    "windows-1252 or Shift_JIS")
                           ->default_str("UTF-8");
  // ICU's names are many: they are listed for a wrong one alone, not when the program starts.
  auto const read = [](std::string const& name) {
    try {
      datasets::expect_encoding(name);
    } catch (usage_error const& unknown) {
      throw usage_error(unknown.what() + did_you_mean(name, datasets::encoding_names()));
    }
  };
  expect_read(verb, option, read, {});
}

void add_stemmer_to(CLI::App& verb, std::string& stemmer, std::string const& help) {
  std::vector<std::string> names = knn::stemmers();
  names.insert(names.begin(), "none");
  word_option(verb, "--stemmer NAME", stemmer, names, help);
}

void text_arguments::add_reading_to(CLI::App& verb) {
  help_group const group(verb, input_format_group);
  value_option(verb, "--collection-format NAME", format,
               "Format of documents and queries: " +
                   list_of_names(text_formats(vectors), name_list::alternatives));
  verb.add_flag("--labels", index.reading.labels,
                "tsv: lines of documents and queries are id, label and text");
  add_fields_to(verb, index.reading.text_fields, index.reading.query_fields, index.reading.id_field,
                index.reading.encoding);
  verb.add_flag("--number-by-position", index.reading.number_by_position,
                vectors ? "cranfield, svmlight: ids are the positions 1, 2, ... instead of the "
                          "numbers after .I or #"
                        : "cranfield: ids are the positions 1, 2, ... instead of the numbers "
                          "after .I");
}

void text_arguments::add_index_to(CLI::App& verb) {
  help_group const group(verb, "Terms and weights");
  value_option(verb, "--stop-words NAME|file:PATH", index.analyzer.stop_words,
               "Words to drop: the list smart, none, or a file with one word on each line");
  value_option(verb, "--stemmer NAME", index.analyzer.stemmer, stemmer_help);
  verb.add_flag("--no-fold", no_fold, "Keep upper case and accents");
  verb.add_flag("--no-numbers", no_numbers, "Drop words without a letter");
  number_option(verb, "--min-length", index.analyzer.min_length,
                "Characters of the shortest words to keep");
  number_option(verb, "--max-length", index.analyzer.max_length,
                "Characters of the longest words to keep");
  number_option(verb, "--min-documents", index.min_documents, "Fewest documents of a term to keep");
  number_option(verb, "--max-share", index.max_share,
                "Largest share of the documents of a term to keep, 0 to 1");
  value_option(verb, "--weights NAME", weights,
               vectors ? "Weight of a term: tf-idf, tf ln(N / df); bm25; or none, tf (default for "
                         "svmlight)"
                       : "Weight of a term: tf-idf, tf ln(N / df); bm25; or none, tf");
  word_option(verb, "--tf", tf, {"raw", "log", "binary"},
              "Term frequency in weights: the count, 1 + ln of the count, or 1")
      ->default_str("raw");
  smart_option = value_option(verb, "--weighting XXX.XXX", smart,
                              "SMART's letters for documents.queries, instead of --weights, --tf "
                              "and --metric: tf n, l or b; idf n or t; norm n or c");
  if (!weights.empty()) smart_option->default_str("");
  number_option(verb, "--k1", index.weighting.k1, "bm25: how much repeated terms add; 0: nothing");
  number_option(verb, "--b", index.weighting.b,
                "bm25: how much the length of a document matters, 0 to 1");
}

knn::text_index_options text_arguments::options(session& owner) const {
  knn::text_index_options chosen = index;
  chosen.format = value_named<datasets::text_format>(
      text_formats(vectors), format, "--collection-format: found", name_list::alternatives);
  bool const named = !weights.empty() || !tf.empty() || holds_vectors(chosen);
  if (named && !smart_is_given()) {
    chosen.weighting = weighting_from_names(holds_vectors(chosen));
    chosen.metric = chosen.weighting.how == knn::weighting::bm25 ? knn::similarity::inner_product
                                                                 : knn::similarity::cosine;
  } else {
    auto const both = read_for("--weighting", knn::smart_weighting_from, smart);
    chosen.weighting = both.weights;
    chosen.weighting.k1 = index.weighting.k1;
    chosen.weighting.b = index.weighting.b;
    chosen.metric = both.metric;
  }
  chosen.reading.warn = [&owner](std::string const& message) { owner.warn(message); };
  chosen.analyzer.fold = !no_fold;
  chosen.analyzer.keep_numbers = !no_numbers;
  return chosen;
}

knn::weighting_options text_arguments::weighting_from_names(bool of_vectors) const {
  knn::weighting_options how{.k1 = index.weighting.k1, .b = index.weighting.b};
  if (!weights.empty())
    how.how = read_for("--weights", knn::weighting_from, weights);
  else if (of_vectors)
    how.how = knn::weighting::none;
  if (!tf.empty()) how.tf = read_for("--tf", knn::term_frequency_from, tf);
  return how;
}

knn::similarity text_arguments::metric_from(std::string const& name, knn::similarity of_weights) {
  return name == "auto" ? of_weights : knn::sparse_similarity_from(name);
}

void text_arguments::check_weights(CLI::App const& verb) const {
  if (smart_is_given()) {
    expect_none_of(verb, {"--weights", "--tf", "--metric"},
                   "{} cannot be combined with --weighting, which sets it");
  } else if (weights == "bm25" && !tf.empty()) {
    throw usage_error(
        "--tf cannot be combined with --weights bm25, which has its own term frequency");
  }
}

session::named_input text_arguments::stop_list() const {
  std::string const& list = index.analyzer.stop_words;
  if (!list.starts_with("file:")) return {"--stop-words", {}};
  if (list.size() == 5)
    throw usage_error("--stop-words: found an empty path, expected the name of a file");
  return {"--stop-words", list.substr(5)};
}

std::vector<std::string> text_arguments::index_options() {
  std::vector<std::string> names = word_options();
  names.insert(names.end(), {"--min-documents", "--max-share", "--weights", "--tf", "--weighting"});
  return names;
}

std::vector<std::string> text_arguments::word_options() {
  return {"--stop-words", "--stemmer",    "--no-fold", "--no-numbers",
          "--min-length", "--max-length", "--k1",      "--b"};
}

void expect_outside(session const& owner, std::span<session::named_input const> inputs,
                    std::span<session::named_output const> outputs) {
  for (session::named_input const& input : inputs) {
    for (session::named_output const& output : outputs) expect_outside(input, output);
    expect_outside(input, {"--manifest", owner.run.manifest});
  }
}

void warn_without_terms(session& owner, knn::text_index const& index) {
  if (index.terms().size() > 0) return;
  auto const& options = index.options();
  owner.warn(fmt::format(
      "--min-documents {1} and --max-share {2} leave no term of {0}, so all similarities are 0; "
      "lower --min-documents or raise --max-share",
      counted(index.ids().size(), "document"), options.min_documents, options.max_share));
}

}  // namespace rulerank::apps
