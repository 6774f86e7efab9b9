// A bandit draws what pays more often, nothing below its floor, and the same on every machine.
#include "core/base/bandit.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "chi_squared.h"
#include "core/base/check.h"
#include "core/base/error.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr std::array<BanditArm, 3> kArms{{{.share = 500, .floor = 50}, {.share = 300, .floor = 100}, {.share = 200}}};
constexpr std::uint32_t kAll = 0b111;

// In thousandths, rounded down.
std::vector<std::uint64_t> shares(const Bandit& bandit, std::uint32_t allowed = kAll) {
  std::vector<std::uint64_t> chances = bandit.chances(allowed);
  const std::uint64_t total = std::accumulate(chances.begin(), chances.end(), std::uint64_t{0});
  for (std::uint64_t& chance : chances) {
    chance = chance * 1000 / total;
  }
  return chances;
}

void report(Bandit& bandit, std::size_t arm, std::uint64_t reward, int times, std::uint64_t cost = 100) {
  for (int i = 0; i < times; ++i) {
    bandit.report(arm, reward, cost);
  }
}

TEST(Bandit, ItBeginsNearItsShares) {
  const Bandit bandit(kArms);
  EXPECT_EQ(shares(bandit), (std::vector<std::uint64_t>{475, 355, 170}));  // floors come first
}

TEST(Bandit, DrawsFollowTheChances) {
  const Bandit bandit(kArms);
  Rng rng(1);
  std::vector<std::uint64_t> counts(kArms.size());
  for (int i = 0; i < 20'000; ++i) {
    ++counts[bandit.draw(rng, kAll)];
  }
  const std::vector<std::uint64_t> chances = bandit.chances(kAll);
  expect_fits(counts, std::vector<double>(chances.begin(), chances.end()));
}

TEST(Bandit, OnlyAllowedArmsAreDrawn) {
  const Bandit bandit(kArms);
  Rng rng(1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(bandit.draw(rng, 0b010), 1U);
    EXPECT_NE(bandit.draw(rng, 0b101), 1U);
  }
  EXPECT_THROW(bandit.draw(rng, 0), CheckFailure);
}

TEST(Bandit, WhatPaysIsDrawnMoreOften) {
  Bandit bandit(kArms);
  for (int i = 0; i < 100; ++i) {
    bandit.report(0, 0, 100);
    bandit.report(1, 0, 100);
    bandit.report(2, 3, 100);
  }
  EXPECT_GT(shares(bandit)[2], 500U);
}

TEST(Bandit, ItIsRewardPerCostThatPays) {
  Bandit bandit(kArms);
  for (int i = 0; i < 100; ++i) {
    bandit.report(0, 8, 1600);
    bandit.report(1, 1, 50);
    bandit.report(2, 1, 200);
  }
  EXPECT_GT(shares(bandit)[1], 450U);
}

TEST(Bandit, NothingFallsBelowItsFloor) {
  Bandit bandit(kArms);
  report(bandit, 0, 0, 5000);
  report(bandit, 1, 0, 5000);
  report(bandit, 2, 20, 5000);
  EXPECT_GE(shares(bandit)[0], 50U);
  EXPECT_GE(shares(bandit)[1], 100U);
}

TEST(Bandit, OneLuckyRunDecidesNothing) {
  Bandit bandit(kArms);
  bandit.report(2, 1'000'000, 100);
  report(bandit, 0, 0, 1);
  EXPECT_LT(shares(bandit)[2], 400U);
}

TEST(Bandit, ALongTimeWithoutRewardsForgetsNothing) {
  Bandit bandit(kArms);
  for (int i = 0; i < 50; ++i) {
    report(bandit, 0, 0, 1);
    report(bandit, 1, 0, 1);
    report(bandit, 2, 4, 1);
  }
  const std::vector<std::uint64_t> before = shares(bandit);
  for (int i = 0; i < 1000; ++i) {
    report(bandit, 0, 0, 1);
    report(bandit, 1, 0, 1);
    report(bandit, 2, 0, 1);
  }
  EXPECT_NEAR(static_cast<double>(shares(bandit)[2]), static_cast<double>(before[2]), 30.0);
}

TEST(Bandit, LaterRewardsTakeThePlaceOfEarlierOnes) {
  Bandit bandit(kArms);
  for (int i = 0; i < 300; ++i) {
    report(bandit, 0, 4, 1);
    report(bandit, 2, 0, 1);
  }
  EXPECT_LT(shares(bandit)[2], 100U);
  for (int i = 0; i < 300; ++i) {
    report(bandit, 0, 0, 1);
    report(bandit, 2, 4, 1);
  }
  EXPECT_GT(shares(bandit)[2], 350U);
}

TEST(Bandit, SumsNeverOverflow) {
  Bandit bandit(kArms);
  for (int i = 0; i < 3'000'000; ++i) {
    bandit.report(0, 0, UINT64_MAX);
  }
  report(bandit, 1, UINT64_MAX, 1000, UINT64_MAX);
  EXPECT_GE(shares(bandit)[0], 50U);
  EXPECT_NO_THROW(Bandit(kArms).restore(bandit.save()));
}

TEST(Bandit, GoesOnWhereItWasSaved) {
  Bandit bandit(kArms);
  report(bandit, 1, 3, 10);
  Bandit other(kArms);
  other.restore(bandit.save());
  EXPECT_EQ(other.chances(kAll), bandit.chances(kAll));
  other.restore({});
  EXPECT_EQ(other.chances(kAll), Bandit(kArms).chances(kAll));
}

TEST(Bandit, RefusesStatesThatItCannotHave) {
  Bandit bandit(kArms);
  EXPECT_THROW(bandit.restore({.tallies = {{}, {}}}), TraceError);
  EXPECT_THROW(bandit.restore({.tallies = {{}, {}, {.reward = 1ULL << 60U}}}), TraceError);
  EXPECT_THROW(bandit.restore({.tallies = {{}, {}, {.cost = UINT64_MAX}}}), TraceError);
}

TEST(Bandit, ChecksItsArms) {
  EXPECT_THROW(Bandit({}), CheckFailure);
  EXPECT_THROW(Bandit(std::array{BanditArm{.share = 900}}), CheckFailure);
  EXPECT_THROW(Bandit(std::array{BanditArm{.share = 0, .floor = 1}, BanditArm{.share = 1000}}), CheckFailure);
  Bandit bandit(kArms);
  EXPECT_THROW(bandit.report(3, 1, 1), CheckFailure);
  EXPECT_THROW(bandit.report(0, 1, 0), CheckFailure);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
