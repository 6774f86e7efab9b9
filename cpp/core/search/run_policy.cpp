#include "core/search/run_policy.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/check.h"

namespace ordeal {

namespace {

// How often silenced locations are armed again, in runs.
constexpr std::uint64_t kFullRunPeriod = 100;
// At the counts level: in how many of the first runs every passage counts, and in one of how many later on. Arming what
// is silent takes as long as a short run, as CPython instruments its code again: the longer a search, the less it
// shows. The periods are parts of the one above.
constexpr std::uint64_t kCountedRuns = 128;
constexpr std::uint64_t kCountedRunPeriod = 10;
constexpr std::uint64_t kOftenCountedRuns = 1'000;
constexpr std::uint64_t kLateCountedRunPeriod = 50;
static_assert(kFullRunPeriod % kCountedRunPeriod == 0 && kFullRunPeriod % kLateCountedRunPeriod == 0);
// How often the swarm learns which rules touch files with gaps, in runs; and how often if a bandit decides how often
// that is used at all.
constexpr std::uint64_t kDirectPeriod = 50;
constexpr std::uint64_t kBanditDirectPeriod = 500;
// Up to this many events per step, counting them all costs less than a tenth of a step.
constexpr std::uint64_t kCountedEventsPerStepMax = 50;
// The runs from copies that are checked first, and the period of checks later on.
constexpr std::array<std::uint64_t, 3> kFirstChecks{1, 4, 16};
constexpr std::uint64_t kCheckPeriod = 64;
// After this many returns their cost is known, and after this many runs the coverage level is chosen.
constexpr std::uint64_t kReturnsMin = 8;
constexpr std::uint64_t kReturnRunsMin = RunPolicy::kWarmUpRuns + 1;
// Above this mean, holding a state in a process is cheaper: forking twice and communicating costs some of it.
constexpr double kReturnSecondsMax = 0.02;
constexpr std::uint64_t kReturnStepsMax = 200;
// Where states are held, those that are nearer than this are reached by their steps all the same. Each run from a held
// state forks again, and reports every step.
constexpr double kHeldSecondsMin = 0.005;
constexpr double kForksOfHeldRun = 2;
constexpr std::uint64_t kHeldStepsMin = 50;
// A state is copied on the way back if going there takes as long as this many copies: about half of them are needed.
constexpr double kCopiesOfReturn = 2;
constexpr std::uint64_t kCopiedStepsMin = 8;

}  // namespace

// A function of the number of the run alone, so that a resumed session watches like one that was not interrupted.
WatchSpec RunPolicy::watch(std::uint64_t run_id, bool learns_swarm, bool by_bandit) noexcept {
  ORDEAL_DCHECK(run_id > 0, "runs are counted from one");
  WatchSpec spec;
  spec.full = run_id % kFullRunPeriod == 0;
  const std::uint64_t counted = run_id <= kOftenCountedRuns ? kCountedRunPeriod : kLateCountedRunPeriod;
  spec.count_all = run_id <= kCountedRuns || run_id % counted == 0;
  spec.choose_level = run_id == kWarmUpRuns + 1;
  spec.learn_files = learns_swarm && (spec.full || !by_bandit);
  spec.drop_files = by_bandit && spec.learn_files;
  const std::uint64_t period = by_bandit ? kBanditDirectPeriod : kDirectPeriod;
  spec.direct_swarm = learns_swarm && run_id > kWarmUpRuns && run_id % period == 1;
  return spec;
}

bool RunPolicy::counting_is_expensive(std::uint64_t events, std::uint64_t steps) noexcept {
  return events > kCountedEventsPerStepMax * std::max<std::uint64_t>(steps, 1);
}

bool RunPolicy::check_copy() noexcept {
  ++runs_from_copies_;
  ORDEAL_DCHECK(runs_from_copies_ != 0, "more runs than a session can make");
  return std::ranges::find(kFirstChecks, runs_from_copies_) != kFirstChecks.end() ||
         runs_from_copies_ % kCheckPeriod == 0;
}

// By steps where the result must be the same on any machine, by the clock where it only decides how a state comes back.
bool RunPolicy::returning_is_expensive(const ReturnCounts& counts, std::uint64_t runs, bool by_steps) noexcept {
  ORDEAL_DCHECK(counts.seconds >= 0, "a clock that ran backward: " << counts.seconds << " s");
  if (counts.returns < kReturnsMin || runs < kReturnRunsMin) {
    return false;
  }
  if (by_steps) {
    return counts.steps > kReturnStepsMax * counts.returns;
  }
  return counts.seconds > kReturnSecondsMax * static_cast<double>(counts.returns);
}

bool RunPolicy::copying_pays(const ReturnCounts& returned, double copy_seconds, bool by_steps) noexcept {
  ORDEAL_DCHECK(copy_seconds >= 0, "a clock that ran backward: " << copy_seconds << " s");
  if (by_steps) {
    return returned.steps > kCopiedStepsMin * returned.returns;
  }
  return returned.seconds > kCopiesOfReturn * copy_seconds * static_cast<double>(returned.returns);
}

bool RunPolicy::holding_pays(const ReturnCounts& returned, double hold_seconds, bool by_steps) noexcept {
  ORDEAL_DCHECK(hold_seconds >= 0, "a clock that ran backward: " << hold_seconds << " s");
  if (by_steps) {
    return returned.steps > kHeldStepsMin * returned.returns;
  }
  const double least = std::max(kHeldSecondsMin, kForksOfHeldRun * hold_seconds);
  return returned.seconds > least * static_cast<double>(returned.returns);
}

EndDecision RunPolicy::end(const SearchCounts& counts, std::optional<std::uint64_t> max_runs,
                           std::uint64_t patience) noexcept {
  if (max_runs && counts.runs >= *max_runs) {
    return {.reason = EndReason::kMaxRuns};
  }
  if (counts.runs == kWarmUpRuns && counts.steps == 0) {
    return {.reason = EndReason::kStuck};
  }
  if (patience != 0 && counts.runs_without_new_features >= patience) {
    return {.reason = EndReason::kPatience};
  }
  // Patience is used up at the earliest if none of the next runs brings anything new.
  std::uint64_t ask_again = max_runs.value_or(std::numeric_limits<std::uint64_t>::max());
  if (counts.runs < kWarmUpRuns) {
    ask_again = std::min(ask_again, kWarmUpRuns);
  }
  if (patience != 0) {
    ask_again = std::min(ask_again, counts.runs + (patience - counts.runs_without_new_features));
  }
  ORDEAL_DCHECK(ask_again > counts.runs, "asked again in run " << ask_again << " after " << counts.runs);
  return {.reason = std::nullopt, .ask_again = ask_again};
}

}  // namespace ordeal
