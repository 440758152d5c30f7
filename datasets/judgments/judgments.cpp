#include "datasets/judgments/judgments.hpp"

#include "core/error.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/text/documents.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

/// Returns the index of a query, which is added if it is new.
template <class Query>
std::size_t query_of(query_key const& key, std::vector<Query>& queries,
                     std::unordered_map<query_key, std::size_t, query_key_hash>& at,
                     std::vector<std::unordered_map<std::string, std::size_t>>& documents) {
  auto const [found, is_new] = at.try_emplace(key, queries.size());
  if (is_new) {
    queries.push_back({key, {}});
    documents.emplace_back();
  }
  return found->second;
}

/// Moves a document to its query and returns null, or returns the existing one with the same id.
template <class Query, class Document>
Document const* add_once(query_key const& query, Document& document, std::vector<Query>& queries,
                         std::unordered_map<query_key, std::size_t, query_key_hash>& query_at,
                         std::vector<std::unordered_map<std::string, std::size_t>>& document_at) {
  std::size_t const q = query_of(query, queries, query_at, document_at);
  auto& documents = queries[q].documents;
  auto const [at, is_new] = document_at[q].try_emplace(document.id, documents.size());
  if (!is_new) return &documents[at->second];
  documents.push_back(std::move(document));
  return nullptr;
}

}  // namespace

source_position judgment_list::position(file_place const& place) const {
  return {files[place.file], place.line, place.column};
}

source_position feature_log::position(file_place const& place) const {
  return {files[place.file], place.line, place.column};
}

void judgment_list::add(query_key const& query, graded_document document) {
  auto const* const before = add_once(query, document, queries_, query_at_, document_at_);
  if (before == nullptr) return;
  if (before->grade != document.grade)
    throw error(
        position(document.place),
        fmt::format("found document {} of query {} with grade {}, expected {} as in {}:{}",
                    rulerank::quoted(document.id), rulerank::quoted(query.name), document.grade,
                    before->grade, files[before->place.file], before->place.line));
}

graded_document const* judgment_list::find(query_key const& query,
                                           std::string const& document) const {
  auto const q = query_at_.find(query);
  if (q == query_at_.end()) return nullptr;
  auto const at = document_at_[q->second].find(document);
  return at == document_at_[q->second].end() ? nullptr : &queries_[q->second].documents[at->second];
}

judgment_list judgment_list::renamed(
    std::function<query_key(query_key const&, file_place const&)> const& key_of) const {
  judgment_list result;
  result.files = files;
  for (graded_query const& query : queries_) {
    query_key const key = key_of(query.key, query.documents.front().place);
    for (graded_document const& document : query.documents) result.add(key, document);
  }
  return result;
}

std::uint32_t feature_log::number_of(std::string const& feature, file_place const& place) {
  auto const [at, is_new] =
      numbers_.try_emplace(feature, static_cast<std::uint32_t>(features.size()));
  if (is_new) features.emplace_back(feature, place);
  return at->second;
}

void feature_log::add(query_key const& query, logged_document document) {
  auto const* const before = add_once(query, document, queries_, query_at_, document_at_);
  if (before == nullptr) return;
  bool const same =
      std::equal(before->features.begin(), before->features.end(), document.features.begin(),
                 document.features.end(), [](feature_value const& a, feature_value const& b) {
                   bool const both_missing = std::isnan(a.value) && std::isnan(b.value);
                   return a.feature == b.feature && (a.value == b.value || both_missing);
                 });
  if (!same)
    throw error(position(document.place),
                fmt::format("found document {} of query {} with other features than in {}:{}, "
                            "expected the same",
                            rulerank::quoted(document.id), rulerank::quoted(query.name),
                            files[before->place.file], before->place.line));
}

feature_log feature_log::renamed(
    std::function<query_key(query_key const&, file_place const&)> const& key_of) const {
  feature_log result;
  result.files = files;
  result.features = features;
  result.numbers_ = numbers_;
  for (logged_query const& query : queries_) {
    query_key const key = key_of(query.key, query.documents.front().place);
    for (logged_document const& document : query.documents) result.add(key, document);
  }
  return result;
}

query_ids::query_ids(context const& ctx, std::string const& path)
    : file_(display_name(path)), given_(true) {
  read_documents(ctx, path, text_format::automatic, [&](text_document&& query) {
    std::string text;
    for (text_field const& field : query.fields) text += (text.empty() ? "" : " ") + field.text;
    add({std::move(query.id), std::move(text), {file_, query.line, 0}});
  });
}

query_ids::query_ids(std::vector<query_text> const& texts) : given_(!texts.empty()) {
  for (query_text const& query : texts) {
    auto const known = of_id_.find(query.id);
    if (known == of_id_.end()) {
      add(query_text(query));
    } else if (texts_[known->second].text != query.text) {
      throw error(query.where,
                  fmt::format("found query {} with the text {}, expected {} as on line {}",
                              rulerank::quoted(query.id), rulerank::quoted(query.text),
                              rulerank::quoted(texts_[known->second].text),
                              texts_[known->second].where.line));
    }
  }
}

void query_ids::add(query_text&& query) {
  if (auto const [at, is_new] = of_text_.try_emplace(query.text, texts_.size()); !is_new)
    throw error(query.where,
                fmt::format("found the text of query {} again, expected each text once",
                            rulerank::quoted(texts_[at->second].id)));
  of_id_.emplace(query.id, texts_.size());
  texts_.push_back(std::move(query));
}

query_key query_ids::key_as(bool text, query_key const& key, source_position const& where) {
  if (key.is_text == text) return key;
  auto const& known = text ? of_id_ : of_text_;
  if (auto const at = known.find(key.name); at != known.end())
    return {text ? texts_[at->second].text : texts_[at->second].id, text};
  if (given_ || text)
    throw error(where,
                fmt::format("found query {}, expected its {} in {}", rulerank::quoted(key.name),
                            text ? "text" : "id", file_.empty() ? "the file of --queries" : file_));
  has_new_ = true;
  of_text_.emplace(key.name, texts_.size());
  texts_.push_back({std::to_string(texts_.size() + 1), key.name, where});
  return {texts_.back().id, false};
}

void query_ids::name_queries(judgments_read& read, bool texts) {
  std::optional<bool> first;  // whether the first query is a text
  auto const expect_alike = [&](query_key const& key, source_position const& where) {
    if (!first) first = key.is_text;
    if (!given_ && *first != key.is_text)
      throw error(where, fmt::format("found query {} by its {}, but other queries by their {}; "
                                     "expected --queries FILE, which has ids and texts",
                                     rulerank::quoted(key.name), key.is_text ? "text" : "id",
                                     key.is_text ? "ids" : "texts"));
  };
  for (graded_query const& query : read.judgments.queries())
    expect_alike(query.key, read.judgments.position(query.documents.front().place));
  for (logged_query const& query : read.log.queries())
    expect_alike(query.key, read.log.position(query.documents.front().place));
  read.judgments = read.judgments.renamed([&](query_key const& key, file_place const& place) {
    return key_as(texts, key, read.judgments.position(place));
  });
  read.log = read.log.renamed([&](query_key const& key, file_place const& place) {
    return key_as(texts, key, read.log.position(place));
  });
}

void query_ids::write(output_file& out) const {
  for (auto const& [id, text, where] : texts_) {
    if (text.find_first_of("\r\n") != text.npos)
      throw error(where, fmt::format("found query {}, expected a text without line ends for a file "
                                     "of queries",
                                     rulerank::quoted(text)));
    out.write(fmt::format("{}\t{}\n", id, text));
  }
}

}  // namespace rulerank::datasets
