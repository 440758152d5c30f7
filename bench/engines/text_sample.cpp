#include "bench/engines/text_sample.hpp"

#include "core/error.hpp"
#include "core/named_values.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace rulerank::inline v0::bench {

using knn::sparse_matrix;
using knn::sparse_rows;

namespace {

constexpr std::array<text_shape, 6> shapes{{
    {"20ng", 18'766, 61'032, 129.74, 3'500},
    {"4uni", 8'274, 40'192, 139.81, 1'500},
    {"acm", 24'897, 56'413, 27.76, 5'000},
    {"medline", 861'454, 268'766, 30.88, 10'000},
    {"rcv1", 804'427, 134'914, 78.40, 10'000},
    {"reuters90", 13'327, 19'572, 77.26, 2'500},
}};

constexpr double documents_a_topic = 500;
constexpr std::uint32_t terms_a_topic = 300;
constexpr double deviation = 0.6;  // of the logarithm of a document's number of terms

/// Random numbers 0 .. n - 1 with a probability proportional to 1 / (rank + 3), by the alias method
/// (Walker 1977).
class zipf {
 public:
  explicit zipf(std::uint32_t n) : keep_(n), other_(n) {
    std::vector<double> share(n);
    for (std::uint32_t r = 0; r < n; ++r) share[r] = 1.0 / (r + 3.0);
    double const sum = std::accumulate(share.begin(), share.end(), 0.0);
    std::vector<std::uint32_t> small, large;
    for (std::uint32_t r = 0; r < n; ++r) {
      share[r] *= n / sum;
      (share[r] < 1 ? small : large).push_back(r);
    }
    while (!small.empty() && !large.empty()) {
      std::uint32_t const s = small.back(), l = large.back();
      small.pop_back();
      keep_[s] = share[s];
      other_[s] = l;
      share[l] -= 1 - share[s];
      if (share[l] < 1) {
        large.pop_back();
        small.push_back(l);
      }
    }
    for (std::uint32_t const r : small) keep_[r] = 1;
    for (std::uint32_t const r : large) keep_[r] = 1;
  }
  std::uint32_t operator()(random_engine& draw) const {
    auto const r = static_cast<std::uint32_t>(uniform_below(draw, keep_.size()));
    return uniform_unit(draw) < keep_[r] ? r : other_[r];
  }

 private:
  std::vector<double> keep_;
  std::vector<std::uint32_t> other_;
};

/// Normal, mean 0, deviation 1 (Box and Muller 1958).
double normal(random_engine& draw) {
  double const u = 1 - uniform_unit(draw), v = uniform_unit(draw);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979323846 * v);
}

}  // namespace

std::span<text_shape const> text_shapes() {
  return shapes;
}
text_shape const& find_text_shape(std::string_view name) {
  for (text_shape const& shape : shapes)
    if (shape.name == name) return shape;
  throw unknown_name("found shape", name, list_of_names(shapes, name_list::one_of));
}

sparse_matrix sample_text(context const& ctx, text_sample_options const& options) {
  if (options.terms == 0 || !(options.terms_a_document >= 1) ||
      options.terms_a_document > options.terms / 2.0)
    throw usage_error("terms a document: expected at least 1, and at most half of all terms");
  zipf const word(options.terms), word_of_topic(std::min(options.terms, terms_a_topic));
  auto const topics =
      static_cast<std::size_t>(static_cast<double>(options.documents) / documents_a_topic) + 1;
  std::vector<std::uint32_t> of_topic(topics * terms_a_topic);
  random_engine of_all(ctx.seed);
  for (std::uint32_t& term : of_topic)
    term = static_cast<std::uint32_t>(uniform_below(of_all, options.terms));
  double const mean = std::log(options.terms_a_document) - deviation * deviation / 2;

  constexpr std::size_t part_size = 1024;
  std::vector<sparse_matrix> parts((options.documents + part_size - 1) / part_size);
  parallel_for(ctx, options.documents, part_size, [&](std::size_t begin, std::size_t end, int) {
    random_engine draw(ctx.seed * 0x9e3779b97f4a7c15ULL + begin + 1);
    sparse_matrix& rows = parts[begin / part_size];
    std::vector<std::uint32_t> words, terms;
    std::vector<double> counts;
    for (std::size_t d = begin; d < end; ++d) {
      auto const wanted = static_cast<std::size_t>(
          std::clamp(std::exp(mean + deviation * normal(draw)), 1.0, options.terms / 2.0));
      std::uint32_t const* const topic =
          of_topic.data() + uniform_below(draw, topics) * terms_a_topic;
      words.clear();
      terms.clear();
      while (terms.size() < wanted) {
        // Adds as many words as terms are missing, and repeats.
        for (std::size_t i = terms.size(); i < wanted; ++i)
          words.push_back(uniform_unit(draw) < options.of_topic ? topic[word_of_topic(draw)]
                                                                : word(draw));
        std::sort(words.begin(), words.end());
        terms.assign(words.begin(), words.end());
        terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
      }
      counts.clear();
      for (std::uint32_t const t : terms) {
        auto const [from, to] = std::equal_range(words.begin(), words.end(), t);
        counts.push_back(static_cast<double>(to - from));
      }
      rows.push_row(terms, counts);
    }
  });
  sparse_matrix all;
  all.terms = options.terms;
  for (sparse_matrix const& rows : parts) {
    std::uint64_t const before = all.term.size();
    all.term.insert(all.term.end(), rows.term.begin(), rows.term.end());
    all.weight.insert(all.weight.end(), rows.weight.begin(), rows.weight.end());
    for (std::size_t r = 1; r < rows.begin.size(); ++r) all.begin.push_back(before + rows.begin[r]);
  }
  return all;
}

drawn_queries draw_queries(sparse_rows const& rows, std::size_t chosen, std::uint64_t seed) {
  if (chosen > rows.size())
    throw usage_error(fmt::format("found {} queries to draw of {} rows", chosen, rows.size()));
  std::vector<bool> is_query(rows.size());
  random_engine draw(seed);
  std::size_t left = chosen;
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (uniform_below(draw, rows.size() - r) < left) {
      is_query[r] = true;
      --left;
    }
  drawn_queries out;
  out.queries.terms = out.documents.terms = rows.terms;
  for (std::size_t r = 0; r < rows.size(); ++r)
    (is_query[r] ? out.queries : out.documents).push_row(rows[r].term, rows[r].weight);
  return out;
}

}  // namespace rulerank::bench
