// How reals are drawn: bounds, what they reach, and golden values.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "chi_squared.h"
#include "core/base/check.h"
#include "core/draw/distributions.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallestNormal = std::numeric_limits<double>::min();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
constexpr int kDraws = 100'000;

struct RealCase {
  double low;
  double high;
  double smallest_nonzero;
};

constexpr std::array kRealCases{
    RealCase{-kInfinity, kInfinity, kSmallest},
    RealCase{-kInfinity, kInfinity, kSmallestNormal},
    RealCase{-kLargest, kLargest, kSmallest},
    RealCase{0.0, 1.0, kSmallest},
    RealCase{-0.0, 0.0, kSmallest},
    RealCase{-0.0, -0.0, kSmallest},
    RealCase{0.0, 0.0, kSmallestNormal},
    RealCase{kSmallest, 10 * kSmallest, kSmallest},
    RealCase{-3 * kSmallest, kSmallest, kSmallest},
    RealCase{-kSmallestNormal, kSmallestNormal, kSmallestNormal},
    RealCase{0.0, kSmallestNormal, kSmallestNormal},
    RealCase{-kSmallestNormal, 0.0, kSmallestNormal},
    RealCase{kSmallest, kSmallestNormal, kSmallestNormal},
    RealCase{-1.0, 1.0, 0.5},
    RealCase{-0.4, 1.0, 0.5},
    RealCase{0.1, 0.9, kSmallest},
    RealCase{1e300, kInfinity, kSmallest},
    RealCase{kInfinity, kInfinity, kSmallest},
    RealCase{-kInfinity, -kInfinity, kSmallest},
    RealCase{-kInfinity, -kLargest, kSmallest},
    RealCase{9007199254740992.0, 9007199254740996.0, kSmallest},
    RealCase{3.25, 3.25, kSmallest},
    RealCase{1.0, 1.0000000000000002, kSmallest},
};

bool permitted(double value, const RealCase& range) {
  if (value < range.low || value > range.high) {
    return false;
  }
  if (value == 0) {
    const bool below = std::signbit(value) && range.low == 0 && !std::signbit(range.low);
    const bool above = !std::signbit(value) && range.high == 0 && std::signbit(range.high);
    return !below && !above;
  }
  return std::abs(value) >= range.smallest_nonzero;
}

TEST(DrawReal, StaysInside) {
  Rng rng(1);
  for (const RealCase& range : kRealCases) {
    for (int i = 0; i < kDraws; ++i) {
      const double value = draw_real(rng, range.low, range.high, false, range.smallest_nonzero);
      ASSERT_FALSE(std::isnan(value));
      ASSERT_TRUE(permitted(value, range)) << value << " in [" << range.low << ", " << range.high << "]";
    }
  }
}

TEST(DrawReal, NanOnlyWhenAllowedAndThenInOneDrawOf25) {
  Rng rng(2);
  std::set<std::uint64_t> patterns;
  std::vector<std::uint64_t> counts(2);
  for (int i = 0; i < kDraws; ++i) {
    const double value = draw_real(rng, -1, 1, true, kSmallest);
    ++counts[std::isnan(value) ? 0 : 1];
    if (std::isnan(value)) {
      patterns.insert(std::bit_cast<std::uint64_t>(value));
    }
  }
  expect_fits(counts, std::vector<double>{1, 24});
  EXPECT_EQ(patterns.size(), 4U);
}

void expect_reals_reached(const std::vector<double>& wanted, double low, double high) {
  std::set<std::uint64_t> seen;
  Rng rng(3);
  for (int i = 0; i < 50'000; ++i) {
    seen.insert(std::bit_cast<std::uint64_t>(draw_real(rng, low, high, false, kSmallest)));
  }
  for (const double value : wanted) {
    EXPECT_TRUE(seen.contains(std::bit_cast<std::uint64_t>(value))) << value;
  }
}

TEST(DrawReal, ReachesWhatProgramsGetWrong) {
  expect_reals_reached({0.0,
                        -0.0,
                        1.0,
                        -1.0,
                        0.5,
                        -2.5,
                        10.0,
                        100.0,
                        255.0,
                        0.25,
                        0.01,
                        kInfinity,
                        -kInfinity,
                        kLargest,
                        -kLargest,
                        kSmallest,
                        -kSmallest,
                        kSmallestNormal,
                        0.1 + 0.2,
                        1.0 / 3.0,
                        9007199254740992.0,
                        1.0000000000000002,
                        0x1p63,
                        1e22},
                       -kInfinity, kInfinity);
  expect_reals_reached({0.0, 1.0, 0.5, 0.1, 0.25, 0.75, 0.01, 0.99, kSmallest, 0.9999999999999999, 0.30000000000000004},
                       0.0, 1.0);
  expect_reals_reached({100.0, 100.00000000000001, 101.0, 150.5, 499.0, 499.99999999999994, 500.0}, 100.0, 500.0);
}

TEST(DrawReal, CoversTheRangeAndAllMagnitudes) {
  std::set<int> tenths;
  std::set<int> exponents;
  Rng rng(4);
  for (int i = 0; i < kDraws; ++i) {
    const double inside = draw_real(rng, 20, 30, false, kSmallest);
    tenths.insert(static_cast<int>((inside - 20) * 10));
    const double anywhere = draw_real(rng, -kInfinity, kInfinity, false, kSmallest);
    if (anywhere != 0 && std::isfinite(anywhere)) {
      exponents.insert(std::ilogb(anywhere));
    }
  }
  EXPECT_EQ(tenths.size(), 101U);
  EXPECT_GT(exponents.size(), 1900U);
}

TEST(DrawReal, WhatIsNeitherSimpleNorAnEdgeIsUniformWithinOneExponent) {
  std::vector<std::uint64_t> counts(15);
  Rng rng(5);
  for (int i = 0; i < 2 * kDraws; ++i) {
    const double value = draw_real(rng, 16, 31, false, kSmallest);
    const bool simple = std::round(value * 100) / 100 == value;
    const bool edge = value < 16.000001 || value > 30.999999;
    if (!simple && !edge) {
      ++counts[static_cast<std::size_t>(value - 16)];
    }
  }
  EXPECT_GT(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), kDraws);
  expect_fits(counts, std::vector<double>(counts.size(), 1.0));
}

// Small integers, large ones, fractions, infinite.
std::vector<std::uint64_t> kinds_of_reals(double low, double high) {
  std::vector<std::uint64_t> counts(4);
  Rng rng(7);
  for (int i = 0; i < kDraws; ++i) {
    const double value = draw_real(rng, low, high, false, kSmallest);
    const bool is_integer = std::trunc(value) == value;
    ++counts[std::isinf(value) ? 3 : !is_integer ? 2 : std::abs(value) < 0x1p53 ? 0 : 1];
  }
  return counts;
}

TEST(DrawReal, IsMostlyAnIntegerInAWideRange) {
  expect_fits(kinds_of_reals(-kInfinity, kInfinity), std::vector<double>{0.515, 0.123, 0.32, 0.042});
}

TEST(DrawReal, IsMostlyAFractionInANarrowRange) {
  const std::vector<std::uint64_t> counts = kinds_of_reals(0, 1000);
  EXPECT_NEAR(static_cast<double>(counts[0]) / kDraws, 0.26, 0.02);
  EXPECT_EQ(counts[1] + counts[3], 0U);
}

TEST(DrawReal, RefusesBoundsWithoutAValue) {
  Rng rng(6);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(draw_real(rng, 1, 0, false, kSmallest), CheckFailure);
  EXPECT_THROW(draw_real(rng, 0.0, -0.0, false, kSmallest), CheckFailure);
  EXPECT_THROW(draw_real(rng, nan, 1, true, kSmallest), CheckFailure);
  EXPECT_THROW(draw_real(rng, 0.1, 0.2, false, 0.5), CheckFailure);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
