// Tests that shrinking leaves exactly the decisions that a failure needs, at their mildest.
#include "core/schedule/schedule_shrinker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

using Decisions = std::vector<Decision>;

Decisions many(std::uint32_t count) {
  Decisions decisions;
  for (std::uint32_t i = 0; i < count; ++i) {
    decisions.push_back({.label = {.kind = 0, .occurrence = i, .actor = 1, .site = 2}, .bound = 9, .value = 5});
  }
  return decisions;
}

std::uint32_t value_of(const Decisions& decisions, std::uint32_t occurrence) {
  const auto found =
      std::ranges::find_if(decisions, [&](const Decision& d) { return d.label.occurrence == occurrence; });
  return found == decisions.end() ? 0 : found->value;
}

Decisions shrunk(Decisions from, const std::function<bool(const Decisions&)>& fails) {
  ScheduleShrinker shrinker(std::move(from));
  while (const std::optional<Decisions> candidate = shrinker.next()) {
    shrinker.tell(fails(*candidate));
  }
  return shrinker.needed();
}

TEST(ScheduleShrinker, LeavesWhatIsNeeded) {
  const Decisions left =
      shrunk(many(40), [](const Decisions& d) { return value_of(d, 3) >= 2 && value_of(d, 31) >= 1; });
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(value_of(left, 3), 2U);
  EXPECT_EQ(value_of(left, 31), 1U);
}

// The fourth packet that is not sent again has to be lost; each loss before it has one more packet sent.
TEST(ScheduleShrinker, MovesLaterDecisionsDownWithWhatTheyFollow) {
  const auto fails = [](const Decisions& d) {
    std::uint32_t sent_again = 0;
    while (value_of(d, sent_again) >= 1) {
      ++sent_again;
    }
    return value_of(d, sent_again + 3) >= 1;
  };
  Decisions from = many(10);
  from.erase(from.begin() + 6, from.begin() + 9);  // 0 to 5 are sent again, and 9 is the one
  const Decisions left = shrunk(from, fails);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(value_of(left, 3), 1U);
}

TEST(ScheduleShrinker, MovesTheLinksOfOneHostTogether) {
  // What is lost from actor 1 is sent again to both 1 and 2, which are of one family; 3 is of another.
  Decisions from = many(3);
  from[0] = {.label = {.occurrence = 0, .actor = 1, .site = 2}, .bound = 9, .value = 1};
  from[1] = {.label = {.occurrence = 4, .actor = 2, .site = 2}, .bound = 9, .value = 1};
  from[2] = {.label = {.occurrence = 4, .actor = 3, .site = 2}, .bound = 9, .value = 1};
  const auto at = [](const Decisions& d, std::uint64_t actor, std::uint32_t occurrence) {
    return std::ranges::any_of(
        d, [&](const Decision& each) { return each.label.actor == actor && each.label.occurrence == occurrence; });
  };
  ScheduleShrinker shrinker(from, {{1, 7}, {2, 7}, {3, 8}});
  while (const auto candidate = shrinker.next()) {
    shrinker.tell(at(*candidate, 3, 4) && at(*candidate, 2, at(*candidate, 1, 0) ? 4 : 3));
  }
  ASSERT_EQ(shrinker.needed().size(), 2U);
  EXPECT_TRUE(at(shrinker.needed(), 2, 3));
}

TEST(ScheduleShrinker, LeavesOutWhatAMilderValueMakesNeedless) {
  const Decisions left = shrunk(
      many(2), [](const Decisions& d) { return value_of(d, 0) >= 1 && (value_of(d, 0) < 3 || value_of(d, 1) >= 1); });
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(value_of(left, 0), 1U);
}

TEST(ScheduleShrinker, LeavesNothingWhenNothingIsNeeded) {
  EXPECT_TRUE(shrunk(many(7), [](const Decisions&) { return true; }).empty());
}

TEST(ScheduleShrinker, AsksForTheEmptyScheduleFirst) {
  ScheduleShrinker shrinker(many(5));
  EXPECT_TRUE(shrinker.next()->empty());
}

// Every second decision is of kind 1; five actors take turns.
Decisions mixed(std::uint32_t count) {
  Decisions decisions = many(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    decisions[i].label.kind = i % 2;
    decisions[i].label.actor = i % 5;
  }
  return decisions;
}

TEST(ScheduleShrinker, LeavesOutKindsAndThenActors) {
  ScheduleShrinker shrinker(mixed(20));
  EXPECT_TRUE(shrinker.next()->empty());
  for (const std::uint32_t kind : {0U, 1U}) {
    const auto candidate = shrinker.next();
    ASSERT_EQ(candidate->size(), 10U);
    EXPECT_TRUE(std::ranges::none_of(*candidate, [&](const Decision& d) { return d.label.kind == kind; }));
  }
  for (std::uint64_t actor = 0; actor < 5; ++actor) {
    const auto candidate = shrinker.next();
    ASSERT_EQ(candidate->size(), 16U);
    EXPECT_TRUE(std::ranges::none_of(*candidate, [&](const Decision& d) { return d.label.actor == actor; }));
  }
  EXPECT_EQ(shrinker.next()->size(), 10U);  // the first half is left out
}

TEST(ScheduleShrinker, FindsAnActorAmongManyInFewCandidates) {
  ScheduleShrinker shrinker(mixed(2'000));
  int asked = 0;
  while (const auto candidate = shrinker.next()) {
    shrinker.tell(value_of(*candidate, 504) >= 1 && value_of(*candidate, 1'204) >= 1);
    ++asked;
  }
  EXPECT_EQ(shrinker.needed().size(), 2U);
  EXPECT_LE(asked, 50);
}

TEST(ScheduleShrinker, NeedsNoVerdict) {
  ScheduleShrinker shrinker(many(4));
  int asked = 0;
  while (shrinker.next()) {
    ++asked;
  }
  EXPECT_GT(asked, 4);
  EXPECT_EQ(shrinker.needed(), many(4));
}

TEST(ScheduleShrinker, NothingToShrinkEndsAtOnce) { EXPECT_FALSE(ScheduleShrinker({}).next()); }

TEST(ScheduleShrinker, GoesRoundAgainWhenADropAllowsAnother) {
  // 1 is needed as long as 2 is there.
  const Decisions left = shrunk(many(3), [](const Decisions& d) { return value_of(d, 2) == 0 || value_of(d, 1) != 0; });
  EXPECT_TRUE(left.empty());
}

TEST(ScheduleShrinker, LowersALargeValueInFewTries) {
  Decisions one = many(1);
  one[0].value = 250;
  for (const std::uint32_t least : {1U, 7U, 100U, 249U, 250U}) {
    int asked = 0;
    const Decisions left = shrunk(one, [&](const Decisions& d) { return ++asked, value_of(d, 0) >= least; });
    EXPECT_EQ(value_of(left, 0), least);
    EXPECT_LT(asked, 60);
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
