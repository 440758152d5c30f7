#pragma once

#include "apps/shared/session/session.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/trec.hpp"
#include "knn/text/text_index.hpp"

#include <span>
#include <string>

// Warnings about ids without a match: lines with such ids do not affect results.
namespace rulerank::inline v0::apps {

/// Warns of judged queries that are not topics, of topics without judgments, and of judged
/// documents that are not in the collection: their number, and the first with its line.
/// `topics_name` and `collection`: paths for messages.
void warn_of_ids(session& owner, datasets::qrels const& judgments,
                 std::span<datasets::text_document const> topics, std::string const& topics_name,
                 knn::string_table const& documents, std::string const& collection);

/// Warns of queries missing from the judgments or the run, and of a run without any judged
/// document. `complete`: judged queries missing from the run count.
void warn_of_ids(session& owner, datasets::qrels const& judgments, datasets::run const& retrieved,
                 bool complete);

}  // namespace rulerank::apps
