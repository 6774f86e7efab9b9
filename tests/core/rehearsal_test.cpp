// Draws on a tape of their own, repeated.
#include "core/rehearsal.h"

#include <gtest/gtest.h>

#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

std::int64_t draw(Rehearsal& rehearsal, std::int64_t high = 1000) { return rehearsal.source().integer(0, high, 0); }

TEST(Rehearsal, RepeatsWhatItDrew) {
  Rehearsal rehearsal(5);
  const std::vector<std::int64_t> first{draw(rehearsal), draw(rehearsal)};
  rehearsal.repeat();
  EXPECT_EQ((std::vector<std::int64_t>{draw(rehearsal), draw(rehearsal)}), first);
  EXPECT_TRUE(rehearsal.is_faithful());
  rehearsal.repeat();
  EXPECT_FALSE(rehearsal.is_faithful());
  EXPECT_EQ(draw(rehearsal), first[0]);
  EXPECT_FALSE(rehearsal.is_faithful());
  EXPECT_EQ(draw(rehearsal), first[1]);
  EXPECT_TRUE(rehearsal.is_faithful());
}

TEST(Rehearsal, DependsOnTheSeedAlone) {
  Rehearsal one(1);
  Rehearsal again(1);
  EXPECT_EQ(draw(one), draw(again));
}

TEST(Rehearsal, SeesWhatWasDrawnOtherwise) {
  Rehearsal rehearsal(5);
  draw(rehearsal);
  rehearsal.repeat();
  draw(rehearsal);
  draw(rehearsal);
  EXPECT_FALSE(rehearsal.is_faithful()) << "one more";
  rehearsal.repeat();
  rehearsal.source().boolean(0.5);
  EXPECT_FALSE(rehearsal.is_faithful()) << "another kind";
}

TEST(Rehearsal, StartsFromGivenChoices) {
  const std::vector<Choice> choices{Choice::integer(7), Choice::boolean(true)};
  Rehearsal rehearsal(choices);
  EXPECT_EQ(draw(rehearsal), 7);
  EXPECT_TRUE(rehearsal.source().boolean(0.5));
  EXPECT_TRUE(rehearsal.is_faithful());
}

TEST(Rehearsal, SeesAGivenChoiceThatDoesNotFit) {
  const std::vector<Choice> choices{Choice::integer(7)};
  Rehearsal rehearsal(choices);
  EXPECT_EQ(draw(rehearsal, 3), 3);
  EXPECT_FALSE(rehearsal.is_faithful());
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
