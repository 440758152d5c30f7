#include "features/pair_features.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "features/pair_features_math.hpp"
#include "knn/sparse/similarity_math.hpp"
#include "knn/sparse/weighting.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::features {

namespace {

/// The features of a field, in the order of `field_feature_names`.
enum field_feature : std::size_t {
  sum_tf,
  sum_log_tf,
  sum_share,
  sum_log_share,
  sum_idf,
  sum_log_idf,
  sum_log_rarity,
  sum_log_share_idf,
  sum_tf_idf,
  sum_log_share_rarity,
  bm25,
  log_bm25,
  lmir_dir,
  lmir_jm,
  lmir_abs,
  cosine,
  covered,
  covered_ratio,
  length,
  field_features
};
constexpr std::array<std::string_view, field_features> field_feature_names{
    "sum of tf",
    "sum of log(tf + 1)",
    "sum of tf/length",
    "sum of log(tf/length + 1)",
    "sum of idf",
    "sum of log(idf + 1)",
    "sum of log(N/cf)",
    "sum of log(tf/length idf + 1)",
    "sum of tf idf",
    "sum of log(tf/length N/cf + 1)",
    "BM25",
    "log(BM25 + 1)",
    "LMIR.DIR",
    "LMIR.JM",
    "LMIR.ABS",
    "tf-idf cosine",
    "covered query terms",
    "covered query term ratio",
    "length",
};
constexpr std::array<std::string_view, 2> pair_feature_names{"query length",
                                                             "distinct query terms"};

void check_range(std::string_view name, double found, double low, double high) {
  if (!(found >= low && found <= high))
    throw usage_error(fmt::format("{}: found {}, expected {} to {}", name, found, low, high));
}

/// Checks as `knn::check(sparse_rows)`, and that the weights are counts.
void check_counts(knn::sparse_rows const& rows, std::string_view what) {
  constexpr double most = 4294967296;  // 2^32
  check(rows, what);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    knn::sparse_row const row = rows[r];
    for (std::size_t i = 0; i < row.size(); ++i)
      if (double const count = row.weight[i];
          !(count >= 1 && count <= most && count == std::floor(count)))
        throw usage_error(fmt::format(
            "{}, row {}: found {} as the count of term {}, expected a whole number of 1 to 2^32",
            what, r, count, row.term[i]));
  }
}

double sum_of_values(std::span<double const> counts) {
  double sum = 0;
  for (double const count : counts) sum += count;
  return sum;
}

}  // namespace

pair_features::field pair_features::prepared(context const& ctx, knn::field_counts&& from) {
  field of;
  of.name = std::move(from.name);
  of.counts = std::move(from.counts);
  knn::sparse_rows const rows = of.counts;
  knn::term_statistics const statistics = knn::statistics_of(rows);
  of.mean_length = statistics.mean_length;
  std::vector<double> collection_frequency(rows.terms);
  for (std::size_t i = 0; i < rows.term.size(); ++i)
    collection_frequency[rows.term[i]] += rows.weight[i];
  double const all = sum_of_values(rows.weight);
  auto const n = static_cast<double>(rows.size());
  of.terms.resize(rows.terms);
  for (std::uint32_t t = 0; t < rows.terms; ++t) {
    double const df = statistics.document_frequency[t], cf = collection_frequency[t];
    if (df == 0) continue;
    of.terms[t] = {.idf = std::log(n / df),
                   .bm25_idf = std::log1p((n - df + 0.5) / (df + 0.5)),
                   .rarity = n / cf,
                   .frequency = cf / all,
                   .known = true};
  }
  of.length.resize(rows.size());
  of.norm.resize(rows.size());
  parallel_for(ctx, rows.size(), 4096, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t d = begin; d < end; ++d) {
      knn::sparse_row const row = rows[d];
      of.length[d] = sum_of_values(row.weight);
      double squares = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        double const weight = row.weight[i] * of.terms[row.term[i]].idf;
        squares += weight * weight;
      }
      of.norm[d] = std::sqrt(squares);
    }
  });
  return of;
}

pair_features::pair_features(context const& ctx, std::vector<knn::field_counts> fields,
                             pair_features_options const& options)
    : options_(options) {
  check_range("BM25's k1", options.k1, 0, 1e6);
  check_range("BM25's b", options.b, 0, 1);
  check_range("LMIR.DIR's mu", options.mu, 1e-6, 1e12);
  check_range("LMIR.JM's lambda", options.lambda, 1e-6, 1);
  check_range("LMIR.ABS's delta", options.delta, 1e-6, 1);
  if (fields.empty() || fields.back().name != knn::whole_document)
    throw usage_error(fmt::format("the last field: found {}, expected '{}'",
                                  fields.empty() ? "none" : "'" + fields.back().name + "'",
                                  knn::whole_document));
  for (auto f = fields.begin(); f != fields.end(); ++f) {
    if (f->name.empty()) throw usage_error("found a field without a name, expected a name");
    if (std::any_of(fields.begin(), f, [&](auto const& other) { return other.name == f->name; }))
      throw usage_error(fmt::format("fields: found '{}' twice, expected each field once", f->name));
    if (f->counts.size() != fields.back().counts.size())
      throw usage_error(fmt::format("field '{}': found {}, expected {}", f->name,
                                    counted(f->counts.size(), "document"),
                                    fields.back().counts.size()));
    if (f->counts.size() > std::numeric_limits<std::uint32_t>::max())
      throw usage_error("found more documents than 32 bits can number");
    check_counts(f->counts, fmt::format("field '{}'", f->name));
  }
  fields_.reserve(fields.size());
  for (knn::field_counts& f : fields) fields_.push_back(prepared(ctx, std::move(f)));
}

std::vector<std::string> pair_features::names() const {
  std::vector<std::string> all;
  for (field const& f : fields_)
    for (std::string_view const name : field_feature_names)
      all.push_back(fmt::format("{} of {}", name, f.name));
  all.insert(all.end(), pair_feature_names.begin(), pair_feature_names.end());
  return all;
}

std::vector<std::string> pair_features::units() const {
  std::vector<std::string> all(size());
  for (std::size_t f = 0; f < fields_.size(); ++f)
    for (std::size_t const count : {sum_tf, covered, length})
      all[f * field_features + count] = "terms";
  std::fill(all.end() - pair_feature_names.size(), all.end(), "terms");
  return all;
}

std::size_t pair_features::size() const noexcept {
  return fields_.size() * field_features + pair_feature_names.size();
}

void pair_features::look_up(field const& in, knn::sparse_row const& query, query_in_field& found) {
  found.terms.clear();
  double squares = 0;
  for (std::size_t i = 0; i < query.size() && query.term[i] < in.terms.size(); ++i) {
    term_facts const& facts = in.terms[query.term[i]];
    if (!facts.known) continue;
    found.terms.push_back({query.term[i], query.weight[i], facts});
    double const weight = query.weight[i] * facts.idf;
    squares += weight * weight;
  }
  found.norm = std::sqrt(squares);
}

void pair_features::of_field(field const& in, query_in_field const& query, std::size_t query_terms,
                             std::uint32_t document, double* out) const {
  knn::sparse_row const row = knn::sparse_rows(in.counts)[document];
  double const terms_of_document = in.length[document];
  auto const distinct = static_cast<double>(row.size());
  // If the mean is 0, no document has a term, and saturation has no effect.
  double const saturation = bm25_saturation(
      options_.k1, options_.b, in.mean_length > 0 ? terms_of_document / in.mean_length : 1);
  std::fill_n(out, field_features, 0.0);
  double product = 0;
  auto at = row.term.begin();
  for (auto const& [term, qf, facts] : query.terms) {
    at = std::lower_bound(at, row.term.end(), term);
    bool const has = at != row.term.end() && *at == term;
    double const tf = has ? row.weight[static_cast<std::size_t>(at - row.term.begin())] : 0;
    out[lmir_dir] += qf * std::log(dirichlet(tf, terms_of_document, facts.frequency, options_.mu));
    out[lmir_jm] +=
        qf * std::log(jelinek_mercer(tf, terms_of_document, facts.frequency, options_.lambda));
    out[lmir_abs] += qf * std::log(absolute_discounting(tf, terms_of_document, distinct,
                                                        facts.frequency, options_.delta));
    if (!has) continue;
    double const share = tf / terms_of_document;
    out[sum_tf] += tf;
    out[sum_log_tf] += std::log1p(tf);
    out[sum_share] += share;
    out[sum_log_share] += std::log1p(share);
    out[sum_idf] += facts.idf;
    out[sum_log_idf] += std::log1p(facts.idf);
    out[sum_log_rarity] += std::log(facts.rarity);
    out[sum_log_share_idf] += std::log1p(share * facts.idf);
    out[sum_tf_idf] += tf * facts.idf;
    out[sum_log_share_rarity] += std::log1p(share * facts.rarity);
    out[bm25] += qf * bm25_of(facts.bm25_idf, tf, options_.k1, saturation);
    out[covered] += 1;
    product += (qf * facts.idf) * (tf * facts.idf);
  }
  out[log_bm25] = std::log1p(out[bm25]);
  out[cosine] = knn::cosine_of(product, query.norm, in.norm[document], false);
  out[covered_ratio] = query_terms == 0 ? 0 : out[covered] / static_cast<double>(query_terms);
  out[length] = terms_of_document;
}

void pair_features::of(context const& ctx, knn::sparse_row const& query,
                       std::span<std::uint32_t const> documents, std::span<double> out) const {
  std::array<std::uint64_t, 2> const row{0, query.size()};
  std::array<std::uint64_t, 2> const begin{0, documents.size()};
  of(ctx, {row, query.term, query.weight, std::numeric_limits<std::uint32_t>::max()}, begin,
     documents, out);
}

void pair_features::of(context const& ctx, knn::sparse_rows const& queries,
                       std::span<std::uint64_t const> begin,
                       std::span<std::uint32_t const> documents, std::span<double> out) const {
  check_counts(queries, "queries");
  if (begin.size() != queries.size() + 1 || begin.front() != 0 ||
      begin.back() != documents.size() || !std::is_sorted(begin.begin(), begin.end()))
    throw usage_error(fmt::format(
        "offsets of the documents of {}: expected {} ascending numbers from 0 to {}",
        counted(queries.size(), "query", "queries"), queries.size() + 1, documents.size()));
  for (std::size_t i = 0; i < documents.size(); ++i)
    if (documents[i] >= this->documents())
      throw usage_error(fmt::format("pair {}: found document {}, expected less than {}", i,
                                    documents[i], this->documents()));
  if (out.size() != documents.size() * size())
    throw usage_error(fmt::format("the output for features: found {} values, expected {} x {}",
                                  out.size(), documents.size(), size()));

  // A thread's range of the pairs may begin and end within a query.
  std::vector<std::vector<query_in_field>> of_thread(static_cast<std::size_t>(ctx.thread_count()));
  parallel_for(ctx, documents.size(), 64, [&](std::size_t first, std::size_t last, int thread) {
    auto& in_fields = of_thread[static_cast<std::size_t>(thread)];
    in_fields.resize(fields_.size());
    for (std::size_t pair = first; pair < last;) {
      auto const q = static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), pair) -
                                              begin.begin() - 1);
      knn::sparse_row const query = queries[q];
      double const query_length = sum_of_values(query.weight);
      for (std::size_t f = 0; f < fields_.size(); ++f) look_up(fields_[f], query, in_fields[f]);
      for (std::size_t const end = std::min<std::size_t>(last, begin[q + 1]); pair < end; ++pair) {
        double* to = out.data() + pair * size();
        for (std::size_t f = 0; f < fields_.size(); ++f, to += field_features)
          of_field(fields_[f], in_fields[f], query.size(), documents[pair], to);
        to[0] = query_length;
        to[1] = static_cast<double>(query.size());
      }
    }
  });
}

}  // namespace rulerank::features
