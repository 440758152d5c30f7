#include "datasets/cut_points.hpp"

#include <algorithm>
#include <cmath>

namespace rulerank::inline v0::datasets {

namespace {

/// Returns n ln(n / (N w)), or 0 for an empty bin.
double log_likelihood(std::uint64_t n, double total, double width) {
  if (n == 0) return 0;
  double const count = static_cast<double>(n);
  return count * std::log(count / (total * width));
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
        before_(counts.before),
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
  std::uint64_t documents(std::size_t first, std::size_t last) const {
    return before_[last] - before_[first];
  }

  bool precedes(tube_bin const& a, tube_bin const& b) const {
    if (a.gain != b.gain) return a.gain > b.gain;
    std::uint64_t const in_a = documents(a.first, a.last), in_b = documents(b.first, b.last);
    if (in_a != in_b) return in_a > in_b;
    return a.cut < b.cut;
  }

  void find_cut(tube_bin& bin) const {
    if (bin.first == bin.last) return;  // an empty bin has no gain
    double const parent = log_likelihood(documents(bin.first, bin.last), total_, bin.to - bin.from);
    auto const consider = [&](double cut, std::size_t middle) {
      if (!(cut > bin.from && cut < bin.to)) return;
      double const gain = log_likelihood(documents(bin.first, middle), total_, cut - bin.from) +
                          log_likelihood(documents(middle, bin.last), total_, bin.to - cut) -
                          parent;
      if (gain > bin.gain + least_gain) {
        bin.gain = gain;
        bin.cut = cut;
        bin.middle = middle;
      }
    };
    for (std::size_t i = bin.first; i < bin.last; ++i) {
      double const value = values_[i];
      double below = value - margin_;
      if (i > 0) below = std::max(below, midpoint(values_[i - 1], value));
      double above = value + margin_;
      if (i + 1 < values_.size()) above = std::min(above, midpoint(value, values_[i + 1]));
      // If two values are adjacent doubles, the only cut between them is the larger one.
      consider(below, i > bin.first && below <= values_[i - 1] ? i - 1 : i);
      consider(above, above <= value ? i : i + 1);
    }
  }

  static double midpoint(double a, double b) { return (a + b) / 2; }

  std::vector<double> const& values_;
  std::vector<std::uint64_t> const& before_;
  double total_;
  double margin_;
};

}  // namespace

tube_sequence grow_tube(value_counts const& counts, std::size_t most) {
  return tube(counts).grow(most);
}

}  // namespace rulerank::datasets
