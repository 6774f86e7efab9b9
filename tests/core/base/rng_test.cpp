// The generator: known values, fair draws, and streams that do not disturb each other.
#include "core/base/rng.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "chi_squared.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr int kDraws = 100'000;

TEST(Rng, HashesAreTheSameInEveryVersion) {
  // The first output of SplitMix64 from the state 0, as its authors publish it.
  EXPECT_EQ(mix64(0), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(hash_bytes(""), mix64(0xCBF29CE484222325ULL ^ mix64(0)));
  EXPECT_NE(hash_bytes("a"), hash_bytes("b"));
  EXPECT_NE(hash_bytes("a", 1), hash_bytes("a", 2));
}

TEST(Rng, DrawsAreXoshiro256StarStar) {
  // From the state 1, 2, 3, 4: the values that the authors' C code gives.
  Rng rng(0);
  rng.set_state({1, 2, 3, 4});
  EXPECT_EQ(rng.next(), 11520U);
  EXPECT_EQ(rng.next(), 0U);
  EXPECT_EQ(rng.next(), 1509978240U);
  EXPECT_EQ(rng.next(), 1215971899390074240U);
}

TEST(Rng, TheStateIsAllThereIs) {
  Rng one(1);
  one.next();
  Rng other(2);
  other.set_state(one.state());
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(one.next(), other.next());
  }
}

TEST(Rng, StreamsDifferBySeedNameAndNumber) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (const char* name : {"run", "values", "schedule"}) {
      for (std::uint64_t number = 0; number < 100; ++number) {
        first.insert(Rng::stream(seed, name, number).next());
      }
    }
  }
  EXPECT_EQ(first.size(), 3000U);
}

TEST(Rng, BelowIsUniform) {
  for (const std::uint64_t bound : {2U, 3U, 7U, 100U}) {
    Rng rng(bound);
    std::vector<std::uint64_t> counts(bound);
    for (int i = 0; i < kDraws; ++i) {
      ++counts.at(rng.below(bound));
    }
    expect_fits(counts, std::vector<double>(bound, 1.0));
  }
}

TEST(Rng, BelowIsUniformWhereAModuloWouldNotBe) {
  // Three quarters of the range: the lower half of the values would come twice as often as the upper.
  constexpr std::uint64_t kBound = 3ULL << 62U;
  Rng rng(1);
  std::vector<std::uint64_t> counts(3);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t drawn = rng.below(kBound);
    ASSERT_LT(drawn, kBound);
    ++counts[drawn >> 62U];
  }
  expect_fits(counts, std::vector<double>(3, 1.0));
  EXPECT_EQ(Rng(5).below(1), 0U);
}

TEST(Rng, BetweenReachesBothEndsOfAnyRange) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();
  Rng rng(1);
  bool negative = false;
  bool positive = false;
  std::set<std::int64_t> small;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t drawn = rng.between(kLow, kHigh);
    negative = negative || drawn < 0;
    positive = positive || drawn > 0;
    small.insert(rng.between(-2, 1));
    EXPECT_GE(rng.between(kHigh - 1, kHigh), kHigh - 1);
    EXPECT_LE(rng.between(kLow, kLow + 1), kLow + 1);
  }
  EXPECT_TRUE(negative && positive);
  EXPECT_EQ(small, (std::set<std::int64_t>{-2, -1, 0, 1}));
}

TEST(Rng, UnitAndChance) {
  Rng rng(1);
  std::vector<std::uint64_t> tenths(10);
  std::vector<std::uint64_t> hits(2);
  for (int i = 0; i < kDraws; ++i) {
    const double unit = rng.unit();
    ASSERT_TRUE(unit >= 0 && unit < 1);
    ++tenths[static_cast<std::size_t>(unit * 10)];
    ++hits[rng.chance(0.3) ? 0 : 1];
    ASSERT_FALSE(rng.chance(0));
    ASSERT_FALSE(rng.chance(-1));
    ASSERT_TRUE(rng.chance(1));
    ASSERT_FALSE(rng.chance(std::numeric_limits<double>::quiet_NaN()));
  }
  expect_fits(tenths, std::vector<double>(10, 1.0));
  expect_fits(hits, std::vector<double>{0.3, 0.7});
}

TEST(Rng, ChanceDrawsOnceWhateverTheOdds) {
  Rng certain(1);
  Rng even(1);
  certain.chance(1);
  even.chance(0.5);
  EXPECT_EQ(certain.next(), even.next());
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
