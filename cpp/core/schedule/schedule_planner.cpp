#include "core/schedule/schedule_planner.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"

namespace ordeal {
namespace {

// How many runs are drawn before any other, how many before any is changed, and how many are kept to be changed. A bug
// that a few drawn runs show must not be found later because of the steering.
constexpr std::uint64_t kDrawnFirst = 4;
constexpr std::uint64_t kUnsteeredFirst = 20;
constexpr std::array<std::size_t, kFeatureLevels> kRunsKeptMax{256, 128, 128};
// Runs with more decisions are not kept, as what each of them needs would hardly be found.
constexpr std::size_t kDecisionsMax = 4096;
constexpr std::size_t kFeaturesKept = 12;
constexpr std::size_t kHitsMax = std::size_t{1} << 20U;
// The smallest share that a policy gets of the runs of the best, and how fast what it brought once is forgotten.
constexpr std::array<double, kSchedulePolicies> kPolicyShareMin{0.35, 0.15, 0.12, 0.12};
constexpr double kPolicyForget = 0.98;
constexpr double kWordRange = 4294967296.0;
constexpr double kSparseRateMax = 0.5;
// How often the run to change is one of a level, where runs of all levels are kept. A run that came farther than any
// before brings more than one with a new order of steps: such orders are many.
constexpr std::array<std::uint64_t, kFeatureLevels> kLevelShares{4, 2, 1};
// Between how many runs the one to change is chosen.
constexpr int kParentCandidates = 3;

}  // namespace

Schedule SchedulePlan::schedule() const {
  Schedule made(key, rates);
  made.draw_from(drawn_from);
  for (const Decision& decision : fixed) {
    made.set(decision.label, decision.value);
  }
  return made;
}

const SchedulePlan& SchedulePlanner::next(std::uint64_t seed) {
  ++runs_;
  Rng rng = Rng::stream(seed, "schedule plan");
  plan_ = {};
  plan_.policy = seed == 0 || runs_ <= kDrawnFirst ? SchedulePolicy::kDrawn : choose(rng);
  plan_.key = schedule_key(seed);
  plan_.chance = seed;
  switch (plan_.policy) {
    case SchedulePolicy::kDrawn:
      plan_.rates = draw_schedule_rates(plan_.key, kinds_);
      break;
    case SchedulePolicy::kSparse:
      plan_sparse(rng, 1 + rng.below(4));
      break;
    case SchedulePolicy::kFollow:
      plan_follow(rng, seed);
      break;
    case SchedulePolicy::kChange:
      plan_change(rng);
      break;
  }
  return plan_;
}

SchedulePolicy SchedulePlanner::choose(Rng& rng) const {
  std::array<double, kSchedulePolicies> weights{};
  double best = 0;
  for (std::size_t i = 0; i < kSchedulePolicies; ++i) {
    weights[i] = (gains_[i] + 1) / (costs_[i] + 1);
    best = std::max(best, weights[i]);
  }
  double total = 0;
  for (std::size_t i = 0; i < kSchedulePolicies; ++i) {
    const auto policy = static_cast<SchedulePolicy>(i);
    const bool needs_parent = policy == SchedulePolicy::kFollow || policy == SchedulePolicy::kChange;
    const bool is_usable = ((policies_ >> i) & 1U) != 0 && !(needs_parent && (runs_ <= kUnsteeredFirst || kept() == 0));
    weights[i] = is_usable ? std::max(weights[i], kPolicyShareMin[i] * best) : 0;
    total += weights[i];
  }
  // One draw over the sum of the weights; what rounding leaves over is a drawn run, which is always possible.
  double drawn = static_cast<double>(rng.below(std::uint64_t{1} << 32U)) / kWordRange * total;
  for (std::size_t i = 0; i < kSchedulePolicies; ++i) {
    if (weights[i] > 0 && drawn < weights[i]) {
      return static_cast<SchedulePolicy>(i);
    }
    drawn -= weights[i];
  }
  return SchedulePolicy::kDrawn;
}

// A few decisions of one or two kinds that the program leaves open at all.
void SchedulePlanner::plan_sparse(Rng& rng, std::uint64_t wanted) {
  plan_.rates.assign(kinds_, 0);
  std::vector<std::size_t> open;
  for (std::size_t kind = 0; kind < kinds_; ++kind) {
    if (horizon_[kind] > 0) {
      open.push_back(kind);
    }
  }
  if (open.empty()) {  // nothing to decide so far: the run is the plain one
    return;
  }
  const std::uint64_t kinds = 1 + rng.below(2);
  for (std::uint64_t i = 0; i < kinds; ++i) {
    const std::size_t kind = open[rng.below(open.size())];
    const double rate =
        std::min(kSparseRateMax, static_cast<double>(wanted) / static_cast<double>(kinds) / horizon_[kind]);
    plan_.rates[kind] = static_cast<std::uint32_t>(rate * kWordRange);
  }
}

// A run is as rare as its rarest feature: many share the usual ones. Each time it is chosen counts as one run more.
std::uint64_t SchedulePlanner::worth(const Kept& kept) const {
  std::uint64_t rarest = std::numeric_limits<std::uint32_t>::max();
  for (const std::uint64_t feature : kept.features) {
    const auto found = hits_.find(feature);
    rarest = std::min<std::uint64_t>(rarest, found == hits_.end() ? 0 : found->second);
  }
  return rarest + kept.chosen;
}

std::size_t SchedulePlanner::kept() const noexcept {
  std::size_t kept = 0;
  for (const auto& of_level : kept_) {
    kept += of_level.size();
  }
  return kept;
}

// Of a few, the one whose features are the rarest and that was changed the least.
SchedulePlanner::Kept& SchedulePlanner::parent(Rng& rng) {
  std::uint64_t shares = 0;
  for (std::size_t level = 0; level < kFeatureLevels; ++level) {
    shares += kept_[level].empty() ? 0 : kLevelShares[level];
  }
  ORDEAL_CHECK(shares > 0, "no run is kept to plan another after");
  std::uint64_t drawn = rng.below(shares);
  std::size_t level = 0;
  while (kept_[level].empty() || drawn >= kLevelShares[level]) {
    drawn -= kept_[level].empty() ? 0 : kLevelShares[level];
    ++level;
  }
  std::vector<Kept>& kept = kept_[level];
  std::size_t best = rng.below(kept.size());
  for (int i = 1; i < kParentCandidates; ++i) {
    const std::size_t other = rng.below(kept.size());
    if (worth(kept[other]) < worth(kept[best])) {
      best = other;
    }
  }
  ++kept[best].chosen;
  return kept[best];
}

// A run that got far mostly needs its last decisions: late moments are more likely.
void SchedulePlanner::plan_follow(Rng& rng, std::uint64_t seed) {
  const Kept& from = parent(rng);
  ORDEAL_CHECK(from.moments.size() == from.decisions.size(), "a kept run has decisions without a moment");
  plan_.drawn_from = std::max(rng.below(from.made + 1), rng.below(from.made + 1));
  plan_.chance = from.chance;
  for (std::size_t i = 0; i < from.decisions.size() && from.moments[i] < plan_.drawn_from; ++i) {
    plan_.fixed.push_back(from.decisions[i]);
  }
  if (rng.chance(0.5)) {
    plan_.rates = draw_schedule_rates(schedule_key(seed), kinds_);
  } else {
    plan_sparse(rng, 1 + rng.below(4));
  }
}

// Mostly one decision less or another, as most changes of several at once lose what the run had reached. Now and then
// half of another run is put in, and a few new decisions in any case.
void SchedulePlanner::plan_change(Rng& rng) {
  const Kept& from = parent(rng);
  plan_.chance = from.chance;
  const double dropped = from.decisions.empty() ? 0 : 1.0 / static_cast<double>(from.decisions.size());
  for (const Decision& decision : from.decisions) {
    if (!rng.chance(dropped)) {
      plan_.fixed.push_back(decision);
    } else if (rng.chance(0.5)) {
      plan_.fixed.push_back(decision);
      plan_.fixed.back().value = static_cast<std::uint32_t>(rng.below(decision.bound));
    }
  }
  if (rng.chance(0.25)) {
    const Kept& other = parent(rng);
    for (const Decision& decision : other.decisions) {
      if (rng.chance(0.5)) {
        plan_.fixed.push_back(decision);
      }
    }
  }
  plan_sparse(rng, rng.below(3));
}

void SchedulePlanner::tell(const Schedule& schedule) {
  ORDEAL_CHECK(schedule.moments().size() == schedule.decisions().size(), "a run has decisions without a moment");
  ORDEAL_CHECK(schedule.key() == plan_.key, "the reported run is not the one that was planned");
  std::vector<std::uint64_t> fresh;
  for (const std::uint64_t feature : schedule.features()) {
    // Once the table is full, features that are not in it no longer count.
    if (hits_.size() == kHitsMax && !hits_.contains(feature)) {
      continue;
    }
    if (++hits_[feature] == 1) {
      fresh.push_back(feature);
    }
  }
  const auto policy = static_cast<std::size_t>(plan_.policy);
  for (std::size_t i = 0; i < kSchedulePolicies; ++i) {
    gains_[i] *= kPolicyForget;
    costs_[i] *= kPolicyForget;
  }
  gains_[policy] += fresh.empty() ? 0 : 1;
  costs_[policy] += 1;
  const auto made = schedule.made_of_kinds();
  for (std::size_t kind = 0; kind < std::min(kinds_, made.size()); ++kind) {
    const auto seen = static_cast<double>(made[kind]);
    // A moving average over about eight runs: how long runs are changes with what the search follows.
    horizon_[kind] = horizon_[kind] == 0 ? seen : horizon_[kind] + ((seen - horizon_[kind]) / 8);
  }
  if (fresh.empty() || schedule.decisions().size() > kDecisionsMax) {
    return;
  }
  // A run is kept for the best that it did: features of lesser levels come with every new way to get there.
  const FeatureLevel level = Interleaving::level_of(*std::ranges::min_element(fresh, {}, &Interleaving::level_of));
  ORDEAL_CHECK(level <= FeatureLevel::kStrike, "a feature of no level");
  std::erase_if(fresh, [level](std::uint64_t feature) { return Interleaving::level_of(feature) != level; });
  std::vector<Kept>& kept = kept_[static_cast<std::size_t>(level)];
  if (kept.size() == kRunsKeptMax[static_cast<std::size_t>(level)]) {
    // The one that was changed the most, or is the most usual.
    kept.erase(std::ranges::max_element(kept, {}, [this](const Kept& each) { return worth(each); }));
  }
  if (fresh.size() > kFeaturesKept) {  // those that came up last took the most to reach
    fresh.erase(fresh.begin(), fresh.end() - static_cast<std::ptrdiff_t>(kFeaturesKept));
  }
  kept.push_back({.decisions = {schedule.decisions().begin(), schedule.decisions().end()},
                  .moments = {schedule.moments().begin(), schedule.moments().end()},
                  .features = std::move(fresh),
                  .made = schedule.made(),
                  .chance = plan_.chance});
}

}  // namespace ordeal
