// A bandit: learns which of a few alternatives pays, and chooses the next one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rng.h"

namespace ordeal {

// One alternative. Both numbers are fractions of kBanditWhole.
struct BanditArm {
  std::uint32_t share = 0;  // its probability while nothing is known
  std::uint32_t floor = 0;  // its probability at the least
};

inline constexpr std::uint32_t kBanditWhole = 1000;

// What a bandit has learnt: by arm, its rewards and its costs, both in units of Bandit::kUnit.
struct BanditState {
  struct Tally {
    std::uint64_t reward = 0;
    std::uint64_t cost = 0;

    friend bool operator==(const Tally&, const Tally&) = default;
  };

  std::vector<Tally> tallies;

  friend bool operator==(const BanditState&, const BanditState&) = default;
};

// Probability matching with a floor (Thierens, "An Adaptive Pursuit Strategy for Allocating Operator Probabilities",
// GECCO 2005): an arm is drawn in proportion to its initial share times its reward per cost, relative to that of all
// arms. Earlier rewards and costs are discounted (Garivier and Moulines, "On Upper-Confidence Bound Policies for
// Switching Bandit Problems", ALT 2011), here by the amount learnt since and not by time: a long search that finds
// little must not forget what it knows. Rewards are weighed against a prior, so that one lucky run decides nothing.
//
// All arithmetic is on integers: the same reports give the same draws on every machine. Thread-compatible.
class Bandit {
 public:
  static constexpr std::size_t kArmsMax = 16;
  static constexpr std::uint64_t kUnit = 1024;
  // Rewards are capped here: the first runs of a search always bring something new.
  static constexpr std::uint64_t kRewardMax = 32;
  static constexpr std::uint64_t kCostMax = std::uint64_t{1} << 32U;

  // The shares of all arms add up to kBanditWhole, and no floor is above its share.
  explicit Bandit(std::span<const BanditArm> arms);

  // Returns an arm whose bit is set in `allowed`, which must not be zero. Draws from `rng` once.
  std::size_t draw(Rng& rng, std::uint32_t allowed) const;
  // The probabilities of the arms, relative to their sum.
  [[nodiscard]] std::vector<std::uint64_t> chances(std::uint32_t allowed) const;
  // Reports the reward and the cost of taking an arm; `cost` > 0.
  void report(std::size_t arm, std::uint64_t reward, std::uint64_t cost);

  [[nodiscard]] std::size_t arms() const noexcept { return arms_.size(); }
  [[nodiscard]] const BanditState& save() const noexcept { return state_; }
  // Replaces everything learnt so far; an empty state is that of a bandit without reports. Throws TraceError for a
  // state of another bandit.
  void restore(BanditState state);

 private:
  [[nodiscard]] std::uint64_t quality(const BanditState::Tally& tally, const BanditState::Tally& all) const;
  [[nodiscard]] BanditState::Tally sum() const noexcept;

  std::vector<BanditArm> arms_;
  BanditState state_;
};

}  // namespace ordeal
