// Decides, between two runs, what the next one will be: where it starts, how long it is, which rules and faults are on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/corpus/corpus.h"
#include "core/corpus/sequence_mutator.h"
#include "core/search/session_options.h"
#include "core/swarm/run_schedule.h"
#include "core/swarm/swarm.h"
#include "core/tape/prefix.h"
#include "core/tape/step_source.h"
#include "core/tape/tape.h"

namespace ordeal {

// What a driver must know about a run before it begins.
struct RunSpec {
  std::uint64_t run_id = 0;      // from 1
  std::uint64_t checkpoint = 0;  // 0: fresh machine
  std::size_t prefix_steps = 0;  // of the checkpoint
  std::uint32_t steps = 0;       // budget after the prefix
  std::size_t swarm = kNoSwarm;  // index of the swarm configuration

  static constexpr std::size_t kNoSwarm = static_cast<std::size_t>(-1);
};

// Everything decided about a run before its first step.
struct PlannedRun {
  RunSpec spec;
  RunKind kind;
  SwarmDistribution distribution = SwarmDistribution::kOff;  // that drew the configuration, if it is not the swarm's
  bool follows_solution = false;                             // the sequence should turn a comparison
  bool climbs = false;                                       // the checkpoint is a tip
  Rng rng{0};    // for random decisions inside the run: step kinds, rules, faults
  Prefix start;  // of the checkpoint, and the same as a tape
  Tape prefix;
  MutatedSequence sequence;  // comes after the prefix
  double mutate_prob = 0.0;
  double simplest_prob = 0.0;  // that a choice is the simplest
  SwarmConfiguration configuration;
  // By rule, how often it is proposed relative to the others, 0 if it is left out. Empty: all equally.
  std::vector<std::uint32_t> weights;

  // Whether the run drew which of the rules are on.
  [[nodiscard]] bool draws_rules() const noexcept;
};

// A plan depends on the options, on what earlier runs were reported to have brought and on the
// corpus, never on what earlier runs drew: each run has its own random streams, and decisions between runs draw from
// one stream, the schedule. A plan costs O(rules + faults) and a copy of the checkpoint's prefix.
class RunPlanner {
 public:
  // The options must be checked() for this shape.
  RunPlanner(const MachineShape& shape, const SessionOptions& options);

  // Plans the next run in place of `run`, reusing its memory. A `solution` is a tape that the run should follow from a
  // fresh machine. A checkpoint that a run starts from counts as selected in the corpus.
  void plan(PlannedRun& run, Corpus& corpus, std::optional<Tape> solution);
  // Reports that run's novelty, its cost and its new edges. Once for each plan.
  void report(const PlannedRun& run, std::uint64_t reward, std::uint64_t cost, std::uint32_t new_edges);
  // From now on, runs may draw simpler values than others, or may not. A search does not remember it.
  void allow_simple(bool allowed) noexcept { allows_simple_ = allowed; }
  // Has the rest of a run draw the simplest values. Returns whether that is new: false where runs choose for
  // themselves.
  bool simplify(PlannedRun& run) noexcept;

  // Rules that touch files with uncovered branches, for the third layer of the swarm.
  void direct_swarm(const std::vector<bool>& rules) { swarm_.set_directed(rules); }
  // Whether runs may draw their configurations from what earlier ones found, which direct_swarm() is for.
  [[nodiscard]] bool learns_swarm() const noexcept;

  // The stream of all random decisions between two runs.
  [[nodiscard]] Rng& schedule() noexcept { return schedule_; }
  [[nodiscard]] const Rng& schedule() const noexcept { return schedule_; }
  [[nodiscard]] const Swarm& swarm() const noexcept { return swarm_; }
  [[nodiscard]] const RunSchedule& runs() const noexcept { return runs_; }

  // Resumes where another planner stopped. TraceError for what no planner of this shape can have learnt.
  void restore(const Rng::State& schedule, SwarmState swarm, RunScheduleState runs);

 private:
  // In the order in which they are called: their draws from the schedule depend on it.
  void choose_kind(PlannedRun& run, const Corpus& corpus);
  [[nodiscard]] RunKinds allowed_kinds(std::uint64_t run_id, const Corpus& corpus, Rng& rng) const;
  [[nodiscard]] std::uint32_t allowed_swarms(std::uint64_t run_id) const noexcept;
  [[nodiscard]] std::uint32_t draw_steps(PlannedRun& run) const;
  void choose_start(PlannedRun& run, Corpus& corpus);
  void choose_sequence(PlannedRun& run, const Checkpoint& checkpoint, Corpus& corpus);
  [[nodiscard]] Tape end_of(const Prefix& prefix, std::size_t steps) const;
  void choose_configuration(PlannedRun& run);
  void choose_distribution(PlannedRun& run);
  [[nodiscard]] SwarmConfiguration draw_configuration(PlannedRun& run, Rng& rng);
  [[nodiscard]] SwarmConfiguration draw_shared(Rng& rng) const;
  [[nodiscard]] std::vector<bool> draw_faults();
  [[nodiscard]] std::vector<std::uint32_t> draw_weights_of(const PlannedRun& run, Rng& rng) const;

  MachineShape shape_;
  SessionOptions options_;
  Rng schedule_;
  Swarm swarm_;
  RunSchedule runs_;
  bool allows_simple_ = false;
};

}  // namespace ordeal
