#include "knn/sparse/weighting.hpp"

#include "core/error.hpp"
#include "core/named_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::array<std::string_view, 3> names{"none", "tf-idf", "bm25"};
constexpr std::array<std::string_view, 3> names_of_tf{"raw", "log", "binary"};

/// A letter of SMART and its meaning.
template <class Value>
struct smart_letter {
  char letter;
  std::string_view meaning;
  Value value;
};
constexpr std::array<smart_letter<term_frequency>, 3> letters_of_tf{
    {{'n', "the count", term_frequency::raw},
     {'l', "1 + ln of it", term_frequency::log},
     {'b', "1", term_frequency::binary}}};
constexpr std::array<smart_letter<weighting>, 2> letters_of_idf{
    {{'n', "none", weighting::none}, {'t', "ln(N / df)", weighting::tf_idf}}};
constexpr std::array<smart_letter<similarity>, 2> letters_of_norm{
    {{'n', "none", similarity::inner_product}, {'c', "cosine", similarity::cosine}}};

template <class Value, std::size_t Size>
char letter_of(Value value, std::array<smart_letter<Value>, Size> const& known) {
  for (auto const& one : known)
    if (one.value == value) return one.letter;
  throw usage_error("found a weighting or similarity that SMART's notation has no letter for");
}

template <class Value, std::size_t Size>
Value meant_by(char letter, std::array<smart_letter<Value>, Size> const& known,
               std::string_view what, std::string_view name) {
  std::string expected;
  for (auto const& one : known) {
    if (one.letter == letter) return one.value;
    expected += fmt::format("{}{} ({})", expected.empty() ? "" : ", ", one.letter, one.meaning);
  }
  throw usage_error(
      fmt::format("found '{}' for {} in '{}', expected one of {}", letter, what, name, expected));
}

/// Returns ln(N / df), or 0 for a term in no document.
double idf(term_statistics const& of, std::uint32_t term) {
  std::uint32_t const df = term < of.document_frequency.size() ? of.document_frequency[term] : 0;
  return df == 0 ? 0 : std::log(static_cast<double>(of.documents) / df);
}

double bm25_idf(term_statistics const& of, std::uint32_t term) {
  double const df = of.document_frequency[term];
  return std::log1p((static_cast<double>(of.documents) - df + 0.5) / (df + 0.5));
}

/// Which entries become entries of weighted rows.
enum class kept { those_that_weigh, those_that_documents_have };

/// Returns rows with the weights weights_of(row)(term, count).
template <class WeightsOf>
sparse_matrix weigh(sparse_rows const& counts, term_statistics const& statistics, kept which,
                    WeightsOf&& weights_of) {
  auto const terms = static_cast<std::uint32_t>(statistics.document_frequency.size());
  sparse_matrix out;
  out.begin.reserve(counts.size() + 1);
  for (std::size_t r = 0; r < counts.size(); ++r) {
    sparse_row const row = counts[r];
    auto const weight_of = weights_of(row);
    for (std::size_t i = 0; i < row.size() && row.term[i] < terms; ++i) {
      std::uint32_t const t = row.term[i];
      double const w = weight_of(t, row.weight[i]);
      if (w == 0 && (which == kept::those_that_weigh || row.weight[i] == 0 ||
                     statistics.document_frequency[t] == 0))
        continue;
      out.term.push_back(t);
      out.weight.push_back(w);
    }
    out.begin.push_back(out.term.size());
  }
  out.terms = terms;
  return out;
}

double tf_of(term_frequency how, double count) {
  if (how == term_frequency::raw) return count;
  if (how == term_frequency::binary) return 1;
  if (!(count >= 1))
    throw usage_error(fmt::format("found a count of {}, expected at least 1 for tf 'log'", count));
  return 1 + std::log(count);
}

/// Computes tf, times ln(N / df) if requested. Terms in no document have weight 0.
sparse_matrix weigh_terms(sparse_rows const& counts, term_statistics const& statistics, kept which,
                          term_weighting const& how) {
  auto const terms = static_cast<std::uint32_t>(statistics.document_frequency.size());
  std::vector<double> of_term(terms);
  for (std::uint32_t t = 0; t < terms; ++t)
    of_term[t] = how.how == weighting::tf_idf            ? idf(statistics, t)
                 : statistics.document_frequency[t] == 0 ? 0
                                                         : 1;
  return weigh(counts, statistics, which, [&](sparse_row const&) {
    return [&](std::uint32_t t, double count) { return tf_of(how.tf, count) * of_term[t]; };
  });
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
  if (options.how == weighting::bm25 &&
      (options.tf != term_frequency::raw || options.queries.has_value()))
    throw usage_error("found a term frequency together with weighting 'bm25', which has its own");
  if (options.queries && options.queries->how == weighting::bm25)
    throw usage_error("found weighting 'bm25' of queries alone, expected none, tf-idf");
}

weighting weighting_from(std::string_view name) {
  return value_named<weighting>(names, name, "found weighting", name_list::plain);
}
std::string_view name_of(weighting how) {
  return names[static_cast<std::size_t>(how)];
}

term_frequency term_frequency_from(std::string_view name) {
  return value_named<term_frequency>(names_of_tf, name, "found tf", name_list::plain);
}
std::string_view name_of(term_frequency tf) {
  return names_of_tf[static_cast<std::size_t>(tf)];
}

smart_weighting smart_weighting_from(std::string_view name) {
  if (name.size() != 7 || name[3] != '.')
    throw usage_error(fmt::format(
        "found '{}', expected three letters of the documents, a dot and three of the queries, as "
        "in ltc.lnc",
        name));
  auto const side = [&](std::size_t at) {
    return term_weighting{meant_by(name[at + 1], letters_of_idf, "idf", name),
                          meant_by(name[at], letters_of_tf, "tf", name)};
  };
  term_weighting const documents = side(0), queries = side(4);
  similarity const metric = meant_by(name[2], letters_of_norm, "the norm", name);
  if (meant_by(name[6], letters_of_norm, "the norm", name) != metric)
    throw usage_error(
        fmt::format("found the norms {} and {} in '{}', expected the same norm twice, because the "
                    "norm of a query does not change the ranking",
                    name[2], name[6], name));
  return {{.how = documents.how, .tf = documents.tf, .queries = queries}, metric};
}

std::string smart_name_of(weighting_options const& weights, similarity metric) {
  if (weights.how == weighting::bm25) throw usage_error("bm25 has no name in SMART's notation");
  auto const side = [&](term_weighting const& of) {
    return std::string{letter_of(of.tf, letters_of_tf), letter_of(of.how, letters_of_idf),
                       letter_of(metric, letters_of_norm)};
  };
  term_weighting const documents{weights.how, weights.tf};
  return side(documents) + "." + side(weights.queries.value_or(documents));
}

weighting_options default_weighting() {
  return smart_weighting_from(default_smart_weighting).weights;
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
  if (options.how != weighting::bm25)
    return weigh_terms(counts, statistics, kept::those_that_weigh, {options.how, options.tf});
  auto const terms = static_cast<std::uint32_t>(statistics.document_frequency.size());
  std::vector<double> of_term(terms);
  for (std::uint32_t t = 0; t < terms; ++t) of_term[t] = bm25_idf(statistics, t);
  return weigh(counts, statistics, kept::those_that_weigh, [&](sparse_row const& row) {
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
  if (options.how == weighting::bm25)
    return weigh_terms(counts, statistics, kept::those_that_documents_have,
                       {weighting::none, term_frequency::raw});
  return weigh_terms(counts, statistics, kept::those_that_documents_have,
                     options.queries.value_or(term_weighting{options.how, options.tf}));
}

}  // namespace rulerank::knn
