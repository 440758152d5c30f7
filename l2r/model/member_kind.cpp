#include "l2r/model/member_kind.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::l2r {

namespace {

template <class Pointer, class Same>
std::size_t index_in(std::vector<Pointer>& all, Pointer const& of, Same same) {
  auto const found =
      std::find_if(all.begin(), all.end(), [&](Pointer const& other) { return same(of, other); });
  auto const index = static_cast<std::size_t>(found - all.begin());
  if (found == all.end()) all.push_back(of);
  return index;
}

}  // namespace

bool same_options(datasets::discretizer_options const& a, datasets::discretizer_options const& b) {
  return a.method == b.method && a.bins == b.bins && a.missing == b.missing &&
         a.unlisted == b.unlisted && a.norm == b.norm;
}

bool same_cuts(cuts_pointer const& a, cuts_pointer const& b) {
  if (a == b || a == nullptr || b == nullptr) return a == b;
  return same_options(a->options, b->options) && a->names == b->names &&
         std::equal(a->features.begin(), a->features.end(), b->features.begin(), b->features.end(),
                    [](datasets::feature_cuts const& x, datasets::feature_cuts const& y) {
                      return x.feature == y.feature && x.cuts == y.cuts;
                    });
}

bool same_items(items_pointer const& a, items_pointer const& b) {
  if (a == b || a == nullptr || b == nullptr) return a == b;
  return a->documents == b->documents && a->features == b->features &&
         a->item_begin == b->item_begin && a->has_missing_item == b->has_missing_item &&
         a->labels == b->labels && a->max_label == b->max_label && a->stride == b->stride &&
         a->codes == b->codes;
}

std::size_t stored_parts::index_of(cuts_pointer const& of) {
  return index_in(cuts, of, same_cuts);
}

std::size_t stored_parts::index_of(items_pointer const& of) {
  return index_in(training, of, same_items);
}

std::vector<std::int64_t> read_integers(json_fields const& from, std::string const& place,
                                        nlohmann::ordered_json const& list, std::size_t count,
                                        std::int64_t least, std::int64_t most) {
  if (!list.is_array() || list.size() != count)
    from.fail(place, fmt::format("expected a list of {}", counted(count, "integer")));
  std::vector<std::int64_t> numbers;
  for (nlohmann::ordered_json const& one : list) {
    bool const fits =
        one.is_number_integer() &&
        (!one.is_number_unsigned() || one.get<std::uint64_t>() <= static_cast<std::uint64_t>(most));
    std::int64_t const number = fits ? one.get<std::int64_t>() : least;
    if (!fits || number < least || number > most)
      from.fail(place, fmt::format("found {}, expected an integer from {} to {}", json_shown(one),
                                   least, most));
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::int64_t> read_by_feature(json_fields const& from, std::string_view key,
                                          std::span<std::uint32_t const> item_begin,
                                          std::int64_t least, std::int64_t most) {
  nlohmann::ordered_json const& lists = from.list(key);
  std::size_t const features = item_begin.size() - 1;
  if (lists.size() != features)
    from.fail(key, fmt::format("found {}, expected {}, one for each feature",
                               counted(lists.size(), "list"), features));
  std::vector<std::int64_t> numbers;
  for (std::size_t f = 0; f < features; ++f) {
    auto const own = read_integers(from, fmt::format("{}[{}]", key, f), lists[f],
                                   item_begin[f + 1] - item_begin[f], least, most);
    numbers.insert(numbers.end(), own.begin(), own.end());
  }
  return numbers;
}

scored prepared_member::score(context const&, datasets::binned_dataset const&) const {
  throw std::logic_error("a member that scores raw documents was given items");
}

scored prepared_member::score(context const&, datasets::dataset const&) const {
  throw std::logic_error("a member that scores items was given raw documents");
}

fitted_items const& items_of(context const& ctx, fitting& from,
                             datasets::discretizer_options const& discretizer,
                             cuts_pointer const& cuts) {
  bool const given = cuts != nullptr;
  for (fitted_items const& one : from.made)
    if (one.given == given &&
        (given ? same_cuts(one.cuts, cuts) : same_options(one.options, discretizer)))
      return one;
  cuts_pointer const by = given ? cuts
                                : std::make_shared<datasets::discretizer const>(
                                      datasets::fit_discretizer(ctx, from.train, discretizer));
  datasets::binned_dataset all = datasets::apply_discretizer(ctx, from.train, *by);
  auto items = std::make_shared<datasets::binned_dataset const>(
      from.labelled.size() == from.train.size() ? std::move(all)
                                                : datasets::subset(all, from.labelled));
  if (items->feature_count() == 0)
    throw error({from.train.name, 1, 1},
                given ? "no feature has a cut in this discretizer, expected at least one"
                      : "no feature has two bins, expected a feature that varies");
  return from.made.emplace_back(fitted_items{discretizer, given, by, std::move(items)});
}

std::span<std::string_view const> member_kind_names() {
  static std::vector<std::string_view> const names = [] {
    std::vector<std::string_view> all;
    for (member_kind const& kind : member_kinds()) all.push_back(kind.name);
    return all;
  }();
  return names;
}

std::string_view kind_of(model_member const& of) {
  auto const* const card = std::get_if<scorecard_member>(&of);
  return card != nullptr && card->options.page ? "card" : member_kind_names()[of.index()];
}

std::span<member_kind const> member_kinds() {
  static std::array const kinds{rules_kind, scorecard_kind, linear_kind, joint_kind};
  static_assert(kinds.size() == std::variant_size_v<model_member>);
  static_assert(kinds.size() == std::variant_size_v<recipe>);
  return kinds;
}

}  // namespace rulerank::l2r
