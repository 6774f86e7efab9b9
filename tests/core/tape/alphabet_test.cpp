// Alphabets: their order, and what they hold.
#include "core/tape/alphabet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "core/base/check.h"
#include "core/tape/text.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

std::u32string all(const Alphabet& alphabet) {
  std::u32string characters;
  for (std::uint32_t rank = 0; rank < alphabet.size(); ++rank) {
    characters.push_back(alphabet.at(rank));
  }
  return characters;
}

TEST(Alphabet, StartsWithDigitsAndGoesOnAsUsersOfHypothesisKnow) {
  const Alphabet ascii({{U' ', U'~'}});
  const std::u32string order = all(ascii);
  ASSERT_EQ(order.size(), 95U);
  EXPECT_EQ(order.substr(0, 12), U"0123456789:;");
  for (std::uint32_t rank = 0; rank < ascii.size(); ++rank) {
    if (order[rank] > U'Z') {
      EXPECT_EQ(order[rank], U' ' + rank);
    }
  }
  EXPECT_EQ(order[U'Z' - U'0' + 1], U'/');
  EXPECT_EQ(std::set(order.begin(), order.end()).size(), order.size());
}

TEST(Alphabet, OrdersAllOfUnicodeAsTheRankOfACharacterDoes) {
  const Alphabet unicode({{0, 0x10FFFF}});
  EXPECT_EQ(unicode.size(), 0x110000U);
  for (const std::uint32_t rank : {0U, 1U, 42U, 43U, 90U, 91U, 255U, 256U, 70'000U, 0x10FFFFU}) {
    EXPECT_EQ(rank_of_character(unicode.at(rank)), rank);
  }
}

TEST(Alphabet, HoldsWhatItsIntervalsHold) {
  const Alphabet alphabet({{U'a', U'c'}, {U'x', U'x'}});
  EXPECT_EQ(all(alphabet), U"abcx");
  for (const char32_t inside : U"abcx") {
    EXPECT_EQ(alphabet.contains(inside), inside != 0);
  }
  for (const char32_t outside : {U'`', U'd', U'w', U'y', char32_t{0x10FFFF}}) {
    EXPECT_FALSE(alphabet.contains(outside));
  }
}

TEST(Alphabet, WithNothingFromZeroToZGoesDownwardsFromThere) {
  EXPECT_EQ(all(Alphabet({{U'!', U'#'}})), U"#\"!");
  EXPECT_EQ(all(Alphabet({{U'!', U'#'}, {U'a', U'b'}})).size(), 5U);
}

TEST(Alphabet, RanksAreTheInverseOfItsOrder) {
  for (const Alphabet& alphabet :
       {Alphabet({{U' ', U'~'}}), Alphabet({{U'!', U'#'}}), Alphabet({{U'!', U'#'}, {U'a', U'b'}}),
        Alphabet({{U'\n', U'\n'}, {U' ', U' '}, {U'a', U'b'}}), Alphabet({{U'5', U'9'}, {U'c', U'e'}}),
        Alphabet({{0, 0x10FFFF}}), Alphabet({{U'3', U'7'}})}) {
    for (std::uint32_t rank = 0; rank < std::min(alphabet.size(), 2'000U); ++rank) {
      ASSERT_EQ(alphabet.rank_of(alphabet.at(rank)), rank);
      ASSERT_EQ(alphabet.character_of(rank), alphabet.at(rank));
    }
    ASSERT_EQ(alphabet.rank_of(alphabet.at(alphabet.size() - 1)), alphabet.size() - 1);
  }
}

TEST(Alphabet, OthersComeAfterAllOfIt) {
  const Alphabet letters({{U'a', U'c'}});
  EXPECT_EQ(letters.rank_of(U'x'), 3U + U'x');
  EXPECT_EQ(letters.character_of(letters.rank_of(U'x')), U'x');
}

TEST(Alphabet, MayBeEmpty) {
  const Alphabet none({});
  EXPECT_EQ(none.size(), 0U);
  EXPECT_FALSE(none.contains(U'a'));
}

TEST(Alphabet, RefusesIntervalsOutOfOrder) {
  EXPECT_THROW(Alphabet({{U'b', U'a'}}), CheckFailure);
  EXPECT_THROW(Alphabet({{U'a', U'c'}, {U'c', U'd'}}), CheckFailure);
  EXPECT_THROW(Alphabet({{U'a', 0x110000}}), CheckFailure);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
