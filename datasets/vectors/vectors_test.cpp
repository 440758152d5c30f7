#include "datasets/vectors.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/testing.hpp"
#include "datasets/vectors/testing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::vectors_test {
namespace {

using namespace rulerank::testing_tools;
using namespace rulerank::datasets::testing_tools;
using format = vectors_format;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class T>
std::vector<T> all_values(vectors const& of) {
  auto const values = of.values<T>();
  return {values.begin(), values.end()};
}

std::string raw(vectors const& of) {
  return {reinterpret_cast<char const*>(of.data()), of.bytes()};
}

context with_threads(int threads) {
  context ctx;
  ctx.threads = threads;
  return ctx;
}

class vector_files : public ::testing::Test {
 protected:
  std::string file(std::string const& name, std::string_view bytes) {
    std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  vectors read(std::string const& name, std::string_view bytes, bool copy = false) {
    return read_vectors(context{}, file(name, bytes), {.format = format::automatic, .copy = copy});
  }
  /// Returns the message about a file, without its path.
  std::string complaint(std::string const& name, std::string_view bytes) {
    std::string const path = file(name, bytes);
    return complaint_of(path, [&] { read_vectors(with_threads(1), path); });
  }
  std::string class_complaint(std::string const& name, std::string_view bytes) {
    std::string const path = file(name, bytes);
    return complaint_of(path, [&] { read_classes(context{}, path); });
  }
  temporary_folder folder_;
};

/// Random vectors of a type, including its largest and smallest values.
template <class T>
vectors random_vectors(std::size_t rows, std::size_t dimensions, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<T> values(rows * dimensions);
  for (T& value : values) {
    auto const draw = engine();
    if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(draw);
    else
      value = static_cast<T>(
          std::ldexp(static_cast<double>(draw >> 40) - 0x1p23, static_cast<int>(draw & 15) - 24));
  }
  if constexpr (std::is_integral_v<T>) values.front() = std::numeric_limits<T>::min();
  return {std::move(values), dimensions};
}

vectors random_vectors(element type, std::size_t rows, std::size_t dimensions, std::uint64_t seed) {
  switch (type) {
    case element::float16:
      return random_vectors<float16>(rows, dimensions, seed);
    case element::bfloat16:
      return random_vectors<bfloat16>(rows, dimensions, seed);
    case element::int8:
      return random_vectors<std::int8_t>(rows, dimensions, seed);
    case element::uint8:
      return random_vectors<std::uint8_t>(rows, dimensions, seed);
    case element::int32:
      return random_vectors<std::int32_t>(rows, dimensions, seed);
    case element::float64:
      return random_vectors<double>(rows, dimensions, seed);
    default:
      return random_vectors<float>(rows, dimensions, seed);
  }
}

TEST(vectors_in_memory, have_rows_of_their_type) {
  vectors const v(std::vector<float>{1, 2, 3, 4, 5, 6}, 3);
  EXPECT_EQ(v.size(), 2);
  EXPECT_EQ(v.dimensions(), 3);
  EXPECT_EQ(v.type(), element::float32);
  EXPECT_EQ(v.row<float>(1)[0], 4);
  EXPECT_EQ(v.bytes(), 24);
  EXPECT_EQ(v.visit([](auto values) { return values.size() * sizeof(values[0]); }), 24);
  EXPECT_THROW(v.values<double>(), usage_error);
  EXPECT_THROW(v.row<std::int32_t>(0), usage_error);
}

TEST(vectors_in_memory, outlive_what_they_are_a_part_of) {
  vectors part;
  EXPECT_TRUE(part.empty());
  part = vectors(std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}, 2).rows(1, 2);
  EXPECT_EQ(all_values<std::uint8_t>(part), (std::vector<std::uint8_t>{3, 4, 5, 6}));
  part.expect_unchanged();
}

TEST(vectors_in_memory, refuse_what_is_no_matrix) {
  EXPECT_THROW(vectors(std::vector<float>{1, 2, 3}, 2), usage_error);
  EXPECT_THROW(vectors(std::vector<float>{}, 0), usage_error);
  alignas(8) char const bytes[16] = {};
  EXPECT_THROW(vectors(element::float32, bytes + 2, 1, 1), usage_error);
  EXPECT_THROW(vectors(element::float32, bytes, 1, 0), usage_error);
  EXPECT_EQ(vectors(element::float16, bytes + 2, 1, 1).size(), 1);
  EXPECT_EQ(vectors(std::vector<float>{}, 3).size(), 0);
}

TEST(vectors_in_memory, name_their_types) {
  for (named_element const& one : elements()) {
    EXPECT_EQ(name_of(one.which), one.name);
    EXPECT_EQ(random_vectors(one.which, 2, 3, 1).type(), one.which);
    EXPECT_EQ(random_vectors(one.which, 2, 3, 1).bytes(), 6 * one.bytes);
  }
  for (named_vectors_format const& one : vectors_formats()) {
    EXPECT_EQ(name_of(one.which), one.name);
    EXPECT_EQ(vectors_format_from(one.name), one.which);
  }
  EXPECT_THROW(vectors_format_from("fvec"), usage_error);
}

/// Returns all finite nonnegative values of a 16-bit type, ascending.
template <class T>
std::vector<double> magnitudes(std::uint16_t infinity_bits) {
  std::vector<double> values;
  for (std::uint16_t bits = 0; bits < infinity_bits; ++bits) {
    T value;
    value.bits = bits;
    values.push_back(static_cast<float>(value));
  }
  return values;
}

/// Tests between all neighbouring values: the lower one, the upper one and, in the middle, the even
/// one.
template <class T>
void expect_nearest(std::uint16_t infinity_bits) {
  std::vector<double> values = magnitudes<T>(infinity_bits);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  EXPECT_EQ(std::adjacent_find(values.begin(), values.end()), values.end());
  // The value that would follow if there were no infinity.
  values.push_back(2 * values.back() - values[values.size() - 2]);
  auto const bits = [](double value) { return T(value).bits; };
  for (std::uint16_t low = 0; low < infinity_bits; ++low) {
    std::uint16_t const high = low + 1;
    double const middle = (values[low] + values[high]) / 2;
    ASSERT_EQ(bits(values[low]), low);
    ASSERT_EQ(bits(-values[low]), low | 0x8000);
    ASSERT_EQ(bits(middle), low % 2 == 0 ? low : high) << low;
    ASSERT_EQ(bits(std::nextafter(middle, 0)), low);
    ASSERT_EQ(bits(std::nextafter(middle, infinity)), high);
  }
  EXPECT_EQ(bits(infinity), infinity_bits);
  EXPECT_EQ(bits(-std::numeric_limits<double>::max()), infinity_bits | 0x8000);
  EXPECT_EQ(bits(std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_TRUE(std::isnan(static_cast<float>(T(not_a_number))));
  T special;
  special.bits = infinity_bits;
  EXPECT_EQ(static_cast<float>(special), infinity);
  special.bits = 0xffff;
  EXPECT_TRUE(std::isnan(static_cast<float>(special)));
}

TEST(values_of_16_bits, are_the_published_ones) {
  auto const half = [](std::uint16_t bits) {
    float16 value;
    value.bits = bits;
    return static_cast<float>(value);
  };
  EXPECT_EQ(half(0x3c00), 1.0F);
  EXPECT_EQ(half(0xc000), -2.0F);
  EXPECT_EQ(half(0x7bff), 65504.0F);
  EXPECT_EQ(half(0x0400), 0x1p-14F);
  EXPECT_EQ(half(0x03ff), 0x1p-14F - 0x1p-24F);
  EXPECT_EQ(half(0x0001), 0x1p-24F);
  EXPECT_EQ(half(0x3555), 0.333251953125F);
  EXPECT_TRUE(std::signbit(half(0x8000)));
  EXPECT_EQ(float16(1.0 / 3).bits, 0x3555);
  EXPECT_EQ(bfloat16(1.0 / 3).bits, 0x3eab);
  EXPECT_EQ(float16(65519.99).bits, 0x7bff);
  EXPECT_EQ(float16(65520).bits, 0x7c00);
}
TEST(values_of_16_bits, round_to_nearest_even) {
  expect_nearest<float16>(0x7c00);
  expect_nearest<bfloat16>(0x7f80);
}

/// Returns the message of `expect_finite`.
std::string fault_of(vectors const& values, int threads = 1) {
  return complaint_of("v", [&] { expect_finite(with_threads(threads), values); });
}

TEST(finite_values, are_expected_by_row_and_column) {
  EXPECT_EQ(fault_of({std::vector<float>{0, 1, not_a_number, 2}, 2, "v"}),
            ":2:1: found NaN in row 2, column 1 (both from 1), expected a finite number");
  EXPECT_EQ(fault_of({std::vector<double>{0, 1, 3, -infinity}, 2, "v"}),
            ":2:2: found -inf in row 2, column 2 (both from 1), expected a finite number");
  EXPECT_EQ(fault_of({std::vector<double>{1e150, -1.1e150}, 1, "v"}),
            ":2:1: found -1.1e+150 in row 2, column 1 (both from 1), expected a value of at most "
            "1e+150");
  EXPECT_EQ(fault_of({std::vector<float16>{float16(1), float16(infinity)}, 2, "v"}),
            ":1:2: found inf in row 1, column 2 (both from 1), expected a finite number");
  EXPECT_EQ(fault_of({std::vector<bfloat16>{bfloat16(not_a_number)}, 1, "v"}),
            ":1:1: found NaN in row 1, column 1 (both from 1), expected a finite number");
  EXPECT_EQ(fault_of({std::vector<float>{std::numeric_limits<float>::max(),
                                         std::numeric_limits<float>::denorm_min()},
                      2, "v"}),
            "OK");
  EXPECT_EQ(fault_of({std::vector<float16>{float16(65504), float16(-65504)}, 2, "v"}), "OK");
  EXPECT_EQ(fault_of({std::vector<bfloat16>{bfloat16(3e38), bfloat16(-3e38)}, 2, "v"}), "OK");
  for (element const type : {element::int8, element::uint8, element::int32})
    expect_finite(context{}, random_vectors(type, 3, 3, 1));
}

// Converted values are not checked again, so conversion must reject values that are not finite.
TEST(finite_values, are_all_that_conversion_to_the_nearest_makes) {
  vectors const wide(std::vector<double>{1, -1e300}, 1, "v");
  for (element const to : {element::float32, element::float16, element::bfloat16})
    EXPECT_EQ(complaint_of("v", [&] { converted(context{}, wide, to, rounding::nearest); }),
              fmt::format(":2:1: found -1e+300 in row 2, column 1 (both from 1), expected a value "
                          "within the range of {}",
                          name_of(to)));
  vectors const infinite(std::vector<float>{1, infinity}, 1, "v");
  EXPECT_EQ(fault_of(converted(context{}, infinite, element::float64)),
            ":2:1: found inf in row 2, column 1 (both from 1), expected a finite number");
}

TEST(finite_values, are_missed_first_in_the_first_row_for_any_threads) {
  constexpr std::size_t dimensions = 7;
  std::vector<float> values(dimensions * 60000, 1.0F);
  for (std::size_t const bad : {200001, 200002, 399999, 131072 + 5}) values[bad] = not_a_number;
  vectors const v(values, dimensions, "v");
  for (int const threads : {1, 2, 4, 7})
    EXPECT_EQ(fault_of(v, threads),
              fmt::format(":{0}:{1}: found NaN in row {0}, column {1} (both from 1), expected a "
                          "finite number",
                          131077 / dimensions + 1, 131077 % dimensions + 1));
}

// The second thread finds its fault last; it must not replace the first fault.
TEST(finite_values, are_missed_first_also_where_a_later_one_is_found_last) {
  std::vector<float> values(1 << 17, 1.0F);
  values.front() = values.back() = not_a_number;
  vectors const v(values, 1, "v");
  for (int round = 0; round < 25; ++round)
    ASSERT_EQ(fault_of(v, 2),
              ":1:1: found NaN in row 1, column 1 (both from 1), expected a finite number");
}

TEST(conversions, keep_each_value_or_say_which_they_cannot) {
  context const ctx;
  vectors const doubles(std::vector<double>{0.5, -0.0, 3, 0.1}, 2, "v");
  EXPECT_EQ(complaint_of("v", [&] { converted(ctx, doubles, element::float32); }),
            ":2:2: found 0.1 in row 2, column 2 (both from 1), expected a value of type f32");
  vectors const rounded = converted(ctx, doubles, element::float32, rounding::nearest);
  EXPECT_EQ(all_values<float>(rounded), (std::vector<float>{0.5F, -0.0F, 3, 0.1F}));
  EXPECT_TRUE(std::signbit(rounded.values<float>()[1]));
  EXPECT_EQ(all_values<double>(converted(ctx, rounded.rows(0, 1), element::float64)),
            (std::vector<double>{0.5, 0}));
  EXPECT_EQ(converted(ctx, doubles, element::float64).data(), doubles.data());

  auto const one = [&](double value, element to, rounding how) {
    return complaint_of("v", [&] {
      converted(ctx, {std::vector<double>{value}, 1, "v"}, to, how);
    });
  };
  std::string const begin = ":1:1: found ";
  for (rounding const how : {rounding::exact, rounding::nearest}) {
    EXPECT_EQ(one(0.5, element::int32, how),
              begin + "0.5 in row 1, column 1 (both from 1), expected a value of type i32");
    EXPECT_EQ(one(128, element::int8, how),
              begin + "128 in row 1, column 1 (both from 1), expected a value of type i8");
    EXPECT_EQ(one(-1, element::uint8, how),
              begin + "-1 in row 1, column 1 (both from 1), expected a value of type u8");
    EXPECT_EQ(one(-128, element::int8, how), "OK");
    EXPECT_EQ(one(255, element::uint8, how), "OK");
    EXPECT_EQ(one(-2147483648.0, element::int32, how), "OK");
    EXPECT_NE(one(2147483648.0, element::int32, how), "OK");
    EXPECT_NE(one(not_a_number, element::float16, how), "OK");
    EXPECT_NE(one(1e39, element::float32, how), "OK");
    EXPECT_NE(one(65520, element::float16, how), "OK");
  }
  EXPECT_EQ(one(65519, element::float16, rounding::nearest), "OK");
  EXPECT_EQ(one(1e39, element::bfloat16, rounding::nearest),
            begin +
                "1e+39 in row 1, column 1 (both from 1), expected a value within the range of "
                "bf16");
}

TEST(conversions, go_through_wider_types_and_back) {
  for (auto const& [narrow, wide] : {std::pair{element::int8, element::float16},
                                     {element::uint8, element::int32},
                                     {element::uint8, element::bfloat16},
                                     {element::float16, element::float32},
                                     {element::bfloat16, element::float32},
                                     {element::int32, element::float64},
                                     {element::float32, element::float64}})
    for (int const threads : {1, 3}) {
      vectors const v = random_vectors(narrow, 3001, 13, 7);
      context const ctx = with_threads(threads);
      vectors const there = converted(ctx, v, wide);
      EXPECT_EQ(there.type(), wide);
      EXPECT_EQ(raw(converted(ctx, there, narrow)), raw(v)) << name_of(narrow);
      for (std::size_t i = 0; i < 3001 * 13; i += 997) {
        auto const at = [i](vectors const& of) {
          return of.visit([i](auto values) {
            if constexpr (std::is_class_v<typename decltype(values)::value_type>)
              return static_cast<double>(static_cast<float>(values[i]));
            else
              return static_cast<double>(values[i]);
          });
        };
        ASSERT_EQ(at(v), at(there));
      }
    }
}

TEST(conversions, stop) {
  std::stop_source stop;
  stop.request_stop();
  context ctx;
  ctx.stop = stop.get_token();
  vectors const v = random_vectors(element::float32, 10, 10, 1);
  EXPECT_THROW(converted(ctx, v, element::float64), interrupted);
  EXPECT_THROW(expect_finite(ctx, v), interrupted);
}

/// A file of each format made by hand, and its content.
struct golden_file {
  std::string name;
  std::string bytes;
  element type;
  std::size_t rows;
  std::size_t dimensions;
  std::string values;  ///< the bytes of all values
};

std::vector<golden_file> golden_files() {
  auto const six = [](auto... v) { return bytes_of_values({v...}); };
  std::string const f32 = six(1.5F, -2.0F, 3.25F, 0.0F, 1e-40F, 6.0F);
  std::string const f64 = six(1.5, -2.0, 0.1, 0.0, 1e-310, 6.0);
  std::string const u16 = bytes_of_values<std::uint16_t>({0x3c00, 0xc000, 0x0001, 0x7bff, 0, 1});
  std::string const i32 = six(1, -2, 2147483647, 0, 5, 6);
  std::string const b8("\x01\xff\x00\x80\x7f\x05", 6);
  auto const rows_of = [](std::string const& values, std::size_t row) {
    return u32(3) + values.substr(0, row) + u32(3) + values.substr(row);
  };
  std::string const shape = u32(2) + u32(3);
  return {
      {"a.npy", numpy(numpy_dictionary("<f4", "(2, 3)"), f32), element::float32, 2, 3, f32},
      {"a.npy", numpy(numpy_dictionary("<f8", "(2, 3)"), f64, 2), element::float64, 2, 3, f64},
      {"a.npy", numpy(numpy_dictionary("<f2", "(3, 2)"), u16, 3), element::float16, 3, 2, u16},
      {"a.npy", numpy(numpy_dictionary("<i4", "(6, 1)"), i32), element::int32, 6, 1, i32},
      {"a.npy", numpy(numpy_dictionary("|i1", "(2L, 3L)"), b8), element::int8, 2, 3, b8},
      {"a.npy", numpy("{\"shape\" :(1,6,),\n'fortran_order':False , 'descr':'>u1'}", b8),
       element::uint8, 1, 6, b8},
      {"a.npy", numpy("{'descr': '<u1', 'fortran_order': False, 'shape': (1,6)}", b8),
       element::uint8, 1, 6, b8},
      {"a.fvecs", rows_of(f32, 12), element::float32, 2, 3, f32},
      {"a.bvecs", rows_of(b8, 3), element::uint8, 2, 3, b8},
      {"a.ivecs", rows_of(i32, 12), element::int32, 2, 3, i32},
      {"a.fbin", shape + f32, element::float32, 2, 3, f32},
      {"a.u8bin", shape + b8, element::uint8, 2, 3, b8},
      {"a.i8bin", shape + b8, element::int8, 2, 3, b8},
      {"a.ibin", shape + i32, element::int32, 2, 3, i32},
      {"a.idx", idx_file(8, {1, 2, 3}, b8), element::uint8, 1, 6, b8},
      {"images-idx2-ubyte", idx_file(9, {2, 3}, b8), element::int8, 2, 3, b8},
  };
}

TEST_F(vector_files, are_read_as_they_are_documented) {
  for (golden_file const& golden : golden_files())
    for (bool const copy : {false, true})
      for (std::string const packed : {"", ".gz", ".zst"}) {
        std::string const bytes = packed.empty()    ? golden.bytes
                                  : packed == ".gz" ? gzip(golden.bytes)
                                                    : zstd(golden.bytes);
        vectors const v = read(golden.name + packed, bytes, copy);
        ASSERT_EQ(v.type(), golden.type) << golden.name;
        ASSERT_EQ(v.size(), golden.rows);
        ASSERT_EQ(v.dimensions(), golden.dimensions);
        ASSERT_EQ(raw(v), golden.values) << golden.name;
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(v.data()) % bytes_of(v.type()), 0);
        v.expect_unchanged();
      }
}

TEST_F(vector_files, cut_anywhere_or_too_long_are_errors) {
  for (golden_file const& golden : golden_files()) {
    bool const parts = golden.name.ends_with("vecs");  // a prefix of whole rows is a valid file
    for (std::size_t size = 0; size <= golden.bytes.size() + 1; ++size) {
      if (size == golden.bytes.size()) continue;
      std::string bytes = golden.bytes;
      bytes.resize(size, '\x01');
      if (parts && size == golden.bytes.size() / 2)
        EXPECT_EQ(read(golden.name, bytes).size(), 1);
      else
        EXPECT_NE(complaint(golden.name, bytes), "OK") << golden.name << ' ' << size;
    }
  }
}

TEST_F(vector_files, are_mapped_where_rows_lie_as_in_memory) {
  for (golden_file const& golden : golden_files())
    for (bool const copy : {false, true}) {
      vectors const v = read(golden.name, golden.bytes, copy);
      std::ofstream(folder_ / golden.name, std::ios::app) << "more";
      bool const gaps = golden.name.ends_with("vecs");
      bool const shifted = (golden.bytes.size() - golden.values.size()) % bytes_of(v.type()) != 0;
      if (gaps || shifted || copy)
        v.expect_unchanged();
      else
        EXPECT_EQ(complaint_of(folder_ / golden.name, [&] { v.rows(0, 1).expect_unchanged(); }),
                  ": was changed while it was read, expected the same file to the end");
      EXPECT_EQ(raw(v), golden.values);
    }
}

struct bad_file {
  std::string name;
  std::string bytes;
  std::string said;
};

TEST_F(vector_files, of_numpy_by_columns_and_of_other_integers) {
  auto const read = [&](std::string_view descr, char const* order, std::string const& bytes) {
    write_file(folder_ / "a.npy", numpy(numpy_dictionary(descr, "(2, 3)", order), bytes));
    return read_vectors(context{}, folder_ / "a.npy");
  };
  EXPECT_EQ(raw(read("<f4", "True", bytes_of_values({1.0F, 4.0F, 2.0F, 5.0F, 3.0F, 6.0F}))),
            bytes_of_values({1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}));
  std::string const six = bytes_of_values<std::int32_t>({1, -2, 3, 4, 5, 6});
  EXPECT_EQ(raw(read("<i8", "False", bytes_of_values<std::int64_t>({1, -2, 3, 4, 5, 6}))), six);
  EXPECT_EQ(raw(read("<i2", "True", bytes_of_values<std::int16_t>({1, 4, -2, 5, 3, 6}))), six);
}

// Long because it is a table.
TEST_F(vector_files, in_numpys_form_are_refused_where_they_are_wrong) {
  std::string const f32 = bytes_of_values({1.0F, 2.0F});
  auto const typed = [&](std::string_view descr) {
    return numpy(numpy_dictionary(descr, "(1, 2)"), f32);
  };
  auto const shaped = [&](std::string_view shape) {
    return numpy(numpy_dictionary("<f4", shape), f32);
  };
  std::string const types = "expected <f2, <f4, <f8, |i1, |u1, <i2, <u2, <i4, <u4, <i8 or <u8";
  std::string const keys = "expected 'descr', 'fortran_order' or 'shape', each once";
  std::vector<bad_file> const bad{
      {"", "", ": found no bytes, expected a .npy file, which begins with \"\\x93NUMPY\""},
      {"", "\x93NUMPX\1",
       ": found \"\\x93NUMPX\", expected a .npy file, which begins with \"\\x93NUMPY\""},
      {"",
       "\xfd"
       "7zXZ",
       ": found xz, expected vectors; unpack the file first"},
      {"", "PK\3\4", ": found an archive (.npz), expected one array, as numpy.save writes"},
      {"", "\x93NUMPY\1", ": the file ends inside the header, expected the format's version"},
      {"", numpy("{}", "", 4), ": found version 4.0 of .npy, expected 1.0, 2.0 or 3.0"},
      {"", std::string("\x93NUMPY\1\1\0\0", 10),
       ": found version 1.1 of .npy, expected 1.0, 2.0 or 3.0"},
      {"", numpy("", "", 2).substr(0, 11),
       ": the file ends inside the header, expected the header's length"},
      {"", numpy("{}", "", 1, 9),
       ": found 2 bytes after the header's length, expected a header of 9"},
      {"", numpy("{}", "", 3, 0xffffffff),
       ": found 2 bytes after the header's length, expected a header of 4294967295"},
      {"", typed("|O"),
       ": found Python objects, which rulerank never unpickles (\"|O\"), " + types},
      {"", typed("|O8"),
       ": found Python objects, which rulerank never unpickles (\"|O8\"), " + types},
      {"", typed(">f4"),
       ": found big-endian values (\">f4\"), " + types +
           "; numpy's array.astype('<f4') converts them"},
      {"", typed("<c8"), ": found values of a different type (\"<c8\"), " + types},
      {"", typed("<f16"), ": found values of a different type (\"<f16\"), " + types},
      {"", typed("f4"), ": found values of a different type (\"f4\"), " + types},
      {"", typed(""), ": found values of a different type (\"\"), " + types},
      {"", typed("|b1"),
       ": found values of True and False (\"|b1\"), " + types +
           "; numpy's array.astype('|u1') converts them"},
      {"", typed("<V2"),
       ": found values without a type, which is how NumPy saves bfloat16 (\"<V2\"), " + types},
      {"", typed("<i8"), ": found 8 bytes of values, expected 1 row of 2 values of 8 bytes"},
      {"", numpy(numpy_dictionary("<i8", "(1, 1)"), f32),
       ": found 4611686019492741120 in row 0 (from 0), expected integers of 32 bits"},
      {"", shaped("(2,)"), ": found numbers in one dimension, expected rows and their values"},
      {"", shaped("()"), ": found an array of 0 dimensions, expected 2 (rows and their values)"},
      {"", shaped("(1, 1, 2)"),
       ": found an array of 3 dimensions, expected 2 (rows and their values)"},
      {"", shaped("(0, 2)"), ": found 0 rows, expected at least 1"},
      {"", shaped("(2, 0)"), ": found rows of 0 values, expected at least 1"},
      {"", shaped("(1, 1)"), ": found 8 bytes of values, expected 1 row of 1 value of 4 bytes"},
      {"", shaped("(1, 3)"), ": found 8 bytes of values, expected 1 row of 3 values of 4 bytes"},
      {"", shaped("(4611686018427387904, 4)"),
       ": found 8 bytes of values, expected 4611686018427387904 rows of 4 values of 4 bytes"},
      {"", shaped("(4611686018427387906, 1)"),
       ": found 8 bytes of values, expected 4611686018427387906 rows of 1 value of 4 bytes"},
      {"", shaped("(1, 4611686018427387906)"),
       ": found 8 bytes of values, expected 1 row of 4611686018427387906 values of 4 bytes"},
      {"", shaped("(18446744073709551615, 18446744073709551615)"),
       ": found 8 bytes of values, expected 18446744073709551615 rows of 18446744073709551615 "
       "values of 4 bytes"},
      {"", numpy("{'shape': (18446744073709551616, 1)}", f32),
       ": found \"18446744073709551616, 1)}\" at byte 11 of the header, expected a length of 0 to "
       "2^64-1"},
      {"", numpy("{'shape': (-1, 2)}", f32),
       ": found \"-1, 2)}\" at byte 11 of the header, expected a length of 0 to 2^64-1"},
      {"", numpy("{'shape': (2)}", f32),
       ": found \"}\" at byte 13 of the header, expected a tuple, which has a comma"},
      {"", numpy("{'shape': (2 3)}", f32),
       ": found \"3)}\" at byte 13 of the header, expected ','"},
      {"", numpy("{'shape': (2, 3", f32), ": found the end at byte 15 of the header, expected ','"},
      {"", numpy("{'descr': [('a', '<f4')]}", f32),
       ": found \"[('a', '<f4')]}\" at byte 10 of the header, expected values of one type, not of "
       "several fields"},
      {"", numpy("{'descr': 4}", f32),
       ": found \"4}\" at byte 10 of the header, expected a type, such as '<f4'"},
      {"", numpy("{'descr': '<f4}", f32),
       ": found \"<f4}\" at byte 11 of the header, expected a type, such as '<f4'"},
      {"", numpy("{'descr': '<f\\x34'}", f32),
       ": found \"<f\\\\x34'}\" at byte 11 of the header, expected a type, such as '<f4'"},
      {"", numpy("{'fortran_order': 0}", f32),
       ": found \"0}\" at byte 18 of the header, expected True or False"},
      {"", numpy("{'x': 1}", f32), ": found \"'x': 1}\" at byte 1 of the header, " + keys},
      {"", numpy("{'shape': (1,2), 'shape': (1,2)}", f32),
       ": found \"'shape': (1,2)}\" at byte 17 of the header, " + keys},
      {"", numpy("{__import__('os')}", f32),
       ": found \"__import__('os')}\" at byte 1 of the header, " + keys},
      {"", numpy("{'descr' '<f4'}", f32),
       ": found \"'<f4'}\" at byte 9 of the header, expected ':'"},
      {"", numpy("[]", f32), ": found \"[]\" at byte 0 of the header, expected '{'"},
      {"", numpy("", f32), ": found the end at byte 0 of the header, expected '{'"},
      {"", numpy("{} x", f32),
       ": found \"x\" at byte 3 of the header, expected nothing after the dictionary"},
      {"", numpy("{}", f32), ": found no 'descr' in the header, expected it once"},
      {"", numpy("{'descr':'<f4'}", f32),
       ": found no 'fortran_order' in the header, expected it once"},
      {"", numpy("{'descr':'<f4','fortran_order':False}", f32),
       ": found no 'shape' in the header, expected it once"},
      {"", numpy(numpy_dictionary("<f4", "(1, 2)"), bytes_of_values({1.0F, infinity})),
       ":1:2: found inf in row 1, column 2 (both from 1), expected a finite number"},
  };
  for (bad_file const& one : bad) EXPECT_EQ(complaint("a.npy", one.bytes), one.said);
}

TEST_F(vector_files, with_lengths_are_refused_where_they_are_wrong) {
  std::string const two = bytes_of_values({1.0F, 2.0F});
  std::string const row = u32(2) + two;
  std::vector<bad_file> const bad{
      {"a.fvecs", "", ": found 0 rows, expected at least 1"},
      {"a.fvecs", "\1",
       ":1:1: row 1 (from 1): found 1 byte, expected the number of its values in 4 bytes"},
      {"a.fvecs", u32(0), ":1:1: row 1 (from 1): found 0 values, expected at least 1"},
      {"a.fvecs", u32(0xffffffff) + two,
       ":1:1: row 1 (from 1): found -1 values, expected at least 1"},
      {"a.fvecs", u32(0x7fffffff) + two,
       ":1:1: row 1 (from 1): found 12 bytes, expected 8589934592: the number of its values "
       "(2147483647) and the values"},
      {"a.fvecs", row + u32(1) + two,
       ":2:1: row 2 (from 1): found 1 values, expected 2 as in the first row"},
      {"a.fvecs", row + row + u32(3),
       ":3:1: row 3 (from 1): found 3 values, expected 2 as in the first row"},
      {"a.fvecs", row + row.substr(0, 11),
       ":2:1: row 2 (from 1): found 11 bytes, expected 12: the number of its values (2) and the "
       "values"},
      {"a.fvecs", row + row + "\3",
       ":3:1: row 3 (from 1): found 1 byte, expected 12: the number of its values (2) and the "
       "values"},
      {"a.fvecs", row + u32(2) + bytes_of_values({1.0F, not_a_number}),
       ":2:2: found NaN in row 2, column 2 (both from 1), expected a finite number"},
      {"a.bvecs", u32(2) + "ab" + u32(5) + "ab",
       ":2:1: row 2 (from 1): found 5 values, expected 2 as in the first row"},
      {"a.ivecs", u32(1) + u32(7) + u32(1),
       ":2:1: row 2 (from 1): found 4 bytes, expected 8: the number of its values (1) and the "
       "values"},
  };
  for (bad_file const& one : bad) EXPECT_EQ(complaint(one.name, one.bytes), one.said);
}

TEST_F(vector_files, with_sizes_in_front_are_refused_where_they_are_wrong) {
  std::string const two = bytes_of_values({1.0F, 2.0F});
  std::vector<bad_file> const bad{
      {"a.fbin", "",
       ": found 0 bytes, expected the number of rows and the number of values in 8 bytes"},
      {"a.fbin", u32(1) + two.substr(0, 3),
       ": found 7 bytes, expected the number of rows and the number of values in 8 bytes"},
      {"a.fbin", u32(0) + u32(1), ": found 0 rows, expected at least 1"},
      {"a.fbin", u32(1) + u32(0), ": found rows of 0 values, expected at least 1"},
      {"a.fbin", u32(1) + u32(3) + two,
       ": found 8 bytes of values, expected 1 row of 3 values of 4 bytes"},
      {"a.fbin", u32(1) + u32(1) + two,
       ": found 8 bytes of values, expected 1 row of 1 value of 4 bytes"},
      {"a.ibin", u32(0xffffffff) + u32(0xffffffff) + two,
       ": found 8 bytes of values, expected 4294967295 rows of 4294967295 values of 4 bytes"},
      {"a.u8bin", u32(2) + u32(1) + "a",
       ": found 1 byte of values, expected 2 rows of 1 value of 1 byte"},
      {"a.i8bin", u32(2) + u32(1) + "abc",
       ": found 3 bytes of values, expected 2 rows of 1 value of 1 byte"},
      {"a.fbin", u32(2) + u32(1) + bytes_of_values({1.0F, -infinity}),
       ":2:1: found -inf in row 2, column 1 (both from 1), expected a finite number"},
      {"a.idx", "", ": found 0 bytes, expected an idx file"},
      {"a.idx", idx_file(13, {1, 1}, "a"),
       ": found 00 00 0d 02, expected 00 00, 08 (uint8) or 09 (int8) and the number of dimensions"},
      {"a.idx", std::string("\0\0\x08\0", 4),
       ": found 00 00 08 00, expected 00 00, 08 (uint8) or 09 (int8) and the number of dimensions"},
      {"a.idx", "abcd",
       ": found 61 62 63 64, expected 00 00, 08 (uint8) or 09 (int8) and the number of dimensions"},
      {"a.idx", idx_file(8, {1, 1}, "").substr(0, 11),
       ": found 11 bytes, expected a header of 12 for 2 dimensions"},
      {"a.idx", idx_file(8, {3}, "abc"),
       ": found numbers in one dimension, expected rows and their values"},
      {"a.idx", idx_file(8, {0, 1}, ""), ": found 0 rows, expected at least 1"},
      {"a.idx", idx_file(8, {1, 0, 5}, ""), ": found rows of 0 values, expected at least 1"},
      {"a.idx", idx_file(8, {1, 2, 2}, "abc"),
       ": found 3 bytes of values, expected 1 row of 4 values of 1 byte"},
      {"a.idx", idx_file(8, {1, 0xffffffff, 0xffffffff, 0xffffffff}, "abc"),
       ": found rows of more values than a file can hold"},
      {"a.idx", idx_file(8, {0x80000000, 0x80000000, 4}, "abc"),
       ": found 3 bytes of values, expected 2147483648 rows of 8589934592 values of 1 byte"},
  };
  for (bad_file const& one : bad) EXPECT_EQ(complaint(one.name, one.bytes), one.said);
}

TEST_F(vector_files, in_damaged_archives_are_refused) {
  std::string const whole = gzip(u32(1) + u32(1) + u32(1));
  EXPECT_EQ(complaint("a.ibin.gz", whole.substr(0, whole.size() - 1)),
            ":1:13: the gzip archive ends too early, expected the rest of the text");
  EXPECT_THROW(read_vectors(context{}, folder_ / "absent.npy"), error);
}

TEST_F(vector_files, of_long_rows_say_the_first_row_that_differs_for_any_threads) {
  std::string bytes;
  for (std::uint32_t row = 0; row < 100000; ++row)
    bytes += u32(row == 70000 || row == 40000 || row == 99999 ? 2 : 1) + u32(row);
  std::string const path = file("a.ivecs", bytes);
  for (int const threads : {1, 4})
    EXPECT_EQ(complaint_of(path, [&] { read_vectors(with_threads(threads), path); }),
              ":40001:1: row 40001 (from 1): found 2 values, expected 1 as in the first row");
}

TEST_F(vector_files, are_known_by_their_names_unless_the_format_is_given) {
  std::string const bytes = u32(1) + u32(1) + "a";
  for (char const* const name : {"x.u8bin", "x.y.U8BIN", "x.u8bin.gz", "x.u8bin.zst"})
    EXPECT_EQ(read(name, bytes).size(), 1) << name;
  std::string const images = idx_file(8, {1, 1, 1}, "a");
  for (char const* const name : {"x.idx", "t-idx3-ubyte", "t.idx3-ubyte", "t-idx1-ubyte.gz"})
    EXPECT_EQ(read(name, images).size(), 1) << name;
  for (char const* const name : {"x", "u8bin", "xu8bin", "x.u8bin.gz.gz", "x.bin", "x.auto",
                                 "x.npz", "idx3-ubyte", "x.idx0-ubyte", "x.idx-ubyte"})
    EXPECT_THROW(read(name, bytes), usage_error) << name;
  EXPECT_EQ(read_vectors(context{}, file("x.npy", bytes), {.format = format::u8bin}).type(),
            element::uint8);
  EXPECT_THROW(read_vectors(context{}, "-"), usage_error);
}

TEST_F(vector_files, come_back_as_they_were_written) {
  struct form {
    char const* name;
    element type;
  };
  for (auto const& [name, type] :
       {form{"a.npy", element::float32}, form{"a.npy", element::float16},
        form{"a.npy", element::float64}, form{"a.npy", element::int8},
        form{"a.npy", element::uint8}, form{"a.npy", element::int32},
        form{"a.fvecs", element::float32}, form{"a.bvecs", element::uint8},
        form{"a.ivecs", element::int32}, form{"a.fbin", element::float32},
        form{"a.u8bin", element::uint8}, form{"a.i8bin", element::int8},
        form{"a.ibin", element::int32}})
    for (auto const& [rows, dimensions] : {std::pair<std::size_t, std::size_t>{1, 1},
                                           {1, 1000},
                                           {1000, 1},
                                           {777, 345},
                                           {3, 10003}}) {
      vectors const v = random_vectors(type, rows, dimensions, rows + dimensions);
      std::string const path = folder_ / name;
      write_vectors(context{}, path, v);
      for (bool const copy : {false, true}) {
        vectors const again = read_vectors(context{}, path, {format::automatic, copy});
        ASSERT_EQ(again.type(), type);
        ASSERT_EQ(again.size(), rows);
        ASSERT_EQ(again.dimensions(), dimensions);
        ASSERT_TRUE(raw(again) == raw(v)) << name << ' ' << name_of(type);
      }
    }
}

TEST_F(vector_files, are_written_byte_for_byte) {
  vectors const v(std::vector<std::int32_t>{1, -1, 3, 4, 5, 6}, 3);
  std::string const values = raw(v);
  auto const written = [&](std::string const& name, format how = format::automatic) {
    write_vectors(context{}, folder_ / name, v, how);
    std::ifstream in(folder_ / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  std::string dictionary = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";
  dictionary.append(128 - 10 - 1 - dictionary.size(), ' ');
  EXPECT_EQ(written("a.npy"), numpy(dictionary + "\n", values));
  EXPECT_EQ(written("a.ivecs"), u32(3) + values.substr(0, 12) + u32(3) + values.substr(12));
  EXPECT_EQ(written("a.ibin"), u32(2) + u32(3) + values);
  EXPECT_EQ(written("a.npy", format::ibin), u32(2) + u32(3) + values);
}

TEST_F(vector_files, are_not_written_in_forms_that_lack_their_type) {
  auto const refused = [&](std::string const& name, vectors const& v) {
    std::string const path = folder_ / name;
    EXPECT_THROW(write_vectors(context{}, path, v), usage_error) << name;
    EXPECT_FALSE(std::filesystem::exists(path));
  };
  for (named_element const& one : elements()) {
    vectors const v = random_vectors(one.which, 2, 2, 1);
    if (one.which == element::bfloat16) refused("a.npy", v);
    if (one.which != element::float32) refused("a.fvecs", v);
    if (one.which != element::uint8) refused("a.bvecs", v);
    if (one.which != element::int32) refused("a.ivecs", v);
    if (one.which != element::float32) refused("a.fbin", v);
    if (one.which != element::uint8) refused("a.u8bin", v);
    if (one.which != element::int8) refused("a.i8bin", v);
    if (one.which != element::int32) refused("a.ibin", v);
    refused("a.idx", v);
    refused("a.txt", v);
    refused("a.npy.gz", v);
  }
  refused("a.npy", {});
  refused("a.npy", vectors(std::vector<float>{}, 2));
  float const one = 1;  // later memory is not read
  std::size_t const wide = std::size_t{1} << 31;
  refused("a.fvecs", {element::float32, &one, 1, wide});
  refused("a.fbin", {element::float32, &one, 1, 2 * wide});
  refused("a.fbin", {element::float32, &one, 2 * wide, 1});
  EXPECT_THROW(write_vectors(context{}, folder_ / "no/such.npy", random_vectors<float>(1, 1, 1)),
               output_error);
}

TEST_F(vector_files, are_left_alone_by_a_stop) {
  std::stop_source stop;
  stop.request_stop();
  context ctx;
  ctx.stop = stop.get_token();
  std::string const path = folder_ / "a.fvecs";
  EXPECT_THROW(write_vectors(ctx, path, random_vectors<float>(3, 3, 1)), interrupted);
  EXPECT_FALSE(std::filesystem::exists(path));
  write_vectors(context{}, path, random_vectors<float>(3, 3, 1));
  EXPECT_THROW(read_vectors(ctx, path), interrupted);
}

TEST_F(vector_files, of_one_integer_a_row_are_classes) {
  auto const classes = [&](std::string const& name, std::string_view bytes) {
    return read_classes(context{}, file(name, bytes));
  };
  using numbers = std::vector<std::int32_t>;
  EXPECT_EQ(classes("l-idx1-ubyte", idx_file(8, {3}, "\x05\xff\x01")), (numbers{5, 255, 1}));
  EXPECT_EQ(classes("l.idx", idx_file(9, {2, 1}, "\x05\xff")), (numbers{5, -1}));
  EXPECT_EQ(classes("l.ivecs", u32(1) + u32(7) + u32(1) + u32(0xffffffff)), (numbers{7, -1}));
  EXPECT_EQ(classes("l.bvecs.gz", gzip(u32(1) + "a" + u32(1) + "b")), (numbers{97, 98}));
  EXPECT_EQ(classes("l.ibin", u32(1) + u32(1) + u32(9)), (numbers{9}));
  auto const array = [](std::string_view descr, std::string_view shape, std::string_view values) {
    return numpy(numpy_dictionary(descr, shape), values);
  };
  EXPECT_EQ(classes("l.npy", array("<i8", "(2,)",
                                   bytes_of_values<std::int64_t>({-2147483648LL, 2147483647}))),
            (numbers{std::numeric_limits<std::int32_t>::min(), 2147483647}));
  EXPECT_EQ(classes("l.npy", array("<i2", "(2,)", bytes_of_values<std::int16_t>({-3, 300}))),
            (numbers{-3, 300}));
  EXPECT_EQ(classes("l.npy", array("<u2", "(1, 1)", bytes_of_values<std::uint16_t>({65535}))),
            (numbers{65535}));
  EXPECT_EQ(classes("l.npy", array("|i1", "(1,)", "\xff")), (numbers{-1}));

  std::string const range = ", expected a number of -2147483648 to 2147483647";
  EXPECT_EQ(class_complaint("l.npy",
                            array("<u4", "(2,)", bytes_of_values<std::uint32_t>({1, 2147483648}))),
            ":2:1: found 2147483648 in row 2 (from 1)" + range);
  EXPECT_EQ(class_complaint("l.npy",
                            array("<i8", "(1,)", bytes_of_values<std::int64_t>({-2147483649LL}))),
            ":1:1: found -2147483649 in row 1 (from 1)" + range);
  EXPECT_NE(class_complaint("l.npy", array("<u8", "(1,)", "\xff\xff\xff\xff\xff\xff\xff\xff")),
            "OK");
  EXPECT_EQ(class_complaint("l.npy", array("<f4", "(1,)", u32(0))),
            ": found values of type <f4, expected integers");
  EXPECT_EQ(class_complaint("l.ivecs", u32(2) + u32(0) + u32(0)),
            ": found rows of 2 values, expected one number each");
  EXPECT_EQ(class_complaint("l.idx", idx_file(8, {0}, "")), ": found 0 rows, expected at least 1");
}

TEST(real_vectors, of_handwritten_digits) {
  RULERANK_REAL_DATA(images, "dense/mnist/train-images-idx3-ubyte");
  RULERANK_REAL_DATA(labels, "dense/mnist/train-labels-idx1-ubyte");
  vectors const v = read_vectors(context{}, images);
  EXPECT_EQ(v.size(), 60000);
  EXPECT_EQ(v.dimensions(), 784);
  EXPECT_EQ(v.type(), element::uint8);
  auto const pixels = v.values<std::uint8_t>();
  EXPECT_NEAR(std::accumulate(pixels.begin(), pixels.end(), 0.0) / static_cast<double>(v.bytes()),
              33.318421, 1e-6);  // the published mean of all pixels
  std::vector<std::int32_t> const classes = read_classes(context{}, labels);
  ASSERT_EQ(classes.size(), 60000);
  EXPECT_EQ((std::vector<std::int32_t>{classes.begin(), classes.begin() + 5}),
            (std::vector<std::int32_t>{5, 0, 4, 1, 9}));
}

}  // namespace
}  // namespace rulerank::datasets::vectors_test
