// Searches over values: where they end, and after how many candidates.
#include "core/shrink/value_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "core/base/rng.h"
#include "core/tape/choice_rank.h"
#include "core/tape/text.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Found {
  Choice choice;
  int candidates = 0;
};

// Searches as a pass does: only what is simpler is taken.
Found search(const Choice& start, const std::function<bool(const Choice&)>& fails, const Constraint& constraint = {},
             Effort effort = Effort::kThorough) {
  EXPECT_TRUE(fails(start));
  Found found{start};
  auto inquiry = simpler_choices(found.choice, constraint, effort);
  while (const auto choice = inquiry.next()) {
    ++found.candidates;
    EXPECT_EQ(choice->kind, start.kind);
    const bool accepted = rank_of(*choice, constraint) < rank_of(found.choice, constraint) && fails(*choice);
    found.choice = accepted ? *choice : found.choice;
    inquiry.accept(accepted);
    if (found.candidates > 5000) {
      ADD_FAILURE() << "no end";
      break;
    }
  }
  EXPECT_TRUE(fails(found.choice));
  return found;
}

std::int64_t least_integer(std::int64_t start, const std::function<bool(std::int64_t)>& fails, int candidates_max,
                           const Constraint& constraint = {}) {
  const Found found = search(
      Choice::integer(start), [&](const Choice& choice) { return !choice.is_big() && fails(choice.number); },
      constraint);
  EXPECT_LE(found.candidates, candidates_max);
  return found.choice.number;
}

double least_real(double start, const std::function<bool(double)>& fails, int candidates_max) {
  const Found found = search(Choice::real(start), [&](const Choice& choice) { return fails(choice.as_real()); });
  EXPECT_LE(found.candidates, candidates_max);
  return found.choice.as_real();
}

std::shared_ptr<const Alphabet> alphabet_of(std::vector<Alphabet::Interval> intervals) {
  return std::make_shared<const Alphabet>(std::move(intervals));
}

std::string least_text(const std::string& start, const std::function<bool(const std::string&)>& fails,
                       int candidates_max) {
  const Found found = search(Choice::text(start), [&](const Choice& choice) { return fails(choice.blob()); });
  EXPECT_LE(found.candidates, candidates_max);
  return found.choice.blob();
}

TEST(ValueSearch, DistancesBeyondAThresholdAreBisected) {
  for (const std::uint64_t least : {1U, 2U, 150U, 899U, 900U}) {
    std::uint64_t now = 900;
    int candidates = 0;
    auto inquiry = smaller_distances(now, Effort::kLight);
    while (const auto distance = inquiry.next()) {
      ++candidates;
      EXPECT_LT(*distance, now);
      const bool accepted = *distance >= least;
      now = accepted ? *distance : now;
      inquiry.accept(accepted);
    }
    EXPECT_EQ(now, least);
    EXPECT_LE(candidates, 12);
  }
}

TEST(ValueSearch, ALightSearchThatFindsNothingCostsTwoCandidates) {
  int candidates = 0;
  auto inquiry = smaller_distances(std::numeric_limits<std::uint64_t>::max(), Effort::kLight);
  while (inquiry.next()) {
    ++candidates;
  }
  EXPECT_EQ(candidates, 2);
  EXPECT_FALSE(smaller_distances(0, Effort::kThorough).next());
}

TEST(ValueSearch, IntegersGoToTheirThreshold) {
  EXPECT_EQ(least_integer(187, [](std::int64_t x) { return x >= 150; }, 12, {100, 200, 100}), 150);
  EXPECT_EQ(least_integer(std::numeric_limits<std::int64_t>::max(), [](std::int64_t x) { return x > 41; }, 70), 42);
  EXPECT_EQ(least_integer(-1000, [](std::int64_t x) { return x < -7; }, 20), -8);
  EXPECT_EQ(least_integer(-1000, [](std::int64_t x) { return std::abs(x) > 7; }, 20), 8);
  EXPECT_EQ(least_integer(1990, [](std::int64_t x) { return x <= 1995; }, 20, {1, 9999, 2000}), 1995);
  EXPECT_EQ(least_integer(std::numeric_limits<std::int64_t>::min(), [](std::int64_t /*x*/) { return true; }, 1), 0);
}

TEST(ValueSearch, IntegersGoToWhereARemainderDecides) {
  EXPECT_EQ(least_integer(1'000'000'004, [](std::int64_t x) { return x % 7 == 3; }, 40), 3);
  EXPECT_EQ(least_integer(734, [](std::int64_t x) { return x % 10 == 4 && x > 300; }, 40), 304);
  EXPECT_EQ(least_integer(1'000'000, [](std::int64_t x) { return x % 2 == 0 && x > 0; }, 50), 2);
}

TEST(ValueSearch, TheOtherSideOfZeroIsTriedWhereItIsSimpler) {
  EXPECT_EQ(least_integer(9, [](std::int64_t x) { return x == 9 || x == 2 || x == -1; }, 30), -1);
  EXPECT_EQ(least_integer(2, [](std::int64_t x) { return x >= 2; }, 3, {0, 10, 0}), 2);
}

TEST(ValueSearch, BigIntegersGoToTheirThreshold) {
  const std::u32string limit =
      magnitude_of(integer_of(std::u32string{0x12, 0x34, 0, 0, 0, 0, 0, 0, 0x56, 0x78}, false));
  const auto is_above = [&](const Choice& choice) {
    return choice.is_big() && (choice.blob().back() & '\x80') == 0 &&
           (magnitude_of(choice).size() > limit.size() ||
            (magnitude_of(choice).size() == limit.size() && magnitude_of(choice) >= limit));
  };
  const Found found = search(integer_of(std::u32string(20, 0xAB), false), is_above);
  EXPECT_EQ(magnitude_of(found.choice), limit);
  EXPECT_LE(found.candidates, 100);
  const auto is_positive = [](const Choice& choice) { return choice.is_big() || choice.number > 0; };
  EXPECT_LE(search(integer_of(std::u32string(20, 0xAB), false), is_positive).choice.blob().size(), 9U);
  EXPECT_EQ(search(integer_of(std::u32string(20, 0xAB), true), [](const Choice&) { return true; }).candidates, 1);
}

TEST(ValueSearch, FloatsGoToWholeNumbersAndShortDecimals) {
  EXPECT_EQ(least_real(1234.5678, [](double x) { return x > 10; }, 30), 11);
  EXPECT_EQ(least_real(-1234.5678, [](double x) { return x < -0.5; }, 30), -1);
  EXPECT_EQ(least_real(0.3333333333333333, [](double x) { return x > 0.1 && x < 0.9; }, 30), 0.5);
  EXPECT_EQ(least_real(0.3333333333333333, [](double x) { return x > 0.1 && x < 0.4; }, 30), 0.2);
  EXPECT_EQ(least_real(7.25, [](double x) { return x > 3.25 && x != std::trunc(x); }, 30), 3.5);
  EXPECT_EQ(least_real(kInfinity, [](double x) { return x > 1e10; }, 60), 0x1p34);
  EXPECT_EQ(least_real(-kInfinity, [](double x) { return std::isinf(x); }, 10), kInfinity);
  EXPECT_TRUE(std::isnan(least_real(std::nan(""), [](double x) { return x != x; }, 2)));
  EXPECT_EQ(least_real(0.1, [](double x) { return x == 0.1; }, 20), 0.1);
  EXPECT_EQ(least_real(1e300, [](double x) { return x > 0; }, 20), 1);
}

TEST(ValueSearch, TextsGoToFewAndSimpleCharacters) {
  const auto has = [](const std::string& part) {
    return [part](const std::string& text) { return text.find(part) != std::string::npos; };
  };
  EXPECT_EQ(least_text("some x in the middle", has("x"), 40), "x");
  EXPECT_EQ(least_text("some ab in the middle", has("ab"), 60), "ab");
  EXPECT_EQ(least_text("abcdefghij", [](const std::string& text) { return text.size() >= 3; }, 20), "000");
  EXPECT_EQ(least_text("zzz", [](const std::string& text) { return text.size() == 3 && text > "bbb"; }, 88), "bb\x63");
  EXPECT_EQ(least_text("anything", [](const std::string& /*text*/) { return true; }, 1), "");
  // Characters that must be equal are lowered together, and characters in any order are sorted.
  EXPECT_EQ(
      least_text("xyx", [](const std::string& text) { return text.size() == 3 && text[0] == text[2]; }, 5), "000");
  EXPECT_EQ(least_text("ba", [](const std::string& text) { return text == "ba" || text == "ab"; }, 40), "ab");
}

TEST(ValueSearch, BytesGoDown) {
  const Found found = search(Choice::bytes("\xFF\x80zz"), [](const Choice& choice) {
    return std::ranges::any_of(choice.blob(), [](char c) { return static_cast<std::uint8_t>(c) >= 0x7F; });
  });
  EXPECT_EQ(found.choice, Choice::bytes("\x7F"));
}

TEST(ValueSearch, AHigherCharacterMakesUpForOneLess) {
  const auto is_other = [](const std::string& text) { return !text.empty() && text != "0"; };
  EXPECT_EQ(least_text("00", is_other, 10), "1");
  const Constraint constraint{.low = 0, .high = 9, .alphabet = alphabet_of({{U'a', U'b'}})};
  const auto none_like_it = [](const Choice& choice) { return choice.blob() != "a" && choice.blob() != "b"; };
  const Found found = search(
      Choice::text("aa"), [&](const Choice& choice) { return !choice.blob().empty() && none_like_it(choice); },
      constraint);
  EXPECT_EQ(found.choice, Choice::text("aa"));  // the alphabet has no third
}

TEST(ValueSearch, BytesThatBecameSuperfluousGo) {
  const auto sum_of = [](const Choice& choice) {
    int sum = 0;
    for (const char byte : choice.blob()) {
      sum += static_cast<std::uint8_t>(byte);
    }
    return sum;
  };
  for (const std::string start : {"\x80\x7F\x60\x70", "\x60\x60\x60\x60\x60", "\x7F\x7F\x7F"}) {
    const Found found = search(Choice::bytes(start), [&](const Choice& choice) { return sum_of(choice) > 300; });
    EXPECT_EQ(found.choice.blob().size(), 2);
  }
}

TEST(ValueSearch, SizesAndCharactersOfTheConstraintAreKept) {
  const Constraint constraint{.low = 2, .high = 9, .alphabet = alphabet_of({{U'a', U'z'}})};
  const Found found =
      search(Choice::text("xyz"), [](const Choice& choice) { return choice.blob().size() >= 2; }, constraint);
  EXPECT_EQ(found.choice, Choice::text("aa"));
  EXPECT_EQ(found.candidates, 1);
}

TEST(ValueSearch, ABoundThatRanInsteadIsGoneOnFrom) {
  Choice now = Choice::real(0.6180339887);
  auto search = simpler_choices(now, {.simplest = std::bit_cast<std::int64_t>(0.25)}, Effort::kThorough);
  while (const auto choice = search.next()) {
    const Choice ran = Choice::real(std::clamp(choice->as_real(), 0.25, 0.75));
    const bool accepted = ran.as_real() > 0.3 && rank_of(ran, {}) < rank_of(now, {});
    now = accepted ? ran : now;
    search.accept(accepted);
  }
  EXPECT_EQ(now, Choice::real(0.5));
}

TEST(ValueSearch, BytesBorrowFromThoseBefore) {
  const auto number = [](const std::string& bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes) {
      value = (value << 8U) | static_cast<std::uint8_t>(byte);
    }
    return value;
  };
  const Constraint constraint{.low = 4, .high = 4};
  const auto fails = [&](const Choice& choice) { return choice.blob().size() == 4 && number(choice.blob()) > 5; };
  EXPECT_EQ(number(search(Choice::bytes(std::string("\3\2\1\0", 4)), fails, constraint).choice.blob()), 6U);
}

TEST(ValueSearch, CharactersThatFailAreFoundBelowSomeThatPass) {
  const auto is_letter = [](const std::string& text) {
    return text.size() == 1 && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
  };
  EXPECT_EQ(least_text("x", is_letter, 40), "A");
}

// Ranks count the characters of the alphabet, so a search goes over those alone, and reaches each.
TEST(ValueSearch, CharactersGoInTheOrderOfTheirAlphabet) {
  const Constraint constraint{
      .low = 1, .high = 1, .alphabet = alphabet_of({{U'\n', U'\n'}, {U' ', U' '}, {U'a', U'b'}})};
  const auto least = [&](const std::string& start, const std::string& failing) {
    const auto fails = [&](const Choice& choice) { return failing.find(choice.blob()) != std::string::npos; };
    return search(Choice::text(start), fails, constraint).choice.blob();
  };
  EXPECT_EQ(least("\n", "\n ab"), "a");
  EXPECT_EQ(least("\n", "\n b"), " ");
  EXPECT_EQ(least("b", "\nb"), "\n");
  const Constraint apart{.low = 1, .high = 1, .alphabet = alphabet_of({{U'0', U'0'}, {U'q', U'q'}, {U'z', U'z'}})};
  const auto fails = [](const Choice& choice) { return choice.blob() != "0"; };
  EXPECT_EQ(search(Choice::text("z"), fails, apart).choice.blob(), "q");
}

TEST(ValueSearch, AnyPredicateEnds) {
  Rng rng(1);
  const auto random_choice = [&]() -> Choice {
    switch (rng.below(5)) {
      case 0:
        return Choice::integer(static_cast<std::int64_t>(rng.next()));
      case 1:
        return Choice::real(std::bit_cast<double>(rng.next()));
      case 2:
        return integer_of(std::u32string(9 + rng.below(9), 0xC7), rng.below(2) == 0);
      case 3:
        return Choice::bytes(std::string(rng.below(20), static_cast<char>(rng.below(256))));
      default:
        return Choice::text(utf8_of(std::u32string(rng.below(20), static_cast<char32_t>(rng.below(0x110000)))));
    }
  };
  for (int i = 0; i < 3000; ++i) {
    const Choice start = random_choice();
    const std::uint64_t salt = rng.next();
    const auto fails = [&](const Choice& choice) {
      const std::uint64_t h = hash_bytes(choice.blob(), static_cast<std::uint64_t>(choice.number) ^ salt);
      return choice == start || h % 3 == 0;
    };
    const Found found = search(start, fails);
    EXPECT_LE(rank_of(found.choice, {}), rank_of(start, {}));
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
