// Integers beyond 64 bits: their bounds, and what their distribution is.
#include "core/draw/wide_distribution.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "chi_squared.h"
#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr int kDraws = 50'000;
constexpr Wide kUnsignedMax = (Wide{1} << 64U) - 1;

TEST(DrawWide, StaysInside) {
  Rng rng(1);
  for (const auto& [low, high, toward] : std::vector<std::array<Wide, 3>>{{0, kUnsignedMax, 0},
                                                                          {-kWideMax, kWideMax, 0},
                                                                          {kUnsignedMax, kUnsignedMax, 0},
                                                                          {kUnsignedMax, kUnsignedMax + 1, 0},
                                                                          {-kWideMax, -kUnsignedMax, 7},
                                                                          {5, kWideMax, kUnsignedMax}}) {
    for (int i = 0; i < 2000; ++i) {
      const Wide value = draw_wide(rng, low, high, toward);
      ASSERT_TRUE(low <= value && value <= high);
    }
  }
}

TEST(DrawWide, IsTheStatedMixture) {
  constexpr std::uint64_t kBits = 100;
  constexpr Wide kHigh = (Wide{1} << kBits) - 1;
  // Near zero; an end; the upper half, which the uniform part reaches, and one bit length of the others; the rest.
  std::vector<std::uint64_t> counts(4);
  Rng rng(2);
  for (int i = 0; i < kDraws; ++i) {
    const Wide value = draw_wide(rng, 0, kHigh, 0);
    ++counts[value <= 256 ? 0 : value >= kHigh - 1 ? 1 : value > kHigh / 2 + 1 ? 2 : 3];
  }
  // Of the landmarks 2^0 to 2^100, each with its neighbours: those up to 256; -1 and what is above 2^100 - 1 are
  // outside and become a distance.
  const double landmark = 0.12 / 101;
  const double away = 0.3 + landmark * 2 / 3;
  const double near = 0.3 + away * 8 / kBits + 0.08 * 5 / 8 + landmark * (9 - 1.0 / 3);
  const double end = 0.08 * 3 / 8 + landmark / 3;
  const double upper = 0.1 + away / kBits;
  expect_fits(counts, std::vector<double>{near, end, upper, 1 - near - end - upper});
}

TEST(DrawWide, UniformPartHasEveryLeadingBitAlike) {
  constexpr Wide kHigh = (Wide{1} << 124U) - 1;
  std::vector<std::uint64_t> counts(8);
  Rng rng(3);
  for (int i = 0; i < kDraws; ++i) {
    const Wide value = draw_wide(rng, 0, kHigh, 0);
    // Below this a distance of uniform bit length, or a power of two, is likely.
    if (value < kHigh - 256 && value > (kHigh >> 3U) && (value & (value - 1)) > 1 && (value & (value + 1)) > 1) {
      ++counts[static_cast<std::size_t>(value >> 121U)];
    }
  }
  counts.erase(counts.begin());
  for (const std::uint64_t count : counts) {
    EXPECT_NEAR(static_cast<double>(count) / kDraws, 0.2 / 8, 0.01);
  }
}

TEST(DrawWide, SameSeedSameValues) {
  Rng rng(42);
  std::uint64_t h = 0;
  for (int i = 0; i < 1000; ++i) {
    const Wide value = draw_wide(rng, -kWideMax, kWideMax, i);
    h = mix64(h ^ static_cast<std::uint64_t>(value) ^ static_cast<std::uint64_t>(value >> 64U));
  }
  EXPECT_EQ(h, 12099008171879060448ULL);
}

TEST(DrawWide, RefusesBoundsThatCouldOverflow) {
  Rng rng(4);
  EXPECT_THROW(draw_wide(rng, 1, 0, 0), CheckFailure);
  EXPECT_THROW(draw_wide(rng, 0, kWideMax + 1, 0), CheckFailure);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
