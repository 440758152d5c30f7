#include "experiment/learning_curves.hpp"

#include "core/error.hpp"
#include "core/process_group_testing.hpp"
#include "core/testing.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/sample.hpp"
#include "datasets/split.hpp"
#include "datasets/svmlight.hpp"
#include "experiment/curve_fold.hpp"
#include "experiment/curve_report.hpp"
#include "experiment/label_choice.hpp"
#include "experiment/report_json.hpp"
#include "learners/learner.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::experiment::learning_curves_test {
namespace {

namespace fs = std::filesystem;
using testing_tools::temporary_folder;

datasets::dataset drawn_data(std::size_t documents) {
  return datasets::sample_documents({}, datasets::options_of(documents, 13, documents / 20, 3, 3));
}

struct pool {
  explicit pool(datasets::dataset of) : data(std::move(of)) {
    items = datasets::apply_discretizer({}, data, datasets::fit_discretizer({}, data, {}));
  }
  chosen_documents choose(way w, std::size_t count, std::size_t draw = 0) const {
    return document_chooser({}, data, items, {}, count, 1).choose({}, w, count, draw);
  }
  datasets::dataset data;
  datasets::binned_dataset items;
};

class each_way : public testing::TestWithParam<way> {};

TEST_P(each_way, chooses_so_many_distinct_documents) {
  pool const p(drawn_data(600));
  for (std::size_t const count : {1U, 2U, 7U, 60U, 150U}) {
    chosen_documents const found = p.choose(GetParam(), count);
    EXPECT_EQ(found.documents.size(), GetParam() == way::all ? p.data.size() : count);
    EXPECT_TRUE(std::is_sorted(found.documents.begin(), found.documents.end()));
    EXPECT_EQ(std::set(found.documents.begin(), found.documents.end()).size(),
              found.documents.size());
    EXPECT_LT(found.documents.back(), p.data.size());
  }
}

TEST_P(each_way, reads_the_labels_of_what_it_chooses_alone) {
  pool const p(drawn_data(600));
  for (std::size_t const count : {60U, 150U}) {
    chosen_documents const found = p.choose(GetParam(), count);
    pool others = p;
    std::set<std::size_t> const chosen(found.documents.begin(), found.documents.end());
    for (std::size_t d = 0; d < p.data.size(); ++d)
      if (!chosen.contains(d))
        others.data.labels[d] = others.items.labels[d] = 2 - p.data.labels[d];
    EXPECT_EQ(others.choose(GetParam(), count).documents, found.documents) << count;
  }
}

TEST_P(each_way, depends_on_the_draw_where_it_is_drawn) {
  pool const p(drawn_data(600));
  EXPECT_EQ(p.choose(GetParam(), 60, 1).documents, p.choose(GetParam(), 60, 1).documents);
  EXPECT_EQ(p.choose(GetParam(), 60, 0).documents == p.choose(GetParam(), 60, 1).documents,
            !is_drawn(GetParam()));
  EXPECT_EQ(way_from(name_of(GetParam())), GetParam());
}

INSTANTIATE_TEST_SUITE_P(of, each_way,
                         testing::Values(way::all, way::chosen, way::random, way::queries,
                                         way::depth, way::margin, way::entropy, way::variance),
                         [](auto const& named) { return std::string(name_of(named.param)); });

TEST(ways, of_random_queries_one_at_most_is_not_whole) {
  pool const p(drawn_data(600));
  chosen_documents const found = p.choose(way::queries, 90);
  std::size_t parts = 0;
  for (auto const& q : p.data.queries) {
    auto const chosen = std::count_if(found.documents.begin(), found.documents.end(),
                                      [&](std::size_t d) { return d >= q.begin && d < q.end; });
    parts += chosen > 0 && static_cast<std::size_t>(chosen) < q.size() ? 1 : 0;
  }
  EXPECT_LE(parts, 1U);
}

TEST(ways, depth_takes_the_best_of_each_query_by_bm25) {
  pool const p(datasets::parse_svmlight({},
                                        "0 qid:1 BM25:1 other:9\n1 qid:1 BM25:3 other:1\n"
                                        "0 qid:1 BM25:2 other:5\n0 qid:2 BM25:5 other:2\n"
                                        "2 qid:2 BM25:4 other:7\n0 qid:2 BM25:9 other:4\n",
                                        "by hand"));
  EXPECT_EQ(p.choose(way::depth, 2).documents, (std::vector<std::size_t>{1, 5}));
  EXPECT_EQ(p.choose(way::depth, 4).documents, (std::vector<std::size_t>{1, 2, 3, 5}));
  EXPECT_EQ(p.choose(way::depth, 4).how, "feature BM25");
}

TEST(ways, depth_finds_its_feature_by_a_tenth_of_the_labels) {
  std::string text;  // feature 2 falls with the label, the others are constant
  for (int d = 0; d < 200; ++d)
    text += fmt::format("{} qid:{} 1:1 2:{} 3:7\n", d % 3, d / 20, 10 - d % 3);
  pool const p(datasets::parse_svmlight({}, text, "by hand"));
  chosen_documents const found = p.choose(way::depth, 60);
  EXPECT_EQ(found.how, "feature 2, lowest first, by 6 labels");
  // The other 54 have the largest label, which about 60 documents have.
  auto const best = std::count_if(found.documents.begin(), found.documents.end(),
                                  [&](std::size_t d) { return p.data.labels[d] == 2; });
  EXPECT_GE(best, 54);
}

TEST(ways, sampling_goes_on_with_larger_rules) {
  pool const p(drawn_data(600));
  document_chooser const chooser({}, p.data, p.items, {}, 600, 1);
  EXPECT_EQ(chooser.choose({}, way::chosen, 2, 0).how, "rule size 2");
  // The count includes labels read before size 2 turns out to choose too few.
  chosen_documents const few = chooser.choose({}, way::chosen, 20, 0);
  chosen_documents const more = chooser.choose({}, way::chosen, 150, 0);
  EXPECT_TRUE(more.how.starts_with("rule sizes 2 to ")) << more.how;
  EXPECT_TRUE(std::ranges::includes(more.documents, few.documents));
  chosen_documents const most = chooser.choose({}, way::chosen, 600, 0);
  EXPECT_EQ(most.documents.size(), 600U);
  EXPECT_TRUE(most.how.ends_with(", then new items, then at random")) << most.how;
  context other;
  other.seed = 2;  // breaks ties
  EXPECT_NE(document_chooser(other, p.data, p.items, {}, 600, 1)
                .choose(other, way::chosen, 150, 0)
                .documents,
            more.documents);
  EXPECT_THROW(document_chooser({}, p.data, p.items, {}, 0, 1).choose({}, way::chosen, 2, 0),
               usage_error);
  EXPECT_THROW(way_from("best"), usage_error);
}

// Journals and results as text

TEST(curve_journal, goes_on_where_a_run_was_cut_off) {
  temporary_folder const folder;
  std::string const path = (fs::path(folder.path()) / "journal").string();
  {
    curve_journal journal({}, path, "print");
    journal.add("one", "[1]");
    journal.add("two", "[2]");
  }
  std::string const whole = datasets::read_file(path, "");
  std::ofstream(path, std::ios::app | std::ios::binary) << "0123456789abcdef\tthree\t[3";
  curve_journal again({}, path, "print");
  EXPECT_EQ(again.size(), 2U);
  EXPECT_EQ(*again.find("two"), "[2]");
  EXPECT_EQ(again.find("three"), nullptr);
  EXPECT_EQ(datasets::read_file(path, ""), whole);
  // A damaged line and all later ones are repeated.
  std::string damaged = whole;
  damaged[damaged.find("[1]") + 1] = '7';
  std::ofstream(path, std::ios::binary) << damaged;
  EXPECT_EQ(curve_journal({}, path, "print").size(), 0U);
  std::ofstream(path, std::ios::binary) << whole;
  EXPECT_EQ(curve_journal({}, path, "another").size(), 0U);
  EXPECT_THROW(
      curve_journal({}, (fs::path(folder.path()) / "absent" / "journal").string(), "print"),
      output_error);
}

TEST(curve_fold, is_read_as_it_was_written) {
  curve_fold fold;
  fold.name = "Fold1";
  fold.fingerprint = "print";
  fold.inputs["Fold1/train.txt"] = "sum";
  fold.train_documents = 9;
  fold.qids = {"1", "2"};
  fold.choices.push_back({"lightgbm", 0.25, setting_choice::cross_fitted, "trial", 40, 1.0 / 3});
  fold.points.push_back(
      {"random", 0.25, 1, 2, "how", "lightgbm", setting_choice::validated, {0.1, 1.0 / 3}});
  std::string const text = to_text(fold);
  EXPECT_EQ(to_text(curve_fold_from(text, "here")), text);
  EXPECT_EQ(curve_fold_from(text, "here").points.at(0).values, fold.points[0].values);
  EXPECT_EQ(curve_fold_from(text, "here").points.at(0).settings, setting_choice::validated);
  EXPECT_EQ(curve_fold_from(text, "here").choices.at(0).by, setting_choice::cross_fitted);
  std::string damaged = text;
  damaged[damaged.find("random")] = 'R';
  EXPECT_THROW(curve_fold_from(damaged, "here"), error);
  EXPECT_THROW(curve_fold_from("{}", "here"), error);
  EXPECT_THROW(curve_fold_from(text.substr(0, 40), "here"), error);
}

// Whole runs

curve_options small_options() {
  curve_options o;
  o.systems = {"rules"};
  for (learners::learner_info const& l : learners::learners())
    if (l.name == "ranksvm" && l.available) o.systems.emplace_back("ranksvm");
  o.ways = {"chosen", "random", "variance"};
  o.budgets = {0.05, 0.25, 1};
  o.draws = 2;
  o.measures = eval::parse_measures("NDCG@10,MAP");
  o.profile = eval::make_profile("letor");
  o.profile.ties = eval::tie_rule::average;
  return o;
}

struct folds_in_memory {
  explicit folds_in_memory(std::size_t documents) : data(drawn_data(documents)) {
    std::uint64_t number = 0;
    for (datasets::fold_documents const& f : datasets::split_folds({}, data, {.folds = 3}))
      folds.push_back({++number, f.train, f.vali, f.test, {}});
  }
  datasets::dataset data;
  std::vector<memory_fold> folds;
};

/// Except files with times.
std::map<std::string, std::string> files_in(std::string const& folder) {
  std::map<std::string, std::string> files;
  for (auto const& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && !entry.path().string().ends_with(".seconds.tsv"))
      files[fs::relative(entry.path(), folder).string()] =
          datasets::read_file(entry.path().string(), "");
  return files;
}

TEST(run_curves, learns_from_every_sample_and_better_from_more) {
  folds_in_memory const drawn(600);
  memory_folds const source(drawn.data, drawn.folds);
  curve_options const options = small_options();
  curve_results const all = run_curves({}, options, source);
  ASSERT_EQ(all.folds.size(), 3U);
  std::size_t const systems = options.systems.size();
  // Below 100 %: one deterministic way, the others with two samples; at 100 % all documents. Two
  // settings each.
  EXPECT_EQ(all.folds[0].points.size(), systems * 2 * (5 + 5 + 1));
  EXPECT_EQ(all.folds[0].choices.size(), 3 * systems);
  for (curve_choice const& c : all.folds[0].choices) {
    EXPECT_EQ(c.by, c.budget < 0.1 ? setting_choice::cross_fitted : setting_choice::validated);
    EXPECT_TRUE(c.value > (c.budget < 0.1 ? 0 : 0.3) && c.value < 1) << c.value;
  }
  std::map<std::pair<std::string, double>, double> means;
  for (curve_summary const& s : summaries(all)) {
    EXPECT_EQ(s.draws, s.way == "random" || s.way == "variance" ? 2U : 1U);
    EXPECT_EQ(s.queries.at(0).size(), 30U);
    double const mean = s.means.at(0);
    EXPECT_TRUE(mean > 0 && mean < 1) << mean;
    EXPECT_EQ(s.labels > s.documents, s.settings == setting_choice::validated);
    EXPECT_NE(s.settings,
              s.budget < 0.1 ? setting_choice::validated : setting_choice::cross_fitted);
    if (s.settings == setting_choice::defaults) means[{s.way + s.system, s.budget}] = mean;
  }
  EXPECT_GT((means[{"allrules", 1}]), (means[{"randomrules", 0.05}]));
}

TEST(run_curves, the_points_table_has_the_means) {
  folds_in_memory const drawn(300);
  memory_folds const source(drawn.data, drawn.folds);
  curve_results const all = run_curves({}, small_options(), source);
  eval::table const t = points_table(all);
  std::map<std::string, std::vector<double>> by_fold;  // for rules, random, 5 %
  for (auto const& row : t.rows)
    if (std::get<std::string>(row[1]) == "random" && std::get<double>(row[2]) == 0.05 &&
        std::get<std::string>(row[3]) == "cross-fitted" && std::get<std::string>(row[5]) == "rules")
      by_fold[std::get<std::string>(row[0])].push_back(std::get<double>(row[9]));
  double mean = 0;
  for (auto const& [fold, draws] : by_fold) {
    ASSERT_EQ(draws.size(), 2U);
    mean += (draws[0] + draws[1]) / 2 / 3;
  }
  for (curve_summary const& s : summaries(all))
    if (s.way == "random" && s.budget == 0.05 && s.system == "rules" &&
        s.settings == setting_choice::cross_fitted) {
      EXPECT_NEAR(s.means.at(0), mean, 1e-12);
    }
  EXPECT_NE(render(all, eval::table_format::markdown).find("25 %"), std::string::npos);
}

TEST(run_curves, says_how_long_each_point_took) {
  folds_in_memory const drawn(300);
  memory_folds const source(drawn.data, drawn.folds);
  temporary_folder const folder;
  curve_options options = small_options();
  options.out_dir = folder.path();
  for (curve_fold const& fold : run_curves({}, options, source).folds)
    EXPECT_TRUE(fold.seconds.empty());  // as when read again
  for (char const* const name : {"Fold1", "Fold2", "Fold3"}) {
    std::string const text = datasets::read_file(
        (fs::path(folder.path()) / "curves" / fmt::format("{}.seconds.tsv", name)).string(), "");
    EXPECT_TRUE(text.starts_with("# seconds of one thread")) << text.substr(0, 40);
    EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')),
              2 + options.systems.size() * 2 * (5 + 5 + 1));
    EXPECT_EQ(text.find("\t-"), std::string::npos);
  }
  curve_fold one;
  one.name = "Fold1";
  one.points.resize(2);
  one.points[1].system = "rules";
  one.seconds = {{1, 2}, {0.5, 0.25}};
  eval::table const t = seconds_table(one);
  ASSERT_EQ(t.rows.size(), 2U);
  EXPECT_EQ(std::get<std::string>(t.rows[1][5]), "rules");
  EXPECT_EQ(std::get<double>(t.rows[1][8]), 0.5);
  EXPECT_EQ(std::get<double>(t.rows[1][9]), 0.25);
}

TEST(run_curves, has_the_same_bytes_for_any_number_of_threads_and_stops) {
  folds_in_memory const drawn(300);
  memory_folds const source(drawn.data, drawn.folds);
  temporary_folder const one, three, stopped;
  curve_options options = small_options();
  context ctx;
  ctx.threads = 1;
  options.out_dir = one.path();
  run_curves(ctx, options, source);
  ctx.threads = 3;
  options.out_dir = three.path();
  run_curves(ctx, options, source);
  auto const want = files_in(one.path());
  EXPECT_EQ(want.size(), 3U + 3U);
  EXPECT_EQ(files_in(three.path()), want);

  // Interrupted repeatedly after a few samples.
  options.out_dir = stopped.path();
  int stops = 0;
  for (bool whole = false; !whole && stops < 100; ++stops) {
    int left = 9;
    ctx.threads = 1;
    ctx.progress = [&](std::string_view stage, std::uint64_t, std::uint64_t) {
      return !stage.starts_with("Fold") || --left > 0;
    };
    try {
      run_curves(ctx, options, source);
      whole = true;
    } catch (interrupted const&) {
    }
  }
  EXPECT_GT(stops, 5);
  EXPECT_LT(stops, 100);
  EXPECT_EQ(files_in(stopped.path()), want);

  // Finished work is reused; damaged work is repeated.
  int notes = 0, warnings = 0;
  sinks out;
  out.note = [&](std::string const& what) {
    notes += what.ends_with("finished by an earlier run") ? 1 : 0;
  };
  out.warn = [&](std::string const&) { ++warnings; };
  ctx.progress = {};
  std::ofstream(fs::path(stopped.path()) / "curves" / "Fold2.json") << "{}";
  run_curves(ctx, options, source, out);
  EXPECT_EQ(notes, 2);
  EXPECT_EQ(warnings, 1);
  EXPECT_EQ(files_in(stopped.path()), want);
}

TEST(run_curves, has_the_same_bytes_for_any_number_of_processes_and_goes_on_with_others) {
  folds_in_memory const drawn(300);
  memory_folds const source(drawn.data, drawn.folds);
  temporary_folder const one, stopped;
  curve_options options = small_options();
  options.out_dir = one.path();
  context ctx;
  ctx.threads = 1;
  curve_results const expected = run_curves(ctx, options, source);
  auto const want = files_in(one.path());
  for (int const processes : {2, 3}) {
    temporary_folder const many;
    testing_tools::run_processes(processes, [&](process_group const& group) {
      curve_options mine = options;
      // A folder that cannot be created: only the first process writes.
      mine.out_dir = group.is_first() ? many.path().string() : "/dev/null/absent";
      context own = ctx;
      own.threads = processes == 2 ? 2 : 1;
      own.processes = &group;
      EXPECT_EQ(to_json(run_curves(own, mine, source)), to_json(expected));
    });
    EXPECT_EQ(files_in(many.path()), want);
  }
  // One process is interrupted; two, then three resume.
  options.out_dir = stopped.path();
  int left = 9;
  ctx.progress = [&](std::string_view stage, std::uint64_t, std::uint64_t) {
    return !stage.starts_with("Fold") || --left > 0;
  };
  EXPECT_THROW(run_curves(ctx, options, source), interrupted);
  for (int const processes : {2, 3}) {
    left = processes == 2 ? 7 : 1000000;
    auto const run = [&](process_group const& group) {
      context own = ctx;
      own.processes = &group;
      if (!group.is_first()) own.progress = {};
      int goes_on = 0;
      sinks out;
      out.note = [&](std::string const& what) {
        goes_on += what.find("continues after") != std::string::npos ? 1 : 0;
      };
      run_curves(own, options, source, out);
      EXPECT_EQ(goes_on, 1);
    };
    if (processes == 2)
      EXPECT_THROW(testing_tools::run_processes(processes, run), interrupted);
    else
      testing_tools::run_processes(processes, run);
  }
  EXPECT_EQ(files_in(stopped.path()), want);
}

TEST(run_curves, another_seed_draws_others) {
  folds_in_memory const drawn(300);
  memory_folds const source(drawn.data, drawn.folds);
  curve_options options = small_options();
  options.systems = {"rules"};
  options.ways = {"random"};
  options.budgets = {0.1};
  context ctx;
  auto const first = run_curves(ctx, options, source);
  ctx.seed = 2;
  EXPECT_NE(run_curves(ctx, options, source).folds[0].points[0].values,
            first.folds[0].points[0].values);
}

TEST(run_curves, fits_our_members_and_says_which_settings_were_chosen) {
  folds_in_memory const drawn(300);
  memory_folds const source(drawn.data, drawn.folds);
  curve_options options = small_options();
  options.systems = {"scorecard", "linear", "members"};
  options.ways = {"random"};
  options.budgets = {0.1, 1};
  curve_results const all = run_curves({}, options, source);
  EXPECT_EQ(all.ours, options.systems);
  EXPECT_TRUE(all.libraries.empty());
  std::map<std::string, double> means;
  for (curve_summary const& s : summaries(all))
    means[fmt::format("{} {} {}", s.system, name_of(s.settings), s.budget)] = s.means.at(0);
  EXPECT_EQ(means.size(), 3U * 2 * 2);
  for (auto const& [name, mean] : means) EXPECT_TRUE(mean > 0.3 && mean < 1) << name << mean;
  for (char const* const system : {"scorecard", "members"})
    EXPECT_GT(means[fmt::format("{} defaults 1", system)],
              means[fmt::format("{} defaults 0.1", system)]);
  std::string const text = render(all, eval::table_format::markdown);
  for (char const* const words :
       {"settings without a choice", "settings chosen by cross-fitting; pairs in order",
        "settings chosen on the validation sets by NDCG@10"})
    EXPECT_NE(text.find(words), std::string::npos) << words;
  EXPECT_EQ(text.find("our systems minus"), std::string::npos);  // no other library's system
  // Chosen among the defaults and the trials.
  nlohmann::ordered_json const data = to_json(all);
  EXPECT_EQ(data.at("cross_fitted_choices").size(), 9U);
  EXPECT_EQ(data.at("choices").size(), 9U);
}

TEST(run_curves, keeps_the_defaults_where_a_sample_says_nothing) {
  folds_in_memory drawn(300);
  for (std::int32_t& label : drawn.data.labels) label = 1;
  memory_folds const source(drawn.data, drawn.folds);
  curve_options options = small_options();
  options.systems = {"rules", "scorecard", "linear", "members"};
  options.ways = {"random"};
  options.budgets = {0.01, 0.1, 1};
  context ctx;
  std::set<std::uint64_t> tried;  // in a fold
  ctx.progress = [&](std::string_view stage, std::uint64_t, std::uint64_t of) {
    if (stage.ends_with("choose settings")) tried.insert(of);
    return true;
  };
  curve_results const all = run_curves(ctx, options, source);
  EXPECT_EQ(tried, std::set<std::uint64_t>{4 * 3 * learners::most_trials});
  for (curve_fold const& fold : all.folds) {
    ASSERT_EQ(fold.choices.size(), 4U * 3);
    for (curve_choice const& c : fold.choices) {
      if (c.by == setting_choice::cross_fitted) {
        EXPECT_EQ(c.value, 0.5);
      }
      EXPECT_EQ(c.steps, 0U);
      EXPECT_EQ(c.trial, learners::make_system(c.system).defaults.name) << c.budget;
    }
    for (curve_point const& p : fold.points)
      for (curve_point const& other : fold.points)
        if (p.way == other.way && p.budget == other.budget && p.draw == other.draw) {
          EXPECT_EQ(p.values, other.values);
        }
  }
}

TEST(setting_choice, has_a_word_each) {
  for (setting_choice const by : setting_choices) EXPECT_EQ(setting_choice_from(name_of(by)), by);
  EXPECT_THROW(setting_choice_from("tuned"), usage_error);
}

TEST(curve_options, that_make_no_sense) {
  EXPECT_NO_THROW(check(small_options()));
  auto const refused = [](auto const& change) {
    curve_options o = small_options();
    change(o);
    EXPECT_THROW(check(o), usage_error);
  };
  refused([](curve_options& o) { o.systems = {}; });
  refused([](curve_options& o) { o.systems = {"rules", "rules"}; });
  refused([](curve_options& o) { o.systems = {"best"}; });
  refused([](curve_options& o) { o.ways = {}; });
  refused([](curve_options& o) { o.ways = {"best"}; });
  refused([](curve_options& o) { o.ways = {"all"}; });  // not a way to choose a part
  refused([](curve_options& o) { o.budgets = {}; });
  refused([](curve_options& o) { o.budgets = {0.0}; });
  refused([](curve_options& o) { o.budgets = {0.5, 0.5}; });
  refused([](curve_options& o) { o.budgets = {1.5}; });
  refused([](curve_options& o) { o.draws = 0; });
  refused([](curve_options& o) { o.measures = {}; });
  curve_options o = small_options();
  EXPECT_TRUE(needs_validation(o));
  o.budgets = {0.1};
  EXPECT_FALSE(needs_validation(o));
}

}  // namespace
}  // namespace rulerank::experiment::learning_curves_test
