// Decides what kind of run comes next, from the reward and the cost of each kind so far.
//
// Start, configuration and simplicity are learnt separately, as there are too many combinations for a search of some
// hundred runs to try each. The length of a run is not learnt.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/bandit.h"
#include "core/base/rng.h"
#include "core/swarm/rule_weights.h"
#include "core/swarm/swarm.h"

namespace ordeal {

// Who decides what kind of run comes next.
enum class SwarmPolicy : std::uint8_t {
  kClassic,   // fixed shares
  kAdaptive,  // a bandit, in everything that no option fixes
};

// Where a run starts, and what it does before its random steps.
enum class RunStart : std::uint8_t {
  kFresh,   // a fresh machine
  kBranch,  // a checkpoint
  kMutate,  // a checkpoint; arguments mutate from those of the steps before it
  kSplice,  // a checkpoint, then the end of the prefix of another
  kRepeat,  // a checkpoint, then its last steps again and again
  kEdit,    // a fresh machine, then the prefix of a checkpoint with some steps changed
};

// Which rules and faults are on.
enum class RunSwarm : std::uint8_t {
  kFull,          // all
  kCoinFlip,      // a coin for each
  kUniformSize,   // their number is drawn first; rules have weights
  kUniformShare,  // one probability for all
  kDirected,      // prefers rules close to code that has not run
  kEnergy,        // an earlier one, in proportion to its energy
};

// How simple what it draws is. Only slow programs have runs that are not of the first kind: their time is mostly spent
// on large values.
enum class RunSimplicity : std::uint8_t {
  kNone,      // as drawn
  kSimple,    // half of the choices are the simplest
  kSimplest,  // most are
};

struct RunKind {
  RunStart start = RunStart::kFresh;
  RunSwarm swarm = RunSwarm::kFull;
  RunSimplicity simplicity = RunSimplicity::kNone;

  friend bool operator==(const RunKind&, const RunKind&) = default;
};

inline constexpr std::size_t kRunStarts = 6;
inline constexpr std::size_t kRunSwarms = 6;
inline constexpr std::size_t kRunSimplicities = 3;

// What can be drawn now: one bit for each enumerator.
struct RunKinds {
  std::uint32_t starts = (1U << kRunStarts) - 1;
  std::uint32_t swarms = (1U << kRunSwarms) - 1;
  std::uint32_t simplicities = 1U << static_cast<std::uint32_t>(RunSimplicity::kNone);
};

template <typename Enum>
constexpr std::uint32_t bit(Enum value) noexcept {
  return 1U << static_cast<std::uint32_t>(value);
}

// The kind of run that a configuration of the swarm, or a distribution, makes.
RunSwarm kind_of(SwarmSource source) noexcept;
RunSwarm kind_of(SwarmDistribution distribution) noexcept;

// How many runs there were of each kind, for the report.
struct RunCounts {
  std::array<std::uint64_t, kRunStarts> starts{};
  std::array<std::uint64_t, kRunSwarms> swarms{};

  friend bool operator==(const RunCounts&, const RunCounts&) = default;
};

struct RunScheduleState {
  BanditState starts;
  BanditState swarms;
  RunCounts counts;

  friend bool operator==(const RunScheduleState&, const RunScheduleState&) = default;
};

// One bandit for each of the three.
class RunSchedule {
 public:
  RunSchedule();

  // Draws from `rng` three times. Each field of `allowed` has a bit set.
  RunKind draw(Rng& rng, const RunKinds& allowed) const;
  // Reports a finished run of that kind. `reward` is its novelty, `cost` above 0 what it took, in a unit that is the
  // same for all runs and machines, so not time.
  void report(RunKind kind, std::uint64_t reward, std::uint64_t cost);

  [[nodiscard]] const RunCounts& counts() const noexcept { return counts_; }
  [[nodiscard]] RunScheduleState save() const;
  // TraceError for a state of no schedule.
  void restore(RunScheduleState state);

 private:
  Bandit starts_;
  Bandit swarms_;
  Bandit simplicities_;  // not saved: what is slow depends on the machine
  RunCounts counts_;
};

}  // namespace ordeal
