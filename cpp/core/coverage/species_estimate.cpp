#include "core/coverage/species_estimate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/check.h"

namespace ordeal {
namespace {

// The quantile of the normal distribution for a one-sided bound at 95 %.
constexpr double kQuantile = 1.6448536269514722;

// The upper end of E. B. Wilson's score interval (1927) for `hits` in `trials`: it stays above zero if nothing was
// seen, and below one.
double share_max(double hits, double trials) noexcept {
  const double share = hits / trials;
  const double square = kQuantile * kQuantile;
  const double spread = kQuantile * std::sqrt((share * (1 - share) / trials) + (square / (4 * trials * trials)));
  return std::min(1.0, (share + (square / (2 * trials)) + spread) / (1 + (square / trials)));
}

// The minimum number of species that no run showed. Chao's estimate, in the form that is also right if no species was
// seen twice.
double unseen(const SampleCounts& sample_counts) noexcept {
  const auto runs = static_cast<double>(sample_counts.runs);
  const auto once = static_cast<double>(sample_counts.once);
  const auto twice = static_cast<double>(sample_counts.twice);
  const double pairs = sample_counts.twice > 0 ? once * once / (2 * twice) : once * (once - 1) / 2;
  return (runs - 1) / runs * pairs;
}

}  // namespace

// Runs that alone showed something count once each, however many species they showed.
SampleCounts count_sample(std::span<const FeatureFrequency> frequencies, std::uint64_t runs) {
  SampleCounts sample_counts{.runs = runs};
  std::vector<std::uint32_t> alone;
  for (const FeatureFrequency& frequency : frequencies) {
    sample_counts.seen += frequency.runs > 0 ? 1 : 0;
    sample_counts.twice += frequency.runs == 2 ? 1 : 0;
    if (frequency.runs == 1) {
      alone.push_back(frequency.last_run);
    }
  }
  sample_counts.once = alone.size();
  std::ranges::sort(alone);
  sample_counts.runs_alone = alone.size() - std::ranges::unique(alone).size();
  return sample_counts;
}

// The share of runs that alone showed something is Good and Turing's estimate for runs that show many species at once:
// leave one run out, and ask whether it would have been new to the others.
std::optional<SpeciesEstimate> estimate_species(const SampleCounts& sample_counts) {
  ORDEAL_DCHECK(sample_counts.once <= sample_counts.seen,
                sample_counts.once << " of " << sample_counts.seen << " were seen once");
  ORDEAL_DCHECK(sample_counts.runs_alone <= sample_counts.runs,
                sample_counts.runs_alone << " of " << sample_counts.runs << " runs showed something alone");
  if (sample_counts.runs < SpeciesEstimate::kRunsMin || sample_counts.seen == 0) {
    return std::nullopt;
  }
  const auto runs = static_cast<double>(sample_counts.runs);
  const auto alone = static_cast<double>(sample_counts.runs_alone);
  return SpeciesEstimate{.runs = sample_counts.runs,
                         .seen = sample_counts.seen,
                         .next_run = alone / runs,
                         .next_run_max = share_max(alone, runs),
                         .total = static_cast<double>(sample_counts.seen) + unseen(sample_counts)};
}

}  // namespace ordeal
