#include "datasets/discretizer/cut_points.hpp"
#include "datasets/discretizer/tube_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace rulerank::inline v0::datasets {

namespace {

/// Returns n ln(n / (N w)), or 0 for an empty bin.
double log_likelihood(double n, double total, double width) {
  return n == 0 ? 0 : n * std::log(n / (total * width));
}

/// A bin of the tube: [from, to) with the distinct values first .. last - 1, and its best cut.
struct tube_bin {
  double from = 0, to = 0;
  std::size_t first = 0, last = 0;
  double gain = 0;  ///< of the best cut; 0: there is none
  double cut = 0;
  std::size_t middle = 0;  ///< the first distinct value to the right of the cut
};

constexpr double least_gain = 1e-9;

class tube {
 public:
  explicit tube(value_counts const& counts)
      : values_(counts.values),
        before_(counts.before.begin(), counts.before.end()),
        total_(static_cast<double>(counts.total())) {
    double const range = values_.back() - values_.front();
    double gap = range;
    for (std::size_t i = 1; i < values_.size(); ++i)
      gap = std::min(gap, values_[i] - values_[i - 1]);
    margin_ = std::clamp(gap / 2, 1e-7 * range, 1e-4 * range);
  }

  tube_sequence grow(std::size_t most) const {
    tube_bin root{values_.front() - margin_, values_.back() + margin_, 0, values_.size()};
    tube_sequence result{root.from, root.to, {}};
    find_cut(root);
    std::vector<tube_bin> bins{root};
    while (result.cuts.size() < most) {
      auto const best =
          std::min_element(bins.begin(), bins.end(),
                           [this](auto const& a, auto const& b) { return precedes(a, b); });
      if (best->gain <= least_gain) break;
      result.cuts.push_back(best->cut);
      tube_bin left{best->from, best->cut, best->first, best->middle};
      tube_bin right{best->cut, best->to, best->middle, best->last};
      if (result.cuts.size() < most) {
        find_cut(left);
        find_cut(right);
      }
      *best = left;
      bins.push_back(right);
    }
    return result;
  }

 private:
  double documents(std::size_t first, std::size_t last) const {
    return before_[last] - before_[first];
  }

  bool precedes(tube_bin const& a, tube_bin const& b) const {
    if (a.gain != b.gain) return a.gain > b.gain;
    double const in_a = documents(a.first, a.last), in_b = documents(b.first, b.last);
    if (in_a != in_b) return in_a > in_b;
    return a.cut < b.cut;
  }

  /// Finds the cut that a scan of all values finds. Chunks of many values are scanned only if
  /// their approximate gains can be the largest.
  void find_cut(tube_bin& bin) const {
    std::size_t const chunks = (bin.last - bin.first + tube_chunk - 1) / tube_chunk;
    if (chunks < 4 || !scan_best_chunks(bin, chunks)) scan(bin, bin.first, bin.last);
  }

  /// Considers the cuts below and above each of the values first .. last - 1.
  void scan(tube_bin& bin, std::size_t first, std::size_t last) const {
    visit_cuts(bin, first, last, [&](double gain, double cut, std::size_t middle) {
      if (gain > bin.gain + least_gain) bin = with_cut(bin, gain, cut, middle);
    });
  }

  /// Returns false, and leaves the bin, if the gains of the chunks that are passed over could
  /// change the result. A scan replaces its best cut only by a gain that is larger by more than
  /// least_gain, so its best gain before a chunk matters.
  bool scan_best_chunks(tube_bin& bin, std::size_t chunks) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> gains(chunks, -infinity);
    approximate_tube_gains(values_, before_, {bin.from, bin.to, bin.first, bin.last, margin_},
                           gains);
    double const error = tube_gain_error(total_);
    double const least = *std::ranges::max_element(gains) - 4 * error - 1000 * least_gain;
    gains.front() = gains.back() = infinity;
    // No cut that is passed over has more, and no cut before one that is certainly taken.
    double most = least + error;
    bool certain = most <= 0;
    tube_bin found = bin;
    for (std::size_t c = 0; c < chunks; ++c) {
      if (gains[c] < least) continue;
      std::size_t const first = bin.first + c * tube_chunk;
      visit_cuts(bin, first, std::min(first + tube_chunk, bin.last),
                 [&](double gain, double cut, std::size_t middle) {
                   if (gain > (certain ? found.gain : most) + least_gain) {
                     found = with_cut(bin, gain, cut, middle);
                     certain = true;
                   } else if (!certain) {
                     most = std::max(most, gain);
                   }
                 });
    }
    if (certain) bin = found;
    return certain;
  }

  static tube_bin with_cut(tube_bin bin, double gain, double cut, std::size_t middle) {
    bin.gain = gain;
    bin.cut = cut;
    bin.middle = middle;
    return bin;
  }

  /// Calls consider(gain, cut, middle) for the cuts below and above the values first .. last - 1.
  template <class Consider>
  void visit_cuts(tube_bin const& bin, std::size_t first, std::size_t last,
                  Consider const& consider) const {
    if (bin.first == bin.last) return;  // an empty bin has no gain
    double const parent = log_likelihood(documents(bin.first, bin.last), total_, bin.to - bin.from);
    auto const visit = [&](double cut, std::size_t middle) {
      if (!(cut > bin.from && cut < bin.to)) return;
      consider(log_likelihood(documents(bin.first, middle), total_, cut - bin.from) +
                   log_likelihood(documents(middle, bin.last), total_, bin.to - cut) - parent,
               cut, middle);
    };
    for (std::size_t i = first; i < last; ++i) {
      double const value = values_[i];
      double below = value - margin_;
      if (i > 0) below = std::max(below, midpoint(values_[i - 1], value));
      double above = value + margin_;
      if (i + 1 < values_.size()) above = std::min(above, midpoint(value, values_[i + 1]));
      // If two values are adjacent doubles, the only cut between them is the larger one.
      visit(below, i > bin.first && below <= values_[i - 1] ? i - 1 : i);
      visit(above, above <= value ? i : i + 1);
    }
  }

  static double midpoint(double a, double b) { return (a + b) / 2; }

  std::vector<double> const& values_;
  std::vector<double> before_;  // [K + 1] number of smaller values, exact below 2^53
  double total_;
  double margin_;
};

}  // namespace

tube_sequence grow_tube(value_counts const& counts, std::size_t most) {
  return tube(counts).grow(most);
}

}  // namespace rulerank::datasets
