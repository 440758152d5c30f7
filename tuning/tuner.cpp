#include "tuning/tuner.hpp"

#include "core/bytes.hpp"
#include "core/error.hpp"
#include "core/json_fields.hpp"
#include "core/json_text.hpp"
#include "core/process_group.hpp"
#include "core/random.hpp"
#include "core/stopwatch.hpp"
#include "eval/evaluate.hpp"
#include "l2r/model/scorer.hpp"
#include "tuning/settings_json.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include <fmt/format.h>

namespace rulerank::inline v0::tuning {

namespace {

using json_text = nlohmann::ordered_json;
using items_ptr = std::shared_ptr<datasets::binned_dataset const>;

/// Version of the state's format.
constexpr int state_form = 1;

enum class drawn : std::uint64_t { queries = 1, candidates = 2, folds = 3 };

std::vector<std::size_t> draw_order(std::uint64_t seed, drawn what, std::size_t size) {
  std::seed_seq mixed{seed & 0xffffffff, seed >> 32, static_cast<std::uint64_t>(what)};
  random_engine engine(mixed);
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(std::span(order), engine);
  return order;
}

std::size_t one_in(std::size_t keep, std::size_t of) {
  return (of + keep - 1) / keep;
}

/// The number of trials over all rungs if the first one tries `candidates`.
std::size_t trials_of(std::size_t candidates, search_options const& options) {
  std::size_t all = 0;
  for (std::size_t k = 0; k < options.rungs; ++k) {
    all += candidates;
    candidates = one_in(options.keep, candidates);
  }
  return all;
}

/// The number of queries that rung k uses.
std::size_t queries_of(std::size_t k, std::size_t queries, search_options const& options) {
  for (std::size_t above = k + 1; above < options.rungs; ++above)
    queries = one_in(options.keep, queries);
  return queries;
}

/// The number of trials between checks of the clock and the stop token.
std::size_t trials_at_once(context const& ctx, search_options const& options) {
  constexpr std::size_t a_process = 8;
  if (!has_processes(ctx)) return 1;
  auto const processes = static_cast<std::size_t>(ctx.processes->size());
  return options.max_seconds > 0 ? processes : a_process * processes;
}

std::function<double()> steady_seconds() {
  return [watch = stopwatch()] { return watch.seconds(); };
}

}  // namespace

void check(search_options const& options) {
  if (options.rungs < 1 || options.rungs > 20)
    throw usage_error(fmt::format("found {} rungs, expected 1 to 20", options.rungs));
  if (options.keep < 2) throw usage_error("found one in 1 kept, expected one in 2 or more");
  if (options.max_trials > 0 && options.max_trials < options.rungs)
    throw usage_error(fmt::format("found a budget of {}, expected {} or more, one for each rung",
                                  counted(options.max_trials, "trial"), options.rungs));
  if (options.members < 1) throw usage_error("found 0 members, expected one or more");
  if (!(options.max_seconds >= 0))
    throw usage_error("found a negative budget of seconds, expected 0 or more");
}

json_text to_json(search_options const& options) {
  json_text json{{"rungs", options.rungs}, {"keep", options.keep}, {"members", options.members}};
  json["max_trials"] = options.max_trials > 0 ? json_text(options.max_trials) : json_text(nullptr);
  json["max_seconds"] =
      options.max_seconds > 0 ? json_text(options.max_seconds) : json_text(nullptr);
  return json;
}

tuner::tuner(context const& ctx, datasets::dataset const& validation,
             std::vector<candidate> candidates, std::vector<eval::measure> measures,
             eval::profile rules, prepare_fn prepare, l2r::engine_options engine,
             cross_fitting crossed)
    : validation_(validation),
      candidates_(std::move(candidates)),
      searched_(candidates_.size()),
      measures_(std::move(measures)),
      rules_(std::move(rules)),
      prepare_(std::move(prepare)),
      engine_(engine),
      crossed_(crossed),
      done_(candidates_.size()),
      values_(candidates_.size()) {
  if (candidates_.empty()) throw usage_error("found no candidates to try, expected one or more");
  if (measures_.empty())
    throw usage_error("found no measure to compare candidates by, expected one or more");
  datasets::expect_labels(validation, "choose by");
  for (candidate const& one : candidates_)
    if (kind_of(one) != "rules" && crossed_.training == nullptr)
      throw usage_error("found a candidate that learns, but no training documents");
  std::size_t queries = validation.queries.size();
  std::int32_t max_label = validation.max_label();
  if (crossed_.folds > 0) {
    std::size_t const more = crossed_.training->queries.size();
    if (crossed_.folds < 2 || crossed_.folds > more)
      throw usage_error(fmt::format("found {} to cross-fit {}, expected 2 to its {}",
                                    counted(crossed_.folds, "fold"), crossed_.training->name,
                                    counted(more, "query", "queries")));
    fold_.resize(more);
    std::vector<std::size_t> const dealt = draw_order(ctx.seed, drawn::folds, more);
    for (std::size_t i = 0; i < more; ++i) fold_[dealt[i]] = i % crossed_.folds;
    queries += more;
    max_label = std::max(max_label, crossed_.training->max_label());
  }
  order_ = draw_order(ctx.seed, drawn::queries, queries);
  // A query's value must not depend on the other queries judged.
  if (!rules_.max_label) rules_.max_label = max_label;
}

prepared const& tuner::prepared_for(cuts const& how) {
  auto const found = prepared_.find(how);
  return found != prepared_.end() ? found->second
                                  : prepared_.emplace(how, prepare_(how)).first->second;
}

std::vector<tuner::query_batch> const& tuner::batches_of(std::size_t from, std::size_t to) {
  auto const [at, missing] = batches_.try_emplace({from, to});
  if (!missing) return at->second;
  std::vector<std::size_t> queries(order_.begin() + static_cast<std::ptrdiff_t>(from),
                                   order_.begin() + static_cast<std::ptrdiff_t>(to));
  std::ranges::sort(queries);
  std::size_t const own = validation_.queries.size();
  std::vector<query_batch> batches(1 + crossed_.folds);
  for (std::size_t const q : queries)
    batches[q < own ? 0 : 1 + fold_[q - own]].queries.push_back(q);
  for (std::size_t k = 0; k < batches.size(); ++k) {
    query_batch& batch = batches[k];
    if (batch.queries.empty()) continue;
    batch.crossed = k > 0;
    batch.fold = k;
    datasets::dataset const& judged = batch.crossed ? *crossed_.training : validation_;
    auto const add = [&judged](std::size_t q, std::vector<std::size_t>& to_these) {
      for (std::size_t d = judged.queries[q].begin; d < judged.queries[q].end; ++d)
        to_these.push_back(d);
    };
    for (std::size_t const q : batch.queries) add(batch.crossed ? q - own : q, batch.documents);
    if (batch.crossed)
      for (std::size_t q = 0; q < fold_.size(); ++q)
        if (fold_[q] + 1 != k) add(q, batch.ranking);
    batch.data = datasets::subset(judged, batch.documents);
    at->second.push_back(std::move(batch));
  }
  return at->second;
}

l2r::model_member const& tuner::fitted_for(context const& ctx, std::size_t c,
                                           query_batch const& batch) {
  auto const at = fitted_.find({c, batch.fold});
  if (at != fitted_.end()) return at->second;
  candidate const& how = candidates_[c];
  datasets::dataset const& all = *crossed_.training;
  auto const keep = [&](l2r::model_member member) -> l2r::model_member const& {
    return fitted_.emplace(std::pair(c, batch.fold), std::move(member)).first->second;
  };
  if (how.linear || how.recipe) {
    datasets::dataset const known =
        batch.crossed ? datasets::subset(all, batch.ranking) : datasets::dataset();
    datasets::dataset const& train = batch.crossed ? known : all;
    if (how.linear) return keep(l2r::linear_member{l2r::fit_linear(ctx, train, *how.linear)});
    return keep(std::move(l2r::fit(ctx, train, std::span(&*how.recipe, 1)).members.front()));
  }
  datasets::binned_dataset const& items = prepared_for(how.cuts).training;
  l2r::scorecard_member made{nullptr, *how.scorecard, {}, 0, 0, {}};
  if (batch.crossed) {
    made.card = l2r::fit_scorecard(
        ctx, {datasets::subset(all, batch.ranking).queries, datasets::subset(items, batch.ranking)},
        *how.scorecard);
  } else {
    made.card = l2r::fit_scorecard(ctx, {all.queries, items}, *how.scorecard);
  }
  return keep(std::move(made));
}

/// Keeps each candidate's binned sets, because models refer to them.
std::vector<double> tuner::score(context const& ctx, std::span<std::size_t const> members,
                                 query_batch const& batch) {
  std::map<prepared const*, std::pair<items_ptr, datasets::binned_dataset>> by_cuts;
  std::vector<std::vector<double>> scores;
  for (std::size_t const c : members) {
    if (candidates_[c].linear) {
      auto const& linear = std::get<l2r::linear_member>(fitted_for(ctx, c, batch));
      scores.push_back(l2r::score(ctx, linear.weights, batch.data));
      continue;
    }
    l2r::model model;
    if (candidates_[c].recipe) {
      model.members.push_back(fitted_for(ctx, c, batch));
      scores.push_back(l2r::score(ctx, model, batch.data).scores);
      continue;
    }
    prepared const& all = prepared_for(candidates_[c].cuts);
    auto const [at, missing] = by_cuts.try_emplace(&all);
    auto& [training, documents] = at->second;
    if (missing)
      documents = datasets::subset(batch.crossed ? all.training : all.validation, batch.documents);
    if (candidates_[c].scorecard) {
      model.members.push_back(fitted_for(ctx, c, batch));
    } else {
      if (!training)
        training = batch.crossed ? std::make_shared<datasets::binned_dataset const>(
                                       datasets::subset(all.training, batch.ranking))
                                 : items_ptr(items_ptr(), &all.training);
      model.members.emplace_back(l2r::rules_member{nullptr, training, candidates_[c].scoring});
    }
    l2r::binned_lists const lists{batch.data.queries, {&documents}};
    scores.push_back(l2r::score(ctx, model, lists, engine_).scores);
  }
  return l2r::combine(batch.data.queries, scores);
}

/// Evaluates the scores of a batch into `values` [queries x measures].
void tuner::evaluate(context const& ctx, query_batch const& batch,
                     std::vector<double> const& scores, std::vector<double>& values) const {
  eval::query_values const got = eval::evaluate(ctx, batch.data, scores, measures_, rules_);
  std::size_t const width = measures_.size();
  for (std::size_t i = 0; i < batch.queries.size(); ++i)
    for (std::size_t m = 0; m < width; ++m) values[batch.queries[i] * width + m] = got.at(i, m);
}

void tuner::extend(context const& ctx, std::size_t c, std::size_t queries) {
  context one = without_processes(ctx);
  one.progress = {};  // progress counts trials, not steps
  values_[c].resize(order_.size() * measures_.size());
  for (query_batch const& batch : batches_of(done_[c], queries))
    evaluate(one, batch, score(one, std::span(&c, 1), batch), values_[c]);
  done_[c] = queries;
}

void tuner::share_out(context const& ctx, std::span<std::size_t const> candidates,
                      std::size_t queries) {
  struct open_trial {
    std::size_t candidate, done;
  };
  std::vector<open_trial> open;
  for (std::size_t const c : candidates)
    if (done_[c] < queries) open.push_back({c, done_[c]});
  std::size_t const width = measures_.size();
  auto const task = [&](std::size_t t) {
    auto const [c, done] = open[t];
    extend(ctx, c, queries);
    std::vector<double> made;
    for (std::size_t i = done; i < queries; ++i)
      for (std::size_t m = 0; m < width; ++m) made.push_back(values_[c][order_[i] * width + m]);
    return bytes_of(made);
  };
  auto const results = ctx.processes->deal(open.size(), task,
                                           [](std::size_t, std::string result) { return result; });
  for (std::size_t t = 0; t < open.size(); ++t) {
    auto const [c, done] = open[t];
    values_[c].resize(order_.size() * width);
    auto const made = value_of<std::vector<double>>(results[t]);
    auto next = made.begin();
    for (std::size_t i = done; i < queries; ++i)
      for (std::size_t m = 0; m < width; ++m) values_[c][order_[i] * width + m] = *next++;
    done_[c] = queries;
  }
}

std::vector<double> tuner::average(std::vector<double> const& values, std::size_t queries) const {
  // Summed in file order, as eval::evaluate does.
  std::vector<std::size_t> seen(order_.begin(),
                                order_.begin() + static_cast<std::ptrdiff_t>(queries));
  std::ranges::sort(seen);
  std::vector<double> column(queries);
  std::vector<double> averages;
  for (std::size_t m = 0; m < measures_.size(); ++m) {
    for (std::size_t i = 0; i < queries; ++i) column[i] = values[seen[i] * measures_.size() + m];
    averages.push_back(measures_[m].average(column));
  }
  return averages;
}

trial tuner::measure(context const& ctx, std::size_t c, std::size_t rung, std::size_t queries) {
  if (done_[c] < queries) extend(ctx, c, queries);
  return {c, rung, queries, average(values_[c], queries)};
}

std::vector<double> tuner::values_of(context const& ctx, std::span<std::size_t const> members) {
  if (members.size() == 1) {
    if (done_[members[0]] < order_.size()) extend(ctx, members[0], order_.size());
    return values_[members[0]];
  }
  context one = without_processes(ctx);
  one.progress = {};
  std::vector<double> values(order_.size() * measures_.size());
  for (query_batch const& batch : batches_of(0, order_.size()))
    evaluate(one, batch, score(one, members, batch), values);
  return values;
}

std::vector<double> tuner::judge(context const& ctx, std::span<std::size_t const> members) {
  return average(values_of(ctx, members), order_.size());
}

std::size_t tuner::place_of(candidate const& of) {
  auto const same = [&](candidate const& other) { return to_json(other) == to_json(of); };
  auto const at = std::find_if(candidates_.begin(), candidates_.end(), same);
  auto const place = static_cast<std::size_t>(at - candidates_.begin());
  if (at == candidates_.end()) {
    candidates_.push_back(of);
    done_.push_back(0);
    values_.emplace_back();
  }
  return place;
}

std::size_t tuner::trial_of(context const& ctx, std::size_t c, std::size_t last,
                            search_result& result) {
  auto const its = std::find_if(result.trials.begin(), result.trials.end(), [&](trial const& one) {
    return one.rung == last && one.candidate == c;
  });
  auto const place = static_cast<std::size_t>(its - result.trials.begin());
  if (its == result.trials.end()) {
    result.trials.push_back({c, last, order_.size(), judge(ctx, std::span(&c, 1))});
    ++result.compared_trials;
  }
  return place;
}

against_defaults tuner::difference(context const& ctx, std::size_t by,
                                   std::vector<candidate> const& defaults,
                                   search_result const& result) {
  if (by >= measures_.size()) throw usage_error("found a measure that was not computed");
  if (defaults.empty()) throw usage_error("found no defaults to compare with");
  std::vector<std::size_t> members;
  for (std::size_t const at : result.chosen) members.push_back(result.trials[at].candidate);
  against_defaults compared;
  for (candidate const& one : defaults) compared.candidates.push_back(place_of(one));
  compared.queries = order_.size();
  std::vector<double> const found = values_of(ctx, members);
  std::vector<double> const base = values_of(ctx, compared.candidates);
  compared.found = average(found, order_.size());
  compared.values = average(base, order_.size());
  std::vector<double> differences;
  for (std::size_t i = by; i < found.size(); i += measures_.size())
    differences.push_back(found[i] - base[i]);
  compared.gain = eval::confidence_interval(differences);
  compared.kept = !(compared.found[by] > compared.values[by]);
  return compared;
}

void tuner::compare(context const& ctx, std::size_t by, std::vector<candidate> const& defaults,
                    search_result& result) {
  against_defaults compared = difference(ctx, by, defaults, result);
  if (compared.kept) {
    std::size_t last = 0;
    for (trial const& one : result.trials) last = std::max(last, one.rung);
    result.chosen.clear();
    for (std::size_t const c : compared.candidates)
      result.chosen.push_back(trial_of(ctx, c, last, result));
  }
  result.compared = std::move(compared);
}

void tuner::judge_beside(context const& ctx, std::size_t by, std::vector<candidate> const& others,
                         search_result& result) {
  result.beside = difference(ctx, by, others, result);
}

std::vector<std::size_t> tuner::plan(context const& ctx, search_options const& options) const {
  std::vector<std::size_t> all(searched_);
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::size_t many = all.size();
  if (options.max_trials > 0)
    while (trials_of(many, options) > options.max_trials) --many;
  if (many < all.size() || options.max_seconds > 0)
    all = draw_order(ctx.seed, drawn::candidates, all.size());
  all.resize(many);
  return all;
}

search_result tuner::search(context const& ctx, std::size_t by, search_options const& options,
                            std::function<void()> const& after) {
  check(options);
  if (by >= measures_.size()) throw usage_error("found a measure that was not computed");
  auto const seconds = options.seconds ? options.seconds : steady_seconds();
  search_result result;
  result.candidates = searched_;
  std::vector<std::size_t> going = plan(ctx, options);
  std::size_t const planned = trials_of(going.size(), options);
  auto const better = [&](std::size_t a, std::size_t b) {
    trial const& x = result.trials[a];
    trial const& y = result.trials[b];
    if (x.values[by] != y.values[by]) return x.values[by] > y.values[by];
    return x.candidate < y.candidate;
  };
  std::size_t const at_once = trials_at_once(ctx, options);
  std::vector<std::size_t> rung;  // indices of its trials
  for (std::size_t k = 0; k < options.rungs; ++k) {
    double const until =
        options.max_seconds * static_cast<double>(k + 1) / static_cast<double>(options.rungs);
    std::size_t const queries = queries_of(k, order_.size(), options);
    rung.clear();
    for (std::size_t i = 0; i < going.size();) {
      bool const late = options.max_seconds > 0 && !rung.empty() && seconds() >= until;
      if (options.max_seconds > 0 && of_first(ctx, late)) break;
      ctx.check_stop();
      auto const some = std::span(going).subspan(i).first(std::min(at_once, going.size() - i));
      if (has_processes(ctx)) share_out(ctx, some, queries);
      for (std::size_t const c : some) {
        rung.push_back(result.trials.size());
        result.trials.push_back(measure(ctx, c, k, queries));
        if (after) after();
        ctx.report("tune", result.trials.size(), planned);
      }
      i += some.size();
    }
    std::ranges::sort(rung, better);
    if (k == 0) result.tried = rung.size();
    going.clear();
    for (std::size_t i = 0; i < one_in(options.keep, rung.size()); ++i)
      going.push_back(result.trials[rung[i]].candidate);
  }
  rung.resize(std::min(rung.size(), options.members));
  result.chosen = std::move(rung);
  return result;
}

std::string tuner::state(std::string const& fingerprint) const {
  json_text json{{"rulerank_trials", state_form}, {"fingerprint", fingerprint}};
  json["queries"] = order_.size();
  json["metrics"] = json_text::array();
  for (eval::measure const& m : measures_) json["metrics"].push_back(m.name());
  json["trials"] = json_text::array();
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    if (done_[c] == 0) continue;
    json_text values = json_text::array();  // by query, in random order
    for (std::size_t i = 0; i < done_[c]; ++i)
      for (std::size_t m = 0; m < measures_.size(); ++m)
        values.push_back(values_[c][order_[i] * measures_.size() + m]);
    json["trials"].push_back(
        {{"candidate", to_json(candidates_[c])}, {"values", std::move(values)}});
  }
  return json_line_of(json) + "\n";
}

std::size_t tuner::restore(std::string_view text, std::string const& fingerprint,
                           std::string const& name) {
  return read_json({name, 1, 1}, "found no trials that `rulerank tune` wrote", [&] {
    json_text const json = parse_ordered_json(text, name, "trials that tune wrote");
    if (json.at("rulerank_trials") != state_form)
      throw error({name, 1, 1},
                  "found trials of a different version, expected those of this version");
    if (json.at("fingerprint") != fingerprint)
      throw error({name, 1, 1},
                  "found trials of different inputs, options or a different program, expected the "
                  "same command line; a new file starts again");
    std::map<std::string, std::size_t> known;
    for (std::size_t c = 0; c < candidates_.size(); ++c) known[to_json(candidates_[c]).dump()] = c;
    std::size_t const width = measures_.size();
    std::size_t taken = 0;
    for (json_text const& one : json.at("trials")) {
      auto const at = known.find(one.at("candidate").dump());
      auto const values = one.at("values").get<std::vector<double>>();
      if (values.size() % width != 0 || values.size() / width > order_.size())
        throw error({name, 1, 1}, "found a trial whose number of values is not queries x metrics");
      if (at == known.end()) continue;
      std::size_t const c = at->second;
      done_[c] = values.size() / width;
      values_[c].assign(order_.size() * width, 0);
      for (std::size_t i = 0; i < done_[c]; ++i)
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                    values_[c].begin() + static_cast<std::ptrdiff_t>(order_[i] * width));
      ++taken;
    }
    return taken;
  });
}

}  // namespace rulerank::tuning
