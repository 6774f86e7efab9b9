// Pearson's test for the tests of draws: does what was counted fit what is expected?
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace ordeal {

// The value that chi-squared with that many degrees of freedom exceeds once in 10,000 (Wilson and Hilferty 1931).
inline double chi_squared_limit(std::size_t degrees) {
  constexpr double kDeviations = 3.719;
  const auto k = static_cast<double>(degrees);
  return k * std::pow(1 - (2 / (9 * k)) + (kDeviations * std::sqrt(2 / (9 * k))), 3);
}

// `expected` holds weights of any scale, all above zero. The seeds are fixed, so a test that passes always passes.
inline void expect_fits(std::span<const std::uint64_t> counts, std::span<const double> expected) {
  ASSERT_EQ(counts.size(), expected.size());
  ASSERT_GE(counts.size(), 2U);
  const auto draws = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  const double weights = std::accumulate(expected.begin(), expected.end(), 0.0);
  double statistic = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double mean = draws * expected[i] / weights;
    ASSERT_GE(mean, 5) << "too few draws for category " << i;
    const double distance = static_cast<double>(counts[i]) - mean;
    statistic += distance * distance / mean;
  }
  EXPECT_LT(statistic, chi_squared_limit(counts.size() - 1)) << draws << " draws";
}

}  // namespace ordeal
