#include "knn/sparse/weighting.hpp"

#include "core/error.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace rulerank::knn {

namespace {

constexpr std::array<std::string_view, 3> names{"none", "tf-idf", "bm25"};

/// ln(N / df), 0 for a term in no document.
double idf(term_statistics const& of, std::uint32_t term) {
  std::uint32_t const df = term < of.document_frequency.size() ? of.document_frequency[term] : 0;
  return df == 0 ? 0 : std::log(static_cast<double>(of.documents) / df);
}

double bm25_idf(term_statistics const& of, std::uint32_t term) {
  double const df = of.document_frequency[term];
  return std::log1p((static_cast<double>(of.documents) - df + 0.5) / (df + 0.5));
}

/// Rows with weights weights_of(row)(term, count); what weighs 0 is dropped.
template <class WeightsOf>
sparse_matrix weigh(sparse_rows const& counts, std::uint32_t terms, WeightsOf&& weights_of) {
  sparse_matrix out;
  out.begin.reserve(counts.size() + 1);
  for (std::size_t r = 0; r < counts.size(); ++r) {
    sparse_row const row = counts[r];
    auto const weight_of = weights_of(row);
    for (std::size_t i = 0; i < row.size() && row.term[i] < terms; ++i) {
      double const w = weight_of(row.term[i], row.weight[i]);
      if (w == 0) continue;
      out.term.push_back(row.term[i]);
      out.weight.push_back(w);
    }
    out.begin.push_back(out.term.size());
  }
  out.terms = terms;
  return out;
}

double length_of(sparse_row const& row) {
  double length = 0;
  for (double const count : row.weight) length += count;
  return length;
}

}  // namespace

void check(weighting_options const& options) {
  if (!(options.k1 >= 0 && options.k1 <= 1e6))
    throw usage_error(fmt::format("BM25's k1: found {}, expected 0 to 1e6", options.k1));
  if (!(options.b >= 0 && options.b <= 1))
    throw usage_error(fmt::format("BM25's b: found {}, expected 0 to 1", options.b));
}

weighting weighting_from(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<weighting>(i);
  throw usage_error(fmt::format("found weighting '{}', expected {}", name, fmt::join(names, ", ")));
}
std::string_view name_of(weighting how) {
  return names[static_cast<std::size_t>(how)];
}

term_statistics statistics_of(sparse_rows const& counts) {
  term_statistics of;
  of.documents = counts.size();
  of.document_frequency.resize(counts.terms);
  for (std::uint32_t const t : counts.term) ++of.document_frequency[t];
  double length = 0;
  for (double const count : counts.weight) length += count;
  of.mean_length = counts.size() == 0 ? 0 : length / static_cast<double>(counts.size());
  return of;
}

sparse_matrix weigh_documents(sparse_rows const& counts, term_statistics const& statistics,
                              weighting_options const& options) {
  check(options);
  auto const terms = static_cast<std::uint32_t>(statistics.document_frequency.size());
  if (options.how != weighting::bm25) return weigh_queries(counts, statistics, options);
  std::vector<double> of_term(terms);
  for (std::uint32_t t = 0; t < terms; ++t) of_term[t] = bm25_idf(statistics, t);
  return weigh(counts, terms, [&](sparse_row const& row) {
    double const relative =
        statistics.mean_length > 0 ? length_of(row) / statistics.mean_length : 1;
    double const saturation = options.k1 * (1 - options.b + options.b * relative);
    return [&, saturation](std::uint32_t t, double count) {
      return of_term[t] * (count * (options.k1 + 1)) / (count + saturation);
    };
  });
}

sparse_matrix weigh_queries(sparse_rows const& counts, term_statistics const& statistics,
                            weighting_options const& options) {
  check(options);
  auto const terms = static_cast<std::uint32_t>(statistics.document_frequency.size());
  std::vector<double> of_term(terms);
  for (std::uint32_t t = 0; t < terms; ++t)
    of_term[t] = options.how == weighting::tf_idf        ? idf(statistics, t)
                 : statistics.document_frequency[t] == 0 ? 0
                                                         : 1;
  return weigh(counts, terms, [&](sparse_row const&) {
    return [&](std::uint32_t t, double count) { return count * of_term[t]; };
  });
}

}  // namespace rulerank::knn
