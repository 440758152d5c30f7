#include "knn/text/text_index.hpp"

#include "core/aligned.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "datasets/text_source.hpp"
#include "knn/text/count_spill.hpp"
#include "knn/text/index_layout.hpp"
#include "knn/text/stop_words.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rulerank::knn {

namespace {

static_assert(datasets::largest_value <= largest_weight, "vectors that are read can be searched");

/// Terms of a document in byte order, each once, with their counts.
using counted_terms = std::vector<std::pair<std::string, double>>;

/// A column as a term, see text_index.
std::string term_of(std::uint32_t column) {
  return {static_cast<char>(column >> 24), static_cast<char>(column >> 16),
          static_cast<char>(column >> 8), static_cast<char>(column)};
}

counted_terms terms_of(std::span<datasets::feature_value const> vector) {
  counted_terms terms;
  terms.reserve(vector.size());
  for (auto const& [column, value] : vector) terms.emplace_back(term_of(column), value);
  return terms;
}

counted_terms count_terms(analyzer& words, datasets::text_document const& document) {
  std::vector<std::string> terms;
  for (datasets::text_field const& field : document.fields)
    words.analyze(field.text, [&](std::string_view term) { terms.emplace_back(term); });
  std::sort(terms.begin(), terms.end());
  counted_terms counted;
  for (std::string& term : terms)
    if (!counted.empty() && counted.back().first == term)
      ++counted.back().second;
    else
      counted.emplace_back(std::move(term), 1);
  return counted;
}

/// Analyzers of the threads; none for vectors.
class analyzers {
 public:
  analyzers(context const& ctx, text_index_options const& options) {
    if (!holds_vectors(options))
      of_thread_.assign(static_cast<std::size_t>(ctx.thread_count()), analyzer(options.analyzer));
  }
  std::vector<counted_terms> count(context const& ctx,
                                   std::span<datasets::text_document const> documents) {
    std::vector<counted_terms> counted(documents.size());
    parallel_for(ctx, documents.size(), 16, [&](std::size_t begin, std::size_t end, int thread) {
      for (std::size_t d = begin; d < end; ++d)
        counted[d] = of_thread_.empty()
                         ? terms_of(documents[d].vector)
                         : count_terms(of_thread_[static_cast<std::size_t>(thread)], documents[d]);
    });
    return counted;
  }

 private:
  std::vector<analyzer> of_thread_;
};

struct string_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
};

/// Strings one behind the other.
struct string_store {
  std::vector<char> bytes;
  std::vector<std::uint64_t> begin{0};
  void push(std::string_view s) {
    bytes.insert(bytes.end(), s.begin(), s.end());
    begin.push_back(bytes.size());
  }
};

/// A collection that was read once: its terms in the order in which they came.
struct read_collection {
  boost::unordered_flat_map<std::string, std::uint32_t, string_hash, std::equal_to<>> number_of;
  std::vector<std::uint32_t> document_frequency;
  std::vector<double> collection_frequency;
  string_store ids, label_names;
  std::vector<std::uint32_t> label_of;
  count_spill rows;

  explicit read_collection(std::size_t counts_in_memory) : rows(counts_in_memory) {}

  void add(datasets::text_document const& document, counted_terms& terms) {
    if (rows.rows() >= std::numeric_limits<std::uint32_t>::max() - 2)
      throw usage_error("more documents than 32 bits number");
    ids.push(document.id);
    auto const [label, is_new] =
        labels_.emplace(document.label, static_cast<std::uint32_t>(labels_.size()));
    if (is_new) label_names.push(document.label);
    label_of.push_back(label->second);
    row_.clear();
    for (auto& [term, count] : terms) {
      auto found = number_of.find(term);
      if (found == number_of.end()) {
        found =
            number_of.emplace(std::move(term), static_cast<std::uint32_t>(number_of.size())).first;
        document_frequency.push_back(0);
        collection_frequency.push_back(0);
      }
      ++document_frequency[found->second];
      collection_frequency[found->second] += count;
      row_.push_back({found->second, count});
    }
    rows.append(row_);
  }

 private:
  std::map<std::string, std::uint32_t> labels_;
  std::vector<term_count> row_;
};

/// Calls take(documents, their terms) for pieces of a collection, in order.
void read_in_pieces(context const& ctx, std::string const& path, text_index_options const& options,
                    std::function<void(std::span<datasets::text_document const>,
                                       std::span<counted_terms>)> const& take) {
  constexpr std::size_t most_documents = 1024;
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  analyzers words(ctx, options);
  std::vector<datasets::text_document> piece;
  std::size_t bytes = 0;
  auto const flush = [&] {
    std::vector<counted_terms> counted = words.count(ctx, piece);
    take(piece, counted);
    piece.clear();
    bytes = 0;
  };
  datasets::read_documents(
      ctx, path, options.format,
      [&](datasets::text_document&& document) {
        for (auto const& field : document.fields) bytes += field.text.size();
        bytes += document.vector.size() * sizeof(datasets::feature_value);
        piece.push_back(std::move(document));
        if (piece.size() >= most_documents || bytes >= most_bytes) flush();
      },
      options.reading);
  if (!piece.empty()) flush();
}

void check(text_index_options const& options) {
  if (!(options.max_share > 0 && options.max_share <= 1))
    throw usage_error(
        fmt::format("the largest share of documents that have a term: found {}, "
                    "expected above 0 and at most 1",
                    options.max_share));
  if (holds_vectors(options) && options.weighting.how == weighting::bm25)
    throw usage_error("found weighting 'bm25' of vectors, expected none, tf-idf");
  check(options.weighting);
  analyzer const valid(options.analyzer);
}

/// With the words of a stop list that lies in a file: it is read once, and an index keeps it.
text_index_options with_stop_words(text_index_options options) {
  std::string& list = options.analyzer.stop_words;
  if (list.starts_with("file:")) list = fmt::format("words:{}", fmt::join(stop_words(list), " "));
  return options;
}

nlohmann::ordered_json to_json(text_index_options const& options) {
  analyzer_options const& words = options.analyzer;
  return {{"analyzer",
           {{"fold", words.fold},
            {"stop_words", words.stop_words},
            {"stemmer", words.stemmer},
            {"min_length", words.min_length},
            {"max_length", words.max_length},
            {"keep_numbers", words.keep_numbers}}},
          {"weighting",
           {{"how", name_of(options.weighting.how)},
            {"k1", options.weighting.k1},
            {"b", options.weighting.b}}},
          {"min_documents", options.min_documents},
          {"max_share", options.max_share},
          {"vectors", holds_vectors(options)}};
}

std::size_t count_at(nlohmann::json const& json, std::string_view name) {
  nlohmann::json const& value = json.at(name);
  if (!value.is_number_unsigned())
    throw usage_error(fmt::format("found {} {}, expected a count", name, value.dump()));
  return value.get<std::size_t>();
}

/// What `to_json` wrote. Throws for anything else.
text_index_options options_from(nlohmann::json const& json) {
  text_index_options options;
  nlohmann::json const& words = json.at("analyzer");
  options.analyzer.fold = words.at("fold").get<bool>();
  options.analyzer.stop_words = words.at("stop_words").get<std::string>();
  options.analyzer.stemmer = words.at("stemmer").get<std::string>();
  options.analyzer.min_length = count_at(words, "min_length");
  options.analyzer.max_length = count_at(words, "max_length");
  options.analyzer.keep_numbers = words.at("keep_numbers").get<bool>();
  options.weighting.how = weighting_from(json.at("weighting").at("how").get<std::string>());
  options.weighting.k1 = json.at("weighting").at("k1").get<double>();
  options.weighting.b = json.at("weighting").at("b").get<double>();
  options.min_documents = count_at(json, "min_documents");
  options.max_share = json.at("max_share").get<double>();
  if (json.value("vectors", false)) options.format = datasets::text_format::svmlight;
  // Its words are in the index; the program of another build may not have the stemmer.
  if (options.analyzer.stop_words.starts_with("file:"))
    throw usage_error("found a stop list in a file, expected its words");
  check(options);
  return options;
}

/// Reads a collection and writes its index into the bytes that `room(size)` gives.
text_index_timings build_index(context const& ctx, std::string const& path,
                               text_index_options const& given,
                               std::function<std::span<std::byte>(std::size_t)> const& room) {
  text_index_options const options = with_stop_words(given);
  check(options);
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  read_collection read(options.counts_in_memory);
  read_in_pieces(ctx, path, options, [&](auto documents, auto terms) {
    for (std::size_t d = 0; d < documents.size(); ++d) read.add(documents[d], terms[d]);
    ctx.report("read", read.rows.rows(), 0);
  });
  std::size_t const documents = read.rows.rows();
  auto const was_read = clock::now();

  // The terms that stay, in byte order.
  std::vector<std::string_view> text_of(read.number_of.size());
  for (auto const& [text, number] : read.number_of) text_of[number] = text;
  std::vector<std::uint32_t> kept;
  for (std::uint32_t t = 0; t < text_of.size(); ++t) {
    std::uint32_t const df = read.document_frequency[t];
    // 29 of 100 are 0.29, though 0.29 times 100 is below 29.
    if (df >= options.min_documents && df / static_cast<double>(documents) <= options.max_share)
      kept.push_back(t);
  }
  std::sort(kept.begin(), kept.end(),
            [&](std::uint32_t a, std::uint32_t b) { return text_of[a] < text_of[b]; });
  constexpr std::uint32_t dropped = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> number(text_of.size(), dropped);
  term_statistics statistics;
  statistics.documents = documents;
  double words = 0;
  string_store terms;
  for (std::uint32_t const t : kept) {
    number[t] = static_cast<std::uint32_t>(statistics.document_frequency.size());
    statistics.document_frequency.push_back(read.document_frequency[t]);
    words += read.collection_frequency[t];
    terms.push(text_of[t]);
  }
  statistics.mean_length =
      documents == 0 || holds_vectors(options) ? 0 : words / static_cast<double>(documents);

  // Calls take(rows) for the weighed rows, piece by piece.
  auto const weigh_rows = [&](auto&& take) {
    constexpr std::size_t together = 8192;
    sparse_matrix counts;
    counts.terms = static_cast<std::uint32_t>(kept.size());
    auto const weigh = [&] {
      take(weigh_documents(counts, statistics, options.weighting));
      counts.begin = {0};
      counts.term.clear();
      counts.weight.clear();
    };
    std::vector<term_count> row;
    read.rows.read([&](std::span<term_count const> of) {
      row.clear();
      for (term_count const& c : of)
        if (number[c.term] != dropped) row.push_back({number[c.term], c.count});
      std::sort(row.begin(), row.end(),
                [](term_count const& a, term_count const& b) { return a.term < b.term; });
      for (term_count const& c : row) {
        counts.term.push_back(c.term);
        counts.weight.push_back(c.count);
      }
      counts.begin.push_back(counts.term.size());
      if (counts.size() == together) weigh();
    });
    weigh();
  };
  std::uint64_t postings = 0;
  if (holds_vectors(options)) {
    // Values may be so small that they weigh nothing, or too large.
    weigh_rows([&](sparse_matrix const& weighed) {
      for (double const w : weighed.weight)
        if (std::abs(w) > largest_weight)
          throw error({datasets::display_name(path), 0, 0},
                      fmt::format("found a value that tf-idf makes {}, expected at most {}", w,
                                  largest_weight));
      postings += weighed.term.size();
    });
  } else {
    // A term of all documents weighs nothing under tf-idf.
    for (std::uint32_t const df : statistics.document_frequency)
      if (options.weighting.how != weighting::tf_idf || df != documents) postings += df;
  }

  nlohmann::ordered_json what{{"documents", documents},
                              {"terms", kept.size()},
                              {"postings", postings},
                              {"mean_length", statistics.mean_length}};
  what.update(to_json(options));
  index_layout const layout({terms.bytes.size(), 8 * terms.begin.size(), read.ids.bytes.size(),
                             8 * read.ids.begin.size(), read.label_names.bytes.size(),
                             8 * read.label_names.begin.size(), 4 * documents, 4 * kept.size(),
                             8 * (documents + 1), 4 * postings, 8 * postings, 8 * documents,
                             8 * (kept.size() + 1), 4 * postings, 8 * postings});
  // What the header may take, whatever its checksums will be.
  std::size_t const header_room = round_up(what.dump().size() + 4096, alignment);
  std::span<std::byte> const bytes = room(layout.end() + header_room);
  auto const put = [&](section s, auto const& values) {
    if (!values.empty())
      std::memcpy(layout.of(bytes, s).data(), values.data(),
                  values.size() * sizeof(values.front()));
  };
  put(section::terms, terms.bytes);
  put(section::term_begin, terms.begin);
  put(section::ids, read.ids.bytes);
  put(section::id_begin, read.ids.begin);
  put(section::label_names, read.label_names.bytes);
  put(section::label_begin, read.label_names.begin);
  put(section::label_of, read.label_of);
  put(section::document_frequency, statistics.document_frequency);

  auto const row_begin = layout.of<std::uint64_t>(bytes, section::row_begin);
  auto const row_term = layout.of<std::uint32_t>(bytes, section::row_term);
  auto const row_weight = layout.of<double>(bytes, section::row_weight);
  std::size_t done = 0;
  std::uint64_t at = 0;
  weigh_rows([&](sparse_matrix const& weighed) {
    std::copy(weighed.term.begin(), weighed.term.end(), row_term.data() + at);
    std::copy(weighed.weight.begin(), weighed.weight.end(), row_weight.data() + at);
    for (std::size_t r = 0; r < weighed.size(); ++r)
      row_begin[done + r + 1] = at + weighed.begin[r + 1];
    at += weighed.term.size();
    done += weighed.size();
    ctx.report("index", done, documents);
  });
  fill_lists(ctx, {row_begin, row_term, row_weight, static_cast<std::uint32_t>(kept.size())},
             {layout.of<double>(bytes, section::norms),
              layout.of<std::uint64_t>(bytes, section::list_begin),
              layout.of<std::uint32_t>(bytes, section::list_document),
              layout.of<double>(bytes, section::list_weight)});
  std::string header = index_header(ctx, layout, bytes, what);
  header.resize(header_room, ' ');
  finish_index(bytes, layout, header);
  auto const seconds = [](clock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  return {seconds(was_read - begin), seconds(clock::now() - was_read)};
}

std::shared_ptr<std::byte> mapped(void* at, std::size_t bytes) {
  return {static_cast<std::byte*>(at), [bytes](std::byte* p) { ::munmap(p, bytes); }};
}

/// Whether begins ascend from 0 to `end`.
bool ascends(std::span<std::uint64_t const> begin, std::uint64_t end) {
  return !begin.empty() && begin.front() == 0 && begin.back() == end &&
         std::is_sorted(begin.begin(), begin.end());
}

}  // namespace

std::optional<std::size_t> string_table::find(std::string_view s) const {
  std::size_t low = 0;
  for (std::size_t high = size(); low < high;) {
    std::size_t const middle = (low + high) / 2;
    if ((*this)[middle] < s)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == size() || (*this)[low] != s) return std::nullopt;
  return low;
}

text_index text_index::build(context const& ctx, std::string const& collection,
                             text_index_options const& options) {
  std::shared_ptr<std::byte> owner;
  std::span<std::byte> bytes;
  auto const timings = build_index(ctx, collection, options, [&](std::size_t size) {
    void* const at =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    owner = mapped(at, size);
    bytes = {owner.get(), size};
    return bytes;
  });
  text_index index = of_bytes(ctx, bytes, owner, collection);
  index.timings_ = timings;
  return index;
}

text_index_timings text_index::build(context const& ctx, std::string const& collection,
                                     text_index_options const& options, output_file& file) {
  return build_index(ctx, collection, options, [&](std::size_t size) { return file.map(size); });
}

text_index text_index::open(context const& ctx, std::string const& path) {
  auto const fail = [&](std::string const& what) { throw error({path, 0, 0}, what); };
  int const descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  struct stat status {};
  ::fstat(descriptor, &status);
  auto const size = static_cast<std::size_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || size == 0) {
    ::close(descriptor);
    if (S_ISREG(status.st_mode))
      throw error({path, 1, 1}, "found an empty file, expected an index");
    fail(S_ISDIR(status.st_mode)
             ? "is a folder, expected a file"
             : "found no regular file, expected an index: it is mapped, not read");
  }
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  int const reason = errno;
  ::close(descriptor);
  if (at == MAP_FAILED) fail(fmt::format("cannot be mapped: {}", std::strerror(reason)));
  std::shared_ptr<std::byte> const owner = mapped(at, size);
  return of_bytes(ctx, {owner.get(), size}, owner, path);
}

text_index text_index::of_bytes(context const& ctx, std::span<std::byte const> bytes,
                                std::shared_ptr<void const> owner, std::string const& name) {
  read_index const read = check_index(ctx, bytes, name);
  auto const characters = [&](section s) { return read.of<char>(s); };
  auto const numbers = [&](section s) { return read.of<std::uint64_t>(s); };
  sparse_index_parts parts;
  parts.documents = {numbers(section::row_begin), read.of<std::uint32_t>(section::row_term),
                     read.of<double>(section::row_weight), 0};
  parts.norms = read.of<double>(section::norms);
  parts.list_begin = numbers(section::list_begin);
  parts.list_document = read.of<std::uint32_t>(section::list_document);
  parts.list_weight = read.of<double>(section::list_weight);
  text_index index{sparse_index(parts, nullptr)};
  index.terms_ = {characters(section::terms), numbers(section::term_begin)};
  index.ids_ = {characters(section::ids), numbers(section::id_begin)};
  index.label_names_ = {characters(section::label_names), numbers(section::label_begin)};
  index.label_of_ = read.of<std::uint32_t>(section::label_of);
  auto const frequencies = read.of<std::uint32_t>(section::document_frequency);
  std::size_t const documents = parts.documents.size();
  std::size_t const terms = index.terms_.size();
  try {
    index.options_ = options_from(read.header);
    index.statistics_.documents = count_at(read.header, "documents");
    index.statistics_.mean_length = read.header.at("mean_length").get<double>();
    index.statistics_.document_frequency.assign(frequencies.begin(), frequencies.end());
    parts.documents.terms = static_cast<std::uint32_t>(terms);
    // The checksums say that these are the bytes that were written; this, that they fit together.
    bool const fits = index.statistics_.documents == documents && frequencies.size() == terms &&
                      count_at(read.header, "terms") == terms &&
                      count_at(read.header, "postings") == parts.documents.term.size() &&
                      index.statistics_.mean_length >= 0 &&
                      std::isfinite(index.statistics_.mean_length) &&
                      ascends(index.terms_.begin, index.terms_.bytes.size()) &&
                      ascends(index.ids_.begin, index.ids_.bytes.size()) &&
                      ascends(index.label_names_.begin, index.label_names_.bytes.size()) &&
                      index.ids_.size() == documents && index.label_of_.size() == documents &&
                      ascends(parts.documents.begin, parts.documents.term.size()) &&
                      parts.documents.weight.size() == parts.documents.term.size() &&
                      parts.norms.size() == documents && parts.list_begin.size() == terms + 1 &&
                      ascends(parts.list_begin, parts.documents.term.size()) &&
                      parts.list_document.size() == parts.documents.term.size() &&
                      parts.list_weight.size() == parts.documents.term.size() &&
                      std::all_of(parts.list_document.begin(), parts.list_document.end(),
                                  [&](std::uint32_t d) { return d < documents; }) &&
                      std::all_of(parts.list_weight.begin(), parts.list_weight.end(),
                                  [](double w) { return std::abs(w) <= largest_weight; }) &&
                      std::all_of(parts.norms.begin(), parts.norms.end(),
                                  [](double norm) { return norm >= 0 && std::isfinite(norm); }) &&
                      std::all_of(index.label_of_.begin(), index.label_of_.end(),
                                  [&](std::uint32_t l) { return l < index.label_names_.size(); });
    if (!fits) throw error({name, 1, 1}, "the sections of this index do not fit together");
    check(parts.documents, "documents of the index");
  } catch (nlohmann::json::exception const& e) {
    throw error({name, 1, 1}, fmt::format("the header of this index is not right: {}", e.what()));
  } catch (usage_error const& e) {
    throw error({name, 1, 1}, fmt::format("this index is not right: {}", e.what()));
  }
  index.index_ = sparse_index(parts, std::move(owner));
  return index;
}

sparse_matrix text_index::counts(context const& ctx,
                                 std::span<datasets::text_document const> documents) const {
  std::vector<counted_terms> const counted = analyzers(ctx, options_).count(ctx, documents);
  sparse_matrix rows;
  rows.terms = static_cast<std::uint32_t>(terms_.size());
  for (counted_terms const& of : counted) {
    for (auto const& [term, count] : of) {
      std::optional<std::size_t> const found = terms_.find(term);
      if (!found) continue;
      rows.term.push_back(static_cast<std::uint32_t>(*found));
      rows.weight.push_back(count);
    }
    rows.begin.push_back(rows.term.size());
  }
  return rows;
}

sparse_matrix text_index::queries(context const& ctx,
                                  std::span<datasets::text_document const> documents) const {
  return weigh_queries(counts(ctx, documents), statistics_, options_.weighting);
}

}  // namespace rulerank::knn
