#include "apps/shared/options/suggestions.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

/// Lower case, without leading dashes and a measure's cut-off (@10).
std::string plain(std::string_view word) {
  word = word.substr(0, word.find('@'));
  std::string letters(word.substr(std::min(word.find_first_not_of('-'), word.size())));
  std::ranges::transform(letters, letters.begin(), [](unsigned char c) { return std::tolower(c); });
  return letters;
}

/// The number of insertions, deletions, substitutions and swaps of adjacent letters between two
/// words (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      auto& here = rows[i][j];
      here = std::max(i, j);
      if (i == 0 || j == 0) continue;
      here = std::min(
          {rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        here = std::min(here, rows[i - 2][j - 2] + 1);
    }
  return rows.back().back();
}

/// Whether each part of a word between dashes is an abbreviation of the corresponding part of
/// another: max-docs for max-documents.
bool is_short_for(std::string_view word, std::string_view whole) {
  while (true) {
    std::size_t const end = std::min(word.find('-'), word.size());
    std::size_t const whole_end = std::min(whole.find('-'), whole.size());
    std::string_view part = word.substr(0, end);
    std::string_view const of = whole.substr(0, whole_end);
    if (part.ends_with('s') && !of.starts_with(part)) part.remove_suffix(1);
    if (part.empty() || !of.starts_with(part)) return false;
    if (end == word.size() || whole_end == whole.size())
      return end == word.size() && whole_end == whole.size();
    word.remove_prefix(end + 1);
    whole.remove_prefix(whole_end + 1);
  }
}

/// Names of options in other tools. A name may have several options: a verb has one of them, or the
/// first is suggested.
struct other_names {
  std::string_view option;
  std::array<std::string_view, 8> words;
};
constexpr other_names synonyms[] = {
    {"--transactions", {"in", "input", "data", "baskets"}},
    {"--train", {"training", "train-file", "data", "input", "in", "learn"}},
    {"--vali", {"validation", "validate", "valid", "val", "dev", "eval-set"}},
    {"--test", {"testing", "test-file", "input", "in", "predict"}},
    {"--in", {"input", "data", "train", "file"}},
    {"--collection", {"docs", "documents", "corpus", "in", "input", "passages"}},
    {"--queries", {"query", "topics", "test"}},
    {"--topics", {"queries", "query"}},
    {"--qrels", {"judgments", "relevance"}},
    {"--out", {"output", "output-file", "save", "result", "results"}},
    {"--out-dir", {"out", "output", "output-dir", "save", "dir"}},
    {"--model",
     {"out", "output", "save", "load", "ranker", "model-file", "output-model", "model-out"}},
    {"--scores", {"predictions", "pred", "predict", "score-file"}},
    {"--run", {"trec", "run-file"}},
    {"--metrics", {"measures", "measure", "eval-metric", "metric2t"}},
    {"--k", {"top", "top-k", "topk", "hits", "neighbors", "neighbours"}},
    {"--top", {"k", "top-k", "topk"}},
    {"--candidates", {"k", "hits", "depth"}},
    {"--fold-count", {"cv", "kcv", "n-folds", "k"}},
    {"--bins", {"max-bin", "n-bins", "num-bins"}},
    {"--rule-size", {"max-length", "max-len", "max-size", "size"}},
    {"--min-support", {"support", "minsup", "supp"}},
    {"--min-confidence", {"confidence", "minconf", "conf"}},
    {"--threads", {"jobs", "n-jobs", "num-threads", "nthread", "workers"}},
    {"--seed", {"random-state", "random-seed"}},
    {"--device", {"gpu", "gpus", "cuda", "device-type"}}};

}  // namespace

std::string did_you_mean(std::string_view found, std::span<std::string const> known) {
  std::string const word = plain(found);
  if (word.size() < 2) return {};
  std::size_t const far = std::max<std::size_t>(word.size() / 3, 1) + 1;
  std::string const* nearest = nullptr;
  std::size_t least = far;
  for (std::string const& candidate : known) {
    std::string const other = plain(candidate);
    // Then the cut-off is wrong, not the name.
    if (other == word && (candidate == found || found.find('@') != found.npos)) return {};
    std::size_t const d =
        other.starts_with(word) || is_short_for(word, other) ? 1 : distance(word, other);
    if (d >= least) continue;
    least = d;
    nearest = &candidate;
  }
  return nearest == nullptr ? "" : fmt::format(" (did you mean {}?)", *nearest);
}

std::string option_meant(std::string_view found, std::span<std::string const> known) {
  found = found.substr(0, found.find('='));
  std::string const word = plain(found);
  for (other_names const& one : synonyms)
    if (!word.empty() && std::ranges::find(one.words, word) != one.words.end())
      if (auto const option = std::ranges::find(known, one.option); option != known.end())
        return fmt::format(" (did you mean {}?)", *option);
  return did_you_mean(found, known);
}

}  // namespace rulerank::apps
