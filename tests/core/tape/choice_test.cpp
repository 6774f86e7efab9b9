// Values that must survive to the bit.
#include "core/tape/choice.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

TEST(Choice, FloatsKeepTheirBits) {
  for (const std::uint64_t pattern :
       {bits(0.0), bits(-0.0), bits(1.5), bits(std::numeric_limits<double>::infinity()), std::uint64_t{1},
        std::uint64_t{0x7FF8000000000001}, std::uint64_t{0xFFF8DEADBEEF0001}, std::uint64_t{0x7FF0000000000001}}) {
    EXPECT_EQ(bits(Choice::real(std::bit_cast<double>(pattern)).as_real()), pattern);
  }
}

TEST(Choice, EqualityIsBitForBit) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Choice::real(nan), Choice::real(nan));
  EXPECT_NE(Choice::real(nan), Choice::real(std::bit_cast<double>(bits(nan) + 1)));
  EXPECT_NE(Choice::real(0.0), Choice::real(-0.0));
}

TEST(Choice, KindsAreToldApart) {
  EXPECT_NE(Choice::integer(1), Choice::boolean(true));
  EXPECT_NE(Choice::integer(0), Choice::real(0.0));
  EXPECT_NE(Choice::text("a"), Choice::bytes("a"));
}

TEST(Choice, OnlyIntegersBeyond64BitsAreBig) {
  EXPECT_FALSE(Choice::integer(std::numeric_limits<std::int64_t>::min()).is_big());
  EXPECT_TRUE(Choice::big_integer(std::string(9, '\0')).is_big());
  EXPECT_FALSE(Choice::bytes("123456789").is_big());
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
