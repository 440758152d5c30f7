#include "al/sampler.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::al {

namespace {

/// `line_of(document)`, `docid_of(number of the choice)`.
template <class LineOf, class DocidOf>
std::string table_of(sample const& chosen, LineOf const& line_of, DocidOf const& docid_of) {
  std::string text = "line\tdocid\tpartition\titeration\trules\n";
  for (std::size_t i = 0; i < chosen.choices.size(); ++i) {
    choice const& c = chosen.choices[i];
    text += fmt::format("{}\t{}\t{}\t{}\t{}\n", line_of(c.document), docid_of(i), c.partition,
                        c.iteration, c.rules);
  }
  return text;
}

}  // namespace

std::string choices_table(datasets::dataset const& data, sample const& chosen) {
  std::vector<std::size_t> const lines = datasets::input_places(data);
  return table_of(
      chosen, [&](std::size_t document) { return lines[document]; },
      [&](std::size_t i) { return data.docid(chosen.choices[i].document); });
}

std::string choices_table(sample const& chosen, std::span<std::string const> docids) {
  return table_of(
      chosen, [](std::size_t document) { return document; },
      [&](std::size_t i) { return std::string_view(docids[i]); });
}

}  // namespace rulerank::al
