#include "knn/text/index_layout.hpp"

#include "core/error.hpp"

namespace rulerank::inline v0::knn {

namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(section::count)> names{
    "terms",      "term_begin",         "ids",         "id_begin", "label_names", "label_begin",
    "label_of",   "document_frequency", "row_begin",   "row_term", "row_weight",  "norms",
    "list_begin", "list_document",      "list_weight", "words",    "word_begin",  "word_documents"};

constexpr section_kind kind_of_version(std::size_t version, std::size_t sections) {
  return {"rulerank text index", version, "rulerank search text --index",
          std::span(names).first(sections)};
}
/// Files without a dictionary keep the sections and the version from before dictionaries existed.
/// Parts have their own versions, so that they are not read as indexes of whole collections.
constexpr std::array kinds{
    kind_of_version(2, static_cast<std::size_t>(section::words)), kind_of_version(3, names.size()),
    kind_of_version(4, static_cast<std::size_t>(section::words)), kind_of_version(5, names.size())};

section_kind const& kind_of(index_layout const& layout) {
  return kinds[(layout.is_part() ? 2 : 0) + (layout.has_dictionary() ? 1 : 0)];
}

}  // namespace

index_layout::sizes sizes_of(index_counts const& of) {
  index_layout::sizes bytes{};
  auto const set = [&](section s, std::size_t size) { bytes[static_cast<std::size_t>(s)] = size; };
  set(section::terms, of.term_bytes);
  set(section::term_begin, (of.terms + 1) * sizeof(std::uint64_t));
  set(section::ids, of.id_bytes);
  set(section::id_begin, (of.documents + 1) * sizeof(std::uint64_t));
  set(section::label_names, of.label_bytes);
  set(section::label_begin, (of.labels + 1) * sizeof(std::uint64_t));
  set(section::label_of, of.documents * sizeof(std::uint32_t));
  set(section::document_frequency, of.terms * sizeof(std::uint32_t));
  set(section::row_begin, (of.documents + 1) * sizeof(std::uint64_t));
  set(section::row_term, of.postings * sizeof(std::uint32_t));
  set(section::row_weight, of.postings * sizeof(double));
  set(section::norms, of.documents * sizeof(double));
  set(section::list_begin, (of.terms + 1) * sizeof(std::uint64_t));
  set(section::list_document, of.postings * sizeof(std::uint32_t));
  set(section::list_weight, of.postings * sizeof(double));
  if (of.words) {
    set(section::words, of.word_bytes);
    set(section::word_begin, (*of.words + 1) * sizeof(std::uint64_t));
    set(section::word_documents, *of.words * sizeof(std::uint32_t));
  }
  return bytes;
}

std::string index_header(context const& ctx, index_layout const& layout,
                         std::span<std::byte> sections, nlohmann::ordered_json const& what) {
  return section_header(ctx, kind_of(layout), layout.sections(), sections, what);
}

void finish_index(std::span<std::byte> file, index_layout const& layout, std::string_view header) {
  finish_section_file(file, layout.sections(), header);
}

namespace {

/// Throws `error` if the version in the header contradicts its entries about parts.
read_index with_fitting_version(read_index read, std::string const& name) {
  bool const of_parts = read.header.at("version").get<std::size_t>() >= kinds[2].version;
  if (of_parts != read.is_part())
    throw error({name, 1, 1},
                "the header of this index is invalid: its version is that of a different format");
  return read;
}

}  // namespace

read_index check_index(context const& ctx, std::span<std::byte const> bytes,
                       std::string const& name) {
  return with_fitting_version({check_section_file(ctx, kinds, bytes, name)}, name);
}

read_index read_index_file(context const& ctx, std::string const& path) {
  return with_fitting_version({read_section_file(ctx, kinds, path)}, path);
}

}  // namespace rulerank::knn
