#include "knn/text/index_writer.hpp"

#include "core/aligned.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "datasets/input/text_source.hpp"
#include "knn/sparse/posting_lists.hpp"
#include "knn/text/collection_counts.hpp"
#include "knn/text/index_layout.hpp"
#include "knn/text/index_options.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

/// Converts the counts of a collection to the sections of an index.
class index_writer {
 public:
  index_writer(context const& ctx, std::string const& path, text_index_options const& options,
               collection_counts& counted)
      : ctx_(ctx), path_(path), options_(options), counted_(counted) {
    number_terms();
    if (options_.dictionary) list_words();
    std::uint64_t const postings = holds_vectors(options_) ? checked_postings() : postings_left();
    what_ = {{"documents", counted_.documents()}};
    if (counted_.others)
      what_.update({{"first", counted_.others->first}, {"of_documents", statistics_.documents}});
    what_.update({{"terms", statistics_.document_frequency.size()},
                  {"postings", postings},
                  {"mean_length", statistics_.mean_length}});
    if (options_.dictionary) what_["words"] = words_.size();
    what_.update(to_json(options_));
    index_counts counts{.documents = counted_.documents(),
                        .terms = statistics_.document_frequency.size(),
                        .postings = postings,
                        .labels = counted_.label_names.size(),
                        .term_bytes = terms_.bytes.size(),
                        .id_bytes = counted_.ids.bytes.size(),
                        .label_bytes = counted_.label_names.bytes.size(),
                        .words = std::nullopt,
                        .word_bytes = words_.bytes.size()};
    if (options_.dictionary) counts.words = words_.size();
    layout_.emplace(sizes_of(counts), options_.dictionary, counted_.others.has_value());
    // An upper bound for the header with its checksums.
    header_size_ = round_up(what_.dump().size() + 4096, alignment);
  }

  std::size_t size() const noexcept { return layout_->end() + header_size_; }

  void write(std::span<std::byte> to) {
    put(to, section::terms, terms_.bytes);
    put(to, section::term_begin, terms_.begin);
    put(to, section::ids, counted_.ids.bytes);
    put(to, section::id_begin, counted_.ids.begin);
    put(to, section::label_names, counted_.label_names.bytes);
    put(to, section::label_begin, counted_.label_names.begin);
    put(to, section::label_of, counted_.label_of);
    put(to, section::document_frequency, statistics_.document_frequency);
    write_rows(to);
    if (options_.dictionary) {
      put(to, section::words, words_.bytes);
      put(to, section::word_begin, words_.begin);
      put(to, section::word_documents, word_documents_);
    }
    std::string header = index_header(ctx_, *layout_, to, what_);
    header.resize(header_size_, ' ');
    finish_index(to, *layout_, header);
  }

  /// Returns the counts of the fields and, last, of the whole documents, with the terms' numbers in
  /// the index.
  std::vector<field_counts> fields() {
    field_counts whole{std::string(whole_document), {}};
    for_counted_rows([&](sparse_matrix const& counts) {
      std::uint64_t const before = whole.counts.term.size();
      whole.counts.term.insert(whole.counts.term.end(), counts.term.begin(), counts.term.end());
      whole.counts.weight.insert(whole.counts.weight.end(), counts.weight.begin(),
                                 counts.weight.end());
      for (std::size_t d = 1; d < counts.begin.size(); ++d)
        whole.counts.begin.push_back(before + counts.begin[d]);
    });
    whole.counts.terms = static_cast<std::uint32_t>(statistics_.document_frequency.size());
    std::vector<field_counts> all = std::move(counted_.fields);
    parallel_for(ctx_, all.size(), 1,
                 [&](std::size_t f, std::size_t, int) { all[f].counts = numbered(all[f].counts); });
    all.push_back(std::move(whole));
    return all;
  }

 private:
  static constexpr std::uint32_t dropped = std::numeric_limits<std::uint32_t>::max();

  /// Numbers the remaining terms in byte order.
  void number_terms() {
    std::size_t const documents = counted_.documents_of_all();
    std::vector<std::string_view> text_of(counted_.number_of.size());
    for (auto const& [text, number] : counted_.number_of) text_of[number] = text;
    std::vector<std::uint32_t> kept;
    for (std::uint32_t t = 0; t < text_of.size(); ++t) {
      std::uint32_t const df = counted_.document_frequency[t];
      // 29 of 100 are 0.29, although 0.29 times 100 is below 29.
      if (df >= options_.min_documents && df / static_cast<double>(documents) <= options_.max_share)
        kept.push_back(t);
    }
    std::sort(kept.begin(), kept.end(),
              [&](std::uint32_t a, std::uint32_t b) { return text_of[a] < text_of[b]; });
    number_.assign(text_of.size(), dropped);
    statistics_.documents = documents;
    double words = 0;
    for (std::uint32_t const t : kept) {
      number_[t] = static_cast<std::uint32_t>(statistics_.document_frequency.size());
      statistics_.document_frequency.push_back(counted_.document_frequency[t]);
      if (counted_.others) documents_here_.push_back(counted_.others->frequency_here[t]);
      words += counted_.collection_frequency[t];
      terms_.push(text_of[t]);
    }
    statistics_.mean_length =
        documents == 0 || holds_vectors(options_) ? 0 : words / static_cast<double>(documents);
  }

  /// Words of a single document are mostly its own spelling mistakes.
  void list_words() {
    std::vector<std::string_view> kept;
    for (auto const& [word, documents] : counted_.documents_of)
      if (documents >= 2) kept.push_back(word);
    std::sort(kept.begin(), kept.end());
    for (std::string_view const word : kept) {
      words_.push(word);
      word_documents_.push_back(counted_.documents_of.find(word)->second);
    }
  }

  /// Appends a row of counts to a matrix, with the numbers of the remaining terms. `row`: scratch
  /// memory.
  void append_numbered(std::span<term_count const> of, std::vector<term_count>& row,
                       sparse_matrix& to) const {
    row.clear();
    for (term_count const& c : of)
      if (number_[c.term] != dropped) row.push_back({number_[c.term], c.count});
    std::sort(row.begin(), row.end(),
              [](term_count const& a, term_count const& b) { return a.term < b.term; });
    for (term_count const& c : row) {
      to.term.push_back(c.term);
      to.weight.push_back(c.count);
    }
    to.begin.push_back(to.term.size());
  }

  sparse_matrix numbered(sparse_matrix const& counts) const {
    sparse_matrix out;
    out.terms = static_cast<std::uint32_t>(statistics_.document_frequency.size());
    std::vector<term_count> from, row;
    for (std::size_t d = 0; d < counts.size(); ++d) {
      from.clear();
      for (std::uint64_t i = counts.begin[d]; i < counts.begin[d + 1]; ++i)
        from.push_back({counts.term[i], counts.weight[i]});
      append_numbered(from, row, out);
    }
    return out;
  }

  /// Calls take(counts) for the documents' counts, some thousand documents at a time.
  template <class Take>
  void for_counted_rows(Take&& take) {
    constexpr std::size_t together = 8192;
    sparse_matrix counts;
    counts.terms = static_cast<std::uint32_t>(statistics_.document_frequency.size());
    auto const flush = [&] {
      take(counts);
      counts.begin = {0};
      counts.term.clear();
      counts.weight.clear();
    };
    std::vector<term_count> row;
    counted_.rows.read([&](std::span<term_count const> of) {
      append_numbered(of, row, counts);
      if (counts.size() == together) flush();
    });
    flush();
  }
  /// Does this for the documents' weights.
  template <class Take>
  void for_weighed_rows(Take&& take) {
    for_counted_rows([&](sparse_matrix const& counts) {
      take(weigh_documents(counts, statistics_, options_.weighting));
    });
  }

  /// For vectors: values may be so small that their weight is 0, or too large.
  std::uint64_t checked_postings() {
    std::uint64_t postings = 0;
    for_weighed_rows([&](sparse_matrix const& weighed) {
      for (double const w : weighed.weight)
        if (std::abs(w) > largest_weight)
          throw error({datasets::display_name(path_), 0, 0},
                      fmt::format("found a value whose tf-idf weight is {}, expected at most {}", w,
                                  largest_weight));
      postings += weighed.term.size();
    });
    return postings;
  }
  /// For words: a term of all documents has weight 0 under tf-idf.
  std::uint64_t postings_left() const {
    std::uint64_t postings = 0;
    std::vector<std::uint32_t> const& of_all = statistics_.document_frequency;
    std::vector<std::uint32_t> const& here = counted_.others ? documents_here_ : of_all;
    for (std::size_t t = 0; t < of_all.size(); ++t)
      if (options_.weighting.how != weighting::tf_idf || of_all[t] != statistics_.documents)
        postings += here[t];
    return postings;
  }

  template <class Values>
  void put(std::span<std::byte> to, section s, Values const& values) const {
    if (!values.empty())
      std::memcpy(layout_->of(to, s).data(), values.data(), values.size() * sizeof(values.front()));
  }

  /// Writes rows, norms and posting lists.
  void write_rows(std::span<std::byte> to) {
    auto const row_begin = layout_->of<std::uint64_t>(to, section::row_begin);
    auto const row_term = layout_->of<std::uint32_t>(to, section::row_term);
    auto const row_weight = layout_->of<double>(to, section::row_weight);
    std::size_t done = 0;
    std::uint64_t at = 0;
    for_weighed_rows([&](sparse_matrix const& weighed) {
      std::copy(weighed.term.begin(), weighed.term.end(), row_term.data() + at);
      std::copy(weighed.weight.begin(), weighed.weight.end(), row_weight.data() + at);
      for (std::size_t r = 0; r < weighed.size(); ++r)
        row_begin[done + r + 1] = at + weighed.begin[r + 1];
      at += weighed.term.size();
      done += weighed.size();
      ctx_.report("index", done, counted_.documents());
    });
    auto const terms = static_cast<std::uint32_t>(statistics_.document_frequency.size());
    fill_lists(ctx_, {row_begin, row_term, row_weight, terms},
               {.norms = layout_->of<double>(to, section::norms),
                .list_begin = layout_->of<std::uint64_t>(to, section::list_begin),
                .list_document = layout_->of<std::uint32_t>(to, section::list_document),
                .list_weight = layout_->of<double>(to, section::list_weight)});
  }

  context const& ctx_;
  std::string const& path_;
  text_index_options const& options_;
  collection_counts& counted_;
  std::vector<std::uint32_t> number_;  // [terms in order of occurrence], or `dropped`
  term_statistics statistics_;
  std::vector<std::uint32_t> documents_here_;  // for a part: [terms] number of its documents
  string_store terms_, words_;
  std::vector<std::uint32_t> word_documents_;
  nlohmann::ordered_json what_;
  std::optional<index_layout> layout_;
  std::size_t header_size_ = 0;
};

}  // namespace

built_index build_index(context const& ctx, collection_source const& collection,
                        text_index_options const& given, index_build_settings const& settings,
                        std::function<std::span<std::byte>(std::size_t)> const& memory) {
  text_index_options const options = with_stop_words(given);
  check(options);
  if (settings.fields && holds_vectors(options))
    throw usage_error("found vectors, expected documents with fields");
  if (settings.group != nullptr && holds_vectors(options))
    throw usage_error("found vectors, expected documents of words for an index in parts");
  using clock = std::chrono::steady_clock;
  auto const seconds = [](clock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  auto const begin = clock::now();
  collection_counts counted(settings.counts_in_memory);
  count_collection(ctx, collection, options,
                   settings.fields ? counting::documents_and_fields : counting::documents, counted,
                   settings.group);
  auto const was_read = clock::now();
  index_writer writer(ctx, collection.name, options, counted);
  writer.write(memory(writer.size()));
  built_index built;
  if (settings.fields) {
    built.fields = writer.fields();
    built.sums = std::move(counted.sums);
  }
  built.timings = {seconds(was_read - begin), seconds(clock::now() - was_read)};
  return built;
}

}  // namespace rulerank::knn
