#include "knn/text/stop_words.hpp"

#include "core/context.hpp"
#include "core/error.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/text_source.hpp"
#include "knn/unicode.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

std::vector<std::string> read_words(std::string const& path) {
  std::vector<std::string> words;
  std::string const name = datasets::display_name(path);
  datasets::line_stream lines(datasets::text_stream::open(context{}, path));
  word_breaker breaker;
  std::string repaired;
  while (lines.next()) {
    std::string_view const line = lines.line();
    std::size_t const begin = line.find_first_not_of(" \t");
    if (begin == line.npos || line[0] == '#') continue;
    std::size_t count = 0;
    breaker.split(well_formed(line, repaired), [&](std::string_view word, bool) {
      if (count++ == 0) words.emplace_back(word);
    });
    if (count != 1)
      throw error({name, lines.number(), begin + 1},
                  fmt::format("found {}, which is {} words, expected one word on each line",
                              rulerank::quoted(line.substr(begin)), count));
  }
  if (words.empty()) throw error({name, 1, 1}, "found no words, expected one word on each line");
  return words;
}

}  // namespace

std::vector<std::string> stop_words(std::string const& name) {
  constexpr std::string_view file = "file:", listed = "words:";
  if (name == "none") return {};
  if (name.starts_with(file)) return read_words(name.substr(file.size()));
  if (name != "smart" && !name.starts_with(listed))
    throw usage_error(
        fmt::format("found the stop list '{}', expected none, smart or file:PATH", name));
  std::vector<datasets::field> fields;
  datasets::split_fields(
      name == "smart" ? smart_stop_words() : std::string_view(name).substr(listed.size()), fields);
  std::vector<std::string> words;
  for (auto const& f : fields) words.emplace_back(f.text);
  return words;
}

}  // namespace rulerank::knn
