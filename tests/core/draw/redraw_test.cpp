// Draws on a tape of their own, repeated.
#include "core/draw/redraw.h"

#include <gtest/gtest.h>

#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

std::int64_t draw(Redraw& redraw, std::int64_t high = 1000) { return redraw.source().integer(0, high, 0); }

TEST(Redraw, RepeatsWhatItDrew) {
  Redraw redraw(5);
  const std::vector<std::int64_t> first{draw(redraw), draw(redraw)};
  redraw.repeat();
  EXPECT_EQ((std::vector<std::int64_t>{draw(redraw), draw(redraw)}), first);
  EXPECT_TRUE(redraw.matches());
  redraw.repeat();
  EXPECT_FALSE(redraw.matches());
  EXPECT_EQ(draw(redraw), first[0]);
  EXPECT_FALSE(redraw.matches());
  EXPECT_EQ(draw(redraw), first[1]);
  EXPECT_TRUE(redraw.matches());
}

TEST(Redraw, DependsOnTheSeedAlone) {
  Redraw one(1);
  Redraw again(1);
  EXPECT_EQ(draw(one), draw(again));
}

TEST(Redraw, DrawsFromTheStreamItIsToldOf) {
  Redraw one(1);
  Redraw named(1, "rehearsal");
  Redraw other(1, "live source");
  const std::int64_t drawn = draw(one, INT64_MAX);
  EXPECT_EQ(draw(named, INT64_MAX), drawn);
  EXPECT_NE(draw(other, INT64_MAX), drawn);
}

TEST(Redraw, SeesWhatWasDrawnOtherwise) {
  Redraw redraw(5);
  draw(redraw);
  redraw.repeat();
  draw(redraw);
  draw(redraw);
  EXPECT_FALSE(redraw.matches()) << "one more";
  redraw.repeat();
  redraw.source().boolean(0.5);
  EXPECT_FALSE(redraw.matches()) << "another kind";
}

TEST(Redraw, StartsFromGivenChoices) {
  const std::vector<Choice> choices{Choice::integer(7), Choice::boolean(true)};
  Redraw redraw(choices);
  EXPECT_EQ(draw(redraw), 7);
  EXPECT_TRUE(redraw.source().boolean(0.5));
  EXPECT_TRUE(redraw.matches());
}

TEST(Redraw, SeesAGivenChoiceThatDoesNotFit) {
  const std::vector<Choice> choices{Choice::integer(7)};
  Redraw redraw(choices);
  EXPECT_EQ(draw(redraw, 3), 3);
  EXPECT_FALSE(redraw.matches());
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
