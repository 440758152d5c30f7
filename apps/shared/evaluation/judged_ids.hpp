#pragma once

#include "apps/shared/session/session.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/trec.hpp"
#include "knn/text/text_index.hpp"

#include <span>
#include <string>

// Warnings of ids that name nothing: the lines that have them change no result.
namespace rulerank::inline v0::apps {

/// Warns of judged queries that are no topics, of topics without judgments, and of judged documents
/// that the collection does not have: how many, and the first with its line. `topics_name` and
/// `collection`: the paths, for messages.
void warn_of_ids(session& owner, datasets::qrels const& judgments,
                 std::span<datasets::text_document const> topics, std::string const& topics_name,
                 knn::string_table const& documents, std::string const& collection);

/// Warns of queries that the judgments or the run lack, and of a run none of whose documents is
/// judged. `complete`: judged queries that the run lacks count.
void warn_of_ids(session& owner, datasets::qrels const& judgments, datasets::run const& retrieved,
                 bool complete);

}  // namespace rulerank::apps
