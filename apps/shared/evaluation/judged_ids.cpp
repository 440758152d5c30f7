#include "apps/shared/evaluation/judged_ids.hpp"

#include "core/error.hpp"
#include "datasets/input/text_source.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

using id_set = std::unordered_set<std::string_view>;

/// Counts a file's ids that are unknown elsewhere.
class ids_of {
 public:
  explicit ids_of(std::string const& file) : file_(file) {}
  /// `line` 0: unknown.
  void add(std::string_view id, std::uint64_t line, bool is_known) {
    ++all_;
    if (is_known) return;
    if (unknown_++ > 0 && line >= line_) return;
    first_ = id;
    line_ = line;
  }
  /// `what`: the text after "3 of 10 ".
  void warn(session& owner, std::string const& what) const {
    if (unknown_ == 0) return;
    owner.warn(fmt::format("{}: {} of {} {}, first '{}'{}", file_, unknown_, all_, what, first_,
                           line_ > 0 ? fmt::format(" ({}:{})", file_, line_) : ""));
  }

 private:
  std::string const& file_;
  std::size_t all_ = 0, unknown_ = 0;
  std::string_view first_;
  std::uint64_t line_ = 0;
};

id_set queries_of(auto const& all) {
  id_set ids;
  for (auto const& query : all) ids.insert(query.qid);
  return ids;
}

}  // namespace

void warn_of_ids(session& owner, datasets::qrels const& judgments,
                 std::span<datasets::text_document const> topics, std::string const& topics_name,
                 knn::string_table const& documents, std::string const& collection) {
  id_set topic_ids, document_ids;
  for (auto const& topic : topics) topic_ids.insert(topic.id);
  document_ids.reserve(documents.size());
  for (std::size_t d = 0; d < documents.size(); ++d) document_ids.insert(documents[d]);
  ids_of judged_queries(judgments.name), judged_documents(judgments.name);
  for (auto const& query : judgments.queries) {
    judged_queries.add(query.qid, query.line, topic_ids.contains(query.qid));
    for (auto const& document : query.documents)
      judged_documents.add(document.docno, document.line, document_ids.contains(document.docno));
  }
  id_set const judged = queries_of(judgments.queries);
  std::string const name = datasets::display_name(topics_name);
  ids_of asked(name);
  for (auto const& topic : topics) asked.add(topic.id, 0, judged.contains(topic.id));
  judged_queries.warn(owner,
                      fmt::format("judged queries are not among the topics of {}", topics_name));
  asked.warn(owner, fmt::format("topics have no judgments in {}", judgments.name));
  judged_documents.warn(owner,
                        fmt::format("judgments are of documents that are not in {}", collection));
}

void warn_of_ids(session& owner, datasets::qrels const& judgments, datasets::run const& retrieved,
                 bool complete) {
  id_set const asked = queries_of(retrieved.queries);
  std::unordered_map<std::string_view, datasets::judged_query const*> judged;
  ids_of judged_queries(judgments.name), asked_queries(retrieved.name);
  for (auto const& query : judgments.queries) {
    judged.emplace(query.qid, &query);
    judged_queries.add(query.qid, query.line, asked.contains(query.qid));
  }
  std::size_t found = 0;
  bool any_judged = false;
  for (auto const& query : retrieved.queries) {
    auto const of = judged.find(query.qid);
    asked_queries.add(query.qid, query.line, of != judged.end());
    found += query.documents.size();
    any_judged =
        any_judged ||
        (of != judged.end() && std::ranges::any_of(query.documents, [&](auto const& document) {
           return std::ranges::binary_search(of->second->documents, document.docno, {},
                                             &datasets::judgment::docno);
         }));
  }
  asked_queries.warn(
      owner, fmt::format("queries have no judgments in {} and do not count", judgments.name));
  judged_queries.warn(
      owner, fmt::format("judged queries are not in {} and {}", retrieved.name,
                         complete ? "count as queries that found nothing" : "do not count"));
  if (!any_judged)
    owner.warn(fmt::format(
        "{}: none of its {} is judged for its query in {}; check that both files use the same ids",
        retrieved.name, counted(found, "document"), judgments.name));
}

}  // namespace rulerank::apps
