// Characters of UTF-8 and back, and the shrink order of characters.
#include "core/tape/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/rng.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(Text, EveryCharacterComesBack) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    const std::u32string one(1, c);
    ASSERT_EQ(characters_of(utf8_of(one)), one);
  }
  EXPECT_EQ(characters_of("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), U"a\u00e9\u20ac\U0001F600");
}

TEST(Text, WhatIsNotUtf8IsReadByteByByte) {
  EXPECT_EQ(characters_of("\xFF\x80"), (std::u32string{0xFF, 0x80}));
  EXPECT_EQ(characters_of("\xE2\x82"), (std::u32string{0xE2, 0x82}));
  EXPECT_EQ(characters_of("\xC3z"), (std::u32string{0xC3, U'z'}));
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (std::uint64_t size = rng.below(12); size > 0; --size) {
      bytes.push_back(static_cast<char>(rng.below(256)));
    }
    EXPECT_LE(characters_of(bytes).size(), bytes.size());
  }
}

TEST(Text, DigitsAndCapitalsAreSimplest) {
  const std::u32string in_order = U"0123456789:;<=>?@ABCXYZ/.! \n[az~\u00e9";
  EXPECT_TRUE(std::ranges::is_sorted(in_order, {}, rank_of_character));
  std::vector<bool> seen(0x110000);
  for (char32_t c = 0; c < 0x110000; ++c) {
    const std::uint32_t rank = rank_of_character(c);
    ASSERT_EQ(character_of_rank(rank), c);
    ASSERT_FALSE(seen.at(rank));
    seen[rank] = true;
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
