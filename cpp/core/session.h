// One exploration: decides what every run does and learns from what it showed. Asked and told; it never calls back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/corpus.h"
#include "core/coverage_map.h"
#include "core/op_weights.h"
#include "core/rng.h"
#include "core/script.h"
#include "core/session_state.h"
#include "core/source.h"
#include "core/swarm.h"
#include "core/tape.h"

namespace ordeal {

struct SessionOptions {
  std::uint64_t seed = 42;
  std::size_t max_checkpoints = 256;
  double checkpoint_prob = 0.4;
  CheckpointStrategy checkpoint_strategy = CheckpointStrategy::kEnergy;
  double fault_toggle_prob = 0.3;
  // Share of the rule steps, in runs that branch, whose arguments lean on the rule's last call before the checkpoint.
  double seed_mutation_prob = 0.0;
  std::uint32_t steps_per_run = 50;  // a run draws its length from 1 to this; initialize rules count
  bool rule_swarm = false;           // swarm configurations over rules and faults, from what earlier ones found
  SwarmLaw swarm = SwarmLaw::kOff;   // of each run by itself; rule_swarm goes before it in saying what is on
  // What is known of each rule, in their order. Empty: nothing, so all are alike.
  // NOLINTNEXTLINE(readability-redundant-member-init): without it, gcc asks for it wherever options are written.
  std::vector<Operation> operations = {};
  bool pair_features = false;  // pairs of adjacent steps count as novelty: for sessions without coverage
};

struct RunPlan {
  std::uint64_t run_id = 0;      // from 1
  std::uint64_t checkpoint = 0;  // 0: fresh machine
  std::size_t prefix_steps = 0;  // of the checkpoint
  std::uint32_t steps = 0;       // budget after the prefix
  std::size_t swarm = kNoSwarm;  // index of the swarm configuration

  static constexpr std::size_t kNoSwarm = static_cast<std::size_t>(-1);
};

// Novelty that one step brought.
struct StepNews {
  std::uint32_t edges = 0;
  std::uint32_t features = 0;  // hit-count buckets, state hashes, pairs, properties that came nearer

  [[nodiscard]] bool any() const noexcept { return edges > 0 || features > 0; }
};

struct Kept {
  std::uint64_t id = 0;  // 0: not kept
  std::optional<std::uint64_t> evicted;
};

// Thread-compatible. The order of calls is: begin_run, [restored], then for every step next() (and reject() while the
// proposed rule cannot run) and done(), [keep], at last end_run. A run that fails or is rejected in the middle of a
// step goes straight to end_run: what it found counts all the same. Another order breaks a check.
class Session {
 public:
  // A run ends when its tape is this long, and no branch starts there: replaying prefixes must stay cheap.
  static constexpr std::size_t kTapeStepsMax = 10'000;
  // State hashes and pairs are no news any more above this; a hash of something that always changes must not eat the
  // memory.
  static constexpr std::size_t kFeaturesMax = std::size_t{1} << 22U;

  // `coverage` is fed by whoever watches the program under test. ConfigError for an option or a shape out of range.
  Session(MachineShape shape, const SessionOptions& options, std::shared_ptr<CoverageMap> coverage);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  RunPlan begin_run();
  // The checkpoint's machine was restored from a snapshot: its prefix need not run again. The draws of the new steps
  // are the same either way.
  void restored();
  NextStep next();
  // The rule that next() proposed cannot run now. What comes next takes the place of its step.
  void reject();
  // The step ran to its end. `state_hash` 0 means none. `nearer` is how many properties that compare numbers came
  // nearer than ever to what they say, which whoever keeps the distances knows.
  StepNews done(std::uint64_t state_hash = 0, std::uint32_t nearer = 0);
  // Remembers the state after the last step as a checkpoint, unless the tape is full or no run would start from it.
  Kept keep();
  // What made one checkpoint worth keeping is outdone by another, which runs are to start from in its place.
  void supersede(std::uint64_t checkpoint, std::uint64_t by) { corpus_.hand_over(checkpoint, by); }
  void end_run();

  // What another process needs to go on from here. Only between two runs.
  [[nodiscard]] SessionState save() const;
  // Goes on where another session of the same seed was saved. Before the first run. TraceError for a state that no
  // session of this shape can have.
  void restore(SessionState state);
  // Whether a run has begun and not ended.
  [[nodiscard]] bool running() const noexcept { return stage_ != Stage::kIdle; }

  // Rules that touch files with uncovered branches, for the third layer of the swarm.
  void direct_swarm(const std::vector<bool>& rules) { swarm_.set_directed(rules); }

  [[nodiscard]] ChoiceSource& source() noexcept { return source_; }
  [[nodiscard]] const Tape& tape() const noexcept { return tape_; }
  [[nodiscard]] const RunPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] const Corpus& corpus() const noexcept { return corpus_; }
  [[nodiscard]] const Swarm& swarm() const noexcept { return swarm_; }
  // What is on in this run.
  [[nodiscard]] const SwarmConfiguration& configuration() const noexcept { return configuration_; }
  // Whether the run drew which of the rules are on.
  [[nodiscard]] bool draws_rules() const noexcept;
  // By rule, how often it is proposed in relation to the others, 0 where it is left out. Empty: all are alike.
  [[nodiscard]] const std::vector<std::uint32_t>& weights() const noexcept { return weights_; }
  [[nodiscard]] std::uint32_t edges_in_run() const noexcept { return run_edges_; }
  [[nodiscard]] std::uint64_t checkpoints_saved() const noexcept { return checkpoints_saved_; }
  // Which faults are on after the last step that was done.
  [[nodiscard]] const std::vector<bool>& faults_on() const noexcept { return faults_on_; }
  // Steps of the checkpoint's prefix that are still to come.
  [[nodiscard]] std::size_t prefix_left() const noexcept { return prefix_.size() - prefix_position_; }
  // Whether the latest step came from the checkpoint's prefix.
  [[nodiscard]] bool replaying_prefix() const noexcept { return step_of_prefix_; }

 private:
  enum class Stage : std::uint8_t { kIdle, kReady, kProposed };

  void choose_start();
  void choose_configuration();
  void apply_configuration();
  [[nodiscard]] SwarmConfiguration draw_configuration(Rng& rng);
  [[nodiscard]] SwarmConfiguration draw_shared(Rng& rng) const;
  [[nodiscard]] std::vector<bool> draw_faults();
  [[nodiscard]] std::vector<std::uint32_t> weights_of_run(Rng& rng) const;
  [[nodiscard]] Rng values() const noexcept;
  NextStep propose(NextKind kind, std::uint32_t target);
  NextStep next_of_prefix();
  NextStep next_rule();
  std::size_t pick_rule();
  void lean_on_prefix(std::uint32_t rule);
  std::optional<NextStep> next_fault();
  NextStep next_step();
  void note_step(const TapeStep& step);
  std::uint32_t note_feature(std::uint64_t key);

  MachineShape shape_;
  SessionOptions options_;
  std::shared_ptr<CoverageMap> coverage_;
  Rng schedule_;  // between runs: starts, swarm, eviction
  Rng run_{0};    // inside a run: its length, step kinds, rules, faults
  Corpus corpus_;
  Swarm swarm_;

  SwarmConfiguration configuration_;
  std::vector<std::uint32_t> weights_;

  Stage stage_ = Stage::kIdle;
  RunPlan plan_;
  Tape tape_;
  ChoiceSource source_;
  Tape prefix_;
  std::size_t prefix_position_ = 0;
  bool step_of_prefix_ = false;
  std::uint32_t steps_left_ = 0;
  std::vector<std::uint32_t> initializers_left_;
  std::vector<std::uint32_t> rules_;  // the active ones, then those that the swarm left out
  std::size_t rules_active_ = 0;
  std::size_t rules_offered_ = 0;      // for this step; they stand at the front
  bool rejected_ = false;              // the next proposal is for the same step
  std::vector<std::uint32_t> faults_;  // eligible in this run
  std::vector<bool> faults_on_;
  std::uint32_t previous_code_ = 0;
  std::uint32_t run_edges_ = 0;
  std::uint32_t run_nearer_ = 0;
  std::uint32_t step_nearer_ = 0;
  std::uint64_t next_checkpoint_ = 1;
  std::uint64_t checkpoints_saved_ = 0;
};

}  // namespace ordeal
