#include "core/swarm/run_schedule.h"

#include <utility>

namespace ordeal {
namespace {

// In the order of the enumerators. A kind that finds nothing still gets its floor: it may become useful later.
constexpr std::array<BanditArm, kRunStarts> kStarts{{
    {.share = 300, .floor = 50},  // fresh
    {.share = 300, .floor = 50},  // branch
    {.share = 130, .floor = 30},  // mutate
    {.share = 90, .floor = 30},   // splice
    {.share = 90, .floor = 30},   // repeat
    {.share = 90, .floor = 30},   // edit
}};
constexpr std::array<BanditArm, kRunSwarms> kSwarms{{
    {.share = 350, .floor = 60},  // full
    {.share = 150, .floor = 40},  // coins
    {.share = 150, .floor = 40},  // sizes
    {.share = 100, .floor = 40},  // shared
    {.share = 50, .floor = 20},   // directed
    {.share = 200, .floor = 40},  // energy
}};
constexpr std::array<BanditArm, kRunSimplicities> kSimplicities{{
    {.share = 200, .floor = 60},   // none
    {.share = 400, .floor = 100},  // simple
    {.share = 400, .floor = 80},   // simplest
}};

}  // namespace

// The two functions name what was drawn for a run in the words of the bandit, which learns by them.
RunSwarm kind_of(SwarmSource source) noexcept {
  switch (source) {
    case SwarmSource::kFull:
      return RunSwarm::kFull;
    case SwarmSource::kDirected:
      return RunSwarm::kDirected;
    case SwarmSource::kEnergy:
      return RunSwarm::kEnergy;
    case SwarmSource::kWarmUp:
    case SwarmSource::kCoinFlip:
      break;
  }
  return RunSwarm::kCoinFlip;
}

RunSwarm kind_of(SwarmDistribution distribution) noexcept {
  switch (distribution) {
    case SwarmDistribution::kCoinFlip:
      return RunSwarm::kCoinFlip;
    case SwarmDistribution::kUniformSize:
      return RunSwarm::kUniformSize;
    case SwarmDistribution::kHypothesis:
      return RunSwarm::kUniformShare;
    case SwarmDistribution::kOff:
      break;
  }
  return RunSwarm::kFull;
}

// Small bandits instead of one over all combinations: each learns from every run.
RunSchedule::RunSchedule() : starts_(kStarts), swarms_(kSwarms), simplicities_(kSimplicities) {}

// In a fixed order, one draw each.
RunKind RunSchedule::draw(Rng& rng, const RunKinds& allowed) const {
  return {.start = static_cast<RunStart>(starts_.draw(rng, allowed.starts)),
          .swarm = static_cast<RunSwarm>(swarms_.draw(rng, allowed.swarms)),
          .simplicity = static_cast<RunSimplicity>(simplicities_.draw(rng, allowed.simplicities))};
}

// All bandits learn from the same run: none of them knows which of the choices was the good one, but over many runs the
// generally good ones stand out.
void RunSchedule::report(RunKind kind, std::uint64_t reward, std::uint64_t cost) {
  const auto start = static_cast<std::size_t>(kind.start);
  const auto swarm = static_cast<std::size_t>(kind.swarm);
  starts_.report(start, reward, cost);
  swarms_.report(swarm, reward, cost);
  simplicities_.report(static_cast<std::size_t>(kind.simplicity), reward, cost);
  ++counts_.starts.at(start);
  ++counts_.swarms.at(swarm);
}

// The counts are for reports; the bandits decide by what they save themselves.
RunScheduleState RunSchedule::save() const { return {starts_.save(), swarms_.save(), counts_}; }

// Each bandit checks its own state.
void RunSchedule::restore(RunScheduleState state) {
  starts_.restore(std::move(state.starts));
  swarms_.restore(std::move(state.swarms));
  counts_ = state.counts;
}

}  // namespace ordeal
