#include "knn/text/collection_counts.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace rulerank::knn {

namespace {

/// A column as a term, see text_index.
std::string term_of(std::uint32_t column) {
  return {static_cast<char>(column >> 24), static_cast<char>(column >> 16),
          static_cast<char>(column >> 8), static_cast<char>(column)};
}

counted_document values_of(std::span<datasets::feature_value const> vector) {
  counted_document counted;
  counted.terms.reserve(vector.size());
  for (auto const& [column, value] : vector) counted.terms.emplace_back(term_of(column), value);
  return counted;
}

/// Calls take(term) for the terms of a text; the words that they come of are added to `seen`
/// unless it is null.
template <class Take>
void for_each_term(analyzer& words, std::string_view text, std::vector<std::string>* seen,
                   Take const& take) {
  if (seen == nullptr) return words.analyze(text, take);
  words.analyze_words(text, [&](std::string_view word, std::string_view term) {
    seen->emplace_back(word);
    if (!term.empty()) take(term);
  });
}

void keep_different(std::vector<std::string>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

counted_document count_terms(analyzer& words, datasets::text_document const& document,
                             bool with_words) {
  std::vector<std::string> terms;
  counted_document counted;
  for (datasets::text_field const& field : document.fields)
    for_each_term(words, field.text, with_words ? &counted.words : nullptr,
                  [&](std::string_view term) { terms.emplace_back(term); });
  keep_different(counted.words);
  std::sort(terms.begin(), terms.end());
  for (std::string& term : terms)
    if (!counted.terms.empty() && counted.terms.back().first == term)
      ++counted.terms.back().second;
    else
      counted.terms.emplace_back(std::move(term), 1);
  return counted;
}

/// The same, and for each field with a name. Fields of one name are one field.
counted_document count_terms_of_fields(analyzer& words, datasets::text_document const& document,
                                       bool with_words) {
  constexpr std::size_t without_name = std::numeric_limits<std::size_t>::max();
  counted_document counted;
  std::vector<std::pair<std::string, std::size_t>> terms;  // with their fields
  for (datasets::text_field const& field : document.fields) {
    std::size_t of = without_name;
    if (!field.name.empty()) {
      auto const known = std::ranges::find(counted.fields, std::string_view(field.name),
                                           &counted_document::field::name);
      of = static_cast<std::size_t>(known - counted.fields.begin());
      if (of == counted.fields.size()) counted.fields.push_back({field.name, {}});
    }
    for_each_term(words, field.text, with_words ? &counted.words : nullptr,
                  [&](std::string_view term) { terms.emplace_back(term, of); });
  }
  keep_different(counted.words);
  std::sort(terms.begin(), terms.end());
  for (auto& [term, of] : terms) {
    if (counted.terms.empty() || counted.terms.back().first != term)
      counted.terms.emplace_back(std::move(term), 0);
    ++counted.terms.back().second;
    if (of == without_name) continue;
    auto const last = static_cast<std::uint32_t>(counted.terms.size() - 1);
    std::vector<term_count>& counts = counted.fields[of].counts;
    if (counts.empty() || counts.back().term != last) counts.push_back({last, 0});
    ++counts.back().count;
  }
  return counted;
}

/// Calls take(documents) for groups of a collection's documents, in order.
void read_in_groups(context const& ctx, collection_source const& collection,
                    text_index_options const& options,
                    std::function<void(std::span<datasets::text_document const>)> const& take) {
  constexpr std::size_t most_documents = 1024;
  if (collection.documents) {
    auto rest = *collection.documents;
    for (; !rest.empty(); rest = rest.subspan(std::min(most_documents, rest.size())))
      take(rest.first(std::min(most_documents, rest.size())));
    return;
  }
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  std::vector<datasets::text_document> group;
  std::size_t bytes = 0;
  auto const flush = [&] {
    take(group);
    group.clear();
    bytes = 0;
  };
  datasets::read_documents(
      ctx, collection.name, options.format,
      [&](datasets::text_document&& document) {
        for (auto const& field : document.fields) bytes += field.text.size();
        bytes += document.vector.size() * sizeof(datasets::feature_value);
        group.push_back(std::move(document));
        if (group.size() >= most_documents || bytes >= most_bytes) flush();
      },
      options.reading);
  if (!group.empty()) flush();
}

}  // namespace

document_counter::document_counter(context const& ctx, text_index_options const& options,
                                   counting what)
    : what_(what), words_(options.dictionary) {
  if (!holds_vectors(options))
    of_thread_.assign(static_cast<std::size_t>(ctx.thread_count()), analyzer(options.analyzer));
}

std::vector<counted_document> document_counter::count(
    context const& ctx, std::span<datasets::text_document const> documents) {
  std::vector<counted_document> counted(documents.size());
  parallel_for(ctx, documents.size(), 16, [&](std::size_t begin, std::size_t end, int thread) {
    for (std::size_t d = begin; d < end; ++d) {
      if (of_thread_.empty()) {
        counted[d] = values_of(documents[d].vector);
        continue;
      }
      analyzer& words = of_thread_[static_cast<std::size_t>(thread)];
      counted[d] = what_ == counting::documents
                       ? count_terms(words, documents[d], words_)
                       : count_terms_of_fields(words, documents[d], words_);
    }
  });
  return counted;
}

sparse_matrix& collection_counts::counts_of_field(std::string_view name) {
  auto of = std::ranges::find(fields, name, &field_counts::name);
  if (of == fields.end()) of = fields.insert(of, {std::string(name), {}});
  return of->counts;
}

void collection_counts::add(datasets::text_document const& document, counted_document& counted) {
  if (documents() >= std::numeric_limits<std::uint32_t>::max() - 2)
    throw usage_error("more documents than 32 bits number");
  std::size_t const before = documents();
  ids.push(document.id);
  auto const [label, is_new] =
      labels_.emplace(document.label, static_cast<std::uint32_t>(labels_.size()));
  if (is_new) label_names.push(document.label);
  label_of.push_back(label->second);
  row_.clear();
  for (auto& [term, count] : counted.terms) {
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
  for (std::string& word : counted.words) ++documents_of[std::move(word)];
  for (counted_document::field const& field : counted.fields) {
    sparse_matrix& counts = counts_of_field(field.name);
    // Empty rows for the documents since the last one that has the field.
    counts.begin.resize(before + 1, counts.begin.back());
    for (auto const& [term, count] : field.counts) {
      counts.term.push_back(row_[term].term);
      counts.weight.push_back(count);
    }
    counts.begin.push_back(counts.term.size());
  }
}

void collection_counts::finish() {
  for (field_counts& field : fields)
    field.counts.begin.resize(documents() + 1, field.counts.begin.back());
}

void count_collection(context const& ctx, collection_source const& collection,
                      text_index_options const& options, counting what, collection_counts& counts) {
  document_counter counter(ctx, options, what);
  read_in_groups(ctx, collection, options, [&](std::span<datasets::text_document const> documents) {
    std::vector<counted_document> counted = counter.count(ctx, documents);
    for (std::size_t d = 0; d < documents.size(); ++d) counts.add(documents[d], counted[d]);
    ctx.report("read documents", counts.documents(), 0);
  });
  counts.finish();
  if (std::ranges::find(counts.fields, whole_document, &field_counts::name) != counts.fields.end())
    throw_reserved_field(collection.name);
}

void throw_reserved_field(std::string const& collection) {
  throw error({collection, 1, 1},
              fmt::format("a field is named '{}', which is the name of all fields together",
                          whole_document));
}

}  // namespace rulerank::knn
