// The project's own miner, depth first over items by ascending support (Zaki 2000, Eclat). A node
// has the items that may extend a prefix, in one of two layouts: one bit row per item over the
// prefix's transactions, whose pairs are counted by AND and popcount, or the transactions as lists
// of items, whose pairs are counted by a pass over them (Uno et al. 2004, LCM's occurrence
// deliver). A node uses the cheaper layout; bit rows are packed to the remaining transactions if
// these are few. Items that all transactions of a prefix contain are never branched on (perfect
// extensions).
//
// Closed and maximal sets need no table of previous sets: items that were branched on earlier stay
// in the node as processed items (`left_behind`). If one of them can extend a set with the same
// support, neither this set nor any set below it is closed; if it can extend the set to a frequent
// one, the set is not maximal.
#include "bitmaps/bit_matrix.hpp"
#include "bitmaps/row_kernels.hpp"
#include "core/aligned.hpp"
#include "core/parallel.hpp"
#include "core/process_group.hpp"
#include "core/random.hpp"
#include "rules/mining/engines.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

namespace rulerank::inline v0::rules::mining {
namespace {

using bitmaps::word;
using code = std::uint32_t;  // index of an item in its node

/// The items that may extend a prefix; each is frequent with the prefix.
struct candidates {
  std::vector<item> items;
  std::vector<std::uint32_t> supports;  // with the prefix
  std::size_t left_behind = 0;          // number of leading items that were branched on before

  std::size_t size() const noexcept { return items.size(); }
};

struct bit_node : candidates {
  std::vector<word const*> rows;  // `words` words each
  std::size_t words = 0;
  aligned_vector<word> storage;
};

struct list_node : candidates {
  std::vector<code> codes;           // of each transaction, descending, then end_of_row
  std::vector<std::size_t> begin;    // [codes] the code's transactions in `holders`:
  std::vector<std::size_t> holders;  // where they begin in `codes`
  std::size_t longest = 0;           // most codes of a transaction
};
constexpr code end_of_row = ~code{0};
constexpr std::size_t ahead = 8;  // transactions to prefetch

/// Estimates the cycles to count all pairs.
double cost_of_bits(std::size_t branches, std::size_t size, std::size_t transactions) {
  double const pairs = static_cast<double>(branches) * static_cast<double>(size) / 2;
  std::size_t const vectors = bitmaps::padded_words(transactions) / bitmaps::row_words_multiple;
  return pairs * (6 + 1.5 * static_cast<double>(vectors));
}
double cost_of_lists(std::uint64_t entries, std::size_t transactions) {
  double const e = static_cast<double>(entries);
  return 10 * e + 1.5 * e * e / static_cast<double>(std::max<std::size_t>(transactions, 1));
}

/// Returns the number of subsets of n items with at most `most` members.
double unions(std::size_t n, std::size_t most) {
  double sum = 1;
  double ways = 1;
  for (std::size_t k = 1; k <= n && k <= most; ++k) {
    ways *= static_cast<double>(n - k + 1) / static_cast<double>(k);
    sum += ways;
  }
  return sum;
}

/// A range of the branches of a node.
struct slice {
  code begin = 0;
  code end = ~code{0};
};

/// Searches below the branches of a root node; one object per thread.
class alignas(apart) search {
 public:
  search(context const& ctx, mining_options const& options) : ctx_(ctx), options_(options) {}

  /// Appends the results of branch i of a node with prefix size `depth`, limited to the branches
  /// below it in the slice; the branch's own set belongs to the slice that contains the first.
  template <class Node>
  void branch(Node const& from, code i, std::uint32_t depth, slice which, itemset_list& out) {
    out_ = &out;
    visit(from, i, depth, which);
  }
  /// Appends the sets of `full`, the items of all transactions; for sets of all kinds, they also
  /// extend all sets below. To be called before the first branch.
  void start(std::vector<item> const& full, std::uint32_t transactions, bool extensible,
             itemset_list& out) {
    out_ = &out;
    if (all())
      list_unions(0, transactions, full);
    else if (!full.empty())
      list_chain(full, 0, listed(extensible) ? transactions : 0);
  }
  void join_always(std::vector<item> const& full) {
    if (all()) full_ = full;
  }

  /// For all kinds: estimates the number of itemsets below a node with prefix size `depth`, by a
  /// random walk that takes one branch per node and divides by its probability.
  template <class Node>
  double walk(Node const& from, std::uint32_t depth, random_engine& engine) {
    if (from.size() == 0 || depth >= options_.max_size) return 0;
    // The probability of a branch is proportional to the number of items that may follow it, plus
    // one.
    std::uint64_t const n = from.size();
    std::uint64_t const pairs = n * (n + 1) / 2;
    std::uint64_t draw = uniform_below(engine, pairs);
    code i = 0;
    for (; draw >= n - i; ++i) draw -= n - i;
    double const branches = static_cast<double>(pairs) / static_cast<double>(n - i);
    frame& f = frame_at(level_);
    f.counts.resize(from.size());
    std::size_t const mark = full_.size();
    count(from, i, i + std::size_t{1}, f.counts.data());
    choose(from, i, f);
    double met = unions(full_.size(), options_.max_size - depth - 1);
    if (!f.kept.empty() && depth + 1 < options_.max_size) {
      bool const bits = make_child(from, i, f);
      ++level_;
      met += bits ? walk(f.bits, depth + 1, engine) : walk(f.lists, depth + 1, engine);
      --level_;
    }
    full_.resize(mark);
    return met * branches;
  }

 private:
  /// The data of a branch for the search below it.
  struct frame {
    // Codes of the node above: processed items, then items to branch on by ascending support.
    std::vector<code> kept;
    std::size_t left_behind = 0;
    std::vector<std::uint32_t> counts;
    std::vector<word const*> rows;
    bit_node bits;
    list_node lists;
  };

  bool all() const { return options_.kind == itemset_kind::all; }
  bool listed(bool extensible) const {
    return options_.kind != itemset_kind::maximal || !extensible;
  }
  frame& frame_at(std::uint32_t level) {
    while (frames_.size() <= level) frames_.emplace_back();
    return frames_[level];
  }

  // -- Counting: counts of every candidate together with i; counts below `first` are not computed.

  static void count(bit_node const& n, code i, std::size_t first, std::uint32_t* counts) {
    bitmaps::and_counts(n.rows[i], n.rows.data() + first, n.size() - first, n.words,
                        counts + first);
  }
  static void count(list_node const& n, code i, std::size_t first, std::uint32_t* counts) {
    std::fill(counts + first, counts + n.size(), 0U);
    code const last = first > i ? i : end_of_row;
    for (std::size_t h = n.begin[i]; h < n.begin[i + 1]; ++h) {
      __builtin_prefetch(n.codes.data() + n.holders[std::min(h + ahead, n.holders.size() - 1)]);
      for (code const* c = n.codes.data() + n.holders[h]; *c != last; ++c) ++counts[*c];
    }
  }

  // -- One branch.

  template <class Node>
  void visit(Node const& from, code i, std::uint32_t depth, slice which = {}) {
    if (++visits_ % 4096 == 0) ctx_.check_stop();
    if (all() && depth + 1 >= options_.max_size) {
      if (which.begin == 0)
        out_->push(from.items[i], depth + 1, listed_support(depth + 1, from.supports[i]));
      return;
    }
    frame& f = frame_at(level_);
    f.counts.resize(from.size());
    std::size_t const mark = full_.size();
    count(from, i, all() ? i + 1 : 0, f.counts.data());
    if (choose(from, i, f)) {
      if (which.begin == 0) list_set(from, i, depth, mark, f);
      auto const joined = all() ? 0 : static_cast<std::uint32_t>(full_.size() - mark);
      go_on(from, i, depth + 1 + joined, which, f);
    }
    full_.resize(mark);
  }

  /// Divides the possible extensions into mandatory ones (appended to full_) and optional ones
  /// (kept). Returns false if a processed item extends every set below, so that none of them is
  /// closed.
  bool choose(candidates const& from, code i, frame& f) {
    std::uint32_t const support = from.supports[i];
    f.kept.clear();
    if (!all()) {
      for (code c = 0; c < i; ++c) {
        if (f.counts[c] == support) return false;
        if (f.counts[c] >= options_.min_support) f.kept.push_back(c);
      }
    }
    f.left_behind = f.kept.size();
    for (code c = i + 1; c < from.size(); ++c) {
      if (f.counts[c] < options_.min_support) continue;
      if (f.counts[c] == support)
        full_.push_back(from.items[c]);
      else
        f.kept.push_back(c);
    }
    std::sort(f.kept.begin() + static_cast<std::ptrdiff_t>(f.left_behind), f.kept.end(),
              [&](code a, code b) {
                return f.counts[a] != f.counts[b] ? f.counts[a] < f.counts[b] : a < b;
              });
    return true;
  }

  /// Lists the set of branch i.
  void list_set(candidates const& from, code i, std::uint32_t depth, std::size_t mark,
                frame const& f) {
    std::uint32_t const support = from.supports[i];
    if (all()) {
      out_->push(from.items[i], depth + 1, listed_support(depth + 1, support));
      list_unions(depth + 1, support, full_);
      return;
    }
    chain_.assign(1, from.items[i]);
    chain_.insert(chain_.end(), full_.begin() + static_cast<std::ptrdiff_t>(mark), full_.end());
    list_chain(chain_, depth, listed(!f.kept.empty()) ? support : 0);
  }

  /// Searches below the set of branch i, which has `size` items as a prefix.
  template <class Node>
  void go_on(Node const& from, code i, std::uint32_t size, slice which, frame& f) {
    auto const branches = static_cast<code>(f.kept.size() - f.left_behind);
    if (branches <= which.begin || size >= options_.max_size) return;
    code const end = std::min(branches, which.end);
    if (all() && (branches == 1 || size + 1 == options_.max_size)) {
      for (code b = which.begin; b < end; ++b) {
        code const c = f.kept[b];
        out_->push(from.items[c], size + 1, listed_support(size + 1, f.counts[c]));
        list_unions(size + 1, f.counts[c], full_);
      }
      return;
    }
    auto const first = static_cast<code>(f.left_behind);
    bool const bits = make_child(from, i, f);
    ++level_;
    if (bits)
      for (code b = which.begin; b < end; ++b) visit(f.bits, first + b, size);
    else
      for (code b = which.begin; b < end; ++b) visit(f.lists, first + b, size);
    --level_;
  }

  // -- Listing.

  std::uint32_t listed_support(std::uint32_t size, std::uint32_t support) const {
    return size >= options_.min_size && size <= options_.max_size ? support : 0;
  }
  void list_unions(std::uint32_t size, std::uint32_t support, std::span<item const> more) {
    if (more.empty() || size >= options_.max_size) return;
    if (size + 1 >= options_.min_size && more.size() <= options_.max_size - size) {
      out_->push_unions(more, size, support);
      return;
    }
    for (std::size_t k = 0; k < more.size(); ++k) {
      out_->push(more[k], size + 1, listed_support(size + 1, support));
      list_unions(size + 1, support, more.subspan(k + 1));
    }
  }
  void list_chain(std::span<item const> items, std::uint32_t size, std::uint32_t support) {
    for (item const x : items.first(items.size() - 1)) out_->push(x, ++size, 0);
    ++size;
    out_->push(items.back(), size, listed_support(size, support));
  }

  // -- The node below a branch; returns whether it has bit rows.

  static void name_children(candidates const& from, frame const& f, candidates& child) {
    child.items.clear();
    child.supports.clear();
    for (code const c : f.kept) {
      child.items.push_back(from.items[c]);
      child.supports.push_back(f.counts[c]);
    }
    child.left_behind = f.left_behind;
  }

  static bool make_child(bit_node const& from, code i, frame& f) {
    bit_node& child = f.bits;
    name_children(from, f, child);
    std::size_t const packed = bitmaps::padded_words(from.supports[i]);
    bool const pack = 2 * packed <= from.words && child.size() >= 5;
    child.words = pack ? packed : from.words;
    make_rows(child);
    f.rows.clear();
    for (code const c : f.kept) f.rows.push_back(from.rows[c]);
    (pack ? bitmaps::pack_rows : bitmaps::and_rows)(from.rows[i], f.rows.data(), f.rows.size(),
                                                    from.words, child.storage.data());
    return true;
  }

  bool make_child(list_node const& from, code i, frame& f) {
    std::uint64_t entries = 0;
    for (code const c : f.kept) entries += f.counts[c];
    std::size_t const transactions = from.supports[i];
    if (cost_of_bits(f.kept.size() - f.left_behind, f.kept.size(), transactions) <=
        cost_of_lists(entries, transactions)) {
      make_bits(from, i, f);
      return true;
    }
    make_lists(from, i, f);
    return false;
  }

  static void make_rows(bit_node& n) {
    std::size_t const words = n.size() * n.words + 1;
    if (n.storage.size() < words) n.storage.resize(words);
    n.rows.resize(n.size());
    for (std::size_t c = 0; c < n.size(); ++c) n.rows[c] = n.storage.data() + c * n.words;
  }

  /// Returns the items of holder h of branch i that the child keeps, as codes of the child.
  std::span<code const> kept_of(list_node const& from, code i, std::size_t h) {
    code const last = all() ? i : end_of_row;
    std::size_t n = 0;
    for (code const* c = from.codes.data() + from.holders[h]; *c != last; ++c) {
      code const place = place_[*c];  // branchless: most items are dropped, unpredictably
      row_[n] = place - 1;
      n += place != 0;
    }
    return std::span(row_).first(n);
  }
  void set_places(frame const& f, candidates const& from, std::size_t longest) {
    place_.assign(from.size(), 0);
    row_.resize(std::max(row_.size(), longest + 1));
    for (code p = 0; p < f.kept.size(); ++p) place_[f.kept[p]] = p + 1;
  }

  void make_bits(list_node const& from, code i, frame& f) {
    bit_node& child = f.bits;
    name_children(from, f, child);
    child.words = bitmaps::padded_words(from.supports[i]);
    make_rows(child);
    std::fill_n(child.storage.data(), child.size() * child.words, word{0});
    set_places(f, from, from.longest);
    std::size_t column = 0;
    for (std::size_t h = from.begin[i]; h < from.begin[i + 1]; ++h, ++column)
      for (code const c : kept_of(from, i, h))
        child.storage[c * child.words + column / bitmaps::word_bits] |=
            word{1} << column % bitmaps::word_bits;
  }

  void make_lists(list_node const& from, code i, frame& f) {
    list_node& child = f.lists;
    name_children(from, f, child);
    set_places(f, from, from.longest);
    child.codes.clear();
    for (std::size_t h = from.begin[i]; h < from.begin[i + 1]; ++h) {
      auto const kept = kept_of(from, i, h);
      if (kept.size() < 2) continue;  // no pair
      std::size_t const begin = child.codes.size();
      child.codes.insert(child.codes.end(), kept.begin(), kept.end());
      std::sort(child.codes.begin() + static_cast<std::ptrdiff_t>(begin), child.codes.end(),
                std::greater<>());
      child.codes.push_back(end_of_row);
    }
    list_holders(child);
  }

  /// Computes `begin` and `holders` from `codes`.
  void list_holders(list_node& n) {
    n.begin.assign(n.size() + 1, 0);
    for (code const c : n.codes)
      if (c != end_of_row) ++n.begin[c + 1];
    for (std::size_t c = 0; c < n.size(); ++c) n.begin[c + 1] += n.begin[c];
    n.holders.resize(n.begin.back());
    next_.assign(n.begin.begin(), n.begin.end() - 1);
    n.longest = 0;
    for (std::size_t e = 0, row = 0; e < n.codes.size(); ++e) {
      if (n.codes[e] == end_of_row) {
        n.longest = std::max(n.longest, e - row);
        row = e + 1;
      } else
        n.holders[next_[n.codes[e]]++] = row;
    }
  }

  context const& ctx_;
  mining_options const& options_;
  itemset_list* out_ = nullptr;
  std::deque<frame> frames_;
  std::uint32_t level_ = 0;
  std::vector<item> full_;   // kind all: perfect extensions of the current sets
  std::vector<item> chain_;  // other kinds: a branch's item and perfect extensions
  std::vector<code> place_;  // [codes of a node] code in the child, plus 1
  std::vector<code> row_;    // used by kept_of
  std::vector<std::size_t> next_;
  std::uint64_t visits_ = 0;
};

/// The node above all branches.
struct root {
  bool bits = false;
  bit_node rows;
  list_node lists;
  std::vector<item> full;  // items of all transactions
  std::size_t size() const { return bits ? rows.size() : lists.size(); }
};

void fill_rows(transaction_view const& data, std::vector<code> const& code_of, bit_node& n) {
  n.words = bitmaps::padded_words(data.size());
  n.storage.assign(n.size() * n.words, 0);
  for (std::size_t c = 0; c < n.size(); ++c) n.rows.push_back(n.storage.data() + c * n.words);
  for (std::size_t t = 0; t < data.size(); ++t)
    for (item const x : data[t])
      if (code_of[x] != 0)
        n.storage[(code_of[x] - 1) * n.words + t / bitmaps::word_bits] |= word{1}
                                                                          << t % bitmaps::word_bits;
}

/// Codes are added to the transactions in descending order: the last code's holders first.
void fill_lists(transaction_view const& data, std::vector<code> const& code_of, list_node& n) {
  std::vector<std::size_t> row(data.size() + 1, 0);
  n.begin.assign(n.size() + 1, 0);
  for (std::size_t t = 0; t < data.size(); ++t) {
    std::size_t kept = 1;  // end_of_row
    for (item const x : data[t]) {
      if (code_of[x] == 0) continue;
      ++kept;
      ++n.begin[code_of[x]];
    }
    row[t + 1] = row[t] + kept;
    n.longest = std::max(n.longest, kept - 1);
  }
  for (std::size_t c = 0; c < n.size(); ++c) n.begin[c + 1] += n.begin[c];
  n.holders.resize(n.begin.back());
  std::vector<std::size_t> next(n.begin.begin(), n.begin.end() - 1);
  for (std::size_t t = 0; t < data.size(); ++t)
    for (item const x : data[t])
      if (code_of[x] != 0) n.holders[next[code_of[x] - 1]++] = t;
  n.codes.assign(row.back(), end_of_row);
  next.assign(row.begin(), row.end() - 1);
  for (std::size_t c = n.size(); c-- > 0;) {
    for (std::size_t h = n.begin[c]; h < n.begin[c + 1]; ++h) {
      std::size_t const t = n.holders[h];
      n.codes[next[t]++] = static_cast<code>(c);
      n.holders[h] = row[t];
    }
  }
}

root make_root(transaction_view const& data, mining_options const& options) {
  std::vector<std::uint32_t> supports(data.items);
  for (item const x : data.entries) ++supports[x];
  root made;
  candidates found;
  std::uint64_t entries = 0;
  for (item x = 0; x < data.items; ++x) {
    if (supports[x] < options.min_support) continue;
    if (supports[x] == data.size()) {
      made.full.push_back(x);
      continue;
    }
    found.items.push_back(x);
    entries += supports[x];
  }
  std::stable_sort(found.items.begin(), found.items.end(),
                   [&](item a, item b) { return supports[a] < supports[b]; });
  std::vector<code> code_of(data.items, 0);  // plus 1
  for (item const x : found.items) {
    found.supports.push_back(supports[x]);
    code_of[x] = static_cast<code>(found.supports.size());
  }
  made.bits =
      cost_of_bits(found.size(), found.size(), data.size()) <= cost_of_lists(entries, data.size());
  if (made.bits) {
    static_cast<candidates&>(made.rows) = std::move(found);
    fill_rows(data, code_of, made.rows);
  } else {
    static_cast<candidates&>(made.lists) = std::move(found);
    fill_lists(data, code_of, made.lists);
  }
  return made;
}

/// Returns how the branches below a branch of the root are divided: the first ones have most sets
/// below them. A branch of lists costs too much to build it more than once.
std::vector<slice> slices_for(root const& from, int workers) {
  if (workers == 1 || !from.bits) return {{}};
  return {{0, 1}, {1, 2}, {2, 4}, {4, 8}, {8, 16}, {16, slice{}.end}};
}

/// A slice of a branch of the root.
struct root_part {
  code branch = 0;
  slice which;
};

/// The search below the root, in parts.
class parts_of_root {
 public:
  parts_of_root(context const& ctx, mining_options const& options, root const& from)
      : ctx_(without_processes(ctx)),
        options_(options),
        from_(from),
        searches_(static_cast<std::size_t>(ctx.thread_count()), search(ctx_, options)) {
    for (search& s : searches_) s.join_always(from.full);
    int const workers = ctx.thread_count() * (has_processes(ctx) ? ctx.processes->size() : 1);
    auto const slices = slices_for(from, workers);
    for (code i = 0; i < from.size(); ++i)
      for (slice const& which : slices) parts_.push_back({i, which});
  }

  std::size_t size() const { return parts_.size(); }

  /// Appends the results of some parts.
  void search_all(std::size_t begin, std::size_t end, std::shared_ptr<memory_budget> const& budget,
                  itemset_list& found) {
    // The items of all transactions are a prefix of closed and maximal sets.
    std::uint32_t const depth =
        options_.kind == itemset_kind::all ? 0 : static_cast<std::uint32_t>(from_.full.size());
    std::vector<itemset_list> lists(end - begin);
    parallel_for(ctx_, lists.size(), 1, [&](std::size_t first, std::size_t last, int thread) {
      search& s = searches_[static_cast<std::size_t>(thread)];
      for (std::size_t p = first; p < last; ++p) {
        root_part const& part = parts_[begin + p];
        itemset_list list(budget);  // declared here, so that no memory of other threads is near
        if (from_.bits)
          s.branch(from_.rows, part.branch, depth, part.which, list);
        else
          s.branch(from_.lists, part.branch, depth, part.which, list);
        lists[p] = std::move(list);
      }
    });
    for (itemset_list& list : lists) found.append(std::move(list));
  }

 private:
  context const ctx_;
  mining_options const& options_;
  root const& from_;
  std::vector<search> searches_;
  std::vector<root_part> parts_;
};

/// Ranges of parts per process. The first ranges, which are assigned first, have most sets below
/// them.
constexpr std::size_t runs_a_process = 32;

/// Does parts_of_root::search_all for all parts, divided among the processes. Exceeding the memory
/// is also a result, so that all processes throw the same error.
void share_out(context const& ctx, parts_of_root& parts, mining_options const& options,
               itemset_list& found) {
  constexpr char whole = '+', too_much = '-';
  process_group const& group = *ctx.processes;
  std::size_t const runs =
      std::min(parts.size(), runs_a_process * static_cast<std::size_t>(group.size()));
  auto const begin_of = [&](std::size_t run) { return run * parts.size() / runs; };
  std::uint64_t kept = 0;  // bytes, on the first process
  auto const results = group.deal(
      runs,
      [&](std::size_t run) {
        auto const budget = std::make_shared<memory_budget>(options.max_bytes);
        itemset_list list(budget);
        try {
          parts.search_all(begin_of(run), begin_of(run + 1), budget, list);
        } catch (out_of_budget const&) {
          return std::string(1, too_much);
        }
        return whole + list.records();
      },
      [&](std::size_t, std::string result) {
        kept += result.size() - 1;
        return kept > options.max_bytes ? std::string(1, too_much) : result;
      });
  for (std::string const& result : results) {
    if (result.front() == too_much) throw out_of_budget{};
    found.push(std::string_view(result).substr(1));
  }
}

}  // namespace

itemset_list vertical(context const& ctx, transaction_view const& data,
                      mining_options const& options) {
  auto const budget = std::make_shared<memory_budget>(options.max_bytes);
  root const from = make_root(data, options);
  itemset_list found(budget);
  search(ctx, options)
      .start(from.full, static_cast<std::uint32_t>(data.size()), from.size() > 0, found);
  parts_of_root parts(ctx, options, from);
  if (has_processes(ctx))
    share_out(ctx, parts, options, found);
  else
    parts.search_all(0, parts.size(), budget, found);
  return found;
}

double walked_itemsets(context const& ctx, transaction_view const& data,
                       mining_options const& given, std::uint32_t walks) {
  mining_options options = given;
  options.kind = itemset_kind::all;
  root const from = make_root(data, options);
  search walker(ctx, options);
  walker.join_always(from.full);
  random_engine engine(ctx.seed);
  double sum = 0;
  for (std::uint32_t w = 0; w < walks; ++w) {
    if (w % 64 == 0) ctx.check_stop();
    sum += from.bits ? walker.walk(from.rows, 0, engine) : walker.walk(from.lists, 0, engine);
  }
  return sum / std::max<std::uint32_t>(walks, 1) + unions(from.full.size(), options.max_size) - 1;
}

}  // namespace rulerank::rules::mining
