#include "datasets/svmlight/faults.hpp"

#include "core/error.hpp"
#include "datasets/input/text_source.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

std::string qid_not_on_all(std::optional<std::string_view> found) {
  return found ? fmt::format("found qid {}, expected none, as on the lines before",
                             rulerank::quoted(*found))
               : "found no qid, expected qid:<id>, as on the lines before";
}

std::string qid_beside_groups(std::string_view found, std::string const& group_file) {
  return fmt::format("found qid {}, expected none, because {} gives the queries",
                     rulerank::quoted(found), display_name(group_file));
}

std::string wrong_group_sum(std::string_view more_than, std::size_t sum, std::string const& name) {
  return fmt::format("the group sizes add up to {}{}, expected as many as {} has", more_than,
                     counted(sum, "document"), name);
}

std::string query_again(std::string_view qid, std::uint64_t last_line, std::string_view regroup) {
  return fmt::format(
      "found query {} again, expected its lines together (they ended on line {}); {} gathers them",
      rulerank::quoted(qid), last_line, regroup);
}

std::string query_goes_on(std::string_view qid, std::uint64_t blank_line) {
  return fmt::format(
      "found more lines of query {}, expected its lines together (the blank line {} ended it)",
      rulerank::quoted(qid), blank_line);
}

std::string other_form(feature_form found) {
  return found == feature_form::names
             ? "found a feature by name, expected a number, as the features before have"
             : "found a feature by number, expected a name, as the features before have";
}

std::string name_not_utf8(std::string_view name) {
  return fmt::format(
      "the name {} is not UTF-8, expected UTF-8; iconv -f ENCODING -t UTF-8 converts the file",
      rulerank::quoted(name));
}

std::string all_one_query(std::string const& name, std::size_t documents) {
  return fmt::format(
      "{}: no line has a qid, so {} one query", name,
      documents == 1 ? "its document is" : fmt::format("all {} documents are", documents));
}

}  // namespace rulerank::datasets
