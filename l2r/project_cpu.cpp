#include "bitmaps/bit_kernels.hpp"
#include "bitmaps/column_compression.hpp"
#include "core/aligned.hpp"
#include "core/parallel.hpp"
#include "l2r/engine.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <numeric>

// The project's own engine on the CPU (SYSTEMS.md, section 4, `project`).
//
// The itemsets of all test documents of a batch are walked as one tree, item by item: a node is a
// prefix of items, with the training documents that hold it (a bit row) and the test documents that
// hold it (a group). What a node's prefix and each later item add to a score is computed once and
// then added to every test document of the group that has the item. Bit rows are compressed to the
// training documents of the prefix where that pays. With one test document the tree is that
// document's itemsets. Features are ordered so that the rarer items come first.
namespace rulerank::l2r {

namespace {

using bitmaps::word;
using bitmaps::word_range;
using lane = std::uint32_t;  // the number of an item among those that a node still has to try

/// Bit rows of the later items, word by word: word w of item l is data[w * stride + l].
struct bit_columns {
  word const* data = nullptr;
  std::size_t stride = 0;
  std::size_t words = 0;
  std::span<word_range const> ranges;  // words of each class
};

/// A stride for so many rows: a multiple of 16, and an odd one so that the words of a row do not
/// all fall into the same set of a cache.
std::size_t stride_for(std::size_t lanes) {
  return (std::max<std::size_t>(round_up(lanes, 16), 16) / 16 | 1) * 16;
}

/// The later items and the test documents of a node. `rows` holds for each document its lane in
/// each feature, or the lane `lanes`, which stands for no item.
struct test_group {
  std::size_t documents = 0;
  std::size_t features = 0;
  lane const* feature_begin = nullptr;  // [features + 1] lanes of each feature; the last is `lanes`
  lane lanes = 0;
  lane const* rows = nullptr;  // [documents x features], row d begins at rows + d * row_stride
  std::size_t row_stride = 0;

  lane const* row(std::size_t d) const { return rows + d * row_stride; }
  /// The features from g on.
  test_group from(std::size_t g) const {
    test_group later = *this;
    later.features -= g;
    later.feature_begin += g;
    later.rows += g;
    return later;
  }
};

/// total + the cells of a row's lanes.
template <class Sum>
score_sums<Sum> sum_of_cells(score_sums<Sum> total, score_sums<Sum> const* cells, lane const* row,
                             std::size_t count) {
  for (std::size_t h = 0; h < count; ++h) total += cells[row[h]];
  return total;
}

#if defined(__GNUC__)
/// Both 64-bit sums of a cell in one vector.
inline score_sums<std::uint64_t> sum_of_cells(score_sums<std::uint64_t> total,
                                              score_sums<std::uint64_t> const* cells,
                                              lane const* row, std::size_t count) {
  using pair [[gnu::vector_size(16), gnu::may_alias]] = std::uint64_t;
  auto const cell = [&](std::size_t h) {
    pair loaded;
    __builtin_memcpy(&loaded, cells + row[h], sizeof(pair));
    return loaded;
  };
  pair a{total.num, total.den};
  pair b{0, 0};
  std::size_t h = 0;
  for (; h + 4 <= count; h += 4) {
    a += cell(h) + cell(h + 1);
    b += cell(h + 2) + cell(h + 3);
  }
  for (; h < count; ++h) a += cell(h);
  a += b;
  return {a[0], a[1]};
}
#endif

template <class Sum>
struct walker {
  using sums = score_sums<Sum>;

  /// What one depth of the walk needs; kept between nodes.
  struct level {
    aligned_vector<word> prefix;
    std::vector<sums> cells;                // [lanes + 1] what each later item adds
    aligned_vector<std::uint32_t> support;  // [stride]
    std::vector<lane> rows;                 // of the group at this node
    std::vector<std::uint32_t> members;     // its documents, as numbers in the parent's group
    std::vector<sums> totals;
    // The compressed columns of this node, where they pay.
    bitmaps::column_compression compression;
    aligned_vector<word> columns, ones;
    std::vector<lane> kept, renumbered, feature_begin, compressed_rows;
    aligned_vector<std::uint32_t> compressed_support;
  };

  context const& ctx;
  score_view<Sum> view;
  std::vector<std::uint32_t> labels;
  std::deque<level> levels;
  std::vector<sums> tables;
  aligned_vector<std::uint32_t> weighted, counts;  // scratch of count()

  walker(context const& c, prepared_training const& training)
      : ctx(c), view(training.table.view<Sum>()) {
    for (std::size_t k = 0; k < training.index.class_count(); ++k)
      labels.push_back(static_cast<std::uint32_t>(training.index.class_label(k)));
  }

  level& at(std::size_t depth) {
    while (levels.size() <= depth) levels.emplace_back();
    return levels[depth];
  }

  /// For each lane in [begin, end): support[l] = documents that hold the prefix and item l, and
  /// cells[l] = what that itemset adds. `held` is the prefix's own support.
  void count(bit_columns const& c, word const* prefix, std::uint32_t held, lane begin, lane end,
             std::uint32_t* support, sums* cells) {
    if (begin == end) return;
    if (held <= view.folded_up_to) {
      if (weighted.size() < c.stride) weighted.resize(c.stride);
      bitmaps::product_weighted_counts(prefix, c.data, c.stride, begin, end, c.ranges, labels,
                                       support, weighted.data());
      for (lane l = begin; l < end; ++l) cells[l] = view.folded(support[l], weighted[l]);
      return;
    }
    std::size_t const classes = labels.size();
    if (counts.size() < classes * c.stride) counts.resize(classes * c.stride);
    bitmaps::product_range_counts(prefix, c.data, c.stride, begin, end, c.ranges, counts.data());
    std::copy(counts.data() + begin, counts.data() + end, support + begin);
    for (std::size_t k = 1; k < classes; ++k)
      for (lane l = begin; l < end; ++l) support[l] += counts[k * c.stride + l];
    for (lane l = begin; l < end; ++l)
      cells[l] = support[l] == 0 ? sums{} : view.classwise(support[l], counts.data() + l, c.stride);
  }

  /// Adds to each document the cells of its lanes.
  static void add(test_group const& group, sums const* cells, sums* totals) {
    for (std::size_t d = 0; d < group.documents; ++d) {
      totals[d] = sum_of_cells(totals[d], cells, group.row(d), group.features);
    }
  }

  static void intersect(bit_columns const& c, word const* prefix, lane l, word* out) {
    for (std::size_t w = 0; w < c.words; ++w) out[w] = prefix[w] & c.data[w * c.stride + l];
  }

  /// All itemsets prefix + {j} + {l}, j of feature g and l of a later one.
  void pairs(bit_columns const& c, word const* prefix, std::uint32_t const* support,
             test_group const& group, std::size_t g, std::size_t depth, sums* totals) {
    constexpr std::size_t table_bytes = std::size_t{1} << 19;
    ctx.check_stop();
    lane const first = group.feature_begin[g];
    lane const last = group.feature_begin[g + 1];
    std::size_t const width = group.lanes + std::size_t{1} - last;  // lanes last..lanes
    auto const at_once =
        static_cast<lane>(std::max<std::size_t>(table_bytes / (width * sizeof(sums)), 1));
    level& own = at(depth);
    own.prefix.resize(c.words);
    own.support.resize(std::max(own.support.size(), c.stride));
    test_group const later = group.from(g + 1);
    for (lane from = first; from < last; from += std::min(at_once, last - from)) {
      lane const to = from + std::min(at_once, last - from);
      if (tables.size() < (to - from) * width) tables.resize((to - from) * width);
      for (lane j = from; j < to; ++j) {
        if (support[j] == 0) continue;
        intersect(c, prefix, j, own.prefix.data());
        sums* const table = tables.data() + (j - from) * width;
        count(c, own.prefix.data(), support[j], last, group.lanes, own.support.data(),
              table - last);
        table[width - 1] = {};
      }
      for (std::size_t d = 0; d < group.documents; ++d) {
        lane const j = group.row(d)[g];
        if (j < from || j >= to || support[j] == 0) continue;
        sums const* const table = tables.data() + (j - from) * width - last;
        totals[d] = sum_of_cells(totals[d], table, later.row(d), later.features);
      }
    }
  }

  /// A node below another: the prefix extended by item j of feature g of the parent's group.
  /// `part` of `parts` does every parts-th feature of its own (and part 0 the node itself).
  void child(bit_columns const& c, word const* prefix, std::uint32_t support_j,
             test_group const& group, std::size_t g, lane j, std::span<std::uint32_t const> members,
             std::size_t remaining, std::size_t depth, std::size_t part, std::size_t parts,
             sums* totals) {
    level& own = at(depth);
    own.prefix.resize(c.words);
    intersect(c, prefix, j, own.prefix.data());
    test_group mine = group.from(g + 1);
    mine.documents = members.size();
    mine.row_stride = mine.features;
    own.rows.resize(members.size() * mine.features);
    for (std::size_t d = 0; d < members.size(); ++d)
      std::copy_n(group.row(members[d]) + g + 1, mine.features,
                  own.rows.data() + d * mine.features);
    mine.rows = own.rows.data();
    own.totals.assign(members.size(), {});
    node(c, own.prefix.data(), support_j, mine, remaining, depth, part, parts, own.totals.data());
    for (std::size_t d = 0; d < members.size(); ++d) totals[members[d]] += own.totals[d];
  }

  /// All itemsets prefix + X, X of 1 to `remaining` of the group's items.
  void node(bit_columns c, word const* prefix, std::uint32_t held, test_group group,
            std::size_t remaining, std::size_t depth, std::size_t part, std::size_t parts,
            sums* totals) {
    if (group.features == 0) return;
    level& own = at(depth);
    own.support.resize(std::max(own.support.size(), c.stride));
    own.cells.resize(std::max<std::size_t>(own.cells.size(), group.lanes + std::size_t{1}));
    count(c, prefix, held, group.feature_begin[0], group.lanes, own.support.data(),
          own.cells.data());
    own.cells[group.lanes] = {};
    if (part == 0) add(group, own.cells.data(), totals);
    if (remaining == 1) return;
    std::uint32_t const* support = own.support.data();
    if (compress(own, c, prefix, group)) {
      prefix = own.ones.data();
      support = own.compressed_support.data();
    }
    for (std::size_t g = part; g + 1 < group.features; g += parts) {
      if (remaining == 2) {
        pairs(c, prefix, support, group, g, depth + 1, totals);
        continue;
      }
      for (lane j = group.feature_begin[g]; j < group.feature_begin[g + 1]; ++j) {
        if (support[j] == 0) continue;
        std::vector<std::uint32_t>& members = at(depth + 1).members;
        members.clear();
        for (std::size_t d = 0; d < group.documents; ++d)
          if (group.row(d)[g] == j) members.push_back(static_cast<std::uint32_t>(d));
        if (!members.empty())
          child(c, prefix, support[j], group, g, j, members, remaining - 1, depth + 1, 0, 1,
                totals);
      }
    }
  }

  /// Drops the lanes that occur with the prefix in no training document, or in no document of the
  /// group, and the training documents without the prefix; false when that costs more than it
  /// saves. Changes `c` and `group` to what is left, under new lane numbers.
  bool compress(level& own, bit_columns& c, word const* prefix, test_group& group) {
    lane const begin = group.feature_begin[0];
    lane const none = std::numeric_limits<lane>::max();
    own.renumbered.assign(group.lanes + std::size_t{1}, none);
    for (std::size_t d = 0; d < group.documents; ++d) {
      lane const* const row = group.row(d);
      for (std::size_t h = 0; h < group.features; ++h) own.renumbered[row[h]] = 0;
    }
    own.kept.clear();
    own.feature_begin.clear();
    for (std::size_t h = 0; h < group.features; ++h) {
      own.feature_begin.push_back(static_cast<lane>(own.kept.size()));
      for (lane l = group.feature_begin[h]; l < group.feature_begin[h + 1]; ++l)
        if (own.renumbered[l] == 0 && own.support[l] != 0) own.kept.push_back(l);
    }
    auto const left = static_cast<lane>(own.kept.size());
    own.feature_begin.push_back(left);
    own.compression.plan({prefix, c.words}, c.ranges);

    // Costs in words counted, eight of them a step.
    double const products = 0.5 * left;  // how many rows each row is multiplied with, about
    double const as_is = products * (group.lanes - begin) * (static_cast<double>(c.words) + 12);
    double const compressed = products * left * (own.compression.words + 12.0) +
                              16.0 * left * static_cast<double>(own.compression.steps.size());
    if (compressed >= as_is) return false;

    std::size_t const stride = stride_for(left);
    own.columns.resize(std::max(own.columns.size(), stride * own.compression.words));
    bitmaps::compress_columns(own.compression, c.data, c.stride, own.kept, own.columns.data(),
                              stride);
    own.ones.assign(own.compression.words, ~word{0});
    own.compressed_support.resize(std::max(own.compressed_support.size(), stride));
    std::fill(own.renumbered.begin(), own.renumbered.end(), left);
    for (lane l = 0; l < left; ++l) {
      own.renumbered[own.kept[l]] = l;
      own.compressed_support[l] = own.support[own.kept[l]];
    }
    own.compressed_rows.resize(group.documents * group.features);
    for (std::size_t d = 0; d < group.documents; ++d) {
      lane const* const row = group.row(d);
      lane* const to = own.compressed_rows.data() + d * group.features;
      for (std::size_t h = 0; h < group.features; ++h) to[h] = own.renumbered[row[h]];
    }
    c = {own.columns.data(), stride, own.compression.words, own.compression.ranges};
    group.feature_begin = own.feature_begin.data();
    group.lanes = left;
    group.rows = own.compressed_rows.data();
    group.row_stride = group.features;
    return true;
  }
};

/// A piece of the walk's first level: item `j` of feature `g` (with `remaining` >= 2 below), or all
/// pairs of feature `g`.
struct piece {
  std::size_t feature = 0;
  lane j = 0;
  std::size_t part = 0;
  std::size_t parts = 1;
  double cost = 0;
};

/// A batch of test documents: its items as lanes, features with rarer items first.
class batch {
 public:
  batch(prepared_training const& training, known_items const& test, std::size_t begin,
        std::size_t end)
      : documents_(end - begin) {
    rules::vertical_index const& index = training.index;
    std::size_t const features = test.feature_count();
    std::vector<rules::item> items(features * documents_);
    std::vector<std::uint64_t> commonness(features);
    std::vector<lane> lane_of(index.items(), 0);
    for (std::size_t f = 0; f < features; ++f)
      for (std::size_t d = 0; d < documents_; ++d) {
        rules::item const x = test.at(f, begin + d);
        items[f * documents_ + d] = x;
        if (x == no_known_item) continue;
        lane_of[x] = 1;
        commonness[f] += index.item_support(x);
      }
    std::vector<std::size_t> order;
    for (std::size_t f = 0; f < features; ++f)
      if (commonness[f] > 0) order.push_back(f);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return commonness[a] < commonness[b]; });
    std::vector<rules::item> lane_items;
    for (std::size_t f : order) {
      feature_begin_.push_back(static_cast<lane>(lane_items.size()));
      for (rules::item x = training.item_begin[f]; x < training.item_begin[f + 1]; ++x)
        if (lane_of[x] != 0) {
          lane_of[x] = static_cast<lane>(lane_items.size());
          lane_items.push_back(x);
        }
    }
    auto const lanes = static_cast<lane>(lane_items.size());
    feature_begin_.push_back(lanes);
    rows_.resize(documents_ * order.size());
    for (std::size_t h = 0; h < order.size(); ++h)
      for (std::size_t d = 0; d < documents_; ++d) {
        rules::item const x = items[order[h] * documents_ + d];
        rows_[d * order.size() + h] = x == no_known_item ? lanes : lane_of[x];
      }
    // Columns without the words that only pad a class.
    for (std::size_t k = 0; k < index.class_count(); ++k) {
      auto const size = static_cast<std::uint32_t>((index.class_size(k) + bitmaps::word_bits - 1) /
                                                   bitmaps::word_bits);
      ranges_.push_back({words_, words_ + size});
      words_ += size;
    }
    stride_ = stride_for(lanes);
    columns_.resize(stride_ * words_);
    for (lane l = 0; l < lanes; ++l) {
      std::span<word const> const row = index.row(lane_items[l]);
      for (std::size_t k = 0; k < ranges_.size(); ++k) {
        word const* from = row.data() + index.ranges()[k].begin;
        for (std::uint32_t w = ranges_[k].begin; w < ranges_[k].end; ++w)
          columns_[w * stride_ + l] = *from++;
      }
    }
    ones_.assign(words_, ~word{0});
    held_ = static_cast<std::uint32_t>(index.documents());
  }

  std::size_t documents() const noexcept { return documents_; }
  std::uint32_t held() const noexcept { return held_; }
  word const* ones() const noexcept { return ones_.data(); }
  bit_columns columns() const { return {columns_.data(), stride_, words_, ranges_}; }
  test_group group() const {
    std::size_t const features = feature_begin_.size() - 1;
    return {documents_,   features, feature_begin_.data(), feature_begin_.back(),
            rows_.data(), features};
  }

 private:
  std::size_t documents_;
  std::uint32_t held_ = 0;
  std::vector<lane> feature_begin_, rows_;
  std::vector<word_range> ranges_;
  std::uint32_t words_ = 0;
  std::size_t stride_ = 0;
  aligned_vector<word> columns_;
  std::vector<word> ones_;
};

/// The documents of each lane, as ranges of one list.
struct documents_by_lane {
  explicit documents_by_lane(test_group const& group) : begin(group.lanes + std::size_t{2}) {
    for (std::size_t d = 0; d < group.documents; ++d)
      for (std::size_t h = 0; h < group.features; ++h) ++begin[group.row(d)[h] + std::size_t{1}];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    list.resize(begin.back());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t d = 0; d < group.documents; ++d)
      for (std::size_t h = 0; h < group.features; ++h)
        list[next[group.row(d)[h]]++] = static_cast<std::uint32_t>(d);
  }
  std::span<std::uint32_t const> operator[](lane l) const {
    return std::span(list).subspan(begin[l], begin[l + std::size_t{1}] - begin[l]);
  }
  std::vector<std::size_t> begin;
  std::vector<std::uint32_t> list;
};

template <class Sum>
class project final : public scoring_engine {
 public:
  explicit project(prepared_training const& training) : training_(training) {}

  void score(context const& ctx, known_items const& test, scored& result) override {
    std::size_t const features = std::max<std::size_t>(test.feature_count(), 1);
    std::size_t const at_once = std::clamp<std::size_t>(largest_rows / features, 64, 65536);
    for (std::size_t begin = 0; begin < test.documents(); begin += at_once) {
      std::size_t const end = std::min(test.documents(), begin + at_once);
      score_batch(ctx, batch(training_, test, begin, end), begin, test.documents(),
                  result.scores.data() + begin);
    }
  }

 private:
  using sums = score_sums<Sum>;
  static constexpr std::size_t largest_rows = std::size_t{1} << 24;

  void score_batch(context const& ctx, batch const& documents, std::size_t before,
                   std::size_t of_all, double* scores) const {
    test_group const group = documents.group();
    std::size_t const size = std::min(training_.table.max_itemset_size(), group.features);
    auto const thread_count = static_cast<std::size_t>(ctx.thread_count());
    std::vector<walker<Sum>> walkers(thread_count, walker<Sum>(ctx, training_));
    std::vector<std::vector<sums>> totals(thread_count);
    totals[0].resize(documents.documents());

    if (size > 0) {
      bit_columns const c = documents.columns();
      std::vector<sums> cells(group.lanes + std::size_t{1});
      aligned_vector<std::uint32_t> support(c.stride);
      walkers[0].count(c, documents.ones(), documents.held(), 0, group.lanes, support.data(),
                       cells.data());
      walkers[0].add(group, cells.data(), totals[0].data());
      if (size > 1) {
        documents_by_lane const members(group);
        std::vector<piece> const pieces = plan(group, members, size, thread_count);
        std::atomic<std::size_t> done{0};
        parallel_for(ctx, pieces.size(), 1, [&](std::size_t p, std::size_t, int thread) {
          auto const t = static_cast<std::size_t>(thread);
          totals[t].resize(documents.documents());
          piece const& now = pieces[p];
          if (size == 2)
            walkers[t].pairs(c, documents.ones(), support.data(), group, now.feature, 0,
                             totals[t].data());
          else
            walkers[t].child(c, documents.ones(), support[now.j], group, now.feature, now.j,
                             members[now.j], size - 1, 0, now.part, now.parts, totals[t].data());
          std::size_t const finished = ++done;
          if (thread == 0)
            ctx.report("rank", before + documents.documents() * finished / pieces.size(), of_all);
        });
      }
    }
    for (std::size_t t = 1; t < thread_count; ++t)
      for (std::size_t d = 0; d < totals[t].size(); ++d) totals[0][d] += totals[t][d];
    for (std::size_t d = 0; d < documents.documents(); ++d)
      scores[d] = score_of(totals[0][d], training_.table.mean_label());
  }

  /// The pieces of the walk, the costly ones first and none too large for the threads to share.
  static std::vector<piece> plan(test_group const& group, documents_by_lane const& members,
                                 std::size_t size, std::size_t threads) {
    std::vector<piece> pieces;
    double total = 0;
    for (std::size_t g = 0; g + 1 < group.features; ++g) {
      auto const later = static_cast<double>(group.features - g - 1);
      auto const lanes = static_cast<double>(group.lanes - group.feature_begin[g + 1]);
      if (size == 2) {
        pieces.push_back({g, 0, 0, 1, later});
        continue;
      }
      for (lane j = group.feature_begin[g]; j < group.feature_begin[g + 1]; ++j) {
        double const cost =
            static_cast<double>(members[j].size()) * later * later + 4 * lanes * lanes;
        total += cost;
        pieces.push_back({g, j, 0, 1, cost});
      }
    }
    if (size > 2) {
      double const limit = threads > 1 ? total / (8.0 * static_cast<double>(threads)) : total;
      std::size_t const whole = pieces.size();
      for (std::size_t p = 0; p < whole; ++p) {
        std::size_t const most = std::max<std::size_t>(group.features - pieces[p].feature - 1, 1);
        auto const parts =
            std::min(most, static_cast<std::size_t>(pieces[p].cost / limit) + std::size_t{1});
        pieces[p].parts = parts;
        pieces[p].cost /= static_cast<double>(parts);
        for (std::size_t part = 1; part < parts; ++part) {
          piece more = pieces[p];
          more.part = part;
          pieces.push_back(more);
        }
      }
    }
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](piece const& a, piece const& b) { return a.cost > b.cost; });
    return pieces;
  }

  prepared_training const& training_;
};

}  // namespace

std::unique_ptr<scoring_engine> make_project(prepared_training const& training) {
  if (training.table.is_wide()) return std::make_unique<project<wide_sum>>(training);
  return std::make_unique<project<std::uint64_t>>(training);
}

}  // namespace rulerank::l2r
