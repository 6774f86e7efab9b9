#include "core/base/bandit.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ordeal {
namespace {

// Products of two sums of rewards and costs need more than 64 bits. All arithmetic is on integers: the same search must
// go the same way on every machine.
using Product = unsigned __int128;

// The amount of reward that the bandit remembers, and that it needs before an arm's own record counts.
constexpr std::uint64_t kWindow = 512;
constexpr Product kPrior = Product{24} * Bandit::kUnit;
// Limits, relative to the mean of all arms, of how much better or worse an arm can be.
constexpr std::uint64_t kQualityOne = 1U << 16U;
constexpr std::uint64_t kQualityMax = kQualityOne * 16;
constexpr std::uint64_t kQualityMin = kQualityOne / 16;
// Above this, costs and rewards are halved to avoid overflow.
constexpr std::uint64_t kCostSumMax = std::uint64_t{1} << 58U;
constexpr std::uint64_t kRewardSumMax = (kWindow + Bandit::kRewardMax) * Bandit::kUnit;

// Arms are numbered from the lowest bit.
bool is_allowed(std::uint32_t allowed, std::size_t arm) noexcept { return ((allowed >> arm) & 1U) != 0; }

}  // namespace

// The shares are parts of a whole, so a floor is a share of all draws no matter which arms are allowed.
Bandit::Bandit(std::span<const BanditArm> arms) : arms_(arms.begin(), arms.end()) {
  ORDEAL_CHECK(!arms_.empty() && arms_.size() <= kArmsMax, "arms=" << arms_.size());
  const auto add_share = [](std::uint32_t total, const BanditArm& arm) { return total + arm.share; };
  ORDEAL_CHECK(std::accumulate(arms_.begin(), arms_.end(), 0U, add_share) == kBanditWhole, "arms=" << arms_.size());
  ORDEAL_CHECK(std::ranges::all_of(arms_, [](const BanditArm& arm) { return arm.floor <= arm.share; }), "a floor");
  state_.tallies.resize(arms_.size());
}

// All arms together are the standard with which an arm is compared.
BanditState::Tally Bandit::sum() const noexcept {
  BanditState::Tally all;
  for (const BanditState::Tally& tally : state_.tallies) {
    all.reward += tally.reward;
    all.cost += tally.cost;
  }
  return all;
}

// Reward per cost, relative to that of all arms together; the prior is the same as theirs.
std::uint64_t Bandit::quality(const BanditState::Tally& tally, const BanditState::Tally& all) const {
  if (all.reward == 0) {
    return kQualityOne;
  }
  const Product reward = kPrior + tally.reward;
  const Product cost = (Product{tally.cost} * all.reward) + (kPrior * all.cost);
  const Product quality = reward * all.cost * kQualityOne / cost;
  return std::clamp(static_cast<std::uint64_t>(std::min(quality, Product{kQualityMax})), kQualityMin, kQualityMax);
}

// The probability of an arm is its share times its quality, scaled so that the floors of all allowed arms fit. An arm
// that is not allowed gets nothing, not even its floor.
std::vector<std::uint64_t> Bandit::chances(std::uint32_t allowed) const {
  const BanditState::Tally all = sum();
  std::vector<std::uint64_t> weights(arms_.size(), 0);
  std::uint64_t floors = 0;
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    if (is_allowed(allowed, arm)) {
      weights[arm] = arms_[arm].share * quality(state_.tallies[arm], all);
      floors += arms_[arm].floor;
    }
  }
  const std::uint64_t total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  ORDEAL_DCHECK(floors <= kBanditWhole, "floors=" << floors);
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    if (is_allowed(allowed, arm)) {
      weights[arm] = (weights[arm] * (kBanditWhole - floors)) + (total * arms_[arm].floor);
    }
  }
  return weights;
}

// Always one draw from the generator: what follows in the stream must not depend on what is allowed.
std::size_t Bandit::draw(Rng& rng, std::uint32_t allowed) const {
  const std::vector<std::uint64_t> weights = chances(allowed);
  const std::uint64_t total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  ORDEAL_CHECK(total > 0, "no arm is allowed: allowed=" << allowed);
  std::uint64_t left = rng.below(total);
  std::size_t arm = 0;
  while (left >= weights[arm]) {
    left -= weights[arm++];
  }
  ORDEAL_DCHECK(is_allowed(allowed, arm), "arm " << arm << " was drawn of " << allowed);
  return arm;
}

// Discounts the records of all arms before adding the new reward. The discount grows with the reward, so a search that
// finds nothing forgets nothing: time alone is not evidence.
void Bandit::report(std::size_t arm, std::uint64_t reward, std::uint64_t cost) {
  ORDEAL_CHECK(arm < arms_.size(), "arm=" << arm << " arms=" << arms_.size());
  ORDEAL_CHECK(cost > 0, "cost=" << cost);
  const std::uint64_t counted = std::min(reward, kRewardMax);
  for (BanditState::Tally& tally : state_.tallies) {
    tally.reward -= static_cast<std::uint64_t>(Product{tally.reward} * counted / kWindow);
    tally.cost -= static_cast<std::uint64_t>(Product{tally.cost} * counted / kWindow);
  }
  state_.tallies[arm].reward += counted * kUnit;
  state_.tallies[arm].cost += std::min(cost, kCostMax) * kUnit;
  if (state_.tallies[arm].cost > kCostSumMax) {
    for (BanditState::Tally& tally : state_.tallies) {
      tally.reward /= 2;
      tally.cost /= 2;
    }
  }
}

// The bounds that report() keeps. A state beyond them would overflow in quality().
void Bandit::restore(BanditState state) {
  if (state.tallies.empty()) {
    state.tallies.resize(arms_.size());
  }
  if (state.tallies.size() != arms_.size()) {
    throw TraceError("a bandit has " + std::to_string(state.tallies.size()) + " arms; it must have " +
                     std::to_string(arms_.size()));
  }
  for (const BanditState::Tally& tally : state.tallies) {
    if (tally.reward > kRewardSumMax || tally.cost > kCostSumMax) {
      throw TraceError("what an arm of a bandit brought or cost is out of range");
    }
  }
  state_ = std::move(state);
}

}  // namespace ordeal
