// Tests that a decision depends on the run key and its label alone, that overrides win, and that key 0 does nothing.
#include "core/schedule/schedule.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr std::uint32_t kAlways = UINT32_MAX;
constexpr std::uint64_t kActor = 11;
constexpr std::uint64_t kSite = 22;

Schedule always(std::uint64_t key) { return Schedule(key, {kAlways, kAlways}); }

TEST(ScheduleKey, IsZeroForSeedZeroAlone) {
  EXPECT_EQ(schedule_key(0), 0U);
  EXPECT_NE(schedule_key(1), 0U);
  EXPECT_NE(schedule_key(1), schedule_key(2));
  EXPECT_EQ(schedule_key(7), schedule_key(7));
}

TEST(ScheduleRunSeed, CountsUpForSeedZeroAndRepeatsNoRunForOthers) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t number = 0; number < 100; ++number) {
      const std::uint64_t of_run = schedule_run_seed(seed, number);
      EXPECT_EQ(of_run, schedule_run_seed(seed, number));
      EXPECT_TRUE(seed != 0 || of_run == number);
      EXPECT_TRUE(seeds.insert(of_run).second) << "run " << number << " of seed " << seed;
    }
  }
}

TEST(Schedule, KeyZeroDoesNothing) {
  Schedule schedule(0, draw_schedule_rates(0, 4));
  for (std::uint32_t kind = 0; kind < 4; ++kind) {
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(schedule.decide(kind, kActor, kSite, 5), 0U);
    }
  }
  EXPECT_EQ(schedule.made(), 200U);
  EXPECT_TRUE(schedule.decisions().empty());
  EXPECT_EQ(schedule.events(), 0U);
}

TEST(Schedule, TheSameKeyDecidesAlike) {
  Schedule first = always(7);
  Schedule second = always(7);
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(first.decide(0, i % 3, kSite, 9), second.decide(0, i % 3, kSite, 9));
  }
  EXPECT_EQ(first.event_hash(), second.event_hash());
}

TEST(Schedule, WhatIsDecidedEvenlyIsFrequentAndSpread) {
  Schedule rare(5, {UINT32_MAX >> 6U});
  std::array<int, 11> counts{};
  for (int i = 0; i < 11000; ++i) {
    ++counts.at(rare.decide_evenly(0, kActor, kSite, 11));
  }
  EXPECT_NEAR(counts[0], 8250, 300);
  for (std::size_t value = 1; value < counts.size(); ++value) {
    EXPECT_NEAR(counts.at(value), 275, 80);
  }
  Schedule nothing(5, {0});
  Schedule once(0, {0});
  once.set({.kind = 0, .occurrence = 1, .actor = kActor, .site = kSite}, 7);
  EXPECT_EQ(nothing.decide_evenly(0, kActor, kSite, 11), 0U);
  EXPECT_EQ(once.decide_evenly(0, kActor, kSite, 11), 0U);
  EXPECT_EQ(once.decide_evenly(0, kActor, kSite, 11), 7U);
}

TEST(Schedule, OfManyValuesHalfTheDrawsTakeASmallOne) {
  constexpr std::uint32_t kBound = 257;
  constexpr std::uint32_t kSmall = 16;
  Schedule frequent(5, {UINT32_MAX});
  int drawn = 0;
  int small = 0;
  int large = 0;
  for (int i = 0; i < 16000; ++i) {
    const std::uint32_t value = frequent.decide_evenly(0, kActor, kSite, kBound);
    ASSERT_LT(value, kBound);
    drawn += value > 0 ? 1 : 0;
    small += value > 0 && value < kSmall ? 1 : 0;
    large += value >= kBound / 2 ? 1 : 0;
  }
  EXPECT_NEAR(drawn, 12000, 300);
  EXPECT_NEAR(small, 12000 * (4.0 / 9 + 15.0 / 256) / 2, 200);
  EXPECT_NEAR(large, 12000 * (2.0 / 9 + 0.5) / 2, 300);
}

TEST(Schedule, LeavingOutOneActorShiftsNoOther) {
  Schedule with = always(7);
  Schedule without = always(7);
  for (int i = 0; i < 50; ++i) {
    with.decide(0, kActor + 1, kSite, 9);
    EXPECT_EQ(with.decide(0, kActor, kSite, 9), without.decide(0, kActor, kSite, 9));
  }
}

TEST(Schedule, HalfOfTheValuesAboveZeroAreOne) {
  Schedule schedule = always(3);
  std::array<int, 6> counts{};
  for (int i = 0; i < 6000; ++i) {
    ++counts.at(schedule.decide(0, kActor, kSite, 6));
  }
  EXPECT_EQ(counts[0], 0);
  EXPECT_NEAR(counts[1], 3000, 250);
  for (std::size_t value = 2; value < counts.size(); ++value) {
    EXPECT_NEAR(counts.at(value), 750, 150);
  }
}

TEST(Schedule, RatesAreKept) {
  Schedule schedule(5, {1U << 30U, 0});
  int struck = 0;
  for (int i = 0; i < 4000; ++i) {
    struck += static_cast<int>(schedule.decide(0, kActor, kSite, 2));
    EXPECT_EQ(schedule.decide(1, kActor, kSite, 2), 0U);
  }
  EXPECT_NEAR(struck, 1000, 150);
}

TEST(Schedule, AnOverrideWins) {
  Schedule schedule(0, draw_schedule_rates(0, 2));
  schedule.set({.kind = 1, .occurrence = 2, .actor = kActor, .site = kSite}, 3);
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(schedule.decide(1, kActor, kSite, 4), i == 2 ? 3U : 0U);
  }
  ASSERT_EQ(schedule.decisions().size(), 1U);
  EXPECT_EQ(schedule.decisions()[0], (Decision{.label = {1, 2, kActor, kSite}, .bound = 4, .value = 3}));
}

TEST(Schedule, AnOverrideOfZeroSilencesADraw) {
  Schedule schedule = always(9);
  schedule.set({.kind = 0, .occurrence = 0, .actor = kActor, .site = kSite}, 0);
  EXPECT_EQ(schedule.decide(0, kActor, kSite, 4), 0U);
  EXPECT_NE(schedule.decide(0, kActor, kSite, 4), 0U);
}

TEST(Schedule, AnOverrideThatIsOutOfBoundsIsZero) {
  Schedule schedule(0, {});
  schedule.set({.kind = 0, .occurrence = 0, .actor = kActor, .site = kSite}, 7);
  EXPECT_EQ(schedule.decide(0, kActor, kSite, 4), 0U);
}

TEST(Schedule, TheDecisionsOfARunRepeatItWithoutItsKey) {
  Schedule drawn(77, {kAlways / 2, kAlways / 3, kAlways / 4});
  const auto run = [](Schedule& schedule) {
    for (std::uint64_t i = 0; i < 300; ++i) {
      schedule.event(schedule.decide(static_cast<std::uint32_t>(i % 3), i % 7, i % 5, 4));
    }
  };
  run(drawn);
  Schedule repeated(0, {});
  for (const Decision& decision : drawn.decisions()) {
    repeated.set(decision.label, decision.value);
  }
  run(repeated);
  EXPECT_EQ(drawn.event_hash(), repeated.event_hash());
  EXPECT_FALSE(drawn.decisions().empty());
}

TEST(Schedule, KeepsAllDecisionsWhenAsked) {
  Schedule schedule(0, {});
  schedule.keep_all();
  schedule.decide(0, kActor, kSite, 4);
  ASSERT_EQ(schedule.decisions().size(), 1U);
  EXPECT_EQ(schedule.decisions()[0].value, 0U);
}

TEST(Schedule, TheOrderOfEventsCounts) {
  Schedule first(0, {});
  Schedule second(0, {});
  first.event(1);
  first.event(2);
  second.event(2);
  second.event(1);
  EXPECT_NE(first.event_hash(), second.event_hash());
}

TEST(Schedule, ADecisionWithoutAValueIsAMistakeOfOurs) {
  Schedule schedule(0, {});
  EXPECT_THROW(schedule.decide(0, kActor, kSite, 0), CheckFailure);
}

TEST(ScheduleRates, AKindIsLeftOutOfHalfOfTheRuns) {
  int on = 0;
  std::set<std::uint32_t> rates;
  for (std::uint64_t key = 1; key <= 2000; ++key) {
    const std::uint32_t rate = draw_schedule_rates(key, 3)[2];
    on += static_cast<int>(rate != 0);
    rates.insert(rate);
  }
  EXPECT_NEAR(on, 1000, 100);
  EXPECT_EQ(rates.size(), 7U);
}

TEST(Schedule, DrawsNothingBeforeItsMoment) {
  Schedule schedule = always(5);
  schedule.draw_from(10);
  schedule.set({.kind = 0, .occurrence = 3, .actor = kActor, .site = kSite}, 1);
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::uint32_t value = schedule.decide(0, kActor, kSite, 2);
    EXPECT_EQ(value, i == 3 || i >= 10 ? 1U : 0U);
  }
  EXPECT_EQ(schedule.moments().front(), 3U);
  EXPECT_EQ(schedule.made_of_kinds()[0], 20U);
  EXPECT_EQ(schedule.struck_of_kinds()[0], 11U);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
