// A bandit: which of a few ways to go on pays, and which is taken next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rng.h"

namespace ordeal {

// One of the ways. Both numbers are of kBanditWhole.
struct BanditArm {
  std::uint32_t share = 0;  // what it gets while nothing is known
  std::uint32_t floor = 0;  // what it gets whatever is known
};

inline constexpr std::uint32_t kBanditWhole = 1000;

// What a bandit has learnt: by arm, what it brought and what it cost, both in units of Bandit::kUnit.
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
// GECCO 2005): an arm is drawn in proportion to its share at the start times its reward per cost, measured by that of
// all arms. Earlier rewards and costs are discounted (Garivier and Moulines, "On Upper-Confidence Bound Policies for
// Switching Bandit Problems", ALT 2011), here by what was learnt since and not by time: a long search that finds little
// must not forget what it knows. Rewards weigh against a prior, so that one lucky run decides nothing.
//
// All in whole numbers: the same reports give the same draws on every machine. Thread-compatible.
class Bandit {
 public:
  static constexpr std::size_t kArmsMax = 16;
  static constexpr std::uint64_t kUnit = 1024;
  // Rewards above this count as this: the first runs of a search bring something new whatever they do.
  static constexpr std::uint64_t kRewardMax = 32;
  static constexpr std::uint64_t kCostMax = std::uint64_t{1} << 32U;

  // The shares of all arms are kBanditWhole together, and no floor is above its share.
  explicit Bandit(std::span<const BanditArm> arms);

  // An arm whose bit is set in `allowed`; there must be one. Draws from `rng` once.
  std::size_t draw(Rng& rng, std::uint32_t allowed) const;
  // The chances of the arms, of their sum.
  [[nodiscard]] std::vector<std::uint64_t> chances(std::uint32_t allowed) const;
  // What it brought to take the arm, and what it cost; `cost` > 0.
  void report(std::size_t arm, std::uint64_t reward, std::uint64_t cost);

  [[nodiscard]] std::size_t arms() const noexcept { return arms_.size(); }
  [[nodiscard]] const BanditState& save() const noexcept { return state_; }
  // Takes the place of everything learnt so far; an empty state is that of a bandit without a report. TraceError when
  // it is no state of such a bandit.
  void restore(BanditState state);

 private:
  [[nodiscard]] std::uint64_t quality(const BanditState::Tally& tally, const BanditState::Tally& all) const;
  [[nodiscard]] BanditState::Tally sum() const noexcept;

  std::vector<BanditArm> arms_;
  BanditState state_;
};

}  // namespace ordeal
