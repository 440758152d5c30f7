// Learning curves of NDCG@10 on the test set against labels, for two-stage active learning and its
// alternatives.
//
//   two_stage_bench [SETS [FOLDS [METHODS [PER_QUERY [ROUNDS]]]]]     lists a,b,c; - for all
//
// Needs $RULERANK_TEST_DATA. One TSV row a point: in each fold
//   ssarp      SSARP (rule size 3) by budgets, and whole at rule sizes 4 and 5
//   committee  SSARP, then rounds of query by committee (rules, ranksvm, xgboost)
//   margin     the same rounds, by the margins of our ranker
//   random     the same rounds, by chance
//   draw       as many documents of all queries as `committee` has, drawn at random, without SSARP
//   all        all training documents
// and what each member makes of the labels: NDCG@10 (profile letor). Rules have size 3 in the
// rankings. What is drawn is drawn with seed 1.

#include "al/sampler.hpp"
#include "bench/engines/word_list.hpp"
#include "core/random.hpp"
#include "datasets/feature_order.hpp"
#include "datasets/svmlight.hpp"
#include "eval/evaluate.hpp"
#include "learners/second_stage.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;

struct part {
  datasets::dataset data;
  datasets::binned_dataset items;
  learners::documents view() const { return {data, items}; }
};

class fold {
 public:
  fold(context const& ctx, std::string set, int number, std::string const& folder)
      : ctx_(ctx), set_(std::move(set)), number_(number) {
    train_.data = datasets::read_svmlight(ctx, folder + "/train.txt");
    test_.data = datasets::read_svmlight(ctx, folder + "/test.txt");
    datasets::discretizer const cuts = datasets::fit_discretizer(ctx, train_.data, {});
    train_.items = datasets::apply_discretizer(ctx, train_.data, cuts);
    test_.items = datasets::apply_discretizer(ctx, test_.data, cuts);
  }

  void run(std::vector<std::string> const& methods, learners::round_options rounds) {
    al::sample const start = sample_of(3);
    for (std::string const& method : methods) {
      if (method == "ssarp") {
        ssarp(start);
      } else if (method == "all") {
        std::vector<std::size_t> documents(train_.data.size());
        std::iota(documents.begin(), documents.end(), std::size_t{0});
        point(method, 0, 0, documents);
      } else if (method == "draw") {
        draw(start.documents, rounds);
      } else {
        rounds.by = learners::strategy_from(method);
        rounds_of(start, rounds);
      }
    }
  }

 private:
  al::sample sample_of(rules::rule_size rule_size) const {
    al::sampler_options options;
    options.rule_size = rule_size;
    options.feature_order =
        datasets::order_features(ctx_, train_.items, datasets::feature_order::chi2);
    return al::reduce(ctx_, train_.items, options);
  }

  void ssarp(al::sample const& whole) {
    std::vector<std::size_t> documents;
    std::unordered_set<std::size_t> seen;
    std::size_t tenths = 1;
    for (al::choice const& c : whole.choices) {
      if (!seen.insert(c.document).second) continue;
      documents.push_back(c.document);
      if (documents.size() * 10 < tenths * whole.documents.size()) continue;
      ++tenths;
      point("ssarp", 0, 3, documents);
    }
    for (int size : {4, 5})
      point("ssarp", 0, static_cast<std::size_t>(size), sample_of(size).documents);
  }

  void rounds_of(al::sample const& start, learners::round_options const& options) {
    learners::members who;
    who.learners = learners();
    learners::second_stage stage(train_.view(), start.documents, train_.data.labels, std::move(who),
                                 options);
    for (;;) {
      point(learners::name_of(options.by), options.per_query, stage.rounds_done(),
            stage.labelled_documents());
      std::vector<std::int32_t> labels;
      for (learners::pick const& p : stage.select(ctx_))
        labels.push_back(train_.data.labels[p.document]);
      if (labels.empty()) return;
      stage.answer(labels);
    }
  }

  void draw(std::vector<std::size_t> const& start, learners::round_options const& rounds) {
    std::vector<std::size_t> documents(train_.data.size());
    std::iota(documents.begin(), documents.end(), std::size_t{0});
    random_engine engine(ctx_.seed);
    shuffle(std::span(documents), engine);
    // As many labels as the rounds use.
    std::vector<std::size_t> open;
    for (datasets::query_group const& q : train_.data.queries)
      open.push_back(q.size() - static_cast<std::size_t>(std::count_if(
                                    start.begin(), start.end(),
                                    [&](std::size_t d) { return d >= q.begin && d < q.end; })));
    std::size_t labels = start.size();
    for (std::size_t round = 0; round <= rounds.rounds; ++round) {
      point("draw", rounds.per_query, round,
            {documents.begin(), documents.begin() + static_cast<std::ptrdiff_t>(labels)});
      std::size_t added = 0;
      for (std::size_t& left : open) {
        std::size_t const taken = std::min(rounds.per_query, left);
        left -= taken;
        added += taken;
      }
      if (added == 0) return;
      labels += added;
    }
  }

  static std::vector<std::unique_ptr<learners::learner>> learners() {
    std::vector<std::unique_ptr<learners::learner>> all;
    for (learners::learner_info const& l : learners::learners())
      all.push_back(learners::make_learner(l.name, {}));
    return all;
  }

  void point(std::string_view method, std::size_t per_query, std::size_t step,
             std::vector<std::size_t> documents) {
    std::sort(documents.begin(), documents.end());
    std::vector<eval::measure> const measures = eval::parse_measures("NDCG@10");
    std::string row = fmt::format(
        "{}\t{}\t{}\t{}\t{}\t{}\t{:.4f}", set_, number_, method, per_query, step, documents.size(),
        static_cast<double>(documents.size()) / static_cast<double>(train_.data.size()));
    for (auto const& member : learners()) {
      member->fit(ctx_, train_.view(), {documents, train_.data.labels});
      row += fmt::format(
          "\t{:.6f}", eval::evaluate(ctx_, test_.data, member->score(ctx_, test_.view()), measures,
                                     eval::make_profile("letor"))
                          .averages()
                          .front());
    }
    fmt::print("{}\n", row);
    std::fflush(stdout);
  }

  context const& ctx_;
  std::string set_;
  int number_;
  part train_, test_;
};

}  // namespace

int main(int argc, char** argv) {
  char const* const data = std::getenv("RULERANK_TEST_DATA");
  if (data == nullptr) {
    fmt::print(stderr, "two_stage_bench: RULERANK_TEST_DATA is not set\n");
    return 2;
  }
  try {
    context ctx;
    ctx.threads = 1;
    std::vector<std::string> const methods =
        word_list(argc, argv, 3, "ssarp,committee,margin,random,draw,all");
    learners::round_options rounds;
    if (argc > 4) rounds.per_query = std::stoul(argv[4]);
    if (argc > 5) rounds.rounds = std::stoul(argv[5]);
    fmt::print("set\tfold\tmethod\tper_query\tstep\tlabels\tshare\trules\tranksvm\txgboost\n");
    for (std::string const& set : word_list(argc, argv, 1, "MQ2008,OHSUMED"))
      for (std::string const& number : word_list(argc, argv, 2, "1,2,3,4,5"))
        fold(ctx, set, std::stoi(number), fmt::format("{}/letor/{}/Fold{}", data, set, number))
            .run(methods, rounds);
  } catch (std::exception const& e) {
    fmt::print(stderr, "two_stage_bench: {}\n", e.what());
    return 1;
  }
}
