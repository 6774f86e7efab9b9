// Values come back as they were written, and bytes that nobody wrote are refused.
#include "core/base/byte_stream.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(ByteStream, NumbersComeBack) {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, UINT64_MAX / 2, UINT64_MAX}) {
    ByteWriter out;
    out.number(value);
    out.word(value);
    const std::string bytes = std::move(out).take();
    ByteReader in(bytes);
    EXPECT_EQ(in.number("a number"), value);
    EXPECT_EQ(in.word("a word"), value);
    in.check_end();
  }
}

TEST(ByteStream, IntegersComeBackAndSmallOnesAreShort) {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{63}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    ByteWriter out;
    out.integer(value);
    const std::string bytes = std::move(out).take();
    ByteReader in(bytes);
    EXPECT_EQ(in.integer("an integer"), value);
    EXPECT_TRUE(value < -64 || value > 63 || bytes.size() == 1);
  }
}

TEST(ByteStream, FlagsAndTextsComeBack) {
  for (std::size_t size = 0; size < 20; ++size) {
    std::vector<bool> flags(size);
    for (std::size_t i = 0; i < size; ++i) {
      flags[i] = i % 3 == 0;
    }
    ByteWriter out;
    out.flags(flags);
    out.text("a text");
    const std::string bytes = std::move(out).take();
    ByteReader in(bytes);
    EXPECT_EQ(in.flags("flags", size), flags);
    EXPECT_EQ(in.text("a text"), "a text");
    in.check_end();
  }
}

TEST(ByteStream, RefusesWhatEndsTooEarly) {
  ByteReader in("");
  EXPECT_THROW(in.byte("a byte"), TraceError);
  EXPECT_THROW(in.number("a number"), TraceError);
  EXPECT_THROW(in.word("a word"), TraceError);
  EXPECT_THROW(in.text("a text"), TraceError);
  EXPECT_THROW(ByteReader("\x05half").text("a text"), TraceError);
  EXPECT_THROW(ByteReader("\x08").flags("flags", 8), TraceError);
}

TEST(ByteStream, RefusesNumbersThatNobodyWrites) {
  EXPECT_THROW(ByteReader(std::string("\x80\x00", 2)).number("a number"), TraceError);  // a longer zero
  EXPECT_THROW(ByteReader(std::string(9, '\xFF') + '\x02').number("a number"), TraceError);
  EXPECT_THROW(ByteReader(std::string(20, '\xFF')).number("a number"), TraceError);
  EXPECT_THROW(ByteReader("\x05").number("a number", 4), TraceError);
}

TEST(ByteStream, RefusesCountsThatTheBytesCannotHold) {
  EXPECT_EQ(ByteReader("\x02"
                       "abcd")
                .count("items", 2),
            2U);
  EXPECT_THROW(ByteReader("\x03"
                          "abcd")
                   .count("items", 2),
               TraceError);
  EXPECT_THROW(ByteReader(std::string(9, '\xFF') + '\x01').count("items", 1), TraceError);
}

TEST(ByteStream, SaysWhatFollowsTheEnd) { EXPECT_THROW(ByteReader("x").check_end(), TraceError); }

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
