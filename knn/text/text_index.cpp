#include "knn/text/text_index.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/process_group.hpp"
#include "knn/neighbours.hpp"
#include "knn/text/collection_counts.hpp"
#include "knn/text/index_layout.hpp"
#include "knn/text/index_options.hpp"
#include "knn/text/index_writer.hpp"
#include "knn/text/text_index_part.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <unordered_set>

#include <fmt/format.h>
#include <sys/mman.h>

namespace rulerank::inline v0::knn {

namespace {

static_assert(datasets::largest_value <= largest_weight, "vectors that are read can be searched");

std::shared_ptr<std::byte> mapped(void* at, std::size_t bytes) {
  return {static_cast<std::byte*>(at), [bytes](std::byte* p) { ::munmap(p, bytes); }};
}

/// Returns whether offsets ascend from 0 to `end`.
bool ascends(std::span<std::uint64_t const> begin, std::uint64_t end) {
  return !begin.empty() && begin.front() == 0 && begin.back() == end &&
         std::is_sorted(begin.begin(), begin.end());
}

/// Returns whether the words of a dictionary ascend strictly, with valid numbers of documents.
bool is_dictionary(word_list const& list, std::size_t documents) {
  if (list.documents.size() != list.words.size()) return false;
  for (std::size_t w = 0; w < list.words.size(); ++w)
    if (list.documents[w] < 2 || list.documents[w] > documents || list.words[w].empty() ||
        (w > 0 && list.words[w - 1] >= list.words[w]))
      return false;
  return true;
}

/// Returns the dictionary of a read index, if it has one. Throws `error` for an invalid one.
std::optional<word_list> dictionary_of(read_index const& read, text_index_options const& options,
                                       std::size_t documents, std::string const& name) {
  if (!read.has_dictionary()) return std::nullopt;
  word_list const list{{read.of<char>(section::words), read.of<std::uint64_t>(section::word_begin)},
                       read.of<std::uint32_t>(section::word_documents)};
  if (holds_vectors(options) || !ascends(list.words.begin, list.words.bytes.size()) ||
      !is_dictionary(list, documents))
    throw error({name, 1, 1},
                "the words of this index contradict each other; make the index again");
  return list;
}

/// Makes a collection of documents in memory. Throws `usage_error` if there are none, and for an
/// empty or duplicate id.
collection_source source_of(std::span<datasets::text_document const> documents) {
  if (documents.empty()) throw usage_error("found no documents, expected one or more");
  std::unordered_set<std::string_view> ids;
  for (std::size_t d = 0; d < documents.size(); ++d)
    if (documents[d].id.empty() || !ids.insert(documents[d].id).second)
      throw usage_error(
          fmt::format("document {} has {}, expected a unique id", d + 1,
                      documents[d].id.empty() ? "no id" : "the id of another document"));
  return {"documents", documents};
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
  return text_index_part::build_in_memory(ctx, collection, options, {}).index;
}

text_index text_index::build(context const& ctx, std::span<datasets::text_document const> documents,
                             text_index_options const& options) {
  return text_index_part::build_in_memory(ctx, source_of(documents), options, {}).index;
}

indexed_collection text_index::build_with_fields(context const& ctx, std::string const& collection,
                                                 text_index_options const& options) {
  return text_index_part::build_in_memory(ctx, collection, options, {.fields = true});
}

indexed_collection text_index::build_with_fields(context const& ctx,
                                                 std::span<datasets::text_document const> documents,
                                                 text_index_options const& options) {
  return text_index_part::build_in_memory(ctx, source_of(documents), options, {.fields = true});
}

indexed_collection text_index_part::build_in_memory(context const& ctx,
                                                    collection_source const& collection,
                                                    text_index_options const& options,
                                                    index_build_settings const& settings) {
  std::shared_ptr<std::byte> owner;
  std::span<std::byte> bytes;
  built_index built = build_index(ctx, collection, options, settings, [&](std::size_t size) {
    void* const at =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    owner = mapped(at, size);
    bytes = {owner.get(), size};
    return bytes;
  });
  text_index index = text_index::of_sections(check_index(ctx, bytes, collection.name), owner,
                                             collection.name, settings.group != nullptr);
  index.timings_ = built.timings;
  return {std::move(index), std::move(built.fields), std::move(built.sums)};
}

text_index_timings text_index::build(context const& ctx, std::string const& collection,
                                     text_index_options const& options, output_file& file) {
  return build_index(ctx, collection, options, {}, [&](std::size_t size) { return file.map(size); })
      .timings;
}

text_index text_index_part::build(context const& ctx, std::string const& collection,
                                  text_index_options const& options, process_group const& group) {
  return build_in_memory(ctx, collection, options, {.group = &group}).index;
}

text_index_timings text_index_part::build(context const& ctx, std::string const& collection,
                                          text_index_options const& options,
                                          process_group const& group, output_file& file) {
  return build_index(ctx, collection, options, {.group = &group},
                     [&](std::size_t size) { return file.map(size); })
      .timings;
}

text_index text_index::open(context const& ctx, std::string const& path) {
  return open(ctx, path, false);
}

text_index text_index_part::open(context const& ctx, std::string const& path) {
  return text_index::open(ctx, path, true);
}

text_index text_index::open(context const& ctx, std::string const& path, bool part) {
  read_index read = read_index_file(ctx, path);
  auto const memory = read.memory;
  return of_sections(read, memory, path, part);
}

// Long because it reads the sections of the file one after the other.
text_index text_index::of_sections(read_index const& read, std::shared_ptr<void const> owner,
                                   std::string const& name, bool part) {
  if (read.is_part() != part)
    throw error({name, 1, 1},
                part ? "found an index of a whole collection, expected a part of an index"
                     : "found a part of an index, expected the file that lists all parts");
  auto const characters = [&](section s) { return read.of<char>(s); };
  auto const numbers = [&](section s) { return read.of<std::uint64_t>(s); };
  sparse_index_parts parts;
  parts.documents = {numbers(section::row_begin), read.of<std::uint32_t>(section::row_term),
                     read.of<double>(section::row_weight), 0};
  parts.norms = read.of<double>(section::norms);
  parts.list_begin = numbers(section::list_begin);
  parts.list_document = read.of<std::uint32_t>(section::list_document);
  parts.list_weight = read.of<double>(section::list_weight);
  text_index index{sparse_index(parts, nullptr), read.bytes};
  index.terms_ = {characters(section::terms), numbers(section::term_begin)};
  index.ids_ = {characters(section::ids), numbers(section::id_begin)};
  index.label_names_ = {characters(section::label_names), numbers(section::label_begin)};
  index.label_of_ = read.of<std::uint32_t>(section::label_of);
  auto const frequencies = read.of<std::uint32_t>(section::document_frequency);
  std::size_t const documents = parts.documents.size(), terms = index.terms_.size();
  try {
    index.options_ = options_from(read.header);
    index.statistics_.documents = count_at(read.header, part ? "of_documents" : "documents");
    if (part) index.first_document_ = count_at(read.header, "first");
    std::size_t const before = index.first_document_;
    index.statistics_.mean_length = read.header.at("mean_length").get<double>();
    index.statistics_.document_frequency.assign(frequencies.begin(), frequencies.end());
    parts.documents.terms = static_cast<std::uint32_t>(terms);
    // The checksums prove that the bytes are those written; this checks that they are consistent.
    bool const documents_fit = part ? before <= index.statistics_.documents &&
                                          documents <= index.statistics_.documents - before &&
                                          index.statistics_.documents < no_neighbour
                                    : index.statistics_.documents == documents;
    bool const fits = documents_fit && frequencies.size() == terms &&
                      count_at(read.header, "documents") == documents &&
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
    if (!fits)
      throw error({name, 1, 1},
                  "the sections of this index contradict each other; make the index again");
    check(parts.documents, "documents of the index");
  } catch (nlohmann::json::exception const& e) {
    throw error({name, 1, 1}, fmt::format("the header of this index is invalid: {}", e.what()));
  } catch (usage_error const& e) {
    throw error({name, 1, 1}, fmt::format("this index is invalid: {}; make it again", e.what()));
  }
  index.dictionary_ = dictionary_of(read, index.options_, index.statistics_.documents, name);
  if (part) {
    // Terms of all documents have weight 0 under tf-idf, and are in no list.
    struct terms_and_owner {
      std::vector<std::uint64_t> known;
      std::shared_ptr<void const> owner;
    };
    auto const kept = std::make_shared<terms_and_owner>();
    kept->owner = std::move(owner);
    kept->known.resize((terms + 63) / 64);
    bool const drops = index.options_.weighting.how == weighting::tf_idf;
    for (std::size_t t = 0; t < terms; ++t)
      if (!drops || frequencies[t] != index.statistics_.documents)
        kept->known[t / 64] |= std::uint64_t{1} << (t % 64);
    parts.terms_of_all = kept->known;
    owner = kept;
  }
  index.index_ = sparse_index(parts, std::move(owner));
  return index;
}

sparse_matrix text_index::counts(context const& ctx,
                                 std::span<datasets::text_document const> documents) const {
  sparse_matrix rows;
  rows.terms = static_cast<std::uint32_t>(terms_.size());
  auto const counted = document_counter(ctx, options_).count(ctx, documents);
  // Most words of many documents are repetitions, and are looked up once.
  boost::unordered_flat_map<std::string_view, std::optional<std::size_t>> number_of;
  for (counted_document const& of : counted) {
    for (auto const& [term, count] : of.terms) {
      auto const [at, is_new] = number_of.try_emplace(term);
      if (is_new) at->second = terms_.find(term);
      if (!at->second) continue;
      rows.term.push_back(static_cast<std::uint32_t>(*at->second));
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
