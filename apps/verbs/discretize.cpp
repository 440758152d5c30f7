#include "apps/shared/arguments/arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

namespace fs = std::filesystem;

struct discretize_arguments {
  std::string train;
  std::vector<std::string> apply;
  std::string out_dir;
  std::string model;
  reading_arguments reading;
  discretizer_arguments discretizer;
};

struct job {
  std::string in;
  std::string out;
};

/// The input's own name without .gz and .zst, because outputs are plain text.
std::string output_name(std::string const& input) {
  if (input == "-") return "stdin.txt";
  fs::path const name = fs::path(input).filename();
  bool const packed = name.extension() == ".gz" || name.extension() == ".zst";
  return packed ? name.stem().string() : name.string();
}

/// Plans the output of every input; throws if outputs coincide with each other or an input.
std::vector<job> plan(session& owner, discretize_arguments const& arguments,
                      std::string const& model) {
  std::vector<std::string> inputs = arguments.apply;
  if (!arguments.train.empty()) inputs.insert(inputs.begin(), arguments.train);
  if (inputs.empty())
    throw usage_error(
        "found no input, expected --train FILE, or --discretizer FILE and --apply FILE");
  std::vector<session::named_output> outputs{
      {arguments.model.empty() ? "the cut points" : "--discretizer-out", model}};
  std::vector<job> jobs;
  for (std::string const& input : inputs) {
    std::string const out = (fs::path(arguments.out_dir) / output_name(input)).string();
    bool const train = jobs.empty() && !arguments.train.empty();
    outputs.push_back({fmt::format("{} {}", train ? "--train" : "--apply", input), out});
    jobs.push_back({input, out});
  }
  owner.outputs(outputs, arguments.out_dir);
  std::vector<session::named_input> read;
  for (std::string const& input : inputs)
    read.push_back({read.empty() && !arguments.train.empty() ? "--train" : "--apply", input});
  arguments.reading.check_inputs(owner, read);
  for (std::string const& input : inputs)
    for (session::named_output const& output : outputs) {
      std::error_code absent;
      if (fs::equivalent(input, output.path, absent))
        throw usage_error(fmt::format(
            "--out-dir {}: {} would overwrite the input {}, expected a different folder",
            arguments.out_dir, output.name, input));
    }
  return jobs;
}

/// Writes a file with bin numbers, without committing it.
output_file binned_file(session& owner, discretize_arguments const& arguments,
                        datasets::dataset data, datasets::discretizer const& fitted,
                        std::string const& path) {
  {
    auto const timer = owner.stage("apply");
    auto const binned = datasets::apply_discretizer(owner.ctx(), data, fitted);
    data = datasets::with_bin_numbers(owner.ctx(), std::move(data), binned);
  }
  auto const timer = owner.stage("write");
  if (arguments.reading.unlabelled)
    std::replace(data.labels.begin(), data.labels.end(), datasets::unlabelled,
                 *arguments.reading.unlabelled);
  output_file out(path);
  datasets::write_dataset(data, out);
  return out;
}

void discretize(session& owner, discretize_arguments const& arguments) {
  discretizer_arguments const& how = arguments.discretizer;
  how.options();  // throws for unknown keywords before anything is read
  std::string const model = arguments.model.empty()
                                ? (fs::path(arguments.out_dir) / "discretizer.json").string()
                                : arguments.model;
  std::vector<job> const jobs = plan(owner, arguments, model);

  auto summary = nlohmann::ordered_json::object();
  datasets::discretizer fitted;
  folder_lock lock;
  std::vector<output_file> written;  // committed together: all files or none
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    datasets::dataset data;
    {
      auto const timer = owner.stage("read");
      data = arguments.reading.read(owner, jobs[i].in, i);
    }
    if (i == 0) {
      {
        auto const timer = owner.stage("fit");
        fitted = how.fit_or_read(owner, data);
      }
      lock = owner.hold(arguments.out_dir);
      datasets::write_discretizer(fitted, written.emplace_back(model));
      auto const cut = std::count_if(fitted.features.begin(), fitted.features.end(),
                                     [](auto const& f) { return !f.cuts.empty(); });
      summary["model"] = model;
      summary["features"] = fitted.features.size();
      summary["features_with_cuts"] = cut;
      summary["files"] = nlohmann::ordered_json::array();
      owner.say(fmt::format("{} of {} {} cuts; wrote them to {}", cut,
                            counted(fitted.features.size(), "feature"), cut == 1 ? "has" : "have",
                            model));
    }
    warn_of_lacking_features(owner, data, fitted);
    summary["files"].push_back(
        {{"input", jobs[i].in}, {"output", jobs[i].out}, {"documents", data.size()}});
    written.push_back(binned_file(owner, arguments, std::move(data), fitted, jobs[i].out));
  }
  for (output_file& file : written) file.commit();
  if (owner.prints_json()) {
    output_file out("-");
    out.write(json_text_of(summary));
    out.commit();
  }
}

}  // namespace

void add_discretize(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<discretize_arguments>(
      program, owner, "discretize", "Cut features into bins and write the bin numbers",
      "rulerank discretize --train Fold1/train.txt --apply Fold1/vali.txt Fold1/test.txt "
      "--method tube --bins 10 --out-dir binned",
      discretize);
  auto* const train =
      path_option(verb, "--train,TRAIN", a.train,
                  "Documents that the cuts are fitted to (SVMlight, CSV or TSV); written too")
          ->group(input_group);
  path_option(verb, "--apply", a.apply, "More files to cut into the same bins")->group(input_group);
  path_option(verb, "--out-dir D", a.out_dir,
              "Folder for the written files, each with the name of its input")
      ->required()
      ->group(output_group);
  renamed_option(verb, "--model", "0.1.0",
                 path_option(verb, "--discretizer-out M.json", a.model, "Output file of the cuts")
                     ->group(output_group)
                     ->default_str("D/discretizer.json"));
  a.discretizer.add_to(verb);
  a.reading.add_to(verb);
  verb.get_option("--discretizer")->excludes(train);
  usual_options(verb, {"--train", "--apply", "--out-dir", "--method", "--bins", "--norm"});
}

}  // namespace rulerank::apps
