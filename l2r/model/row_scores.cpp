#include "l2r/model/row_scores.hpp"

#include "core/parallel.hpp"
#include "core/process_group.hpp"
#include "core/stopwatch.hpp"
#include "datasets/discretizer/binned_rows.hpp"
#include "l2r/model/member_kind.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

namespace rulerank::inline v0::l2r {

namespace {

/// Whether make_dataset accepts these arguments, and their features are those of the cuts.
template <class Value>
bool is_plain(datasets::document_arrays const& about, datasets::discretizer const& cuts,
              datasets::dense_rows<Value> const& rows) {
  static datasets::feature_names const no_names;
  auto const& names = about.names == nullptr ? no_names : *about.names;
  bool const has_names = &names == &cuts.names || names == cuts.names;
  bool const has_columns =
      about.features.empty() ||
      (about.features.size() == rows.columns &&
       std::ranges::adjacent_find(about.features, std::greater_equal<>()) == about.features.end());
  bool const has_lists =
      about.group_sizes.empty() ||
      (std::ranges::find(about.group_sizes, std::size_t{0}) == about.group_sizes.end() &&
       std::accumulate(about.group_sizes.begin(), about.group_sizes.end(), std::size_t{0}) ==
           rows.documents);
  return has_names && has_columns && has_lists && rows.stride >= rows.columns &&
         about.labels.empty() && about.qids.empty() && about.ids.empty() && about.comments.empty();
}

/// Nothing for models of other members and for arguments to be refused.
template <class Value>
std::optional<scored> score_in_place(context const& ctx, scorer const& by,
                                     datasets::dense_rows<Value> const& rows,
                                     datasets::document_arrays const& about) {
  model_member const& member = by.fitted().members.front();
  if (by.fitted().members.size() > 1 || member_kinds()[member.index()].raw || has_processes(ctx))
    return {};
  cuts_pointer const& cuts = cuts_of(member);
  if (cuts == nullptr || cuts->options.norm != datasets::normalization::none ||
      !is_plain(about, *cuts, rows))
    return {};
  stopwatch const watch;
  context const team = with_useful_threads(ctx, rows.documents * rows.columns, values_a_thread);
  auto const items = datasets::binned_rows(team, rows, about.features, *cuts);
  if (!items) return {};
  double const seconds = watch.seconds();
  prepared_member const& prepared = scorer_access::prepared(by, 0);
  scored found = prepared.score(prepared.rules() == nullptr ? team : ctx, *items);
  found.timings.discretize_s = seconds;
  return found;
}

}  // namespace

template <class Value>
scored score_rows(context const& ctx, scorer const& by, datasets::dense_rows<Value> const& rows,
                  datasets::document_arrays const& about) {
  if (auto found = score_in_place(ctx, by, rows, about)) return *std::move(found);
  return by.score(ctx, datasets::make_dataset(ctx, rows, about));
}

template scored score_rows(context const&, scorer const&, datasets::dense_rows<float> const&,
                           datasets::document_arrays const&);
template scored score_rows(context const&, scorer const&, datasets::dense_rows<double> const&,
                           datasets::document_arrays const&);

}  // namespace rulerank::l2r
