// Draws of texts, bytes and integers without a bound: what they give, repeat and repair.
#include "core/draw/value_draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chi_squared.h"
#include "core/draw/interesting_strings.h"
#include "core/draw/redraw.h"
#include "core/tape/text.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

std::shared_ptr<const Alphabet> alphabet_of(std::vector<Alphabet::Interval> intervals) {
  return std::make_shared<const Alphabet>(std::move(intervals));
}

const std::shared_ptr<const Alphabet>& letters() {
  static const auto kLetters = alphabet_of({{U'a', U'z'}});
  return kLetters;
}

TEST(DrawText, StaysWithinSizeAndAlphabet) {
  Redraw redraw(1);
  for (int i = 0; i < 200; ++i) {
    const std::u32string text = characters_of(draw_text(redraw.source(), letters(), 2, 5));
    EXPECT_GE(text.size(), 2U);
    EXPECT_LE(text.size(), 5U);
    for (const char32_t c : text) {
      EXPECT_TRUE(letters()->contains(c));
    }
  }
}

// The words are those of the list that fit; what is drawn letter by letter is seldom one of them.
TEST(DrawText, IsAKnownWordInOneDrawOfSixteen) {
  constexpr int kDraws = 20'000;
  const auto unicode = alphabet_of({{0, 0xD7FF}, {0xE000, 0x10FFFF}});
  const auto longest = std::ranges::max(kInterestingStrings, {}, &std::string_view::size);
  std::vector<std::uint64_t> counts(2);
  Redraw redraw(2);
  for (int i = 0; i < kDraws; ++i) {
    const std::string text = draw_text(redraw.source(), unicode, 2, static_cast<std::int64_t>(longest.size()));
    ++counts[std::ranges::find(kInterestingStrings, text) != kInterestingStrings.end() ? 0 : 1];
  }
  const auto fitting = static_cast<double>(std::ranges::count_if(
      kInterestingStrings, [](std::string_view word) { return characters_of(word).size() >= 2; }));
  const double share = fitting / kInterestingStrings.size() / kWordPeriod;
  expect_fits(counts, std::vector<double>{share, 1 - share});
}

TEST(DrawText, RepeatsWhatWasRecorded) {
  const std::vector<Choice> choices{Choice::text("abc")};
  Redraw redraw(choices);
  EXPECT_EQ(draw_text(redraw.source(), letters(), 0, 9), "abc");
  EXPECT_TRUE(redraw.matches());
}

TEST(DrawText, RepairsWhatDoesNotFit) {
  const std::vector<Choice> choices{Choice::text("a-\xC3\xA4z"), Choice::text("abcdef"), Choice::text("x")};
  Redraw redraw(choices);
  EXPECT_EQ(draw_text(redraw.source(), letters(), 0, 9), "aaaz") << "others become the simplest";
  EXPECT_EQ(draw_text(redraw.source(), letters(), 0, 2), "ab") << "it is cut";
  EXPECT_EQ(draw_text(redraw.source(), letters(), 3, 9), "xaa") << "it is padded";
  EXPECT_EQ(redraw.source().misaligned(), 3U);
  EXPECT_EQ(draw_text(redraw.source(), letters(), 2, 9), "aa") << "nothing was recorded";
}

TEST(DrawText, IsEmptyWithoutAnAlphabet) {
  const auto none = alphabet_of({});
  Redraw redraw(1);
  EXPECT_EQ(draw_text(redraw.source(), none, 0, 5), "");
  redraw.repeat();
  EXPECT_EQ(draw_text(redraw.source(), none, 0, 5), "");
  EXPECT_TRUE(redraw.matches());
}

TEST(DrawBytes, RepeatsAndRepairs) {
  const std::vector<Choice> choices{Choice::bytes("\x01\x02"), Choice::bytes("abc"), Choice::bytes("")};
  Redraw redraw(choices);
  EXPECT_EQ(draw_bytes(redraw.source(), 0, 5), "\x01\x02");
  EXPECT_EQ(redraw.source().misaligned(), 0U);
  EXPECT_EQ(draw_bytes(redraw.source(), 0, 2), "ab");
  EXPECT_EQ(draw_bytes(redraw.source(), 2, 5), std::string(2, '\0'));
  EXPECT_EQ(redraw.source().misaligned(), 2U);
}

TEST(DrawWideInteger, RepeatsAndRepairs) {
  const Wide high = (Wide{1} << 64U) - 1;
  const std::vector<Choice> choices{integer_choice(high), Choice::integer(-1), integer_choice(high + 1)};
  Redraw redraw(choices);
  EXPECT_EQ(draw_wide_integer(redraw.source(), 0, high, 0), integer_choice(high));
  EXPECT_EQ(redraw.source().misaligned(), 0U);
  EXPECT_EQ(draw_wide_integer(redraw.source(), 0, high, 0), Choice::integer(0));
  EXPECT_EQ(draw_wide_integer(redraw.source(), 0, high, 0), integer_choice(high));
  EXPECT_EQ(redraw.source().misaligned(), 2U);
  EXPECT_EQ(draw_wide_integer(redraw.source(), 5, high, 0), Choice::integer(5)) << "nothing was recorded";
}

TEST(DrawOpenInteger, StaysOnItsSide) {
  Redraw redraw(1);
  for (int i = 0; i < 500; ++i) {
    const Choice above = draw_open_integer(redraw.source(), 10, std::nullopt, 0);
    EXPECT_TRUE(above.is_big() || above.number >= 10);
    const Choice below = draw_open_integer(redraw.source(), std::nullopt, -10, 0);
    EXPECT_TRUE(below.is_big() || below.number <= -10);
  }
}

TEST(DrawOpenInteger, RepairsWhatDoesNotFit) {
  const Choice big = Choice::big_integer(std::string("\0\0\0\0\0\0\0\0\x01", 9));
  const std::vector<Choice> choices{Choice::integer(3), Choice::integer(3), big, big, Choice::boolean(true)};
  Redraw redraw(choices);
  EXPECT_EQ(draw_open_integer(redraw.source(), 1, std::nullopt, 0), Choice::integer(3));
  EXPECT_EQ(redraw.source().misaligned(), 0U);
  EXPECT_EQ(draw_open_integer(redraw.source(), 5, std::nullopt, 0), Choice::integer(5));
  EXPECT_EQ(draw_open_integer(redraw.source(), 5, std::nullopt, 0), big);
  EXPECT_EQ(draw_open_integer(redraw.source(), std::nullopt, 5, 0), Choice::integer(5));
  EXPECT_EQ(draw_open_integer(redraw.source(), 5, std::nullopt, 0), Choice::integer(5)) << "the simplest";
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
