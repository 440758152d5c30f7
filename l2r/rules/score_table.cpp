#include "l2r/rules/score_table.hpp"

#include "core/error.hpp"
#include "rules/combinadic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

constexpr double largest_error = 1e-6;

/// The smallest e with 2^e >= x, x >= 1.
int ceil_log2(wide_sum x) {
  int e = 0;
  while ((wide_sum{1} << e) < x) ++e;
  return e;
}

}  // namespace

std::uint64_t itemsets_a_document(scoring_options const& options, std::size_t features) {
  try {
    return rules::itemset_count(features, options.rule_size - std::uint64_t{1});
  } catch (usage_error const&) {
    throw usage_error(
        fmt::format("rule size {} with {} gives a document more itemsets than 64 bits can count; "
                    "use smaller rules or fewer features",
                    options.rule_size, counted(features, "feature")));
  }
}

score_table::score_table(rules::vertical_index const& index, std::size_t features,
                         scoring_options const& options, bool wide_sums)
    : max_itemset_size_(std::min<std::size_t>(options.rule_size - std::size_t{1}, features)) {
  check(options);
  std::uint64_t label_sum = 0;
  for (std::size_t k = 0; k < index.class_count(); ++k) {
    labels_.push_back(index.class_label(k));
    priors_.push_back(static_cast<double>(index.class_size(k)) /
                      static_cast<double>(index.documents()));
    label_sum += static_cast<std::uint64_t>(labels_[k]) * index.class_size(k);
  }
  mean_label_ = static_cast<double>(label_sum) / static_cast<double>(index.documents());

  std::uint32_t max_n = 1;
  for (rules::item x = 0; x < index.items(); ++x) max_n = std::max(max_n, index.item_support(x));
  rules::validity const valid(options.thresholds, max_n);
  min_valid_.assign(valid.table().begin(), valid.table().end());
  auto const max_label = static_cast<std::uint64_t>(std::max(labels_.front(), 1));
  // Folded counts are 32 bits wide and do not identify the label that smoothing applies to.
  if (options.smoothing == 0)
    folded_up_to_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        valid.all_valid_up_to(), std::numeric_limits<std::uint32_t>::max() / max_label));

  bool const plain = options.support_weight == 0 && options.smoothing == 0;
  std::uint64_t const itemsets = std::max<std::uint64_t>(itemsets_a_document(options, features), 1);
  double const top_weight = std::pow(static_cast<double>(max_n), options.support_weight);
  int const weight_bits = std::max(
      0,
      static_cast<int>(std::ceil(options.support_weight * std::log2(static_cast<double>(max_n)))));
  int const sum_bits = ceil_log2(static_cast<wide_sum>(max_label) * itemsets) + weight_bits;
  // (n + a) / n^w is largest at one end of the range.
  double const worst = std::max((max_n + options.smoothing) / top_weight, 1 + options.smoothing);
  auto too_coarse = [&](int shift) { return std::ldexp(worst, -shift) > largest_error; };

  shift_ = 62 - sum_bits;
  is_wide_ = wide_sums || shift_ < 0 || too_coarse(shift_);
  if (is_wide_) {
    shift_ = plain ? std::min(64, 126 - sum_bits) : 126 - sum_bits;
    if (shift_ < 0 || too_coarse(shift_))
      throw usage_error(
          fmt::format("support weight {} and smoothing {} make scores of supports 1 to {} exceed "
                      "128 bits; use smaller values",
                      options.support_weight, options.smoothing, max_n));
    fill(wide_, options);
  } else {
    fill(narrow_, options);
  }
}

template <class Sum>
void score_table::fill(tables<Sum>& to, scoring_options const& options) const {
  std::size_t const size = min_valid_.size();
  double const w = options.support_weight;
  double const a = options.smoothing;
  to.factor.assign(size, 0);
  to.unit.assign(size, 0);
  if (w == 0 && a == 0) {
    wide_sum const one = wide_sum{1} << shift_;
    for (std::size_t n = 1; n < size; ++n) {
      to.factor[n] = static_cast<Sum>((one + n / 2) / n);
      to.unit[n] = static_cast<Sum>(one);
    }
    return;
  }
  // Rounds to nearest: values are not negative, so the conversion rounds down.
  auto fixed = [&](long double x) { return static_cast<Sum>(std::ldexp(x, shift_) + 0.5L); };
  if (a != 0) to.extra.assign(size * labels_.size(), 0);
  for (std::size_t n = 1; n < size; ++n) {
    long double const weight = std::pow(static_cast<long double>(n), static_cast<long double>(w));
    long double const share = weight / (static_cast<long double>(n) + a);
    to.factor[n] = fixed(share);
    to.unit[n] = fixed(weight);
    if (a != 0)
      for (std::size_t k = 0; k < labels_.size(); ++k)
        to.extra[k * size + n] = fixed(share * a * priors_[k]);
  }
}

template <class Sum>
score_view<Sum> score_table::view_of(tables<Sum> const& from) const {
  score_view<Sum> view;
  view.factor = from.factor.data();
  view.unit = from.unit.data();
  view.extra = from.extra.empty() ? nullptr : from.extra.data();
  view.min_valid = min_valid_.data();
  view.labels = labels_.data();
  view.classes = static_cast<std::uint32_t>(labels_.size());
  view.size = static_cast<std::uint32_t>(min_valid_.size());
  view.folded_up_to = folded_up_to_;
  return view;
}

score_view<std::uint64_t> score_table::narrow() const {
  return view_of(narrow_);
}

score_view<wide_sum> score_table::wide() const {
  return view_of(wide_);
}

}  // namespace rulerank::l2r
