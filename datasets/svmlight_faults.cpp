#include "datasets/svmlight_faults.hpp"

#include "datasets/svmlight_line.hpp"
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

std::string groups_too_large(std::size_t documents, std::string const& name) {
  return fmt::format("the group sizes add up to more than {} documents, expected as many as {} has",
                     documents, name);
}

std::string query_again(std::string_view qid, std::uint64_t last_line) {
  return fmt::format("query {} occurs again, expected its lines together (they ended on line {})",
                     quoted(qid), last_line);
}

}  // namespace rulerank::datasets
