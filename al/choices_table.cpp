#include "al/sampler.hpp"

#include <fmt/format.h>

namespace rulerank::al {

std::string choices_table(datasets::dataset const& data, sample const& chosen) {
  std::string text = "line\tdocid\tpartition\titeration\trules\n";
  std::vector<std::size_t> const lines = datasets::input_places(data);
  for (choice const& c : chosen.choices)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\n", lines[c.document], data.docid(c.document),
                        c.partition, c.iteration, c.rules);
  return text;
}

}  // namespace rulerank::al
