// Integers on both sides of what 64 bits hold.
#include "core/tape/wide_integer.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr Wide kOne = 1;

TEST(WideInteger, GoesThereAndBack) {
  for (int bits = 0; bits < 127; ++bits) {
    for (const Wide value : {kOne << bits, (kOne << bits) - 1, -(kOne << bits), -(kOne << bits) - 1}) {
      const Choice choice = integer_choice(value);
      EXPECT_TRUE(wide_of(choice) == value) << bits;
      EXPECT_EQ(choice.is_big(), value < INT64_MIN || value > INT64_MAX) << bits;
    }
  }
}

TEST(WideInteger, IsWrittenAsShortAsItsSignAllows) {
  EXPECT_EQ(integer_choice(kOne << 63U).blob(), std::string("\0\0\0\0\0\0\0\x80\0", 9));
  EXPECT_EQ(integer_choice(-(kOne << 63U) - 1).blob(), std::string("\xff\xff\xff\xff\xff\xff\xff\x7f\xff", 9));
  EXPECT_EQ(integer_choice(kOne << 80U).blob().size(), 11U);
  EXPECT_EQ(integer_choice(kOne << 126U).blob().size(), 16U);
  // The sign has no room where all 128 bits are the magnitude's.
  EXPECT_EQ(big_integer_choice(false, ~WideUnsigned{0}).blob(), std::string(16, '\xff') + '\0');
  EXPECT_EQ(big_integer_choice(true, ~WideUnsigned{0}).blob(), '\1' + std::string(15, '\0') + '\xff');
}

TEST(WideInteger, HasAsManyBitsAsItsMagnitude) {
  EXPECT_EQ(magnitude_bits(Choice::integer(0)), 0U);
  EXPECT_EQ(magnitude_bits(Choice::integer(-1)), 1U);
  for (int bits = 1; bits < 127; ++bits) {
    const auto more = static_cast<std::size_t>(bits) + 1;
    for (const Wide sign : {1, -1}) {
      EXPECT_EQ(magnitude_bits(integer_choice(sign * (kOne << bits))), more) << bits;
      EXPECT_EQ(magnitude_bits(integer_choice(sign * ((kOne << bits) + 1))), more) << bits;
      EXPECT_EQ(magnitude_bits(integer_choice(sign * ((kOne << bits) - 1))), more - 1) << bits;
    }
  }
  EXPECT_EQ(magnitude_bits(Choice::big_integer(std::string(20, '\x7f'))), 159U);
  EXPECT_EQ(magnitude_bits(Choice::big_integer(std::string(19, '\0') + '\x80')), 160U);
  EXPECT_EQ(magnitude_bits(Choice::big_integer(std::string(20, '\xff'))), 1U);
}

TEST(WideInteger, IsNothingForOtherChoices) {
  EXPECT_FALSE(wide_of(Choice::text("1")));
  EXPECT_FALSE(wide_of(Choice::boolean(true)));
  EXPECT_FALSE(wide_of(Choice::big_integer(std::string(17, '\x01'))));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
