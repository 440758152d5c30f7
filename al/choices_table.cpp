#include "al/sampler.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::al {

namespace {

/// `line_of(document)`; `docid_of(index of the choice)`.
template <class LineOf, class DocidOf>
std::string table_of(sample const& chosen, bool with_reasons, LineOf const& line_of,
                     DocidOf const& docid_of) {
  std::string text = "line\tdocid\tpartition\titeration\trules";
  text += with_reasons ? "\treason\n" : "\n";
  for (std::size_t i = 0; i < chosen.choices.size(); ++i) {
    choice const& c = chosen.choices[i];
    text += fmt::format("{}\t{}\t", line_of(c.document), docid_of(i));
    text += c.why == reason::new_items || c.why == reason::random
                ? "\t\t"
                : fmt::format("{}\t{}\t{}", c.partition, c.iteration, c.rules);
    text += with_reasons ? fmt::format("\t{}\n", describe_reason(c)) : "\n";
  }
  return text;
}

}  // namespace

std::string describe_reason(choice const& of) {
  switch (of.why) {
    case reason::rules:
      return "rules";
    case reason::larger_rules:
      return fmt::format("rules-{}", of.rule_size);
    case reason::new_items:
      return "items";
    case reason::remaining:
      return "remaining";
    case reason::random:
      break;
  }
  return "random";
}

std::string choices_table(datasets::dataset const& data, sample const& chosen, bool with_reasons) {
  std::vector<std::size_t> const lines = datasets::input_places(data);
  return table_of(
      chosen, with_reasons, [&](std::size_t document) { return lines[document]; },
      [&](std::size_t i) { return data.docid(chosen.choices[i].document); });
}

std::string choices_table(sample const& chosen, std::span<std::string const> docids,
                          bool with_reasons) {
  return table_of(
      chosen, with_reasons, [](std::size_t document) { return document; },
      [&](std::size_t i) { return std::string_view(docids[i]); });
}

}  // namespace rulerank::al
