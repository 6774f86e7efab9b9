// What a driver of runs asks: the next step, one at a time. A Session invents it, a Replay reads it from a tape.
//
// Value types, for any thread. Both step sources have next(), reject() and source(), but no base class: there are only
// these two, and a virtual call in each step would gain nothing.
#pragma once

#include <cstdint>

#include "core/tape/tape.h"

namespace ordeal {

// The first four are kinds of steps, in the order of StepKind; the others end a run.
enum class NextKind : std::uint8_t {
  kRule,
  kInitialize,
  kFaultOn,
  kFaultOff,
  kEnd,    // the run is over
  kStuck,  // every rule was proposed and rejected: nothing can run from this state
};

// What to do now. The arguments are not included: the driver draws them from the source's ChoiceSource while it runs
// the step.
struct NextStep {
  NextKind kind = NextKind::kEnd;
  std::uint32_t target = 0;

  // One small integer, where an object for each step would cost too much: the kind in the low three bits, the target
  // above.
  [[nodiscard]] constexpr std::uint32_t packed() const noexcept {
    return (target << 3U) | static_cast<std::uint32_t>(kind);
  }
};

constexpr NextKind next_kind(StepKind kind) noexcept { return static_cast<NextKind>(kind); }
constexpr StepKind step_kind(NextKind kind) noexcept { return static_cast<StepKind>(kind); }

static_assert(next_kind(StepKind::kRule) == NextKind::kRule);
static_assert(next_kind(StepKind::kFaultOff) == NextKind::kFaultOff);

// How many rules, initialize rules and faults a machine has. Code that reads and writes files keeps their names.
struct MachineShape {
  // Of each kind.
  static constexpr std::uint32_t kTargetsMax = 1U << 16U;

  std::uint32_t rules = 0;
  std::uint32_t initializers = 0;
  std::uint32_t faults = 0;
};

}  // namespace ordeal
