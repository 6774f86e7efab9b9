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

TEST(ScheduleShrinker, LeavesNothingWhenNothingIsNeeded) {
  EXPECT_TRUE(shrunk(many(7), [](const Decisions&) { return true; }).empty());
}

TEST(ScheduleShrinker, AsksForTheEmptyScheduleFirst) {
  ScheduleShrinker shrinker(many(5));
  EXPECT_TRUE(shrinker.next()->empty());
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
