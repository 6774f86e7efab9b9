// Tests that the odometer visits each combination once, in order, and notices a test that changes its mind.
#include "core/draw/odometer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

using Path = std::vector<std::uint64_t>;
using Turn = Odometer::Turn;
using Case = std::function<void(Odometer&)>;

std::vector<Path> visited(Odometer& odometer, const Case& test) {
  std::vector<Path> paths;
  while (odometer.next() == Turn::kCase) {
    test(odometer);
    paths.push_back(odometer.path());
  }
  return paths;
}

std::vector<Path> all(const Case& test) {
  Odometer odometer;
  return visited(odometer, test);
}

// A list of up to two booleans: how many follow depends on what came before.
void short_list(Odometer& o) {
  for (std::uint64_t left = o.choose(2, 0); left > 0; --left) {
    o.choose(1, 0);
  }
}

TEST(Odometer, VisitsOneCaseWithoutChoices) {
  EXPECT_EQ(all([](Odometer&) {}), std::vector<Path>{Path{}});
}

TEST(Odometer, CountsInLexicographicOrder) {
  EXPECT_EQ(all(short_list), (std::vector<Path>{{0}, {1, 0}, {1, 1}, {2, 0, 0}, {2, 0, 1}, {2, 1, 0}, {2, 1, 1}}));
}

TEST(Odometer, GoesAsDeepAsTheTest) {
  Odometer odometer;
  const std::vector<Path> paths = visited(odometer, [](Odometer& o) {
    for (int i = 0; i < 5'000 && o.choose(1, 0) == 0; ++i) {
    }
  });
  EXPECT_EQ(paths.size(), 5'001U);
}

TEST(Odometer, RefusesACaseWithoutAnEnd) {
  Odometer odometer;
  ASSERT_EQ(odometer.next(), Turn::kCase);
  EXPECT_THROW(
      {
        for (;;) {
          odometer.choose(1, 0);
        }
      },
      Error);
}

TEST(Odometer, KeepsTheWidestBound) {
  Odometer odometer;
  ASSERT_EQ(odometer.next(), Turn::kCase);
  EXPECT_EQ(odometer.choose(UINT64_MAX, 0), 0U);
  ASSERT_EQ(odometer.next(), Turn::kCase);
  EXPECT_EQ(odometer.choose(UINT64_MAX, 0), 1U);
}

TEST(Odometer, StopsAtTheLimitOnlyWhenThereIsMore) {
  Odometer exact(7);
  EXPECT_EQ(visited(exact, short_list).size(), 7U);
  EXPECT_EQ(exact.next(), Turn::kDone);
  Odometer tight(6);
  while (tight.next() == Turn::kCase) {
    short_list(tight);
  }
  EXPECT_EQ(tight.cases(), 6U);
  Odometer none(0);
  EXPECT_EQ(none.next(), Turn::kLimit);
}

TEST(Odometer, StaysDone) {
  Odometer odometer;
  EXPECT_EQ(odometer.next(), Turn::kCase);
  EXPECT_EQ(odometer.next(), Turn::kDone);
  EXPECT_EQ(odometer.next(), Turn::kDone);
}

TEST(Odometer, StartsAnew) {
  Odometer odometer;
  const std::vector<Path> first = visited(odometer, short_list);
  odometer.restart();
  EXPECT_EQ(visited(odometer, short_list), first);
  EXPECT_EQ(odometer.cases(), first.size());
}

// -- Tests that change their mind -----------------------------------------------------------------------------------

TEST(Odometer, NoticesAChangedBound) {
  Odometer odometer;
  ASSERT_EQ(odometer.next(), Turn::kCase);
  odometer.choose(3, 11);
  odometer.choose(1, 12);
  ASSERT_EQ(odometer.next(), Turn::kCase);
  EXPECT_TRUE(odometer.repeats());
  try {
    odometer.choose(4, 13);
    FAIL() << "the bound was taken";
  } catch (const ChangedBoundError& error) {
    EXPECT_STREQ(error.what(), "choice 0 was one of 0..3 and is now one of 0..4");
    EXPECT_EQ(odometer.digits()[odometer.position()].site, 11U);
  }
}

TEST(Odometer, NoticesFewerChoices) {
  Odometer odometer;
  ASSERT_EQ(odometer.next(), Turn::kCase);
  odometer.choose(1, 0);
  odometer.choose(1, 0);
  ASSERT_EQ(odometer.next(), Turn::kCase);
  odometer.choose(1, 0);
  EXPECT_EQ(odometer.next(), Turn::kFewer);
  EXPECT_EQ(odometer.position(), 1U);
  EXPECT_EQ(odometer.next(), Turn::kDone);
}

// -- Replay ---------------------------------------------------------------------------------------------------------

TEST(Odometer, ReplaysAPathAndThenZeros) {
  Odometer odometer;
  odometer.replay({2, 1});
  EXPECT_EQ(visited(odometer, short_list), (std::vector<Path>{{2, 1, 0}}));
  EXPECT_EQ(odometer.unused(), 0U);
}

TEST(Odometer, TellsOfAPathThatNoLongerFits) {
  Odometer odometer;
  odometer.replay({3});
  ASSERT_EQ(odometer.next(), Turn::kCase);
  EXPECT_THROW(short_list(odometer), PathError);
  odometer.replay({0, 1});
  EXPECT_EQ(visited(odometer, short_list).size(), 1U);
  EXPECT_EQ(odometer.unused(), 1U);
}

// -- Values that are filtered -----------------------------------------------------------------------------------------

// Draws an even number below `size` as a filter does: false when the choices from `begin` on hold none.
bool draw_even(Odometer& o, std::size_t begin, std::uint64_t size) {
  while (o.choose(size - 1, 0) % 2 != 0) {
    if (!o.retry(begin)) {
      return false;
    }
  }
  return true;
}

// The same in a case that cannot be dropped: so whether there is another one is found out before it ends.
void even(Odometer& o, std::uint64_t size) {
  const std::size_t begin = o.position();
  ASSERT_TRUE(draw_even(o, begin, size));
  if (o.is_new(begin)) {
    o.hold(begin);
    o.release(o.retry(begin) && draw_even(o, begin, size));
  }
}

TEST(Odometer, SkipsWhatIsFilteredOut) {
  const std::vector<Path> paths = all([](Odometer& o) {
    o.choose(1, 0);
    even(o, 4);
    o.choose(1, 0);
  });
  EXPECT_EQ(paths, (std::vector<Path>{
                       {0, 0, 0}, {0, 0, 1}, {0, 2, 0}, {0, 2, 1}, {1, 0, 0}, {1, 0, 1}, {1, 2, 0}, {1, 2, 1}}));
}

TEST(Odometer, CountsDroppedCasesApart) {
  Odometer odometer(7);
  while (odometer.next() == Turn::kCase) {
    if (odometer.choose(2, 0) == 1) {
      odometer.drop();
    }
  }
  EXPECT_EQ(odometer.cases(), 2U);
  EXPECT_EQ(odometer.dropped(), 1U);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
