// What mutating keeps and what it reaches.
#include "core/draw/mutator.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "core/base/check.h"
#include "core/draw/choice_source.h"
#include "core/tape/tape.h"
#include "core/tape/text.h"
#include "core/tape/wide_integer.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(MutateInteger, StaysInsideItsBounds) {
  struct Case {
    std::int64_t value;
    std::int64_t low;
    std::int64_t high;
  };
  constexpr std::array kCases{Case{0, 0, 0},
                              Case{5, 0, 9},
                              Case{-3, -3, 200},
                              Case{0, kLeast, kMost},
                              Case{kMost, 0, kMost},
                              Case{kLeast, kLeast, 0},
                              Case{kMost - 1, kLeast, kMost}};
  Rng rng(1);
  for (const Case& c : kCases) {
    for (int i = 0; i < 20'000; ++i) {
      const std::int64_t value = mutate_integer(rng, c.value, c.low, c.high);
      ASSERT_LE(c.low, value);
      ASSERT_GE(c.high, value);
    }
  }
}

TEST(MutateInteger, KeepsTheValueOftenAndReachesItsNeighbours) {
  Rng rng(2);
  std::set<std::int64_t> seen;
  int kept = 0;
  constexpr int kDraws = 10'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::int64_t value = mutate_integer(rng, 500, 0, 1'000'000);
    seen.insert(value);
    kept += value == 500 ? 1 : 0;
  }
  EXPECT_GT(kept, kDraws / 4);
  for (const std::int64_t near : {484, 499, 501, 516, 0, 1'000'000, 500 ^ 256}) {
    EXPECT_TRUE(seen.contains(near)) << near;
  }
}

TEST(MutateInteger, RefusesAValueOutside) {
  Rng rng(3);
  EXPECT_THROW(mutate_integer(rng, 11, 0, 10), CheckFailure);
}

TEST(MutateInteger, ReplacesAByteAsAWhole) {
  Rng rng(5);
  bool replaced = false;
  for (int i = 0; i < 20'000; ++i) {
    replaced = replaced || mutate_integer(rng, 0x12340000, 0, 0xFFFFFFFF) == 0x1234B700;
  }
  EXPECT_TRUE(replaced);
}

TEST(MutateText, InsertsDeletesDoublesAndJoins) {
  Rng rng(6);
  std::set<std::string> seen;
  for (int i = 0; i < 20'000; ++i) {
    seen.insert(mutate_text(rng, "ab", "xyz"));
  }
  for (const char* const text : {"a", "b", "aab", "abb", "abab", "xyzab", "abxyz", "xyz", "bb", "ac", "xb", "axb"}) {
    EXPECT_TRUE(seen.contains(text)) << text;
  }
}

TEST(MutateText, KeepsCharactersWhole) {
  Rng rng(7);
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = mutate_text(rng, "\xf4\x8f\xbf\xbf\xc3\xa4", "");
    for (const char32_t c : characters_of(text)) {
      ASSERT_LE(c, 0x10FFFFU);
    }
    ASSERT_EQ(utf8_of(characters_of(text)), text);
  }
}

TEST(MutateBytes, OfNothingIsTheOtherOne) {
  Rng rng(8);
  EXPECT_EQ(mutate_bytes(rng, "", "xyz"), "xyz");
  EXPECT_EQ(mutate_bytes(rng, "", ""), "");
}

TEST(MutateReal, ReachesNeighboursAndItsNegative) {
  Rng rng(9);
  std::set<double> seen;
  for (int i = 0; i < 2'000; ++i) {
    seen.insert(mutate_real(rng, 2.5));
  }
  for (const double value : {-2.5, 5.0, 1.25, 0.4, 3.0, 3.5, 1.5, std::nextafter(2.5, 3.0)}) {
    EXPECT_TRUE(seen.contains(value)) << value;
  }
}

TEST(MutateChoice, KeepsTheKindAndIntegersOfAnySize) {
  Rng rng(10);
  const Choice other = Choice::text("other");
  const Choice big = integer_choice(Wide{1} << 90U);
  bool near = false;
  for (int i = 0; i < 1'000; ++i) {
    for (const Choice& choice : {Choice::text("t"), Choice::bytes("b"), Choice::integer(INT64_MAX), big,
                                 Choice::real(1.0), Choice::boolean(false)}) {
      ASSERT_EQ(mutate_choice(rng, choice, choice.kind == ChoiceKind::kString ? &other : nullptr).kind, choice.kind);
    }
    near = near || mutate_choice(rng, big, nullptr) == integer_choice((Wide{1} << 90U) + 1);
  }
  EXPECT_TRUE(near);
  EXPECT_EQ(mutate_choice(rng, Choice::boolean(false), nullptr), Choice::boolean(true));
}

TEST(LeaningOnAStep, DrawsAreNearItAndFitOtherConstraintsAllTheSame) {
  Tape model;
  model.begin_step(StepKind::kRule, 0, 0);
  model.begin_argument(1);
  model.add(Choice::integer(700));
  Tape out;
  ChoiceSource source(out);
  source.live(Rng(4));
  int near = 0;
  for (int i = 0; i < 1'000; ++i) {
    source.mutate_from(model, model.step(0));
    out.begin_step(StepKind::kRule, 0, static_cast<std::uint32_t>(i));
    source.begin_argument(1);
    const std::int64_t value = source.integer(0, 100'000, 0);
    near += value >= 684 && value <= 716 ? 1 : 0;
    source.begin_argument(1);
    ASSERT_LE(source.integer(0, 10, 0), 10);
  }
  EXPECT_GT(near, 500);
  EXPECT_TRUE(source.is_live());
  EXPECT_EQ(source.misaligned(), 0U);
}

TEST(LeaningOnAStep, KeepsMostOfALongArgumentAndRepeatsParts) {
  constexpr int kElements = 40;
  Tape model;
  model.begin_step(StepKind::kRule, 0, 0);
  model.begin_argument(1);
  for (int i = 0; i < kElements; ++i) {
    model.add(Choice::boolean(true));
    model.add(Choice::integer(5'000 + i));
  }
  model.add(Choice::boolean(false));
  Tape out;
  ChoiceSource source(out);
  source.live(Rng(4));
  int longer = 0;
  int kept = 0;
  for (int i = 0; i < 1'000; ++i) {
    source.mutate_from(model, model.step(0));
    out.begin_step(StepKind::kRule, 0, static_cast<std::uint32_t>(i));
    source.begin_argument(1);
    int elements = 0;
    int known = 0;
    for (; source.boolean(0.8); ++elements) {
      const std::int64_t value = source.integer(0, 1'000'000, 0);
      known += value >= 5'000 && value < 5'000 + kElements ? 1 : 0;
    }
    longer += elements > kElements ? 1 : 0;
    kept += known >= elements * 3 / 4 ? 1 : 0;
  }
  EXPECT_GT(longer, 300);
  EXPECT_GT(kept, 900);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
