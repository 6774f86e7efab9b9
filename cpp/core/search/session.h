// One exploration: decides what every run does and learns from what it showed. Asked and told; it never calls back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/cmplog/operand_search.h"
#include "core/corpus/corpus.h"
#include "core/corpus/find.h"
#include "core/corpus/sequence_mutator.h"
#include "core/coverage/coverage_map.h"
#include "core/coverage/discovery.h"
#include "core/coverage/features.h"
#include "core/draw/source.h"
#include "core/draw/value_pool.h"
#include "core/search/session_options.h"
#include "core/search/session_state.h"
#include "core/swarm/run_schedule.h"
#include "core/swarm/swarm.h"
#include "core/tape/journal.h"
#include "core/tape/script.h"
#include "core/tape/tape.h"

namespace ordeal {

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
  std::uint32_t features = 0;  // whatever else is new or came nearer

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
  // Before done(): the step showed this feature, or left so many values in a bundle. Of a step of the prefix, nothing
  // counts: the prefix need not run at all.
  void feature(FeatureKind kind, std::uint64_t key);
  void bundle_size(std::uint32_t bundle, std::size_t size);
  // Whether hypothesis.target() came higher with this value than ever; then it counts as one of `nearer`.
  bool target(std::uint64_t label, double value) { return features_.target(label, value); }
  // The step ran to its end. `state_hash` 0 means none. `nearer` is how many properties that compare numbers came
  // nearer than ever to what they say, which whoever keeps the distances knows.
  StepNews done(std::uint64_t state_hash = 0, std::uint32_t nearer = 0);
  // Before end_run(), when the run did not fail: the news of what came after its last step. They are those of the state
  // that this step left, which keep() remembers.
  StepNews finished(std::uint32_t nearer = 0);
  // Remembers the state after the last step as a checkpoint, unless the tape is full or no run would start from it.
  Kept keep();
  // What made one checkpoint worth keeping is outdone by another, which runs are to start from in its place.
  void supersede(std::uint64_t checkpoint, std::uint64_t by) { corpus_.hand_over(checkpoint, by); }
  void end_run();

  // The checkpoints that were kept since the last call, for other sessions to adopt. Only between two runs.
  [[nodiscard]] std::vector<Find> take_finds();
  // Takes what another session of the same machine found for a checkpoint of its own, unless it shows nothing that is
  // new here. Only between two runs.
  Kept adopt(Find find);

  // What another process needs to go on from here. Only between two runs.
  [[nodiscard]] SessionState save() const;
  // Goes on where another session of the same seed was saved. Before the first run. TraceError for a state that no
  // session of this shape can have.
  void restore(SessionState state);
  // Whether a run has begun and not ended.
  [[nodiscard]] bool running() const noexcept { return stage_ != Stage::kIdle; }

  // A constant of the program, for draws to take. Before the first run, and not part of what save() gives.
  void add_constant(Choice value) { values_.add(ValueShelf::kConstant, std::move(value)); }
  // After end_run(): whether the comparisons that the program makes should be watched, in a replay of this tape.
  [[nodiscard]] bool wants_comparisons() const noexcept { return operands_.due(); }
  [[nodiscard]] const Tape& tape_to_watch() const;
  // What that replay compared. It changes what later runs draw, and some of them follow the tape with one choice
  // replaced. Returns how many. More may be wanted then.
  std::size_t learn_comparisons(std::span<const Comparison> comparisons);

  // From now on, runs are in this journal as well, with what is there of the one under way.
  void set_journal(std::shared_ptr<Journal> journal) noexcept { source_.set_journal(std::move(journal), running()); }

  // Rules that touch files with uncovered branches, for the third layer of the swarm.
  void direct_swarm(const std::vector<bool>& rules) { swarm_.set_directed(rules); }

  [[nodiscard]] ChoiceSource& source() noexcept { return source_; }
  [[nodiscard]] const Tape& tape() const noexcept { return tape_; }
  [[nodiscard]] const RunPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] const Corpus& corpus() const noexcept { return corpus_; }
  [[nodiscard]] const Swarm& swarm() const noexcept { return swarm_; }
  // What is on in this run.
  [[nodiscard]] const SwarmConfiguration& configuration() const noexcept { return configuration_; }
  // How many runs there were of each kind.
  [[nodiscard]] const RunCounts& run_counts() const noexcept { return runs_.counts(); }
  // Whether runs may draw their configurations from what earlier ones found, to which direct_swarm() belongs.
  [[nodiscard]] bool learns_swarm() const noexcept;
  // Whether the run drew which of the rules are on.
  [[nodiscard]] bool draws_rules() const noexcept;
  // By rule, how often it is proposed in relation to the others, 0 where it is left out. Empty: all are alike.
  [[nodiscard]] const std::vector<std::uint32_t>& weights() const noexcept { return weights_; }
  [[nodiscard]] std::uint32_t edges_in_run() const noexcept { return run_edges_; }
  // How much of what this session could see is still to come: of edges where it has any, else of other features.
  // Nothing when too few runs say something about it.
  [[nodiscard]] std::optional<Discovery> discovery() const;
  [[nodiscard]] std::uint64_t checkpoints_saved() const noexcept { return checkpoints_saved_; }
  // Which faults are on after the last step that was done.
  [[nodiscard]] const std::vector<bool>& faults_on() const noexcept { return faults_on_; }
  // Steps of the checkpoint's prefix that are still to come.
  [[nodiscard]] std::size_t prefix_left() const noexcept { return prefix_.size() - prefix_position_; }
  // Whether the latest step came from the checkpoint's prefix.
  [[nodiscard]] bool replaying_prefix() const noexcept { return step_of_prefix_; }

 private:
  enum class Stage : std::uint8_t { kIdle, kReady, kProposed };

  void choose_kind();
  void follow(Tape tape);
  [[nodiscard]] const Checkpoint* checkpoint_to_watch() const;
  void keep_values_of_step();
  [[nodiscard]] RunKinds allowed_kinds(Rng& rng) const;
  [[nodiscard]] std::uint32_t allowed_swarms() const noexcept;
  [[nodiscard]] std::uint32_t draw_steps();
  void choose_start();
  void choose_sequence(const Checkpoint& checkpoint);
  void choose_configuration();
  void choose_law();
  void apply_configuration();
  [[nodiscard]] SwarmConfiguration draw_configuration(Rng& rng);
  [[nodiscard]] SwarmConfiguration draw_shared(Rng& rng) const;
  [[nodiscard]] std::vector<bool> draw_faults();
  [[nodiscard]] std::vector<std::uint32_t> weights_of_run(Rng& rng) const;
  [[nodiscard]] Rng values() const noexcept;
  NextStep propose(NextKind kind, std::uint32_t target);
  NextStep next_of_prefix();
  std::optional<NextStep> next_of_sequence();
  // Whether its steps count like others. In a fresh run they take the place of a prefix.
  [[nodiscard]] bool counts_sequence() const noexcept { return plan_.checkpoint != 0; }
  [[nodiscard]] bool applies(const TapeStep& step) const noexcept;
  void replay(const Tape& tape, const TapeStep& step);
  void go_live();
  NextStep next_rule();
  std::size_t pick_rule();
  void lean_on_prefix(std::uint32_t rule);
  std::optional<NextStep> next_fault();
  [[nodiscard]] bool keeps_checkpoints() const noexcept;
  [[nodiscard]] std::uint64_t cost_of_run() const noexcept;
  NextStep next_step();
  void note_step(const TapeStep& step);
  void enter_rule(const NextStep& step) noexcept;
  StepNews take_news(const Fresh& fresh, std::uint32_t nearer);
  [[nodiscard]] std::uint32_t commonness_of(const Checkpoint& checkpoint) const;
  void reward_checkpoint();

  MachineShape shape_;
  SessionOptions options_;
  std::shared_ptr<CoverageMap> coverage_;
  Rng schedule_;  // between runs: starts, swarm, eviction
  Rng run_{0};    // inside a run: its length, step kinds, rules, faults
  Features features_;
  Corpus corpus_;
  Swarm swarm_;
  RunSchedule runs_;
  ValuePool values_;
  OperandSearch operands_;

  RunKind kind_;
  SwarmLaw law_ = SwarmLaw::kOff;  // of this run
  Stage stage_ = Stage::kIdle;
  bool step_of_prefix_ = false;
  bool solving_ = false;  // the sequence is to turn a comparison
  bool step_of_sequence_ = false;
  bool rejected_ = false;  // the next proposal is for the same step
  SwarmConfiguration configuration_;
  std::vector<std::uint32_t> weights_;

  RunPlan plan_;
  Tape tape_;
  ChoiceSource source_;
  Tape prefix_;
  std::size_t prefix_position_ = 0;
  MutatedSequence sequence_;  // comes after the prefix
  std::size_t sequence_position_ = 0;
  Rng live_{0};             // where the source goes on with when it is live again
  double lean_prob_ = 0.0;  // of this run
  std::vector<std::uint32_t> initializers_left_;
  std::vector<std::uint32_t> rules_;  // the active ones, then those that the swarm left out
  std::size_t rules_active_ = 0;
  std::size_t rules_offered_ = 0;      // for this step; they stand at the front
  std::vector<std::uint32_t> faults_;  // eligible in this run
  std::vector<bool> faults_on_;
  std::uint32_t previous_code_ = 0;
  std::uint32_t steps_left_ = 0;
  std::uint32_t run_edges_ = 0;
  std::uint32_t run_reward_ = 0;
  std::uint32_t run_nearer_ = 0;
  std::uint32_t run_worth_ = 0;
  std::uint32_t step_nearer_ = 0;
  std::uint32_t step_worth_ = 0;
  std::uint64_t next_checkpoint_ = 1;
  std::vector<std::uint64_t> to_give_;  // checkpoints
  std::uint64_t checkpoints_saved_ = 0;
};

}  // namespace ordeal
