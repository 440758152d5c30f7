#include "datasets/sample.hpp"

#include "core/append_format.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/parallel.hpp"
#include "datasets/split.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

// All values depend only on integer operations and on + - * / sqrt of doubles, which IEEE 754
// defines to the last bit.
namespace rulerank::inline v0::datasets {

namespace {

constexpr std::uint32_t most_features = 1U << 20;
constexpr double decimals = 1e6;

/// splitmix64 (Steele, Lea, Flood 2014): each state is an independent stream.
class stream {
 public:
  explicit stream(std::uint64_t state) : state_(state) {}
  std::uint64_t next() { return mix(state_ += golden); }
  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Approximately normal, mean 0, variance 1: a sum of four uniform numbers.
  double bell() {
    std::uint64_t const x = next();
    std::uint64_t const sum =
        (x & 0xffff) + ((x >> 16) & 0xffff) + ((x >> 32) & 0xffff) + (x >> 48);
    return (static_cast<double>(sum) - 131070.0) * (1.7320508075688772 / 65536.0);
  }
  /// Returns the key of the index-th stream derived from `key`.
  static std::uint64_t fork(std::uint64_t key, std::uint64_t index) {
    return mix(mix(key + golden) ^ (index * 0xd1342543de82ef95ULL + 1));
  }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  std::uint64_t state_;
};

/// The streams of a seed.
enum : std::uint64_t { query_sizes, query_traits, documents_of };

enum class statistic {
  tf,
  tf_idf,
  length,
  bm25,
  language_model,
  coverage,
  link_rank,
  in_links,
  url_depth,
  out_links
};

/// How a feature depends on a document's latent factors; the same for every seed.
struct feature_model {
  statistic kind = statistic::tf;
  std::size_t field = 0;
  double load = 0;   ///< weight of the latent factor
  double noise = 0;  ///< weight of the feature's own noise; load^2 + noise^2 = 1
};

/// The probability that a field contains a query term, and the components of its match.
struct field_model {
  double presence = 0;
  double relevance = 0, topicality = 0, own = 0;  ///< squares sum to 1
};

struct model {
  std::vector<field_model> fields;
  std::vector<feature_model> features;
};

model make_model(std::uint32_t features) {
  constexpr std::array presence{0.94, 0.30, 0.40, 0.22, 0.95};
  constexpr std::array statistics{statistic::tf,
                                  statistic::tf_idf,
                                  statistic::length,
                                  statistic::bm25,
                                  statistic::language_model,
                                  statistic::language_model,
                                  statistic::language_model,
                                  statistic::coverage};
  constexpr std::array alone{statistic::link_rank, statistic::in_links, statistic::url_depth,
                             statistic::out_links};
  model m;
  std::size_t const fields = std::max<std::size_t>(5, features / 24);
  for (std::size_t j = 0; j < fields; ++j) {
    stream draw(stream::fork(0x6669656c64ULL, j));
    field_model field;
    double const other = 0.2 + 0.7 * draw.unit();
    field.presence = j < presence.size() ? presence[j] : other;
    field.relevance = 0.25 + 0.3 * draw.unit();
    field.topicality = 0.2 + 0.3 * draw.unit();
    field.own =
        std::sqrt(1 - field.relevance * field.relevance - field.topicality * field.topicality);
    m.fields.push_back(field);
  }
  std::uint32_t const matches = features - features / 6;
  for (std::uint32_t f = 0; f < features; ++f) {
    stream draw(stream::fork(0x66656174ULL, f));
    feature_model feature;
    feature.field = f % fields;
    feature.kind = f < matches ? statistics[f / fields % statistics.size()]
                               : alone[(f - matches) % alone.size()];
    feature.noise = (feature.kind == statistic::language_model ? 0.05 : 0.15) + 0.4 * draw.unit();
    feature.load = std::sqrt(1 - feature.noise * feature.noise);
    m.features.push_back(feature);
  }
  return m;
}

/// The properties that all documents of a query share.
struct query_model {
  std::uint64_t key = 0;
  double richness = 1;  ///< factor on the mean share of relevant documents
  double rounding = 0;  ///< in [0, 1): from this fraction on, a number of documents is rounded up
  double terms = 1;     ///< words in the query
  std::vector<double> presence;
};

query_model make_query(std::uint64_t seed, std::size_t number, model const& m) {
  query_model query;
  query.key = stream::fork(stream::fork(seed, documents_of), number);
  stream draw(stream::fork(stream::fork(seed, query_traits), number));
  query.richness = 0.5 + draw.unit();
  query.rounding = draw.unit();
  query.terms = 1 + std::floor(5 * draw.unit());
  for (field_model const& field : m.fields)
    query.presence.push_back(std::min(0.98, field.presence * (0.7 + 0.6 * draw.unit())));
  return query;
}

double at_least_0(double x) {
  return x > 0 ? x : 0;
}

/// Generates a document's features before scaling, none negative, as entries[0 .. features).
/// Returns its relevance. Long because the formulas of all statistics are one switch.
double draw_document(model const& m, query_model const& query, std::size_t d,
                     std::vector<double>& scratch, feature_value* entries) {
  stream draw(stream::fork(query.key, d));
  double const relevance = draw.bell(), topicality = draw.bell(), size = draw.bell();
  double const authority = 0.3 * relevance + 0.95393920141694566 * draw.bell();
  std::size_t const fields = m.fields.size();
  scratch.resize(3 * fields);
  double* const match = scratch.data();  // the field's latent match
  double* const found = match + fields;  // 1: it contains a query term
  double* const length = found + fields;
  for (std::size_t j = 0; j < fields; ++j) {
    field_model const& field = m.fields[j];
    match[j] =
        field.relevance * relevance + field.topicality * topicality + field.own * draw.bell();
    double const chance = draw.unit();
    double const rate = query.presence[j] + 0.07 * match[j];
    found[j] = chance < rate ? 1 : 0;
    double const root = at_least_0(2.2 + 0.6 * size + 0.8 * draw.bell());
    bool const written = chance < 0.5 + 0.5 * rate;
    length[j] = written ? 1 + root * root * root : 0;
  }
  for (std::size_t f = 0; f < m.features.size(); ++f) {
    feature_model const& feature = m.features[f];
    std::size_t const j = feature.field;
    double const own = feature.noise * draw.bell();
    double const y = feature.load * match[j] + own;
    double const z = feature.load * authority + own;
    double x = 0;
    switch (feature.kind) {
      case statistic::tf:
        x = found[j] * (1 + std::floor(0.7 * at_least_0(y + 1) * at_least_0(y + 1)));
        break;
      case statistic::tf_idf:
        x = found[j] * (0.05 + at_least_0(y + 1.8) * at_least_0(y + 1.8));
        break;
      case statistic::length:
        x = length[j] * (1 + 0.3 * own);
        break;
      case statistic::bm25:
        x = found[j] * (0.5 + at_least_0(y + 2.2));
        break;
      case statistic::language_model:
        x = found[j] * (0.2 + at_least_0(y + 3));
        break;
      case statistic::coverage:
        x = found[j] * (1 + std::floor(query.terms * std::min(0.999, at_least_0(y + 2) / 4)));
        break;
      case statistic::link_rank: {
        double const root = at_least_0(z + 1.5) * at_least_0(z + 1.5);
        x = root * root;
        break;
      }
      case statistic::in_links:
        x = std::floor(6 * at_least_0(z - 0.2) * at_least_0(z - 0.2));
        break;
      case statistic::url_depth:
        x = std::floor(std::min(6.0, at_least_0(z + 2.5)));
        break;
      case statistic::out_links:
        x = std::floor(8 * at_least_0(z + 1) * at_least_0(z + 1));
        break;
    }
    entries[f] = {static_cast<std::uint32_t>(f + 1), x};
  }
  return relevance;
}

/// Scales each feature of n documents to [0, 1], with six decimals.
void scale(feature_value* entries, std::size_t n, std::size_t features) {
  std::vector<double> low(features), span(features);
  for (std::size_t f = 0; f < features; ++f) low[f] = span[f] = entries[f].value;
  for (std::size_t d = 1; d < n; ++d)
    for (std::size_t f = 0; f < features; ++f) {
      double const x = entries[d * features + f].value;
      low[f] = std::min(low[f], x);
      span[f] = std::max(span[f], x);
    }
  for (std::size_t f = 0; f < features; ++f) span[f] -= low[f];
  for (std::size_t d = 0; d < n; ++d)
    for (std::size_t f = 0; f < features; ++f) {
      double& x = entries[d * features + f].value;
      x = span[f] > 0 ? std::floor((x - low[f]) / span[f] * decimals + 0.5) / decimals : 0;
    }
}

/// Assigns the largest labels to the most relevant documents.
void label(query_model const& query, std::span<double const> shares,
           std::span<double const> relevance, std::int32_t* labels) {
  std::size_t const n = relevance.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return relevance[a] != relevance[b] ? relevance[a] > relevance[b] : a < b;
  });
  double const total = std::accumulate(shares.begin(), shares.end(), 0.0);
  double tail = 0;
  std::size_t done = 0;
  for (std::size_t l = shares.size(); l-- > 1;) {
    tail += shares[l] / total;
    double const share = std::min(1.0, tail * query.richness);
    auto const end =
        std::min(n, static_cast<std::size_t>(static_cast<double>(n) * share + query.rounding));
    for (; done < end; ++done) labels[order[done]] = static_cast<std::int32_t>(l);
  }
  for (; done < n; ++done) labels[order[done]] = 0;
}

/// Returns the numbers of documents of a subset's queries: one each, and the rest by random weights
/// between a quarter of the mean and about three times the mean.
std::vector<std::size_t> query_sizes_of(std::uint64_t seed, set_size const& subset,
                                        std::size_t first_query) {
  __extension__ using wide = unsigned __int128;
  std::vector<std::uint64_t> until(subset.queries + 1, 0);
  std::uint64_t const key = stream::fork(seed, query_sizes);
  for (std::size_t q = 0; q < subset.queries; ++q) {
    stream draw(stream::fork(key, first_query + q));
    std::uint64_t const a = draw.next() >> 48, b = draw.next() >> 48;
    until[q + 1] = until[q] + (1U << 14) + 3 * ((a * b) >> 16);
  }
  std::vector<std::size_t> sizes(subset.queries);
  std::size_t const rest = subset.documents - subset.queries;
  auto const share = [&](std::size_t q) {
    return static_cast<std::size_t>(static_cast<wide>(rest) * until[q] / until.back());
  };
  for (std::size_t q = 0; q < subset.queries; ++q) sizes[q] = 1 + share(q + 1) - share(q);
  return sizes;
}

/// A query before its documents are generated.
struct plan {
  std::size_t number = 0;  ///< in the collection, from 0
  std::size_t size = 0;
};

std::vector<plan> plan_subsets(context const& ctx, sample_options const& options,
                               std::span<std::size_t const> subsets) {
  std::vector<plan> queries;
  for (std::size_t const subset : subsets) {
    if (subset >= options.subsets.size())
      throw usage_error(fmt::format("sample: found subset {}, expected less than {}", subset,
                                    options.subsets.size()));
    std::size_t first = 0;
    for (std::size_t p = 0; p < subset; ++p) first += options.subsets[p].queries;
    for (std::size_t const size : query_sizes_of(ctx.seed, options.subsets[subset], first))
      queries.push_back({first++, size});
  }
  return queries;
}

/// Returns how many of the first queries have about `entries` entries, at least one query.
std::size_t block_of(std::span<plan const> queries, std::size_t features, std::size_t entries) {
  std::size_t count = 0, sum = 0;
  while (count < queries.size() && (count == 0 || sum < entries))
    sum += queries[count++].size * features;
  return count;
}

/// Generates the planned queries at the end of data.
void draw_queries(context const& ctx, sample_options const& options, model const& m,
                  std::span<plan const> queries, dataset& data) {
  std::size_t const features = options.features;
  std::size_t const first = data.queries.size();
  for (plan const& query : queries) {
    std::size_t const begin = data.queries.empty() ? 0 : data.queries.back().end;
    data.queries.push_back({fmt::format("{}", query.number + 1), begin, begin + query.size});
  }
  std::size_t const documents = data.queries.back().end;
  data.labels.resize(documents);
  for (std::size_t d = data.row.size(); d <= documents; ++d) data.row.push_back(d * features);
  data.entries.resize(documents * features);
  parallel_for(ctx, queries.size(), 1, [&](std::size_t begin, std::size_t end, int) {
    std::vector<double> scratch, relevance;
    for (std::size_t q = begin; q < end; ++q) {
      query_group const& group = data.queries[first + q];
      query_model const query = make_query(ctx.seed, queries[q].number, m);
      feature_value* const entries = data.entries.data() + group.begin * features;
      relevance.resize(group.size());
      for (std::size_t d = 0; d < group.size(); ++d) {
        if (d % 1024 == 0) ctx.check_stop();
        relevance[d] = draw_document(m, query, d, scratch, entries + d * features);
      }
      scale(entries, group.size(), features);
      label(query, options.label_shares, relevance, data.labels.data() + group.begin);
    }
  });
}

void check(sample_options const& options) {
  if (options.features < 1 || options.features > most_features)
    throw usage_error(fmt::format("sample: found {} features, expected 1 to {}", options.features,
                                  most_features));
  double sum = 0;
  for (double const share : options.label_shares) {
    if (!(share >= 0))
      throw usage_error("sample: found a negative share of a label, expected 0 or more");
    sum += share;
  }
  if (!(sum > 0) || !std::isfinite(sum))
    throw usage_error("sample: found no label with a share, expected at least one");
  if (options.subsets.empty()) throw usage_error("sample: found no subsets, expected at least one");
  for (set_size const& subset : options.subsets)
    if (subset.queries < 1 || subset.documents < subset.queries)
      throw usage_error(fmt::format(
          "sample: {} share {} in a subset, expected at "
          "least one query and one document each",
          counted(subset.queries, "query", "queries"), counted(subset.documents, "document")));
}

void append_sample_line(dataset const& data, query_group const& query, std::size_t d,
                        std::string& text) {
  append_format(text, "{} qid:{}", data.labels[d], query.qid);
  for (feature_value const& entry : data.document(d)) {
    auto const value = static_cast<std::uint32_t>(entry.value * decimals + 0.5);
    append_format(text, " {}:{}.{:06}", entry.feature, value / 1000000, value % 1000000);
  }
  append_format(text, " #docid = {}-{}\n", query.qid, d - query.begin + 1);
}

}  // namespace

sample_options options_of(shape const& which) {
  sample_options options;
  options.features = which.features;
  options.label_shares.assign(which.label_shares.begin(), which.label_shares.end());
  options.folds = static_cast<std::size_t>(which.folds);
  std::size_t const shared = which.folds == 1 ? 1 : 3;  // subsets that form the training set
  for (std::size_t p = 0; p < shared; ++p)
    options.subsets.push_back(
        {which.train_documents * (p + 1) / shared - which.train_documents * p / shared,
         which.train_queries * (p + 1) / shared - which.train_queries * p / shared});
  options.subsets.push_back({which.vali_documents, which.vali_queries});
  options.subsets.push_back({which.test_documents, which.test_queries});
  return options;
}

sample_options options_of(std::size_t documents, std::uint32_t features, std::size_t queries,
                          std::uint32_t labels, std::size_t folds) {
  if (folds == 2 || folds == 0)
    throw usage_error(fmt::format("found {} folds, expected 1 (one split) or at least 3", folds));
  if (labels < 1 || labels > 16)
    throw usage_error(fmt::format("found {} labels, expected 1 to 16", labels));
  std::size_t const subsets = folds == 1 ? 3 : folds;
  if (queries == 0) queries = std::max((documents + 99) / 100, subsets);
  if (queries < subsets)
    throw usage_error(fmt::format("found {}, expected at least {}, one for each subset",
                                  counted(queries, "query", "queries"), subsets));
  if (documents < queries)
    throw usage_error(fmt::format("found {}, expected at least {}, one for each query",
                                  counted(documents, "document"), queries));
  constexpr std::size_t most_documents = std::size_t{1} << 40;
  if (documents > most_documents)
    throw usage_error(fmt::format("found {} documents, expected at most 2^40", documents));
  sample_options options;
  options.features = features;
  options.folds = folds;
  for (std::uint32_t l = 0; l < labels; ++l)
    options.label_shares.push_back(1.0 / static_cast<double>(std::uint64_t{1} << (2 * l)));
  // Ends of the subsets, in fifths for one split. Each subset has at least one query.
  std::vector<std::size_t> ends;
  for (std::size_t p = 1; p <= subsets; ++p)
    ends.push_back(folds == 1 ? std::array<std::size_t, 3>{3, 4, 5}[p - 1] : p);
  std::size_t const whole = ends.back();
  std::size_t documents_before = 0, queries_before = 0;
  for (std::size_t p = 0; p < subsets; ++p) {
    std::size_t const left = subsets - 1 - p;  // later subsets
    std::size_t const queries_until =
        std::clamp(queries * ends[p] / whole, queries_before + 1, queries - left);
    std::size_t const documents_until =
        std::clamp(documents * ends[p] / whole, documents_before + queries_until - queries_before,
                   documents - (queries - queries_until));
    options.subsets.push_back({documents_until - documents_before, queries_until - queries_before});
    documents_before = documents_until;
    queries_before = queries_until;
  }
  check(options);
  return options;
}

dataset sample_subsets(context const& ctx, sample_options const& options,
                       std::span<std::size_t const> subsets) {
  check(options);
  model const m = make_model(options.features);
  std::vector<plan> const queries = plan_subsets(ctx, options, subsets);
  std::size_t documents = 0;
  for (plan const& query : queries) documents += query.size;
  dataset data;
  data.name = "sample";
  data.labels.reserve(documents);
  data.queries.reserve(queries.size());
  data.row.reserve(documents + 1);
  data.entries.reserve(documents * options.features);
  std::span<plan const> rest = queries;
  while (!rest.empty()) {
    std::size_t const count = block_of(rest, options.features, std::size_t{1} << 22);
    draw_queries(ctx, options, m, rest.first(count), data);
    rest = rest.subspan(count);
    ctx.report("sample", data.size(), documents);
  }
  return data;
}

dataset sample_documents(context const& ctx, sample_options const& options) {
  std::vector<std::size_t> all(options.subsets.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return sample_subsets(ctx, options, all);
}

sampled_fold sample_fold(context const& ctx, shape const& which) {
  sample_options const options = options_of(which);
  fold_subsets const roles = letor_rotation(0, options.subsets.size());
  return {sample_subsets(ctx, options, roles.train),
          sample_subsets(ctx, options, std::array{roles.test})};
}

std::vector<written_fold> write_sample(context const& ctx, sample_options const& options,
                                       std::string const& folder) {
  check(options);
  if (options.folds < 1 || options.folds > options.subsets.size())
    throw usage_error(fmt::format("sample: {} of {}", counted(options.folds, "fold"),
                                  counted(options.subsets.size(), "subset")));
  model const m = make_model(options.features);
  std::uint64_t done = 0, total = 0;
  for (set_size const& subset : options.subsets) total += subset.documents * options.folds;
  std::vector<std::string> texts;
  auto const write_set = [&](std::span<std::size_t const> subsets, output_file& out) {
    set_size size;
    for (std::size_t const subset : subsets) {
      size.documents += options.subsets[subset].documents;
      size.queries += options.subsets[subset].queries;
    }
    std::vector<plan> const queries = plan_subsets(ctx, options, subsets);
    std::span<plan const> rest = queries;
    while (!rest.empty()) {
      std::size_t const count = block_of(rest, options.features, std::size_t{1} << 20);
      dataset data;
      draw_queries(ctx, options, m, rest.first(count), data);
      rest = rest.subspan(count);
      texts.resize(std::max(texts.size(), count));
      parallel_for(ctx, count, 1, [&](std::size_t begin, std::size_t end, int) {
        for (std::size_t q = begin; q < end; ++q) {
          texts[q].clear();
          for (std::size_t d = data.queries[q].begin; d < data.queries[q].end; ++d) {
            if (d % 1024 == 0) ctx.check_stop();
            append_sample_line(data, data.queries[q], d, texts[q]);
          }
        }
      });
      for (std::size_t q = 0; q < count; ++q) out.write(texts[q]);
      done += data.size();
      ctx.report("sample", done, total);
    }
    return size;
  };
  std::vector<written_fold> written;
  for (std::size_t fold = 0; fold < options.folds; ++fold) {
    fold_subsets const roles = letor_rotation(fold, options.subsets.size());
    std::string const place = make_fold_folder(folder, fold);
    output_file train(place + "/train.txt"), vali(place + "/vali.txt"), test(place + "/test.txt");
    written_fold& sizes = written.emplace_back(written_fold{place, {}, {}, {}});
    sizes.train = write_set(roles.train, train);
    sizes.vali = write_set(std::array{roles.vali}, vali);
    sizes.test = write_set(std::array{roles.test}, test);
    for (output_file* const file : {&train, &vali, &test}) file->flush();
    for (output_file* const file : {&train, &vali, &test}) file->commit();
  }
  return written;
}

}  // namespace rulerank::datasets
