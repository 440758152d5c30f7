#include "core/error.hpp"
#include "knn/text/collection_counts.hpp"
#include "knn/text/text_index.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

/// Collects the fields of a collection.
class fields_found {
 public:
  fields_found(context const& ctx, text_index const& index, std::string const& collection)
      : ctx_(ctx), index_(index), collection_(collection) {
    whole_.name = whole_document;
  }

  void add(std::vector<datasets::text_document> documents) {
    for (datasets::text_document const& document : documents) {
      if (first_ >= index_.ids().size() || index_.ids()[first_] != document.id)
        throw error({collection_, 1, 1},
                    fmt::format("document {} is '{}', expected '{}': the collection has changed "
                                "since it was indexed",
                                first_ + 1, document.id,
                                first_ < index_.ids().size() ? index_.ids()[first_] : "the end"));
      ++first_;
      for (auto const& field : document.fields)
        if (!field.name.empty()) add_field(field.name);
    }
    std::vector<std::map<std::uint32_t, double>> all(documents.size());
    auto const count = [&](std::string const& name) {
      sparse_matrix counts = counts_of(name, documents);
      for (std::size_t d = 0; d < documents.size(); ++d)
        for (std::size_t i = counts.begin[d]; i < counts.begin[d + 1]; ++i)
          all[d][counts.term[i]] += counts.weight[i];
      return counts;
    };
    for (field_counts& of : fields_) {
      // Adds empty rows for the documents before the first one with this field.
      of.counts.begin.resize(first_ - documents.size() + 1, of.counts.begin.back());
      sparse_matrix const counts = count(of.name);
      for (std::size_t d = 0; d < documents.size(); ++d) {
        sparse_row const row = sparse_rows(counts)[d];
        of.counts.push_row(row.term, row.weight);
      }
    }
    count("");
    for (auto const& row : all) {
      for (auto const& [term, weight] : row) {
        whole_.counts.term.push_back(term);
        whole_.counts.weight.push_back(weight);
      }
      whole_.counts.begin.push_back(whole_.counts.term.size());
    }
  }

  std::vector<field_counts> take() {
    if (first_ != index_.ids().size())
      throw error({collection_, 1, 1},
                  fmt::format("found {}, expected {}: the collection has changed since "
                              "it was indexed",
                              counted(first_, "document"), index_.ids().size()));
    fields_.push_back(std::move(whole_));
    for (field_counts& of : fields_)
      of.counts.terms = static_cast<std::uint32_t>(index_.terms().size());
    return std::move(fields_);
  }

 private:
  void add_field(std::string const& name) {
    if (name == whole_document) throw_reserved_field(collection_);
    if (std::none_of(fields_.begin(), fields_.end(),
                     [&](field_counts const& of) { return of.name == name; }))
      fields_.push_back({name, {}});
  }

  /// Counts the fields with this name, and moves their texts.
  sparse_matrix counts_of(std::string const& name,
                          std::vector<datasets::text_document>& documents) {
    std::vector<datasets::text_document> parts(documents.size());
    for (std::size_t d = 0; d < documents.size(); ++d)
      for (auto& field : documents[d].fields)
        if (field.name == name) parts[d].fields.push_back({"", std::move(field.text)});
    return index_.counts(ctx_, parts);
  }

  context const& ctx_;
  text_index const& index_;
  std::string const& collection_;
  std::size_t first_ = 0;  // documents before those of the current `add`
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
        found.add(std::exchange(documents, {}));
      },
      options.reading);
  if (!documents.empty()) found.add(std::move(documents));
  return found.take();
}

}  // namespace rulerank::knn
