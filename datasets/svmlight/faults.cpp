#include "datasets/svmlight/faults.hpp"

#include "datasets/text_source.hpp"

#include <fmt/format.h>

namespace rulerank::datasets {

std::string qid_not_on_all(std::optional<std::string_view> found) {
  return found ? fmt::format("qid {} found, expected none as on the lines before", quoted(*found))
               : "no qid found, expected qid:<id> as on the lines before";
}

std::string qid_beside_groups(std::string_view found, std::string const& group_file) {
  return fmt::format("qid {} found, expected none since {} gives the queries", quoted(found),
                     display_name(group_file));
}

std::string wrong_group_sum(std::string const& sum, std::string const& name) {
  return fmt::format("the group sizes add up to {} documents, expected as many as {} has", sum,
                     name);
}

std::string query_again(std::string_view qid, std::uint64_t last_line) {
  return fmt::format("query {} occurs again, expected its lines together (they ended on line {})",
                     quoted(qid), last_line);
}

std::string other_form(feature_form found) {
  return found == feature_form::names
             ? "a feature by name, expected a number as the features before have"
             : "a feature by number, expected a name as the features before have";
}

std::string all_one_query(std::string const& name, std::size_t documents) {
  return fmt::format("{}: no line has a qid, so all {} documents are one query", name, documents);
}

}  // namespace rulerank::datasets
