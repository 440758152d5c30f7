#include "al/published/engines.hpp"
#include "core/devices.hpp"
#include "core/machine.hpp"
#include "knn/dense/published/engines.hpp"
#include "knn/sparse/published/engines.hpp"
#include "l2r/published/engines.hpp"
#include "python/src/data.hpp"
#include "python/src/discretizer.hpp"
#include "python/src/evaluation.hpp"
#include "python/src/judge.hpp"
#include "python/src/mining.hpp"
#include "python/src/neighbours.hpp"
#include "python/src/pool.hpp"
#include "python/src/ranker.hpp"
#include "python/src/report.hpp"
#include "python/src/run.hpp"
#include "python/src/sampler.hpp"

#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

NB_MODULE(_core, m) {
  namespace python = rulerank::python;
  m.doc() = "The library of rulerank; the package's own modules are what is meant to be used.";
  rulerank::al::add_published_engines();
  rulerank::l2r::add_published_engines();
  rulerank::knn::add_published_dense_engines();
  rulerank::knn::add_published_sparse_engines();
  python::add_run(m);
  python::add_data(m);
  python::add_discretizer(m);
  python::add_evaluation(m);
  python::add_ranker(m);
  python::add_sampler(m);
  python::add_judge(m);
  python::add_mining(m);
  python::add_neighbours(m);
  python::add_pool(m);
  python::add_report(m);
  m.def("commit", [] { return std::string(rulerank::commit()); });
  m.def("devices", [] {
    std::vector<std::string> names;
    for (rulerank::device const& one : rulerank::list_devices().devices) names.push_back(one.name);
    return names;
  });
}
