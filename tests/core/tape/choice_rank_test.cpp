// The order in which choices are simpler, and the parts of values that it goes by.
#include "core/tape/choice_rank.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

// 2^exponent + offset, or the opposite.
Choice big(std::size_t exponent, char offset, bool negative) {
  std::u32string magnitude((exponent / 8) + 1, 0);
  magnitude.front() = static_cast<char32_t>(1U << (exponent % 8));
  magnitude.back() = static_cast<char32_t>(magnitude.back() | static_cast<std::uint8_t>(offset));
  return integer_of(magnitude, negative);
}

// 'a', ' ', '\n', 'b', 'c', in this order.
std::shared_ptr<const Alphabet> of_letters() {
  return std::make_shared<const Alphabet>(std::vector<Alphabet::Interval>{{U'\n', U'\n'}, {U' ', U' '}, {U'a', U'c'}});
}

void expect_in_order(const std::vector<Choice>& choices, const Constraint& constraint = {}) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (std::size_t j = 0; j < choices.size(); ++j) {
      EXPECT_EQ(rank_of(choices[i], constraint) <=> rank_of(choices[j], constraint), i <=> j) << i << " " << j;
    }
  }
}

TEST(ChoiceRank, FalseIsSimplerThanTrue) { expect_in_order({Choice::boolean(false), Choice::boolean(true)}); }

TEST(ChoiceRank, IntegersGoByDistanceThenSign) {
  const auto n = [](std::int64_t value) { return Choice::integer(value); };
  expect_in_order({n(0), n(1), n(-1), n(2), n(-2), n(1000), n(kHighest), n(-kHighest), n(kLowest), big(63, 0, false),
                   big(63, 1, false), big(63, 1, true), big(64, 0, false), big(200, 7, true)});
  expect_in_order({n(2000), n(2001), n(1999), n(2002), n(0), n(-1)}, {.simplest = 2000});
  expect_in_order({n(kLowest), n(0), n(kHighest)}, {.simplest = kLowest});
}

TEST(ChoiceRank, FloatsGoByDecimalsThenMagnitude) {
  const auto x = [](double value) { return Choice::real(value); };
  expect_in_order({x(0.0), x(-0.0), x(1), x(-1), x(2), x(1e6), x(1e300), x(0.5), x(7.5), x(0.1), x(-0.1), x(0.25),
                   x(1e-7), x(1.0 / 3), x(kInfinity), x(-kInfinity), x(kNan)});
}

TEST(ChoiceRank, TextsGoByLengthThenCharacter) {
  const auto s = [](const char* value) { return Choice::text(value); };
  expect_in_order({s(""), s("0"), s("Z"), s(" "), s("a"), s("\xC3\xA9"), s("00"), s("a0"), s("000")});
  const auto b = [](const std::string& value) { return Choice::bytes(value); };
  expect_in_order({b(""), b(std::string(1, '\0')), b("a"), b("\xFF"), b("aa")});
}

TEST(ChoiceRank, TextsGoByTheirAlphabetWhereItIsKnown) {
  const auto s = [](const char* value) { return Choice::text(value); };
  expect_in_order({s(""), s("a"), s(" "), s("\n"), s("b"), s("c"), s("aa"), s("a "), s(" a"), s("ba")},
                  {.alphabet = of_letters()});
  const Constraint constraint{.alphabet = of_letters()};
  for (const char* const text : {"", "a", "\n b", "cab"}) {
    EXPECT_EQ(text_of(row_of(s(text), constraint), ChoiceKind::kString, constraint), s(text));
  }
}

TEST(ChoiceRank, KindsAreApart) {
  expect_in_order({Choice::boolean(true), Choice::integer(0), Choice::real(0), Choice::text(""), Choice::bytes("")});
}

TEST(ChoiceRank, TheSimplestOfAConstraintHasNothingBelow) {
  const Constraint text{.low = 2, .alphabet = of_letters()};
  EXPECT_EQ(simplest_choice(ChoiceKind::kString, text), Choice::text("aa"));
  EXPECT_TRUE(is_simplest(Choice::text("aa"), text));
  EXPECT_FALSE(is_simplest(Choice::text("aaa"), text));
  EXPECT_TRUE(is_simplest(Choice::bytes(""), {}));
  EXPECT_TRUE(is_simplest(Choice::boolean(true), {.low = 1, .high = 1}));
  EXPECT_FALSE(is_simplest(Choice::boolean(true), {.low = 0, .high = 1}));
  EXPECT_TRUE(is_simplest(Choice::integer(7), {.simplest = 7}));
  EXPECT_FALSE(is_simplest(big(70, 0, false), {}));
  for (const ChoiceKind kind :
       {ChoiceKind::kBoolean, ChoiceKind::kInteger, ChoiceKind::kFloat, ChoiceKind::kString, ChoiceKind::kBytes}) {
    EXPECT_TRUE(is_simplest(simplest_choice(kind, {}), {}));
  }
}

TEST(ChoiceRank, DistancesReachAllIntegers) {
  EXPECT_EQ(distance_of(Choice::integer(kHighest), {.simplest = kLowest}), std::numeric_limits<std::uint64_t>::max());
  for (const std::int64_t value : {kLowest, std::int64_t{-5}, std::int64_t{0}, kHighest}) {
    for (const std::int64_t simplest : {kLowest, std::int64_t{3}, kHighest}) {
      const Constraint constraint{.simplest = simplest};
      const Choice choice = Choice::integer(value);
      EXPECT_EQ(integer_at(distance_of(choice, constraint), value < simplest, constraint), choice);
    }
  }
}

TEST(ChoiceRank, DecimalsAreWhatItTakesToWriteANumberDown) {
  EXPECT_EQ(decimals_of(0), 0);
  EXPECT_EQ(decimals_of(-12), 0);
  EXPECT_EQ(decimals_of(1e300), 0);
  EXPECT_EQ(decimals_of(0.1), 1);
  EXPECT_EQ(decimals_of(-2.5), 1);
  EXPECT_EQ(decimals_of(3.14159), 5);
  EXPECT_EQ(decimals_of(1.0 / 3), 16);
  EXPECT_EQ(decimals_of(5e-324), 16);
  EXPECT_EQ(decimals_of(kInfinity), 16);
  EXPECT_EQ(decimals_of(kNan), 16);
}

TEST(ChoiceRank, BigIntegersComeBackFromTheirMagnitude) {
  for (const std::size_t exponent : {63U, 64U, 71U, 72U, 128U, 300U}) {
    for (const char offset : {'\0', '\1'}) {
      for (const bool negative : {false, true}) {
        const Choice choice = big(exponent, offset, negative);
        if (!choice.is_big()) {
          EXPECT_EQ(choice.number, kLowest);
          continue;
        }
        EXPECT_GE(choice.blob().size(), 9U);
        EXPECT_EQ(integer_of(magnitude_of(choice), negative), choice);
      }
    }
  }
  EXPECT_EQ(integer_of(U"", true), Choice::integer(0));
  EXPECT_EQ(integer_of(std::u32string{0, 1, 0}, true), Choice::integer(-256));
  EXPECT_THROW((void)magnitude_of(Choice::integer(1)), CheckFailure);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
