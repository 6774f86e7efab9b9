#include "core/search/rule_times.h"

#include <algorithm>
#include <cmath>

#include "core/corpus/step_times.h"

namespace ordeal {
namespace {

// The first steps of a program import and fill caches.
constexpr double kStepsFew = 4;
constexpr double kStepsMany = 64;

}  // namespace

void RuleTimes::note(std::uint32_t rule, double seconds) noexcept {
  for (Tally* const tally : {&all_, &rules_[rule]}) {
    tally->seconds += seconds;
    tally->steps += 1;
    tally->slow += seconds > StepTimes::kSlowStepSeconds ? 1 : 0;
  }
}

bool RuleTimes::are_few() const noexcept { return all_.steps < kStepsMany; }

bool RuleTimes::are_slow() const noexcept { return all_.steps >= kStepsFew && all_.are_slow(); }

// To learn most in a given time, what costs c is tried in proportion to the inverse of the square root of c.
bool RuleTimes::avoids(std::uint32_t rule, Rng& rng) const noexcept {
  const Tally& own = rules_[rule];
  const double other_steps = all_.steps - own.steps;
  const bool matters = all_.seconds > StepTimes::kSlowStepSeconds * all_.steps && own.are_slow();
  if (!matters || own.steps < kStepsFew || other_steps < kStepsFew) [[likely]] {
    return false;
  }
  const double ratio = (all_.seconds - own.seconds) / other_steps / (own.seconds / own.steps);
  return ratio < 1 && rng.chance(1 - std::max(std::sqrt(ratio), kKeptMin));
}

}  // namespace ordeal
