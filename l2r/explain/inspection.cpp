#include "l2r/explain/inspection.hpp"

#include "bitmaps/bit_kernels.hpp"
#include "bitmaps/bit_matrix.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "eval/evaluate.hpp"
#include "eval/significance.hpp"
#include "l2r/explain/explanation.hpp"
#include "l2r/model/member_kind.hpp"
#include "l2r/rules/engine_knobs.hpp"
#include "l2r/rules/prepared_training.hpp"
#include "l2r/rules/ranking_work.hpp"
#include "l2r/rules/rule_walk.hpp"
#include "rules/mining/association_rules.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

using bitmaps::word;

/// Limit on memory: every rule's p-value is kept until all are corrected.
constexpr std::uint64_t most_rules = 200'000'000;

/// At most `most` of the documents 0..n - 1, evenly spaced.
std::vector<std::size_t> spread(std::size_t n, std::size_t most) {
  std::size_t const taken = most == 0 ? n : std::min(n, most);
  std::vector<std::size_t> chosen(taken);
  for (std::size_t i = 0; i < taken; ++i) chosen[i] = i * n / taken;
  return chosen;
}

/// Calls work(i) for all i in [0, n) on the context's threads and reports progress.
template <class Work>
void for_each(context const& ctx, std::string_view stage, std::size_t n, Work&& work) {
  std::size_t const piece = std::max<std::size_t>(1, n / 100);
  for (std::size_t begin = 0; begin < n; begin += piece) {
    ctx.report(stage, begin, n);
    parallel_for(ctx, std::min(piece, n - begin), 1, [&](std::size_t from, std::size_t to, int) {
      for (std::size_t i = from; i < to; ++i) work(begin + i);
    });
  }
  ctx.report(stage, n, n);
}

/// A context for a step that reports no progress of its own.
context without_progress(context const& ctx) {
  context quiet = ctx;
  quiet.progress = {};
  return quiet;
}

/// Results from explaining each sampled document.
struct explained_documents {
  std::vector<double> moved;      // [sampled x features] absolute effect of the feature's item
  std::vector<double> per_score;  // [positions of the index] 1 / den; 0: not sampled
};

explained_documents explain_each(context const& ctx, prepared_training const& training,
                                 known_items const& items, std::vector<std::size_t> const& chosen) {
  std::size_t const features = items.feature_count();
  explained_documents all;
  all.moved.resize(chosen.size() * features);
  all.per_score.resize(training.index.rows().stride() * bitmaps::word_bits);
  context const alone = one_thread(ctx);
  for_each(ctx, "explain", chosen.size(), [&](std::size_t i) {
    explanation const why = explain_one(alone, training, items, chosen[i], 0);
    double const scale = why.denominator.to_double() * static_cast<double>(why.training);
    for (item_part const& part : why.items.items) {
      auto const after =
          std::upper_bound(training.item_begin.begin(), training.item_begin.end(), part.item);
      auto const f = static_cast<std::size_t>(after - training.item_begin.begin()) - 1;
      all.moved[i * features + f] =
          std::abs(part.moved.to_double() / why.items.split.to_double() / scale);
    }
    all.per_score[training.index.positions()[chosen[i]]] =
        why.itemsets == 0 ? 0 : 1 / why.denominator.to_double();
  });
  return all;
}

std::vector<feature_part> parts_of(prepared_training const& training,
                                   std::vector<double> const& moved, std::size_t documents) {
  std::size_t const features = training.features.size();
  std::vector<feature_part> parts;
  for (std::size_t f = 0; f < features; ++f) {
    double sum = 0;
    for (std::size_t i = 0; i < documents; ++i) sum += moved[i * features + f];
    parts.push_back({training.features[f], sum / static_cast<double>(documents)});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](feature_part const& a, feature_part const& b) { return a.moved > b.moved; });
  return parts;
}

/// The order of rules_inspection::strongest.
bool stronger(strong_rule const& a, strong_rule const& b) {
  double const first = std::abs(a.moved), second = std::abs(b.moved);
  if (first != second) return first > second;
  if (a.support != b.support) return a.support > b.support;
  if (a.antecedent.size() != b.antecedent.size()) return a.antecedent.size() < b.antecedent.size();
  return std::tie(a.antecedent, b.label) < std::tie(b.antecedent, a.label);
}

/// Selects one itemset among all that hold in the same training documents.
class representatives {
 public:
  explicit representatives(prepared_training const& training)
      : index_(training.index), max_size_(training.table.max_itemset_size()) {}

  /// Whether x is the selected one. `held`: the n documents that hold x.
  bool has(std::vector<rules::item> const& x, std::span<word const> held, std::uint32_t n) const {
    std::vector<rules::item> closure;
    for (rules::item y = 0; y < index_.items(); ++y)
      if (index_.item_support(y) >= n && bitmaps::and_popcount(held, index_.row(y)) == n)
        closure.push_back(y);
    if (closure.size() <= max_size_) return x == closure;
    return x.size() == max_size_ && x == first_of(closure, n);
  }

 private:
  /// The first itemset of the largest size whose closure is `closure`, which n documents hold.
  std::vector<rules::item> first_of(std::vector<rules::item> const& closure,
                                    std::uint32_t n) const {
    rules::vertical_counter counter(index_);
    std::vector<std::uint32_t> classes(index_.class_count());
    std::vector<bool> chosen(closure.size());
    std::fill_n(chosen.begin(), max_size_, true);
    do {
      std::vector<rules::item> subset;
      for (std::size_t i = 0; i < closure.size(); ++i)
        if (chosen[i]) subset.push_back(closure[i]);
      if (counter.supports(subset, classes) == n) return subset;
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
    return {};
  }

  rules::vertical_index const& index_;
  std::size_t max_size_;
};

/// The rules whose antecedents begin with given items.
struct surveyed_rules {
  std::vector<strong_rule> strongest;  // a heap with its last rule in front
  std::vector<double> p;               // of all rules
  std::uint64_t itemsets = 0;
};

template <class Sum, class Number>
class rule_survey {
 public:
  rule_survey(context const& ctx, prepared_training const& training,
              std::vector<double> const& per_score, std::size_t looked_at, std::size_t top)
      : training_(training),
        per_score_(per_score),
        looked_at_(static_cast<double>(looked_at)),
        top_(top),
        mean_(training.index),
        representatives_(training),
        walk_(ctx, training) {
    for (std::size_t k = 0; k < training.index.class_count(); ++k)
      class_size_[training.index.class_label(k)] = training.index.class_size(k);
  }

  surveyed_rules run(std::vector<rules::item> const& items, std::size_t first) {
    found_ = {};
    last_.clear();
    walk_.run_from(items, first, [&](walked_rule<Number> const& rule) { add(rule); });
    return std::move(found_);
  }

 private:
  void add(walked_rule<Number> const& rule) {
    if (rule.antecedent != last_) enter(rule.antecedent);
    rules::rule_counts const counts{training_.index.documents(), rule.documents,
                                    class_size_.at(rule.label), rule.support};
    strong_rule one;
    one.p = rules::chi_square_p(counts);
    found_.p.push_back(one.p);
    if (top_ == 0) return;
    one.support = rule.support;
    one.label = rule.label;
    one.documents = rule.documents;
    double const moved = static_cast<double>(mean_.moved(rule.share, rule.weight)) /
                         static_cast<double>(mean_.documents);
    one.moved = moved * per_score_of_last_ / looked_at_;
    if (found_.strongest.size() == top_ &&
        std::abs(one.moved) < std::abs(found_.strongest.front().moved))
      return;
    one.antecedent = rule.antecedent;
    one.with_label = static_cast<std::uint32_t>(counts.consequent);
    one.lift = rules::lift(counts);
    keep(std::move(one));
  }

  /// Starts a new antecedent: finds its documents and sums 1 / den over the sampled ones.
  void enter(std::vector<rules::item> const& antecedent) {
    last_ = antecedent;
    ++found_.itemsets;
    std::span<word const> const row = training_.index.row(antecedent.front());
    held_.assign(row.begin(), row.end());
    for (std::size_t i = 1; i < antecedent.size(); ++i) {
      std::span<word const> const next = training_.index.row(antecedent[i]);
      for (std::size_t w = 0; w < held_.size(); ++w) held_[w] &= next[w];
    }
    per_score_of_last_ = 0;
    for (std::size_t w = 0; w < held_.size(); ++w)
      for (word left = held_[w]; left != 0; left &= left - 1)
        per_score_of_last_ +=
            per_score_[w * bitmaps::word_bits + static_cast<std::size_t>(std::countr_zero(left))];
  }

  void keep(strong_rule one) {
    auto& heap = found_.strongest;
    if (heap.size() == top_ && !stronger(one, heap.front())) return;
    if (!representatives_.has(one.antecedent, held_, one.documents)) return;
    if (heap.size() == top_) {
      std::pop_heap(heap.begin(), heap.end(), stronger);
      heap.pop_back();
    }
    heap.push_back(std::move(one));
    std::push_heap(heap.begin(), heap.end(), stronger);
  }

  prepared_training const& training_;
  std::vector<double> const& per_score_;
  double looked_at_;
  std::size_t top_;
  mean_of_labels<Number> mean_;
  representatives representatives_;
  walk<Sum, Number> walk_;
  std::map<std::int32_t, std::uint32_t> class_size_;
  surveyed_rules found_;
  std::vector<rules::item> last_;
  aligned_vector<word> held_;
  double per_score_of_last_ = 0;
};

/// Collects the rules of all first items. One thread handles all rules of a first item, so their
/// order and sums do not depend on the number of threads.
template <class Sum, class Number>
void survey(context const& ctx, prepared_training const& training,
            std::vector<double> const& per_score, std::size_t top, rules_inspection& to) {
  std::vector<rules::item> items;
  for (rules::item x = 0; x < training.index.items(); ++x)
    if (training.index.item_support(x) > 0) items.push_back(x);
  std::vector<surveyed_rules> by_item(items.size());
  context const alone = one_thread(ctx);
  std::atomic<std::uint64_t> rules{0};
  for_each(ctx, "rules", items.size(), [&](std::size_t i) {
    by_item[i] =
        rule_survey<Sum, Number>(alone, training, per_score, to.looked_at, top).run(items, i);
    if (rules.fetch_add(by_item[i].p.size()) + by_item[i].p.size() > most_rules)
      throw usage_error(fmt::format(
          "found more than {} rules of {} training documents, expected a smaller rule size",
          most_rules, training.index.documents()));
  });
  std::vector<double> p;
  for (surveyed_rules& some : by_item) {
    p.insert(p.end(), some.p.begin(), some.p.end());
    to.itemsets += some.itemsets;
    std::move(some.strongest.begin(), some.strongest.end(), std::back_inserter(to.strongest));
    some = {};
  }
  to.rules = p.size();
  std::sort(to.strongest.begin(), to.strongest.end(), stronger);
  if (to.strongest.size() > top) to.strongest.resize(top);
  std::vector<double> const corrected = eval::holm(p);
  std::map<double, double> by_p;  // rules with equal p have equal corrected p
  for (std::size_t i = 0; i < p.size(); ++i) by_p.emplace(p[i], corrected[i]);
  for (strong_rule& rule : to.strongest) rule.p_holm = by_p.at(rule.p);
}

/// The mean score if all documents had a given item, for each item. All items of a feature are
/// scored in one call, because engines share work between documents.
std::vector<partial_dependence> dependence_of(context const& ctx, ranker const& by,
                                              datasets::binned_dataset const& documents) {
  prepared_training const& training = ranker_access::prepared(by);
  context const quiet = without_progress(ctx);
  std::size_t const size = documents.documents;
  std::vector<partial_dependence> all;
  for (std::size_t f = 0; f < training.features.size(); ++f) {
    ctx.report("dependence", f, training.features.size());
    partial_dependence one{training.features[f], {}};
    for (rules::item x = training.item_begin[f]; x < training.item_begin[f + 1]; ++x)
      if (std::uint32_t const held = training.index.item_support(x); held > 0)
        one.bins.push_back({x, held, 0});
    std::vector<std::size_t> copies(size * one.bins.size());
    for (std::size_t i = 0; i < copies.size(); ++i) copies[i] = i % size;
    datasets::binned_dataset changed = datasets::subset(documents, copies);
    auto const at =
        static_cast<std::size_t>(std::ranges::lower_bound(changed.features, training.features[f]) -
                                 changed.features.begin());
    for (std::size_t i = 0; i < copies.size(); ++i)
      changed.codes[at * changed.stride + i] =
          static_cast<std::uint8_t>(one.bins[i / size].item - training.item_begin[f]);
    std::vector<double> const scores = by.score(quiet, changed).scores;
    for (std::size_t k = 0; k < one.bins.size(); ++k) {
      double sum = 0;
      for (std::size_t d = 0; d < size; ++d) sum += scores[k * size + d];
      one.bins[k].score = sum / static_cast<double>(size);
    }
    all.push_back(std::move(one));
  }
  return all;
}

/// Evenly spaced queries with about `documents` documents in total; all queries without rules.
std::vector<std::size_t> queries_to_explain(scorer const& by, datasets::dataset const& test,
                                            std::size_t documents) {
  bool const rules = std::ranges::any_of(by.fitted().members, [](model_member const& member) {
    return std::holds_alternative<rules_member>(member);
  });
  std::size_t const n = test.queries.size();
  if (!rules || documents == 0 || documents >= test.size()) return spread(n, 0);
  return spread(n, std::max<std::size_t>(1, n * documents / test.size()));
}

/// [documents of a list] the contribution to the score, by feature.
using parts_by_feature = std::map<std::uint32_t, std::vector<double>>;

/// A member's part of an explanation, by feature.
void add_parts_of(member_explanation const& of, prepared_member const& member, std::size_t d,
                  std::size_t size, parts_by_feature& to) {
  auto const add = [&](std::uint32_t feature, double part) {
    std::vector<double>& parts = to[feature];
    parts.resize(size);
    parts[d] += part;
  };
  if (auto const* const sum = std::get_if<sum_explanation>(&of.why)) {
    for (score_term const& term : sum->terms) {
      double const share = term.partner ? term.adds / 2 : term.adds;  // Shapley value: a pair's
                                                                      // effect is split evenly
      add(term.feature, share);
      if (term.partner) add(*term.partner, share);
    }
    return;
  }
  auto const& why = std::get<explanation>(of.why);
  prepared_training const& training = ranker_access::prepared(*member.rules());
  exact_integer const denominator = why.denominator * exact_integer(why.training) * why.items.split;
  for (item_part const& part : why.items.items) {
    auto const after =
        std::upper_bound(training.item_begin.begin(), training.item_begin.end(), part.item);
    auto const f = static_cast<std::size_t>(after - training.item_begin.begin()) - 1;
    add(training.features[f], quotient(part.moved, denominator));
  }
}

/// The features' contributions to the combined scores of a query's documents, minus their list
/// means.
parts_by_feature parts_in_list(context const& ctx, scorer const& by, datasets::dataset const& test,
                               std::size_t query) {
  datasets::query_group const& group = test.queries[query];
  std::vector<std::size_t> documents(group.size());
  std::iota(documents.begin(), documents.end(), group.begin);
  explainer const list(without_progress(ctx), by, datasets::subset(test, documents));
  std::vector<model_explanation> why(documents.size());
  context const alone = one_thread(ctx);
  parallel_for(ctx, why.size(), 1, [&](std::size_t from, std::size_t to, int) {
    for (std::size_t d = from; d < to; ++d) why[d] = list.explain(alone, d, 0);
  });
  std::size_t const members = by.fitted().members.size();
  parts_by_feature whole;
  for (std::size_t k = 0; k < members; ++k) {
    parts_by_feature mine;
    for (std::size_t d = 0; d < why.size(); ++d)
      add_parts_of(why[d].members[k], scorer_access::prepared(by, k), d, why.size(), mine);
    double const deviation = why.front().members[k].deviation;
    double const unit = members == 1 ? 1 : deviation * static_cast<double>(members);
    for (auto const& [feature, parts] : mine) {
      double const mean =
          std::accumulate(parts.begin(), parts.end(), 0.0) / static_cast<double>(parts.size());
      std::vector<double>& sums = whole[feature];
      sums.resize(parts.size());
      if (unit == 0) continue;  // all scores are equal: no contribution
      for (std::size_t d = 0; d < parts.size(); ++d) sums[d] += (parts[d] - mean) / unit;
    }
  }
  return whole;
}

/// The data set with one feature's values permuted: document d gets those of order[d].
datasets::dataset with_permuted(datasets::dataset const& data, std::uint32_t feature,
                                std::vector<std::size_t> const& order) {
  auto const listed = [&](std::size_t d) -> datasets::feature_value const* {
    auto const row = data.document(d);
    auto const at = std::ranges::lower_bound(row, feature, {}, &datasets::feature_value::feature);
    return at != row.end() && at->feature == feature ? &*at : nullptr;
  };
  datasets::dataset permuted = data;
  permuted.entries.clear();
  for (std::size_t d = 0; d < data.size(); ++d) {
    datasets::feature_value const* own = listed(order[d]);
    for (datasets::feature_value const& value : data.document(d)) {
      if (own != nullptr && own->feature <= value.feature) {
        permuted.entries.push_back(*own);
        own = nullptr;
      }
      if (value.feature != feature) permuted.entries.push_back(value);
    }
    if (own != nullptr) permuted.entries.push_back(*own);
    permuted.row[d + 1] = permuted.entries.size();
  }
  return permuted;
}

}  // namespace

rules_inspection inspect(context const& ctx, ranker const& by,
                         datasets::binned_dataset const& training,
                         inspection_options const& options) {
  prepared_training const& prepared = ranker_access::prepared(by);
  if (training.documents != prepared.index.documents())
    throw usage_error(
        fmt::format("found {} documents to inspect, expected the {} that the ranker was made of",
                    training.documents, prepared.index.documents()));
  std::vector<std::size_t> const chosen = spread(training.documents, options.documents);
  datasets::binned_dataset const looked_at = datasets::subset(training, chosen);
  known_items const items(prepared, training);
  // Takes hours on one thread.
  expect_feasible(ctx, prepared, known_items(prepared, looked_at), 1e10);
  expect_feasible(ctx, prepared, items, 1e10);
  rules_inspection all;
  all.training = training.documents;
  all.looked_at = chosen.size();
  explained_documents const explained = explain_each(ctx, prepared, items, chosen);
  all.features = parts_of(prepared, explained.moved, chosen.size());
  if (prepared.table.is_wide())
    survey<wide_sum, wide_integer>(ctx, prepared, explained.per_score, options.top, all);
  else
    survey<std::uint64_t, int128>(ctx, prepared, explained.per_score, options.top, all);
  all.dependence = dependence_of(ctx, by, looked_at);
  return all;
}

combined_inspection inspect(context const& ctx, scorer const& by, datasets::dataset const& test,
                            std::size_t documents) {
  std::vector<std::size_t> const queries = queries_to_explain(by, test, documents);
  combined_inspection all;
  all.queries = queries.size();
  std::map<std::uint32_t, double> moved;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    ctx.report("explain", i, queries.size());
    std::size_t const size = test.queries[queries[i]].size();
    all.documents += size;
    for (auto const& [feature, parts] : parts_in_list(ctx, by, test, queries[i])) {
      double& sum = moved[feature];
      for (double const part : parts) sum += std::abs(part);
    }
  }
  ctx.report("explain", queries.size(), queries.size());
  for (auto const& [feature, sum] : moved)
    all.features.push_back({feature, sum / static_cast<double>(all.documents)});
  std::ranges::stable_sort(all.features, std::greater<>{}, &feature_part::moved);
  return all;
}

permutation_importance permute(context const& ctx, scorer const& by, datasets::dataset const& test,
                               std::span<eval::measure const> measures,
                               eval::profile const& profile, std::size_t draws) {
  if (draws == 0) throw usage_error("permutations: found 0, expected at least 1");
  if (measures.empty()) throw usage_error("found no measure, expected one or more");
  context const quiet = without_progress(ctx);
  auto const value_of = [&](datasets::dataset const& data) {
    return eval::evaluate(quiet, test, by.score(quiet, data).scores, measures, profile).averages();
  };
  permutation_importance all;
  all.whole = value_of(test);
  std::vector<std::uint32_t> const features = datasets::listed_features(test);
  for (std::size_t i = 0; i < features.size(); ++i) {
    permuted_feature one{features[i], std::vector<double>(measures.size()),
                         std::vector<double>(measures.size())};
    std::vector<std::vector<double>> losses(measures.size());
    for (std::size_t draw = 0; draw < draws; ++draw) {
      ctx.report("permute", i * draws + draw, features.size() * draws);
      std::seed_seq seeds{static_cast<std::uint32_t>(ctx.seed),
                          static_cast<std::uint32_t>(ctx.seed >> 32), features[i],
                          static_cast<std::uint32_t>(draw)};
      random_engine engine(seeds);
      std::vector<std::size_t> order(test.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      shuffle(std::span(order), engine);
      std::vector<double> const got = value_of(with_permuted(test, features[i], order));
      for (std::size_t m = 0; m < measures.size(); ++m) losses[m].push_back(all.whole[m] - got[m]);
    }
    for (std::size_t m = 0; m < measures.size(); ++m) {
      double const mean =
          std::accumulate(losses[m].begin(), losses[m].end(), 0.0) / static_cast<double>(draws);
      double squares = 0;
      for (double const loss : losses[m]) squares += (loss - mean) * (loss - mean);
      one.loss[m] = mean;
      one.deviation[m] = draws == 1 ? 0 : std::sqrt(squares / static_cast<double>(draws - 1));
    }
    all.features.push_back(std::move(one));
  }
  return all;
}

}  // namespace rulerank::l2r
