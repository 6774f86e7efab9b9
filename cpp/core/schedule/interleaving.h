// The features of the order in which one run did things, as numbers that are the same in every process: which step of
// one task came right after which of another, and what struck where. Knows nothing of event loops or threads.
//
// That two or three steps in a certain order suffice for most concurrency bugs is from Burckhardt et al., "A Randomized
// Scheduler with Probabilistic Guarantees of Finding Bugs" (ASPLOS 2010): so pairs and triples of actors are features.
#pragma once

#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ordeal {

// The meaning of a feature, the hardest to reach first.
enum class FeatureLevel : std::uint8_t {
  kReach,   // an actor came as far as this step of its own
  kOrder,   // which actor's step followed which
  kStrike,  // what was decided at a place
};
inline constexpr std::size_t kFeatureLevels = 3;

// The features of one run, at most 2^14: what comes later is more of the same. A step costs three hashes and as many
// look-ups. Thread-compatible.
class Interleaving {
 public:
  // Notes that `actor` runs its step number `step`, from 0.
  void step(std::uint64_t actor, std::uint64_t step);

  // Notes that something other than nothing was decided at a place.
  void struck(std::uint64_t place, std::uint32_t occurrence, std::uint32_t value);

  // In the order in which they came up, each once.
  [[nodiscard]] const std::vector<std::uint64_t>& features() const noexcept { return features_; }

  // Those that came up since this was called last.
  [[nodiscard]] std::span<const std::uint64_t> take_new() noexcept;

  static FeatureLevel level_of(std::uint64_t feature) noexcept { return static_cast<FeatureLevel>(feature & 3U); }

 private:
  void add(FeatureLevel level, std::uint64_t hash);

  std::uint64_t actor_ = 0;   // who ran last
  std::uint64_t at_ = 0;      // and which of its steps, as a bucket
  std::uint64_t before_ = 0;  // who ran before it
  std::vector<std::uint64_t> features_;
  tsl::robin_set<std::uint64_t> known_;  // empty as long as there are few
  std::size_t taken_ = 0;                // features
};

}  // namespace ordeal
