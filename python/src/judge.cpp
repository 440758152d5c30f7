#include "python/src/judge.hpp"

#include "core/error.hpp"
#include "labelling/judge/program_judge.hpp"
#include "python/src/run.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace rulerank::inline v0::python {

namespace {

using namespace nb::literals;

/// A judge until it is closed.
class python_judge {
 public:
  explicit python_judge(labelling::judge_options options)
      : judge_(std::make_unique<labelling::program_judge>(std::move(options))) {}

  /// A dict for each request, a JSON text; None where the program gave no answer.
  nb::list judge(run_settings const& how, std::vector<std::string> const& requests) {
    labelling::program_judge& judge = open();
    auto const verdicts = run(how, [&](context const& ctx) {
      std::vector<nlohmann::ordered_json> questions;
      for (std::string const& one : requests)
        questions.push_back(nlohmann::ordered_json::parse(one));
      return judge.judge(ctx, questions);
    });
    nb::list all;
    for (auto const& verdict : verdicts) all.append(verdict ? dict_of(*verdict) : nb::none());
    return all;
  }
  void close() { judge_.reset(); }
  labelling::program_judge const& state() { return open(); }

 private:
  labelling::program_judge& open() {
    if (!judge_) throw usage_error("the judge is closed");
    return *judge_;
  }
  static nb::object dict_of(labelling::verdict const& from) {
    nb::dict all;
    all["label"] = from.label ? nb::cast(*from.label) : nb::none();
    all["probabilities"] = from.probabilities;
    all["cost"] = from.cost;
    all["reason"] = from.reason;
    all["source"] = from.source;
    all["time"] = from.time;
    return all;
  }

  std::unique_ptr<labelling::program_judge> judge_;
};

}  // namespace

void add_judge(nb::module_& to) {
  nb::class_<python_judge>(to, "ProgramJudge", "A program that gives labels, and its record.")
      .def(
          "__init__",
          [](python_judge* self, std::string command, std::string record, std::int32_t max_label,
             double seconds, std::uint64_t max_calls, double max_cost) {
            new (self) python_judge({.command = std::move(command),
                                     .record = std::move(record),
                                     .seconds = seconds,
                                     .most_calls = max_calls,
                                     .most_cost = max_cost,
                                     .max_label = max_label});
          },
          "command"_a, "record"_a, "max_label"_a, "seconds"_a, "max_calls"_a, "max_cost"_a)
      .def("judge", &python_judge::judge, "run"_a, "requests"_a)
      .def("close", &python_judge::close)
      .def_prop_ro("calls", [](python_judge& self) { return self.state().calls(); })
      .def_prop_ro("cost", [](python_judge& self) { return self.state().cost(); })
      .def_prop_ro("recalled", [](python_judge& self) { return self.state().recalled(); })
      .def_prop_ro("problem", [](python_judge& self) { return self.state().problem(); });
}

}  // namespace rulerank::python
