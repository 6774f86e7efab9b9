#include "core/schedule/interleaving.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace ordeal {
namespace {

constexpr std::uint64_t kWakeEdge = 0x9E3779B97F4A7C15ULL;
constexpr std::uint64_t kTriple = 0xC2B2AE3D27D4EB4FULL;
constexpr std::uint64_t kStrike = 0x165667B19E3779F9ULL;
// Counts up to here are distinguished exactly, larger ones only by their powers of two.
constexpr std::uint64_t kExactCounts = 32;
// How many features one run has at most: what it does later is more of the same.
constexpr std::size_t kFeaturesMax = std::size_t{1} << 14U;
// Up to how many are searched one by one, which is quicker than a table.
constexpr std::size_t kFew = 24;

std::uint64_t bucket(std::uint64_t count) noexcept {
  return count < kExactCounts ? count : kExactCounts + static_cast<std::uint64_t>(std::bit_width(count));
}

}  // namespace

void Interleaving::step(std::uint64_t actor, std::uint64_t step) {
  const std::uint64_t at = mix64(actor + bucket(step));
  if (at != at_) {
    add(FeatureLevel::kReach, at);
  }
  if (actor != actor_) {
    add(FeatureLevel::kOrder, mix64(at_ ^ kWakeEdge) + at);
    add(FeatureLevel::kOrder, mix64(mix64(before_ ^ kTriple) + actor_) + at);
    before_ = actor_;
    actor_ = actor;
  }
  at_ = at;
}

void Interleaving::struck(std::uint64_t place, std::uint32_t occurrence, std::uint32_t value) {
  add(FeatureLevel::kStrike, mix64(mix64(place ^ kStrike) + bucket(occurrence)) + bucket(value));
}

std::span<const std::uint64_t> Interleaving::take_new() noexcept {
  return std::span(features_).subspan(std::exchange(taken_, features_.size()));
}

void Interleaving::add(FeatureLevel level, std::uint64_t hash) {
  ORDEAL_DCHECK(features_.size() <= kFeaturesMax, "a run has " << features_.size() << " features");
  const std::uint64_t feature = (hash << 2U) | static_cast<std::uint64_t>(level);
  if (known_.empty()) {
    if (std::ranges::find(features_, feature) != features_.end()) {
      return;
    }
    if (features_.size() == kFew) {
      known_.insert(features_.begin(), features_.end());
      known_.insert(feature);
    }
  } else if (features_.size() == kFeaturesMax || !known_.insert(feature).second) {
    return;
  }
  features_.push_back(feature);
}

}  // namespace ordeal
