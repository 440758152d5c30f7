// Agrawal and Srikant, "Fast algorithms for mining association rules", 1994, as described in
// Freitas 2017, section 3.1: level by level, the candidates of a level are joined from pairs of
// frequent sets that differ in their last item, and pruned by their subsets. One pass over the
// transactions counts their supports. All sets are in a prefix tree.
#include "rules/mining/engines.hpp"

#include <algorithm>

namespace rulerank::inline v0::rules::mining {
namespace {

constexpr std::size_t transactions_a_report = 4096;

struct node {
  item last = 0;
  std::uint32_t support = 0;
  std::vector<node> children;  // by item
};

node const* child_of(node const& n, item x) {
  auto const at = std::lower_bound(n.children.begin(), n.children.end(), x,
                                   [](node const& c, item wanted) { return c.last < wanted; });
  return at != n.children.end() && at->last == x ? &*at : nullptr;
}

bool is_frequent(node const& root, std::span<item const> x, std::size_t without) {
  node const* at = &root;
  for (std::size_t i = 0; i < x.size() && at != nullptr; ++i)
    if (i != without) at = child_of(*at, x[i]);
  return at != nullptr;
}

class level_miner {
 public:
  level_miner(transaction_view const& data, mining_options const& options)
      : data_(data), least_(options.min_support) {}

  /// Finds the frequent sets with one item.
  bool first_level() {
    std::vector<std::uint32_t> supports(data_.items);
    for (item const x : data_.entries) ++supports[x];
    for (item x = 0; x < data_.items; ++x)
      if (supports[x] >= least_) root_.children.push_back({x, supports[x], {}});
    return !root_.children.empty();
  }
  /// Extends sets with `size` items by one item; returns false if there are none.
  bool next_level(context const& ctx, std::size_t size) {
    bool any = false;
    join(root_, size, any);
    if (!any) return false;
    for (std::size_t t = 0; t < data_.size(); ++t) {
      if (t % transactions_a_report == 0) ctx.report("mine", t, data_.size());
      count(root_, data_[t], size + 1);
    }
    return prune(root_, size);
  }
  void list(itemset_list& out) const { list(root_, 1, out); }

 private:
  /// Adds candidates to the nodes `depth` - 1 below n.
  void join(node& n, std::size_t depth, bool& any) {
    if (depth > 1) {
      for (node& c : n.children) {
        x_.push_back(c.last);
        join(c, depth - 1, any);
        x_.pop_back();
      }
      return;
    }
    for (std::size_t a = 0; a < n.children.size(); ++a) {
      x_.push_back(n.children[a].last);
      for (std::size_t b = a + 1; b < n.children.size(); ++b) {
        x_.push_back(n.children[b].last);
        bool frequent = true;
        for (std::size_t without = 0; without + 2 < x_.size() && frequent; ++without)
          frequent = is_frequent(root_, x_, without);
        if (frequent) n.children[a].children.push_back({x_.back(), 0, {}});
        any = any || frequent;
        x_.pop_back();
      }
      x_.pop_back();
    }
  }
  /// Adds a transaction to the candidates `depth` below n that it contains.
  static void count(node& n, std::span<item const> rest, std::size_t depth) {
    auto c = n.children.begin();
    for (std::size_t i = 0; i + depth <= rest.size() && c != n.children.end();) {
      if (c->last < rest[i]) {
        ++c;
      } else if (c->last > rest[i]) {
        ++i;
      } else {
        if (depth == 1)
          ++c->support;
        else if (!c->children.empty())
          count(*c, rest.subspan(i + 1), depth - 1);
        ++c;
        ++i;
      }
    }
  }
  /// Drops the candidates `depth` + 1 below n that are not frequent; returns false if none remains.
  bool prune(node& n, std::size_t depth) {
    if (depth == 0) {
      std::erase_if(n.children, [&](node const& c) { return c.support < least_; });
      return !n.children.empty();
    }
    bool any = false;
    for (node& c : n.children) any = prune(c, depth - 1) || any;
    return any;
  }
  static void list(node const& n, std::uint32_t size, itemset_list& out) {
    for (node const& c : n.children) {
      out.push(c.last, size, c.support);
      list(c, size + 1, out);
    }
  }

  transaction_view const& data_;
  std::uint32_t least_;
  node root_;
  std::vector<item> x_;
};

}  // namespace

itemset_list apriori(context const& ctx, transaction_view const& data,
                     mining_options const& options) {
  level_miner miner(data, options);
  bool const all = options.kind == itemset_kind::all;
  bool more = miner.first_level();
  for (std::size_t size = 1; more && (!all || size < options.max_size); ++size)
    more = miner.next_level(ctx, size);
  itemset_list found(std::make_shared<memory_budget>(options.max_bytes));
  miner.list(found);
  return all && options.min_size <= 1 ? std::move(found) : of_kind(found, options);
}

}  // namespace rulerank::rules::mining
