#include "al/labelling.hpp"

#include "al/sampling.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/sha256.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rulerank::al {

namespace {

std::unique_ptr<rule_counter> make_counter(partition const& part, sampler_options const& options,
                                           rules::validity const& valid) {
  auto const max_items = static_cast<std::size_t>(options.rule_size) - 1;
  return options.which == engine::delta ? make_delta(part, max_items, valid)
                                        : make_recount(part, max_items, valid);
}

/// Throws unless the queries follow each other over all documents.
void check_queries(std::vector<std::size_t> const& begin, std::size_t documents) {
  if (begin.size() < 2 || begin.front() != 0 || begin.back() != documents ||
      !std::is_sorted(begin.begin(), begin.end()))
    throw usage_error("the queries are not one after the other over all documents");
}

}  // namespace

struct labelling::lane {
  lane(partition const& p, sampler_options const& options, rules::validity const& valid)
      : part(p), counter(make_counter(p, options, valid)), run(p, *counter, true) {}
  partition const& part;
  std::unique_ptr<rule_counter> counter;
  partition_run run;
};

labelling::labelling(context const& ctx, datasets::binned_dataset const& data,
                     sampler_options const& options)
    : ctx_(&ctx),
      data_(&data),
      options_(options),
      valid_(options.thresholds, static_cast<std::uint32_t>(data.documents)),
      features_(features_of_partitions(data, options)) {
  if (options_.which == engine::automatic) options_.which = engine::delta;
  if (options_.which == engine::prss)
    throw usage_error(
        "engine prss runs on GPUs, expected one on the CPU where labels are asked for");
  if (options_.fixed_iterations != 0)
    throw usage_error("a fixed number of iterations is for benchmarks, labels are not asked for");
  if (!options_.query_begin.empty()) check_queries(options_.query_begin, data.documents);
  auto parts = std::make_shared<std::vector<partition>>(features_.size());
  parallel_for(ctx, parts->size(), 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t q = begin; q < end; ++q) (*parts)[q] = make_partition(data, features_[q]);
  });
  parts_ = std::move(parts);
  restart();
  if (by_query_ && by_query_->next() && by_query_->chosen() == 0 && wanted_.empty()) {
    std::size_t const first = *by_query_->next();
    throw usage_error(fmt::format("a budget of {} documents, and the first query chosen has {}",
                                  options_.max_documents,
                                  options_.query_begin[first + 1] - options_.query_begin[first]));
  }
}

labelling::labelling(labelling const& other, engine which)
    : ctx_(other.ctx_),
      data_(other.data_),
      options_(other.options_),
      valid_(other.valid_),
      features_(other.features_),
      parts_(other.parts_) {
  options_.which = which;
  answers_ = other.answers_;
  restart();
}

labelling::~labelling() = default;

/// From the start to where the answers lead.
void labelling::restart() {
  lanes_.clear();
  by_query_.reset();
  if (options_.query_begin.empty()) {
    for (partition const& part : *parts_)
      lanes_.push_back(std::make_unique<lane>(part, options_, valid_));
  } else {
    std::vector<std::unique_ptr<rule_counter>> counters;
    for (partition const& part : *parts_) counters.push_back(make_counter(part, options_, valid_));
    by_query_ = std::make_unique<query_sampler>(*parts_, std::move(counters), options_.query_begin);
  }
  turn_ = 0;
  choices_.clear();
  kept_.clear();
  answer_of_.clear();
  for (datasets::answer const& a : answers_) answer_of_[a.document] = a.label;
  settle();
}

std::int32_t labelling::label_of(std::size_t document) const {
  if (data_->labels[document] != datasets::unlabelled) return data_->labels[document];
  auto const found = answer_of_.find(document);
  return found == answer_of_.end() ? datasets::unlabelled
                                   : found->second.value_or(datasets::unlabelled);
}

bool labelling::left_out(std::size_t document) const {
  auto const found = answer_of_.find(document);
  return found != answer_of_.end() && !found->second;
}

std::size_t labelling::front(lane const& l) const {
  return l.part.documents[l.run.next()];
}

void labelling::leave_out(lane& l) {
  while (!l.run.done() && left_out(front(l))) l.run.drop_next();
}

/// Chooses, in (iteration, partition) order, as long as the labels are known.
void labelling::settle() {
  wanted_.clear();
  if (by_query_) return choose_queries();
  context serial = *ctx_;
  if (options_.which == engine::ssarp) serial.threads = 1;
  auto const done = [](auto const& l) { return l->run.done(); };
  while (!std::all_of(lanes_.begin(), lanes_.end(), done)) {
    for (; turn_ < lanes_.size(); ++turn_) {
      lane& l = *lanes_[turn_];
      leave_out(l);
      if (l.run.done()) continue;
      std::size_t const document = front(l);
      if (options_.max_documents != 0 && kept_.size() == options_.max_documents &&
          !kept_.contains(document))
        return;
      std::int32_t const label = label_of(document);
      if (label == datasets::unlabelled) return find_wanted();
      kept_.insert(document);
      l.run.advance(serial, l.run.report().iterations + 1,
                    [&](std::size_t, std::size_t iteration, std::uint64_t rules) {
                      choices_.push_back({document, turn_, iteration, rules});
                      return label;
                    });
    }
    turn_ = 0;
  }
}

/// The same with whole queries.
void labelling::choose_queries() {
  context serial = *ctx_;
  if (options_.which == engine::ssarp) serial.threads = 1;
  while (auto const query = by_query_->next()) {
    std::size_t const begin = options_.query_begin[*query];
    std::size_t const end = options_.query_begin[*query + 1];
    if (options_.max_documents != 0 && kept_.size() + (end - begin) > options_.max_documents)
      return;
    std::vector<choice> choices;
    std::vector<std::optional<std::int32_t>> labels;
    for (std::size_t d = begin; d < end; ++d) {
      std::int32_t const label = label_of(d);
      bool const known = label != datasets::unlabelled;
      labels.push_back(known ? std::optional(label) : std::nullopt);
      if (known)
        choices.push_back({d, 0, by_query_->chosen(), by_query_->rules(d)});
      else if (!left_out(d))
        wanted_.push_back({d, 0, by_query_->chosen(), by_query_->rules(d)});
    }
    if (!wanted_.empty()) return;
    for (choice const& c : choices) kept_.insert(c.document);
    choices_.insert(choices_.end(), choices.begin(), choices.end());
    by_query_->add(serial, labels);
  }
}

void labelling::find_wanted() {
  std::unordered_set<std::size_t> seen;  // not yet kept
  for (std::size_t q = turn_; q < lanes_.size(); ++q) {
    lane& l = *lanes_[q];
    leave_out(l);
    if (l.run.done()) continue;
    std::size_t const document = front(l);
    if (kept_.contains(document) || seen.contains(document)) continue;
    if (options_.max_documents != 0 && kept_.size() + seen.size() == options_.max_documents) return;
    seen.insert(document);
    if (label_of(document) == datasets::unlabelled)
      wanted_.push_back({document, q, l.run.report().iterations, l.run.next_rules()});
  }
}

void labelling::answer(std::size_t document, std::optional<std::int32_t> label) {
  if (document >= data_->documents)
    throw usage_error(
        fmt::format("document {}, expected one of {}, from 0", document, data_->documents));
  if (data_->labels[document] != datasets::unlabelled || answer_of_.contains(document))
    throw usage_error(fmt::format("document {} has a label already", document));
  if (label && *label < 0) throw usage_error(fmt::format("label {}, expected 0 or more", *label));
  answers_.push_back({document, label});
  answer_of_[document] = label;
  settle();
}

bool labelling::undo() {
  if (answers_.empty()) return false;
  answers_.pop_back();
  restart();
  return true;
}

std::span<std::size_t const> labelling::features(std::size_t partition) const {
  return features_.at(partition);
}

std::vector<neighbour> nearest(datasets::binned_dataset const& data, std::size_t document,
                               std::size_t k, std::function<bool(std::size_t)> const& counts) {
  std::vector<neighbour> found;
  for (std::size_t d = 0; d < data.documents; ++d)
    if (d != document && counts(d)) found.push_back({d});
  for (std::size_t f = 0; f < data.feature_count(); ++f) {
    std::uint8_t const* const codes = data.column(f);
    std::uint8_t const code = codes[document];
    if (code == datasets::no_item) continue;
    for (neighbour& n : found)
      n.shared_items += static_cast<std::size_t>(codes[n.document] == code);
  }
  auto const nearer = [](neighbour const& a, neighbour const& b) {
    return a.shared_items != b.shared_items ? a.shared_items > b.shared_items
                                            : a.document < b.document;
  };
  auto const end = found.begin() + static_cast<std::ptrdiff_t>(std::min(k, found.size()));
  std::partial_sort(found.begin(), end, found.end(), nearer);
  found.erase(end, found.end());
  return found;
}

std::vector<neighbour> labelling::nearest_labelled(std::size_t document, std::size_t k) const {
  return nearest(*data_, document, k,
                 [this](std::size_t d) { return label_of(d) != datasets::unlabelled; });
}

std::uint64_t labelling::rules_in_sample() const {
  if (by_query_) return by_query_->rules_in_sample();
  std::uint64_t rules = 0;
  for (auto const& l : lanes_) rules += l->counter->rules_in_sample();
  return rules;
}

std::int32_t labelling::guess(std::size_t document) const {
  // While all labels are alike, so is that of the nearest neighbour.
  std::optional<std::int32_t> only;
  bool alike = true;
  auto const see = [&](std::int32_t label) {
    alike = alike && label == only.value_or(label);
    only = label;
  };
  for (std::int32_t const label : data_->labels)
    if (label != datasets::unlabelled) see(label);
  for (datasets::answer const& a : answers_)
    if (a.label) see(*a.label);
  if (alike) return only.value_or(0);
  return label_of(nearest_labelled(document, 1).front().document);
}

/// What `ahead` asks about next, a query's documents together, with guesses for answers.
std::vector<question> labelling::step(labelling& ahead) {
  auto const next = ahead.by_query_ ? ahead.wanted() : std::vector{ahead.wanted().front()};
  for (question const& q : next) ahead.answer(q.document, ahead.guess(q.document));
  return next;
}

std::vector<question> labelling::batch(std::size_t count) const {
  labelling ahead(*this, engine::delta);
  std::vector<question> found;
  while (!ahead.finished() && found.size() < count) {
    auto const next = step(ahead);
    found.insert(found.end(), next.begin(), next.end());
  }
  return found;
}

outlook labelling::look_ahead(std::size_t next) const {
  labelling ahead(*this, engine::delta);
  outlook found;
  found.rules = ahead.rules_in_sample();
  auto const more = [&] {
    return static_cast<std::int64_t>(ahead.rules_in_sample() - found.rules);
  };
  while (!ahead.finished()) {
    bool const in_next = found.documents < next;
    found.documents += step(ahead).size();
    if (!in_next) continue;
    found.next = found.documents;
    found.next_rules = more();
  }
  found.documents_rules = more();
  return found;
}

sample labelling::take() const {
  sample result;
  result.ran = options_.which;
  result.choices = choices_;
  result.documents.assign(kept_.begin(), kept_.end());
  std::sort(result.documents.begin(), result.documents.end());
  for (auto const& l : lanes_) result.partitions.push_back(l->run.report());
  if (by_query_) result.partitions.push_back(by_query_->report());
  return result;
}

std::string labelling::identity() const {
  sha256 hash;
  hash.update(fmt::format("{} {} {} {:a}\n", data_->documents, options_.rule_size,
                          options_.thresholds.min_support, options_.thresholds.min_confidence));
  for (auto const& part : features_) hash.update(fmt::format("{}\n", fmt::join(part, " ")));
  hash.update(fmt::format("{}\n{}\n{}\n", fmt::join(data_->features, " "),
                          fmt::join(data_->item_begin, " "), fmt::join(data_->labels, " ")));
  if (by_query_) hash.update(fmt::format("queries {}\n", fmt::join(options_.query_begin, " ")));
  for (std::size_t f = 0; f < data_->feature_count(); ++f)
    hash.update({reinterpret_cast<char const*>(data_->column(f)), data_->documents});
  return hash.hex();
}

bool ask_for_labels(labelling& work, std::function<reply(question const&)> const& ask) {
  while (!work.finished()) {
    question const now = work.wanted().front();
    reply const said = ask(now);
    switch (said.what) {
      case reply::kind::label:
        work.answer(now.document, said.label);
        break;
      case reply::kind::leave_out:
        work.answer(now.document, {});
        break;
      case reply::kind::undo:
        work.undo();
        break;
      case reply::kind::quit:
        return false;
    }
  }
  return true;
}

}  // namespace rulerank::al
