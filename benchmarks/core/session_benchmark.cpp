// How many steps per second the core drives when the program under test costs nothing: a toy machine of five rules, one
// integer drawn and one edge hit a step. The goal is 2 million steps per second.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <memory>

#include "core/coverage/coverage_map.h"
#include "core/draw/replay.h"
#include "core/search/session.h"

namespace ordeal {
namespace {

constexpr std::uint32_t kRules = 5;
constexpr std::uint32_t kFaults = 2;
constexpr std::int64_t kValueMax = 1000;

// Five rules over a counter; what a rule does to it decides which of some 40 edges is hit.
class ToyMachine {
 public:
  explicit ToyMachine(CoverageMap& coverage) : coverage_(&coverage) {
    for (std::size_t i = 0; i < kEdges; ++i) {
      edges_[i] = &coverage.add_edge(mix64(i));
    }
  }

  void reset() noexcept { counter_ = 0; }

  void run(std::uint32_t rule, std::int64_t value) noexcept {
    counter_ = (counter_ + static_cast<std::uint64_t>(value) * (rule + 1)) % kStates;
    coverage_->hit(*edges_[(rule * kStates) + counter_]);
  }

 private:
  static constexpr std::size_t kStates = 8;
  static constexpr std::size_t kEdges = kRules * kStates;

  CoverageMap* coverage_;
  std::array<CoverageMap::Cell*, kEdges> edges_{};
  std::uint64_t counter_ = 0;
};

// One step as a driver takes it; false at the end of the run.
bool take_step(Session& session, ToyMachine& machine) {
  const NextStep step = session.next();
  if (step.kind == NextKind::kEnd) {
    return false;
  }
  if (step.kind == NextKind::kRule) {
    session.source().begin_argument(1);
    machine.run(step.target, session.source().integer(0, kValueMax, 0));
  }
  if (session.done().any() && !session.replaying_prefix()) {
    session.keep();
  }
  return true;
}

std::uint64_t take_run(Session& session, ToyMachine& machine, bool snapshots) {
  machine.reset();
  if (session.begin_run().checkpoint != 0 && snapshots) {
    session.restored();
  }
  std::uint64_t steps = 0;
  while (take_step(session, machine)) {
    ++steps;
  }
  session.end_run();
  return steps;
}

void explore(benchmark::State& state, const SessionOptions& options, std::uint32_t faults, bool snapshots) {
  const auto coverage = std::make_shared<CoverageMap>();
  Session session({.rules = kRules, .initializers = 0, .faults = faults}, options, coverage);
  ToyMachine machine(*coverage);
  std::uint64_t steps = 0;
  for ([[maybe_unused]] const auto _ : state) {
    steps += take_run(session, machine, snapshots);
  }
  state.counters["steps/s"] = benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
}

void fresh_runs(benchmark::State& state) {
  explore(state, {.checkpoint_prob = 0, .policy = SwarmPolicy::kClassic}, 0, false);
}
BENCHMARK(fresh_runs);

void branched_runs(benchmark::State& state) { explore(state, {.policy = SwarmPolicy::kClassic}, 0, true); }
BENCHMARK(branched_runs);

// Without snapshots the steps of a prefix run again; they count, because the program under test runs them.
void replayed_prefixes(benchmark::State& state) { explore(state, {.policy = SwarmPolicy::kClassic}, 0, false); }
BENCHMARK(replayed_prefixes);

void faults_and_swarm(benchmark::State& state) {
  explore(state, {.rule_swarm = true, .policy = SwarmPolicy::kClassic}, kFaults, true);
}
BENCHMARK(faults_and_swarm);

// What a bandit and mutated sequences cost, a run's share of them included.
void adaptive_runs(benchmark::State& state) { explore(state, {.policy = SwarmPolicy::kAdaptive}, kFaults, true); }
BENCHMARK(adaptive_runs);

// Reading a tape back, as confirming and shrinking do.
void replay(benchmark::State& state) {
  const auto coverage = std::make_shared<CoverageMap>();
  Session session({.rules = kRules, .initializers = 0, .faults = 0},
                  {.checkpoint_prob = 0, .policy = SwarmPolicy::kClassic}, coverage);
  ToyMachine machine(*coverage);
  take_run(session, machine, false);
  std::uint64_t steps = 0;
  for ([[maybe_unused]] const auto _ : state) {
    machine.reset();
    Replay replay(session.tape());
    for (NextStep step = replay.next(); step.kind != NextKind::kEnd; step = replay.next()) {
      replay.source().begin_argument(1);
      machine.run(step.target, replay.source().integer(0, kValueMax, 0));
      ++steps;
    }
  }
  state.counters["steps/s"] = benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
}
BENCHMARK(replay);

}  // namespace
}  // namespace ordeal
