// What draws promise: always inside the bounds, in the stated shares, everything within reach, and the same everywhere.
#include "core/draw/distributions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "chi_squared.h"
#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallestNormal = std::numeric_limits<double>::min();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
constexpr int kDraws = 100'000;

// An integer of any size, written as hexadecimal two's complement with its sign byte first; for comparing and reading.
std::string hex(const std::string& blob) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : blob) {
    const auto byte = static_cast<std::uint8_t>(c);
    text.push_back(kDigits[byte >> 4U]);
    text.push_back(kDigits[byte & 15U]);
  }
  return text;
}

// Integers.

struct IntegerCase {
  std::int64_t low;
  std::int64_t high;
  std::int64_t toward;
};

constexpr std::array kIntegerCases{
    IntegerCase{kLeast, kMost, 0},
    IntegerCase{kLeast, kMost, kLeast},
    IntegerCase{kLeast, kMost, kMost},
    IntegerCase{kLeast, kLeast, 0},
    IntegerCase{kMost, kMost, 0},
    IntegerCase{kLeast, kLeast + 200, 0},
    IntegerCase{kMost - 128, kMost, 0},
    IntegerCase{0, kMost, 0},
    IntegerCase{kLeast, -1, 0},
    IntegerCase{-1, kMost, 0},
    IntegerCase{0, 127, 0},
    IntegerCase{0, 128, 0},
    IntegerCase{0, 1'000'000, 0},
    IntegerCase{-1'000'000, -500, 0},
    IntegerCase{1'000'000, 1'000'300, 0},
    IntegerCase{-300, 5, 77},
    IntegerCase{5, 5, 9},
};

TEST(DrawInteger, StaysInside) {
  Rng rng(1);
  for (const auto& [low, high, toward] : kIntegerCases) {
    for (int i = 0; i < kDraws; ++i) {
      const std::int64_t value = draw_integer(rng, low, high, toward);
      ASSERT_LE(low, value);
      ASSERT_LE(value, high);
    }
  }
}

TEST(DrawInteger, SmallRangesAreUniform) {
  for (const std::int64_t size : {2, 7, 128}) {
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(size));
    Rng rng(2);
    for (int i = 0; i < kDraws; ++i) {
      ++counts[static_cast<std::size_t>(draw_integer(rng, -3, size - 4, 0) + 3)];
    }
    expect_fits(counts, std::vector<double>(counts.size(), 1.0));
  }
}

// The stated mixture for [0, 1000] toward 0, computed value by value.
std::vector<double> mixture_to_a_thousand() {
  std::vector<double> share(1001);
  const auto add = [&](std::int64_t value, double p) { share[static_cast<std::size_t>(value)] += p; };
  const auto away = [&](double p) {
    for (std::int64_t value = 1; value <= 1000; ++value) {
      const std::int64_t low = std::int64_t{1} << (std::bit_width(static_cast<std::uint64_t>(value)) - 1);
      const std::int64_t high = std::min<std::int64_t>(1000, (2 * low) - 1);
      add(value, p / 10 / static_cast<double>(high - low + 1));
    }
  };
  for (std::int64_t value = 0; value <= 1000; ++value) {
    add(value, 0.45 / 1001);
    if (value <= 256) {
      add(value, 0.15 / 257);
    }
  }
  away(0.15);
  add(0, 0.1 * 4 / 8);
  add(1, 0.1 / 8);
  add(999, 0.1 / 8);
  add(1000, 0.1 * 2 / 8);
  const auto landmark = [&](std::int64_t value, double p) {
    for (const std::int64_t beside : {-1, 0, 1}) {
      if (value + beside >= 0 && value + beside <= 1000) {
        add(value + beside, p / 3);
      } else {
        away(p / 3);
      }
    }
  };
  for (int bit = 0; bit <= 10; ++bit) {
    landmark(std::int64_t{1} << bit, 0.075 / 11);
  }
  for (const std::int64_t ten : {1, 10, 100, 1000}) {
    for (std::int64_t digit = 1; digit <= 9; ++digit) {
      landmark(ten * digit, 0.075 / 4 / 9);
    }
  }
  return share;
}

TEST(DrawInteger, LargerRangesAreTheStatedMixture) {
  const std::vector<double> share = mixture_to_a_thousand();
  EXPECT_NEAR(std::accumulate(share.begin(), share.end(), 0.0), 1.0, 1e-12);
  std::vector<std::uint64_t> counts(share.size());
  Rng rng(3);
  for (int i = 0; i < 5 * kDraws; ++i) {
    ++counts[static_cast<std::size_t>(draw_integer(rng, 0, 1000, 0))];
  }
  expect_fits(counts, share);
}

void expect_reached(const std::set<std::int64_t>& wanted, std::int64_t low, std::int64_t high, std::int64_t toward) {
  std::set<std::int64_t> missing = wanted;
  Rng rng(4);
  for (int i = 0; i < 20'000; ++i) {
    missing.erase(draw_integer(rng, low, high, toward));
  }
  EXPECT_TRUE(missing.empty()) << "in [" << low << ", " << high << "] first missing: " << *missing.begin();
}

TEST(DrawInteger, ReachesEdgesAndLandmarks) {
  expect_reached({0, 1, 2, 100, 127, 128, 255, 256, 1000, 1024, 4096, 65535, 65536, 100'000, 999'999, 1'000'000}, 0,
                 1'000'000, 0);
  expect_reached({kLeast, kLeast + 1, -256, -255, -1, 0, 1, 255, 256, kMost - 1, kMost}, kLeast, kMost, 0);
  expect_reached({1'000'000, 1'000'001, 1'000'150, 1'000'299, 1'000'300}, 1'000'000, 1'000'300, 0);
  expect_reached({(std::int64_t{1} << 31U) - 1, std::int64_t{1} << 31U, std::int64_t{1} << 32U}, 0,
                 std::int64_t{1} << 40U, 0);
}

TEST(DrawInteger, LeansToTheValueItShrinksTowards) {
  int near = 0;
  Rng rng(5);
  for (int i = 0; i < kDraws; ++i) {
    near += std::abs(draw_integer(rng, 0, 1'000'000, 500'000) - 500'000) <= 256 ? 1 : 0;
  }
  EXPECT_GT(near, kDraws * 35 / 100);
}

TEST(DrawInteger, RefusesAnEmptyRange) {
  Rng rng(6);
  EXPECT_THROW(draw_integer(rng, 1, 0, 0), CheckFailure);
}

// Integers without bounds.

bool is_negative(const Choice& choice) {
  return choice.is_big() ? (static_cast<std::uint8_t>(choice.blob().back()) & 0x80U) != 0 : choice.number < 0;
}

TEST(DrawUnboundedInteger, BigOnesAreCanonical) {
  Rng rng(1);
  for (int i = 0; i < 5 * kDraws; ++i) {
    const Choice choice = draw_unbounded_integer(rng, std::nullopt, std::nullopt, 0);
    ASSERT_EQ(choice.kind, ChoiceKind::kInteger);
    if (!choice.is_big()) {
      continue;
    }
    const std::string& blob = choice.blob();
    ASSERT_GE(blob.size(), 9U);
    ASSERT_LE(blob.size(), 17U);
    const auto last = static_cast<std::uint8_t>(blob.back());
    const auto before = static_cast<std::uint8_t>(blob[blob.size() - 2]);
    const bool redundant = (last == 0 && before < 0x80U) || (last == 0xFFU && before >= 0x80U);
    // Of nine bytes as well: with a redundant one it would be an integer that int64 holds.
    ASSERT_FALSE(redundant) << hex(blob);
  }
}

TEST(DrawUnboundedInteger, ABoundHolds) {
  Rng rng(2);
  for (const std::int64_t bound : {kLeast, std::int64_t{-7}, std::int64_t{0}, std::int64_t{1} << 40U, kMost}) {
    for (int i = 0; i < kDraws; ++i) {
      const Choice above = draw_unbounded_integer(rng, bound, std::nullopt, 0);
      ASSERT_TRUE(above.is_big() ? !is_negative(above) : above.number >= bound) << bound;
      const Choice below = draw_unbounded_integer(rng, std::nullopt, bound, 0);
      ASSERT_TRUE(below.is_big() ? is_negative(below) : below.number <= bound) << bound;
      const Choice both = draw_unbounded_integer(rng, bound, bound, 0);
      ASSERT_EQ(both, Choice::integer(bound));
    }
  }
}

TEST(DrawUnboundedInteger, IsMostlySmallAndReachesOneHundredAndTwentyEightBits) {
  Rng rng(3);
  int near = 0;
  int big = 0;
  std::set<std::size_t> sizes;
  for (int i = 0; i < kDraws; ++i) {
    const Choice choice = draw_unbounded_integer(rng, std::nullopt, std::nullopt, 0);
    near += !choice.is_big() && choice.number >= -256 && choice.number <= 256 ? 1 : 0;
    big += choice.is_big() ? 1 : 0;
    sizes.insert(choice.blob().size());
  }
  EXPECT_GT(near, kDraws * 50 / 100);
  EXPECT_NEAR(big, 0.065 * kDraws, 0.01 * kDraws);
  EXPECT_TRUE(sizes.contains(9));
  EXPECT_TRUE(sizes.contains(17));
}

TEST(DrawUnboundedInteger, TailsHaveEveryLengthAlike) {
  // Up to 66 bits there are landmarks as well.
  constexpr std::size_t kLandmarkBits = 66;
  std::vector<std::uint64_t> counts(128 - kLandmarkBits);
  Rng rng(4);
  for (int i = 0; i < 5 * kDraws; ++i) {
    const Choice choice = draw_unbounded_integer(rng, 0, std::nullopt, 0);
    if (!choice.is_big()) {
      continue;
    }
    std::size_t bits = 0;
    for (std::size_t byte = 0; byte < choice.blob().size(); ++byte) {
      const auto value = static_cast<std::uint8_t>(choice.blob()[byte]);
      bits = value == 0 ? bits : (8 * byte) + static_cast<std::size_t>(std::bit_width(value));
    }
    if (bits > kLandmarkBits) {
      ++counts[bits - kLandmarkBits - 1];
    }
  }
  expect_fits(counts, std::vector<double>(counts.size(), 1.0));
}

TEST(DrawUnboundedInteger, ReachesThePowersThatOverflow) {
  const std::string two_63{"\0\0\0\0\0\0\0\x80\0", 9};
  const std::string two_64{"\0\0\0\0\0\0\0\0\1", 9};
  const std::string minus_two_64{"\0\0\0\0\0\0\0\0\xff", 9};
  std::vector<Choice> missing{Choice::big_integer(two_63),
                              Choice::big_integer(two_64),
                              Choice::big_integer(minus_two_64),
                              Choice::integer(kMost),
                              Choice::integer(kLeast),
                              Choice::integer(std::int64_t{1} << 31U),
                              Choice::integer(-(std::int64_t{1} << 31U)),
                              Choice::integer(std::int64_t{1} << 53U)};
  Rng rng(5);
  for (int i = 0; i < 2 * kDraws; ++i) {
    std::erase(missing, draw_unbounded_integer(rng, std::nullopt, std::nullopt, 0));
  }
  EXPECT_TRUE(missing.empty()) << missing.size() << " missing, the first is " << missing.front().number;
}

// Sizes.

constexpr std::size_t kAnySize = 10'000'000'000;

TEST(DrawSize, StaysInside) {
  Rng rng(1);
  const std::vector<std::pair<std::size_t, std::size_t>> ranges{
      {0, 0}, {3, 3}, {0, 1}, {0, 10}, {5, 40}, {7, kAnySize}, {0, std::numeric_limits<std::size_t>::max()}};
  for (const auto& [low, high] : ranges) {
    for (int i = 0; i < kDraws; ++i) {
      const std::size_t size = draw_size(rng, low, high, average_size(low, high));
      ASSERT_LE(low, size);
      ASSERT_LE(size, high);
    }
  }
}

TEST(DrawSize, IsGeometricWithoutAnUpperBound) {
  std::vector<std::uint64_t> counts(30);
  std::vector<double> expected(30);
  Rng rng(2);
  for (int i = 0; i < 2 * kDraws; ++i) {
    ++counts[std::min<std::size_t>(29, draw_size(rng, 0, kAnySize, 5))];
  }
  for (std::size_t size = 0; size < 29; ++size) {
    expected[size] = std::pow(5.0 / 6.0, size) / 6;
  }
  expected[29] = std::pow(5.0 / 6.0, 29);
  expect_fits(counts, expected);
}

TEST(DrawSize, IsGeometricUpToACloseUpperBound) {
  // A range of 40 has no short cuts; the mean of 20 gives the coin.
  std::vector<std::uint64_t> counts(41);
  std::vector<double> expected(41);
  Rng rng(3);
  for (int i = 0; i < 2 * kDraws; ++i) {
    ++counts[draw_size(rng, 0, 40, 20)];
  }
  double low = 0;
  double high = 1;
  for (int i = 0; i < 100; ++i) {
    const double p = (low + high) / 2;
    (p * (1 - std::pow(p, 40)) / (1 - p) < 20 ? low : high) = p;
  }
  for (std::size_t size = 0; size < 40; ++size) {
    expected[size] = std::pow(low, size) * (1 - low);
  }
  expected[40] = std::pow(low, 40);
  expect_fits(counts, expected);
}

double mean_size(std::size_t low, std::size_t high, double average) {
  Rng rng(4);
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    sum += static_cast<double>(draw_size(rng, low, high, average));
  }
  return sum / kDraws;
}

TEST(DrawSize, HasTheMeanItWasGiven) {
  EXPECT_NEAR(mean_size(0, kAnySize, 5), 5, 0.05);
  EXPECT_NEAR(mean_size(3, kAnySize, 8), 8, 0.05);
  EXPECT_NEAR(mean_size(0, kAnySize, 1'000'000), 1'000'000, 15'000);
  EXPECT_NEAR(mean_size(0, 40, 5), 5, 0.05);
  EXPECT_NEAR(mean_size(0, 40, 20), 20, 0.2);
  // One draw in 16 is an end of a small range instead, 5 in the mean here.
  EXPECT_NEAR(mean_size(0, 10, 5), 5, 0.05);
  EXPECT_NEAR(mean_size(0, 10, 2), 2 + ((5.0 - 2.0) / 16), 0.02);
}

TEST(DrawSize, SmallRangesReachTheirEnds) {
  Rng rng(5);
  int ends = 0;
  for (int i = 0; i < kDraws; ++i) {
    ends += draw_size(rng, 0, 32, 1) == 32 ? 1 : 0;
  }
  EXPECT_NEAR(ends, 0.03125 * kDraws, 0.005 * kDraws);
}

TEST(DrawSize, AveragesOutsideTheRangeMeanItsEnds) {
  Rng rng(6);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(draw_size(rng, 2, 100, 0), 2U);
    EXPECT_EQ(draw_size(rng, 2, 100, 200), 100U);
  }
}

TEST(AverageSize, IsLowPlusFiveOrTwiceLowOrTheMiddle) {
  EXPECT_DOUBLE_EQ(average_size(0, kAnySize), 5);
  EXPECT_DOUBLE_EQ(average_size(3, kAnySize), 8);
  EXPECT_DOUBLE_EQ(average_size(100, kAnySize), 200);
  EXPECT_DOUBLE_EQ(average_size(0, 4), 2);
  EXPECT_DOUBLE_EQ(average_size(7, 7), 7);
}

// Letters and bytes.

TEST(DrawAlphabetIndex, SmallAlphabetsAreUniform) {
  for (const std::uint32_t size : {2U, 26U, 256U}) {
    std::vector<std::uint64_t> counts(size);
    Rng rng(1);
    for (int i = 0; i < kDraws; ++i) {
      ++counts[draw_alphabet_index(rng, size)];
    }
    expect_fits(counts, std::vector<double>(size, 1.0));
  }
}

TEST(DrawAlphabetIndex, LargeOnesLeanToTheirFirstLetters) {
  constexpr std::uint32_t kUnicode = 1'112'064;
  std::vector<std::uint64_t> counts(4);
  Rng rng(2);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint32_t index = draw_alphabet_index(rng, kUnicode);
    ASSERT_LT(index, kUnicode);
    ++counts[index < 128 ? 0 : index < 256 ? 1 : index < 12'256 ? 2 : 3];
  }
  const double near = 0.2 * 12'000 / (kUnicode - 256);
  expect_fits(counts, std::vector<double>{0.45, 0.3, 0.05 + near, 0.2 - near});
}

TEST(DrawAlphabetIndex, AlphabetsJustAboveTheCommonOnes) {
  Rng rng(3);
  for (int i = 0; i < kDraws; ++i) {
    ASSERT_LT(draw_alphabet_index(rng, 257), 257U);
    ASSERT_LT(draw_alphabet_index(rng, 300), 300U);
  }
  EXPECT_THROW(draw_alphabet_index(rng, 0), CheckFailure);
}

TEST(DrawBytes, KeepsItsBoundsAndReachesTheOddOnes) {
  std::map<std::string, int> seen;
  std::set<char> values;
  Rng rng(4);
  for (int i = 0; i < kDraws; ++i) {
    const std::string bytes = draw_bytes(rng, 0, 8);
    ASSERT_LE(bytes.size(), 8U);
    ++seen[bytes];
    values.insert(bytes.begin(), bytes.end());
  }
  EXPECT_GT(seen[""], 0);
  EXPECT_GT(seen[std::string(8, '\0')], 0);
  EXPECT_GT(seen[std::string(8, '\xff')], 0);
  EXPECT_EQ(values.size(), 256U);
}

TEST(DrawBytes, HasRuns) {
  Rng rng(5);
  int runs = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string bytes = draw_bytes(rng, 6, 6);
    const bool plain = bytes.find_first_not_of(bytes.front()) == std::string::npos;
    runs += !plain && bytes[0] == bytes[1] && bytes[1] == bytes[2] ? 1 : 0;
  }
  EXPECT_GT(runs, 500);
}

// All of them at once, often enough that a last bit that differs on one platform is met.
TEST(Distributions, AHundredThousandDrawsHashTheSameEverywhere) {
  Rng rng(42);
  std::uint64_t h = 0;
  const auto add = [&h](std::uint64_t value) { h = mix64(h ^ value); };
  for (int i = 0; i < kDraws; ++i) {
    add(static_cast<std::uint64_t>(draw_integer(rng, kLeast, kMost, i)));
    const Choice choice = draw_unbounded_integer(rng, std::nullopt, i, 0);
    add(static_cast<std::uint64_t>(choice.number));
    add(hash_bytes(choice.blob()));
    add(std::bit_cast<std::uint64_t>(draw_real(rng, -1.1, 1000.3, false, kSmallest)));
    add(std::bit_cast<std::uint64_t>(draw_real(rng, 0, kInfinity, true, kSmallestNormal)));
    add(draw_size(rng, 1, 30, 6.7));
    add(draw_alphabet_index(rng, 70'000));
    add(hash_bytes(draw_bytes(rng, 0, 12)));
  }
  EXPECT_EQ(h, 4859911097202567018ULL);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
