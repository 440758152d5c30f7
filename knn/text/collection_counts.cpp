#include "knn/text/collection_counts.hpp"

#include "core/bytes.hpp"
#include "core/error.hpp"
#include "core/even_ranges.hpp"
#include "core/parallel.hpp"
#include "core/process_group.hpp"
#include "datasets/text/text_sums.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

/// Returns a column as a term; see text_index.
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

/// Calls take(term) for the terms of a text; adds the words that they come from to `seen` unless it
/// is null.
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

/// Counts also the terms of each named field. Fields with the same name are one field.
counted_document count_terms_of_fields(analyzer& words, datasets::text_document const& document,
                                       bool with_words) {
  constexpr std::size_t without_name = std::numeric_limits<std::size_t>::max();
  counted_document counted;
  counted.sum = datasets::sum_of_text(document.fields);
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

/// Returns this process's share of the documents, which are read to count them.
index_range documents_of(context const& ctx, process_group const& group, std::string const& path,
                         text_index_options const& options) {
  datasets::text_options reading = options.reading;
  reading.warn = {};
  std::size_t documents = 0;
  datasets::read_documents(
      ctx, path, options.format, [&](datasets::text_document&&) { ++documents; }, reading);
  return own_range(group, documents);
}

/// Returns whether ids of different processes may be equal, because their hashes are.
bool have_equal_ids(process_group const& group, string_store const& ids) {
  constexpr std::size_t rounds = 16;  // a sixteenth of the hashes is in memory at a time
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::uint64_t> mine;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      std::uint64_t const hash = string_hash()(
          std::string_view(ids.bytes.data() + ids.begin[i], ids.begin[i + 1] - ids.begin[i]));
      if (hash % rounds == round) mine.push_back(hash);
    }
    std::vector<std::uint64_t> all = join(group, mine);
    std::sort(all.begin(), all.end());
    if (std::adjacent_find(all.begin(), all.end()) != all.end()) return true;
  }
  return false;
}

/// Returns whether any process has documents.
bool has_documents(process_group const& group, collection_counts const& counts) {
  auto const all = gather_values(group, counts.documents());
  return std::ranges::any_of(all, [](std::size_t documents) { return documents > 0; });
}

/// Calls take(documents) in order for groups of the documents in the range.
void read_in_groups(context const& ctx, collection_source const& collection,
                    text_index_options const& options, index_range range,
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
  std::size_t read = 0;
  datasets::read_documents(
      ctx, collection.name, options.format,
      [&](datasets::text_document&& document) {
        bool const is_here = read >= range.begin && read < range.end;
        ++read;
        if (!is_here) return;
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
    throw usage_error("found more documents than 32 bits can number");
  std::size_t const before = documents();
  ids.push(document.id);
  auto const [label, is_new] =
      labels_.emplace(document.label, static_cast<std::uint32_t>(labels_.size()));
  if (is_new) label_names.push(document.label);
  label_of.push_back(label->second);
  if (counted.sum) sums.push_back(*counted.sum);
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
    // Adds empty rows for the documents since the last one with this field.
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

void collection_counts::add_others(process_group const& group) {
  std::string mine;
  put(mine, documents());
  put(mine, number_of.size());
  for (auto const& [term, number] : number_of) {
    put(mine, term);
    put(mine, document_frequency[number]);
    put(mine, collection_frequency[number]);
  }
  put(mine, documents_of.size());
  for (auto const& [word, documents] : documents_of) {
    put(mine, word);
    put(mine, documents);
  }
  others.emplace();
  others->frequency_here = document_frequency;
  int rank = 0;
  for (std::string_view bytes : group.gather(mine)) {
    std::size_t documents_there = 0;
    take(bytes, documents_there);
    others->documents += documents_there;
    if (rank < group.rank()) others->first += documents_there;
    if (rank++ == group.rank()) continue;
    std::size_t count = 0;
    std::string text;
    std::uint32_t in_documents = 0;
    for (take(bytes, count); count > 0; --count) {
      double times = 0;
      take(bytes, text);
      take(bytes, in_documents);
      take(bytes, times);
      auto const [at, is_new] =
          number_of.try_emplace(text, static_cast<std::uint32_t>(number_of.size()));
      if (is_new) {
        document_frequency.push_back(0);
        collection_frequency.push_back(0);
        others->frequency_here.push_back(0);
      }
      document_frequency[at->second] += in_documents;
      collection_frequency[at->second] += times;
    }
    for (take(bytes, count); count > 0; --count) {
      take(bytes, text);
      take(bytes, in_documents);
      documents_of[text] += in_documents;
    }
  }
  if (others->documents >= std::numeric_limits<std::uint32_t>::max() - 2)
    throw usage_error("found more documents than 32 bits can number");
}

void count_collection(context const& ctx, collection_source const& collection,
                      text_index_options const& options, counting what, collection_counts& counts,
                      process_group const* group) {
  index_range range{0, std::numeric_limits<std::size_t>::max()};
  text_index_options reading = options;
  if (group != nullptr) {
    auto const part = datasets::documents_of_process(ctx, collection.name, options.format,
                                                     options.reading, *group);
    if (part) {
      reading.format = part->format;
      reading.reading.lines = part->lines;
    } else {
      range = documents_of(ctx, *group, collection.name, options);
    }
  }
  document_counter counter(ctx, options, what);
  read_in_groups(ctx, collection, reading, range,
                 [&](std::span<datasets::text_document const> documents) {
                   std::vector<counted_document> counted = counter.count(ctx, documents);
                   for (std::size_t d = 0; d < documents.size(); ++d)
                     counts.add(documents[d], counted[d]);
                   ctx.report("read documents", counts.documents(), 0);
                 });
  counts.finish();
  if (group != nullptr) {
    // A fault that involves several processes (a duplicate id, no documents) is reported by reading
    // everything on each of them.
    if (reading.reading.lines &&
        (have_equal_ids(*group, counts.ids) || !has_documents(*group, counts)))
      documents_of(ctx, *group, collection.name, options);
    counts.add_others(*group);
  }
  if (std::ranges::find(counts.fields, whole_document, &field_counts::name) != counts.fields.end())
    throw_reserved_field(collection.name);
}

void throw_reserved_field(std::string const& collection) {
  throw error(
      {collection, 1, 1},
      fmt::format(
          "found a field named '{}', which is the name of all fields together; rename the field",
          whole_document));
}

}  // namespace rulerank::knn
