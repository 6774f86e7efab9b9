// The power schedule: how much energy an entry of the corpus gains or loses, and how shares become a draw.
//
// Pure functions, for any thread. After AFLFast (M. Boehme, V. Pham and A. Roychoudhury, "Coverage-based Greybox
// Fuzzing as Markov Chain", CCS 2016), in that frequent entries get less.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/rng.h"

namespace ordeal {

inline constexpr double kEnergyInitial = 1.0;
inline constexpr double kEnergyReward = 2.0;  // per new edge, or equivalent
inline constexpr double kEnergyDecay = 0.95;  // per run that found less than an edge
inline constexpr double kEnergyFloor = 0.01;  // above zero, so that every entry stays reachable

constexpr double rewarded(double energy, double new_edges) noexcept { return energy + (kEnergyReward * new_edges); }

constexpr double decayed(double energy) noexcept { return std::max(kEnergyFloor, energy * kEnergyDecay); }

// An entry's energy, halved for each step by which its rarest feature became more common.
constexpr double scaled(double energy, std::uint32_t frequency_class) noexcept {
  return std::max(kEnergyFloor, energy / static_cast<double>(std::uint64_t{1} << frequency_class));
}

// Returns an index with probability weights[i] / sum. Weights are finite and not negative, and one is above zero; an
// index of weight zero is never returned. Draws from `rng` exactly once. O(n), so only for short lists; the corpus has
// its own tree.
std::size_t pick_weighted(Rng& rng, std::span<const double> weights);

}  // namespace ordeal
