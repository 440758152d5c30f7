#include "datasets/svmlight/write.hpp"

#include "core/error.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace rulerank::datasets {

void append_entries(std::span<feature_value const> entries, std::string& text) {
  auto const end = std::back_inserter(text);
  for (feature_value const& entry : entries) {
    // Java reads no other spelling of it.
    if (std::isnan(entry.value))
      fmt::format_to(end, " {}:NaN", entry.feature);
    else
      fmt::format_to(end, " {}:{}", entry.feature, entry.value);
  }
}

void write_svmlight(dataset const& data, output_file& out) {
  std::string line;
  for (query_group const& query : data.queries) {
    for (std::size_t d = query.begin; d < query.end; ++d) {
      line.clear();
      fmt::format_to(std::back_inserter(line), "{} qid:{}", data.labels[d], query.qid);
      append_entries(data.document(d), line);
      if (std::string_view const comment = data.comment(d); !comment.empty())
        line.append(" #").append(comment);
      line += '\n';
      out.write(line);
    }
  }
}

void write_lines(dataset const& data, std::span<std::size_t const> chosen, output_file& out,
                 std::span<std::int32_t const> labels) {
  for (std::size_t const d : chosen)
    if (d >= data.lines.size())
      throw usage_error("write_lines: the data set has no line for one of the documents");
  std::vector<std::size_t> in_input_order(chosen.begin(), chosen.end());
  auto const& numbers = data.line_numbers;
  auto const place = [&](std::size_t d) { return d < numbers.size() ? numbers[d] : d + 1; };
  std::sort(in_input_order.begin(), in_input_order.end(),
            [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  for (std::size_t const d : in_input_order) {
    std::string_view line = data.lines[d];
    if (!labels.empty() && data.labels[d] == unlabelled && labels[d] != unlabelled) {
      std::size_t const begin = std::min(line.find_first_not_of(" \t"), line.size());
      out.write(line.substr(0, begin));
      out.write(fmt::format("{}", labels[d]));
      line.remove_prefix(std::min(line.find_first_of(" \t", begin), line.size()));
    }
    out.write(line);
    out.write("\n");
  }
}

}  // namespace rulerank::datasets
