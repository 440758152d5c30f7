#include "eval/conventions.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::eval {

conventions::conventions(profile p, std::int32_t largest_label, std::size_t longest)
    : profile_(std::move(p)), max_label_(profile_.max_label.value_or(largest_label)) {
  check(profile_);
  if (std::int32_t const most = eval::largest_label(profile_); largest_label > most)
    throw usage_error(
        fmt::format("found label {}, whose gain exceeds a double; expected labels up to {}, or "
                    "linear gain as in the profile trec",
                    largest_label, most));
  if (largest_label > max_label_)
    throw usage_error(
        fmt::format("found max-label {}, expected {} or more, the largest label of the data",
                    max_label_, largest_label));
  if (!profile_.prel.empty() &&
      static_cast<std::size_t>(std::max(largest_label, 0)) >= profile_.prel.size())
    throw usage_error(fmt::format("prel ends at label {}, expected a value for each label up to {}",
                                  profile_.prel.size() - 1, largest_label));
  bool const letor = profile_.discount == discount_function::letor;
  logarithm_.reserve(longest);
  for (std::size_t rank = 0; rank < longest; ++rank)
    logarithm_.push_back(letor ? std::log(static_cast<double>(rank + 1))
                               : std::log2(static_cast<double>(rank + 2)));
}

}  // namespace rulerank::eval
