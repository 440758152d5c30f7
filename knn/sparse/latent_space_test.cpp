#include "knn/sparse/latent_space.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/random.hpp"
#include "knn/sparse/sparse_index.hpp"

#include <algorithm>
#include <cmath>
#include <stop_token>
#include <vector>

#include <Eigen/SVD>
#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::latent_space_test {
namespace {

using rulerank::testing_tools::message_of;
using rulerank::testing_tools::says;
using matrix = Eigen::MatrixXd;

/// Returns the nonzero entries.
sparse_matrix sparse(matrix const& of) {
  sparse_matrix rows;
  for (Eigen::Index r = 0; r < of.rows(); ++r) {
    std::vector<std::uint32_t> terms;
    std::vector<double> weights;
    for (Eigen::Index c = 0; c < of.cols(); ++c)
      if (of(r, c) != 0) {
        terms.push_back(static_cast<std::uint32_t>(c));
        weights.push_back(of(r, c));
      }
    rows.push_row(terms, weights);
  }
  rows.terms = static_cast<std::uint32_t>(of.cols());
  return rows;
}

matrix drawn(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  random_engine draw(seed);
  matrix m = matrix::Zero(rows, columns);
  for (Eigen::Index r = 0; r < rows; ++r)
    for (Eigen::Index c = 0; c < columns; ++c)
      if (uniform_below(draw, 8) == 0)
        m(r, c) = (1 + uniform_unit(draw)) / static_cast<double>(1 + c % 17);
  return m;
}

matrix term_vectors(latent_space const& space) {
  using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<row_major const>(space.term_vectors().data(), space.terms(),
                                     static_cast<Eigen::Index>(space.dimensions()));
}

latent_space space_of(matrix const& rows, std::size_t dimensions, bool unit_rows = false,
                      context const& ctx = {}) {
  return {ctx, sparse_index(ctx, sparse(rows)), {dimensions, unit_rows}};
}

double largest_difference(matrix const& a, matrix const& b) {
  return (a - b).cwiseAbs().maxCoeff();
}

// A' A is {25, 20; 20, 25}: S is the roots of 45 and 5, V (1, 1) and (1, -1) over the root of 2,
// U = A V / S (1, 3) and (3, -1) over the root of 10, whose largest components are positive.
TEST(LatentSpace, OfAMatrixOfFour) {
  matrix a(2, 2);
  a << 3, 0, 4, 5;
  auto const space = space_of(a, 2);
  ASSERT_EQ(space.dimensions(), 2U);
  EXPECT_NEAR(space.singular_values()[0], std::sqrt(45.), 1e-12);
  EXPECT_NEAR(space.singular_values()[1], std::sqrt(5.), 1e-12);
  matrix v(2, 2);
  v << 1, 1, 1, -1;
  EXPECT_LT(largest_difference(term_vectors(space), v / std::sqrt(2.)), 1e-12);
  // U S: (3, 3) and (9, -1) over the root of 2; rows divided by their norms.
  auto const rows = space.fold_in({}, sparse(a));
  EXPECT_EQ(rows.type(), datasets::element::float64);
  double const expected[] = {1 / std::sqrt(2.), 1 / std::sqrt(2.), 9 / std::sqrt(82.),
                             -1 / std::sqrt(82.)};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(rows.values<double>()[i], expected[i], 1e-12);
  // Flipped signs in the matrix flip V, not U.
  auto const turned = space_of(-a, 2);
  EXPECT_LT(largest_difference(term_vectors(turned), -v / std::sqrt(2.)), 1e-12);
}

TEST(LatentSpace, RowsAreDividedByTheirNormsWhereAskedFor) {
  matrix a(3, 4);
  a << 3, 4, 0, 0, 0, 5, 12, 0, 0, 0, 0, 0;
  matrix unit = a;
  unit.row(0) /= 5;
  unit.row(1) /= 13;
  EXPECT_LT(largest_difference(term_vectors(space_of(a, 2, true)),
                               term_vectors(space_of(unit, 2, false))),
            1e-14);
  EXPECT_GT(
      largest_difference(term_vectors(space_of(a, 2, true)), term_vectors(space_of(a, 2, false))),
      1e-3);
}

/// Compares both ways, by documents and by terms, and both solvers, with Eigen's Jacobi SVD.
TEST(LatentSpace, IsTheTruncatedDecomposition) {
  struct shape {
    Eigen::Index rows, columns;
    std::size_t dimensions;
  };
  for (auto const& [rows, columns, dimensions] :
       {shape{120, 90, 12}, shape{90, 120, 12}, shape{70, 200, 65}, shape{200, 70, 65},
        shape{20, 30, 5}, shape{30, 20, 20}, shape{1, 3, 1}, shape{3, 1, 1}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", " << dimensions);
    matrix a = drawn(rows, columns, 5);
    a(0, 0) = 1;
    auto const space = space_of(a, dimensions);
    Eigen::JacobiSVD<matrix> const reference(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
    auto const k = static_cast<Eigen::Index>(dimensions);
    for (Eigen::Index j = 0; j < k; ++j)
      EXPECT_NEAR(space.singular_values()[static_cast<std::size_t>(j)],
                  reference.singularValues()[j], 1e-9);
    matrix const v = term_vectors(space);
    EXPECT_LT(largest_difference(v.transpose() * v, matrix::Identity(k, k)), 1e-9);
    matrix const of_reference = reference.matrixV().leftCols(k);
    EXPECT_LT(largest_difference(v * v.transpose(), of_reference * of_reference.transpose()), 1e-8);
    matrix const u = a * v;
    for (Eigen::Index j = 0; j < k; ++j) {
      Eigen::Index at = 0;
      u.col(j).cwiseAbs().maxCoeff(&at);
      EXPECT_GT(u(at, j), 0) << "the sign of column " << j;
    }
  }
}

TEST(LatentSpace, FoldsInWhatIsNotOfIt) {
  matrix const a = drawn(100, 80, 6);
  auto const space = space_of(a, 7);
  sparse_matrix rows = sparse(drawn(9, 80, 7));
  rows.push_row({}, {});
  rows.push_row(std::vector<std::uint32_t>{3, 90}, std::vector<double>{2, 1});
  rows.push_row(std::vector<std::uint32_t>{3}, std::vector<double>{2});
  rows.push_row(std::vector<std::uint32_t>{95}, std::vector<double>{5});
  auto const folded = space.fold_in({}, rows);
  ASSERT_EQ(folded.size(), 13U);
  ASSERT_EQ(folded.dimensions(), 7U);
  matrix const v = term_vectors(space);
  for (std::size_t r = 0; r < folded.size(); ++r) {
    Eigen::VectorXd q = Eigen::VectorXd::Zero(80);
    sparse_row const row = sparse_rows(rows)[r];
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row.term[i] < 80) q[row.term[i]] = row.weight[i];
    Eigen::VectorXd expected = v.transpose() * q;
    if (expected.norm() > 0) expected /= expected.norm();
    for (std::size_t j = 0; j < 7; ++j)
      EXPECT_NEAR(folded.row<double>(r)[j], expected[static_cast<Eigen::Index>(j)], 1e-12);
  }
  for (std::size_t j = 0; j < 7; ++j) {
    EXPECT_EQ(folded.row<double>(9)[j], 0) << "a row without terms";
    EXPECT_EQ(folded.row<double>(10)[j], folded.row<double>(11)[j]) << "a term that is not known";
    EXPECT_EQ(folded.row<double>(12)[j], 0);
  }
}

TEST(LatentSpace, ThreadsChangeNoBitAndSeedsLittle) {
  matrix const a = drawn(3000, 1500, 8);  // more weights than one thread processes at once
  ASSERT_GT(sparse(a).weight.size(), std::size_t{1} << 19);
  context one, four, other;
  one.threads = 1;
  four.threads = 4;
  other.seed = 99;
  auto const first = space_of(a, 10, true, one), second = space_of(a, 10, true, four),
             third = space_of(a, 10, true, other);
  EXPECT_TRUE(std::ranges::equal(first.term_vectors(), second.term_vectors()));
  EXPECT_TRUE(std::ranges::equal(first.singular_values(), second.singular_values()));
  matrix const v = term_vectors(first), w = term_vectors(third);
  EXPECT_FALSE(std::ranges::equal(first.term_vectors(), third.term_vectors()));
  EXPECT_LT(largest_difference(v * v.transpose(), w * w.transpose()), 1e-8);
  auto const rows = sparse(a);
  EXPECT_TRUE(std::ranges::equal(first.fold_in(one, rows).values<double>(),
                                 second.fold_in(four, rows).values<double>()));
}

TEST(LatentSpace, RefusesMoreDimensionsThanTheRank) {
  matrix a = drawn(40, 30, 9);
  EXPECT_NO_THROW(space_of(a, 30));
  EXPECT_THROW(space_of(a, 31), usage_error);
  // 5 distinct rows, each 30 times: the rank is 5 with either solver.
  matrix const some = drawn(5, 200, 10);
  matrix many(150, 200);
  for (Eigen::Index r = 0; r < 150; ++r) many.row(r) = some.row(r % 5);
  EXPECT_EQ(space_of(many, 5).dimensions(), 5U);
  for (std::size_t const dimensions : {6U, 20U, 100U, 160U})
    EXPECT_PRED2(says, message_of<usage_error>([&] { space_of(many, dimensions); }),
                 "...expected at most 5, the rank...");
  EXPECT_THROW(space_of(matrix::Zero(4, 4), 1), usage_error);
}

TEST(LatentSpace, RefusesWhatMakesNoSense) {
  matrix const a = drawn(10, 10, 11);
  EXPECT_THROW(space_of(a, 0), usage_error);
  EXPECT_THROW(space_of(a, latent_space::most_dimensions + 1), usage_error);
  sparse_index const index({}, sparse(a));
  for (double const wrong : {0., 1., -1., std::nan("")})
    EXPECT_THROW(latent_space({}, index, {.dimensions = 2, .tolerance = wrong}), usage_error);
  EXPECT_THROW(space_of(a, 2).fold_in({}, sparse_rows()), usage_error);
  sparse_matrix bad;
  bad.push_row(std::vector<std::uint32_t>{1}, std::vector<double>{std::nan("")});
  EXPECT_THROW(space_of(a, 2).fold_in({}, bad), usage_error);
}

TEST(LatentSpace, Stops) {
  matrix const a = drawn(200, 200, 12);
  sparse_index const index({}, sparse(a));
  std::stop_source source;
  context ctx;
  ctx.stop = source.get_token();
  int calls = 0;
  ctx.progress = [&](std::string_view, std::uint64_t, std::uint64_t) {
    if (++calls == 5) source.request_stop();
    return true;
  };
  EXPECT_THROW(latent_space(ctx, index, {.dimensions = 10}), interrupted);
  EXPECT_LT(calls, 8);
}

}  // namespace
}  // namespace rulerank::knn::latent_space_test
