// Reads a small text in SVMlight's form, cuts its features into bins, makes documents from arrays,
// and names what is wrong with bad input by line and column.
// Prints: 4 documents, 2 queries, 2 features, 6 items, D2, bad:2:11: value "x" of feature 1
#include "core/context.hpp"
#include "core/error.hpp"
#include "datasets/arrays.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/svmlight.hpp"

#include <iostream>
#include <string_view>

namespace datasets = rulerank::datasets;

int main() {
  rulerank::context const ctx;
  auto const data = datasets::parse_svmlight(ctx,
                                             "1 qid:a 1:0.5 2:3\n"
                                             "0 qid:a 2:1\n"
                                             "2 qid:b 1:0.25 2:3\n"
                                             "0 qid:b 2:3\n",
                                             "four lines");
  std::cout << data.size() << " documents, " << data.queries.size() << " queries, "
            << datasets::listed_features(data).size() << " features, ";

  datasets::discretizer_options options;
  options.method = datasets::binning::width;
  options.bins = 2;
  auto const cuts = datasets::fit_discretizer(ctx, data, options);
  std::cout << datasets::apply_discretizer(ctx, data, cuts).items() << " items, ";

  float const values[] = {0.5F, 3, 0.25F, 1};
  std::string_view const ids[] = {"D1", "D2"};
  datasets::document_arrays about;
  about.ids = ids;
  datasets::dense_rows<float> const rows{values, 2, 2, 2};
  std::cout << datasets::make_dataset(ctx, rows, about).docid(1) << ", ";

  try {
    datasets::parse_svmlight(ctx, "1 qid:a 1:0.5\n0 qid:a 1:x\n", "bad");
  } catch (rulerank::error const& fault) {
    std::cout << fault.what() << '\n';
  }
}
