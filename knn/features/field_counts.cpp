#include "knn/features/field_counts.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace rulerank::knn {

namespace {

/// The fields of a collection as they are found.
class fields_found {
 public:
  fields_found(context const& ctx, text_index const& index, std::string const& collection)
      : ctx_(ctx), index_(index), collection_(collection) {
    whole_.name = whole_document;
  }

  void add(std::vector<datasets::text_document> const& documents) {
    for (datasets::text_document const& document : documents) {
      if (first_ >= index_.ids().size() || index_.ids()[first_] != document.id)
        throw error({collection_, 1, 1},
                    fmt::format("document {} is '{}', expected '{}': the collection has changed "
                                "since it was indexed",
                                first_ + 1, document.id,
                                first_ < index_.ids().size() ? index_.ids()[first_] : "the end"));
      ++first_;
      for (auto const& field : document.fields)
        if (!field.name.empty()) place_of(field.name);
    }
    append(whole_, documents, [](auto const&) { return true; });
    for (field_counts& of : fields_) {
      // Empty rows for the documents before the first one that has the field.
      of.counts.begin.resize(first_ - documents.size() + 1, of.counts.begin.back());
      append(of, documents, [&](auto const& field) { return field.name == of.name; });
    }
  }

  std::vector<field_counts> take() {
    if (first_ != index_.ids().size())
      throw error({collection_, 1, 1},
                  fmt::format("found {} documents, expected {}: the collection has changed since "
                              "it was indexed",
                              first_, index_.ids().size()));
    fields_.push_back(std::move(whole_));
    for (field_counts& of : fields_)
      of.counts.terms = static_cast<std::uint32_t>(index_.terms().size());
    return std::move(fields_);
  }

 private:
  void place_of(std::string const& name) {
    if (name == whole_document)
      throw error({collection_, 1, 1},
                  fmt::format("a field is named '{}', which is the name of all fields together",
                              whole_document));
    if (std::none_of(fields_.begin(), fields_.end(),
                     [&](field_counts const& of) { return of.name == name; }))
      fields_.push_back({name, {}});
  }

  template <class Takes>
  void append(field_counts& to, std::vector<datasets::text_document> const& documents,
              Takes&& takes) {
    std::vector<datasets::text_document> parts(documents.size());
    for (std::size_t d = 0; d < documents.size(); ++d)
      std::copy_if(documents[d].fields.begin(), documents[d].fields.end(),
                   std::back_inserter(parts[d].fields), takes);
    sparse_matrix const counts = index_.counts(ctx_, parts);
    for (std::size_t r = 0; r < counts.size(); ++r) {
      sparse_row const row = sparse_rows(counts)[r];
      to.counts.push_row(row.term, row.weight);
    }
  }

  context const& ctx_;
  text_index const& index_;
  std::string const& collection_;
  std::size_t first_ = 0;  // documents before those at hand
  std::vector<field_counts> fields_;
  field_counts whole_;
};

}  // namespace

std::vector<field_counts> count_fields(context const& ctx, text_index const& index,
                                       std::string const& collection,
                                       text_index_options const& options) {
  constexpr std::size_t together = 1024;
  fields_found found(ctx, index, collection);
  std::vector<datasets::text_document> documents;
  datasets::read_documents(
      ctx, collection, options.format,
      [&](datasets::text_document&& document) {
        documents.push_back(std::move(document));
        if (documents.size() < together) return;
        found.add(documents);
        documents.clear();
      },
      options.reading);
  if (!documents.empty()) found.add(documents);
  return found.take();
}

}  // namespace rulerank::knn
