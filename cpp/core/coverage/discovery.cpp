#include "core/coverage/discovery.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ordeal {
namespace {

// The quantile of the normal distribution that bounds one side at 95 %.
constexpr double kQuantile = 1.6448536269514722;

// The upper end of E. B. Wilson's score interval (1927) for a share of `hits` in `trials`: it stays above zero where
// nothing was seen, and below one.
double share_max(double hits, double trials) noexcept {
  const double share = hits / trials;
  const double square = kQuantile * kQuantile;
  const double spread = kQuantile * std::sqrt((share * (1 - share) / trials) + (square / (4 * trials * trials)));
  return std::min(1.0, (share + (square / (2 * trials)) + spread) / (1 + (square / trials)));
}

// How many species there are that no run showed, at the least. Chao's estimate, and the form of it that is right where
// no species was seen twice.
double unseen(const Abundance& abundance) noexcept {
  const auto runs = static_cast<double>(abundance.runs);
  const auto once = static_cast<double>(abundance.once);
  const auto twice = static_cast<double>(abundance.twice);
  const double pairs = abundance.twice > 0 ? once * once / (2 * twice) : once * (once - 1) / 2;
  return (runs - 1) / runs * pairs;
}

}  // namespace

Abundance abundance_of(std::span<const Sighting> sightings, std::uint64_t runs) {
  Abundance abundance{.runs = runs};
  std::vector<std::uint32_t> alone;
  for (const Sighting& sighting : sightings) {
    abundance.seen += sighting.runs > 0 ? 1 : 0;
    abundance.twice += sighting.runs == 2 ? 1 : 0;
    if (sighting.runs == 1) {
      alone.push_back(sighting.last_run);
    }
  }
  abundance.once = alone.size();
  std::ranges::sort(alone);
  abundance.runs_alone = alone.size() - std::ranges::unique(alone).size();
  return abundance;
}

// The share of runs that showed something alone is what Good and Turing's estimate becomes when a run shows many
// species at once: leave one run out, and ask whether it would have brought something to the others.
std::optional<Discovery> estimate_discovery(const Abundance& abundance) {
  if (abundance.runs < Discovery::kRunsMin || abundance.seen == 0) {
    return std::nullopt;
  }
  const auto runs = static_cast<double>(abundance.runs);
  const auto alone = static_cast<double>(abundance.runs_alone);
  return Discovery{.runs = abundance.runs,
                   .seen = abundance.seen,
                   .next_run = alone / runs,
                   .next_run_max = share_max(alone, runs),
                   .total = static_cast<double>(abundance.seen) + unseen(abundance)};
}

}  // namespace ordeal
