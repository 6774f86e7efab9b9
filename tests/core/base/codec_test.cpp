// Packing and unpacking, and that hostile bytes give an error and nothing else.
#include "core/base/codec.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/rng.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr std::size_t kSizeMax = 1'000'000;

std::string random_bytes(std::size_t size) {
  Rng rng(1);
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(rng.next() & 0xFFU);
  }
  return bytes;
}

// The message of the TraceError that unpacking gives, "" when there was none.
std::string refusal(std::string_view packed, std::size_t size_max = kSizeMax) {
  try {
    static_cast<void>(decompress(packed, size_max));
  } catch (const TraceError& error) {
    return error.what();
  }
  return "";
}

// A frame that says it holds `claim` bytes. Frames of ours with 256 bytes to 64 KiB have a two-byte size, biased by
// 256.
std::string with_claim(std::string frame, std::size_t claim) {
  frame[5] = static_cast<char>((claim - 256) & 0xFFU);
  frame[6] = static_cast<char>(((claim - 256) >> 8U) & 0xFFU);
  return frame;
}

TEST(Codec, UnpacksWhatItPacked) {
  for (const std::string& data : {std::string(), std::string("a"), std::string(kSizeMax, 'x'), random_bytes(300'000)}) {
    EXPECT_EQ(decompress(compress(data), kSizeMax), data);
  }
  EXPECT_LT(compress(std::string(kSizeMax, 'x')).size(), 1000U);
}

TEST(Codec, EveryLevelUnpacks) {
  const std::string data = random_bytes(1000) + std::string(1000, 'x');
  for (const int level : {1, 3, 19}) {
    EXPECT_EQ(decompress(compress(data, level), kSizeMax), data);
  }
}

TEST(Codec, ReadsUpToTheLimitAndNotMore) {
  const std::string packed = compress(std::string(1000, 'x'));
  EXPECT_EQ(decompress(packed, 1000).size(), 1000U);
  EXPECT_EQ(refusal(packed, 999), "holds 1000 bytes; at most 999 are read");
}

TEST(Codec, RefusesWhatIsNoFrame) {
  EXPECT_EQ(refusal(""), "not a zstd frame");
  EXPECT_EQ(refusal("abc"), "not a zstd frame");
  EXPECT_EQ(refusal("{\"format\": 1}"), "not a zstd frame");
  EXPECT_EQ(refusal(random_bytes(1000)), "not a zstd frame");
}

TEST(Codec, RefusesEveryTruncation) {
  const std::string packed = compress(random_bytes(300) + std::string(300, 'x'));
  for (std::size_t size = 0; size < packed.size(); ++size) {
    EXPECT_NE(refusal(packed.substr(0, size)), "") << size;
  }
}

TEST(Codec, RefusesEveryChangedByte) {
  const std::string data = random_bytes(300) + std::string(300, 'x');
  const std::string packed = compress(data);
  for (std::size_t at = 0; at < packed.size(); ++at) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    EXPECT_NE(refusal(damaged), "") << at;
  }
}

TEST(Codec, RefusesWhatFollowsTheFrame) {
  const std::string packed = compress("abc");
  EXPECT_EQ(refusal(packed + "x"), "1 bytes follow the end of the zstd frame");
  EXPECT_NE(refusal(packed + packed), "");
  // zstd itself would read over these two.
  EXPECT_NE(refusal(packed + compress("")), "");
  EXPECT_NE(refusal(packed + std::string("\x50\x2a\x4d\x18\0\0\0\0", 8)), "");
}

TEST(Codec, RefusesSkippableFrames) {
  EXPECT_EQ(refusal(std::string("\x50\x2a\x4d\x18\0\0\0\0", 8)), "not a zstd frame");
  EXPECT_EQ(refusal(std::string("\x50\x2a\x4d\x18\0\0\0\0", 8) + compress("abc")), "not a zstd frame");
}

TEST(Codec, RefusesWrongClaims) {
  const std::string packed = compress(random_bytes(1000));
  ASSERT_EQ(with_claim(packed, 1000), packed);
  EXPECT_NE(refusal(with_claim(packed, 999)), "");
  EXPECT_NE(refusal(with_claim(packed, 1001)), "");
  EXPECT_NE(refusal(with_claim(packed, 60'000)), "");
}

TEST(Codec, RefusesHugeClaimsBeforeItAllocates) {
  // Single segment with a size of eight bytes: 2^62, then 2^30 within a limit that would allow it; an empty last block.
  const std::string header("\x28\xb5\x2f\xfd\xe0", 5);
  const std::string last_block("\x01\x00\x00", 3);
  const std::string enormous = header + std::string("\0\0\0\0\0\0\0\x40", 8) + last_block;
  EXPECT_EQ(refusal(enormous), "holds 4611686018427387904 bytes; at most 1000000 are read");
  const std::string large = header + std::string("\0\0\0\x40\0\0\0\0", 8) + last_block;
  EXPECT_EQ(refusal(large, std::size_t{1} << 40U),
            "a zstd frame of 16 bytes cannot hold the 1073741824 that it claims");
}

TEST(Codec, RefusesFramesOfUnknownSize) {
  // No single segment, no size: what a stream writes.
  const std::string stream("\x28\xb5\x2f\xfd\x00\x58\x01\x00\x00", 9);
  EXPECT_EQ(refusal(stream), "a zstd frame that does not say how much it holds");
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
