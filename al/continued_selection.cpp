#include "al/continued_selection.hpp"

#include "al/document_selection.hpp"
#include "al/tie_order.hpp"
#include "rules/combinadic.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace rulerank::inline v0::al {

namespace {

/// Limits on the rules that fill a budget: their size, and the itemsets of a document in a
/// partition. Memory and time grow with both.
constexpr rules::rule_size largest_size_to_fill = 6;
constexpr std::uint64_t most_itemsets_to_fill = 1U << 14;
/// Number of documents of the random order to ask about at once.
constexpr std::size_t most_wanted = 100;

/// Whether rules of a size are used. They must be within the limits, and a partition must have
/// enough features, because otherwise they choose what smaller rules choose.
bool is_countable(sampling_setup const& setup, rules::rule_size size) {
  if (size > largest_size_to_fill) return false;
  std::size_t const width = setup.features.front().size();  // partitions are at most this wide
  if (width * (width - 1) / 2 > most_itemsets_to_fill) return false;
  return size - 1 <= width && rules::itemset_count(width, size - 1) <= most_itemsets_to_fill;
}

/// The last stage, without rules: first documents with the most items that no chosen document has,
/// until all items are covered, then the others in a seeded random order, which also breaks ties.
class uncounted_selection final : public selection {
 public:
  uncounted_selection(sampling_setup const& setup, std::vector<std::size_t> const& chosen)
      : setup_(setup),
        order_(setup.ties.empty()
                   ? order_of_keys(keys_of_indices(setup.data.documents, setup.ctx.seed))
                   : setup.ties),
        is_chosen_(setup.data.documents),
        new_items_(setup.data.documents),
        is_covered_(setup.data.items()) {
    for (std::size_t f = 0; f < setup.data.feature_count(); ++f)
      for (std::size_t d = 0; d < setup.data.documents; ++d)
        new_items_[d] += setup.data.code(f, d) != datasets::no_item;
    for (std::size_t const d : chosen) cover(d);
    room_ = setup.options.max_documents - chosen.size();
  }

  void advance(label_source& labels) override {
    wanted_.clear();
    while (choices_.size() < room_) {
      setup_.ctx.check_stop();
      auto const document =
          why_ == reason::new_items ? next_by_items(labels) : next_in_order(labels);
      if (!document) return;
      if (!labels.label(*document)) return find_wanted(labels, *document);
      choices_.push_back({.document = *document, .why = why_});
      cover(*document);
    }
  }

  std::uint64_t rules_in_sample() const override { return 0; }

  sample take() const override {
    sample result;
    result.choices = choices_;
    return result;
  }

 private:
  bool is_open(label_source const& labels, std::uint32_t document) const {
    return !is_chosen_[document] && !labels.left_out(document);
  }

  /// The document with the most new items; if none has any, the next in the random order.
  std::optional<std::size_t> next_by_items(label_source const& labels) {
    std::optional<std::size_t> best;
    std::uint32_t most = 0;
    for (std::uint32_t const d : order_)
      if (new_items_[d] > most && is_open(labels, d)) {
        best = d;
        most = new_items_[d];
      }
    if (best) return best;
    why_ = reason::random;
    return next_in_order(labels);
  }

  std::optional<std::size_t> next_in_order(label_source const& labels) {
    while (at_ < order_.size() && !is_open(labels, order_[at_])) ++at_;
    return at_ < order_.size() ? std::optional<std::size_t>(order_[at_]) : std::nullopt;
  }

  /// By items, the next choice depends on whether this document gets a label; in random order it
  /// does not.
  void find_wanted(label_source& labels, std::size_t next) {
    if (why_ == reason::new_items) {
      wanted_.push_back({.document = next, .why = why_});
      return;
    }
    std::size_t room = room_ - choices_.size();
    for (std::size_t i = at_; i < order_.size() && room > 0; ++i) {
      if (!is_open(labels, order_[i])) continue;
      --room;
      if (!labels.label(order_[i])) wanted_.push_back({.document = order_[i], .why = why_});
      if (wanted_.size() == most_wanted) return;
    }
  }

  void cover(std::size_t document) {
    is_chosen_[document] = true;
    datasets::binned_dataset const& data = setup_.data;
    for (std::size_t f = 0; f < data.feature_count(); ++f) {
      std::uint8_t const code = data.code(f, document);
      if (code == datasets::no_item || is_covered_[data.item_begin[f] + code]) continue;
      is_covered_[data.item_begin[f] + code] = true;
      std::uint8_t const* const codes = data.column(f);
      for (std::size_t d = 0; d < data.documents; ++d) new_items_[d] -= codes[d] == code;
    }
  }

  sampling_setup const& setup_;
  std::vector<std::uint32_t> order_;
  std::size_t at_ = 0;  // documents before it in the order are chosen or excluded
  reason why_ = reason::new_items;
  std::vector<bool> is_chosen_;
  std::vector<std::uint32_t> new_items_;  // [documents] number of items that no chosen document has
  std::vector<bool> is_covered_;          // [items] some chosen document has it
  std::size_t room_ = 0;                  // number of documents that this stage may still choose
  std::vector<choice> choices_;
};

std::unique_ptr<sampling_setup const> setup_of_size(sampling_setup const& like,
                                                    rules::rule_size size,
                                                    sampling_engine const& engine) {
  sampler_options options = like.options;
  options.rule_size = size;
  auto made = std::make_unique<sampling_setup>(like.ctx, like.data, options);
  made->labels_known = like.labels_known;
  if (like.over_processes) share_out(*made, engine);
  return made;
}

}  // namespace

continued_selection::continued_selection(sampling_setup const& setup,
                                         std::unique_ptr<selection> by_rules)
    : setup_(setup), by_rules_(std::move(by_rules)), rule_size_(setup.options.rule_size) {}

void continued_selection::advance(label_source& labels) {
  for (;;) {
    selection& stage = later_ ? *later_ : *by_rules_;
    stage.advance(labels);
    wanted_ = stage.wanted();
    if (later_ && !is_last_)
      for (question& q : wanted_) q.why = reason::larger_rules;
    if (!wanted_.empty() || is_last_) return;
    sample now = so_far();
    if (now.documents.size() == setup_.options.max_documents) return;
    later_ = next_stage(now.documents);
    before_ = std::move(now);
  }
}

std::unique_ptr<selection> continued_selection::next_stage(std::vector<std::size_t> const& chosen) {
  ++rule_size_;
  if (!is_countable(setup_, rule_size_)) {
    is_last_ = true;
    return std::make_unique<uncounted_selection>(setup_, chosen);
  }
  sampling_engine const engine = registered_engines().maker_of(engine::delta)(false);
  auto larger = setup_of_size(setup_, rule_size_, engine);
  auto stage = std::make_unique<document_selection>(*larger, engine, nullptr, chosen);
  later_.reset();  // it refers to the setup
  larger_ = std::move(larger);
  return stage;
}

/// The earlier stages' sample, plus this stage's new documents.
sample continued_selection::so_far() const {
  if (!later_) return by_rules_->take();
  sample all = before_;
  for (choice c : later_->take().choices) {
    if (std::ranges::binary_search(before_.documents, c.document)) continue;
    if (!is_last_) c.why = reason::larger_rules;
    all.choices.push_back(c);
    all.documents.push_back(c.document);
  }
  std::ranges::sort(all.documents);
  all.documents.erase(std::unique(all.documents.begin(), all.documents.end()), all.documents.end());
  return all;
}

sample continued_selection::take() const {
  sample result = so_far();
  result.ran_dry = by_rules_->take().ran_dry;
  return result;
}

}  // namespace rulerank::al
