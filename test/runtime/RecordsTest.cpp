//===- RecordsTest.cpp - Numbers in lines of csv files --------------------===//
//
// Tests that numbers in text become the nearest values, and that others are refused.
//
//===----------------------------------------------------------------------===//

#include "runtime/Rows.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <stdlib.h>
#include <string>

using namespace tfc::runtime;

/// The element of a line, or false if it is refused.
template <typename T> static bool decode(int32_t dtype, std::string line, T &value) {
  tfc_variable_info component = {"x", nullptr, dtype, 0, nullptr, sizeof(T), 0};
  tfc_dataset_info info = {"rows", TFC_DATASET_CSV, 1, &component, nullptr, 0, 0};
  char *values[] = {reinterpret_cast<char *>(&value)};
  Message reason;
  return decodeLine(info, line.data(), line.size(), 0, values, reason);
}

TEST(Records, floatsAreTheNearestOnes) {
  std::mt19937_64 random(1);
  const char *formats[] = {"%.17g", "%.15g", "%.6f", "%.3e", "%g"};
  for (int i = 0; i < 100000; ++i) {
    uint64_t bits = random();
    double number = static_cast<double>(bits % 2000000) / 1000 - 1000;
    if (i % 2)
      memcpy(&number, &bits, sizeof(number));
    char text[400];
    snprintf(text, sizeof(text), formats[i % 5], number);
    double value = 0, expected = strtod(text, nullptr);
    ASSERT_TRUE(decode(TFC_F64, text, value)) << text;
    ASSERT_TRUE(value == expected || std::isnan(expected)) << text;
  }
}

TEST(Records, integersAreExactOrRefused) {
  uint64_t large = 0;
  EXPECT_TRUE(decode(TFC_U64, "18446744073709551615", large));
  EXPECT_EQ(large, UINT64_MAX);
  EXPECT_FALSE(decode(TFC_U64, "18446744073709551616", large));
  EXPECT_FALSE(decode(TFC_U64, "-1", large));
  int64_t number = 0;
  EXPECT_TRUE(decode(TFC_I64, "-9223372036854775808", number));
  EXPECT_EQ(number, INT64_MIN);
  EXPECT_FALSE(decode(TFC_I64, "9223372036854775808", number));
  EXPECT_TRUE(decode(TFC_I64, "1.5e3", number)); // as NumPy writes integers by default
  EXPECT_EQ(number, 1500);
  for (const char *text : {"", "-", ".", ".5", "1.5", "0x1", "1e", "nan", "inf", "1_000", "1 2"})
    EXPECT_FALSE(decode(TFC_I64, text, number)) << text;
  int8_t small = 0;
  EXPECT_TRUE(decode(TFC_I8, "-128", small));
  EXPECT_FALSE(decode(TFC_I8, "128", small));
}

TEST(Records, wordsOfFloatsAndBools) {
  float value = 0;
  EXPECT_TRUE(decode(TFC_F32, "nan", value) && std::isnan(value));
  EXPECT_TRUE(decode(TFC_F32, "-Infinity", value) && value < 0 && std::isinf(value));
  EXPECT_TRUE(decode(TFC_F32, "1e400", value) && std::isinf(value));
  for (const char *text : {"", "x", "e5", "1e", "-", "0x10", "1.2.3"})
    EXPECT_FALSE(decode(TFC_F32, text, value)) << text;
  bool flag = false;
  EXPECT_TRUE(decode(TFC_BOOL, "True", flag) && flag);
  EXPECT_TRUE(decode(TFC_BOOL, "0", flag) && !flag);
  EXPECT_FALSE(decode(TFC_BOOL, "2", flag));
  EXPECT_FALSE(decode(TFC_BOOL, "truest", flag));
}
