#pragma once

#include "apps/shared/options/options.hpp"
#include "apps/shared/session/session.hpp"

// Each verb has one file, apps/verbs/NAME.cpp, with one function that adds the verb and its
// options; its length follows from the list of options.
namespace rulerank::inline v0::apps {

void add_agreement(CLI::App& program, session& owner);
void add_completion(CLI::App& program, session& owner);
void add_devices(CLI::App& program, session& owner);
void add_discretize(CLI::App& program, session& owner);
void add_engines(CLI::App& program, session& owner);
void add_evaluate(CLI::App& program, session& owner);
void add_experiment(CLI::App& program, session& owner);
void add_explain(CLI::App& program, session& owner);
void add_export(CLI::App& program, session& owner);
void add_pages(CLI::App& program, session& owner);
void add_pipeline(CLI::App& program, session& owner);
void add_help(CLI::App& program, session& owner);
void add_inspect(CLI::App& program, session& owner);
void add_judgments(CLI::App& program, session& owner);
void add_label(CLI::App& program, session& owner);
void add_reduce(CLI::App& program, session& owner);
void add_features(CLI::App& program, session& owner);
void add_forms(CLI::App& program, session& owner);
void add_fit(CLI::App& program, session& owner);
void add_fuse(CLI::App& program, session& owner);
void add_mine(CLI::App& program, session& owner);
void add_rank(CLI::App& program, session& owner);
void add_report(CLI::App& program, session& owner);
void add_sample(CLI::App& program, session& owner);
void add_search(CLI::App& program, session& owner);
void add_search_dense(CLI::App& search, session& owner);   // below search
void add_search_metric(CLI::App& search, session& owner);  // likewise
void add_serve(CLI::App& program, session& owner);
void add_split(CLI::App& program, session& owner);
void add_start(CLI::App& program, session& owner);
void add_tune(CLI::App& program, session& owner);
void add_vectors(CLI::App& program, session& owner);

}  // namespace rulerank::apps
