#include "al/labelling.hpp"

#include "al/selection.hpp"
#include "core/error.hpp"
#include "core/sha256.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::al {

namespace {

/// The CPU engine to use. Throws `usage_error` for a GPU engine.
engine_info const& cpu_engine(engine asked) {
  if (asked == engine::automatic)
    return *std::ranges::find_if(
        engines(), [](engine_info const& e) { return includes(e.default_on, runs_on::cpu); });
  engine_info const* const found = find_engine(engines(), asked);
  if (found != nullptr && includes(found->where, runs_on::cpu)) return *found;
  throw usage_error(fmt::format(
      "{} runs on GPUs alone, expected an engine for the CPU because labels are given one by one",
      found != nullptr ? fmt::format("engine {}", found->name) : "this engine"));
}

/// Decides which further documents are excluded: evenly spread, with the same share as among the
/// answers. If all answers exclude, the share is that with one additional label.
class share_left_out {
 public:
  share_left_out(std::size_t left_out, std::size_t answers)
      : left_out_(left_out), of_(std::max(answers, left_out + 1)) {}
  /// Whether the next document is excluded.
  bool next() {
    due_ += left_out_;
    if (due_ < of_) return false;
    due_ -= of_;
    ++count_;
    return true;
  }
  std::size_t count() const noexcept { return count_; }

 private:
  std::size_t left_out_, of_, due_ = 0, count_ = 0;
};

/// Shared by a labelling and its copies for look-ahead.
struct shared_setup {
  shared_setup(context const& ctx, datasets::binned_dataset const& data,
               sampler_options const& options)
      : setup(ctx, data, options),
        parts(std::make_shared<std::vector<partition> const>(make_partitions(setup))) {}
  sampling_setup setup;
  shared_partitions parts;
};

}  // namespace

/// The answers as the label source of a selection.
class labelling::state final : public label_source {
 public:
  state(std::shared_ptr<shared_setup const> shared, engine_info const& which)
      : shared_(std::move(shared)), engine_(which) {
    restart();
  }
  /// The state that these answers reach from the start of `other`, with the default engine.
  state(state const& other, std::vector<al::answer> answers)
      : shared_(other.shared_),
        engine_(cpu_engine(engine::automatic)),
        answers_(std::move(answers)) {
    for (al::answer const& a : answers_) answer_of_[a.document] = a.label;
    restart();
  }
  explicit state(state const& other) : state(other, other.answers_) {}
  state& operator=(state const&) = delete;

  bool knows_all() const override { return false; }
  std::optional<std::int32_t> label(std::size_t document) override {
    std::int32_t const known = label_of(document);
    return known == datasets::unlabelled ? std::nullopt : std::optional(known);
  }
  bool left_out(std::size_t document) const override {
    auto const found = answer_of_.find(document);
    return found != answer_of_.end() && !found->second;
  }

  std::int32_t label_of(std::size_t document) const {
    if (data().labels[document] != datasets::unlabelled) return data().labels[document];
    auto const found = answer_of_.find(document);
    return found == answer_of_.end() ? datasets::unlabelled
                                     : found->second.value_or(datasets::unlabelled);
  }

  void answer(std::size_t document, std::optional<std::int32_t> label) {
    if (document >= data().documents)
      throw usage_error(fmt::format("found document {}, expected 0 or more and less than {}",
                                    document, data().documents));
    if (data().labels[document] != datasets::unlabelled || answer_of_.contains(document))
      throw usage_error(fmt::format(
          "document {} has a label already, expected a document without one", document));
    if (label && *label < 0)
      throw usage_error(fmt::format("found label {}, expected 0 or more", *label));
    answers_.push_back({document, label});
    answer_of_[document] = label;
    selection_->advance(*this);
  }

  bool undo() { return !answers_.empty() && take_back(answers_.back().document); }

  bool take_back(std::size_t document) {
    if (answer_of_.erase(document) == 0) return false;
    std::erase_if(answers_, [&](al::answer const& a) { return a.document == document; });
    restart();
    return true;
  }

  /// The number of answers that exclude a document.
  std::size_t left_out() const { return left_out_of(answers_); }

  /// Upper bound on further questions: the documents without label and answer; if no document is
  /// excluded, also limited by the budget, which counts labels.
  std::size_t most_questions() const {
    auto open = static_cast<std::size_t>(std::ranges::count(data().labels, datasets::unlabelled)) -
                answers_.size();
    if (std::size_t const budget = setup().options.max_documents; budget != 0 && left_out() == 0)
      open = std::min(open, budget - selection().take().documents.size());
    return open;
  }

  std::size_t minority_labels() const;
  std::int32_t guess(std::size_t document) const;
  std::vector<question> answer_next_with_guesses(share_left_out* share = nullptr);

  datasets::binned_dataset const& data() const { return shared_->setup.data; }
  sampling_setup const& setup() const { return shared_->setup; }
  engine ran() const { return engine_.which; }
  al::selection const& selection() const { return *selection_; }
  std::vector<question> const& wanted() const { return selection_->wanted(); }
  std::vector<al::answer> const& answers() const { return answers_; }
  bool whole_queries() const { return !setup().options.query_begin.empty(); }

 private:
  /// Replays the answers from the start.
  void restart() {
    selection_ = make_selection(shared_->setup, registered_engines().maker_of(engine_.which)(false),
                                shared_->parts);
    selection_->advance(*this);
  }

  std::shared_ptr<shared_setup const> shared_;
  engine_info engine_;
  std::unique_ptr<al::selection> selection_;
  std::vector<al::answer> answers_;
  std::unordered_map<std::size_t, std::optional<std::int32_t>> answer_of_;
};

labelling::labelling(context const& ctx, datasets::binned_dataset const& data,
                     sampler_options const& options) {
  engine_info const& which = cpu_engine(options.engine);
  state_ = std::make_unique<state>(std::make_shared<shared_setup const>(ctx, data, options), which);
}

labelling::~labelling() = default;
labelling::labelling(labelling&&) noexcept = default;
labelling& labelling::operator=(labelling&&) noexcept = default;

std::vector<question> const& labelling::wanted() const noexcept {
  return state_->wanted();
}

bool labelling::whole_queries() const noexcept {
  return state_->whole_queries();
}

std::span<al::answer const> labelling::answers() const noexcept {
  return state_->answers();
}

std::size_t labelling::minority_labels() const {
  return state_->minority_labels();
}

std::int32_t labelling::label_of(std::size_t document) const {
  return state_->label_of(document);
}

void labelling::answer(std::size_t document, std::optional<std::int32_t> label) {
  state_->answer(document, label);
}

bool labelling::undo() {
  return state_->undo();
}

bool labelling::take_back(std::size_t document) {
  return state_->take_back(document);
}

std::span<std::size_t const> labelling::features(std::size_t partition) const {
  return state_->setup().features.at(partition);
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
  return nearest(state_->data(), document, k,
                 [this](std::size_t d) { return label_of(d) != datasets::unlabelled; });
}

/// The number of labels, in the data set and in answers, other than the most common one.
std::size_t labelling::state::minority_labels() const {
  std::unordered_map<std::int32_t, std::size_t> count_of;
  std::size_t labels = 0, commonest = 0;
  auto const count = [&](std::int32_t label) {
    ++labels;
    commonest = std::max(commonest, ++count_of[label]);
  };
  for (std::int32_t const label : data().labels)
    if (label != datasets::unlabelled) count(label);
  for (al::answer const& a : answers_)
    if (a.label) count(*a.label);
  return labels - commonest;
}

/// The label of the nearest labelled document; 0 if there is none.
std::int32_t labelling::state::guess(std::size_t document) const {
  // If all labels are equal, so is the nearest neighbour's.
  std::optional<std::int32_t> only;
  bool alike = true;
  auto const see = [&](std::int32_t label) {
    alike = alike && label == only.value_or(label);
    only = label;
  };
  for (std::int32_t const label : data().labels)
    if (label != datasets::unlabelled) see(label);
  for (al::answer const& a : answers_)
    if (a.label) see(*a.label);
  if (alike) return only.value_or(0);
  auto const labelled = [this](std::size_t d) { return label_of(d) != datasets::unlabelled; };
  return label_of(nearest(data(), document, 1, labelled).front().document);
}

/// Answers the next questions with guesses, a query's documents together; returns the questions.
std::vector<question> labelling::state::answer_next_with_guesses(share_left_out* share) {
  auto const next = whole_queries() ? wanted() : std::vector{wanted().front()};
  for (question const& q : next) {
    bool const leaves_out = share != nullptr && share->next();
    answer(q.document, leaves_out ? std::nullopt : std::optional(guess(q.document)));
  }
  return next;
}

std::vector<question> labelling::batch(std::size_t count) const {
  state ahead(*state_);
  std::vector<question> found;
  while (!ahead.wanted().empty() && found.size() < count) {
    auto const next = ahead.answer_next_with_guesses();
    found.insert(found.end(), next.begin(), next.end());
  }
  return found;
}

namespace {

/// Calls take(itemset) for every combination of `size` numbers below `count`, in order.
template <class Take>
void for_each_choice(std::size_t count, std::size_t size, Take&& take) {
  if (size > count) return;
  std::vector<std::size_t> chosen(size);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  for (;;) {
    take(chosen);
    std::size_t at = size;
    while (at > 0 && chosen[at - 1] == count - size + at - 1) --at;
    if (at == 0) return;
    ++chosen[at - 1];
    for (; at < size; ++at) chosen[at] = chosen[at - 1] + 1;
  }
}

/// Above this number of itemsets, only shorter ones are examined.
constexpr std::uint64_t most_itemsets = 50'000;

/// The maximum itemset size that keeps the number of itemsets within the limit.
std::size_t items_to_look_at(std::size_t columns, std::size_t most) {
  std::uint64_t all = 0, of_size = 1;
  std::size_t items = 0;
  for (; items < std::min(most, columns); ++items) {
    of_size = of_size * (columns - items) / (items + 1);
    all += of_size;
    if (all > most_itemsets) break;
  }
  return items;
}

}  // namespace

brought_rules labelling::brings(question const& asked, std::size_t most) const {
  datasets::binned_dataset const& data = state_->data();
  std::vector<std::size_t> columns;  // features in which the document has an item
  for (std::size_t const c : features(asked.partition))
    if (data.code(c, asked.document) != datasets::no_item) columns.push_back(c);
  std::ranges::sort(columns);
  // [columns][documents of the sample] whether it has the same item.
  std::vector<std::vector<bool>> shared(columns.size());
  for (choice const& c : state_->selection().take().choices) {
    if (c.partition != asked.partition) continue;
    for (std::size_t i = 0; i < columns.size(); ++i)
      shared[i].push_back(data.code(columns[i], c.document) ==
                          data.code(columns[i], asked.document));
  }
  std::size_t const sampled = shared.empty() ? 0 : shared.front().size();
  brought_rules found;
  found.items = items_to_look_at(columns.size(), state_->setup().max_items());
  std::vector<std::vector<std::size_t>> shortest;
  for (std::size_t size = 1; size <= found.items; ++size)
    for_each_choice(columns.size(), size, [&](std::vector<std::size_t> const& itemset) {
      ++found.itemsets;
      for (std::size_t d = 0; d < sampled; ++d)
        if (std::ranges::all_of(itemset, [&](std::size_t i) { return shared[i][d]; })) return;
      ++found.unseen;
      if (shortest.size() < most &&
          std::ranges::none_of(shortest, [&](std::vector<std::size_t> const& inside) {
            return std::ranges::includes(itemset, inside);
          }))
        shortest.push_back(itemset);
    });
  for (auto const& itemset : shortest) {
    found.shortest.emplace_back();
    for (std::size_t const i : itemset) found.shortest.back().push_back(columns[i]);
  }
  return found;
}

namespace {

/// The number of documents is within this factor of the estimate, plus or minus this many
/// documents: three standard errors of the count of minority labels, on which the guesses are
/// based, and at least 1.5.
double factor_of(std::size_t minority_labels) {
  constexpr double least = 1.5, errors = 3;
  double const labels = static_cast<double>(std::max<std::size_t>(minority_labels, 1));
  return std::max(least, std::exp(errors / std::sqrt(labels)));
}
constexpr double documents_beside = 10;

/// The factors on the number of documents if the excluded share is two standard deviations larger
/// and smaller than among the answers.
std::pair<double, double> factors_of_share(double left_out, double answers) {
  if (left_out == 0) return {1, 1};
  constexpr double least_labelled = 0.05;
  double const labelled = 1 - left_out / std::max(answers, left_out + 1);
  double const beside = 2 * std::sqrt(labelled * (1 - labelled) / answers);
  return {labelled / std::max(labelled - beside, std::min(labelled, least_labelled)),
          labelled / std::min(labelled + beside, 1.0)};
}

}  // namespace

outlook labelling::look_ahead(std::size_t next) const {
  return look_ahead(next, state_->answers());
}

outlook labelling::look_ahead(std::size_t next, std::vector<al::answer> answers) const {
  std::size_t const answered = answers.size();
  state ahead(*state_, std::move(answers));
  std::size_t const most = ahead.most_questions();
  std::size_t const left_out = ahead.left_out();
  share_left_out share(left_out, answered);
  outlook found;
  found.minority_labels = ahead.minority_labels();
  found.rules = ahead.selection().rules_in_sample();
  auto const more = [&] {
    return static_cast<std::int64_t>(ahead.selection().rules_in_sample() - found.rules);
  };
  while (!ahead.wanted().empty()) {
    bool const in_next = found.documents < next;
    found.documents += ahead.answer_next_with_guesses(&share).size();
    if (!in_next) continue;
    found.next = found.documents;
    found.next_rules = more();
  }
  found.documents_rules = more();
  found.left_out = share.count();
  if (found.documents == 0) return found;
  double const factor = factor_of(found.minority_labels);
  auto const [grows, shrinks] =
      factors_of_share(static_cast<double>(left_out), static_cast<double>(answered));
  auto const expected = static_cast<double>(found.documents);
  found.documents_low = static_cast<std::size_t>(
      std::max(1.0, std::floor(expected * shrinks / factor - documents_beside)));
  found.documents_high = std::min(
      static_cast<std::size_t>(std::ceil(expected * grows * factor + documents_beside)), most);
  found.documents_low = std::min(found.documents_low, found.documents_high);
  return found;
}

sample labelling::take() const {
  sample result = state_->selection().take();
  result.engine = state_->ran();
  for (partition_report& p : result.partitions) p.seconds = 0;
  return result;
}

std::string labelling::identity() const {
  datasets::binned_dataset const& data = state_->data();
  sampler_options const& options = state_->setup().options;
  sha256 hash;
  hash.update(fmt::format("{} {} {} {:a}\n", data.documents, options.rule_size,
                          options.thresholds.min_support, options.thresholds.min_confidence));
  for (auto const& part : state_->setup().features)
    hash.update(fmt::format("{}\n", fmt::join(part, " ")));
  hash.update(fmt::format("{}\n{}\n{}\n", fmt::join(data.features, " "),
                          fmt::join(data.item_begin, " "), fmt::join(data.labels, " ")));
  if (state_->whole_queries())
    hash.update(fmt::format("queries {}\n", fmt::join(options.query_begin, " ")));
  if (!options.tie_keys.empty())
    hash.update(fmt::format("ties {}\n", fmt::join(options.tie_keys, " ")));
  for (std::size_t f = 0; f < data.feature_count(); ++f)
    hash.update({reinterpret_cast<char const*>(data.column(f)), data.documents});
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
